"""A process's memory, as a loop wrote it down."""

import pytest

from mqlab.formats import process_csv
from mqlab.formats.base import Head
from mqlab.formats.exporters import canonical, factor
from mqlab.tables import METRICS

RSS = """
utc,VmRSS_kB
2026-11-21T11:49:14.328Z,8660
2026-11-21T11:49:55.513Z,
2026-11-21T11:50:35.680Z,9000"""


def test_each_cell_is_a_sample_as_it_is_written(loaded):
    assert loaded(process_csv, METRICS, "line at name labels value", RSS) == [
        (2, "11:49:14", "process_resident_memory_kib", {}, 8660.0),
        (4, "11:50:35", "process_resident_memory_kib", {}, 9000.0),
    ]


@pytest.mark.parametrize(("unit", "bytes_"), [("bytes", 1.0), ("kib", 1024.0), ("mib", 2.0**20), ("gib", 2.0**30)])
def test_all_units_become_bytes(unit, bytes_):
    assert canonical(f"process_resident_memory_{unit}") == "process.resident_bytes"
    assert factor("process.resident_bytes", f"process_resident_memory_{unit}") == bytes_


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("timestamp,pid,rss_bytes\n1795261186,7,2048", ("11:39:46", "process_resident_memory_bytes", 2048.0)),
        ("time;RSS (MB);cpu\n2026-11-21 11:49:14;1.5;9", ("11:49:14", "process_resident_memory_mib", 1.5)),
        ('"ts_ms","vmrss_kb"\n1795261186250,"2"', ("11:39:46", "process_resident_memory_kib", 2.0)),
        ("epoch\tresident_memory_bytes\n1795261186.5\t4096", ("11:39:46", "process_resident_memory_bytes", 4096.0)),
    ],
)
def test_other_columns_units_and_moments_are_read_alike(loaded, text, value):
    assert process_csv.recognise(Head("rss.csv", text, len(text)))
    assert loaded(process_csv, METRICS, "at name value", text) == [value]


def test_a_decimal_comma_is_no_separator(loaded):
    text = "time;rss_mb;cpu\n2026-11-21 11:49:14;1,5;9"
    assert loaded(process_csv, METRICS, "name value", text) == []


def test_rows_are_data_and_all_else_is_noise_or_not_understood(classes):
    text = RSS[1:] + '\n\nkilled\n2026-11-21T11:49:55Z,"'
    assert classes(process_csv, text) == ["noise", "data", "data", "data", "noise", None, "data"]


@pytest.mark.parametrize(
    "text", ["utc,VmRSS_kB\n", "utc,topic,bytes\n2026-11-21T11:49:14Z,a/b,9\n", "ts_ms,key\n1795261186250,rss_kb\n"]
)
def test_tables_of_something_else_are_not_recognised(text):
    assert not process_csv.recognise(Head("x.csv", text, len(text)))
