"""A group that nobody reads for, and groups of which it only looks so."""

from __future__ import annotations

import pytest
from facts_builder import at, episode, facts, positions, series
from group_builder import GROUP, TOPIC, connected, listings, offline, queue
from kafka_builder import GROUP as KAFKA
from kafka_builder import coordinator

from mqlab.detectors import consumer_offline
from mqlab.facts import Position
from mqlab.findings import Severity
from mqlab.rows import Tally
from mqlab.words import is_idle, pieces

A, B = "A@1 10.0.0.1:1001", "B@2 10.0.0.2:1002"
OUTAGE = ((100, 10, 10), (1300, 10, 0))


def absent(*moments):
    """The answers of consumerConnection at these moments."""
    return [offline(when) for when in moments]


def legs(*parts, **more):
    """Four queues that go through the same legs."""
    return [queue(f"broker-a/{n}", parts, **more) for n in range(4)]


def ledger(role, source):
    """One ledger that notes messages before anything else is known."""
    return Tally(at(-15), role, TOPIC, "broker-a/0", 100, source, 2)


def found(*rows):
    """Severity, begin, end and whether it goes on, times in seconds since 10:00."""
    return [
        (f.severity, f.started_at.timestamp() - at(0), f.ended_at and f.ended_at.timestamp() - at(0), f.ongoing)
        for f in consumer_offline.detect(facts(*rows)).findings
    ]


def test_members_that_died_are_listed_for_a_while_and_the_time_counts_from_the_freeze():
    dead = (listings(0, 220, 20, A, B), absent(*range(240, 1400, 20)))
    assert found(dead, legs(*OUTAGE)) == [(Severity.CRITICAL, 100, None, True)]


def test_a_broker_log_that_takes_the_dead_away_one_by_one_tells_the_same():
    one, two = ("A@1", "10.0.0.1:1001"), ("B@2", "10.0.0.2:1002")
    rows = [
        *(connected(0, *member) for member in (one, two)),
        connected(212, *one, kind="consumer-disconnected"),
        connected(222, *two, kind="consumer-disconnected"),
        episode("group-offline", 222, "logs/broker-a/broker.log", system="rocketmq", group=GROUP, line=9),
    ]
    assert found(rows, legs(*OUTAGE)) == [(Severity.CRITICAL, 100, None, True)]


def test_the_last_two_members_may_be_taken_away_within_one_clock_tick():
    rows = [
        connected(0, "A@1", "10.0.0.1:1"),
        connected(1, "B@2", "10.0.0.2:1"),
        connected(100, "A@1", "10.0.0.1:1", kind="consumer-disconnected"),
        episode("group-offline", 100, "logs/broker-a/broker.log", system="rocketmq", group=GROUP, line=9),
    ]
    assert found(rows, legs(*OUTAGE)) == [(Severity.CRITICAL, 100, None, True)]


def test_an_outage_ends_when_members_are_back_though_positions_move_later():
    rows = (
        listings(0, 100, 20, A, B),
        absent(*range(120, 1300, 20)),
        listings(1300, 1600, 20, A, B),
        legs((100, 10, 10), (1220, 10, 0), (280, 10, 40)),
    )
    assert found(rows) == [(Severity.CRITICAL, 100, 1300, False)]
    (one,) = consumer_offline.detect(facts(*rows)).findings
    assert is_idle(one.mitigate)


def test_members_that_are_stuck_for_long_before_they_go_are_not_yet_absent():
    rows = (listings(0, 600, 20, A, B), absent(*range(620, 1400, 20)), legs(*OUTAGE))
    assert found(rows) == [(Severity.CRITICAL, 600, None, True)]


def test_each_outage_is_told():
    rows = (
        listings(0, 100, 20, A, B),
        absent(*range(140, 320, 20)),
        listings(320, 600, 20, A, B),
        absent(*range(640, 820, 20)),
        legs((100, 10, 10), (220, 10, 0), (300, 10, 40), (220, 10, 0)),
    )
    assert [(begin, ongoing) for _, begin, _, ongoing in found(rows)] == [(100, False), (620, True)]


def test_a_backlog_worked_off_in_silence_does_not_hide_the_outage_after_it():
    rows = (
        listings(0, 200, 20, A, B),
        absent(*range(220, 520, 20)),
        legs((100, 0, 30), (100, 0, 10), (320, 10, 0), ahead=4000),
    )
    assert found(rows) == [(Severity.CRITICAL, 200, None, True)]


def test_brokers_that_are_asked_one_after_another_tell_one_outage():
    rows = [
        *(queue(f"broker-a/{n}", [(100, 3, 3), (300, 3, 0)]) for n in range(2)),
        *(queue(f"broker-b/{n}", [(100, 3, 3), (300, 3, 0)], start=5) for n in range(2)),
    ]
    gone = (listings(0, 100, 20, A, B), absent(*range(140, 420, 20)))
    assert found(gone, rows) == [(Severity.CRITICAL, 100, None, True)]


def test_counted_members_are_members():
    counts = series("rocketmq.group.members", [2] * 6 + [0] * 60, step=20, group=GROUP)
    assert found(listings(0, 60, 20, A), counts, legs(*OUTAGE)) == [(Severity.CRITICAL, 100, None, True)]
    alive = series("rocketmq.group.members", [2] * 70, step=20, group=GROUP, broker="broker-b")
    assert found(listings(0, 60, 20, A), counts, alive, legs(*OUTAGE)) == []


def test_queues_that_are_never_told_together_raise_nothing():
    rows = positions(
        f"""
        at     group    topic    queue       committed  end
        10:00  {GROUP}  {TOPIC}  broker-a/0  1          5
        10:01  {GROUP}  {TOPIC}  broker-b/0  1          5
        10:02  {GROUP}  {TOPIC}  broker-a/0  1          9
        10:03  {GROUP}  {TOPIC}  broker-b/0  1          9
        """
    )
    assert found(absent(0, 60, 120, 180), rows) == [(Severity.NOTICE, 0, None, True)]


@pytest.mark.parametrize(
    ("rows", "severity"),
    [
        (ledger("acked", "clients/producer/sent.csv"), Severity.NOTICE),
        (ledger("sent", "clients/producer/sent.csv"), Severity.NOTICE),
        ((ledger("processed", "clients/other/p.csv"), legs((400, 10, 10), group="other")), Severity.NOTICE),
        (ledger("processed", "clients/app/p.csv"), Severity.CRITICAL),
    ],
    ids=["a producer's acks", "a producer's sends", "another group's", "the group's own"],
)
def test_only_the_groups_own_ledger_tells_that_it_read(rows, severity):
    abandoned = (absent(*range(0, 420, 20)), legs((400, 10, 0)))
    assert [one for one, *_ in found(abandoned, rows)] == [severity]


@pytest.mark.parametrize(
    "rows",
    [
        (listings(0, 100, 20, A, B), absent(120, 140), listings(160, 500, 20, A, B),
         legs((100, 10, 10), (80, 10, 0), (320, 10, 12))),
        (listings(0, 500, 20, A, B), absent(*range(10, 500, 20)), legs((100, 10, 10), (400, 10, 0))),
        (listings(0, 100, 20, A, B), legs((100, 10, 10), (300, 10, 0))),
    ],
    ids=["a restart of all", "one broker that knows nobody", "nothing says that they are gone"],
)  # fmt: skip
def test_members_that_are_soon_back_or_not_known_to_be_gone_are_no_outage(rows):
    assert found(rows) == []


EMPTIED = [
    Position(at(second), KAFKA, "invoices", "0", min(second, 100) * 10, 600 + second * 10, None, who, None, None,
             f"describe.{second}.txt", 2, "")
    for second in range(0, 221, 20)
    for who in ("a" if second < 100 or second == 220 else None,)
]  # fmt: skip
HELD = [
    ("10:01:36 empty 2\n10:03:23 new {a1}", (96, 203, 1630, (1600, 1800))),
    ("10:01:36 empty 2", (96, 220, 1800, None)),
    ("", (100, 220, 1800, None)),
    ("10:00:50 empty 2\n10:00:55 new {a1}\n10:00:58 stable 3 1", (100, 220, 1800, None)),
]


@pytest.mark.parametrize(("lines", "known"), HELD, ids=["both", "the begin", "none", "an earlier gap"])
def test_a_coordinator_tells_when_the_group_was_empty_and_listings_bound_it(lines, known):
    (one,) = consumer_offline.detect(facts(EMPTIED, coordinator(lines) if lines else [])).findings

    low, high = (one.measures.get(f"pending_records_{end}") for end in ("low", "high"))
    begin, end = (when.timestamp() - at(0) for when in (one.started_at, one.ended_at))
    assert (begin, end, one.measures["pending_records"], (low, high) if low else None) == known


@pytest.mark.parametrize(
    ("deleted", "waits"), [(201, (730, 700, 900)), (150, (730, 700, 900)), (205, (1630, 1600, 1800))]
)
def test_what_retention_had_deleted_by_the_end_does_not_wait(deleted, waits):
    gone = episode("log-start-moved", deleted, "logs/server.log", left=1900, topic="invoices", queue="0")
    lines = coordinator("10:01:36 empty 2\n10:03:23 new {a1}")
    (one,) = consumer_offline.detect(facts(EMPTIED, lines, gone)).findings
    assert tuple(one.measures[f"pending_records{end}"] for end in ("", "_low", "_high")) == waits


@pytest.mark.parametrize(("after", "gone"), [("", None), ("\n10:03:00 left {a2} a\n10:03:00 empty 3", "10:03:00")])
def test_a_group_that_came_back_and_left_again_is_not_told_as_back(after, gone):
    lines = coordinator(
        "10:00:00 new {a1}\n10:00:00 preparing 0 Adding new member {a1} with group instance id None\n"
        "10:00:03 stable 1 1\n10:01:00 left {a1} a\n10:01:00 empty 2\n10:01:20 new {a2}\n"
        "10:01:20 preparing 2 Adding new member {a2} with group instance id None\n10:01:23 stable 3 1" + after
    )
    rows = [
        Position(at(s), KAFKA, TOPIC, "0", 10 * s, 10 * s + 3, 3, None, None, None, "offsets/groups.txt", s, "")
        for s in range(10, 200, 10)
    ]
    reason = consumer_offline.detect(facts(lines, rows)).rejected
    assert reason is not None
    (short,) = pieces(reason)
    assert short.values["gone"] == (None if gone is None else at(gone))
