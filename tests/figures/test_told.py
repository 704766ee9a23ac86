"""Figures and comparisons in the language that is spoken: whatever is ours is told as it is drawn."""

import re

import pytest
from comparing_builder import AFTER, LATER, before, side
from facts_builder import settings
from report_example import diagnosis, example

from mqlab.comparing import differences, pages
from mqlab.comparing.comparison import compare, tables
from mqlab.facts import Facts
from mqlab.figures.style import figure_table, spoken
from mqlab.figures.timeline import keys, timeline, told
from mqlab.languages import said, speak
from mqlab.plots import Plots

CHINESE = re.compile("[一-鿿]")
FIGURES = [name for name, one in vars(Plots).items() if callable(one) and not name.startswith("_")]


@pytest.fixture(autouse=True)
def chinese():
    speak("zh")
    yield
    speak("en")


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_of_nothing_says_why(name):
    shown = getattr(Plots(Facts(), diagnosis()), name)()
    assert shown.data or CHINESE.search(shown.layout.annotations[0].text)


def test_lanes_lines_marks_and_the_words_behind_a_timeline_are_told():
    chart = timeline(*example())
    names = [trace.name for trace in chart.data]
    assert names[:4] == ["bridge-1 出", "bridge-1 入", "积压 plant-report", "批次拆分"]
    assert "批次拆分" in chart.layout.yaxis3.categoryarray
    assert {said(one.words) for one in keys(chart)} >= {"bridge-1 出", "事件", "事故"}
    assert said(told(*example())).startswith("时间线，")


def test_a_figure_says_what_it_shows():
    shown = {"data": [{"name": "出", "x": [7, 2], "y": ["已发送", "丢失"]}], "layout": {}}
    assert [said(name) for name in figure_table(shown).header] == ["系列", "x", "y", "说明"]
    assert spoken(shown) == "出：已发送 7、丢失 2。"


def test_what_two_captures_say_of_each_other_is_told():
    compared = compare(before(), side(AFTER, **LATER))
    html = pages.compared(compared)
    assert "就 B 所示已修复" in html
    assert "A 显示 shop 的 poll-interval-exceeded；B 在 10.0 分钟内没有它" in html
    assert all(CHINESE.search(said(one.title)) for one in tables(compared))


def test_values_of_settings_stay_as_they_are_written():
    both = (settings(f"at owner key value\n10:00 group acks {value}") for value in ("all", "none"))
    row = differences.settings(*(side((own,)) for own in both))[0]
    assert [said(one) for one in (row.owners, row.key, row.a, row.b)] == ["group", "acks", "all", "none"]
