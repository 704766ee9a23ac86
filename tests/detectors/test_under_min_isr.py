"""Writes that are refused for want of in-sync replicas: what failed, what is in the log all the same, what was lost."""

import pytest
from facts_builder import at, episode, facts, log, series
from message_builder import BROKERS, SINK, acked, acks, controller, fates, leaders, of_topic, part
from said import told

from mqlab.detectors import under_min_isr
from mqlab.findings import Certainty, Severity
from mqlab.units import moment
from mqlab.words import room

PRODUCER = log("clients/gateway.log", "kafka-client-log")


def refused(when="10:02:00", count=5, *, queue="0", reason="NOT_ENOUGH_REPLICAS"):
    """The producer's lines about writes that it sends again."""
    return episode(
        "produce-retry", when, "clients/gateway.log", count=count, until="10:02:09", topic="orders", queue=queue,
        client_id="gateway", reason=reason, left=100.0,
    )  # fmt: skip


def broker_says(when="10:02:00", count=7, isr="Set(1)"):
    """The leader's lines about the same."""
    return episode(
        "not-enough-replicas", when, "logs/kafka-1/server.log", count=count, topic="orders", queue="0", reason=isr,
        left=2.0,
    )  # fmt: skip


SHORT = controller("at queue epoch leader isr\n10:01:30 0 1 1 1")
MIN = of_topic("min.insync.replicas", "2")


def found(*rows):
    """(severity, certainty) of each finding; else why it was rejected, what is missing, or clear."""
    result = under_min_isr.detect(facts(*rows))
    if result.findings:
        return [(f.severity, f.certainty) for f in result.findings]
    return result.rejected or result.missing or "clear"


def statement(*rows):
    """What the one finding says."""
    (finding,) = under_min_isr.detect(facts(*rows)).findings
    return told(finding.statement)


SPAN = {"since": moment(at("10:02")), "until": moment(at("10:02:09"))}
FIVE = {"refused_requests": 5, "topic": "orders", "partitions": ("0",), **SPAN}
"""What became of them is not told."""
TAKEN, WHOLE = {"taken": True}, {"whole": True}
by = room("failed-records")


def test_what_became_of_refused_writes_is_not_said_where_nothing_shows_it():
    rows = (refused(), SHORT, MIN, acks("all"), PRODUCER)
    assert found(*rows) == [(Severity.WARNING, Certainty.PROVEN)]
    (finding,) = under_min_isr.detect(facts(*rows)).findings
    assert finding.measures == {"refused_requests": 5}
    assert told(finding.statement) == {**FIVE, "in_sync": 1, "required": 2}


@pytest.mark.parametrize(
    ("sets", "told_of"), [(("Set(1)", "Set(3)"), 1), (("[1,2]", "Set(3, 2)"), 2), (("Set(1)", "Set(2, 3)"), None)]
)
def test_how_many_were_in_sync_is_said_where_it_was_one_number_of_whatever_replicas(sets, told_of):
    rows = [broker_says(isr=isr) for isr in sets]
    assert statement(*rows).get("in_sync") == told_of
    assert found(*rows)[0][1] is Certainty.PROVEN


def test_one_write_is_told_with_its_moment():
    line = episode(
        "produce-retry", "10:02:00", "clients/gateway.log", topic="orders", queue="0", reason="NOT_ENOUGH_REPLICAS"
    )
    once = {"refused_requests": 1, "once": True, "since": SPAN["since"]}
    assert statement(line, PRODUCER) == {"topic": "orders", "partitions": ("0",), **once}


def test_a_counter_of_errors_that_stands_still_shows_that_the_writes_were_taken():
    def errors(*values):
        return series("producer.record_errors", values, client_id="gateway", instance="g:1")

    assert statement(refused(), errors(*[0] * 40), PRODUCER) == FIVE | TAKEN
    assert statement(refused(), errors(*[0] * 14), PRODUCER) == FIVE
    assert statement(refused(), broker_says(), errors(*[0] * 40))["taken"] is True
    assert "taken" not in statement(broker_says(), errors(*[0] * 40))


def test_a_ledger_with_an_answer_for_every_record_shows_it_too():
    sent = part("sent", 0, 400, "10:00", "10:20")
    done = fates("queue from to at until sent acked\n0 0 400 10:00 10:20 1 1")
    open_ends = (done, fates("from to messages at sent acked\n- - 30 10:02 1 0"))
    assert statement(refused(), done, sent, acked(400), PRODUCER) == FIVE | TAKEN
    assert "taken" not in statement(refused(), open_ends, sent, acked(400), PRODUCER)


def test_nothing_acknowledged_is_gone_only_where_ledgers_account_for_all_of_it():
    done = fates("queue from to at until acked handled\n0 0 400 10:00 10:20 1 sink")
    unread = fates("queue from to at until acked\n0 0 400 10:00 10:20 1")
    assert statement(refused(), done, acked(400), PRODUCER) == FIVE | WHOLE
    assert statement(refused(), unread, acked(400), PRODUCER) == FIVE


def test_the_leaders_own_words_prove_it():
    assert found(broker_says(), BROKERS) == [(Severity.WARNING, Certainty.PROVEN)]
    (finding,) = under_min_isr.detect(facts(broker_says(), refused(), BROKERS)).findings
    assert finding.measures["refused_requests"] == 7
    assert told(finding.statement)["required"] == 2


def test_without_the_in_sync_set_it_is_likely():
    assert found(refused(), PRODUCER) == [(Severity.WARNING, Certainty.LIKELY)]
    assert found(refused(), controller("at queue epoch leader isr\n10:01:30 0 1 1 1,2"), MIN, PRODUCER) == [
        (Severity.WARNING, Certainty.LIKELY)
    ]


OWN = fates("""
queue from to   at        until     acked failed handled
0     0    199  10:00:00  10:01:50  -     -      sink
0     200  240  10:01:51  10:01:59  0     1      sink
0     241  400  10:04:00  10:05:00  -     -      sink
""")
DROPPED = fates("from to messages at acked failed\n- - 30 10:02:00 0 1")
READ = part("received", 0, 400, "10:00", "10:20", source=SINK)


def test_failed_is_not_absent():
    failed = part("failed", None, None, "10:02", "10:03", queue="")
    rows = (refused(), SHORT, MIN, OWN, failed, acked(400), READ, PRODUCER)
    assert found(*rows) == [(Severity.WARNING, Certainty.PROVEN)]
    (finding,) = under_min_isr.detect(facts(*rows)).findings
    measures = {"refused_requests": 5, "failed_records": 41, "failed_but_stored_records": 41, "lost_records": 0}
    assert finding.measures == measures
    failed_of_ledger = {"failed_records": 41, "counted_by": by("ledger"), "failed_but_stored_records": 41}
    assert told(finding.statement).items() >= {**failed_of_ledger, **WHOLE}.items()


def test_records_that_failed_and_are_nowhere_were_dropped():
    failed = part("failed", None, None, "10:02", "10:03", queue="")
    rows = (refused(), SHORT, MIN, OWN, DROPPED, failed, acked(400), READ, PRODUCER)
    assert found(*rows) == [(Severity.CRITICAL, Certainty.PROVEN)]
    (finding,) = under_min_isr.detect(facts(*rows)).findings
    assert (finding.measures["failed_records"], finding.measures["failed_but_stored_records"]) == (71, 41)
    assert finding.measures["dropped_records"] == 30
    assert told(finding.statement)["dropped_records"] == 30


def test_nobody_is_told_to_have_dropped_what_nobody_looked_for():
    failed = part("failed", None, None, "10:02", "10:03", queue="")
    assert found(refused(), SHORT, MIN, DROPPED, failed, acked(400), PRODUCER) == [(Severity.WARNING, Certainty.PROVEN)]


def test_records_that_expired_count_as_failed_without_a_ledger():
    expired = episode(
        "record-expired", "10:04:00", "clients/gateway.log", topic="orders", queue="0", client_id="gateway", left=409.0
    )
    (finding,) = under_min_isr.detect(facts(refused(), expired, PRODUCER)).findings
    assert finding.measures["failed_records"] == 409
    assert told(finding.statement).items() >= {"failed_records": 409, "counted_by": by("lines")}.items()
    errors = series("producer.record_errors", [0, *[0] * 12, 200, *[412] * 20], client_id="gateway", instance="g:1")
    (counted,) = under_min_isr.detect(facts(refused(), expired, errors, PRODUCER)).findings
    assert counted.measures["failed_records"] == 412


def test_each_record_of_a_batch_that_expired_prints_the_size_of_the_batch():
    each = episode("record-expired", "10:04:00", "clients/gateway.log", count=260, client_id="gateway", left=130.0)
    (finding,) = under_min_isr.detect(facts(refused(), each, PRODUCER)).findings
    assert finding.measures["failed_records"] == 260


def test_an_application_that_is_blocked_meanwhile_makes_it_critical():
    full = episode("buffer-exhausted", "10:03:00", "clients/gateway.log", count=3, client_id="gateway")
    before = episode("buffer-exhausted", "10:01:00", "clients/gateway.log", count=3, client_id="gateway")
    assert found(refused(), full, PRODUCER) == [(Severity.CRITICAL, Certainty.LIKELY)]
    assert found(refused(), before, PRODUCER) == [(Severity.WARNING, Certainty.LIKELY)]


def test_a_partition_below_its_minimum_to_which_nobody_was_refused_is_no_incident():
    below = series("broker.under_min_isr_partitions", [0, 3, 0], instance="kafka-1:7071")
    assert found(below, BROKERS) == (under_min_isr.say("no-producers"),)
    assert found(below, acks("1"), BROKERS) == under_min_isr.say("not-refused")
    assert found(series("broker.under_min_isr_partitions", [0, 0], instance="kafka-1:7071"), BROKERS) == "clear"


def test_other_retries_and_small_sets_alone_are_nothing():
    assert found(refused(reason="NETWORK_EXCEPTION"), PRODUCER) == "clear"
    assert found(leaders("at queue epoch broker from isr\n10:00 0 0 1 0 1"), MIN, BROKERS) == "clear"
