"""Rows of ledgers that stand in two files count once, unless two processes wrote them."""

import pytest
from drawn_ledgers import rows

from mqlab.ledgers.layout import TELLING_ROWS, Holder
from mqlab.thinning import ledgers
from mqlab.thinning.overlaps import cut

ONE = {"a": Holder("w/consumed.csv", None), "b": Holder("w/consumed.csv", None)}
UNTOLD = {"a": Holder("x/consumed.csv", None), "b": Holder("y/consumed.csv", None)}
APART = {"a": Holder("a-consumed.csv", "a"), "b": Holder("b-consumed.csv", "b")}


def noted(source, numbers, step=1.001, role="consumed"):
    """What *source* notes: one record after the other, by its number."""
    told = {"source": source, "role": role, "topic": "orders", "queue": "0"}
    return [told | {"line": n + 2, "position": p, "key": f"k{p}", "at": 100 + step * p} for n, p in enumerate(numbers)]


def left(drawn, holders):
    """Positions by source that count, and for each source what is left out: where else it stands, lines, open."""
    kept, told = cut(rows(drawn), holders)
    by_source = {name: [] for name in holders}
    for source, position in kept.sort("source", "line").select("source", "position").rows():
        by_source[source].append(position)
    return by_source, {row["source"]: (row["other"], row["lines"], row["open"]) for row in told.to_dicts()}


def test_rows_of_one_rotated_ledger_count_once():
    drawn = noted("a", range(60)) + noted("b", range(40, 100))
    kept, told = left(drawn, ONE)
    assert kept == {"a": list(range(60)), "b": list(range(60, 100))}
    assert told == {"b": ("a", 20, False)}


def test_single_rows_of_one_ledger_that_are_equal_with_their_moment_count_once():
    assert left(noted("a", [1, 5, 9]) + noted("b", [7, 5, 2]), ONE)[1] == {"b": ("a", 1, False)}


def test_what_one_file_notes_twice_was_handled_twice():
    again = [1, 2, 2, 3]
    assert left(noted("a", again), {"a": ONE["a"]}) == ({"a": again}, {})
    assert left(noted("a", again) + noted("b", [2, 3, 4]), ONE)[0] == {"a": again, "b": [4]}
    assert left(noted("a", [2, 3, 4]) + noted("b", again), ONE)[0] == {"a": [2, 3, 4], "b": [1, 2]}


@pytest.mark.parametrize("change", [{"at": 3.5}, {"role": "processed"}, {"status": "error"}, {"group": "g2"}])
def test_rows_that_say_another_thing_or_moment_are_no_copies(change):
    other = [row | change for row in noted("b", [1])]
    assert left(noted("a", [1]) + other, ONE)[1] == {}


def test_records_of_dumps_without_a_moment_are_left_alone():
    drawn = [row | {"at": None, "role": "stored"} for name in "ab" for row in noted(name, [1, 2])]
    assert left(drawn, ONE)[1] == {}


@pytest.mark.parametrize(
    ("one", "other", "lines"),
    [
        (range(300), range(150, 400), 150),
        (range(300), range(300), 300),
        (range(300), range(120), 120),
        (range(300), range(20, 180), 160),
        (range(150, 400), range(300), 150),
    ],
    ids=["end and beginning", "whole", "beginning", "in the midst", "beginning and end"],
)
def test_a_part_that_two_files_have_in_common_counts_once(one, other, lines):
    kept, told = left(noted("a", one) + noted("b", other), UNTOLD)
    assert told == {"b": ("a", lines, False)}
    assert sorted(kept["a"] + kept["b"]) == sorted({*one, *other})


def test_a_line_that_was_cut_does_not_hide_that_the_rest_is_the_same():
    torn = noted("a", range(200))
    torn[-1]["position"] = 1
    assert left(torn + noted("b", range(50, 300)), UNTOLD)[1] == {"b": ("a", 149, False)}


def test_what_two_processes_noted_are_doubles():
    same = noted("a", range(300)) + noted("b", range(300))
    assert left(same, APART)[1] == {}
    midst = noted("a", range(300)) + noted("b", [*range(1000, 1050), *range(100, 250), *range(2000, 2050)])
    assert left(midst, UNTOLD)[1] == {}
    alone = noted("a", range(300)) + noted("b", [*range(1000, 1050), 30, 77, *range(2000, 2050)])
    assert left(alone, UNTOLD)[1] == {}


@pytest.mark.parametrize(
    ("other", "step", "again"),
    [
        (Holder("w/x-consumed-2.csv", "x2"), 1.001, 200),
        (Holder("w/x-consumed-2.csv", "x2"), 1.0, 0),
        (Holder("w/x-consumed-b.csv", "xb"), 1.001, 0),
        (Holder("v/x-consumed-2.csv", "x2"), 1.001, 0),
    ],
    ids=["numbered", "numbered, whole seconds", "named", "another folder"],
)
def test_a_number_behind_a_name_makes_no_party_where_the_rows_are_the_same(other, step, again):
    drawn = noted("a", range(200), step) + noted("b", range(300), step)
    told = left(drawn, {"a": Holder("w/x-consumed.csv", "x"), "b": other})[1]
    assert told == ({"b": ("a", again, False)} if again else {})


@pytest.mark.parametrize(
    ("numbers", "step"), [(range(TELLING_ROWS - 1), 1.001), (range(300), 1.0), ([4], 1.001)],
    ids=["few", "whole seconds", "one row"],
)  # fmt: skip
def test_what_cannot_be_told_counts_once_and_is_open(numbers, step):
    drawn = noted("a", [*numbers, 5000], step) + noted("b", numbers, step)
    assert left(drawn, UNTOLD)[1] == {"b": ("a", len(numbers), True)}


def test_a_file_that_stands_in_another_one_in_another_order_counts_once():
    drawn = noted("a", range(200)) + [row | {"line": 500 - row["line"]} for row in noted("b", range(150))]
    assert left(drawn, UNTOLD)[1] == {"b": ("a", 150, False)}
    assert left(drawn, APART)[1] == {}
    coarse = noted("a", range(200), 1.0) + [row | {"line": 500 - row["line"]} for row in noted("b", range(150), 1.0)]
    assert left(coarse, UNTOLD)[1] == {}


def test_what_a_sorted_copy_notes_more_often_was_handled_more_often():
    twice = [row | {"line": 2 * row["line"] + time} for row in noted("b", range(150)) for time in (0, 1)]
    kept, _ = left(noted("a", reversed(range(150))) + twice, UNTOLD)
    assert sorted(kept["a"] + kept["b"]) == sorted([*range(150)] * 2)


def test_the_same_comes_out_whatever_the_order_of_rows():
    drawn = noted("a", range(300)) + noted("b", range(150, 400)) + noted("c", range(100, 500))
    holders = {**UNTOLD, "c": Holder("z/consumed.csv", None)}
    assert left(drawn, holders) == left(drawn[::-1], holders)
    assert left(drawn, holders)[1] == {"b": ("a", 150, False), "c": ("a", 300, False)}


def test_a_message_that_two_files_of_a_ledger_note_was_delivered_once():
    known = ledgers.Known(holders=ONE)
    found = ledgers.thinned(rows(noted("a", range(60)) + noted("b", range(40, 100))), known)
    assert found["deliveries"].select("sources", "messages").group_by("sources").sum().sort("sources").rows() == [
        (["a"], 60),
        (["b"], 40),
    ]
    assert found["overlaps"].rows() == [("b", "a", 20, False)]
