"""Heat map, memory and the table behind each figure as data."""

from dataclasses import replace

from report_example import facts, splits

from mqlab.facts import Facts
from mqlab.figures.style import figure_table, label, spoken
from mqlab.figures.traffic import heatmap, heatmap_points, memory, memory_points


def test_the_busiest_row_comes_first_and_no_split_is_lost():
    grid = heatmap_points(splits())

    assert grid.index.tolist() == [
        "mqtt-bridge plant-telemetry-1",
        "mqtt-bridge plant-telemetry-0",
        "mqtt-bridge plant-telemetry-2",
    ]
    assert (grid.sum().sum(), len(grid.columns)) == (586, 16)


def test_a_long_incident_gets_wider_columns():
    first = splits()[0]
    later = replace(first, first_at=first.first_at + 86_400, last_at=first.first_at + 86_400)

    assert len(heatmap_points((first, later)).columns) <= 420


def test_heap_is_set_against_the_splits_of_each_life():
    first, second, third = memory_points(facts(), "bridge-1")

    assert (first.points[-1][0], second.points[-1][0], third.points[-1][0]) == (293, 293, 0)
    assert [round(run.bytes_per_split / 1e6, 1) for run in (first, second)] == [1.7, 1.7]
    assert third.bytes_per_split is None
    assert third.exited_at is None


def test_nothing_to_draw_gives_a_sentence():
    for figure in (heatmap(Facts(), "batch-split"), memory(Facts()), memory(replace(facts(), episodes=()))):
        assert not figure.data
        assert figure.layout.annotations[0].text


def test_a_topic_named_like_mark_up_is_a_label():
    episode = replace(splits()[0], topic="<b>x</b>")

    assert list(heatmap(Facts(episodes=(episode,)), "batch-split").data[0].y) == ["mqtt-bridge &lt;b&gt;x&lt;/b&gt;-1"]
    assert label("a & <b>") == "a &amp; &lt;b&gt;"


def test_the_table_behind_a_figure_holds_its_points_as_plain_text():
    table = figure_table(heatmap(Facts(episodes=(replace(splits()[0], topic="<b>"),)), "batch-split").to_plotly_json())

    assert table.rows == (("events", "2026-11-21 12:20:40", "mqtt-bridge <b>-1", "34"),)
    assert table.header == ("series", "UTC", "y", "note")


def test_a_long_table_says_what_it_leaves_out():
    table = figure_table({"data": [{"name": "n", "x": list(range(500)), "y": list(range(500))}]})

    assert (len(table.rows), table.left_out) == (300, 200)


def test_what_is_spoken_counts_each_bar_once_and_spans_all_points_by_time():
    bars = {"x": ["10:05", "10:07", None, "10:01", "10:02", None], "y": ["b", "b", None, "a", "a", None]}
    ends = {"x": ["10:07", "10:02"], "y": ["b", "a"], "mode": "markers"}
    late = {"x": [f"{10 + n // 60}:{n % 60:02}" for n in range(400)], "y": list(range(400))}

    assert spoken({"data": [{"name": "lives", **bars}, {"name": "lives", **ends}]}) == (
        "lives: 2 marks from 10:01 to 10:07."
    )
    assert spoken({"data": [{"name": "lag", **late}]}) == "lag: from 10:00 to 16:39, highest 399 at 16:39."
    assert spoken({"data": [{"name": "exits", "x": ["10:00"], "y": ["a"]}]}) == "exits: 1 mark at 10:00."
    assert figure_table({"data": [{"name": "lives", **bars}]}).rows[0] == ("lives", "10:05 – 10:07", "b", "")
