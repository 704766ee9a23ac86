"""A learner's attempt: checked at once, tries and hints cost points, nothing answered is ever lost."""

import os
import signal
import subprocess
import sys

import pytest
from exercise_builder import ANSWERS, KEY, answered, entries, exercise, started

from mqlab.training.attempt import Attempt, shown
from mqlab.training.errors import BadAnswerError, BadKeyError, NotStartedError, TrainingError
from mqlab.training.exercise import loads


def test_who_answers_everything_rightly_has_a_hundred_points(tmp_path):
    attempt = answered(started(tmp_path))

    assert attempt.points == 100
    assert attempt.submitted


def test_questions_come_one_after_the_other(tmp_path):
    attempt = started(tmp_path)

    with pytest.raises(BadAnswerError, match="The open question is 'starts_in'"):
        attempt.answer("session-timeout", "mechanism")
    assert attempt.answer("consumer").closed
    assert attempt.open_question.name == "since"


@pytest.mark.parametrize(("tries", "share"), [([], 1.0), (["broker"], 0.6), (["broker", "nowhere"], 0.3)])
def test_each_further_try_is_worth_less(tmp_path, tries, share):
    attempt = started(tmp_path)
    for text in tries:
        reply = attempt.answer(text)
        assert (reply.points, reply.closed) == (0, False)

    assert attempt.answer("consumer").points == round(share * attempt.exercise.questions[0].points, 1)


def test_a_wrong_answer_is_told_why_and_after_three_the_right_one_is_said(tmp_path):
    attempt = started(tmp_path)
    replies = [attempt.answer("broker") for _ in range(3)]

    assert replies[0].text == "It answers. Two tries are left."
    assert replies[2].text == "It answers. Right would have been “a consumer or subscriber”. Its heartbeats stop."
    assert replies[2].closed


def test_part_of_the_truth_has_part_of_the_credit(tmp_path):
    attempt = started(tmp_path)
    attempt.answer("consumer")
    reply = attempt.answer("12:00:50")

    assert reply.text.startswith("Close: it was 12:00:30 UTC. The first expulsion.")
    assert reply.points == attempt.exercise.questions[1].points / 2
    assert not reply.closed


def test_a_hint_costs_a_fifth_of_the_questions_points(tmp_path):
    attempt = started(tmp_path)

    assert attempt.hint() == "Who is removed?"
    assert attempt.answer("consumer").points == round(0.8 * attempt.exercise.questions[0].points, 1)
    with pytest.raises(BadAnswerError, match="no more hint"):
        attempt.hint()


def test_an_answer_that_cannot_be_read_counts_for_nothing(tmp_path):
    attempt = started(tmp_path)
    with pytest.raises(BadAnswerError, match="is not an option"):
        attempt.answer("the moon")

    assert [entry["kind"] for entry in entries(attempt)] == ["started"]


@pytest.mark.parametrize(
    ("place", "credit"),
    [
        ("server.log:2", 1.0), ("server.log:4", 1.0), ("server.log:3", 0.5), ("server.log", 0.25),
        ("server.log:1", 0.25),
    ],
)  # fmt: skip
def test_any_line_that_proves_it_is_right_and_an_effect_is_half_right(tmp_path, place, credit):
    attempt = started(tmp_path)
    for name in ("starts_in", "since", "mechanism"):
        attempt.answer(ANSWERS[name])

    assert attempt.answer(place).points == round(credit * attempt.exercise.question("line").points, 1)


def test_the_debrief_opens_with_the_last_answer_however_bad_they_were(tmp_path):
    attempt = started(tmp_path)
    while attempt.open_question:
        with pytest.raises(TrainingError, match="opens when all questions"):
            attempt.debrief()
        attempt.give_up()

    assert attempt.debrief()["class"] == "session-timeout"
    assert attempt.points == 0


def test_the_truth_stands_nowhere_in_the_attempts_folder_before_the_answers(tmp_path):
    attempt = started(tmp_path)
    every = b"".join(path.read_bytes() for path in attempt.folder.rglob("*") if path.is_file())
    secret = [
        KEY["mechanism"]["because"],
        KEY["lesson"]["text"],
        KEY["amount"]["because"],
        "shop-01",
        "Who is removed?",
    ]

    assert [text for text in secret if text.encode() in every] == []


def test_an_attempt_goes_on_where_it_was(tmp_path):
    attempt = started(tmp_path)
    attempt.answer("broker")
    attempt.answer("consumer")
    attempt.hint() if attempt.open_question.hints else None

    again = Attempt(attempt.folder)
    assert again.standing() == attempt.standing()
    assert again.open_question.name == "since"


def test_a_line_cut_short_is_left_out_and_the_next_answer_stands_on_its_own(tmp_path):
    attempt = started(tmp_path)
    attempt.answer("broker")
    with attempt.journal.path.open("ab") as file:
        file.write(b'{"kind": "answer", "question": "starts_in", "ans')

    again = Attempt(attempt.folder)
    again.answer("consumer")

    assert [(entry["kind"], entry.get("answer")) for entry in again.journal.entries] == [
        ("started", None), ("answer", "broker"), ("answer", "consumer"),
    ]  # fmt: skip


def test_what_was_answered_survives_a_kill(tmp_path):
    attempt = started(tmp_path)
    code = (
        "import sys, time; from mqlab.training.attempt import Attempt; from pathlib import Path;"
        "print(Attempt(Path(sys.argv[1])).answer('consumer').points, flush=True); time.sleep(60)"
    )
    child = subprocess.Popen([sys.executable, "-c", code, str(attempt.folder)], stdout=subprocess.PIPE)
    child.stdout.readline()
    os.kill(child.pid, signal.SIGKILL)
    child.wait()

    assert Attempt(attempt.folder).open_question.name == "since"


def test_a_started_exercise_is_not_started_over(tmp_path):
    started(tmp_path)
    with pytest.raises(TrainingError, match="already has an attempt"):
        started(tmp_path)


def test_a_folder_without_an_exercise_is_said(tmp_path):
    with pytest.raises(NotStartedError, match="mqlab train start"):
        Attempt(tmp_path)


def test_an_exercise_is_the_same_after_it_was_written(tmp_path):
    one = exercise(tmp_path)

    assert loads(one.dumps()) == one
    with pytest.raises(BadKeyError, match="cannot read the exercise"):
        loads('{"number": "01"}')


def test_a_question_as_text_says_how_to_answer(tmp_path):
    lines = shown(started(tmp_path).open_question).splitlines()

    assert lines[0] == "Where does it start? (6 points)"
    assert sorted(line[5:] for line in lines[1:]) == [
        "a broker", "a consumer or subscriber", "nowhere: nothing is wrong",
    ]  # fmt: skip
