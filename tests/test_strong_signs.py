"""What lines tell by themselves where they come again and again, and what they do not."""

from __future__ import annotations

import pytest
from facts_builder import episode, facts, log

from mqlab import verdict
from mqlab.findings import Certainty, Result, Severity, finding
from mqlab.strong_signs import likely

SOURCE = "paste.txt"


def said(kind, *moments, form="kafka-client-log", **who):
    """Facts of a paste that says the same at each of these moments (None: no clock)."""
    lines = [episode(kind, at, SOURCE, line=n, **who) for n, at in enumerate(moments, 1)]
    return facts(*lines, log(SOURCE, form, lines=len(lines)))


def told(material):
    """(class, subject, certainty, severity) of all that is found."""
    found = verdict.diagnose(material).findings
    return [(f.incident, f.subject, f.certainty, f.severity) for f in found]


LATE = {"client_id": "scorer"}


def test_a_client_that_says_three_times_that_it_polled_too_late_did_so():
    material = said("poll-timeout", "10:00:00", "10:06:00", "10:13:00", **LATE)
    assert told(material) == [("poll-interval-exceeded", "scorer", Certainty.LIKELY, Severity.WARNING)]
    (one,) = verdict.diagnose(material).findings
    assert one.measures == {"events": 3, "lines": 3}
    assert one.statement.startswith("scorer: members that exceeded max.poll.interval.ms and left their group")
    assert [(place.source, place.line) for place in one.evidence] == [(SOURCE, 1), (SOURCE, 2), (SOURCE, 3)]


@pytest.mark.parametrize("moments", [["10:00:00"], ["10:00:00", "10:06:00"], ["10:00:00", "10:00:00.2", "10:00:00.4"]])
def test_one_or_two_events_are_a_hypothesis_however_many_lines_tell_of_one(moments):
    material = said("poll-timeout", *moments, **LATE)
    assert told(material) == []
    assert verdict.diagnose(material).verdict.hypotheses[0].incident == "poll-interval-exceeded"


def test_lines_without_a_clock_count_each():
    assert len(told(said("poll-timeout", None, None, None, **LATE))) == 1


def test_three_clients_that_say_it_once_each_are_no_loop_of_one():
    lines = [episode("poll-timeout", f"10:0{n}:00", SOURCE, line=n + 1, client_id=f"c{n}") for n in range(3)]
    assert told(facts(*lines, log(SOURCE, lines=3))) == []


@pytest.mark.parametrize(
    ("kind", "form", "who", "slug"),
    [
        ("static-member-fenced", "kafka-client-log", {"client_id": "a"}, "static-member-fenced"),
        ("session-queue-dropping", "mosquitto-log", {"client_id": "a", "system": "mqtt"}, "session-queue-drop"),
        ("not-in-group", "rocketmq-client-log", {"client_id": "a", "system": "rocketmq"}, "duplicate-client-id"),
        ("unclean-election", "kafka-broker-log", {"topic": "a"}, "unclean-election-loss"),
    ],
)
def test_the_other_signs_that_only_one_mechanism_prints(kind, form, who, slug):
    moments = ["10:00:00", "10:00:40", "10:01:20"]
    assert (slug, "a", Certainty.LIKELY, Severity.WARNING) in told(said(kind, *moments, form=form, **who))
    assert [one for one in told(said(kind, *moments[:1], form=form, **who)) if one[3] > Severity.NOTICE] == []


def test_a_client_that_is_told_three_times_that_its_session_was_taken_over_has_a_rival():
    lost = {"reason": "Session taken over", "system": "mqtt", "form": "mqtt-client-log", "client_id": "hub"}
    moments = ["10:00:00", "10:00:03", "10:00:06"]
    assert told(said("connection-lost", *moments, **lost))[0][:2] == ("client-id-takeover", "hub")
    plain = lost | {"reason": "EOF"}
    assert "client-id-takeover" not in [one[0] for one in told(said("connection-lost", *moments, **plain))]


def test_members_of_a_group_that_come_back_within_seconds_of_a_rebalance_are_no_shared_id():
    quick = ["10:00:00", "10:00:02", "10:00:05", "10:00:09"]
    assert told(said("not-in-group", *quick, form="rocketmq-client-log", client_id="a", system="rocketmq")) == []


def test_a_member_that_is_fenced_by_one_release_after_the_other_has_no_rival():
    assert told(said("static-member-fenced", "08:00:00", "11:00:00", "14:00:00", client_id="a")) == []


def test_what_its_rule_rejected_is_not_told_again():
    material = said("poll-timeout", "10:00:00", "10:06:00", "10:13:00", **LATE)
    assert [f.incident for f in likely(material, {})] == ["poll-interval-exceeded"]
    rejected = Result(rejected="every member closed its consumer first")
    assert list(likely(material, {"poll-interval-exceeded": rejected})) == []


def test_what_another_class_explains_is_no_sign_of_this_one():
    moments = ["10:00:00", "10:05:00", "10:10:00"]
    material = said("session-queue-dropping", *moments, form="mosquitto-log", client_id="a", system="mqtt")
    diverted = finding(
        "persistent-session-diversion", "a", Certainty.LIKELY, (None, None), statement="", measures={}, evidence=(),
        verify="",
    )  # fmt: skip
    assert list(likely(material, {"persistent-session-diversion": Result((diverted,))})) == []
