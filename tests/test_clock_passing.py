"""Clocks of ledgers that are wrong, told by the messages that they share with others."""

import pytest
from facts_builder import at, facts

from mqlab.clocks.offsets import Offset, skews
from mqlab.rows import Passage


def passages(text):
    """Rows of publisher, receiver and seconds that the fastest message took."""
    rows = [row.split() for row in text.strip().splitlines()]
    return tuple(Passage(s, r, 100, float(least), float(least) + 1, float(least) + 5, at(0)) for s, r, least in rows)


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


def test_a_ledger_beside_a_log_shares_its_clock():
    assert found("p a 0.1\np b -90.0", good=["a"], hosts=["b b.log"]) == {("b", "b.log"): -90.0}


def test_it_is_told_in_words():
    assert Offset(("p",), -90.04, 1.0, 300).said == (
        "its clock is 90.0 s behind those of the ledgers that note the same 300 messages (± 1.0 s): corrected"
    )
