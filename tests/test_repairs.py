"""Advice that was followed already is told as such."""

from dataclasses import replace

import pytest
from facts_builder import at, episode, facts

from mqlab.changes import changes
from mqlab.findings import Certainty, Change, Severity, finding
from mqlab.repairs import after_its_end, its_topic, repairs, with_repairs
from mqlab.words import room

FOUND = finding(
    "poll-interval-exceeded",
    "billing",
    Certainty.PROVEN,
    (at("10:00:00"), at("10:05:00")),
    statement="late polls",
    measures={},
    evidence=(),
    verify="see",
    mitigate="Restart.",
    remedy="max.poll.records ≤ 85.",
    ongoing=True,
    facts={"members": "c-1, c-2"},
)


def change(when, what="consumer c-1 max.poll.records", before="400", after="60"):
    return Change(at(when), what, before, after, ())


def told(*happened):
    """(open, what to do now, the fix) of the finding after these changes."""
    found = with_repairs(FOUND, happened, at("10:09:00"))
    return found.ongoing, found.mitigate, found.remedy


UNCHANGED = (True, "Restart.", "max.poll.records ≤ 85.")


def test_a_repair_after_which_nothing_was_seen_is_told_instead_of_advised():
    assert told(change("10:06:00")) == (
        False,
        "Changed already: consumer c-1 max.poll.records 400 → 60 (10:06:00). It was not seen after that, up to "
        "10:09:00. Verify before you change more.",
        "max.poll.records ≤ 85.",
    )


def test_a_repair_after_which_it_was_seen_leaves_the_advice():
    assert told(change("10:04:00")) == (
        True,
        "Changed already: consumer c-1 max.poll.records 400 → 60 (10:04:00). It was seen after that, last at "
        "10:05:00. Restart.",
        "max.poll.records ≤ 85.",
    )


def test_changes_before_the_onset_of_others_or_of_other_settings_are_no_repair():
    others = "consumer c-9 max.poll.records", "consumer c-1 max.poll.records.x", "consumer c-1 fetch.max.bytes"
    assert told(change("09:59:00"), *(change("10:06:00", what) for what in others)) == UNCHANGED


def test_a_change_that_was_taken_back_is_no_repair():
    assert told(change("10:03:00"), change("10:06:00", before="60", after="400")) == UNCHANGED


def test_of_several_changes_of_one_setting_the_last_one_counts():
    last = change("10:07:00", before="60", after="80")
    assert repairs(FOUND, [change("10:06:00"), last]) == [last]


def test_without_a_known_end_nothing_is_said_of_what_came_after_a_repair():
    found = with_repairs(replace(FOUND, ended_at=None), [change("10:06:00")], at("10:09:00"))
    assert (found.ongoing, found.mitigate) == (
        True,
        "Changed already: consumer c-1 max.poll.records 400 → 60 (10:06:00). Restart.",
    )


def test_settings_of_a_topic_that_was_not_seen_before_are_no_change():
    made = episode("topic-config-changed", 300, "server.log", topic="orders", reason="retention.ms -> 40000")
    seen = episode("leader-changed", 200, "server.log", topic="orders")
    assert [[c.what for c in changes(facts(*rows))] for rows in ((made,), (made, seen))] == [
        [],
        ["topic orders retention.ms"],
    ]


def ended(incident="retry-amplification", **more):
    """What to do now of one that has ended."""
    one = finding(incident, "app", Certainty.PROVEN, (at("10:00:00"), at("10:05:00")), measures={"retry_lines": 9},
                  slots={"reasons": ["x"], "timed_out": True}, evidence=(), **more)  # fmt: skip
    return after_its_end(one), one


def test_what_has_ended_needs_nothing_at_once_and_its_advice_is_for_the_next_time():
    told_now, before = ended()
    assert told_now.mitigate == f"It has ended. To be ready for the next time: {before.mitigate}"


@pytest.mark.parametrize(
    "change",
    [
        {"ongoing": True},
        {"over": False},
        {"ended_at": None},
        {"severity": Severity.NOTICE},
        {"mitigate": "None needed."},
    ],
    ids=["goes on", "last seen", "no end", "a notice", "words of another place"],
)
def test_what_goes_on_or_was_only_last_seen_is_advised_as_before(change):
    _, before = ended()
    other = replace(before, **change)
    assert after_its_end(other) is other


def test_a_class_that_says_itself_what_to_do_after_its_end_says_that():
    slots = {"kind": "partition", "group": "g", "topic": "t", "ongoing": False}
    numbers = {"peak_lag": 9, "consumed_per_second": 1, "produced_per_second": 2}
    span = (at("10:00:00"), at("10:05:00"))
    one = finding("slow-consumer", "g/t", Certainty.PROVEN, span, measures=numbers, slots=slots, evidence=())
    assert after_its_end(one) is one


BIG = replace(FOUND, incident="oversize-record-rejected", subject="till", remedy="Raise max.message.bytes.", facts={})
LOWERED, RAISED = ("10:00:00", "topic orders max.message.bytes", "9", "5"), (
    "10:06:00", "topic orders max.message.bytes", "5", "9",
)  # fmt: skip


def test_a_limit_that_was_lowered_and_is_back_is_not_advised_again():
    def fix(*happened):
        return with_repairs(BIG, [change(*one) for one in happened], at("10:09:00")).remedy

    taken_back = "Find out who changed it and why: it was taken back."
    assert fix(LOWERED, RAISED) == taken_back
    assert fix(LOWERED, (*RAISED[:3], room("changes")("default"))) == taken_back
    assert fix((*RAISED[:3], room("changes")("default"))) == "Raise max.message.bytes."
    assert fix(RAISED) == "Raise max.message.bytes."
    assert fix(LOWERED, (*RAISED[:3], "7")) == "Raise max.message.bytes."


def test_a_topic_that_no_line_names_is_the_only_one_whose_setting_the_advice_names_and_changed():
    other = ("10:06:00", "topic payments max.message.bytes", "5", "9")

    def topics(found, *happened):
        return its_topic(found, [change(*one) for one in happened])

    assert topics(BIG, LOWERED, RAISED) == ["orders"]
    assert topics(BIG, LOWERED, ("10:06:00", "topic payments retention.ms", "5", "9")) == ["orders"]
    assert topics(BIG, LOWERED, other) == []
    assert topics(replace(BIG, subject="till -> payments"), LOWERED) == []
