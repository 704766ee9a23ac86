"""A process's memory, as a loop wrote it down."""

import pytest

from mqlab.loaders import LOADERS, process_csv
from mqlab.loaders.metric_names import canonical
from mqlab.recognition import recognise
from mqlab.tables import METRICS

RSS = """
utc,VmRSS_kB
2026-11-21T11:49:14.328Z,8660
2026-11-21T11:49:55.513Z,
2026-11-21T11:50:35.680Z,9000"""


def test_each_cell_is_a_sample_in_bytes(loaded):
    assert loaded(process_csv, METRICS, "line at name value", RSS) == [
        (2, "11:49:14", "process_resident_memory_bytes", 8660.0 * 1024),
        (4, "11:50:35", "process_resident_memory_bytes", 9000.0 * 1024),
    ]
    assert canonical("process_resident_memory_bytes") == "process.resident_bytes"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("timestamp,pid,rss_bytes\n1795261186,7,2048", 2048.0),
        ("time;RSS (MB);cpu\n2026-11-21 11:49:14;1.5;9", 1.5 * 1024 * 1024),
        ('"ts_ms","vmrss_kb"\n1795261186250,"2"', 2048.0),
        ("epoch\tresident_memory_bytes\n1795261186.5\t4096", 4096.0),
    ],
)
def test_other_columns_units_and_moments_are_read_alike(loaded, text, value):
    assert recognise(text.encode(), "rss.csv", len(text), LOADERS).format == "process-csv"
    assert loaded(process_csv, METRICS, "value", text) == [(value,)]


def test_rows_are_data_and_all_else_is_noise_or_not_understood(classes):
    assert classes(process_csv, RSS[1:] + "\n\nkilled") == ["noise", "data", "data", "data", "noise", None]


@pytest.mark.parametrize(
    "text", ["utc,VmRSS_kB\n", "utc,topic,bytes\n2026-11-21T11:49:14Z,a/b,9\n", "ts_ms,key\n1795261186250,rss_kb\n"]
)
def test_tables_of_something_else_are_not_recognised(text):
    assert recognise(text.encode(), "x.csv", len(text), LOADERS).format != "process-csv"
