"""What nothing explains must not pass for health, and what every start prints must not pass for trouble."""

from dataclasses import replace

import pytest
from facts_builder import at, episode, facts, log, positions, ramp, series

from mqlab.facts import Shape
from mqlab.findings import Certainty, Finding, Severity
from mqlab.symptoms import unexplained
from mqlab.wording import moment

LOG = log("server.log", "kafka-broker-log")


def symptoms(*rows, findings=(), shapes=(), rejected=()):
    """What remains, without its clock."""
    left = unexplained(replace(facts(*rows), shapes=tuple(shapes)), findings, rejected)
    return [s.text.partition(" UTC: ")[2] for s in left]


def shape(level, text, start, end=None, lines=5, source="server.log"):
    """Lines of one shape."""
    return Shape(source, level, text, lines, 100, at(start), at(start if end is None else end), 7)


def finding(incident, start, end, certainty=Certainty.PROVEN, severity=Severity.NOTICE):
    """A finding about a span of time."""
    when = (None, None) if start is None else (moment(at(start)), moment(at(end)))
    return Finding(f"{incident}:x", incident, severity, certainty, "x", *when, False, "")


@pytest.mark.parametrize(
    "kind", ["out-of-memory", "member-expired", "commit-failed", "unclean-election", "session-timeout"]
)
def test_trouble_of_unknown_cause_is_a_symptom(kind):
    assert symptoms(episode(kind, 300)) == [f"{kind}, 1 time(s), first at clients/app.log:1"]


@pytest.mark.parametrize(("status", "count"), [(1, 1), (137, 1), (0, 0), (143, 0)])
def test_only_abnormal_exits_are_trouble(status, count):
    assert len(symptoms(episode("process-exit", 300, left=status))) == count


def test_a_new_error_is_a_symptom_and_one_at_start_up_is_not():
    assert symptoms(LOG, shapes=[shape("ERROR", "Disk full", 900)]) == [
        "new ERROR shape, 5 line(s), server.log:7  Disk full"
    ]
    assert symptoms(LOG, shapes=[shape("ERROR", "Not ready", 20)]) == []


def test_a_single_warning_is_no_symptom_and_ordinary_ones_never_are():
    single, ordinary = shape("WARN", "odd", 900, lines=1), shape("WARN", "LEADER_NOT_AVAILABLE", 900)
    assert symptoms(LOG, shapes=[single, ordinary, shape("INFO", "odd", 900)]) == []


def test_the_earliest_symptom_comes_first():
    late, early = shape("ERROR", "late", 950), shape("ERROR", "early", 900)
    assert [s.rsplit("  ")[-1] for s in symptoms(LOG, shapes=[late, early])] == ["early", "late"]


def test_findings_explain_lines_near_them_and_no_others():
    lead = finding("batch-split-loop", 880, 940, severity=Severity.CRITICAL)
    near, far = shape("ERROR", "near", 1000), shape("ERROR", "far", 1500)
    assert [s.rsplit("  ")[-1] for s in symptoms(LOG, shapes=[near, far], findings=[lead])] == ["far"]


def test_a_risk_in_settings_explains_nothing():
    risk = finding("batch-split-loop", None, None, Certainty.POSSIBLE)
    assert len(symptoms(LOG, shapes=[shape("ERROR", "Disk full", 900)], findings=[risk])) == 1


def test_more_readers_explain_no_error():
    assert len(symptoms(LOG, shapes=[shape("ERROR", "Disk full", 900)], findings=[finding("fan-out", 800, 1000)])) == 1


def test_clients_notice_an_orderly_restart():
    stop = episode("broker-stopping", 290, "server.log")
    retries = episode("produce-retry", 300, count=40, reason="NOT_LEADER_OR_FOLLOWER")
    assert symptoms(retries, stop) == []
    assert symptoms(retries) == ["produce-retry, 40 time(s), first at clients/app.log:1"]


def test_a_broker_that_starts_again_without_a_stop_is_a_symptom():
    twice = [episode("broker-started", n, "server.log", line=n) for n in (10, 400)]
    assert symptoms(*twice) == ["broker started again without an orderly stop, server.log:400"]
    assert symptoms(*twice, episode("broker-stopping", 390, "server.log")) == []


def test_splits_that_end_by_themselves_are_explained():
    split = episode("batch-split", 300)
    assert symptoms(split, rejected=["batch-split-loop"]) == []
    assert len(symptoms(split)) == 1


def test_counters_that_should_stand_still_are_symptoms_when_they_rise():
    rejected = series("broker.bytes_rejected", ramp((30, 0), (30, 100)))
    assert symptoms(rejected) == ["broker_bytes_rejected begins to rise, by 3,000 in all"]


def test_growing_lag_is_a_symptom_and_steady_lag_is_not():
    growing = positions(
        """
        at     group  topic   queue  committed  end
        10:00  a      orders  0      100        110
        10:10  a      orders  0      110        900
        10:20  a      orders  0      120        2000
        10:30  a      orders  0      130        4000
        """
    )
    steady = positions("at group topic queue committed end\n10:00 a t 0 1 500\n10:10 a t 0 2 501\n10:20 a t 0 3 502")
    assert symptoms(growing) == ["lag of a on orders grew from 10 to 3,870 messages"]
    assert symptoms(steady) == []
