"""Errors that are said outright beside other findings: which lead, and which are only a consequence."""

from dataclasses import replace

import pytest
from facts_builder import at, episode, facts, positions, settings
from outright_builder import LEAD, LOG, RULE, again, found, said
from said import told

from mqlab.detectors.known_errors import EXPLAINS, say
from mqlab.findings import Certainty, Severity, finding
from mqlab.known_errors import known_errors
from mqlab.precedence import ordered_by_weight
from mqlab.shared.wording import moment
from mqlab.verdict import diagnose

LIKELY, PROVEN = Certainty.LIKELY, Certainty.PROVEN
NOTICE, WARNING, CRITICAL = Severity.NOTICE, Severity.WARNING, Severity.CRITICAL
LEADS = (
    ("dependency-down", "group-churn", LIKELY, True),
    ("dependency-down", "group-churn", PROVEN, False),
    ("dependency-down", "offset-reset-loss", LIKELY, False),
    ("throttled", "reconnect-flaky-link", LIKELY, True),
    ("under-min-isr", "retry-amplification", LIKELY, True),
    ("under-min-isr", "retry-amplification", PROVEN, True),
    ("slow-consumer", "backlog-drain", LIKELY, False),
)


@pytest.mark.parametrize(("cause", "other", "certainty", "leads"), LEADS)
def test_an_error_that_is_said_leads_over_what_it_explains_where_that_is_no_surer(cause, other, certainty, leads):
    effects = EXPLAINS.get(cause, ("retry-amplification", "backlog-drain"))
    times = (at(1800), at(2400))
    bare = {"statement": "", "measures": {}, "evidence": (), "verify": ""}
    said_outright = finding(cause, "app", LIKELY, times, severity=WARNING, explains=effects, **bare)
    found_first = finding(other, "app", certainty, times, severity=CRITICAL, **bare)
    first = ordered_by_weight([found_first, said_outright])[0]
    assert (first is said_outright) is leads
    earlier = replace(found_first, ended_at=moment(at(1700)))
    assert ordered_by_weight([said_outright, earlier])[0] is earlier


@pytest.mark.parametrize(("minutes", "leads"), [(0, True), (1, True), (10, False)])
def test_retries_that_went_on_long_before_writes_were_refused_are_not_explained_by_that(minutes, leads):
    refused, again = (
        finding(
            slug, "app", certainty, span, severity=severity, statement="", measures={}, evidence=(), verify="",
            explains=effects,
        )
        for slug, certainty, severity, span, effects in (
            ("under-min-isr", LIKELY, WARNING, (at(1800), at(2400)), ("retry-amplification",)),
            ("retry-amplification", PROVEN, CRITICAL, (at(1800 - 60 * minutes), at(2400)), ()),
        )
    )  # fmt: skip
    assert (ordered_by_weight([again, refused])[0] is refused) is leads


@pytest.mark.parametrize(("after", "severity"), [(0, CRITICAL), (20, CRITICAL), (600, NOTICE), (-20, NOTICE)])
def test_an_index_that_cannot_be_read_is_the_cause_of_the_end_that_follows_at_once(after, severity):
    corrupt, ended = known_errors()["kafka-corrupt-index"], LEAD["startup-failure"]
    rows = [LOG, said(corrupt, 2400), said(ended, 2400 + after)]
    assert found("log-corrupt", *rows).severity is severity
    (lead, *_) = diagnose(facts(*rows)).findings
    assert lead.incident == ("log-corrupt" if severity is CRITICAL else "startup-failure")


def test_memory_that_a_split_loop_leaked_is_no_limit_of_the_host():
    error = known_errors()["jvm-out-of-memory"]
    split = episode("batch-split", 1700, "clients/bridge.log")
    assert found("resource-limit", LOG, again(error, 1800, 300), split) is None
    assert found("resource-limit", LOG, again(error, 1800, 300)).severity is WARNING


def test_a_client_that_was_denied_and_cut_off_was_no_failed_login():
    error = known_errors()["mqtt-login-refused"]
    ends = again(error, 1800, 300, client_id="till-9", reason="not-authorized")
    denied = episode("publish-denied", 1795, client_id="till-9")
    assert found("authentication-failed", LOG, ends, denied) is None
    assert found("authentication-failed", LOG, ends, episode("publish-denied", 1795, client_id="other")) is not None


def test_a_name_server_that_is_slow_is_no_overloaded_broker():
    error = known_errors()["rocketmq-answer-timeout"]
    slow = again(error, 1800, 300, peer="10.9.1.9:29876")
    named = settings("at owner key value\n10:00 broker-a namesrvAddr 10.9.1.8:9876;10.9.1.9:29876")
    assert found("broker-overloaded", LOG, slow) is not None
    assert found("broker-overloaded", LOG, slow, named) is None
    assert found("broker-overloaded", LOG, again(error, 1800, 300, peer="10.9.1.9:9876")) is None


def test_health_is_taken_away_by_errors_in_the_middle_of_a_log():
    refused = known_errors()["connection-refused"]
    assert diagnose(facts(LOG, said(refused, 1800, 600, until=2400))).verdict.incident == "dependency-down"


@pytest.mark.parametrize(
    ("line", "prefix", "is_other"), [(12, "Caused by: ", False), (12, "", True), (90, "Caused by: ", True)]
)
def test_the_cause_of_a_dependency_s_error_is_no_trouble_between_brokers(line, prefix, is_other):
    errors = known_errors()
    rows = [
        said(errors[name], 0, 3, until=600, text=prefix_ + errors[name].sample, line=at_line)
        for name, prefix_, at_line in (("database-link-failed", "", 11), ("os-unreachable", prefix, line))
    ]
    result = RULE["network-partition"].detect(facts(LOG, *rows))
    assert bool(result.findings) is is_other
    assert (result.rejected is None) is is_other
    assert found("dependency-down", LOG, *rows)


@pytest.mark.parametrize(
    ("rows", "partitions"),
    [
        ("10:00 g orders 0 900 1000\n10:05 g orders 0 100 1000", 1),
        ("10:00 g orders 0 900 1000\n10:05 g orders 0 950 1000", 0),
        ("10:00 g orders 0 900 1000\n10:05 g orders 0 0 10", 0),
        ("10:00 g orders 0 900 1000\n10:05 h orders 0 100 1000", 0),
    ],
    ids=["set back", "moves on", "its log was created anew", "another group"],
)
def test_a_committed_offset_that_went_back_leaves_open_whether_somebody_set_it(rows, partitions):
    result = RULE["manual-offset-change"].detect(facts(LOG, positions(f"at group topic queue committed end\n{rows}")))
    seen = say("set-back", groups=["g"], partitions=partitions) if partitions else None
    assert (result.seen, bool(result.missing), bool(result.evidence)) == (seen, partitions > 0, partitions > 0)


@pytest.mark.parametrize(("timed_out", "cause"), [(True, 1), (False, 0)])
def test_a_transaction_that_timed_out_tells_why_its_producer_is_fenced(timed_out, cause):
    fenced, late = (known_errors()[name] for name in ("kafka-producer-fenced", "kafka-transaction-timed-out"))
    rows = [said(late, 900, source="logs/server.log")] if timed_out else []
    one = found("coordinator-unavailable", LOG, *rows, again(fenced, 910, 30))
    assert told(one.statement)["cause"] == fenced.causes[cause]
