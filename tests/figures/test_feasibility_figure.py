"""Where a group stood between records of a poll and time of a record, as drawn data."""

import pytest
from rebalance_builder import poll, view

from mqlab.figures.polls import feasibility, fits

PHASES = (poll(50, 500, 44.5), poll(150, 50, 4.45, most=50))


def test_the_line_of_the_interval_parts_what_is_in_time_from_what_is_late():
    chart = feasibility(view(*PHASES))
    line = next(trace for trace in chart.data if trace.name == "max.poll.interval.ms: 15.0 s")
    assert [x * y for x, y in zip(line.x, line.y, strict=True)] == pytest.approx([15, 15])
    free = next(trace for trace in chart.data if trace.name == "half of max.poll.interval.ms")
    assert [x * y for x, y in zip(free.x, free.y, strict=True)] == pytest.approx([7.5, 7.5])


def test_each_pair_of_settings_is_a_mark_that_says_whether_it_fits():
    chart = feasibility(view(*PHASES))
    marks = [(trace.name, trace.x[0], round(trace.y[0], 6), trace.marker.symbol[0]) for trace in chart.data[3:]]
    assert marks == [
        ("10:00:05 to 10:00:50: 500 records, 15.0 s", 500, 0.089, "x"),
        ("10:02:25 to 10:02:30: 50 records, 15.0 s", 50, 0.089, "circle"),
    ]


def test_a_setting_fits_if_a_full_poll_of_slow_records_does():
    slow, quick = view(poll(50, 100, 10.0), poll(99, 20, 4.0)).phases, view(*PHASES).phases
    assert [fits(phase) for phase in (*slow, *quick)] == [False, False, True]


def test_a_limit_of_records_that_is_none_is_the_most_that_a_poll_had():
    (phase,) = view(poll(50, 700, 5.0, most=2**31 - 1), poll(60, 300, 2.0, most=2**31 - 1)).phases
    assert phase.records == 700


@pytest.mark.parametrize("rows", [(), (poll(50, 500, 44.5, allowed=None),)], ids=["no polls", "no interval"])
def test_without_polls_or_interval_a_sentence_stands_there(rows):
    assert "is unknown" in feasibility(view(*rows)).layout.annotations[0].text


def test_records_that_a_log_gives_no_time_for_stand_a_hundred_times_below_the_slowest():
    chart = feasibility(view(poll(50, 100, 0.0), poll(60, 10, 1.0)))
    assert list(chart.data[-1].y) == [0.001, 0.1]
