"""Patterns of the user's map: what they may hold, which lines they read, and how mistakes in them are told."""

import json
import re

import polars as pl
import pytest

from mqlab.errors import BadLedgerMapError
from mqlab.formats.registry import FORMATS
from mqlab.formats.values import rust
from mqlab.ledgers.mapping import read_map, shape, wrong
from mqlab.material.recognition import mapped_lines

DID = r"did (?P<key>\S+) from (?P<topic>[\w.-]+)/(?P<partition>\d+)/(?P<offset>\d+)"
LOG = b"".join(b"2026-11-22 07:00:0%d,123 INFO did A-%d from orders/0/%d\n" % (n, n, n) for n in range(5))


def read(tmp_path, *entries):
    file = tmp_path / "map.toml"
    file.write_text("".join(f"[[ledger]]\n{entry}\n" for entry in entries))
    return read_map(str(file))


def layout(ledgers, path, content=LOG):
    known = mapped_lines(content, path, len(content), ledgers.patterns(path), FORMATS)
    return known, json.loads(known.layout)


def test_a_pattern_reads_lines_of_a_log_that_stays_what_it_is(tmp_path):
    ledgers = read(tmp_path, f"files = 'worker-*.log'\nrole = 'processed'\ngroup = 'g'\npattern = '{DID}'")
    known, told = layout(ledgers, "worker-1.log")
    (line,) = told["lines"]
    assert (known.format, known.reading, told["party"], told["mqtt"]) == ("application-log", "L", "worker-1", False)
    assert line == {
        "pattern": r"did (\S+) from ([\w.-]+)/(\d+)/(\d+)",
        "groups": {"key": 1, "topic": 2, "queue": 3, "offset": 4},
        "role": "processed",
        "told": "map",
        "fixed": {"group": "g"},
    }


def test_a_file_that_nobody_takes_for_a_log_becomes_one(tmp_path):
    ledgers = read(tmp_path, f"files = '*'\nrole = 'processed'\npattern = '{DID}'")
    known, _ = layout(ledgers, "x.dat", b"did A-1 from orders/0/1\n")
    assert (known.format, known.reading) == ("application-log", "L")


def test_several_patterns_read_one_log(tmp_path):
    ledgers = read(
        tmp_path,
        "files = '*.log'\nrole = 'sent'\npattern = 'put (?P<key>[a-z]+)'",
        "files = 'a.log'\nrole = 'acked'\npattern = 'ok (?P<key>[a-z]+)'",
        "files = 'b.log'\nrole = 'acked'",
    )
    assert [entry.role for entry in ledgers.patterns("x/a.log")] == ["sent", "acked"]
    assert [entry.role for entry in ledgers.patterns("x/b.log")] == ["sent"]
    assert ledgers.patterns("x/b.txt") == ()


def test_the_first_entry_without_a_pattern_reads_a_table(tmp_path):
    ledgers = read(tmp_path, "files = '*'\nrole = 'acked'", "files = '*'\nrole = 'sent'\npattern = '(?P<key>.)'")
    assert ledgers.patterns("a.log") == ()


def test_levels_in_topics_tell_mqtt(tmp_path):
    ledgers = read(tmp_path, "files = '*'\nrole = 'sent'\npattern = 'pub (?P<topic>\\S+) (?P<key>\\S+)$'")
    content = b"2026-11-22 07:00:00 pub a/b 1\n2026-11-22 07:00:01 pub a/b 2\n"
    assert layout(ledgers, "a.log", content)[1]["mqtt"] is True
    assert layout(ledgers, "a.log", content.replace(b"a/b", b"ab"))[1]["mqtt"] is False


@pytest.mark.parametrize(
    ("pattern", "line", "groups"),
    [
        (DID, "well, did A-1 from orders/0/33 now", ["A-1", "orders", "0", "33"]),
        (r"^(?P<time>\d+) (?:x|y)? ?(?P<key>\w{1,20})$", "17 x k1", ["17", "k1"]),
        (r"(?i)acked \[(?P<place>[^\]]+)\] @ (?P<offset>\d+)", "Acked [orders-0] @ 5", ["orders-0", "5"]),
        (r"\{(?P<key>[a-z]{2,})\}", "got {abc}", ["abc"]),
        (r"key \\ (?P<key>\S+)", "key \\ 17ä", ["17ä"]),
    ],
)
def test_what_python_and_rust_read_alike_is_taken(pattern, line, groups):
    assert wrong(pattern) is None
    told = shape(pattern, "sent", {}).pattern
    assert list(re.search(told, line, re.ASCII).groups()) == groups
    assert list(pl.Series([line]).str.extract_groups(rust(told)).item().values()) == groups


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("(?P<key>", "has a pattern that is not a valid regex"),
        ("(?P<key>.)" * 2, "has a pattern that is not a valid regex"),
        ("(?P<colour>.)", "unknown groups 'colour'; known are time, topic, partition, offset, key"),
        ("acked (.*)", "needs a group for key in its pattern, or for partition and offset"),
        ("(?P<offset>.)", "needs a group for key"),
        ("(?=x)(?P<key>.)", "not every engine reads"),
        ("(?<!x)(?P<key>.)", "not every engine reads"),
        (r"(?P<key>.)\1", "not every engine reads"),
        ("(?P<key>.)(?P=key)", "not every engine reads"),
        ("(?>x)(?P<key>.)", "not every engine reads"),
        ("(?P<key>.++)", "not every engine reads"),
        ("(?P<key>[[a])", "not every engine reads"),
        ("(?P<key>[]a])", "not every engine reads"),
        ("(?P<key>[a&&b])", "not every engine reads"),
        ("{(?P<key>.)", "not every engine reads"),
        (r"(?P<key>.)\Z", "not every engine reads"),
    ],
)
def test_what_is_wrong_with_a_pattern_is_told(tmp_path, pattern, said):
    with pytest.raises(BadLedgerMapError) as told:
        read(tmp_path, f"files = '*'\nrole = 'sent'\npattern = '{pattern}'")
    assert "[[ledger]] number 1" in str(told.value)
    assert said in str(told.value)


def test_columns_do_not_stand_beside_a_pattern(tmp_path):
    with pytest.raises(BadLedgerMapError, match="and key, header besides"):
        read(tmp_path, "files = '*'\nrole = 'sent'\npattern = '(?P<key>.)'\nkey = 3\nheader = true")
