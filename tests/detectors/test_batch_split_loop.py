"""A batch that is split into itself, and everything that only looks like it."""

from dataclasses import replace

import pytest
from facts_builder import at, card, episode, facts, log, ramp, series, settings, splits, version
from said import told
from split_builder import (
    ACCEPTED,
    BIG,
    BROKER,
    CARD,
    COUNTED,
    IDEMPOTENT,
    JMX,
    LIMIT,
    LOOP,
    OUTGOING,
    REJECTED,
    SENT_BY_LOOP,
)

from mqlab.detectors import batch_split_loop
from mqlab.findings import Certainty, Severity
from mqlab.words import room

SMALL = settings("at owner key value\n10:00:00 app batch.size 131072")


def found(*rows):
    """(subject, certainty, splits) of each finding, else why not."""
    result = batch_split_loop.detect(facts(*rows))
    seen = [(f.subject, f.certainty.name, int(f.measures["split_count"])) for f in result.findings]
    return seen or result.rejected or result.missing


def no_loop(key, count, began=None, last=None, **values):
    """Why splits of this client are no loop."""
    return room("splits")(key, client="app", topic="orders", count=count, began=began, last=last, **values)


def test_splits_whose_bytes_agree_are_proven():
    assert found(*IDEMPOTENT, REJECTED, ACCEPTED) == [("app -> orders", "PROVEN", 120)]


def test_the_network_card_alone_proves_it_too():
    assert found(*IDEMPOTENT, CARD, OUTGOING) == [("app -> orders", "PROVEN", 120)]


def test_the_producers_own_bytes_prove_it_where_no_card_is_measured():
    assert found(*IDEMPOTENT, OUTGOING) == [("app -> orders", "PROVEN", 120)]


def test_logs_alone_make_it_likely():
    assert found(*IDEMPOTENT) == [("app -> orders", "LIKELY", 120)]


def test_a_printed_batch_size_is_enough_where_the_limit_is_not_known():
    assert found(version("3.9.1"), BIG, LOOP, log()) == [("app -> orders", "LIKELY", 120)]


def test_metrics_alone_make_it_likely():
    assert found(COUNTED, OUTGOING, REJECTED, ACCEPTED, CARD) == [("app -> orders", "LIKELY", 120)]


def test_client_metrics_alone_make_it_likely():
    assert found(COUNTED, OUTGOING) == [("app -> ?", "LIKELY", 120)]


def test_retries_of_resequenced_batches_change_nothing():
    resequenced = episode("produce-retry", 310, client_id="app", reason="OUT_OF_ORDER_SEQUENCE_NUMBER", count=9)
    retried = series("producer.record_retries", ramp((30, 0), (6, 50), (24, 50)), **JMX)
    assert found(*IDEMPOTENT, REJECTED, ACCEPTED, resequenced, retried) == [("app -> orders", "PROVEN", 120)]


def test_several_partitions_in_one_request_are_one_finding():
    both = (*splits(300, 60, 2), *splits(300, 60, 1, queue="1"))
    result = batch_split_loop.detect(facts(BIG, LIMIT, both, log()))
    assert [f.facts["partitions"] for f in result.findings] == ["0: 120, 1: 60"]


def test_lines_without_a_date_are_joined_to_the_counter_of_the_same_client():
    undated = tuple(replace(e, first_at=None, last_at=None) for e in LOOP)
    (finding,) = batch_split_loop.detect(facts(version("3.9.1"), BIG, LIMIT, undated, COUNTED, CARD, log())).findings
    assert (finding.started_at.timestamp(), finding.ended_at.timestamp()) == (at(300), at(360))
    assert finding.measures["bytes_out"] == 6 * (200_000 + SENT_BY_LOOP)


def test_a_file_from_after_the_repair_does_not_excuse_a_loop():
    repaired = settings("at owner key value\n- app batch.size 16384", "producer.properties", origin="file")
    known = facts(version("3.9.1"), repaired, LIMIT, LOOP, log(), REJECTED, ACCEPTED)
    (finding,) = batch_split_loop.detect(known).findings
    assert (finding.certainty, "batch.size" in finding.facts) == (Certainty.PROVEN, False)


def test_a_value_printed_after_the_loop_does_not_excuse_it():
    later = settings("at owner key value\n10:06:30 app batch.size 16384")
    assert found(LOOP, later, LIMIT, log()) == [("app -> orders", "LIKELY", 120)]


def test_a_limit_that_was_raised_afterwards_does_not_excuse_a_loop():
    raised = settings("at owner key value\n10:06:00 orders max.message.bytes 2097152", "topics.txt", scope="topic")
    expired = episode("record-expired", 365)
    assert found(BIG, raised, LOOP, expired, log()) == [("app -> orders", "LIKELY", 120)]


def test_a_limit_raised_during_the_run_is_the_end_and_the_old_one_was_in_force():
    change = episode("topic-config-changed", 360, "server.log", topic="orders", reason="max.message.bytes -> 2097152")
    start = settings("at owner key value\n09:59:00 - message.max.bytes 1048588", "server.log", scope="broker")
    finding = batch_split_loop.detect(facts(BIG, start, LOOP, change, log())).findings[0]
    assert finding.facts["limit"] == "1048588"


def test_a_log_that_starts_in_the_middle_takes_count_and_start_from_the_counters():
    tail = [replace(e, source="app.log") for e in LOOP if e.first_at >= at(330)]
    cut = log("app.log", first="10:05:30")
    known = facts(tuple(tail), LIMIT, cut, CARD, COUNTED, OUTGOING, REJECTED, ACCEPTED)
    (finding,) = batch_split_loop.detect(known).findings
    assert (finding.started_at.strftime("%H:%M:%S"), finding.measures["split_count"]) == ("10:05:00", 120)
    assert (finding.measures["healthy_factor"], finding.certainty) == (2.0, Certainty.PROVEN)


@pytest.mark.parametrize("seconds", [291, 295, 299.9])
def test_a_refused_record_is_no_split_so_the_loop_begins_with_the_first_split(seconds):
    single = episode("record-too-large", seconds, "clients/app.log", client_id="app", topic="orders", left=5_000_000)
    (one,) = batch_split_loop.detect(facts(*IDEMPOTENT, CARD, OUTGOING, single)).findings
    assert one.started_at.timestamp() == at(300)
    assert batch_split_loop.say("first") not in [moment.what for moment in one.moments]
    assert "onset_uncertainty_seconds" not in one.measures


def test_a_first_split_is_no_beginning_where_the_log_starts_in_the_middle():
    tail = [replace(e, source="app.log") for e in LOOP if e.first_at >= at(330)]
    (one,) = batch_split_loop.detect(facts(tail, LIMIT, log("app.log", first="10:05:30"), CARD, COUNTED)).findings
    assert next((moment.at.timestamp(), moment.what) for moment in one.moments) == (
        at(330),
        batch_split_loop.say("first"),
    )
    assert one.measures["onset_uncertainty_seconds"] == 10.0


def test_a_loop_at_the_end_of_the_material_is_still_open():
    open_still, over = facts(BIG, LIMIT, LOOP, log(last="10:06")), facts(BIG, LIMIT, LOOP, log(last="10:20"))
    assert [batch_split_loop.detect(f).findings[0].ongoing for f in (open_still, over)] == [True, False]


def test_only_the_looping_one_of_two_producers_on_a_topic_is_blamed():
    other = settings("at owner key value\n10:00 calm batch.size 16384", "clients/calm.log")
    busy = series("broker.bytes_in", ramp((60, 90_000_000)), **BROKER)
    calm = series(
        "producer.topic_bytes", ramp((60, 90_000_000)), instance="calm-1:9404", client_id="calm", topic="orders"
    )
    assert found(*IDEMPOTENT, other, busy, REJECTED, calm) == [("app -> orders", "PROVEN", 120)]


def test_the_card_of_another_host_is_not_taken_for_the_producers():
    reader = card("reader-1", ramp((60, 100_000)), ramp((60, 1_000)))
    finding = batch_split_loop.detect(facts(*IDEMPOTENT, reader)).findings[0]
    assert "bytes_out" not in finding.measures


def test_crashes_are_counted_and_those_of_other_processes_are_not():
    exits = (
        episode("process-exit", 362, "supervisor.log", left=3, reason="app"),
        episode("process-exit", 340, "supervisor.log", left=1, reason="reporting"),
        episode("process-exit", 365, "supervisor.log", left=143, reason="app"),
    )
    finding = batch_split_loop.detect(facts(version("2.1.0"), BIG, LIMIT, LOOP, exits, log())).findings[0]
    assert (finding.measures["crashes"], finding.severity) == (1, Severity.CRITICAL)
    assert told(finding.statement).items() >= {"leaks": True, "split_count": 120, "crashes": 1}.items()


@pytest.mark.parametrize(
    ("source", "second", "exits"),
    [
        ("app.stdout", 3, {"crashes": 2, "exhausted": 2, "all_exhausted": True}),
        ("app.stdout", 1, {"crashes": 2, "exhausted": 1}),
        ("reporting.stdout", 3, {"crashes": 2}),
    ],
)
def test_an_exit_is_one_of_memory_only_where_a_line_of_the_same_process_says_so(source, second, exits):
    ends = tuple(
        episode("process-exit", at, "supervisor.log", left=status, reason="app")
        for at, status in ((330, 3), (362, second))
    )
    memory = replace(episode("out-of-memory", 0, source), first_at=None, last_at=None)
    finding = batch_split_loop.detect(facts(version("2.1.0"), BIG, LIMIT, LOOP, ends, memory, log())).findings[0]
    shown = told(finding.statement)
    assert {name: shown[name] for name in ("crashes", "exhausted", "all_exhausted") if name in shown} == exits
    assert (room("splits")("memory") in [e.why for e in finding.evidence]) == (source == "app.stdout")


@pytest.mark.parametrize(("seconds", "crashes"), [(14, 1), (16, 0)])
def test_an_exit_belongs_to_splits_that_ended_within_a_quarter_of_a_minute(seconds, crashes):
    ended = episode("process-exit", 359 + seconds, "supervisor.log", left=3, reason="app")
    finding = batch_split_loop.detect(facts(version("2.1.0"), BIG, LIMIT, LOOP, ended, log())).findings[0]
    assert finding.measures.get("crashes", 0) == crashes


def test_client_4_2_ends_it_by_itself():
    split = found(version("4.2.0"), BIG, LIMIT, splits(300, 10, 0.4), log())
    assert split == no_loop("halves", 4, at(300), at(309), version="4.2.0")


@pytest.mark.parametrize(("seconds", "a_second", "count"), [(10, 0.3, 3), (600, 0.1, 60)])
def test_a_wrong_compression_estimate_is_no_loop_however_often_it_happens(seconds, a_second, count):
    split = found(version("3.9.1"), SMALL, LIMIT, splits(300, seconds, a_second), log())
    assert split == no_loop("fits", count, at(300), at(299 + seconds), batch_size="131072", limit="1048588")


def test_now_and_then_a_split_without_any_settings_is_no_loop():
    split = found(version("3.9.1"), splits(300, 300, 0.1), log())
    assert split == no_loop("few", 30, at(300), at(599), most=30)


def test_splits_counted_among_much_other_traffic_are_no_loop():
    plenty = series("producer.outgoing_bytes", ramp((60, 400_000_000)), **JMX)
    assert found(COUNTED, plenty) == ()


def test_a_falling_number_of_attempts_is_no_loop():
    falling = tuple(s for n in range(5) for s in splits(300 + n, 10, 2, left=5 - n))
    assert found(BIG, LIMIT, falling, log()) == no_loop("changes", 100, at(300), at(313))


def test_settings_in_a_file_are_no_sight_of_the_producer():
    stored = settings("at owner key value\n- app batch.size 16384", "producer.properties", origin="file")
    assert found(stored) == (batch_split_loop.say("no-producers"),)
    assert found(SMALL, log()) == ()


FEW = [
    episode("batch-split", None, "paste.txt", line=n, left=5.0, client_id="app", topic="orders", queue="0")
    for n in range(1, 6)
]


def paste(lines):
    return replace(log("paste.txt", lines=lines), first_at=None, last_at=None)


def test_a_few_splits_that_are_all_there_is_are_likely_without_any_clock():
    (one,) = batch_split_loop.detect(facts(*FEW, paste(5))).findings
    assert (one.severity, one.certainty, one.measures["split_count"]) == (Severity.WARNING, Certainty.LIKELY, 5)


@pytest.mark.parametrize("lines", [10, 500])
def test_a_few_splits_among_other_lines_may_have_ended_by_themselves(lines):
    assert found(*FEW, paste(lines)) == no_loop("few", 5, most=5)


def test_two_splits_and_splits_of_several_partitions_may_be_one_wrong_estimate_each():
    assert found(*FEW[:2], paste(2)) == no_loop("few", 2, most=2)
    assert found(*(replace(e, queue=str(n)) for n, e in enumerate(FEW)), paste(5)) == no_loop("few", 5, most=1)


def test_a_few_splits_with_fewer_and_fewer_attempts_left_are_retries():
    falling = [replace(e, value_min=5.0 - n, value_max=5.0 - n) for n, e in enumerate(FEW)]
    assert found(*falling, paste(5)) == no_loop("changes", 5)
