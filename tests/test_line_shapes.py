"""Shapes cut at different places are one; rotated files are one log."""

import pytest
from volume_builder import shape, volume

from mqlab.logs.floods import joined, logs, together
from mqlab.material.names import rotated_name

LONG = "publish failed topic=agents/node-#/report id=n-# attempt=#"


def test_a_shape_that_numbers_cut_short_is_the_same_shape():
    cut = [shape(LONG + end, [(0, 1, 1_000)], line=n) for n, end in enumerate((" er", " error", " e"), start=7)]
    (whole,) = together(cut)
    assert (whole.shape, whole.lines, whole.bytes, whole.first.line) == (LONG + " error", 15, 3_000, 7)


def test_short_shapes_and_other_levels_stay_apart():
    known = [shape("connected", [(0, 1, 1_000)]), shape("connected to #", [(0, 1, 1_000)])]
    known += [shape(LONG, [(0, 1, 1_000)]), shape(LONG, [(0, 1, 1_000)], level="ERROR")]
    assert len(together(known)) == 4


def test_the_loudest_shape_comes_first():
    steady, burst = shape("steady", [(0, 60, 1_000)]), shape("burst", [(30, 31, 5_000)])
    assert [s.shape for s in together([steady, burst])] == ["burst", "steady"]


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("logs/server.log", "logs/server.log"),
        ("logs/server.log.1", "logs/server.log"),
        ("logs/server.log.12.gz", "logs/server.log"),
        ("logs/server.log.2026-11-21-10", "logs/server.log"),
        ("app-2026-11-21.log", "app.log"),
        ("app.log-20261121", "app.log"),
        ("node-1.log", "node-1.log"),
        ("broker.0.log", "broker.0.log"),
        ("kafka-2/server.log", "kafka-2/server.log"),
    ],
)
def test_what_rotation_adds_to_a_name(source, name):
    assert rotated_name(source) == name


def test_a_rotated_file_continues_the_log():
    old = volume(shape("a", [(0, 10, 1_000)]), source="server.log.1")
    new = volume(shape("a", [(9, 20, 3_000)]), source="server.log", first=590)
    (files,) = logs([new, old])
    whole = joined(files)
    assert [v.source for v in files] == ["server.log.1", "server.log"]
    assert (whole.source, whole.bytes, len(whole.minutes), whole.first_at) == ("server.log", 43_000, 20, old.first_at)
    assert [(s.shape, s.bytes) for s in whole.shapes] == [("a", 43_000)]


def test_files_that_run_side_by_side_are_two_logs():
    same_time = [volume(shape("a", [(0, 10, 1_000)]), source=f"server.log{end}") for end in ("", ".1")]
    assert [tuple(v.source for v in files) for files in logs(same_time)] == [("server.log",), ("server.log.1",)]
