"""In a notebook the material is as in a real incident, but nothing tells the verdict before the last answer."""

from pathlib import Path

import pytest
from exercise_builder import ANSWERS, answered, started, truth
from plain_reading import opened

from mqlab.capture import Capture, Options, Text
from mqlab.notes import IncidentNotes
from mqlab.training import forms
from mqlab.training.debrief import debrief
from mqlab.training.errors import LockedError, NothingArrivedError
from mqlab.training.practice import Practice, sealed
from mqlab.verdict import diagnose

SAMPLE = Path(__file__).parents[2] / "data" / "samples" / "mqtt-takeover-01"


@pytest.fixture(scope="module")
def capture(tmp_path_factory):
    """A capture with a finding, read without Spark; its tables cannot be asked."""
    scratch = tmp_path_factory.mktemp("scratch")
    facts = opened([SAMPLE], scratch)
    return Capture((str(SAMPLE),), facts, diagnose(facts), IncidentNotes(), Options(), (), scratch, None)


def test_findings_verdict_and_the_figure_that_names_a_class_are_locked(capture):
    locked = sealed(capture)

    assert capture.diagnosis.verdict.incident == "client-id-takeover"
    assert locked.diagnosis.verdict.incident == "locked"
    for asked in (lambda: locked.findings, lambda: locked.show("F1"), lambda: locked.plot.delivery()):
        with pytest.raises(LockedError, match="locked until you have answered"):
            asked()


def test_a_part_of_a_locked_capture_is_locked_too(capture):
    part = sealed(capture).where(until="2026-11-21T11:41:00Z")

    assert part.diagnosis.verdict.incident == "locked"
    with pytest.raises(LockedError):
        assert part.findings


def test_nothing_of_the_diagnosis_stands_in_what_a_locked_capture_shows(capture):
    diagnosis = sealed(capture).diagnosis

    assert (diagnosis.findings, diagnosis.rejected, diagnosis.clear, diagnosis.not_checked) == ((), (), (), ())
    assert "takeover" not in repr(diagnosis.verdict)


def test_without_a_front_end_a_question_is_text(tmp_path):
    attempt = started(tmp_path)
    attempt.answer("broker")

    assert forms.form(attempt, "starts_in").splitlines()[-1] == "a broker is not right. It answers. Two tries are left."
    assert forms.form(attempt, "who") == "This exercise has no question 'who': continue with the next one."


def test_where_time_is_rolled_back_nothing_is_there_at_first(tmp_path):
    practice = Practice(started(tmp_path, rolled_back=True), (tmp_path / "samples",))
    with pytest.raises(NothingArrivedError):
        assert practice.capture

    practice.desk.ask("server.log")
    assert (practice.attempt.material / "server.log").read_text().count("\n") == 3


def test_the_debrief_shows_answers_beside_what_is_right_and_escapes_both(tmp_path):
    told = debrief(answered(started(tmp_path, lesson={"text": "Mind <b>heartbeats</b>."})))
    page = told._repr_html_()

    assert str(told).startswith("Exercise 01: A shop that stutters: 100 of 100 points")
    assert "12:00:30 UTC. The first expulsion." in page
    assert ANSWERS["line"] in page
    assert "Mind &lt;b&gt;heartbeats&lt;/b&gt;." in page
    assert truth(tmp_path).incident in page


def test_before_the_last_answer_the_debrief_says_what_is_open(tmp_path):
    told = Practice(started(tmp_path)).debrief()

    assert isinstance(told, Text)
    assert told.endswith("this one is open: Where does it start?")
