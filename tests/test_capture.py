"""What people type: a capture's card, findings, lines, lag, figures and filters; tables that need Spark come last."""

import gc
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

import mqlab
from mqlab import card, tables
from mqlab.errors import UnknownFindingError, UnknownSourceError, UnknownUnitError

SAMPLES = Path(__file__).parents[1] / "data" / "samples"


@pytest.fixture(scope="module")
def capture(spark, tmp_path_factory):  # noqa: ARG001 - the session is there before it is asked for
    return mqlab.open_capture(SAMPLES / "kafka-rebalance-01", workspace=str(tmp_path_factory.mktemp("workspace")))


def test_its_text_is_a_card_of_a_few_lines(capture):
    first, said, finding, *rest = repr(capture).splitlines()

    assert first == "poll-interval-exceeded, proven"
    assert said.strip() == capture.diagnosis.verdict.statement
    assert finding.strip().startswith("F1  poll-interval-exceeded · critical · proven · ")
    assert rest[-1].strip().startswith("events ")
    assert len(repr(capture)) < 2_000


def test_the_card_of_a_notebook_escapes_the_material(capture):
    hostile = "<script>alert(1)</script>"
    finding = replace(capture.findings[0], subject=hostile)
    verdict = replace(capture.diagnosis.verdict, statement=hostile)
    page = card.html(replace(capture.diagnosis, findings=(finding,), verdict=verdict), {})

    assert "<script" not in page
    assert page.count("&lt;script&gt;alert(1)&lt;/script&gt;") == 2
    assert "capture.plot.timeline()" in page


def test_shows_what_proves_a_finding_by_number_class_or_id(capture):
    told = capture.show("F1", lines=1)

    assert told == capture.show("poll-interval-exceeded", lines=1) == capture.show(capture.findings[0].id, lines=1)
    assert repr(told) == told
    assert capture.findings[0].statement in told


def test_an_unknown_finding_or_source_is_named_with_those_that_there_are(capture):
    with pytest.raises(UnknownFindingError, match=r"There is no finding 'F99'. Known: poll-interval-exceeded"):
        capture.show("F99")
    with pytest.raises(UnknownSourceError, match=r"'nowhere/server.log' does not name exactly one source"):
        capture.lines("nowhere/server.log", 1)


def test_shows_raw_lines_around_a_place(capture):
    place = next(one for one in capture.findings[0].evidence if one.line and not one.pointer)
    told = capture.lines(place.source, place.line, around=1).splitlines()

    (cited,) = [line for line in told if line.startswith("  > ")]
    assert cited.split(maxsplit=2)[1] == str(place.line)
    assert cited.split(maxsplit=2)[2].startswith(place.text[:80])


def test_lag_is_a_series_by_moment_of_one_partition_or_of_all(capture):
    group, topic = next((p.group, p.topic) for p in capture.facts.positions if p.group)
    whole, one = capture.lag(group, topic), capture.lag(group, topic, 0)

    assert isinstance(whole.index, pd.DatetimeIndex)
    assert str(whole.index.tz) == "UTC"
    assert whole.max() >= one.max() > 0
    assert capture.lag(group, "no such topic").empty


def test_lag_in_seconds_has_bounds_and_a_trend_and_no_value_where_the_samples_do_not_reach(capture):
    group, topic = next((p.group, p.topic) for p in capture.facts.positions if p.group)
    age, waiting = capture.lag(group, topic, unit="s"), capture.lag(group, topic)

    assert list(age.columns) == ["lag_s", "at_least_s", "at_most_s", "trend"]
    assert age.index.equals(waiting.index)
    assert (age["lag_s"].isna() == age["at_most_s"].isna()).all()
    known = age.dropna(subset="lag_s")
    assert ((known["at_least_s"] <= known["lag_s"]) & (known["lag_s"] <= known["at_most_s"])).all()
    assert (age.loc[waiting == 0, "lag_s"] == 0).all()
    assert age["lag_s"].isna().iloc[0]
    with pytest.raises(UnknownUnitError, match="'min' is not a unit of lag: use messages, or s for seconds"):
        capture.lag(group, topic, unit="min")


def test_moments_are_of_one_type_wherever_pandas_gets_them(capture):
    group, topic = next((p.group, p.topic) for p in capture.facts.positions if p.group)
    since, until = capture.diagnosis.material.window
    told = [
        capture.between(since, until)["at"].dtype,
        capture.between(0, 1)["at"].dtype,
        *(capture.lag(group, name, unit=unit).index.dtype for name in (topic, "none") for unit in ("messages", "s")),
    ]
    assert {str(one) for one in told} == {"datetime64[ns, UTC]"}


def test_a_part_of_it_is_diagnosed_anew(capture):
    since, until = capture.diagnosis.material.window
    before = capture.where(until=since + 1)

    assert before.findings == ()
    assert capture.where(since=since, until=until).findings == capture.findings
    assert capture.findings


@pytest.mark.parametrize("name", sorted(name for name in dir(mqlab.Capture) if name in {t.name for t in tables.TABLES}))
def test_every_table_is_an_attribute(capture, name):
    assert getattr(capture, name).schema == next(t for t in tables.TABLES if t.name == name).schema


def test_every_canonical_table_has_an_attribute_of_its_name():
    assert {table.name for table in tables.TABLES} <= set(dir(mqlab.Capture))


def test_a_part_keeps_what_was_read_in_the_workspace_when_the_whole_is_gone(tmp_path):
    part = mqlab.open_capture(SAMPLES / "kafka-amp-05", workspace=str(tmp_path)).where(since=0)
    gc.collect()
    assert [*tmp_path.glob("using-*")] != []
    del part
    gc.collect()
    assert [*tmp_path.glob("using-*")] == []


def test_tables_are_views_of_sql_and_their_sizes_are_known_without_it(capture):
    counted = capture.sql("select count(*) as n from events").collect()[0]["n"]

    assert counted == capture.sizes()["events"] > 0


def test_says_what_one_node_wrote_between_two_moments(capture):
    since, until = capture.diagnosis.material.window
    every = capture.between(since, until)
    node = every["node"].dropna().iloc[0]
    own = capture.between(since, until, node=node)

    assert list(every.columns) == ["at", "node", "kind", "text", "source", "line"]
    assert set(own["node"]) == {node}
    assert len(own) == (every["node"] == node).sum()


def test_every_figure_is_drawn_or_says_why_not(capture):
    figures = [name for name in dir(capture.plot) if not name.startswith("_") and callable(getattr(capture.plot, name))]

    assert len(figures) >= 18
    drawn = {name: getattr(capture.plot, name)().to_dict() for name in figures}
    assert [name for name, one in drawn.items() if not one["data"] and not one["layout"].get("annotations")] == []


def test_every_column_of_every_table_is_documented():
    assert (Path(__file__).parents[1] / "docs/tables.md").read_text() == tables.documented(), "run `make docs`"
