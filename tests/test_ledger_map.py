"""The map of ledgers: what the user says about a file wins, and errors in it are one sentence."""

import json

import pytest

from mqlab.errors import BadLedgerMapError
from mqlab.formats.registry import FORMATS
from mqlab.ledgers.layout import FIELDS
from mqlab.ledgers.mapping import NO_MAP, read_map
from mqlab.material.recognition import mapped, recognise


def read(tmp_path, text):
    file = tmp_path / "map.toml"
    file.write_text(text)
    return read_map(str(file))


def columns(layout):
    return {field: place for field, place in zip(FIELDS, layout["columns"], strict=True) if place is not None}


def test_without_a_map_nothing_is_known():
    assert read_map(None) == NO_MAP


def test_a_file_that_nobody_recognises_is_read_as_the_map_says(tmp_path):
    ledgers = read(
        tmp_path,
        '[[ledger]]\nfiles = "out/*.dat"\nrole = "acked"\ntopic = "orders"\nparty = "gate"\nseparator = "|"\n'
        "header = false\ntime = 3\nkey = 0\npartition = 1\noffset = 2\n",
    )
    text = b"17|0|33|2026-11-21 12:00:00.123\n"
    assert recognise(text, "a.dat", len(text), FORMATS).format != "ledger-mapped"
    known = mapped(text, "a.dat", len(text), ledgers.entry("bundle.tar.gz!/out/a.dat"))
    layout = json.loads(known.layout)
    assert known.format == "ledger-mapped"
    assert columns(layout) == {"time": "3", "key": "0", "queue": "1", "offset": "2"}
    assert {name: layout[name] for name in ("role", "told", "topic", "party", "separator")} == {
        "role": "acked", "told": "map", "topic": "orders", "party": "gate", "separator": "|",
    }  # fmt: skip


def test_columns_may_be_named_by_the_header(tmp_path):
    ledgers = read(tmp_path, '[[ledger]]\nfiles = "*"\nrole = "sent"\nkey = "Bestellung"\ntime = "wann"\n')
    text = b"wann;Bestellung;partition\n1795262756811;a;0\n"
    ledgers_separated = ledgers.entry("x")
    layout = json.loads(mapped(text.replace(b";", b","), "x", 50, ledgers_separated).layout)
    assert columns(layout)["key"] == "1"
    assert columns(layout)["time"] == "0"


def test_members_of_objects_may_be_named(tmp_path):
    ledgers = read(tmp_path, '[[ledger]]\nfiles = "*"\nrole = "sent"\nkey = "order.nr"\ntime = "ts"\n')
    layout = json.loads(mapped(b'{"ts": 1795262756811, "order": {"nr": 5}}\n', "x", 50, ledgers.entry("x")).layout)
    assert columns(layout) == {"time": "$['ts']", "key": "$['order']['nr']"}


def test_the_first_entry_that_fits_reads_a_file(tmp_path):
    ledgers = read(
        tmp_path,
        '[[ledger]]\nfiles = "a*.csv"\nrole = "sent"\n[[ledger]]\nfiles = "*.csv"\nrole = "acked"\n',
    )
    assert [ledgers.entry(path).role for path in ("x/a1.csv", "x/b.csv")] == ["sent", "acked"]
    assert ledgers.entry("x/b.log") is None


def test_another_content_is_another_version(tmp_path):
    first = read(tmp_path, '[[ledger]]\nfiles = "*"\nrole = "sent"\n').version
    assert first != read(tmp_path, '[[ledger]]\nfiles = "*"\nrole = "acked"\n').version


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[ledger]\n", "it is not valid TOML"),
        ("", "it has no [[ledger]]"),
        ("ledger = 5\n", "it has no [[ledger]]"),
        ('[[ledgers]]\nfiles = "*"\n', "unknown: 'ledgers'"),
        ('[[ledger]]\nrole = "sent"\n', "lacks files"),
        ('[[ledger]]\nfiles = "*"\nrole = "seen"\n', "has the role 'seen'; roles are sent, acked"),
        ('[[ledger]]\nfiles = "*"\nrole = "sent"\ncolour = 1\n', "has unknown keys 'colour'"),
        ('[[ledger]]\nfiles = 5\nrole = "sent"\n', "needs text for files"),
        ('[[ledger]]\nfiles = "*"\nrole = "sent"\nheader = "no"\n', "needs true or false for header"),
        ('[[ledger]]\nfiles = "*"\nrole = "sent"\nseparator = "--"\n', "needs one character for separator"),
        ('[[ledger]]\nfiles = "*"\nrole = "sent"\nkey = -1\n', "needs a name or a number from 0 for key"),
    ],
)
def test_an_error_in_the_map_is_told_in_a_sentence(tmp_path, text, said):
    with pytest.raises(BadLedgerMapError) as told:
        read(tmp_path, text)
    assert said in str(told.value)
    assert str(tmp_path / "map.toml") in str(told.value)
    assert told.value.exit_code == 64


def test_a_map_that_is_not_there_is_told(tmp_path):
    with pytest.raises(BadLedgerMapError, match="No such file"):
        read_map(str(tmp_path / "none.toml"))
