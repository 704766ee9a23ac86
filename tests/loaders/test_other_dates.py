"""Moments that only a few programs write."""

import pytest

from mqlab.loaders import layouts

LINES = (
    ("22.11.2026 06:43:08: Client trolley-055 disconnected.", "2026-11-22 06:43:08", None),
    ("22.11.2026 06:43:08,250: Client a disconnected 2020-01-01 00:00:00Z.", "2026-11-22 06:43:08.25", None),
    ("2026/11/22 06:53:49: biller-a 1 $share/bill/toll/#", "2026-11-22 06:53:49", None),
    ("2026-11-22T06:53:49+0000: biller-a 1 toll/#", "2026-11-22 06:53:49", 0),
    ("Nov 22, 2026 7:21:50 AM lab.Device connectionLost", "2026-11-22 07:21:50", None),
    ("Nov 2, 2026, 12:21:50\u202fAM lab.Device connectionLost", "2026-11-02 00:21:50", None),
    ("Dec 22, 2026 12:21:50 PM lab.Device connectionLost", "2026-12-22 12:21:50", None),
    ("1795330392.917 INFO connected rc=Success", "2026-11-22 06:53:12.917", 0),
    ("1795330392.917348902 INFO connected rc=Success", "2026-11-22 06:53:12.917", 0),
    ("22/11/2026 06:43:08: Client trolley-055 disconnected.", None, None),
    ("99.99.2026 06:43:08: Client trolley-055 disconnected.", None, None),
    ("Nix 22, 2026 7:21:50 AM lab.Device connectionLost", None, None),
)


@pytest.mark.parametrize(("line", "wall", "offset"), LINES)
def test_moment_and_zone_of_a_line(spark, line, wall, offset):
    told = spark.createDataFrame([(line,)], "line string")
    row = told.selectExpr(f"CAST({layouts.wall('line')} AS STRING) AS wall", f"{layouts.offset('line')} AS offset")
    assert tuple(row.first()) == (wall, offset)


def test_the_minute_is_the_moment_s(spark):
    lines = [(line,) for line, wall, _ in LINES if wall]
    found = spark.createDataFrame(lines, "line string").selectExpr(f"{layouts.minute('line')} AS minute").collect()
    assert [row.minute for row in found] == [wall[:16] for _, wall, _ in LINES if wall]
