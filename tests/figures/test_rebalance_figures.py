"""Lanes of members, polls against the interval, lag and costs as drawn data."""

import pytest
from facts_builder import at
from rebalance_builder import GROUP, a_loop, life, points, poll, rebalance, view

from mqlab.figures.kafka_group import (
    REBALANCES,
    lane_bars,
    partition_lag,
    partition_lines,
    rebalance_words,
    repeats,
    swim_lanes,
)
from mqlab.figures.polls import lengths, limits, poll_times, ticks
from mqlab.figures.style import Bar, figure_table
from mqlab.kafka.rows import End


def names(chart):
    return [trace.name for trace in chart.data if trace.showlegend is not False]


def bands(chart):
    return [(shape.x0[11:], shape.x1[11:]) for shape in chart.layout.shapes if shape.type == "rect"]


def test_a_life_is_a_bar_in_the_lane_of_its_member():
    shown = view(
        life("a", None, 60, "poll timeout", reason="consumer poll timeout has expired."), life("a", 90, 200, number=2),
        life("b", 10, None, "open", host="10.0.0.2"),
    )  # fmt: skip
    assert lane_bars(shown) == (
        Bar("a   10.0.0.1", End.POLL_TIMEOUT.value, at(10), at(60),
            "before the material begins to 10:01:00, poll timeout: consumer poll timeout has expired."),
        Bar("a   10.0.0.1", End.LEFT.value, at(90), at(200), "10:01:30 to 10:03:20 (110 s), left"),
        Bar("b   10.0.0.2", End.OPEN.value, at(10), at(200), "10:00:10 to the end of the material, open"),
    )  # fmt: skip


def test_a_life_that_does_not_tell_its_host_shares_the_lane_of_its_client():
    lanes = {bar.lane for bar in lane_bars(view(life("a", 0, 9), life("a", 20, 29, number=2, host=None)))}
    assert lanes == {"a   10.0.0.1"}


def test_a_life_without_a_host_has_a_lane_of_its_own_where_its_client_was_on_two():
    lives = (life("a", 0, 9), life("a", 20, 29, number=2, host=None), life("a", 30, 39, number=3, host="10.0.0.2"))
    assert [bar.lane for bar in lane_bars(view(*lives))] == ["a", "a   10.0.0.1", "a   10.0.0.2"]


def test_of_very_many_members_those_that_fell_out_are_kept():
    crowd = [life(f"p{n:03}", 0, 100) for n in range(90)]
    lanes = {bar.lane for bar in lane_bars(view(*crowd, life("z", 0, 50, "expired")))}
    assert len(lanes) == 40
    assert "z   10.0.0.1" in lanes


def test_each_way_to_end_has_a_legend_and_each_rebalance_a_band_with_its_generation():
    shown = view(life("a", 0, 60, "expired"), life("b", 0, None, "open"), rebalance(60, 7), rebalance(90, 8))
    chart = swim_lanes(shown)
    assert names(chart) == ["expelled: no heartbeat", "still a member when the material ends"]
    assert bands(chart) == [("10:01:00", "10:01:03"), ("10:01:30", "10:01:33")]
    assert [note.text for note in chart.layout.annotations] == ["7", "8"]


def test_a_rebalance_says_what_it_was():
    one = rebalance(60, 7, "join", "poll timeout", client="<b>", inferred=True)
    assert rebalance_words(one) == "10:01:00, generation 7: join (poll timeout), <b> (inferred)"
    assert rebalance_words(rebalance(60, None, "poll timeout", "poll timeout")) == "10:01:00: poll timeout, a"
    told = figure_table(swim_lanes(view(one)).to_plotly_json()).rows
    assert told[0][2:] == (REBALANCES, "10:01:00, generation 7: join (poll timeout), <b> (inferred)")


def test_very_many_rebalances_are_thinned_and_not_numbered():
    chart = swim_lanes(view([rebalance(5 * n, n) for n in range(1000)]))
    assert len(chart.layout.shapes) == 250
    assert len(chart.layout.annotations) == 0


def test_a_group_without_members_and_rebalances_gets_a_sentence():
    assert "members of billing" in swim_lanes(view()).layout.annotations[0].text
    assert "of a Kafka group" in swim_lanes(view(group=None)).layout.annotations[0].text


def test_polls_are_in_time_or_too_late_by_the_interval_of_their_own_client():
    shown = view(poll(50, 500, 44.5), poll(60, 500, 44.5, client="b", allowed=60.0), poll(70, 50, 4.5, allowed=None))
    chart = poll_times(shown)
    assert names(chart) == [
        "in time", "too late", "max.poll.interval.ms: 15.0 s", "max.poll.interval.ms: 60.0 s",
    ]  # fmt: skip
    late = next(trace for trace in chart.data if trace.name == "too late")
    assert list(late.text) == ["10:00:50 a: 500 records in 44.5 s, clients/a.log:50"]


def test_the_distribution_counts_records_by_the_length_of_their_poll():
    shown = view(poll(50, 500, 44.5), poll(60, 100, 8.0, polls=20, longest=(24, 4.2)))
    found = lengths(shown)
    assert sum(records for _, records in found) == 600
    assert max(found, key=lambda step: step[1])[0] == pytest.approx(42.2, abs=0.1)
    assert [(round(low, 1), records) for low, records in found if 0 < records < 500] == [(0.2, 76), (3.2, 24)]


def test_an_interval_is_drawn_for_as_long_as_polls_show_it():
    shown = view(poll(50, 500, 40), poll(90, 500, 40), poll(200, 500, 40, allowed=60.0))
    assert limits(shown.phases) == [(at(10), at(90), 15.0), (at(160), at(200), 60.0)]


def test_an_interval_that_nothing_tells_is_said_to_be_unknown():
    chart = poll_times(view(poll(50, 500, 40, allowed=None)))
    assert chart.layout.annotations[-1].text == "max.poll.interval.ms is unknown"


def test_ticks_are_round_numbers_and_more_of_them_where_the_range_is_narrow():
    assert ticks(0.0015, 70) == (0.01, 0.1, 1, 10)
    assert ticks(4, 60) == (5, 10, 20, 50)


def test_without_lines_about_polls_a_sentence_says_so():
    assert "no application log" in poll_times(view()).layout.annotations[0].text


def test_lag_is_drawn_by_partition_the_highest_first_and_all_together():
    shown = view(points(0, "0/0", "10/20", "20/30"), points(1, "0/0", "0/50", "0/90"), rebalance(5, 3))
    chart = partition_lag(shown)
    assert names(chart) == ["invoices-1", "invoices-0", "all partitions"]
    assert list(chart.data[0].y) == [0, 50, 90]
    assert list(chart.data[-1].y) == [0, 60, 100]
    assert bands(chart) == [("10:00:05", "10:00:08")] * 2


def test_of_very_many_partitions_those_with_most_lag_are_drawn():
    found = partition_lines(view([points(n, f"0/{n}") for n in range(60)]))
    assert [name for name, _ in found[:2]] == ["invoices-59", "invoices-58"]
    assert len(found) == 40


def test_without_positions_a_sentence_says_that_no_lag_is_known():
    assert f"The lag of {GROUP}" in partition_lag(view()).layout.annotations[0].text


def test_costs_stand_at_their_rebalance():
    chart = repeats(view(rebalance(60, 7, repeated=500), rebalance(90, 8, standstill=None, repeated=0)))
    told = [row for row in figure_table(chart.to_plotly_json()).rows if row[3]]
    assert told == [
        ("group standstill", "2027-01-15 10:01:00", "3", "10:01:00, generation 7: join, a: 3.00 s"),
        ("duplicates", "2027-01-15 10:01:00", "500", "10:01:00, generation 7: join, a: 500 duplicates"),
    ]


def test_a_cost_that_no_rebalance_had_takes_no_room():
    chart = repeats(view(rebalance(60, 7, repeated=0)))
    assert {trace.name for trace in chart.data} == {"group standstill"}
    assert chart.layout.height == 192


def test_rebalances_without_costs_get_a_sentence():
    assert "is unknown" in repeats(view(rebalance(60, 7, standstill=None))).layout.annotations[0].text


@pytest.mark.parametrize("draw", [swim_lanes, poll_times, partition_lag, repeats])
def test_the_same_rows_give_the_same_picture(draw):
    assert draw(a_loop()).to_json() == draw(a_loop()).to_json()
