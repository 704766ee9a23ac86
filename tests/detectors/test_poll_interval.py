"""Polls that take longer than the interval: every version's way to say it, and what only looks like it."""

from dataclasses import replace

import pytest
from churn_builder import BROKER_LOG, exited, runs, steady, worked
from facts_builder import at, episode, facts, log, positions, series
from kafka_builder import GROUP, TOPIC, client, coordinator
from taking_away import PARTS, without

from mqlab.detectors import group_churn, reprocess_duplicates, rolling_restart, session_timeout
from mqlab.detectors.poll_interval_exceeded import detect
from mqlab.facts import Position, Series, Setting
from mqlab.findings import Certainty, Severity
from mqlab.kafka.poll_limits import Limit
from mqlab.kafka.poll_timeout import Departure
from mqlab.rows import Client, Delivery, Tally

LOOP = coordinator("""
    10:00:00 preparing 0 Adding new member {a1} with group instance id None
    10:00:03 stable 1 2
    10:01:00 left {a1}
    10:01:00 preparing 1 removing member {a1} on LeaveGroup
    10:01:04 stable 2 1
    10:01:30 preparing 2 Adding new member {a2} with group instance id None
    10:01:33 stable 3 2
    10:01:48 left {a2}
    10:01:48 preparing 3 removing member {a2} on LeaveGroup
    10:01:49 stable 4 1
    10:02:18 preparing 4 Adding new member {a3} with group instance id None
    10:02:20 stable 5 2
""")
TOLD = client("a", """
    09:59:50 settings
    10:00:00 joining
    10:00:03 joined 1 {a1}
    10:00:03 got invoices-0
    10:01:00 timeout {a1}
    10:01:30 failed
    10:01:30 lost invoices-0
    10:01:30 joining
    10:01:33 joined 3 {a2}
    10:01:33 got invoices-0
    10:01:48 timeout {a2}
    10:02:18 failed
    10:02:18 joining
    10:02:20 joined 5 {a3}
""")  # fmt: skip
UNTOLD = tuple(e for e in TOLD if e.kind != "poll-timeout")
CALM = client("b", """
    10:00:00 joining
    10:00:03 joined 1 {b1}
    10:00:03 got invoices-1
    10:01:04 joined 2 {b1}
    10:01:33 joined 3 {b1}
    10:01:49 joined 4 {b1}
    10:02:20 joined 5 {b1}
""")  # fmt: skip
SLOW = (*steady("a", 5, 43), *worked("a", (90, 500, 45.0), (138, 500, 45.0)))
FAST = steady("b", 4, 170)
SET = (runs("a"), runs("b"), BROKER_LOG)
LAG = positions("""
    at        group    topic     queue  committed  end
    10:00:20  billing  invoices  0      100        100
    10:00:50  billing  invoices  0      100        200
    10:02:10  billing  invoices  0      100        1000
    10:05:00  billing  invoices  0      1000       1000
""")
WHOLE = facts(LOOP, TOLD, CALM, SLOW, FAST, SET, LAG)


OWNED = Position(at(10), GROUP, TOPIC, "0", 1, 1, None, "a", "a-1", "10.0.0.1", "offsets/describe.txt", 3, "a")
LISTED = tuple(Client(at(0), "kafka", GROUP, name, "10.0.0.1", None, None, "m.txt", 3, name) for name in "ab")


def found(*rows):
    (one,) = detect(facts(*rows)).findings
    return one


def others(given):
    """Incidents that the other rules about members find, notices aside."""
    results = [rule.detect(given) for rule in (session_timeout, group_churn, rolling_restart)]
    return [f.incident for r in results for f in r.findings]


def test_a_loop_is_proven_by_leaves_and_by_polls_that_were_too_long():
    (one,) = detect(WHOLE).findings
    assert (one.certainty, one.severity, one.subject) == (Certainty.PROVEN, Severity.CRITICAL, GROUP)
    assert one.measures == {
        "members": 1, "poll_timeouts": 2, "rebalances": 4, "commit_failures": 2, "poll_interval_seconds": 15,
        "records_per_poll": 500, "polls_over_interval": 2, "longest_batch_seconds": 45, "p50_record_seconds": 0.09,
        "p99_record_seconds": 0.09, "safe_records_per_poll": 166, "peak_lag": 900, "lag_growth_per_second": 10,
        "pending_records": 0,
    }  # fmt: skip
    assert one.statement == (
        "a left billing 2 times because no poll came within max.poll.interval.ms (15.0 s): 500 records × 90.0 ms = "
        "45.0 s, at most 166 fit. Meanwhile the group had 4 rebalances and 2 failed commits. 1 other member polled in "
        "time (10.0 ms per record)."
    )
    assert one.facts == {
        "interval": "15.0 s", "members": "a", "triggers": "4 rebalances: 2 poll timeouts, 2 joins after them",
        "what_if": "max.poll.records=83",
    }  # fmt: skip
    assert "max.poll.records ≤ 83 (166 just fit, 83 leave half of the interval free;" in one.remedy
    assert "max.poll.interval.ms ≥ 90001" in one.remedy
    assert (one.started_at.timestamp(), one.ended_at.timestamp()) == (at(45), at(138))
    assert others(WHOLE) == []


def test_the_safe_number_names_the_pace_from_which_it_comes():
    mixed = facts(LOOP, TOLD, CALM, SLOW[:-1], *worked("a", (138, 500, 48.0)), SET)
    (one,) = detect(mixed).findings
    assert "= 46.5 s, at most 156 of the slowest (96.0 ms) fit." in one.statement
    assert "(156 of the slowest just fit, 78 leave" in one.remedy


def test_the_guilty_member_is_named_and_the_others_are_not():
    (one,) = detect(WHOLE).findings
    assert one.facts["members"] == "a"
    assert one.statement.startswith("a left billing 2 times")


def test_the_proof_begins_with_both_sides_of_a_departure():
    (one,) = detect(WHOLE).findings
    assert [(place.why, place.source) for place in one.evidence] == [
        ("a polled too late", "clients/a.log"),
        ("the coordinator removes the member", "logs/server.log"),
        ("the longest poll", "clients/a.log"),
        ("the setting at that time", "clients/a.log"),
        ("the setting at that time", "clients/a.log"),
        ("its commit fails", "clients/a.log"),
        ("a polled too late", "clients/a.log"),
    ]
    assert len({(place.source, place.line) for place in one.evidence}) == len(one.evidence)


def test_what_was_handled_again_is_what_the_ledgers_tell_of_its_own_time():
    sources = ("clients/a-processed.csv", "clients/b-processed.csv")
    before, meanwhile = (Delivery(at(when), TOPIC, "0", sources * often, 100) for when, often in ((-60, 1), (50, 2)))
    given = replace(
        WHOLE,
        deliveries=(before, meanwhile),
        tallies=tuple(Tally(at(0), "processed", TOPIC, "0", 9, s, 2) for s in sources),
        clients=LISTED,
    )
    (one,) = detect(given).findings
    (again,) = reprocess_duplicates.detect(given).findings
    assert (one.measures["duplicated_records"], again.measures["duplicated_records"]) == (300, 400)
    assert "2 failed commits and 300 duplicates" in one.statement


def test_a_cause_that_makes_the_statement_long_stands_beside_it_only():
    asked, took = [100] * 20, [0.5] * 5 + [8.5] * 15
    slow = (series("http.requests", asked, status="2xx"), series("http.seconds", took, status="2xx"))
    failed = [episode("call-failed", 50 + n, "clients/a.log", line=n, reason="HTTP 500") for n in range(5)]
    one = found(LOOP, TOLD, CALM, SLOW, FAST, SET, slow, failed)
    assert one.facts["cause"].startswith("the HTTP service in the material answered in 85.0 ms on average")
    assert len(one.statement) <= 300
    assert one.facts["cause"] not in one.statement
    short = found(LOOP, SLOW, runs("a"), TOLD, slow)
    assert short.statement.endswith(f". Possible cause: {short.facts['cause']}.")


ONCE = facts(
    [e for e in LOOP if e.first_at < at(100)], [e for e in TOLD if e.first_at < at(100)], CALM, SET, FAST,
    steady("a", 5, 43), worked("a", (90, 2, 45.0)), steady("a", 92, 170),
)  # fmt: skip


def test_one_poll_that_stood_still_is_no_sum_of_records():
    (one,) = detect(ONCE).findings
    assert (one.certainty, one.severity) == (Certainty.PROVEN, Severity.WARNING)
    assert "one poll of 2 records took 45.0 s (usually 10.0 ms per record)" in one.statement
    assert one.remedy.startswith("Find what blocked this one poll")
    assert not {"safe_records_per_poll", "p99_record_seconds"} & set(one.measures)


def test_one_poll_that_its_usual_speed_explains_is_a_sum_of_records():
    slow = worked("a", *((when, 100, 9.0) for when in (20, 30, 40)), (90, 500, 45.0))
    batches = (*(b for b in ONCE.batches if b.source != "clients/a.log"), *slow)
    (one,) = detect(replace(ONCE, batches=batches)).findings
    assert "500 records × 90.0 ms = 45.0 s" in one.statement


def test_where_the_mean_would_have_been_in_time_the_longest_poll_is_told():
    quick = ((when, 500, 2.0) for when in range(5, 65, 2))
    slow = worked("a", *quick, (80, 500, 45.0), (140, 500, 45.0))
    batches = (*(b for b in WHOLE.batches if b.source != "clients/a.log"), *slow)
    (one,) = detect(replace(WHOLE, batches=batches)).findings
    assert " × " not in one.statement
    assert "one poll of 500 records took 45.0 s (usually " in one.statement


def test_polls_that_were_done_in_time_say_nothing_of_one_that_never_ended():
    batches = tuple(b for b in WHOLE.batches if b.longest_seconds < 15)
    (one,) = detect(replace(WHOLE, batches=batches)).findings
    assert " × " not in one.statement
    assert "max.poll.interval.ms ≥" not in one.remedy
    assert not {"safe_records_per_poll", "longest_batch_seconds"} & set(one.measures)


def test_settings_of_the_time_count_and_not_a_file_from_after_the_repair():
    repaired = Setting("max.poll.records", "50", "consumer", "a", "file", None, "configs/a.properties", 3, "x=50")
    (one,) = detect(facts(LOOP, TOLD, SLOW, SET, repaired)).findings
    assert one.measures["records_per_poll"] == 500


def test_settings_that_only_the_repaired_process_printed_do_not_count_for_the_time_before():
    log = "clients/a.log"
    repaired = Setting("max.poll.records", "50", "consumer", "a", "printed", at("10:09:00"), log, 900, "x=50")
    told = [s for row in SET for s in (row if isinstance(row, tuple) else (row,))]
    kept = tuple(s for s in told if getattr(s, "key", "") != "max.poll.records")
    (one,) = detect(facts(LOOP, TOLD, SLOW, kept, repaired)).findings
    assert one.measures["records_per_poll"] == 500


def test_it_is_over_when_its_process_is_started_with_another_setting():
    again = client("a", """
        10:02:30 settings
        10:02:31 starting
        10:02:32 joining
        10:02:35 joined 7 {a4}
    """)  # fmt: skip
    more = coordinator("10:02:32 preparing 6 Adding new member {a4} with group instance id None")
    logs = (runs("a", records=50, when="10:02:30"), log("clients/a.log", last="10:02:50"))
    given = [(*s[:2], log(s[2].source, last="10:02:50")) for s in (runs("a"), runs("b"))]
    broker = log(BROKER_LOG.source, "kafka-broker-log", last="10:02:50")
    one = found(LOOP, TOLD, SLOW, given, broker, again, more, logs)
    assert not one.ongoing
    assert found(LOOP, TOLD, SLOW, given, broker).ongoing


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
    assert "500 records × 90.0 ms = 45.0 s" in one.statement


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
    assert "session.timeout.ms" in one.statement
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


def test_a_slow_service_is_named_as_the_cause():
    def served(name, values):
        return series(name, values, source="logs/access.log", status="2xx")

    slow = (served("http.requests", [100] * 20), served("http.seconds", [0.5] * 5 + [8.5] * 15))
    failed = [episode("call-failed", 50 + n, "clients/a.log", line=n, reason="HTTP 500") for n in range(5)]
    one = found(LOOP, TOLD, SLOW, SET, slow, failed)
    assert one.facts["cause"] == (
        "the HTTP service in the material answered in 85.0 ms on average (before: 5.00 ms); "
        "5 calls of the members failed (HTTP 500)"
    )


def test_what_was_before_ends_where_the_answers_became_slow_not_where_the_first_late_poll_began():
    assert found(LOOP, TOLD, SLOW, SET).started_at.timestamp() == at(45)

    def served(name, values):
        return series(name, values, start=-200, source="logs/access.log", status="2xx")

    slow = (served("http.requests", [100] * 50), served("http.seconds", [0.5] * 10 + [8.5] * 40))
    assert "85.0 ms on average (before: 5.00 ms)" in found(LOOP, TOLD, SLOW, SET, slow).facts["cause"]
    always = (served("http.requests", [100] * 50), served("http.seconds", [8.5] * 50))
    assert "cause" not in found(LOOP, TOLD, SLOW, SET, always).facts


def test_a_service_that_answers_as_before_is_no_cause():
    same = (series("http.requests", [100] * 20, status="2xx"), series("http.seconds", [0.5] * 20, status="2xx"))
    assert "cause" not in found(LOOP, TOLD, SLOW, SET, same).facts


FROZEN = coordinator("""
    10:00:00 preparing 0 Adding new member {a1} with group instance id None
    10:00:03 stable 1 2
    10:01:10 expired {a1}
    10:01:10 preparing 1 removing member {a1} on heartbeat expiration
    10:01:11 stable 2 1
    10:01:26 preparing 2 Adding new member {a2} with group instance id None
    10:01:28 stable 3 2
""")
WOKE = client("a", """
    10:00:03 joined 1 {a1}
    10:01:26 failed
    10:01:26 lost invoices-0
    10:01:26 joining
    10:01:28 joined 3 {a2}
""")  # fmt: skip


def test_a_frozen_process_is_none_though_its_poll_took_longer_than_the_interval():
    stood = (*steady("a", 4, 60), *worked("a", (86, 10, 26.0)))
    result = detect(facts(FROZEN, WOKE, stood, FAST, SET))
    assert result.findings == ()
    assert "1 expulsion by the coordinator" in result.rejected


def test_a_long_poll_after_which_nobody_left_is_none():
    stays = coordinator("10:00:00 preparing 0 Adding new member {a1}")
    result = detect(facts(stays, client("a", "10:00:03 joined 1 {a1}"), worked("a", (90, 500, 45.0)), SET))
    assert result.findings == ()
    assert "no member left because of it" in result.rejected


def test_commits_that_a_cooperative_rebalance_puts_off_are_none():
    lines = [episode("commit-deferred", when, "clients/a.log", line=when, client_id="a", group=GROUP)
             for when in range(60, 90)]  # fmt: skip
    assert detect(facts(lines, client("a", "10:00:03 joined 1 {a1}"), FAST, SET)).findings == ()


def test_a_deploy_is_none():
    broker = coordinator("""
        10:00:00 preparing 0 Adding new member {a1} with group instance id None
        10:00:03 stable 1 1
        10:01:00 left {a1}
        10:01:00 preparing 1 removing member {a1} on LeaveGroup
        10:01:00 empty 2
        10:01:10 preparing 2 Adding new member {a2} with group instance id None
        10:01:13 stable 3 1
    """)
    own = client("a", """
        10:00:03 joined 1 {a1}
        10:01:00 stopping
        10:01:00 leaving {a1} the consumer is being closed
        10:01:05 settings
        10:01:06 starting
        10:01:13 joined 3 {a2}
    """)  # fmt: skip
    result = detect(facts(broker, own, steady("a", 4, 58), SET))
    assert result.findings == ()
    assert "closed its consumer first" in result.rejected


def test_leaves_of_which_no_log_of_a_client_tells_are_not_judged():
    assert detect(facts(LOOP, BROKER_LOG)).findings == ()
    assert session_timeout.detect(facts(LOOP, BROKER_LOG)).findings == ()
    assert group_churn.detect(facts(LOOP, BROKER_LOG)).findings == ()


def test_without_logs_it_is_not_checked():
    assert detect(facts(SLOW)).missing


def test_members_that_die_in_a_loop_do_not_poll_late():
    dying = (exited("a", 60, 1), exited("a", 108, 1))
    calm = facts(LOOP, [e for e in UNTOLD if e.kind != "commit-failed"], dying, steady("a", 5, 58), FAST, SET)
    assert detect(calm).findings == ()


@pytest.mark.parametrize("part", PARTS)
def test_with_material_missing_nobody_else_is_blamed(part):
    assert others(without(WHOLE, part)) == []


@pytest.mark.parametrize("kind", ["episodes", "batches", "settings", "positions"])
def test_without_a_kind_of_rows_nobody_else_is_blamed(kind):
    assert others(replace(WHOLE, **{kind: ()})) == []


def test_a_metric_of_the_time_between_polls_alone_accuses_nobody():
    late = Series("consumer.time_between_poll_max", "x", {"client_id": "a"}, "m.json", ((at(100), 26_000.0),))
    assert detect(facts(FROZEN, WOKE, steady("a", 4, 60), FAST, SET, late)).findings == ()


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


@pytest.mark.parametrize("parts", [("broker", "client"), ("client",), ("broker", "client", "polls")])
def test_departures_that_follow_each_other_within_seconds_are_as_many_as_there_were(parts):
    """A poll takes 6 s of 4: the client tells of it at its end, and again a second later, and has joined by then."""
    late, broker, polls = "", "", []
    for n, second in enumerate((10, 18, 26), 1):
        late += f"10:00:{second - 4} got invoices-0\n" if second > 10 else "10:00:06 got invoices-0\n"
        late += f"10:00:{second + 2} maxpoll 0.1\n10:00:{second + 3} maxpoll 0.1\n"
        broker += f"10:00:{second} left {{a{n}}}\n10:00:{second} preparing {n} removing member {{a{n}}} on LeaveGroup\n"
        polls.append((second + 2, 150, 6.0))
    known = {"broker": coordinator(broker), "client": client("a", late), "polls": worked("a", *polls)}
    one = found(*(known[part] for part in parts), runs("a", interval=4000), LISTED)
    assert one.measures["poll_timeouts"] == 3
    assert one.ended_at is None or one.ended_at.timestamp() >= at(26)
