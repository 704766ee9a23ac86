"""Bars of membership as drawn data."""

from facts_builder import at, facts
from group_builder import broker_log, connected, listings
from report_example import diagnosis

from mqlab.figures.rocketmq_group import OWN, SHARED, membership, membership_bars
from mqlab.figures.style import figure_table
from mqlab.views.rocketmq_group import GroupView, group_view

JOINED = (
    connected(0, "A@9", "10.0.0.1:1"), connected(60, "A@9", "10.0.0.2:1"), connected(90, "B@9", "10.0.0.3:1"),
    connected(300, "A@9", "10.0.0.2:1", kind="consumer-disconnected"), broker_log(0, 400),
)  # fmt: skip


def bars(*rows):
    return membership_bars(group_view(facts(*rows), diagnosis()).stays)


def test_a_bar_is_marked_for_as_long_as_its_id_is_shared():
    assert [(b.lane, b.kind, b.since, b.until) for b in bars(*JOINED)] == [
        ("A@9   10.0.0.1", OWN, at(0), at(60)),
        ("A@9   10.0.0.1", SHARED, at(60), at(300)),
        ("A@9   10.0.0.1", OWN, at(300), at(400)),
        ("A@9   10.0.0.2", SHARED, at(60), at(300)),
        ("B@9   10.0.0.3", OWN, at(90), at(400)),
    ]


def test_both_kinds_and_the_moments_of_coming_are_drawn():
    chart = membership(group_view(facts(*JOINED), diagnosis()))
    assert [trace.name for trace in chart.data] == [OWN, SHARED, "start"]
    assert [text.strip() for text in chart.data[2].text] == ["10:00:00", "10:01:00", "10:01:30"]
    told = figure_table(chart.to_plotly_json()).rows
    assert told[0][2:] == ("A@9   10.0.0.1", "10:00:00 to 10:01:00 (60.0 s), 10.0.0.1:1")


def test_of_very_many_processes_those_that_share_an_id_are_kept():
    crowd = [f"P{n:03}@9 10.1.0.{n}:1" for n in range(90)]
    rows = {bar.lane for bar in bars(listings(0, 200, 20, *crowd, "Z@9 10.0.0.1:1", "Z@9 10.0.0.2:1"))}
    assert len(rows) == 60
    assert {"Z@9   10.0.0.1", "Z@9   10.0.0.2"} <= rows


def test_names_do_not_become_markup():
    chart = membership(group_view(facts(listings(0, 20, 20, "<b>@9 10.0.0.1:1")), diagnosis()))
    assert chart.data[0].y[0] == "&lt;b&gt;@9   10.0.0.1"


def test_without_anybody_a_sentence_stands_there():
    assert "members of billing" in membership(GroupView("billing")).layout.annotations[0].text
