"""Errors that are said outright: who, how often, how bad, and of what they come."""

import pytest
from facts_builder import at, episode, facts, log, series, settings
from outright_builder import BEATS, LEAD, LOG, RULE, again, beats, each_class, found, lasting, said
from said import told

from mqlab.detectors.known_errors import EXPLAINS, say
from mqlab.findings import Certainty, Severity
from mqlab.known_errors import known_errors

NOTICE, WARNING, CRITICAL = Severity.NOTICE, Severity.WARNING, Severity.CRITICAL
FATAL = {"startup-failure", "disk-full", "quorum-lost", "log-corrupt"}


@each_class
def test_what_is_said_again_and_again_is_a_likely_finding_with_meaning_first_cause_and_repair(slug):
    error = lasting(slug)
    one = found(slug, LOG, again(error, 1800, 300, client_id="till-3"))
    assert (one.incident, one.certainty, one.subject) == (slug, Certainty.LIKELY, "till-3")
    assert one.severity is (CRITICAL if error.fatal and slug in FATAL else WARNING)
    assert (one.measures, one.remedy, one.explains) == ({"lines": 30.0, "actors": 1.0}, error.fix, EXPLAINS[slug])
    lines = {"lines": 30, "since": at(1800), "until": at(2090), "who": ["till-3"]}
    table = {"means": error.means, "cause": error.causes[0], "check": error.check}
    assert told(one.statement) == lines | table
    assert one.facts["error"] == error.name
    assert one.started_at.timestamp() == at(1800)
    assert [place.line for place in one.evidence] == [1]


@pytest.mark.parametrize(
    "error", [e for e in known_errors().values() if e.vague and e.incident in EXPLAINS], ids=lambda e: e.name
)
def test_words_that_have_other_causes_too_are_a_notice_however_often_they_come(error):
    assert found(error.incident, LOG, again(error, 1800, 300, client_id="till-3")).severity is NOTICE


@each_class
def test_a_log_without_it_is_clear_and_no_log_is_not_checked(slug):
    assert found(slug, LOG) is None
    assert RULE[slug].detect(facts()).missing == (say("no-logs"),)


@each_class
def test_one_refused_try_is_a_notice_and_one_line_that_ends_a_process_is_more(slug):
    for error in (e for e in known_errors().values() if e.incident == slug):
        one = found(slug, LOG, said(error, 1800))
        assert one.severity is ((CRITICAL if slug in FATAL else WARNING) if error.fatal else NOTICE)
        assert (one.explains == ()) is (one.severity is NOTICE)


def test_a_disturbance_that_passes_is_a_notice_and_one_that_comes_again_after_good_times_too():
    error = LEAD["broker-unreachable"]
    assert found("broker-unreachable", LOG, again(error, 1800, 100)).severity is NOTICE
    assert found("broker-unreachable", LOG, again(error, 1800, 300)).severity is WARNING
    between = [episode("connection-made", 1800 + n) for n in (95, 195, 295)]
    assert found("broker-unreachable", LOG, again(error, 1800, 300), between).severity is NOTICE


def test_an_error_without_a_moment_counts_and_its_end_is_not_known():
    one = found("disk-full", LOG, said(known_errors()["os-no-space"], None))
    assert (one.started_at, one.ended_at, one.ongoing, one.severity) == (None, None, False, CRITICAL)
    often = [said(LEAD["broker-unreachable"], None) for _ in range(3)]
    assert found("broker-unreachable", LOG, often).severity is WARNING


def test_the_error_that_leads_is_the_one_that_ends_a_process_else_the_most_frequent():
    table = known_errors()
    one = found(
        "startup-failure",
        LOG,
        again(table["kafka-registration-refused"], 1800, 300),
        said(table["kafka-bad-setting"], 2200),
    )
    assert one.facts["error"] == "kafka-bad-setting"
    assert told(one.statement)["others"] == ["kafka-registration-refused"]


def test_lines_of_another_error_of_the_class_are_not_counted_as_the_leading_ones():
    busy, slow = (known_errors()[name] for name in ("rocketmq-busy", "rocketmq-slow-put"))
    one = found("broker-overloaded", LOG, said(slow, 1800, 4, until=1860), said(busy, 1870, 3, until=1900))
    shown = told(one.statement)
    assert one.measures["lines"] == 4
    assert [shown[name] for name in ("lines", "since", "until", "others")] == [4, at(1800), at(1860), ["rocketmq-busy"]]


def test_several_who_say_the_same_are_one_finding_that_names_them():
    error = LEAD["broker-unreachable"]
    rows = [again(error, 1800, 300, client_id=f"till-{n}", peer="kafka-1:9092") for n in range(5)]
    one = found("broker-unreachable", LOG, rows)
    assert one.subject == say("who", who=[f"till-{n}" for n in range(5)])
    assert one.measures == {"lines": 150.0, "actors": 5.0}
    assert told(one.statement)["about"] == ["kafka-1:9092"]


def test_a_client_that_its_broker_and_its_own_log_know_counts_once_under_its_id():
    own = [LOG, episode("client-configured", 60, client_id="till-3")]
    by_broker = said(LEAD["broker-unreachable"], 1800, source="brokers/mosquitto.log", client_id="till-3")
    one = found("broker-unreachable", *own, again(LEAD["broker-unreachable"], 1800, 300), by_broker)
    assert (one.subject, one.measures["actors"]) == ("till-3", 1)
    several = found("broker-unreachable", *own, episode("client-configured", 60, client_id="till-4"),
                    again(LEAD["broker-unreachable"], 1800, 300))  # fmt: skip
    assert several.subject == "app", "its log names two clients: it may be either"


def test_the_cause_that_is_told_is_the_one_that_the_lines_hint_at():
    error = known_errors()["go-dial-failed"]
    refused, cut, unknown, loopback = error.causes
    dials = "dial tcp 10.9.0.2:1883: connect"
    for reason, text, cause in (
        ("connection refused", dials, refused),
        ("no route to host", dials, cut),
        ("no such host", dials, unknown),
        (None, "dial", refused),
        ("connection refused", "dial tcp 127.0.0.1:9092: connect: refused", loopback),
    ):
        one = found("broker-unreachable", LOG, again(error, 1800, 300, reason=reason, text=text))
        assert told(one.statement)["cause"] == cause


@pytest.mark.parametrize(
    ("line", "number"),
    [
        ("localhost:9092/bootstrap: Connect to ipv4#127.0.0.1:9092 failed: Connection refused", 0),
        ("localhost:9092/1: Connect to ipv4#127.0.0.1:9092 failed: Connection refused", 1),
        ("till-1:9092/1: Connect to ipv4#10.0.0.7:9092 failed: Connection refused", 0),
        ("till-1:9092/1: Connect to ipv4#10.0.0.7:9092 failed: Connection timed out", 2),
    ],
)
def test_a_loopback_address_that_a_broker_advertises_is_told_from_a_bootstrap_address(line, number):
    error = known_errors()["librdkafka-connect-failed"]
    assert (error.hinted([line]) or error.causes[0]) == error.causes[number]


@pytest.mark.parametrize(
    ("address", "number"), [("127.0.0.1:1883", 1), ("::1:9092", 1), ("10.0.0.7:1883", None), ("10.127.0.1:1883", None)]
)
def test_only_a_loopback_address_that_refuses_hints_at_a_container(address, number):
    error = known_errors()["kafkajs-connect-failed"]
    assert error.hinted([f"Error: connect ECONNREFUSED {address}"]) == (
        None if number is None else error.causes[number]
    )


@pytest.mark.parametrize(("error", "number"), [("REQUEST_TIMED_OUT", 3), ("STALE_BROKER_EPOCH", 0)])
def test_a_controller_that_answers_too_late_is_no_missing_one(error, number):
    held = log("logs/server.log", "kafka-broker-log", "10:00", "11:00")
    late = found("quorum-lost", held, beats(1860, 2400, 2460, error=error))
    assert told(late.statement)["cause"] == BEATS.causes[number]


GAVE_UP, FULL = known_errors()["rocketmq-send-gave-up"], known_errors()["rocketmq-disk-refuses"]
CAUSE = f"Caused by: {FULL.sample.removeprefix('Caused by: ')}"


def test_an_exception_yields_to_another_known_error_that_it_names_as_its_cause():
    told_ = [said(GAVE_UP, None, line=10), said(FULL, None, line=17, text=CAUSE)]
    assert found(GAVE_UP.incident, LOG, told_) is None
    assert found(FULL.incident, LOG, told_) is not None
    for others in (
        [said(FULL, None, line=17)],
        [said(FULL, None, line=5, text=CAUSE)],
        [said(FULL, None, line=17, text=CAUSE, source="clients/other.log")],
    ):
        assert found(GAVE_UP.incident, LOG, said(GAVE_UP, None, line=10), others) is not None
    assert found(GAVE_UP.incident, LOG, said(GAVE_UP, None, 3, line=10), told_[1:]) is not None, "two had another cause"


def test_a_program_and_its_library_that_say_the_same_have_one_name():
    by_library = said(FULL, 1801, 2, client_id="10.0.0.1@77#1", source="clients/scan/rocketmq_client.log")
    by_program = said(FULL, 1800, source="clients/scan.log")
    assert told(found(FULL.incident, LOG, by_program, by_library).statement)["who"] == ["scan"]
    apart = said(FULL, 1800, source="clients/other.log")
    assert told(found(FULL.incident, LOG, apart, by_library).statement)["who"] == ["10.0.0.1@77#1", "other"]


@pytest.mark.parametrize(
    ("ratios", "limit", "open_"),
    [
        ([0.7, 0.95, 0.95], None, True),
        ([0.95, 0.95, 0.7], None, False),
        ([0.95], None, False),
        ([0.7, 0.86, 0.86], "85", True),
        ([0.7, 0.86, 0.86], None, False),
    ],
    ids=["full to the end", "freed", "nothing was asked after it", "a limit of its own", "below the limit"],
)
def test_a_disk_that_is_full_at_the_end_refuses_still(ratios, limit, open_):
    own = (
        settings(f"at owner key value\n- a diskSpaceWarningLevelRatio {limit}", "cfg.txt", scope="broker")
        if limit
        else ()
    )
    disk = series("rocketmq.broker.disk_ratio", ratios, step=300, source="brokerStatus.txt")
    one = found("disk-full", LOG, said(FULL, "10:01:00", 3), disk, own)
    assert (one.goes_on, any(place.source == "brokerStatus.txt" for place in one.evidence)) == (open_, open_)
