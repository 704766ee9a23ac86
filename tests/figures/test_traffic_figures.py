"""Traffic, ratio and ledger as drawn data."""

from dataclasses import replace

import pytest
from facts_builder import card, ramp
from report_example import T0, facts, ledger, split_loop

from mqlab.facts import Facts
from mqlab.figures.style import panels
from mqlab.figures.traffic import (
    change_points,
    draw_rates,
    ratio_points,
    traffic,
    traffic_of,
    waterfall,
    waterfall_points,
)


def test_a_change_lies_between_the_two_samples_around_it():
    sent = facts().named("host.transmit_bytes")[0]

    assert [(text, earliest - T0, latest - T0) for text, earliest, latest in change_points(sent, split_loop())] == [
        ("begins 12:20:44", 120, 130),
        ("ends 12:23:16", 270, 280),
    ]


def test_the_ratio_is_known_only_where_something_came_in():
    ratios = dict(ratio_points(traffic_of(facts(), "bridge-1")))

    assert round(ratios[T0 + 140], 1) == 73.8
    silent = replace(traffic_of(facts(), "bridge-1"), incoming=None)
    assert ratio_points(silent) == []


@pytest.mark.parametrize(("leaves", "marked"), [(ramp((9, 40_000)), True), (ramp((9, 4_000_000)), False)])
def test_rates_that_hardly_differ_have_marks_between_the_powers_of_ten(leaves, marked):
    moved = traffic_of(Facts(series=card("bridge-1", ramp((9, 20_000)), leaves)), "bridge-1")
    draw_rates(chart := panels(300, 1), moved, log=True)
    assert ("5 kB/s" in chart.layout.yaxis.ticktext) is marked


def test_each_bar_begins_where_the_one_before_ended():
    steps = waterfall_points(ledger())

    assert steps["begins"].round(1).tolist() == [0.0, 52.0, 748.2, 772.8]
    assert steps["rest"].tolist() == [False, False, False, True]
    assert steps.loc[1, ["below", "above", "words"]].tolist() == [6.2, 24.8, "696 MB · 91.3 %"]


def test_nothing_to_draw_gives_a_sentence():
    for figure in (traffic(Facts()), waterfall(None), waterfall(replace(ledger(), stages=()))):
        assert not figure.data
        assert figure.layout.annotations[0].text


def test_the_change_band_is_on_the_figure():
    found, calm = traffic(facts(), split_loop()), traffic(facts())

    assert [trace.name for trace in calm.data] == ["bridge-1 out", "bridge-1 in", "out / in"]
    assert [note.text for note in found.layout.annotations] == ["before: 2.07×", "begins 12:20:44", "ends 12:23:16"]
    assert len({shape.x0 for shape in found.layout.shapes if shape.type == "rect"}) == 2
    assert calm.layout.shapes == ()
