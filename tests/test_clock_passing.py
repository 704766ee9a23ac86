"""Clocks of ledgers that are wrong, told by the messages that they share with others."""

import pytest
from facts_builder import at, facts

from mqlab.clocks.offsets import Offset, skews
from mqlab.rows import Passage
from mqlab.verdict import diagnose


def passages(text):
    """Rows of publisher, receiver and seconds that the fastest message took."""
    rows = [row.split() for row in text.strip().splitlines()]
    return tuple(Passage(s, r, 100, float(least), float(least) + 1, float(least) + 5, at(0)) for s, r, least in rows)


def uneven(text):
    """The same, each with the median too."""
    rows = [row.split() for row in text.strip().splitlines()]
    return tuple(Passage(s, r, 100, float(least), float(median), 60.0, at(0)) for s, r, least, median in rows)


def found(text, *, good=(), hosts=()):
    told = skews(facts(passages(text)), [tuple(h.split()) for h in hosts], {tuple(h.split()) for h in good})
    return {skew.sources: skew.seconds for skew in told}


@pytest.mark.parametrize(
    ("text", "good", "expected"),
    [
        ("p a 90.1\np b 90.0", ["a", "b"], {("p",): -90.0}),
        ("p a -89.9\np b -90.0", ["a", "b"], {("p",): 89.9}),
        ("p a 0.1\np b -90.0", ["a"], {("b",): -90.0}),
        ("p a -90.0", ["a"], {("p",): 90.0}),
    ],
    ids=["publisher behind", "publisher ahead", "receiver behind", "before it was sent"],
)
def test_a_clock_is_off_where_all_that_it_shares_says_so(text, good, expected):
    assert found(text, good=good) == expected


@pytest.mark.parametrize(
    ("text", "good"),
    [
        ("p a 0.1\np b 90.0", ["a"]),
        ("p a 90.0", ["a"]),
        ("p a -90.0", []),
        ("p a 90.0\np b 40.0", ["a", "b"]),
        ("p a -1.2", ["a"]),
    ],
    ids=["a queue", "one receiver", "no third clock", "they differ", "within the error"],
)
def test_what_may_be_anything_else_is_left_as_it_is(text, good):
    assert found(text, good=good) == {}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("p a -14.4 0.03", {}),
        ("p a -14.4 0.03\np b -14.4 0.03", {}),
        ("p a -14.4 -14.3", {("p",): 14.4}),
        ("p a -14.4 -14.3\np b -14.4 45.0", {("p",): 14.4}),
    ],
    ids=["one message", "one message to two", "half of them", "one of two receivers was slow"],
)
def test_one_message_that_is_noted_wrongly_moves_no_clock(text, expected):
    assert {s.sources: s.seconds for s in skews(facts(uneven(text)), [], {("a",), ("b",)})} == expected


def test_ledgers_that_contradict_each_other_are_told_and_stay_as_they_are():
    assert diagnose(facts(uneven("p a -14.4 0.03"))).gaps == (
        "a notes a message 14.4 s before p sent it (median of 100 messages: 0.03 s); which clock is off is not "
        "known, and neither is corrected",
    )


def test_a_ledger_beside_a_log_shares_its_clock():
    assert found("p a 0.1\np b -90.0", good=["a"], hosts=["b b.log"]) == {("b", "b.log"): -90.0}


def test_it_is_told_in_words():
    assert Offset(("p",), -90.04, 1.0, 300).said == (
        "its clock is 90.0 s behind the clocks of the ledgers that note the same 300 messages (± 1.0 s): corrected"
    )
