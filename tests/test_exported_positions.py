"""Positions from exporters' counters."""

from facts_builder import at, series

from mqlab.assembly.rows import exported_positions as positions

QUEUE = {"topic": "t", "partition": "0", "instance": "x:9308"}


def told(*counted):
    """(seconds since 10:00, committed, end, start) of each position."""
    return [(round((p.at or 0) - at(0)), p.committed, p.end, p.start) for p in positions(counted)]


def test_a_committed_offset_stands_beside_the_end_of_its_scrape():
    committed = series("group.committed_offset", [5, 6, -1], group="g", **QUEUE)
    ends, starts = series("topic.end_offset", [9, 9, 10], **QUEUE), series("topic.start_offset", [1, 1, 1], **QUEUE)
    assert told(committed, ends, starts) == [(0, 5, 9, 1), (10, 6, 9, 1), (20, None, 10, 1)]


def test_the_end_may_be_that_of_the_scrape_before_but_no_older_one():
    committed = series("group.committed_offset", [5, 6, 7, 8], group="g", start=4, **QUEUE)
    assert told(committed, series("topic.end_offset", [9, 10], **QUEUE)) == [
        (4, 5, 9, None), (14, 6, 10, None), (24, 7, None, None), (34, 8, None, None)
    ]  # fmt: skip


def test_an_end_that_comes_later_is_not_taken():
    committed = series("group.committed_offset", [5], group="g", **QUEUE)
    assert told(committed, series("topic.end_offset", [9], start=1, **QUEUE)) == [(0, 5, None, None)]


def test_another_cluster_or_exporter_tells_nothing_of_this_one():
    committed = series("group.committed_offset", [5], group="g", cluster="a", **QUEUE)
    assert told(committed, series("topic.end_offset", [9], cluster="b", **QUEUE)) == [(0, 5, None, None)]
    other = QUEUE | {"instance": "y:9308"}
    assert told(committed, series("topic.end_offset", [9], cluster="a", **other)) == [(0, 5, None, None)]


def test_kminion_counts_the_lag_of_the_same_scrape():
    lag = series("kminion.lag", [4, 0, -1], group="g", **QUEUE)
    ends = series("topic.end_offset", [9, 9, 10], **QUEUE)
    own = lag.__class__("group.lag", "kminion_kafka_consumer_group_topic_partition_lag", lag.labels, "m", lag.points)
    assert told(own, ends) == [(0, 5, 9, None), (10, 9, 9, None)]
    assert told(lag.__class__("group.lag", "kafka_consumergroup_lag", lag.labels, "m", lag.points), ends) == []


def test_who_holds_the_partition_is_told_where_the_exporter_knows():
    who = {"member_host": "/10.0.0.1", "consumer_id": "c-1-u", "client_id": "c-1"}
    (found,) = positions([series("group.committed_offset", [5], group="g", **who, **QUEUE)])
    assert (found.group, found.topic, found.queue) == ("g", "t", "0")
    assert (found.peer, found.member_id, found.client_id) == ("10.0.0.1", "c-1-u", "c-1")
    assert found.text == (
        "group_committed_offset{client_id=c-1, consumer_id=c-1-u, group=g, instance=x:9308, member_host=/10.0.0.1, "
        "partition=0, topic=t} 5"
    )


def test_sums_over_partitions_are_no_positions():
    assert told(series("group.committed_offset", [5], group="g", topic="t")) == []
