"""One record that fails again and again, and what only looks like it."""

from dataclasses import replace

import pytest
from facts_builder import at, episode, facts, log, settings, version
from kafka_builder import client, coordinator
from said import told

from mqlab.detectors import poison_pill_stall, poll_interval_exceeded
from mqlab.detectors.poison_pill_stall import say
from mqlab.facts import Position
from mqlab.findings import Certainty, Severity
from mqlab.kafka import poll_timeout
from mqlab.shared.queues import lag
from mqlab.words import is_idle

GROUP, TOPIC = "billing", "invoices"
PROVEN, LIKELY = (
    [(say("subject", group=GROUP, topic=TOPIC, queue="3"), sure)] for sure in (Certainty.PROVEN, Certainty.LIKELY)
)


def partition(number, stop=None, *, since=0, until=300, owner="a"):
    """``--describe`` every ten seconds: ten records a second come in; nothing is committed beyond *stop*."""
    rows = []
    for when in range(since, until + 1, 10):
        end = 10 * when + 5
        committed = end - 5 if stop is None else min(stop, end - 5)
        text = f"{GROUP} {TOPIC} {number} {committed} {end}"
        rows.append(
            Position(
                at(when), GROUP, TOPIC, str(number), committed, end, None, owner, f"{owner}-1", "10.0.0.1",
                f"offsets/describe.{when}.txt", 3 + number, text,
            )
        )  # fmt: skip
    return rows


def fails(first, last, offset=1000, *, queue="3", step=1, source="clients/a.log", kind="record-failed", name="a"):
    """The application's line about one record, every *step* seconds."""
    return [
        episode(
            kind, when, source, line=1 + when, topic=TOPIC, queue=queue, left=offset, group=GROUP, client_id=name,
            text=f"record {TOPIC}-{queue}@{offset} failed, will retry",
        )
        for when in range(first, last + 1, step)
    ]  # fmt: skip


STILL = [partition(3, 1000), *(partition(n) for n in (0, 1, 2))]
LOG = log("clients/a.log", last="10:05")


def found(*rows):
    """(subject, certainty) of each finding; else why it was rejected, what is missing, or clear."""
    result = poison_pill_stall.detect(facts(*rows))
    if result.findings:
        return [(f.subject, f.certainty) for f in result.findings]
    return result.rejected or result.missing or "clear"


def test_what_waits_in_other_partitions_is_not_held_up_by_the_record():
    slow = partition(0, 0)
    (one,) = poison_pill_stall.detect(facts(partition(3, 1000), slow, partition(1), fails(100, 300), LOG)).findings
    assert sum(lag(row) for row in slow[-1:]) > 0
    assert [one.measures[name] for name in ("stuck_lag", "peak_lag", "pending_records")] == [2005] * 3


def test_a_record_that_fails_while_its_partition_stands_at_it_and_others_move_is_poison():
    rows = (*STILL, fails(100, 300), LOG)
    assert found(*rows) == PROVEN
    (finding,) = poison_pill_stall.detect(facts(*rows)).findings
    assert finding.severity is Severity.CRITICAL
    assert (finding.started_at.timestamp() - at(0), finding.ongoing) == (100, True)
    assert finding.measures == {
        "offset": 1000, "retries": 201, "stalled_seconds": 200, "stuck_lag": 2005, "peak_lag": 2005,
            "pending_records": 2005,
        "lag_growth_per_second": pytest.approx(10),
    }  # fmt: skip
    place = {"topic": TOPIC, "queue": "3"}
    tries = {"offset": "1000", "failed": True, "retries": 201, "lasted": 200, "clients": ["a"]}
    stands = {"stayed": "1000", "moving": 3, "others": 3, "earlier": 5, "stuck_lag": 2005}
    assert told(finding.statement) == place | tries | stands
    assert told(finding.mitigate) == {"group": GROUP, "offset": "1000", "next": "1001", **place}


def test_a_client_that_goes_back_to_one_offset_tells_the_same_and_is_not_counted_twice():
    sought = fails(100, 300, kind="offset-sought")
    assert found(*STILL, sought, LOG) == PROVEN
    (finding,) = poison_pill_stall.detect(facts(*STILL, fails(100, 300), sought, LOG)).findings
    assert finding.measures["retries"] == 201


def test_the_neighbour_that_takes_the_partition_over_is_no_second_culprit():
    (finding,) = poison_pill_stall.detect(
        facts(*STILL, fails(100, 280), fails(290, 300, source="clients/b.log", name="b"), LOG)
    ).findings
    assert told(finding.statement)["clients"] == ["a", "b"]


def test_a_record_in_the_middle_of_a_poll_holds_the_commit_before_it():
    assert found(partition(3, 960), *STILL[1:], fails(100, 300), LOG) == PROVEN


def test_a_topic_of_one_partition_needs_no_others_that_move():
    assert found(STILL[0], fails(100, 300), LOG) == PROVEN


def test_without_snapshots_or_with_all_partitions_still_it_is_likely():
    assert found(fails(100, 300), LOG) == LIKELY
    still = [partition(n, 1000) for n in range(4)]
    assert found(*still, fails(100, 300), LOG) == LIKELY


def test_a_group_that_rebalances_for_faults_meanwhile_is_likely_only():
    expiry = coordinator(
        "10:02:10 expired {a1}\n10:02:10 preparing 1 removing member {a1} on heartbeat expiration\n"
        "10:02:12 stable 2 1", group=GROUP,
    )  # fmt: skip
    assert found(*STILL, fails(100, 300), expiry, LOG) == LIKELY


def test_a_record_that_is_given_up_after_its_retries_is_no_stall():
    assert found(*(partition(n) for n in range(4)), fails(100, 109), LOG) == say("not-again", times=10)


def test_a_record_that_was_passed_meanwhile_is_no_stall():
    assert found(*(partition(n) for n in range(4)), fails(100, 300, step=40), LOG) == say("not-again", times=6)


@pytest.mark.parametrize("others", ["partitions", "records"])
def test_work_that_fails_everywhere_is_not_one_record(others):
    more = (
        [fails(100, 300, queue=q) for q in "012"]
        if others == "partitions"
        else [fails(100 + n, 300, 1000 + n, step=10) for n in range(5)]
    )
    rows = [partition(n, 1000) for n in range(4)]
    assert found(*rows, fails(100, 300), more, LOG) == say("many")


def test_a_partition_that_stands_still_without_an_error_is_not_this_class():
    assert found(*STILL, LOG) == "clear"


def test_without_a_consumers_log_it_cannot_be_checked():
    assert found(*STILL) == (say("no-logs"),)


def leaves(when, *, limit=60000, name="a", number=1):
    """A member leaves since it did not poll."""
    log_of = f"clients/{name}.log"
    return (
        coordinator(f"""
            {clock(when)} left {{{name}{number}}} consumer poll timeout has expired.
            {clock(when)} preparing 1 Removing member {{{name}{number}}} on LeaveGroup
        """, source="logs/server.log"),
        client(name, f"10:00:03 joined 1 {{{name}1}}\n{clock(when)} timeout {{{name}{number}}}"),
        settings(f"at owner key value\n09:59:50 {name} group.id {GROUP}\n09:59:50 {name} max.poll.interval.ms {limit}",
                 log_of, scope="consumer"),
        version("3.9.1", log_of, "09:59:50"),
        log("logs/server.log", "kafka-broker-log"),
    )  # fmt: skip


def clock(seconds):
    return f"10:{seconds // 60:02}:{seconds % 60:02}"


def classes(*rows):
    """(incident, certainty) of what both rules say, the cause first."""
    every = [f for rule in (poison_pill_stall, poll_interval_exceeded) for f in rule.detect(facts(*rows)).findings]
    return [(f.incident, f.certainty) for f in every]


def test_a_record_that_is_tried_in_the_polling_thread_is_behind_the_late_poll():
    rows = (*STILL, fails(100, 300), leaves(170), LOG)
    assert classes(*rows) == [
        ("poison-pill-stall", Certainty.PROVEN), ("poll-interval-exceeded", Certainty.LIKELY),
    ]  # fmt: skip
    (poison,) = poison_pill_stall.detect(facts(*rows)).findings
    assert "poll-interval-exceeded" in poison.explains
    (late,) = poll_interval_exceeded.detect(facts(*rows)).findings
    assert late.facts["cause"] == poll_timeout.say("tried", topic=TOPIC, queue="3", offset="1000", tries=201)
    assert told(late.remedy) == {"record": True}


@pytest.mark.parametrize(
    "rows",
    [
        (fails(100, 300), leaves(170, name="b")),
        (fails(100, 110), fails(200, 300), leaves(190)),
        (fails(100, 300), coordinator("10:02:50 preparing 1 removing member {b1} on heartbeat expiration")),
    ],
    ids=["another member left", "it was tried for a short time only", "a member was expelled"],
)
def test_trouble_that_the_record_does_not_explain_leaves_it_likely(rows):
    assert found(*STILL, *rows, LOG) == LIKELY
    (poison,) = poison_pill_stall.detect(facts(*STILL, *rows, LOG)).findings
    assert "poll-interval-exceeded" not in poison.explains


def refused(first, last, *, step=1, source="clients/a.log"):
    """The worker's log says that the database does not answer."""
    return [
        episode("error:database-link-failed", n, source, text="Communications link failure", system="os")
        for n in range(first, last + 1, step)
    ]


def test_a_record_that_is_tried_while_the_database_does_not_answer_is_no_poison():
    rows = ([partition(n, 1000) for n in range(4)], fails(100, 300), LOG)
    assert found(*rows, refused(100, 300)) == say("lacks")
    assert found(STILL[0], fails(100, 300), LOG, refused(100, 300, step=4)) == say("lacks")


def test_a_record_that_fails_while_others_get_on_is_poison_whatever_its_handler_says():
    assert found(*STILL, fails(100, 300), LOG, refused(100, 300)) == PROVEN
    still = [partition(n, 1000) for n in range(4)]
    assert found(*still, fails(100, 300), LOG, refused(100, 110)) == LIKELY
    assert found(*still, fails(100, 300), LOG, refused(100, 300, source="clients/b.log")) == LIKELY


def passed(number, stop, until):
    """It stands at *stop* until the group goes past that."""
    return [p for p in partition(number, stop) if p.at < at(until)] + [
        p for p in partition(number) if p.at >= at(until)
    ]


MOVING = [partition(n) for n in (0, 1, 2)]


def test_a_record_that_held_its_partition_for_less_than_a_minute_is_poison_and_over_when_the_group_went_past_it():
    rows = (passed(3, 1000, 140), *MOVING, fails(101, 139), LOG, client("a", "10:00:00 joining"))
    assert found(*rows) == PROVEN
    (finding,) = poison_pill_stall.detect(facts(*rows)).findings
    assert (finding.started_at.timestamp() - at(0), finding.ended_at.timestamp() - at(0)) == (101, 139)
    assert (finding.measures["retries"], finding.measures["stuck_lag"]) == (39, 305)
    assert is_idle(finding.mitigate)


@pytest.mark.parametrize(
    "rows",
    [
        (passed(3, 1000, 140), MOVING, fails(101, 139, step=5)),
        (passed(3, 1000, 120), MOVING, fails(101, 119)),
        ([passed(n, 1000, 140) for n in range(4)], fails(101, 139)),
        (partition(3), MOVING, fails(101, 139)),
        (fails(101, 139),),
    ],
    ids=["few tries", "short", "all stand still", "its partition moves", "no snapshots"],
)
def test_a_short_retry_or_one_that_holds_no_partition_of_several_is_no_stall(rows):
    result = poison_pill_stall.detect(facts(*rows, LOG, client("a", "10:00:00 joining")))
    assert result.findings == ()
    assert result.rejected


def test_of_two_groups_that_read_the_topic_that_one_is_held_up_whose_log_it_is():
    """Lines of the application name neither a group nor a client; its settings are in the same log."""
    bare = [replace(line, group=None, client_id=None) for line in fails(101, 139)]
    other = [replace(p, group="stats", source=p.source + "2") for n in range(4) for p in partition(n, owner="s")]
    ours = settings(f"at owner key value\n09:59 a group.id {GROUP}", "clients/a.log", scope="consumer")
    began = (client("a", "09:59:58 starting"), coordinator("10:00:00 new {a1}"))
    assert found(passed(3, 1000, 140), *MOVING, other, bare, ours, began, LOG) == PROVEN
