"""Batches that are sent again, records that are submitted again, and what only looks like it."""

from dataclasses import replace

import pytest
from facts_builder import card, episode, facts, log, ramp, series, settings, splits, version
from said import told

from mqlab import units
from mqlab.detectors import oversize_record_rejected, retry_amplification
from mqlab.detectors.retry_amplification import say
from mqlab.findings import CLEAR, Result
from mqlab.rows import Shape
from mqlab.traffic import resending

JMX = {"instance": "app-1:9404", "client_id": "app"}
OLD = (version("2.8.2"), settings("at owner key value\n10:00 app request.timeout.ms 2000\n10:00 app retries 5"), log())
NEW = (version("3.9.1"), settings("at owner key value\n10:00 app request.timeout.ms 2000"), log())
RETRIED = series("producer.record_retries", ramp((30, 0), (12, 20), (18, 0)), **JMX)
SENT = series("producer.record_sends", ramp((30, 50), (12, 70), (18, 50)), **JMX)
LARGE = {"client_id": "app", "reason": "max message size the server"}


def retries(*left, reason="REQUEST_TIMED_OUT", start=300, client="app", **more):
    """Ten seconds of retries for each number of attempts left."""
    return tuple(
        episode(
            "produce-retry", start + 10 * n, f"clients/{client}.log", count=8, line=50 + 10 * n,
            until=start + 10 * n + 9, left=value, client_id=client, topic="orders", queue="0", reason=reason, **more,
        )
        for n, value in enumerate(left)
    )  # fmt: skip


def too_large(count, *, seconds=60, size=2_000_000, largest=None, **more):
    """*count* refusals of the broker within *seconds*."""
    each = {**LARGE, "value_min": size, "value_max": largest or size, **more}
    return tuple(
        episode(
            "record-too-large", 300 + n, count=max(1, count * 10 // seconds), line=200 + n, until=300 + n + 9, **each
        )
        for n in range(0, seconds, 10)
    )


def found(*rows):
    """(subject, certainty, severity) of each finding, else why not, else what is missing."""
    result = retry_amplification.detect(facts(*rows))
    each = [(f.id.split(":")[1], f.certainty.name, f.severity.name) for f in result.findings]
    return each or result.rejected or result.missing


def trace(key, **values):
    """Why the retries of the application are none that amplify."""
    return say("trace", client="app", reason=resending.say(key, **values))


def test_retries_whose_attempts_fall_and_that_are_counted_are_proven():
    assert found(*OLD, retries(4, 3, 2, reason="NETWORK_EXCEPTION"), RETRIED, SENT) == [("app", "PROVEN", "CRITICAL")]


def test_what_verifies_the_repair_is_named_as_it_was_read():
    (one,) = retry_amplification.detect(facts(*OLD, retries(4, 3, 2), RETRIED, SENT)).findings
    assert told(one.verify) == {"counter": "producer_record_retries", "subject": "app"}
    (one,) = retry_amplification.detect(facts(*OLD, retries(4, 3, 2))).findings
    assert told(one.verify) == {"subject": "app"}


def test_endless_retries_fall_from_the_largest_number():
    both = (2_147_483_646, 2_147_483_645)
    assert found(*NEW, retries(*both), RETRIED, SENT) == [("app", "PROVEN", "WARNING")]


def test_logs_alone_make_it_likely():
    assert found(*NEW, retries(2_147_483_646, 2_147_483_645)) == [("app", "LIKELY", "WARNING")]


def test_repeats_may_be_stored_twice_only_without_idempotence():
    finding, _ = (retry_amplification.detect(facts(*m, retries(4, 3), RETRIED, SENT)).findings[0] for m in (OLD, NEW))
    assert finding.explains == ("producer-duplicates",)
    assert dict(finding.measures) == {
        "retry_lines": 16, "retried_records": 40.0, "transmissions_per_record": 140 / 100,
        "duplicated_records_at_most": 40.0,
    }  # fmt: skip
    assert told(finding.statement)["not_idempotent"] is True
    assert told(finding.remedy)["may_duplicate"] is True


def test_a_timeout_is_raised_only_where_a_request_timed_out():
    closed, late = (
        retry_amplification.detect(facts(*NEW, retries(4, 3, reason=reason))).findings[0]
        for reason in ("NETWORK_EXCEPTION", "REQUEST_TIMED_OUT")
    )
    assert (told(closed.mitigate), told(late.mitigate)) == ({"subject": "app"}, {"timed_out": True, "timeout": "2000"})


def test_requests_that_time_out_at_their_first_attempt_count():
    late = episode("request-timeout", 305, client_id="app", count=8)
    assert found(*NEW, retries(2_147_483_646, 2_147_483_646), late) == [("app", "LIKELY", "WARNING")]


def test_only_the_client_that_retries_is_blamed():
    calm = settings("at owner key value\n10:00 calm acks all", "clients/calm.log")
    assert found(*NEW, calm, retries(3, 2)) == [("app", "LIKELY", "WARNING")]


def test_a_broker_restart_explains_its_retries():
    restart = (episode("broker-stopping", 290, "server.log"), episode("broker-started", 320, "server.log"))
    assert found(*NEW, retries(5, 4, 3, reason="NETWORK_EXCEPTION"), restart) == trace("restart", retries=24, within=60)


@pytest.mark.parametrize(("begins", "started", "restarts"), [(270, 280, False), (0, 280, True), (330, 340, True)])
def test_a_start_with_which_a_log_begins_is_no_restart_and_explains_no_later_retry(begins, started, restarts):
    start = episode("broker-started", started, "server.log")
    given = (*NEW, retries(5, 4, 3, reason="NETWORK_EXCEPTION"), start, log("server.log", first=begins, last=900))
    assert isinstance(found(*given), str) is restarts


def test_a_leader_that_moved_explains_retries_without_the_brokers_log():
    moved = retries(5, reason="NOT_LEADER_OR_FOLLOWER", start=305)
    because = trace("moved", retries=16, within=60)
    assert found(*NEW, retries(5, 4, reason="NETWORK_EXCEPTION"), moved).startswith(because)


def test_few_repeats_among_many_sends_amplify_nothing():
    many = series("producer.record_sends", ramp((60, 1_000_000)), **JMX)
    assert found(*NEW, retries(5, 4), RETRIED, many) == trace("few-repeats", again=40, sends=2_000_000)


def test_too_few_replicas_and_resequencing_are_other_stories():
    for reason in ("NOT_ENOUGH_REPLICAS", "OUT_OF_ORDER_SEQUENCE_NUMBER"):
        others = resending.say("others", reasons=[resending.say("times", count=16, reason=reason)])
        assert found(*NEW, retries(5, 4, reason=reason)) == others


def test_splits_are_no_retries():
    assert found(*NEW, splits(300, 60, 2)) == resending.say("attempts-stay", left="2147483647")


def test_splits_beside_retries_are_said_to_be_none_of_these():
    rejected = found(*NEW, splits(300, 60, 2), retries(5, 4, reason="OUT_OF_ORDER_SEQUENCE_NUMBER"))
    assert rejected.startswith(resending.say("splits", splits=120))


def test_counted_repeats_without_a_log_are_not_checked():
    assert found(RETRIED, SENT) == (resending.say("no-log", client="app", again=240),)


def test_settings_in_a_file_are_no_sight_of_the_producer():
    stored = settings("at owner key value\n- app retries 5", "producer.properties", origin="file")
    assert found(stored) == (say("no-producers"),)


def test_nothing_sent_again_is_clear():
    assert found(*NEW) == ()


RESENT = series("app.resubmitted", ramp((30, 0), (6, 100), (24, 0)), source="clients/app.log")
REJECTED = series("broker.bytes_rejected", ramp((30, 0), (6, 200_000_000), (24, 0)), instance="kafka-1:9404")
ACCEPTED = series("broker.bytes_in", ramp((60, 300_000)), instance="kafka-1:9404")


def test_an_application_that_counts_its_resubmissions_is_proven_by_the_rejected_bytes():
    assert found(*NEW, too_large(600), RESENT, REJECTED, ACCEPTED) == [("app/resubmission", "PROVEN", "CRITICAL")]


def test_a_resubmission_lasts_from_its_first_to_its_last_failure_not_from_scrape_to_scrape():
    finding = retry_amplification.detect(facts(*NEW, too_large(600), RESENT, REJECTED)).findings[0]
    assert (units.clock(finding.started_at), units.clock(finding.ended_at)) == ("10:05:00", "10:05:59")


@pytest.mark.parametrize(("sent", "beyond"), [(5_000_000, True), (1_000_000, False)])
def test_what_left_beyond_the_usual_is_told_only_where_more_left(sent, beyond):
    bridge = card("app-1", ramp((60, 1_000_000)), ramp((30, 2_000_000), (30, sent)))
    finding = retry_amplification.detect(facts(*NEW, too_large(600), RESENT, REJECTED, bridge)).findings[0]
    assert ("excess_bytes" in finding.measures, "healthy_factor" in finding.measures) == (beyond, True)


def test_what_retries_sent_again_was_not_all_sent_for_nothing():
    """A retry of a request that was not stored is what delivers its records; a refused record never is."""
    bridge = card("app-1", ramp((60, 1_000_000)), ramp((30, 2_000_000), (12, 6_000_000), (18, 2_000_000)))
    (one,) = retry_amplification.detect(facts(*OLD, retries(4, 3, 2), RETRIED, SENT, bridge)).findings
    assert one.measures["resent_bytes"] > 0
    assert "excess_bytes" not in one.measures


def test_more_failures_than_records_received_are_resubmissions():
    received = series("app.received", ramp((60, 20)), source="clients/app.log")
    assert found(*NEW, too_large(600), received) == [("app/resubmission", "LIKELY", "CRITICAL")]
    assert found(*NEW, too_large(600), received, REJECTED) == [("app/resubmission", "PROVEN", "CRITICAL")]


def test_more_failed_bytes_than_received_are_resubmissions():
    received = series("app.receivedBytes", ramp((60, 2_000_000)), source="clients/app.log")
    assert found(*NEW, too_large(600), received, REJECTED) == [("app/resubmission", "PROVEN", "CRITICAL")]


def test_a_forwarding_host_that_sends_what_never_came_in_shows_resubmission():
    bridge = card("app-1", ramp((60, 1_000_000)), ramp((30, 1_000_000), (6, 50_000_000), (24, 1_000_000)))
    assert found(*NEW, too_large(600), bridge) == [("app/resubmission", "PROVEN", "CRITICAL")]


def test_many_large_records_from_their_own_host_are_no_resubmission():
    source = card("app-1", ramp((60, 1_000)), ramp((30, 100_000), (6, 50_000_000), (24, 100_000)))
    various = too_large(600, largest=3_000_000)
    assert found(*NEW, various, source, REJECTED, ACCEPTED) == ()


def test_large_records_that_did_come_in_are_no_resubmission():
    received = series("app.received", ramp((30, 20), (6, 120), (24, 20)), source="clients/app.log")
    assert found(*NEW, too_large(600), received, REJECTED, ACCEPTED) == ()


def test_failures_of_one_size_without_any_count_of_what_came_in_cannot_be_told_apart():
    unclear = resending.say("unclear", client="app", failures=600)
    assert found(*NEW, too_large(600), REJECTED, ACCEPTED) == (unclear,)


@pytest.mark.parametrize(
    ("texts", "is_unclear"),
    [
        (["send of o-{n} failed"], False),
        (["send failed, key={n}"], False),
        (["2026-11-20 10:00:0{n},000 ERROR send to t-1 failed"], True),
        (["send of o-7 failed"], True),
    ],
)
def test_failures_whose_lines_name_several_records_are_not_of_one(texts, is_unclear):
    lines = [
        replace(e, first=replace(e.first, text=text), last=replace(e.last, text=text))
        for n, e in enumerate(too_large(600))
        for text in [texts[0].format(n=n)]
    ]
    assert bool(found(*NEW, lines, REJECTED, ACCEPTED)) is is_unclear


def test_resubmission_leads_and_names_the_oversize_records_as_its_consequence():
    material = facts(*NEW, too_large(600), RESENT, REJECTED)
    again = retry_amplification.detect(material).findings[0]
    oversize = oversize_record_rejected.detect(material).findings[0]
    assert (again.explains, again.severity > oversize.severity) == (("oversize-record-rejected",), True)
    assert told(oversize.statement)["resubmitted"] is True


@pytest.mark.parametrize(
    ("shape", "clear"),
    [
        ("INFO rdkafka: FAIL [traffic#producer-#] [thrd:kafka-#", True),
        ("INFO rdkafka: FAIL [traffic#consumer-#]", False),
    ],
    ids=["producer", "consumer"],
)
def test_a_librdkafka_producer_that_warns_of_no_timeout_did_not_repeat_itself(shape, clear):
    line = Shape("traffic.log", "INFO", shape, 3, 586, None, None, 6)
    result = retry_amplification.detect(replace(facts(log()), shapes=(line,)))
    assert result == (CLEAR if clear else Result(missing=(say("no-producers"),)))
