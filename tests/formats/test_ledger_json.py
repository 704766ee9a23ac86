"""Ledgers of JSON objects."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqlab.formats import ledger_json as loader
from mqlab.formats.base import Head
from mqlab.tables import LEDGER

COLUMNS = "line at role party topic queue offset key"
FLAT = [
    f'{{"ts":{1795262756811 + n},"topic":"orders","partition":{n % 2},"offset":{n // 2},"key":"k{n}"}}'
    for n in range(6)
]
"""At 12:05:56 and later."""
FIRST = (1, "12:05:56", "received", "sink", "orders", "0", 0, "k0")


def test_members_are_found_by_their_names(loaded):
    rows = loaded(loader, LEDGER, COLUMNS, "\n".join(FLAT), "sink-received.json")
    assert (len(rows), rows[0]) == (6, FIRST)


def test_members_of_objects_within_count_too(loaded):
    lines = [
        json.dumps(
            {"at": f"2026-11-21T12:05:56.{n}Z", "record": {"topic": "orders", "partition": 0, "offset": n}, "id": n}
        )
        for n in range(3)
    ]
    rows = loaded(loader, LEDGER, COLUMNS, "\n".join(lines), "sink-received.json")
    assert rows == [(n + 1, "12:05:56", "received", "sink", "orders", "0", n, f"{n}") for n in range(3)]


@pytest.mark.parametrize(
    "odd", ["{", "[1]", "5", "null", "{'ts':1}", '{"ts":1} {"ts":2}', "wat", "[" * 99_999, '{"a":' * 99_999, "\x00"]
)
def test_odd_lines_are_not_understood_and_cost_no_other_line(loaded, classes, odd):
    text = "\n".join([*FLAT, odd, *FLAT])
    assert classes(loader, text) == [*["data"] * 6, None, *["data"] * 6]
    assert [row[0] for row in loaded(loader, LEDGER, "line", text)] == [*range(1, 7), *range(8, 14)]


def test_values_of_any_kind_are_text(loaded, classes):
    head = "\n".join(FLAT) + "\n"
    text = head + "\n".join((
        '{"ts":1795262756.5,"topic":true,"partition":7.0,"offset":"5","key":{"a":[1]}}',
        '{"ts":"1795262756811","topic":null,"partition":-1,"offset":-1,"key":12345678901234567890123}',
        '{"ts":"2026-11-21 12:05:56,811","topic":"t\\u00e9\\ud800","offset":99999999999999999999,"key":""}',
        '{"topic":"orders"}', "{}",
    ))  # fmt: skip
    rows = loaded(loader, LEDGER, "line at topic queue offset key", text)[6:]
    assert [row[:2] for row in rows] == [(n, "12:05:56") for n in (7, 8, 9)]
    assert [row[2:] for row in rows[:2]] == [
        ("true", rows[0][3], 5, '{"a":[1]}'), (None, "-1", None, "12345678901234567890123"),
    ]  # fmt: skip
    assert rows[2][2][:2] == "té"
    assert rows[2][3:] == (None, None, None)
    assert classes(loader, text) == ["data"] * 11


def test_nearly_all_lines_are_objects_about_messages():
    def known(lines, name="x.json"):
        text = "\n".join(lines) + "\n"
        return loader.recognise(Head(name, text, len(text)))

    assert known(FLAT)
    assert not known([*FLAT, "wat", "wat"])
    assert not known(['{"level":"info","msg":"x"}'] * 5)
    assert not known(["[" * 9999])
    assert not known([])


@given(st.lists(st.one_of(st.text(max_size=20), st.dictionaries(st.text(max_size=3), st.integers()).map(json.dumps))))
def test_any_lines_are_read(lines):
    text = "\n".join(["", *FLAT, *lines])
    loader.recognise(Head("x", text, len(text)))
    loader.layout(Head("x", text, len(text)))
