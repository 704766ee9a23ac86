"""Which year or day a moment gets that was written without one."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from facts_builder import facts
from report_example import split_loop

from mqlab.assemble import assemble
from mqlab.assembly.rows import Gathered
from mqlab.clocks import zones
from mqlab.findings import Moment
from mqlab.precedence import as_seen
from mqlab.sources import Envelope, Reading, Source
from mqlab.units import moment
from mqlab.verdict import diagnose


def at(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


SPAN = (at("2026-12-31 20:00:00"), at("2027-01-01 06:00:00"))


@pytest.mark.parametrize(
    ("wall", "span", "modified", "expected"),
    [
        ("1972-12-31 23:59:50", SPAN, None, "2026-12-31 23:59:50"),
        ("1972-01-01 00:00:10", SPAN, None, "2027-01-01 00:00:10"),
        ("1972-12-30 10:00:00", SPAN, "2031-01-01 00:00:00", "2026-12-30 10:00:00"),
        ("1972-11-22 00:24:29", None, "2026-11-22 00:30:00", "2026-11-22 00:24:29"),
        ("1972-11-22 08:24:29", None, "2026-11-22 00:30:00", "2026-11-22 08:24:29"),
        ("1972-12-24 08:00:00", None, "2026-11-22 00:30:00", "2025-12-24 08:00:00"),
        ("1972-02-29 08:00:00", None, "2026-11-22 00:30:00", "2024-02-29 08:00:00"),
        ("1972-11-22 00:24:29", None, None, None),
    ],
    ids=[
        "before new year", "after it", "before all other material", "by the file", "in a zone ahead of the file's",
        "last year", "on a leap day", "nothing tells",
    ],
)  # fmt: skip
def test_the_year_is_that_of_the_material_or_else_of_the_file(wall, span, modified, expected):
    found = zones.placed(at(wall), span, modified and at(modified))
    assert found == (expected and at(expected))


def source(link, snapshot_at=None):
    return Source(
        "0" * 16, f"{link}.log", f"/x/{link}.log", "process-log", Reading.LOG, Envelope.SYSLOG, 9, at("2030-01-01"),
        snapshot_at=snapshot_at,
    )  # fmt: skip


def test_all_moments_of_such_a_log_are_moved_and_those_of_others_are_not():
    one, other = source("a"), source("b")
    micros = round(at("1972-11-22 00:24:29") * 1e6)
    dated = {"source": other.link, "first_second": "2026-11-22 00:00:00", "last_second": "2026-11-22 01:00:00"}
    rows = {
        "coverage": [
            {"source": one.link, "first_second": "1972-11-22 00:24:00", "last_second": "1972-13-22 00:25:00"},
            dated,
        ],
        "events": [{"source": one.link, "first_at": micros, "value_min": 3.0, "wall": None}],
        "log": [{"source": one.link, "minutes": [{"minute": "1972-11-22 00:24", "lines": 2}, {"minute": None}]}],
        "metrics": [],
    }
    moved = round(at("2026-11-22 00:24:29") * 1e6)
    found = zones.dated(rows, {s.link: s for s in (one, other)})
    assert found == {
        "coverage": [{"source": one.link, "first_second": "2026-11-22 00:24:00", "last_second": None}, dated],
        "events": [{"source": one.link, "first_at": moved, "value_min": 3.0, "wall": None}],
        "log": [{"source": one.link, "minutes": [{"minute": "2026-11-22 00:24", "lines": 2}, {"minute": None}]}],
        "metrics": [],
    }  # fmt: skip


def test_what_is_gathered_has_its_years():
    one, other = source("a"), source("b", snapshot_at=at("2026-11-22 00:00:00"))
    payload = (
        f'{{"source": "{one.link}", "first_second": "1972-11-22 00:24:00", "lines": 1, "bytes": 2, "class": "data"}}'
    )
    gathered = Gathered.of([("coverage", payload)], [one, other])
    assert (gathered.rows["coverage"][0]["first_second"], gathered.rows["events"]) == ("2026-11-22 00:24:00", [])


OTHER = replace(source("b"), key="1" * 16)
DATED = {
    "source": OTHER.link, "first_second": "2026-11-21 12:10:00", "last_second": "2026-11-21 12:30:00", "class": "data",
}  # fmt: skip
LONG = {**DATED, "first_second": "2026-11-18 12:10:00"}


def of_times(clock, *others):
    """Facts of a log that shows the time only, beside *others*."""
    one = source("a")
    micros = round(at(f"1976-07-01 {clock}") * 1e6)
    place = {"line": 1, "text": "x"}
    event = {"kind": "batch-split", "source": one.link, "count": 1, "first_at": micros, "last_at": micros,
             "first": place, "last": place}  # fmt: skip
    minute = f"1976-07-01 {clock[:5]}"
    own = {"source": one.link, "first_second": minute, "last_second": minute, "class": "data"}
    rows = [("coverage", {"lines": 1, "bytes": 2, **row}) for row in (own, *others)] + [("events", event)]
    return assemble(Gathered.of([(fact, json.dumps(row)) for fact, row in rows], [one, OTHER]))


@pytest.mark.parametrize(
    ("clock", "others", "expected"),
    [
        ("12:18:43", [DATED], "2026-11-21 12:18:43"),
        ("12:09:43", [DATED], None),
        ("23:18:43", [DATED], None),
        ("12:18:43", [LONG], None),
    ],
    ids=["within the rest", "before it", "at another time of day", "on any of several days"],
)
def test_a_time_without_a_date_is_of_the_day_of_the_rest_or_of_none(clock, others, expected):
    assert [e.first_at for e in of_times(clock, *others).episodes] == [expected and at(expected)]


def test_a_time_without_a_date_moves_no_window():
    assert [diagnose(of_times(clock, DATED)).material.window for clock in ("12:09:43", "12:18:43", "23:18:43")] == [
        (at("2026-11-21 12:10:00"), at("2026-11-21 12:30:00"))
    ] * 3


def test_material_without_any_date_has_times_of_day_only():
    told = diagnose(of_times("12:18:43"))
    assert (told.material.window, told.gaps) == ((None, None), ("a.log: date not in the log",))


def test_the_day_that_was_taken_for_a_log_without_dates_is_told_as_such():
    assert diagnose(of_times("12:18:43", DATED)).gaps == (
        "a.log: date not in the log; taken to be that of the rest of the material",
    )


def test_what_has_no_date_begins_at_a_time_of_day():
    found = replace(split_loop(), started_at=moment(at("1976-07-01 12:18:43")), ended_at=None)
    seen = as_seen(replace(found, facts={}), facts(), (None, None))
    assert (seen.started_at, seen.ended_at) == (None, None)
    assert seen.moments == (Moment(found.started_at, "began, date not in the log"),)
