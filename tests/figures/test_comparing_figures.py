"""Figures of two captures and of a team's incidents: what is drawn where."""

from dataclasses import replace

from facts_builder import at, episode, facts, positions, ramp, series
from report_example import diagnosis

from mqlab.figures.comparing import Mark, Strand, aligned, history


def strand(name, origin, *rows):
    return Strand(name, facts(*rows), diagnosis(), at(origin))


def test_both_are_drawn_in_minutes_from_their_onset():
    lag = positions("at group topic queue committed end\n10:02 shop orders 0 5 9\n10:03 shop orders 0 5 9")
    chart = aligned([
        strand("A", 60, episode("member-expired", 180), lag, series("mqtt.publish_received", ramp((3, 600)), step=60)),
        strand("B", 3600, episode("member-expired", 3540), series("mqtt.publish_received", ramp((3, 60)), start=3600)),
    ])  # fmt: skip
    drawn = {trace.name: list(trace.x) for trace in chart.data}

    assert drawn["members expelled · A"][0] == 2.0
    assert drawn["members expelled · B"][0] == -1.0
    assert drawn["A: inflow"] == [0.0, 1.0, 2.0]
    assert drawn["A: lag of shop"] == [1.0, 2.0]


def test_without_a_date_the_figure_says_so():
    bare = replace(diagnosis(), changes=(), findings=())
    chart = aligned([Strand(name, facts(), bare, 0.0) for name in "AB"])

    assert chart.layout.annotations[0].text == "Nothing in either capture has a time."


def test_classes_with_incidents_stand_on_top_and_repeats_are_joined():
    marks = [
        Mark(at(0), "healthy", "", "x"), Mark(at(9), "healthy", "", "y"),
        Mark(at(60), "slow-consumer", "critical", "a", (("detect", 90.0),)),
        Mark(at(90), "slow-consumer", "critical", "b"),
    ]  # fmt: skip
    chart = history(marks, [marks[2:]])
    drawn = {trace.name: trace for trace in chart.data}

    assert list(chart.layout.yaxis.categoryarray) == ["healthy", "slow-consumer"]
    assert drawn["the same cause twice"].mode == "lines"
    assert list(drawn["time to detect"].y) == [1.5]


def test_a_folder_without_dates_says_so():
    assert "has a date" in history([]).layout.annotations[0].text
