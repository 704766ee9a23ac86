"""Slow, absent and differing members of RocketMQ groups, drains, releases: told from each other."""

from __future__ import annotations

import pytest
from facts_builder import at, episode, facts, series
from group_builder import (
    FLIPS,
    GROUP,
    TOPIC,
    allocated,
    broker_log,
    connected,
    flip,
    listing,
    listings,
    offline,
    queue,
    queues,
    said,
    told,
)

from mqlab.detectors import (
    backlog_drain,
    consumer_offline,
    duplicate_client_id,
    rolling_restart,
    slow_consumer,
    subscription_mismatch,
)
from mqlab.findings import CLEAR, Certainty, Result, Severity
from mqlab.groups.membership import places
from mqlab.units import clock

A, B, C = "A@1 10.0.0.1:1001", "B@2 10.0.0.2:1002", "C@3 10.0.0.3:1003"
STEADY = listings(0, 600, 20, A, B)
EVERY = (backlog_drain, consumer_offline, duplicate_client_id, rolling_restart, slow_consumer, subscription_mismatch)


def classes(*rows):
    """What each rule finds, by class."""
    return {d.INCIDENT: found for d in EVERY if (found := d.detect(facts(*rows)).findings)}


def legs(*parts):
    """Four queues that go through the same legs."""
    return [queue(f"broker-a/{n}", parts) for n in range(4)]


OF_TRADES = [queue(f"broker-a/{n}", [(100, 3, 3), (300, 3, 0 if n in (2, 3) else 3)], topic="TRADES") for n in range(4)]


def test_a_consumer_that_is_slower_than_the_producer_is_told_with_both_rates():
    (one,) = classes(STEADY, legs((120, 10, 10), (300, 10, 8))).pop("slow-consumer")
    assert (one.certainty, one.severity, one.ongoing) == (Certainty.PROVEN, Severity.CRITICAL, True)
    assert (one.measures["produced_per_second"], one.measures["consumed_per_second"]) == (40, 32)


@pytest.mark.parametrize(("slow_again", "over"), [(20, 425), (100, 540)], ids=["a rollback", "a restart"])
def test_a_slow_consumer_is_over_when_it_leaves_unless_those_who_come_are_slow_as_well(slow_again, over):
    """A restart in which nobody consumed is no part of it; peak and backlog know the restart."""
    rows = [broker_log(900), *(connected(0, name, f"10.0.0.{n}:1") for n, name in enumerate(("A@1", "B@2")))]
    for n, (old, new) in enumerate((("A@1", "A@3"), ("B@2", "B@4"))):
        rows += [
            connected(425 + n, old, f"10.0.0.{n}:1", kind="consumer-disconnected"),
            connected(436 + n, new, f"10.0.0.{n}:2"),
        ]
    (one,) = classes(rows, legs((120, 10, 10), (300, 10, 8), (20, 10, 0), (slow_again, 10, 8), (300, 10, 20)))[
        "slow-consumer"
    ]
    assert (one.started_at.timestamp(), one.ended_at.timestamp(), one.ongoing) == (at(120), at(over), False)
    assert one.measures["peak_lag"] == 4 * (300 * 2 + 20 * 10 + slow_again * 2)


def forms(first):
    """A group of whose two members the second comes *first* seconds after ten o'clock."""
    return [broker_log(900), connected(0, "A@1", "10.0.0.1:1"), connected(first, "B@2", "10.0.0.2:1")]


def test_members_that_had_rebalanced_before_the_lag_rose_were_the_same_all_along():
    (one,) = classes(forms(95), legs((120, 10, 10), (80, 10, 5), (100, 10, 30))).pop("slow-consumer")
    assert (one.started_at.timestamp(), one.certainty) == (at(120), Certainty.PROVEN)


@pytest.mark.parametrize(
    ("rows", "known"),
    [
        (forms(115), Result(missing=(slow_consumer.say("no-calm", group=GROUP),))),
        ([*forms(140), connected(180, "A@1", "10.0.0.1:1", kind="consumer-disconnected")],
         Result(rejected=slow_consumer.say("changing", group=GROUP, topic=TOPIC))),
    ],
    ids=["a group that forms before the rise", "members that come and go in it"],
)  # fmt: skip
def test_what_cannot_be_measured_is_only_ruled_out_where_members_changed_meanwhile(rows, known):
    result = slow_consumer.detect(facts(rows, *legs((120, 10, 10), (80, 10, 5), (100, 10, 30))))
    assert (result.findings, result.missing, result.rejected) == ((), known.missing, known.rejected)


@pytest.mark.parametrize(("gone", "over"), [(210, 210), (240, 200)], ids=["before the next reading", "after it"])
def test_a_slow_consumer_may_leave_between_the_last_reading_of_the_rise_and_the_next(gone, over):
    leaves = [
        *forms(0),
        connected(gone, "B@2", "10.0.0.2:1", kind="consumer-disconnected"),
        connected(gone + 2, "B@3", "10.0.0.2:2"),
    ]
    (one,) = classes(leaves, legs((120, 10, 10), (80, 10, 5), (100, 10, 30))).pop("slow-consumer")
    assert one.ended_at.timestamp() == at(over)


def test_what_members_can_do_confirms_weakens_or_disproves_it():
    moves = legs((120, 10, 10), (300, 10, 8))

    def rate(ms):
        pool = [said("PROP_THREADPOOL_CORE_SIZE", "2", owner=name) for name in ("A@1", "B@2")]
        times = [
            series("rocketmq.consumer.consume_rt_ms", [ms], start=400, client_id=name, group=GROUP)
            for name in ("A@1", "B@2")
        ]
        found = classes(STEADY, moves, *pool, *times).get("slow-consumer", ())
        return [(one.certainty, one.measures["capacity_per_second"]) for one in found]

    assert rate(125) == [(Certainty.PROVEN, 32)]
    assert rate(50) == [(Certainty.LIKELY, 80)]
    assert rate(5) == []


@pytest.mark.parametrize(
    ("before", "during", "told"),
    [(25, 125, (25, 125, True)), (120, 125, (120, 125, False)), (None, 125, (None, None, None))],
    ids=["slower than before", "as ever", "unknown before"],
)
def test_advice_for_a_slow_consumer_knows_whether_a_message_takes_longer_than_before(before, during, told):
    times = [
        series("rocketmq.consumer.consume_rt_ms", [ms], start=when, client_id=name, group=GROUP)
        for when, ms in ((60, before), (400, during))
        for name in ("A@1", "B@2")
        if ms
    ]
    (one,) = classes(STEADY, legs((120, 10, 10), (300, 10, 8)), *times)["slow-consumer"]
    assert tuple(one.remedy.values.get(name) for name in ("before", "during", "slower")) == told


@pytest.mark.parametrize(
    "rows",
    [
        (STEADY, queues(4, range(4), seconds=600)),
        (STEADY, legs((300, 10, 10), (20, 10, 0), (200, 10, 20))),
        (STEADY, legs((120, 10, 9.8), (40, 10, 12), (120, 10, 9.8), (40, 10, 12))),
        (listings(0, 600, 20, A, B, C, "D@4 10.0.0.4:1"), queues(2, range(2), seconds=600)),
        (listings(0, 40, 20, A, B), listing(60, A), listings(80, 600, 20, A, B),
         legs((40, 10, 10), (60, 10, 2), (300, 10, 11))),
    ],
    ids=["healthy", "one pause", "saw-tooth", "more consumers than queues", "one restart"],
)  # fmt: skip
def test_ordinary_days_of_a_group_accuse_nobody(rows):
    assert [f for found in classes(*rows).values() for f in found if f.severity > Severity.NOTICE] == []


def test_a_queue_that_stands_still_beside_others_is_no_slow_consumer():
    stuck = [queue("broker-a/0", [(600, 3, 0)]), *(queue(f"broker-a/{n}", [(600, 3, 3)]) for n in range(1, 4))]
    why = slow_consumer.say("stuck", group=GROUP, places=places(TOPIC, ["broker-a/0"]))
    assert slow_consumer.detect(facts(STEADY, *stuck)) == Result(rejected=why)


def test_a_group_that_lost_its_members_is_offline():
    rows = (*listings(0, 100, 20, A, B), *(offline(when) for when in range(140, 420, 20)))
    (one,) = classes(rows, legs((120, 10, 10), (300, 10, 0))).pop("consumer-offline")
    assert (one.certainty, one.severity) == (Certainty.PROVEN, Severity.CRITICAL)
    assert one.measures["pending_records"] == 12_000


def test_a_group_that_nobody_read_before_is_a_notice():
    rows = [offline(when) for when in range(0, 320, 20)]
    (one,) = classes(rows, legs((300, 10, 0))).pop("consumer-offline")
    assert (one.severity, one.started_at.timestamp()) == (Severity.NOTICE, at(0))


@pytest.mark.parametrize(
    "rows",
    [
        (offline(140), offline(160), said("messageModel", "BROADCASTING"), legs((300, 10, 0))),
        (listings(0, 100, 20, A, B), offline(120), listings(160, 400, 20, A, B),
         legs((100, 10, 10), (60, 10, 0), (240, 10, 12))),
        (listings(0, 400, 20, A, B), legs((100, 10, 10), (300, 10, 0))),
    ],
    ids=["broadcast", "a restart of all", "members that are stuck"],
)  # fmt: skip
def test_groups_with_members_are_not_offline(rows):
    assert "consumer-offline" not in classes(*rows)


@pytest.mark.parametrize(
    "model",
    [
        said("messageModel", "BROADCASTING"),
        episode("consumer-starting", 0, "logs/h1/rocketmq_client.log", system="rocketmq", group=GROUP,
                reason="BROADCASTING"),
    ],
)  # fmt: skip
def test_what_a_broker_keeps_of_a_broadcast_group_is_no_position_of_it(model):
    slow = (STEADY, legs((400, 10, 5)))
    assert "slow-consumer" in classes(*slow)
    assert "slow-consumer" not in classes(*slow, model)


def test_a_topic_that_one_member_does_not_read_leaves_its_share_to_nobody():
    members = listings(0, 400, 20, A, B)
    held = [("A@1", "h1", TOPIC), ("A@1", "h1", "TRADES"), ("B@2", "h2", TOPIC)]
    reads = [allocated(n, name, host, ["broker-a/0"], topic=topic) for n, (name, host, topic) in enumerate(held)]
    found = classes(members, FLIPS, *reads, *OF_TRADES)
    (one,) = found.pop("subscription-mismatch")
    assert (one.certainty, one.severity) == (Certainty.PROVEN, Severity.CRITICAL)
    assert one.measures["orphan_queues"] == 2
    absent = subscription_mismatch.say("absent", clients=["B@2"], topic="TRADES")
    assert one.statement.values["absent"] == [absent]
    assert not found
    assert (one.mitigate.values["odd"], one.mitigate.values["lacking"]) == (["B@2"], ["TRADES"])


def test_members_that_tell_different_tags_are_likely_a_mismatch():
    rows = [
        told(when, client, f"{TOPIC}:{tag}") for when in (0, 300) for client, tag in (("A@1", "*"), ("B@2", "TagA"))
    ]
    (one,) = classes(STEADY, rows, queues(4, range(4), seconds=400)).pop("subscription-mismatch")
    assert (one.certainty, one.severity) == (Certainty.LIKELY, Severity.WARNING)
    assert one.mitigate.values["odd"] == []


def test_a_release_that_changes_the_subscription_once_is_none():
    once = (flip(100, "remove"), flip(130, "add"), flip(150, "remove"))
    result = subscription_mismatch.detect(facts(STEADY, once, queues(4, range(4), seconds=600)))
    assert result == Result(rejected=subscription_mismatch.say("settled", group=GROUP))


def test_a_subscription_that_goes_with_a_release_of_all_members_is_none():
    rows = [connected(0, "A@1", "10.0.0.1:1"), connected(0, "B@2", "10.0.0.2:1"), broker_log()]
    rows += [
        connected(when, name, peer, kind="consumer-disconnected")
        for when, name, peer in ((100, "A@1", "10.0.0.1:1"), (250, "B@2", "10.0.0.2:1"))
    ]
    rows += [connected(110, "A@3", "10.0.0.1:2"), connected(260, "B@4", "10.0.0.2:2")]
    flips = [flip(when, reason) for when, reason in ((120, "remove"), (150, "add"), (180, "remove"), (210, "add"))]
    moves = queues(4, range(4), seconds=600)
    released = subscription_mismatch.say("released", group=GROUP)
    assert subscription_mismatch.detect(facts(rows, flips, moves)) == Result(rejected=released)
    stays = [row for row in rows if getattr(row, "client_id", "") not in ("B@2", "B@4")]
    stays.append(connected(0, "B@2", "10.0.0.2:1"))
    assert subscription_mismatch.detect(facts(stays, flips, moves)).findings


def test_a_backlog_that_falls_is_a_state_with_its_end():
    drained = legs((100, 10, 10), (100, 10, 0), (260, 10, 14), (60, 10, 10))
    (one,) = classes(STEADY, drained).pop("backlog-drain")
    assert (one.severity, one.ongoing) == (Severity.NOTICE, False)
    assert one.measures["drain_seconds"] == pytest.approx(250, rel=0.1)
    assert [place.why.values["waiting"] for place in one.evidence] == [1000, 0]


def test_a_drain_that_is_under_way_says_when_it_will_end():
    (one,) = classes(STEADY, legs((100, 10, 10), (200, 10, 0), (200, 10, 15))).pop("backlog-drain")
    assert (one.ongoing, clock(one.statement.values["expected"])) == (True, "10:11:32")


def test_members_that_come_again_one_after_another_are_a_release():
    times = {"A@1": 100, "B@2": 130}
    peers = {"A@1": "10.0.0.1", "B@2": "10.0.0.2"}
    rows = [connected(0, name, f"{peers[name]}:1") for name in times]
    rows += [connected(when, name, f"{peers[name]}:1", kind="consumer-disconnected") for name, when in times.items()]
    rows += [connected(when + 10, f"{name}x", f"{peers[name]}:2") for name, when in times.items()]
    (one,) = classes(*rows, broker_log(), queues(4, range(4))).pop("rolling-restart")
    assert (one.severity, one.measures["members"]) == (Severity.NOTICE, 2)


def test_one_member_that_comes_back_is_no_release():
    rows = [connected(0, "A@1", "10.0.0.1:1"), connected(0, "B@2", "10.0.0.2:1")]
    rows += [connected(90, "A@1", "10.0.0.1:1", kind="consumer-disconnected"), connected(100, "A@5", "10.0.0.1:2")]
    assert rolling_restart.detect(facts(*rows, broker_log())).findings == ()


def test_health_is_clear_for_every_rule_that_can_look():
    rows = facts(STEADY, queues(4, range(4), seconds=600), broker_log())
    able = (consumer_offline, slow_consumer, subscription_mismatch, backlog_drain)
    assert [one.detect(rows) for one in able] == [CLEAR] * 4
