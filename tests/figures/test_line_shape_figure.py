"""Bytes per minute by shape of line, as drawn data."""

from dataclasses import replace

from facts_builder import at
from volume_builder import shape, volume

from mqlab.facts import Facts
from mqlab.figures.line_shapes import line_shape_points, line_shapes, log_of
from mqlab.figures.style import figure_table
from mqlab.findings import Certainty, Finding, Severity
from mqlab.shared.wording import instant

LOG = volume(
    shape("publish failed <b>#</b>", [(2, 4, 4_000_000)], level="ERROR"), shape("got #", [(0, 4, 1_000)]),
    rest=[(0, 4, 2_000)],
)  # fmt: skip
FINDING = Finding(
    "log-explosion:app.log", "log-explosion", Severity.WARNING, Certainty.PROVEN, "app.log", instant(at("10:02:12")),
    None, True, "",
)  # fmt: skip


def test_shapes_and_the_rest_add_up_to_the_log():
    _, bands = line_shape_points(LOG)
    assert [(name, [(t - at(0), n) for t, n in columns.items()]) for name, columns in bands.items()] == [
        ("publish failed <b>#</b>", [(120, 4_000_000), (180, 4_000_000)]),
        ("got #", [(0, 1_000), (60, 1_000), (120, 1_000), (180, 1_000)]),
        ("everything else", [(0, 2_000), (60, 2_000), (120, 2_000), (180, 2_000)]),
    ]
    assert sum(columns.total() for columns in bands.values()) == LOG.bytes


def test_a_long_log_is_drawn_in_longer_columns():
    seconds, bands = line_shape_points(volume(shape("a", [(0, 1_000, 2_000)])))
    assert (seconds, list(bands["a"].values())[:2], len(bands["a"])) == (180, [6_000, 6_000], 334)


def test_the_onset_is_marked_and_mark_up_is_shown_as_text():
    chart = line_shapes(Facts(volumes=(LOG,)), [FINDING])
    assert next(trace.name for trace in chart.data) == "publish failed &lt;b&gt;#&lt;/b&gt;"
    assert [a.text for a in chart.layout.annotations] == ["since 10:02:12"]
    assert figure_table(chart.to_plotly_json()).rows[0][0] == "publish failed <b>#</b>"


def test_the_log_of_the_finding_comes_before_the_largest():
    large = replace(LOG, source="large.log", undated_bytes=10**9)
    facts = Facts(volumes=(LOG, large))
    assert (log_of(facts, [FINDING]).source, log_of(facts, ()).source) == ("app.log", "large.log")


def test_nothing_to_draw_gives_a_sentence():
    blank = line_shapes(Facts(volumes=(volume(rest=[(0, 4, 2_000)]),)))
    assert not blank.data
    assert blank.layout.annotations[0].text.startswith("The material has no log of a megabyte")
