"""kafka-get-offsets and GetOffsetShell."""

from mqlab.formats import kafka_get_offsets as loader
from mqlab.formats.base import Head
from mqlab.tables import EVENTS, POSITIONS

TEXT = """
[2026-11-21 12:04:50,067] WARN [Consumer clientId=GetOffsetShell, groupId=null] Connection to node 2 (org.apache)
Error: partition 0 does not have a leader. Skip getting offsets
plant-telemetry:1:371
old.form:0:100,50,0
empty:0:
none:3:-1
Topic payments.events does not exist
what"""


def test_an_offset_is_the_end_unless_told_otherwise(loaded):
    columns = "line at group topic queue end start"
    assert loaded(loader, POSITIONS, columns, TEXT, snapshot_at="2026-11-21 12:05:00") == [
        (3, "12:05:00", None, "plant-telemetry", "1", 371, None),
        (4, "12:05:00", None, "old.form", "0", 100, None),
        (5, "12:05:00", None, "empty", "0", None, None),
        (6, "12:05:00", None, "none", "3", None, None),
    ]


def test_earliest_in_the_name_makes_it_the_start(loaded):
    assert loaded(loader, POSITIONS, "topic end start", "t:0:5", name="get-offsets-earliest.t.txt") == [("t", None, 5)]


def test_a_command_line_above_beats_the_name(loaded):
    text = """
$ kafka-run-class.sh kafka.tools.GetOffsetShell --topic t --time -2
t:0:5
$ kafka-get-offsets.sh --bootstrap-server b:9092 --topic t --time latest
t:0:9"""
    assert loaded(loader, POSITIONS, "line end start", text, name="earliest.txt") == [(2, None, 5), (4, 9, None)]


def test_errors_become_events(loaded):
    assert loaded(loader, EVENTS, "line kind reason", TEXT) == [
        (1, "tool-error", "WARN [Consumer clientId=GetOffsetShell, groupId=null] Connection to node 2 (org.apache)"),
        (2, "tool-error", "Error: partition 0 does not have a leader. Skip getting offsets"),
        (7, "tool-error", "Topic payments.events does not exist"),
    ]  # fmt: skip


def test_every_line_has_a_class(classes):
    assert classes(loader, TEXT) == ["data"] * 7 + [None]


def test_only_its_own_lines_are_recognised():
    assert loader.recognise(Head("x", "t-1:0:5\nt-1:1:6\n", 16))
    assert loader.recognise(Head("x", TEXT.split("plant")[0], 9999))
    assert not loader.recognise(Head("x", "10:00:00\n10:00:01\n", 18))
    assert not loader.recognise(Head("x", "[2024-10-24 10:00:00,000] WARN a (b)\n", 38))
    assert not loader.recognise(Head("x", "root:0:0\nsome prose here\nmore prose\n", 38))
