"""The state of a group's backlog, drawn by hand as Facts."""

from dataclasses import replace

import pytest
from facts_builder import at, facts, positions, series, settings

from mqlab.facts import Facts
from mqlab.rocketmq.members import reserved_seconds
from mqlab.rows import Assignment, Client
from mqlab.scenarios.drain_state import NoBacklogError, Speed, dealt, message_bytes, speed, state


def held(when, source, client, *queues, topic="T", group="g"):
    return tuple(
        Assignment(at(when), group, topic, queue, client, None, None, source, n, "") for n, queue in enumerate(queues)
    )


def joined(when, client, peer, group="g"):
    return Client(at(when), "rocketmq", group, client, peer, None, None, f"connections.{when}", 1, "")


def drawn(*rows, assignments=(), clients=()):
    return replace(facts(*rows), assignments=tuple(assignments), clients=tuple(clients))


GROWING = positions("""
    at        group  topic      queue  committed  end
    10:00:00  g      T          b/0    100        100
    10:00:00  g      T          b/1    100        100
    10:01:00  g      T          b/0    160        160
    10:01:00  g      T          b/1    100        220
    10:01:00  g      %RETRY%g   b/0    0          5
    10:00:00  g      %RETRY%g   b/1    0          0
    10:01:00  g      %RETRY%g   b/1    0          0
    10:01:00  g      %DLQ%g     b/0    0          9
    10:01:00  small  T          b/0    0          7
""")


def rows(found):
    return [(q.name, q.backlog, q.inflow_per_second, q.owner) for q in found.queues]


def test_backlog_inflow_and_owners_are_those_of_the_last_snapshot_of_the_group_that_is_most_behind():
    found = state(drawn(GROWING, assignments=held("10:00:30", "a.log", "a", "b/0", "b/1")), instances=None)

    assert (found.group, found.at, found.backlog, found.inflow_per_second) == ("g", at("10:01"), 125, 3)
    assert found.points == ((at("10:00"), 0), (at("10:01"), 125))


def test_queues_without_a_known_owner_are_dealt_in_blocks_among_the_members():
    two = (joined("10:00:50", "x", "h1:1"), joined("10:00:50", "x", "h2:1"), joined("10:00:00", "old", "h3:1"))
    found = state(drawn(GROWING, clients=two))

    assert rows(found) == [
        ("%RETRY%g b/0", 5, 0, "instance 1"),
        ("T b/0", 0, 1, "instance 1"),
        ("T b/1", 120, 2, "instance 2"),
    ]
    assert (found.owners_known, found.inflow_known) == (False, False)


def test_a_client_holds_what_it_said_last_and_a_process_that_came_back_with_another_id_only_that():
    only = positions("""
        at        group  topic  queue  committed  end
        10:00:00  g      T      b/0    0          10
        10:00:00  g      T      b/1    0          10
        10:01:00  g      T      b/0    0          70
        10:01:00  g      T      b/1    0          70
    """)
    told = (
        *held("09:00:00", "1.log", "same", "b/0"),
        *held("09:00:00", "2.log", "same", "b/0"),
        *held("10:00:10", "1.log", "one", "b/0", "b/1"),
        *held("10:00:20", "1.log", "one", "b/0"),
        *held("10:00:20", "2.log", "two", "b/1"),
        *held("10:30:00", "3.log", "late", "b/0", "b/1"),
    )
    found = state(drawn(only, assignments=told))

    assert rows(found) == [("T b/0", 70, 1, "one"), ("T b/1", 70, 1, "two")]
    assert found.owners_known


def test_where_a_drain_is_over_the_state_is_that_of_its_begin():
    levels = [0, 100, 200, 300, 400, 500, 400, 300, 200, 100, 0, 0, 0]
    lines = "\n".join(f"10:{n:02d}:00 g T b/0 {1000 + n * 600 - lag} {1000 + n * 600}" for n, lag in enumerate(levels))
    found = state(drawn(positions(f"at group topic queue committed end\n{lines}")), instances=1)

    assert (found.at, found.backlog, found.inflow_per_second) == (at("10:05"), 500, 10)
    assert found.fall.reached_at == pytest.approx(at("10:10"), abs=10)


def test_material_without_positions_is_refused_in_one_sentence():
    with pytest.raises(NoBacklogError, match=r"does not show the backlog of any group: add output"):
        state(Facts())
    with pytest.raises(NoBacklogError, match="of group other"):
        state(drawn(GROWING), "other")


def test_blocks_are_dealt_topic_by_topic_in_the_order_of_queue_numbers():
    keys = [("T", f"b/{n}") for n in (10, 2, 1, 0, 9)] + [("R", "b/0")]
    assert dealt(keys, 2) == {
        ("T", "b/0"): "instance 1",
        ("T", "b/1"): "instance 1",
        ("T", "b/2"): "instance 1",
        ("T", "b/9"): "instance 2",
        ("T", "b/10"): "instance 2",
        ("R", "b/0"): "instance 1",
    }


def test_threads_response_time_and_mode_are_what_the_owners_print():
    told = settings(
        """
        at     owner  key                        value
        10:00  c1     consumerGroup              g
        10:00  c1     PROP_THREADPOOL_CORE_SIZE  3
        10:00  c1     consumeThreadMin           20
        10:00  c1     pullBatchSize              16
        10:00  c1     PROP_CONSUMEORDERLY        true
        """,
        scope="consumer",
    )
    times = (
        series("rocketmq.consumer.consume_rt_ms", [0, 40], group="g", topic="T", client_id="c1"),
        series("rocketmq.consumer.consume_rt_ms", [0, 60], group="g", topic="T", client_id="c2"),
        series("rocketmq.consumer.consume_rt_ms", [9], group="g", topic="%RETRY%g", client_id="c1"),
        series("rocketmq.consumer.consume_rt_ms", [9], group="other", topic="T", client_id="c1"),
        series("rocketmq.consumer.consume_rt_ms", [], group="g", topic="T", client_id="cut away"),
    )
    assert speed(facts(told, times), "g", ["c1"]) == Speed(3, 0.04, True, 16)
    assert speed(facts(told, times), "g", ["c1", "c2"]).response_seconds == 0.05
    assert speed(facts(told, times), "g", ["newcomer"]).response_seconds == 0.05
    assert speed(Facts(), "g", []) == Speed(None, None, False, None)


def test_sizes_and_retention_are_what_the_brokers_say():
    kept = settings("at owner key value\n- b1 fileReservedTime 72\n- b2 fileReservedTime 48", scope="broker")
    sizes = series("rocketmq.broker.message_size_avg", [100, 250], broker="b1")
    assert (reserved_seconds(facts(kept)), message_bytes(facts(sizes))) == (48 * 3600, 250)
    assert (reserved_seconds(Facts()), message_bytes(None)) == (None, None)
