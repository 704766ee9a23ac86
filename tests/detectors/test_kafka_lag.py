"""Kafka groups whose lag grows: who is slow, who is gone, and what only looks like it."""

from dataclasses import replace

import pytest
from facts_builder import at, episode, facts, log
from kafka_builder import client, coordinator
from said import told

from mqlab.detectors import backlog_drain, consumer_offline, slow_consumer
from mqlab.facts import Position
from mqlab.findings import Certainty, Severity
from mqlab.groups import membership
from mqlab.rows import Batch, Client
from mqlab.units import minute

GROUP, TOPIC = "billing", "invoices"


def describe(*legs, partitions=3, owner="a", start=0, begin=0, ahead=0, group=GROUP):
    """``--describe`` every ten seconds: legs are (seconds, produced, consumed per second and partition, or owner)."""
    committed, end, when, rows = float(begin), float(begin + ahead), start, []
    for seconds, produced, consumed, *held in legs:
        owner = held[0] if held else owner
        for _ in range(0, seconds, 10):
            rows += [_row(when, n, committed, end, owner, group) for n in range(partitions)]
            end += produced * 10
            committed = min(end, committed + consumed * 10)
            when += 10
    return (*rows, *(_row(when, n, committed, end, owner, group) for n in range(partitions)))


def _row(when, n, committed, end, owner, group):
    who = None if owner == "-" else owner
    text = f"{group} {TOPIC} {n} {committed:.0f} {end:.0f} {owner}"
    member = who and f"{who}-00000000-0000-4000-8000-000000000001"
    return Position(
        at(when), group, TOPIC, str(n), int(committed), int(end), None, who, member, who and "10.0.0.1",
        f"offsets/describe.{when}.txt", 3 + n, text,
    )  # fmt: skip


def members(first, last, *names, group=GROUP):
    """``--members`` every ten seconds."""
    return [
        Client(at(when), "kafka", group, name, "10.0.0.1", None, None, f"offsets/members.{when}.txt", 3 + n, name)
        for when in range(first, last + 1, 10)
        for n, name in enumerate(names)
    ]


def empty(*moments, group=GROUP):
    """``--state`` that counts nobody."""
    return [
        episode("group-state", when, f"offsets/state.{when}.txt", group=group, reason="Empty", left=0.0)
        for when in moments
    ]


def polls(seconds, records, took, name="a"):
    """One poll worked off every *took* seconds."""
    return [
        Batch(at(when), name, GROUP, 1, records, took, took, records, f"clients/{name}.log", when, "processed")
        for when in range(0, seconds, took)
    ]


def answer(detector, *rows):
    """(class, severity, certainty) of each finding; else why it was rejected, what is missing, or clear."""
    result = detector.detect(facts(*rows))
    if result.findings:
        return [(f.incident, f.severity, f.certainty) for f in result.findings]
    return result.rejected or result.missing or "clear"


UNJUDGED = (slow_consumer.say("no-calm", group=GROUP),)
SLOW = [("slow-consumer", Severity.CRITICAL, Certainty.PROVEN)]
GROWS = ((100, 10, 10), (300, 10, 4))


def test_a_stable_group_that_is_slower_than_the_producers_is_slow():
    assert answer(slow_consumer, describe(*GROWS)) == SLOW


def slow(*legs):
    """Begin in seconds, peak."""
    (finding,) = slow_consumer.detect(facts(describe(*legs))).findings
    return finding.started_at.timestamp() - at(0), finding.measures["peak_lag"]


def test_a_rise_begins_with_its_first_part_that_was_not_worked_off():
    dip = ((20, 10, 4), (10, 10, 20))
    assert slow((100, 10, 10), *dip, (300, 10, 4))[0] == 100
    worked_off = ((20, 10, 4), (20, 10, 20))
    assert slow((100, 10, 10), *worked_off, (300, 10, 4))[0] == 140


def test_the_teeth_of_commits_do_not_begin_a_rise():
    teeth = [leg for _ in range(4) for leg in ((10, 10, 9), (10, 10, 11))]
    assert slow(*teeth, (300, 10, 4))[0] == 80


def test_a_backlog_that_grows_on_through_a_short_restart_has_one_peak():
    (rise, peak), restart = slow((100, 10, 10), (300, 10, 4)), ((60, 10, 0, "-"), (200, 10, 60, "b"))
    begin, waited = slow((100, 10, 10), (300, 10, 4), *restart)
    assert begin == rise
    assert waited > 1.2 * peak


def test_what_its_polls_could_do_proves_it_or_speaks_against_it():
    busy, idle = polls(400, 120, 10), polls(400, 1200, 10)
    assert answer(slow_consumer, describe(*GROWS), busy) == SLOW
    assert answer(slow_consumer, describe(*GROWS), idle) == [("slow-consumer", Severity.CRITICAL, Certainty.LIKELY)]
    (finding,) = slow_consumer.detect(facts(describe(*GROWS), busy)).findings
    assert finding.measures["capacity_per_second"] == pytest.approx(12)
    assert finding.measures["consumed_per_second"] == pytest.approx(12)


def test_partitions_of_one_member_that_fall_behind_are_named_with_it():
    slow = describe(*GROWS, partitions=1, owner="b")
    quick = [p for p in describe((400, 10, 10), partitions=3, owner="a") if p.queue != "0"]
    (finding,) = slow_consumer.detect(facts(slow, quick)).findings
    assert finding.facts == {"falling behind": "0", "keeping up": "1-2", "owners that fall behind": "b"}


def of_partitions(*each):
    """Four partitions, each with legs of its own."""
    return [p for n, legs in enumerate(each) for p in describe(*legs, partitions=4) if p.queue == str(n)]


FAST = ((400, 10, 10),)


def test_one_partition_of_several_that_falls_behind_is_measured_by_its_own_production():
    """It rises by 30 s of its own production, which is less than 20 s of that of the topic."""
    given = facts(of_partitions(FAST, FAST, ((100, 10, 10), (300, 10, 9)), FAST))
    (finding,) = slow_consumer.detect(given).findings
    assert (finding.certainty, finding.subject) == (Certainty.LIKELY, f"{GROUP}/{TOPIC}")
    assert (finding.measures["produced_per_second"], finding.measures["consumed_per_second"]) == (10, 9)
    assert membership.places(TOPIC, ["2"]) in finding.statement
    assert finding.measures["peak_lag"] == 300


@pytest.mark.parametrize(
    ("legs", "said"),
    [
        (((100, 10, 10), (150, 10, 9), (150, 10, 10)), "clear"),
        (((100, 10, 10), (300, 10, 0)), "stuck"),
        (((100, 10, 10), (60, 30, 12), (240, 4, 12)), "burst"),
    ],
)
def test_a_partition_that_is_a_little_late_or_stands_still_or_had_a_burst_is_not_slow(legs, said):
    result = answer(slow_consumer, of_partitions(FAST, FAST, legs, FAST))
    place = {"group": GROUP, "topic": membership.places(TOPIC, ["2"])}
    texts = {
        "clear": "clear",
        "stuck": slow_consumer.say("stuck", group=GROUP, places=membership.places(TOPIC, ["2"])),
        "burst": slow_consumer.say("burst", **place),
    }
    assert result == texts[said]


def test_a_partition_that_falls_behind_before_and_after_a_join_needs_a_longer_time_with_the_same_members():
    legs = ((40, 10, 10), (50, 10, 4), (10, 10, 4, "-"), (50, 10, 4, "b"), (30, 10, 40, "b"))
    rows = of_partitions(((180, 10, 10),), ((180, 10, 10),), legs, ((180, 10, 10),))
    joined = coordinator("10:01:30 preparing 1 Adding new member {b1}\n10:01:31 stable 2 2")
    result = slow_consumer.detect(facts(rows, joined, members(0, 180, "a")))
    assert result.missing == (slow_consumer.say("no-calm", group=GROUP),)


def test_a_partition_that_falls_behind_alone_while_members_change_is_not_explained_by_that():
    legs = ((40, 10, 10), (140, 10, 6))
    steady = ((180, 10, 10),)
    words = "".join(f"10:0{n // 60}:{n % 60:02} preparing {n} Adding new member {{c{n}}}\n" for n in range(40, 180, 25))
    rows = of_partitions(steady, steady, legs, steady)
    result = slow_consumer.detect(facts(rows, coordinator(words), members(0, 180, "a")))
    assert (result.rejected, len(result.missing), bool(result.seen)) == (None, 1, True)


def test_a_rise_during_a_loop_of_poll_timeouts_is_not_judged():
    lines = [
        f"10:0{minute}:{second} {words}"
        for minute, number in ((2, 1), (3, 2), (4, 3))
        for second, words in (
            (10, f"timeout {{a{number}}}"), (12, "joining"), (15, f"joined {number + 1} {{a{number + 1}}}"),
        )
    ]  # fmt: skip
    loop = [client("a", "\n".join(lines)), log("clients/a.log")]
    assert answer(slow_consumer, describe(*GROWS), loop) == UNJUDGED


def test_a_rise_while_commits_fail_is_not_judged():
    failed = [episode("commit-failed", when, "clients/a.log", client_id="a", group=GROUP) for when in (150, 200, 250)]
    assert answer(slow_consumer, describe(*GROWS), failed) == UNJUDGED


def test_commits_of_another_groups_client_that_fail_are_none_of_its_own():
    other = client("x", "10:00:00 joining\n10:00:03 joined 1 {x1}", group="others")
    failed = [episode("commit-failed", when, "clients/x.log", line=when) for when in (150, 200, 250)]
    assert answer(slow_consumer, describe(*GROWS), other, failed) == SLOW
    assert answer(slow_consumer, describe(*GROWS), failed) == UNJUDGED


def test_owners_with_new_member_ids_in_each_snapshot_are_a_loop_even_without_a_log():
    rows = [p if p.at < at(100) else replace(p, member_id=f"a-{p.at}") for p in describe(*GROWS)]
    assert answer(slow_consumer, rows) == slow_consumer.say("changing", group=GROUP, topic=TOPIC)


def test_a_rise_of_which_the_members_stayed_the_same_for_less_than_a_minute_is_too_short_to_tell():
    rise = describe((100, 10, 10), (50, 30, 5), (20, 30, 5, "b"))
    assert answer(slow_consumer, rise) == (slow_consumer.say("no-calm", group=GROUP),)


def test_one_partition_that_stands_still_is_not_the_consumers_speed():
    stuck = describe((100, 10, 10), (300, 10, 0), partitions=1)
    others = [p for p in describe((400, 10, 10)) if p.queue != "0"]
    stands = slow_consumer.say("stuck", group=GROUP, places=membership.places(TOPIC, ["0"]))
    assert answer(slow_consumer, stuck, others) == stands


def test_a_burst_that_the_group_works_off_as_fast_as_ever_is_no_slow_consumer():
    burst = describe((100, 10, 10), (100, 40, 20), (200, 10, 20))
    assert answer(slow_consumer, burst) == slow_consumer.say("burst", group=GROUP, topic=TOPIC)


def test_a_slow_consumer_that_was_made_faster_was_one():
    assert answer(slow_consumer, describe((100, 10, 10), (300, 10, 4), (200, 10, 30))) == SLOW


def test_a_group_whose_members_nobody_lists_cannot_be_judged():
    unlisted = answer(slow_consumer, describe(*GROWS, owner="-"))
    assert unlisted == (slow_consumer.say("no-kafka-members", group=GROUP),)


GONE = ((100, 10, 10), (200, 10, 0, "-"))
OFFLINE = [("consumer-offline", Severity.CRITICAL, Certainty.PROVEN)]


@pytest.mark.parametrize(
    "absence",
    [empty(*range(110, 301, 20)), coordinator("10:01:42 empty 2"), []],
    ids=["a state without members", "the coordinator's word", "no owner in any row"],
)
def test_a_group_without_members_whose_lag_grows_is_offline(absence):
    rows = [describe(*GONE), members(0, 90, "a"), absence]
    assert answer(consumer_offline, *rows) == OFFLINE
    (finding,) = consumer_offline.detect(facts(*rows)).findings
    assert (finding.started_at.timestamp() - at(0), finding.ongoing) == (100, True)
    assert finding.measures["lag_growth_per_second"] == pytest.approx(30)


def test_a_group_that_was_stopped_right_before_the_material_ends_is_no_incident():
    rows = [describe((100, 10, 10), (40, 10, 0, "-")), members(0, 90, "a"), empty(110, 120, 130, 140)]
    assert answer(consumer_offline, *rows) == consumer_offline.say("short", group=GROUP, seconds=40, ongoing=True)


def test_a_group_that_is_restarted_as_a_whole_is_no_incident():
    rows = [describe((100, 10, 10), (50, 10, 0, "-"), (100, 10, 20, "a")), members(0, 90, "a"), members(150, 250, "a")]
    away = answer(consumer_offline, *rows, empty(110, 120, 130, 140))
    assert away == consumer_offline.say("short", group=GROUP, seconds=50, ongoing=False)


def test_consumers_that_assign_themselves_are_no_members_by_design():
    rows = [describe((200, 10, 10, "-"), (200, 10, 0, "-")), empty(*range(0, 401, 20))]
    assert answer(consumer_offline, *rows) == consumer_offline.say("alone", group=GROUP, topic=TOPIC)


def test_a_group_that_nobody_read_for_from_the_start_is_a_notice():
    rows = [describe((300, 10, 0, "-")), empty(*range(0, 301, 20))]
    assert answer(consumer_offline, *rows) == [("consumer-offline", Severity.NOTICE, Certainty.PROVEN)]


def test_owners_that_are_missing_in_the_middle_of_a_rebalance_are_not_gone():
    moving = [
        episode("group-state", when, "offsets/state.txt", group=GROUP, reason="PreparingRebalance", left=3.0)
        for when in range(100, 300, 10)
    ]
    assert answer(consumer_offline, describe(*GONE), moving, members(0, 300, "a")) == "clear"


def test_a_backlog_of_a_kafka_group_that_falls_is_told():
    rows = describe((100, 10, 10), (200, 10, 0), (200, 10, 40))
    (finding,) = backlog_drain.detect(facts(rows)).findings
    assert (finding.subject, told(finding.verify)) == ("billing/invoices", {"kafka": True, "topic": TOPIC})


def drains(*each):
    """When a backlog is worked off, of which each partition is read with so many a second, while ten come in."""
    legs = [((100, 10, 10), (200, 10, 0), (200, 10, fast)) for fast in each]
    rows = [p for n, own in enumerate(legs) for p in describe(*own) if p.queue == str(n)]
    (finding,) = backlog_drain.detect(facts(rows)).findings
    shown = told(finding.statement)
    return minute(shown["expected"]) if "expected" in shown else shown.get("endless")


def test_a_drain_is_over_when_the_slowest_of_its_partitions_is():
    assert (drains(14, 14, 14), drains(14, 14, 11)) == ("10:13", "10:37")


def test_of_a_drain_of_which_one_partition_does_not_fall_nobody_knows_the_end():
    assert drains(20, 20, 10) is None


def test_partitions_are_plain_numbers_and_queues_of_another_system_are_not_kafkas():
    rocketmq = Position(at(0), "g", "T", "broker-a/0", 1, 2, None, None, None, None, "offsets/x", 1, "")
    assert list(membership.topics(facts(rocketmq, describe((10, 1, 1))))) == [(GROUP, TOPIC)]
    partitions = {"partitions": 4, "queues": ["0-2", "5"], "topic": "t"}
    assert told(membership.places("t", ["0", "1", "2", "5"])) == partitions
    assert told(membership.places("T", ["broker-a/0", "broker-a/1"])) == {"queues": "broker-a 0-1", "topic": "T"}


def released(back, *, last="10:01:01"):
    """Two members leave in good order and come again."""
    return coordinator(f"""
        10:00:00 new {{a1}}
        10:00:00 preparing 0 Adding new member {{a1}} with group instance id None
        10:00:01 new {{b1}}
        10:00:03 stable 1 2
        10:01:00 left {{a1}}
        10:01:00 preparing 1 removing member {{a1}} on LeaveGroup
        {last} left {{b1}}
        {last} empty 2
        {back} preparing 2 Adding new member {{a2}} with group instance id None
    """)


def test_a_short_time_without_members_is_ruled_out_and_not_clear():
    short = consumer_offline.say("short", group=GROUP, seconds=15.0, ongoing=False)
    assert answer(consumer_offline, describe((200, 10, 10)), released("10:01:16")) == short
    assert answer(consumer_offline, describe((200, 10, 10)), released("10:01:16", last="10:02:00")) == "clear"
    assert answer(consumer_offline, describe((200, 10, 10))) == "clear"
