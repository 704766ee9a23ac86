"""All incidents of a folder: which entries count, what comes back, how long it took; names and moments are made up."""

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner
from comparing_builder import AFTER, BEFORE, LATER, before, side
from facts_builder import at
from test_report import Page

from mqlab import capture
from mqlab.cli import commands
from mqlab.comparing import history, pages
from mqlab.comparing.history import Incident
from mqlab.errors import NothingReadableError
from mqlab.notes import IncidentNotes
from mqlab.units import moment
from mqlab.verbs.comparing import entries


def row(entry, since, until=None, incident="slow-consumer", places=("orders",), **more):
    """An incident at a time of the day."""
    lasted = at(until) if until else at(since) + 60
    return Incident(entry, incident, "late", "", at(since), lasted, "critical", "proven", "shop/orders", places, **more)


def test_a_capture_becomes_a_row_with_its_cost_and_the_times_that_people_noted():
    noted = IncidentNotes("Parcels late", *(moment(at(minute)) for minute in ("10:03", "10:05", "11:01")))
    told = history.incident("one", before(measures={"rebalances": 4}), noted)

    assert (told.title, told.severity, told.places, told.cost, told.besides) == (
        "Parcels late", "critical", ("shop",), ("4 rebalances",), ("It lasted 120 s",)
    )  # fmt: skip
    assert told.seconds == (("detect", 120.0), ("mitigate", 240.0), ("resolve", 3600.0))


def test_a_capture_without_an_incident_takes_no_time():
    told = history.incident("one", side(BEFORE), IncidentNotes(detected=moment(at("10:03"))))

    assert (told.incident, told.is_incident, told.seconds) == ("healthy", False, ())


def test_the_same_class_in_the_same_topic_at_another_time_is_a_repeat():
    told = history.history("team", [
        row("b", "12:00"), row("a", "10:00", "10:30"), row("a-gathered-twice", "10:05", "10:20"),
        row("elsewhere", "13:00", places=("parcels",)), row("another", "14:00", incident="consumer-offline"),
    ])  # fmt: skip

    assert [(r.incident, r.places, r.entries) for r in told.repeats] == [("slow-consumer", ("orders",), ("a", "b"))]


def test_medians_say_of_how_many_and_leave_out_what_was_noted_before_the_onset():
    told = history.history("team", [
        row("a", "10:00", detect=60.0, resolve=-5.0), row("b", "11:00", detect=180.0), row("c", "12:00", detect=120.0),
        history.unreadable("d", "it is empty"), row("e", "13:00"),
    ])  # fmt: skip

    assert history.times(told) == (
        "Time to detect: median 120 s, from 60.0 s to 3.00 min (n = 3 of 4 incidents).",
        "Left out, since incident.yml has an earlier time than the onset in the data: a.",
    )
    assert history.summary(told) == "5 entries: 4 with an incident, 1 that could not be read."


def test_the_table_the_page_and_the_document_hold_every_entry():
    told = history.history("team", [
        history.incident("one", before(), IncidentNotes()),
        history.incident("two", side(AFTER, **LATER), IncidentNotes()),
        replace(row("three", "12:00", detect=60.0), incident="poll-interval-exceeded", places=("shop",)),
        history.unreadable("<b>four</b>", "it is empty"),
    ])  # fmt: skip
    page = Page(pages.listed(told))
    screen = list(history.screen(told))

    assert [one["entry"] for one in json.loads(history.dumps(told))["incidents"]] == [
        "one",
        "two",
        "three",
        "<b>four</b>",
    ]
    assert page.headings.count(1) == 1
    assert max(map(len, screen)) <= 118
    assert [line for line in screen if "it is empty" in line]
    assert [len(series) for series in history.marks(told)[1]] == [2]


def test_an_entry_that_mqlab_fails_on_is_a_row_and_not_the_end(team, monkeypatch):
    def broken(*_, **__):
        raise RecursionError("too deep")

    monkeypatch.setattr(capture, "open_capture", broken)
    told = CliRunner().invoke(commands, ["history", str(team)])

    assert isinstance(told.exception, NothingReadableError)
    assert "2025/b: A bug in mqlab, please report it: RecursionError: too deep" in str(told.exception)


@pytest.fixture
def team(tmp_path):
    """A folder of a team: captures, archives, a shelf, and what is none of them."""
    for name in ("a/logs/x.log", "2025/b/incident.yml", "2025/c/x.log", "d/incident.yml", "d/e/incident.yml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("title: x")
    (tmp_path / "f.tar.gz").write_bytes(b"\x1f\x8b damaged")
    (tmp_path / "g.zip").write_bytes(b"PK\x03\x04")
    (tmp_path / "README.md").write_text("how to use it")
    (tmp_path / ".cache").mkdir()
    return tmp_path


def test_folders_and_archives_are_entries_and_a_shelf_holds_several(team):
    assert sorted(str(one.relative_to(team)) for one in entries(team)) == [
        "2025/b", "2025/c", "a", "d", "f.tar.gz", "g.zip"
    ]  # fmt: skip
