"""CSV that Grafana exports."""

import pytest

from mqlab.formats import grafana_csv as loader
from mqlab.formats.base import Head
from mqlab.tables import METRICS

WIDE = """
sep=,
\ufeff"Time","up{instance=""b:1"",job=""kafka""}","{device=""eth0""}",traffic out
1729764000000,1,,12.5
1729764005000,0,3,
oops"""


def test_each_filled_cell_of_joined_series_is_a_sample(loaded):
    name = "Network-data-2024-10-24 10_00_00.csv"
    assert loaded(loader, METRICS, "line at name labels value", WIDE, name=name) == [
        (3, "10:00:00", "up", {"instance": "b:1", "job": "kafka"}, 1.0),
        (3, "10:00:00", "traffic out", {}, 12.5),
        (4, "10:00:05", "up", {"instance": "b:1", "job": "kafka"}, 0.0),
        (4, "10:00:05", "Network", {"device": "eth0"}, 3.0),
    ]


def test_formatted_cells_lose_their_units(loaded):
    text = """
"Time","Value"
2024-10-24 10:00:00,1.02 MB/s
2024-10-24 10:00:05,12.3 K
2024-10-24 10:00:10,2 GiB
2024-10-24 10:00:15,250 ms
2024-10-24 10:00:20,"1,234"
2024-10-24 10:00:25,45%
2024-10-24 10:00:30,undefined"""
    assert loaded(loader, METRICS, "at name value", text, name="Bytes out.csv") == [
        ("10:00:00", "Bytes out", 1_020_000.0),
        ("10:00:05", "Bytes out", 12_300.0),
        ("10:00:10", "Bytes out", 2.0 * 2**30),
        ("10:00:15", "Bytes out", 0.25),
        ("10:00:20", "Bytes out", 1234.0),
        ("10:00:25", "Bytes out", 45.0),
    ]


def test_a_clock_without_seconds_is_a_moment(loaded):
    text = "Time,Value\n2024-10-24 10:05,1\n2024-10-24T18:05+08:00,2"
    assert loaded(loader, METRICS, "at name value", text, name="Lag.csv") == [
        ("10:05:00", "Lag", 1.0),
        ("10:05:00", "Lag", 2.0),
    ]


def test_the_old_export_has_one_sample_a_line(loaded):
    text = """
Series;Time;Value
"up{instance=""b:1"",job=""a;b""}";2024-10-24T18:00:00+08:00;1
lag;2024-10-24T18:00:05+08:00;null"""
    assert loaded(loader, METRICS, "line at name labels value", text) == [
        (2, "10:00:00", "up", {"instance": "b:1", "job": "a;b"}, 1.0)
    ]


def test_every_line_has_a_class(classes):
    assert classes(loader, WIDE) == ["noise", "noise", "data", "data", None]


def test_broken_rows_give_nothing(loaded, classes):
    text = '1729764000000,7\nTime,a\n1729764000000,"5\n1729764000000,1,2,3\n1729764000000,-\n1e999,1\n' + "\x00" * 9
    assert loaded(loader, METRICS, "line name value", text) == [(3, "a", 5.0), (4, "a", 1.0)]
    assert classes(loader, text) == ["data", "noise", "data", "data", "data", None, None]


@pytest.mark.parametrize(
    "text", [WIDE, "Time,Value\n1729764000000,5\n", "Series;Time;Value\na;2024-10-24T10:00:00Z;1\n"]
)
def test_exports_are_recognised(text):
    assert loader.recognise(Head("x.csv", text, len(text)))


@pytest.mark.parametrize("text", ["utc,VmRSS_kB\n2026-11-21T11:49:14.328Z,8660\n", "Time flies\n", "Time,Value\na,b\n"])
def test_other_csv_is_not_recognised(text):
    assert not loader.recognise(Head("x.csv", text, len(text)))
