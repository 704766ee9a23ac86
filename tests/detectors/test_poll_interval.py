"""Polls that take longer than the interval: what does not fit between two polls, what it costs, what is behind it."""

from dataclasses import replace

import pytest
from churn_builder import BROKER_LOG, runs, steady, triggers, worked
from facts_builder import at, episode, facts, log, series
from kafka_builder import GROUP, TOPIC, client, coordinator
from poll_builder import CALM, FAST, LISTED, LOOP, SET, SLOW, TOLD, WHOLE, found, others
from said import told

from mqlab.detectors import reprocess_duplicates
from mqlab.detectors.poll_interval_exceeded import detect, say
from mqlab.facts import Setting
from mqlab.findings import Certainty, Severity
from mqlab.kafka import groups, poll_timeout
from mqlab.rows import Delivery, Tally
from mqlab.words import listed


def test_a_loop_is_proven_by_leaves_and_by_polls_that_were_too_long():
    (one,) = detect(WHOLE).findings
    assert (one.certainty, one.severity, one.subject) == (Certainty.PROVEN, Severity.CRITICAL, GROUP)
    assert one.measures == {
        "members": 1, "poll_timeouts": 2, "rebalances": 4, "commit_failures": 2, "poll_interval_seconds": 15,
        "records_per_poll": 500, "polls_over_interval": 2, "longest_batch_seconds": 45, "p50_record_seconds": 0.09,
        "p99_record_seconds": 0.09, "safe_records_per_poll": 166, "peak_lag": 900, "lag_growth_per_second": 10,
        "pending_records": 0,
    }  # fmt: skip
    late = {"subject": GROUP, "named": ("a",), "single": True, "poll_timeouts": 2, "poll_interval_seconds": 15}
    fits = {"longest": 500, "longest_batch_seconds": 45, "slow": 0.09, "safe_records_per_poll": 166}
    cost = [say("rebalances", times=4), say("commits", times=2)]
    besides = {"cost": cost, "innocent": 1, "fair": pytest.approx(0.01)}
    assert told(one.statement) == late | fits | besides
    assert one.facts == {
        "interval": say("interval", seconds=15), "members": "a", "triggers": triggers(4, "poll-timeouts", 2, 2),
        "what_if": "max.poll.records=83",
    }  # fmt: skip
    assert told(one.remedy) == {"advised": 83, "safe_records_per_poll": 166, "slow": 0.09, "needed": "90001"}
    assert (one.started_at.timestamp(), one.ended_at.timestamp()) == (at(45), at(138))
    assert others(WHOLE) == []


def test_the_safe_number_names_the_pace_from_which_it_comes():
    mixed = facts(LOOP, TOLD, CALM, SLOW[:-1], *worked("a", (138, 500, 48.0)), SET)
    (one,) = detect(mixed).findings
    shown = told(one.statement)
    assert (shown["longest"], shown["longest_batch_seconds"], shown["slow"]) == pytest.approx((500, 48, 0.096))
    shown = told(one.remedy)
    assert (shown["safe_records_per_poll"], shown["slow"], shown["advised"]) == pytest.approx((156, 0.096, 78))


def test_the_proof_begins_with_both_sides_of_a_departure():
    (one,) = detect(WHOLE).findings
    assert [(place.why, place.source) for place in one.evidence] == [
        (say("late", client="a"), "clients/a.log"),
        (groups.say("taken-out"), "logs/server.log"),
        (say("longest"), "clients/a.log"),
        (say("set"), "clients/a.log"),
        (say("set"), "clients/a.log"),
        (say("commit-fails"), "clients/a.log"),
        (say("late", client="a"), "clients/a.log"),
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
    assert told(one.statement)["cost"][1:] == [say("commits", times=2), say("repeats", times=300)]


def served(*, calm=5, start=0):
    """Answers of an HTTP service that is slow after *calm* scrapes."""
    took = [0.5] * calm + [8.5] * (20 - calm)
    return [
        series(name, values, start=start, source="logs/access.log", status="2xx")
        for name, values in (("http.requests", [100] * 20), ("http.seconds", took))
    ]


FAILED = [episode("call-failed", 50 + n, "clients/a.log", line=n, reason="HTTP 500") for n in range(5)]
SLOWER = poll_timeout.say("answers", mean=0.085, before=0.005)


def test_a_cause_that_makes_the_statement_long_stands_beside_it_only():
    one = found(LOOP, TOLD, CALM, SLOW, FAST, SET, served(), FAILED)
    assert ("cause" in one.facts, "cause" in told(one.statement)) == (True, False)
    short = found(LOOP, SLOW, runs("a"), TOLD, served())
    assert short.facts["cause"] == told(short.statement)["cause"] == SLOWER


ONCE = facts(
    [e for e in LOOP if e.first_at < at(100)], [e for e in TOLD if e.first_at < at(100)], CALM, SET, FAST,
    steady("a", 5, 43), worked("a", (90, 2, 45.0)), steady("a", 92, 170),
)  # fmt: skip


def test_one_poll_that_stood_still_is_no_sum_of_records():
    (one,) = detect(ONCE).findings
    assert (one.certainty, one.severity) == (Certainty.PROVEN, Severity.WARNING)
    shown = told(one.statement)
    assert (shown["longest"], shown["longest_batch_seconds"], shown["usual"]) == pytest.approx((2, 45, 0.01))
    assert told(one.remedy) == {"stalled": True}
    assert not {"safe_records_per_poll", "p99_record_seconds"} & set(one.measures)


def test_one_poll_that_its_usual_speed_explains_is_told_by_its_records():
    slow = worked("a", *((when, 100, 9.0) for when in (20, 30, 40)), (90, 500, 45.0))
    batches = (*(b for b in ONCE.batches if b.source != "clients/a.log"), *slow)
    (one,) = detect(replace(ONCE, batches=batches)).findings
    assert told(one.statement).items() >= {"longest": 500, "longest_batch_seconds": 45, "slow": 0.09}.items()
    assert "usual" not in told(one.statement)


def test_polls_that_were_in_time_do_not_change_what_is_told_of_the_longest():
    quick = ((when, 500, 2.0) for when in range(5, 65, 2))
    slow = worked("a", *quick, (80, 500, 45.0), (140, 500, 45.0))
    batches = (*(b for b in WHOLE.batches if b.source != "clients/a.log"), *slow)
    (one,) = detect(replace(WHOLE, batches=batches)).findings
    shown = told(one.statement)
    assert ("usual" in shown, shown["longest"], shown["longest_batch_seconds"]) == (False, 500, 45)


def test_polls_that_were_done_in_time_say_nothing_of_one_that_never_ended():
    batches = tuple(b for b in WHOLE.batches if b.longest_seconds < 15)
    (one,) = detect(replace(WHOLE, batches=batches)).findings
    assert "longest" not in told(one.statement)
    assert "needed" not in told(one.remedy)
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


def test_a_slow_service_is_named_as_the_cause():
    one = found(LOOP, TOLD, SLOW, SET, served(), FAILED)
    assert one.facts["cause"] == listed([SLOWER, poll_timeout.say("calls", calls=5, reasons=["HTTP 500"])])


def test_what_was_before_ends_where_the_answers_became_slow_not_where_the_first_late_poll_began():
    assert found(LOOP, TOLD, SLOW, SET).started_at.timestamp() == at(45)

    assert found(LOOP, TOLD, SLOW, SET, served(calm=5, start=-100)).facts["cause"] == SLOWER
    assert "cause" not in found(LOOP, TOLD, SLOW, SET, served(calm=0, start=-100)).facts


def test_a_service_that_answers_as_before_is_no_cause():
    assert "cause" not in found(LOOP, TOLD, SLOW, SET, served(calm=20)).facts


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
