"""Ledgers of which only the user's map knows what they are."""

import json

import polars as pl

from mqlab.formats import ledger_mapped as loader
from mqlab.formats.base import About, Head
from mqlab.ledgers.mapping import Entry
from mqlab.tables import LEDGER


def read(text, **known):
    """Place, key and role of the rows of a file that an entry of the map is about, and kinds of its lines."""
    entry = Entry("*", "acked", **known)
    layout = loader.mapped(Head("out.dat", text, len(text)), entry)
    lines = [(n, line) for n, line in enumerate(text.split("\n"), 1) if line]
    frame = pl.DataFrame(lines, {"number": pl.Int64, "text": pl.String}, orient="row")
    block = loader.parse_block(frame, About("out.dat", None, layout))
    rows = block.rows[LEDGER].select("line", "role", "told", "topic", "queue", "offset", "key").rows()
    return rows, block.kinds.to_list()


def test_columns_are_numbers_from_0():
    columns = {"time": "3", "key": "0", "queue": "1", "offset": "2"}
    text = "id;p;o;at\n17;0;33;2026-11-21 12:00:00.123\n\nend"
    rows, kinds = read(text, columns=columns, separator=";", header=False, topic="orders")
    assert rows == [(2, "acked", "map", "orders", "0", 33, "17")]
    assert kinds == ["noise", "data", "noise"]


def test_columns_are_names_of_the_header_and_any_character_may_part_them():
    columns = {"time": "When", "key": "No", "queue": "p", "offset": "o"}
    for parted in "^.*-]&~ ":
        text = parted.join(["no", "p", "o", "when"]) + "\n" + parted.join(["17", "0", "33", "1795262756811"])
        rows, _ = read(text, columns=columns, separator=parted, header=True)
        assert rows == [(2, "acked", "map", None, "0", 33, "17")]


def test_objects_are_read_by_the_names_of_their_members():
    text = '{"a":{"when":1795262756811},"n":17,"o":33}\n{"n":1'
    rows, kinds = read(text, columns={"time": "a.when", "key": "N", "offset": "o", "queue": "nowhere"}, topic="t")
    assert rows == [(1, "acked", "map", "t", None, 33, "17")]
    assert kinds == ["data", "data"]


def test_no_file_is_recognised_and_without_the_map_there_are_no_rows(loaded):
    assert not loader.recognise(Head("x", "1,2", 3))
    assert json.loads(loader.layout(Head("x", "1,2", 3)))["columns"] == [None] * 17
    assert loaded(loader, LEDGER, "line", "1795262756811,2") == []
