"""Polls that take longer than the interval, as each version of a client tells of them."""

import pytest
from churn_builder import BROKER_LOG, runs, worked
from facts_builder import at, episode, facts, log
from kafka_builder import GROUP, TOPIC, client, coordinator
from poll_builder import CALM, FAST, LISTED, LOOP, SET, SLOW, TOLD, found, others
from said import told

from mqlab.detectors.poll_interval_exceeded import detect
from mqlab.facts import Position, Series
from mqlab.findings import Certainty, Severity
from mqlab.kafka.poll_limits import Limit
from mqlab.kafka.poll_timeout import Departure

UNTOLD = tuple(e for e in TOLD if e.kind != "poll-timeout")
OWNED = Position(at(10), GROUP, TOPIC, "0", 1, 1, None, "a", "a-1", "10.0.0.1", "offsets/describe.txt", 3, "a")


def test_clients_of_3_9_say_why_and_without_a_time_of_a_poll_it_is_likely_only():
    broker = coordinator("""
        10:00:00 preparing 0 Adding new member {a1} with group instance id None; client reason: not provided
        10:00:03 stable 1 1
        10:09:00 preparing 1 Removing member {a1} on LeaveGroup; client reason: consumer poll timeout has expired.
        10:09:00 left {a1} consumer poll timeout has expired.
        10:09:01 empty 2
    """)
    (one,) = detect(facts(broker, BROKER_LOG)).findings
    assert (one.certainty, one.severity) == (Certainty.LIKELY, Severity.WARNING)


def test_a_cooperative_group_of_3_9_is_proven_by_the_wait_since_the_last_sign_of_a_poll():
    broker = coordinator("""
        10:00:00 preparing 0 Adding new member {a1} with group instance id None; client reason: not provided
        10:00:03 stable 1 2
        10:00:03 preparing 1 Member {a1} joining group; client reason: need to revoke partitions and re-join
        10:00:04 stable 2 2
        10:00:19 preparing 2 Removing member {a1} on LeaveGroup; client reason: consumer poll timeout has expired.
        10:00:20 stable 3 1
    """)
    own = client("a", """
        10:00:00 joining
        10:00:04 joined 2 {a1}
        10:00:04 got invoices-0
        10:00:19 timeout {a1}
    """)  # fmt: skip
    one = found(broker, own, runs("a", "3.9.1"), BROKER_LOG)
    assert one.certainty is Certainty.PROVEN


def test_librdkafka_counts_itself_by_how_much_it_was_late():
    text = "%4|1.2|MAXPOLL|a#consumer-1| Application maximum poll interval (25000ms) exceeded by 425ms: leaving group"
    lines = [
        episode("poll-timeout", when, "clients/a.log", line=when, group=GROUP, client_id="a", left=0.425, text=text)
        for when in (60, 120)
    ]
    one = found(lines, coordinator("10:01:00 preparing 3 removing member {a1} on LeaveGroup"), log("clients/a.log"))
    assert (one.certainty, one.measures["poll_interval_seconds"]) == (Certainty.PROVEN, 25)


def test_commits_and_polls_of_librdkafka_belong_to_the_client_that_its_log_names():
    text = "%4|1.2|MAXPOLL|a#consumer-1| Application maximum poll interval (15000ms) exceeded by 425ms: leaving group"
    late = [episode("poll-timeout", when, "clients/a.log", line=when, client_id="a", left=0.425, text=text)
            for when in (60, 108)]  # fmt: skip
    lost = [episode("commit-failed", when, "clients/a.log", line=when, reason="_ASSIGNMENT_LOST") for when in (90, 138)]
    one = found(LOOP, late, lost, SLOW, LISTED, log("clients/a.log"), BROKER_LOG, OWNED)
    assert (one.certainty, one.measures["commit_failures"], one.measures["polls_over_interval"]) == (
        Certainty.PROVEN,
        2,
        2,
    )
    assert told(one.statement).items() >= {"longest": 500, "longest_batch_seconds": 45}.items()


def test_a_member_of_a_kip_848_group_leaves_and_comes_again_with_its_id():
    broker = [
        episode(kind, when, "logs/server.log", line=when, group=GROUP, member_id="j1VGU6MqTOSUYAlDFhCYJw", left=epoch)
        for when, kind, epoch in ((0, "member-joined", None), (1, "group-epoch-bumped", 1), (60, "member-left", None),
                                  (60, "group-epoch-bumped", 2), (90, "group-epoch-bumped", 3))
    ]  # fmt: skip
    line = episode("poll-timeout", 60, "clients/a.log", group=GROUP, client_id="a", reason="Consumer poll timeout")
    one = found(broker, line, worked("a", (90, 500, 45.0)), runs("a", "4.1.0"), BROKER_LOG)
    assert (one.certainty, one.facts["members"]) == (Certainty.PROVEN, "a")


def test_a_client_of_0_10_2_leaves_without_a_word_and_its_failed_commits_tell_of_it():
    one = found(LOOP, UNTOLD, CALM, SLOW, FAST, runs("a", "0.10.2.2"), runs("b", "0.10.2.2"), BROKER_LOG)
    assert (one.certainty, one.measures["poll_timeouts"]) == (Certainty.PROVEN, 2)


def test_up_to_0_10_0_the_session_timeout_is_the_interval():
    broker = coordinator("""
        10:00:00 preparing 0
        10:00:03 stable 1
        10:01:15 expired {a1}
        10:01:15 preparing 1
        10:01:33 preparing 2
        10:01:34 stable 3
    """)
    own = client("a", """
        10:00:03 joined 1 {a1}
        10:01:30 failed
        10:01:33 joined 3 {a2}
    """)  # fmt: skip
    given = facts(broker, own, worked("a", (90, 500, 45.0)), runs("a", "0.10.0.1", session=30000), BROKER_LOG)
    (one,) = detect(given).findings
    assert one.measures["poll_interval_seconds"] == 30
    assert told(one.statement)["session"] is True
    assert others(given) == []


def test_without_lines_about_polls_the_metric_of_the_time_between_them_is_the_measure():
    late = Series("consumer.time_between_poll_max", "x", {"client_id": "a"}, "m.json", ((at(100), 45_000.0),))
    waiting = [e for e in TOLD if e.kind not in ("partitions-assigned", "join-completed")]
    assert found(LOOP, waiting, SET).certainty is Certainty.LIKELY
    assert found(LOOP, waiting, SET, late).certainty is Certainty.PROVEN


def test_a_maximum_that_is_noted_long_after_is_that_of_another_poll():
    waiting = [e for e in TOLD if e.kind not in ("partitions-assigned", "join-completed")]
    later = Series("consumer.time_between_poll_max", "x", {"client_id": "a"}, "m.json", ((at(3000), 45_000.0),))
    assert found(LOOP, waiting, SET, later).certainty is Certainty.LIKELY


@pytest.mark.parametrize(
    ("limit", "waited", "measured", "contradicted"),
    [
        (300.0, 269.0, False, True),
        (300.0, 271.0, True, False),
        (300.0, 329.0, True, False),
        (300.0, 331.0, False, False),
        (15.0, 13.0, False, True),
        (15.0, 14.0, True, False),
        (15.0, 18.0, True, False),
        (15.0, 19.0, False, False),
    ],
)
def test_a_wait_is_the_interval_from_nine_tenths_of_it_to_a_tenth_or_three_seconds_more(
    limit, waited, measured, contradicted
):
    left = Departure(
        at=100.0, client_id="a", host=None, told=False, limit=Limit("max.poll.interval.ms", limit, None), poll=None,
        waited=waited, counted=False, evidence=(),
    )  # fmt: skip
    assert (left.measured, left.contradicted) == (measured, contradicted)


def test_a_late_poll_that_the_client_prints_at_the_timeout_and_at_the_next_poll_is_one():
    joined = """
        10:00:00 joining
        10:00:03 joined 1 {a1}
        10:01:00 timeout {a1}
        10:01:40 overdue 40 {a1}
    """
    again = "\n10:01:41 joining\n10:01:44 joined 2 {a2}\n10:02:20 overdue 9.5 {a2}"

    assert found(client("a", joined), runs("a")).measures["poll_timeouts"] == 1
    assert found(client("a", joined + again), runs("a")).measures["poll_timeouts"] == 2
