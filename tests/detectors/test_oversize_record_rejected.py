"""Records over a limit: refused by the client or by the broker, once each."""

from dataclasses import replace

import pytest
from facts_builder import at, episode, facts, log, ramp, series, settings
from message_builder import SINK, acked, fates, part
from said import told

from mqlab.detectors import oversize_record_rejected
from mqlab.detectors.oversize_record_rejected import Place
from mqlab.findings import Change, Evidence
from mqlab.repairs import repairs
from mqlab.traffic import resending

JMX = {"instance": "app-1:9404", "client_id": "app"}
PRINTED = settings("at owner key value\n10:00 app max.request.size 1048576")
BROKER_SIDE = "max message size the server"
CLIENT_SIDE = "when serialized"


def refused(when, reason, *, client="app", size=2_000_000, **more):
    """One refusal."""
    place = f"clients/{client}.log"
    return episode("record-too-large", when, place, left=size, client_id=client, reason=reason, **more)


def found(*rows):
    """(id, certainty, records) of each finding, else what is missing."""
    result = oversize_record_rejected.detect(facts(*rows))
    seen = [(f.id.split(":")[1], f.certainty.name, int(f.measures["rejected_records"])) for f in result.findings]
    return seen or result.rejected or result.missing


def shown(*rows):
    """What the statement about the only finding shows."""
    (finding,) = oversize_record_rejected.detect(facts(*rows)).findings
    return told(finding.statement)


def test_the_broker_refuses_each_record_once():
    finding = oversize_record_rejected.detect(facts(PRINTED, log(), refused(300, BROKER_SIDE, count=3))).findings[0]
    large = {"rejected_records": 3, "largest_record_bytes": 2_000_000}
    assert told(finding.statement) == {"owner": "app", "place": Place.BROKER, "until": finding.ended_at, **large}
    assert dict(finding.measures) == large


def test_what_an_application_calls_its_payload_is_less_than_the_record():
    line = "send to orders failed, payload=2000000 bytes: RecordTooLargeException: larger than the max message size"
    assert shown(PRINTED, log(), refused(300, BROKER_SIDE, text=line))["payload"] is True
    line = "send to orders failed, payload=1999900 bytes: RecordTooLargeException: The message is 2000000 bytes when"
    assert "payload" not in shown(PRINTED, log(), refused(300, CLIENT_SIDE, text=line))


def test_the_client_refuses_before_a_byte_leaves():
    finding = oversize_record_rejected.detect(facts(PRINTED, log(), refused(300, CLIENT_SIDE))).findings[0]
    values = told(finding.statement)
    assert (values["place"], values["limit"], finding.measures["bytes_out"]) == (Place.CLIENT, "1048576", 0)


@pytest.mark.parametrize(("side", "helps"), [(BROKER_SIDE, True), (CLIENT_SIDE, False), (None, True)])
def test_a_raised_limit_of_the_topic_repairs_no_refusal_by_the_client(side, helps):
    given = facts(PRINTED, log(), refused(300, side, topic="orders"))
    (finding,) = oversize_record_rejected.detect(given).findings
    raised = Change(at(310), "topic orders max.message.bytes", "1048588", "10485760")
    assert bool(repairs(finding, [raised])) is helps


def test_a_limit_that_nobody_printed_is_not_named():
    values = shown(log(), refused(300, CLIENT_SIDE))
    assert (values["place"], "limit" in values) == (Place.CLIENT, False)


def test_an_error_that_does_not_say_who_refused_accuses_neither():
    assert shown(PRINTED, log(), refused(300, None))["place"] is Place.UNKNOWN


def test_a_name_without_a_reason_and_the_reason_below_it_are_one_record():
    lines = (refused(300, None, size=None), refused(300.1, CLIENT_SIDE))
    assert found(PRINTED, *lines) == [("app/client-side", "LIKELY", 1)]
    later = (refused(300, None, size=None), refused(330, CLIENT_SIDE))
    assert found(PRINTED, *later) == [("app", "LIKELY", 1), ("app/client-side", "LIKELY", 1)]


@pytest.mark.parametrize("lines", [1, 2])
def test_one_or_two_failures_at_the_end_of_a_log_do_not_tell_that_they_go_on(lines):
    failures = [refused(300 + n, CLIENT_SIDE) for n in range(lines)]
    (finding,) = oversize_record_rejected.detect(facts(PRINTED, *failures, log(last="10:05:02"))).findings
    assert (finding.ongoing, "ongoing" in told(finding.statement)) == (False, False)


def test_counted_errors_prove_it():
    errors = series("producer.record_errors", ramp((30, 0), (1, 3), (29, 0)), **JMX)
    assert found(PRINTED, refused(305, BROKER_SIDE, count=3), errors) == [("app", "PROVEN", 3)]


def test_each_producer_and_place_is_a_finding_of_its_own():
    both = (refused(300, BROKER_SIDE), refused(310, CLIENT_SIDE), refused(320, BROKER_SIDE, client="scan"))
    assert found(PRINTED, *both) == [("app", "LIKELY", 1), ("app/client-side", "LIKELY", 1), ("scan", "LIKELY", 1)]


def test_it_is_open_where_the_log_ends_before_the_next_was_due():
    lines = [refused(n, BROKER_SIDE) for n in (0, 200, 400)]
    ends = [facts(PRINTED, lines[0], lines[1], lines[2], log(last=last)) for last in ("10:08", "10:30")]
    assert [oversize_record_rejected.detect(f).findings[0].ongoing for f in ends] == [True, False]


def test_a_burst_is_over_where_much_longer_than_between_its_records_nothing_failed():
    burst = [refused(n, BROKER_SIDE, count=40) for n in (300, 310)]
    (finding,) = oversize_record_rejected.detect(facts(PRINTED, *burst, log(last="10:05:57"))).findings
    assert finding.ongoing is False
    silent = log(last="10:05:10")
    counts = {"over": ramp((30, 0), (1, 80), (20, 0)), "on": ramp((30, 0), (20, 80))}
    errors = {name: series("producer.record_errors", rise, **JMX) for name, rise in counts.items()}
    ends = {name: facts(PRINTED, *burst, silent, counter) for name, counter in errors.items()}
    ongoing = {name: oversize_record_rejected.detect(known).findings[0].ongoing for name, known in ends.items()}
    assert ongoing == {"over": False, "on": True}


def test_a_long_pause_before_does_not_keep_it_open():
    lines = [refused(n, BROKER_SIDE) for n in (0, 300, 375)]
    ends = [facts(PRINTED, *lines, log(last=last)) for last in ("10:08", "10:09")]
    going, over = (oversize_record_rejected.detect(known).findings[0] for known in ends)
    assert [one.ongoing for one in (going, over)] == [True, False]
    assert (told(going.statement)["until"], told(going.statement)["ongoing"]) == (going.ended_at, True)


def test_a_limit_is_named_only_where_no_topic_has_another():
    server = settings("at owner key value\n10:00 1 message.max.bytes 1048588", scope="broker")
    topic = settings("at owner key value\n10:00 orders max.message.bytes 262144", scope="topic")
    known = [shown(*rows, log(), refused(300, BROKER_SIDE)) for rows in ((server,), (server, topic))]
    limits = [{"key": "message.max.bytes", "limit": "1048588"}, {}]
    assert [{name: one[name] for name in ("key", "limit") if name in one} for one in known] == limits


def test_a_limit_raised_above_the_records_ends_it():
    raised = episode("topic-config-changed", 301, "server.log", topic="orders", reason="max.message.bytes -> 10485760")
    known = facts(PRINTED, refused(300, BROKER_SIDE), raised, log(last="10:05:30"))
    assert oversize_record_rejected.detect(known).findings[0].ongoing is False


def test_failed_records_without_a_log_are_not_checked():
    errors = series("producer.record_errors", ramp((30, 0), (30, 3)), **JMX)
    assert found(errors) == (oversize_record_rejected.say("no-log"),)


def test_brokers_that_rejected_nothing_clear_it():
    assert found(series("broker.bytes_rejected", ramp((30, 0)), instance="kafka-1:9404")) == ()
    assert found(PRINTED) == ()


def test_records_that_a_ledger_notes_as_failed_and_nobody_has_were_never_stored():
    own = fates("queue from to messages at acked failed\n0 0 99 100 10:00 1 0\n- - - 3 10:05 0 1")
    ledgers = (acked(99), part("failed", None, None, "10:00", "10:05", queue=""))
    row = refused(300, BROKER_SIDE, count=3, topic="orders", queue="0")
    (finding,) = oversize_record_rejected.detect(facts(PRINTED, row, own, ledgers)).findings
    assert "dropped_records" not in finding.measures
    read = part("received", 0, 99, "10:00", "10:20", source=SINK)
    (finding,) = oversize_record_rejected.detect(facts(PRINTED, row, own, ledgers, read)).findings
    assert finding.measures["dropped_records"] == 3


def test_the_death_of_a_task_names_the_refused_record_once_more():
    cause = {"text": "Caused by: org.apache.kafka.common.errors.RecordTooLargeException", "count": 1}
    rows = [log(), refused(300, CLIENT_SIDE), refused(305, CLIENT_SIDE, **cause)]
    death = episode("task-killed", 305, "clients/app.log")
    assert found(*rows, death) == [("app/client-side", "LIKELY", 1)]
    assert found(*rows) == [("app/client-side", "LIKELY", 2)], "an application's own exceptions are one record each"
    assert found(log(), refused(305, CLIENT_SIDE, **cause), death) == [("app/client-side", "LIKELY", 1)]
    both = replace(refused(300, CLIENT_SIDE, count=2), last=Evidence("clients/app.log", 9, cause["text"]))
    within = replace(death, first=Evidence("clients/app.log", 3, "Task is being killed"))
    assert found(log(), both, within) == [("app/client-side", "LIKELY", 1)], "both lines are one episode"
    assert found(log(), both, replace(within, first=Evidence("clients/app.log", 30, ""))) == [
        ("app/client-side", "LIKELY", 2)
    ]
    other = refused(305, CLIENT_SIDE, size=3_000_000, **cause)
    assert found(log(), refused(300, CLIENT_SIDE), other, death) == [("app/client-side", "LIKELY", 2)]


def test_a_producer_that_took_a_refusal_for_fatal_refuses_the_rest_itself():
    lines = [
        refused(300, "MessageSizeTooLargeError", size=None, count=3),
        episode("batches-aborted", 300.1, "clients/app.log", count=2, reason="[Error 10] MessageSizeTooLargeError"),
    ]
    (finding,) = oversize_record_rejected.detect(facts(log(), *lines)).findings
    assert (told(finding.statement)["place"], finding.measures["rejected_records"]) == (Place.DEAD, 3)
    assert finding.mitigate == oversize_record_rejected.say("mitigate", restart=False)
    going = [refused(290 + n, "x", size=None) for n in range(10)]
    (open_,) = oversize_record_rejected.detect(facts(log(last="10:05"), *lines, *going)).findings
    assert open_.mitigate == oversize_record_rejected.say("mitigate", restart=True, client="app")
    assert resending.unclear(facts(log(), refused(300, None, count=200), lines[1])) == []


def test_a_producer_that_aborts_for_another_reason_or_another_producer_refused_nothing_itself():
    own = refused(300, "MessageSizeTooLargeError", size=None)
    other = episode("batches-aborted", 300, "clients/app.log", reason="[Error 47] InvalidProducerEpochError")
    beside = episode("batches-aborted", 300, "clients/b.log", reason="[Error 10] MessageSizeTooLargeError")
    assert {shown(log(), own, row)["place"] for row in (other, beside)} == {Place.BROKER}


def test_the_next_is_due_after_the_pause_between_lines_not_between_rows_of_many():
    rows = [refused(n, BROKER_SIDE, count=60, until=n + 9.8) for n in (300, 310, 320)]
    ends = [facts(PRINTED, *rows, log(last=last)) for last in ("10:05:36", "10:05:29")]
    assert [oversize_record_rejected.detect(known).findings[0].ongoing for known in ends] == [False, True]


def test_a_failed_send_beside_it_names_its_topic():
    beside = episode("send-failed", 300, "clients/app.log", topic="orders")
    subjects = [
        oversize_record_rejected.detect(facts(log(), refused(300, BROKER_SIDE), *more)).findings[0].subject
        for more in ((beside,), (beside, replace(beside, topic="audit")), (replace(beside, source="clients/b.log"),))
    ]
    assert subjects == ["app -> orders", "app", "app"]
