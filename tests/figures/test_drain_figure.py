"""The figure of a drain, as drawn data."""

from dataclasses import replace

import pytest
from facts_builder import at, facts, positions

from mqlab.figures.drain import DrainLines, drain, drain_lines
from mqlab.figures.style import figure_table
from mqlab.scenarios.drain import Request, answer

PLANNED = answer(
    Request(
        backlog=360_000, inflow=10, queues=4, instances=2, threads=1, response_time=0.02, capacity=1_000, load=490,
        step=300, oldest=7_200, retention=9_000,
    )
)  # fmt: skip


def test_forecast_and_ramp_begin_at_the_backlog_and_end_at_nothing():
    lines = drain_lines(PLANNED)

    assert lines.measured == ()
    assert lines.forecast == ((0, 360_000), (pytest.approx(4_000), pytest.approx(0, abs=1e-3)))
    assert lines.fastest[-1][0] < lines.forecast[-1][0] < lines.slowest[-1][0]
    assert [round(seconds) for seconds, _ in lines.ramp] == [0, 300, 600, 900, 2_345]
    assert lines.deleted_at == 1_800


def test_a_guard_far_away_is_not_drawn():
    far = replace(PLANNED.plan.retention, deletion_reaches_backlog_seconds=100_000)
    assert drain_lines(replace(PLANNED, plan=replace(PLANNED.plan, retention=far))).deleted_at is None


def test_without_a_moment_the_axis_counts_hours():
    chart = drain(PLANNED)
    assert [trace.name for trace in chart.data] == ["fastest", "range of the forecast", "forecast", "planned ramp"]
    assert chart.layout.xaxis.title.text == "hours after the rebalance"
    assert chart.data[2].x[0] == 0


def test_measured_snapshots_are_drawn_in_utc_and_names_do_not_become_markup():
    found = answer(
        Request(response_time=0.02, threads=1),
        facts(
            positions("""
                at        group  topic  queue  committed  end
                10:00:00  <b>g   T      b/0    0          10
                10:01:00  <b>g   T      b/0    0          70
            """)
        ),
    )
    chart = drain(found)

    assert drain_lines(found).measured == ((at("10:00"), 10), (at("10:01"), 70))
    assert chart.data[-1].name == "measured"
    assert chart.data[-1].x[0].endswith("T10:00:00")
    assert chart.layout.yaxis.title.text == "backlog of &lt;b&gt;g, messages"
    assert figure_table(chart.to_dict()).rows


def test_a_drain_that_nothing_tells_says_so():
    nothing = replace(PLANNED, forecast=None, plan=None)
    assert drain_lines(nothing) == DrainLines((), (), (), (), (), None)
    assert drain(nothing).layout.annotations[0].text == "The backlog is unknown, so its drain cannot be drawn."
