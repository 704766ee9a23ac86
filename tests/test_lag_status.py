"""Burrow's verdict and the age of the next record, by partition."""

from facts_builder import at, facts, positions
from group_builder import queue

from mqlab.facts import Position
from mqlab.models.lag import Status
from mqlab.views.kafka_tables import statuses


def snapshots(number, *pairs, step=10):
    """``40/100`` is a snapshot with committed offset 40 and end 100, one every *step* seconds."""
    rows = "\n".join(
        f"{10 + n * step // 3600}:{n * step // 60 % 60:02}:{n * step % 60:02} g t {number} {pair.replace('/', ' ')}"
        for n, pair in enumerate(pairs)
    )
    return positions(f"at group topic queue committed end\n{rows}")


def told(*rows):
    """(partition, status, lag, since in seconds, age of the next record) of each row."""
    return [
        (
            row.partition, row.status, row.lag, row.since and row.since - at(0),
            row.time_lag and (row.time_lag.low, row.time_lag.high),
        )
        for row in statuses(facts(*rows), "g")
    ]  # fmt: skip


def test_each_partition_has_its_verdict_and_the_age_of_its_next_record():
    rows = [
        snapshots(0, *(f"{n * 10}/{n * 10}" for n in range(5))),
        snapshots(1, *(f"20/{20 + n * 10}" for n in range(1, 6))),
        snapshots(2, *(f"{n * 5}/{20 + n * 10}" for n in range(5))),
        snapshots(10, "50/60", "60/70", "20/80", "30/90"),
    ]
    assert told(*rows) == [
        ("0", Status.OK, 0, None, (0.0, 0.0)),
        ("1", Status.STALL, 50, 0.0, (40.0, None)),
        ("2", Status.WARN, 40, 0.0, (30.0, 40.0)),
        ("10", Status.REWIND, 60, 20.0, (30.0, None)),
    ]


def test_commits_of_a_dump_go_before_snapshots():
    commits = [
        Position(at(s), "g", "t", "1", 20 + n, None, None, None, None, None, "dump", n, "")
        for n, s in enumerate((0, 2, 4))
    ]
    (row,) = statuses(facts(snapshots(1, "22/50", "22/60", "22/70", "22/80"), commits), "g")
    assert (row.status, row.complete, row.since) == (Status.STOP, 0.3, at(4))


def test_groups_of_another_system_have_none():
    assert statuses(facts(queue("broker-a/0", [(60, 3, 3)])), "other") == ()
