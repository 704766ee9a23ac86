"""The instructor's side: exercises sealed from keys, drawn from captures, and results judged again."""

import pytest
from exercise_builder import ANSWERS, SECRET, a_set, answered, started, truth

from mqlab.training import keys, results, sealing
from mqlab.training.errors import BadKeyError, TrainingError
from mqlab.training.exercise import exercise as exercise_of
from mqlab.training.exercise import exercises, material


def test_points_make_a_hundred_whatever_is_asked(tmp_path):
    one = sealing.exercise_of("01", truth(tmp_path), SECRET)

    assert sum(question.points for question in one.questions) == 100
    assert [question.name for question in one.questions] == list(ANSWERS)


def test_the_instructors_key_tells_everything_and_another_one_nothing(tmp_path):
    one = sealing.exercise_of("01", truth(tmp_path), SECRET)

    assert sealing.truth_of(one, SECRET)["name"] == "shop-01"
    assert "session-timeout" in results.answers(one, SECRET)
    with pytest.raises(BadKeyError, match="another one"):
        sealing.truth_of(one, b"1" * 32)


def test_the_same_key_seals_the_same_bytes_and_another_seed_others(tmp_path):
    first, again = (sealing.exercise_of("01", truth(tmp_path), SECRET).dumps() for _ in range(2))
    other = sealing.exercise_of("01", truth(tmp_path), SECRET, seed=7)

    assert first == again
    assert not set(other.questions[0].lock.boxes) & set(exercise_of("01", a_set(tmp_path)).questions[0].lock.boxes)


def test_every_wrong_answer_that_is_listed_has_its_explanation(tmp_path):
    for asked in keys.asked(truth(tmp_path)):
        assert set(asked.options) <= set(asked.replies)
        assert all(reply["text"] for reply in asked.replies.values())


def test_a_class_that_is_no_trouble_leaves_healthy_half_right(tmp_path):
    known = truth(tmp_path)
    benign = keys.Truth(
        known.base, "rolling-restart", known.key | {"mechanism": {"because": "A release.", "wrong": {}}}
    )
    mechanism = next(one for one in keys.asked(benign) if one.name == "mechanism")

    assert mechanism.replies["healthy"]["credit"] == 0.5


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"since": {"question": "?", "seconds": 5, "because": "."}}, "lacks 'at' in \\[since\\]"),
        ({"line": {"proof": [{"file": "server.log", "contains": "no such", "because": "."}]}}, "No line of server.log"),
    ],
)
def test_a_key_that_lacks_something_is_said_in_one_sentence(tmp_path, changed, said):
    with pytest.raises(BadKeyError, match=said):
        sealing.exercise_of("01", truth(tmp_path, **changed), SECRET)


def test_a_key_file_that_is_none_is_said(tmp_path):
    (tmp_path / "key").write_text("nothing")
    with pytest.raises(BadKeyError, match="is not an instructor's key"):
        sealing.read_key(tmp_path / "key")

    (tmp_path / "key").write_text(sealing.new_key())
    assert len(sealing.read_key(tmp_path / "key")) == 32


def test_material_is_found_by_what_is_in_it(tmp_path):
    one = sealing.exercise_of("01", truth(tmp_path), SECRET)
    (tmp_path / "samples" / "shop-01").rename(tmp_path / "samples" / "something-else")

    assert material(one, [tmp_path / "samples"]) == tmp_path / "samples" / "something-else"
    with pytest.raises(TrainingError, match="was not found"):
        material(one, [tmp_path / "elsewhere"])


def test_results_are_judged_again_whatever_a_submission_says(tmp_path):
    chosen = a_set(tmp_path)
    answered(started(tmp_path, "ada"))
    bob = started(tmp_path, "bob")
    bob.answer("broker")
    bob.hint()
    bob.answer("consumer")
    raw = bob.journal.path.read_text().replace('"points": 0.0', '"points": 99')
    bob.journal.path.write_text(raw)

    rows = results.read(tmp_path / "attempts", chosen, SECRET)
    table = results.table(rows).groupby("learner")["points"].sum().to_dict()

    assert table == {"ada": 100.0, "bob": round(0.6 * 0.8 * exercises(chosen)[0].questions[0].points, 1)}
    assert results.mistakes(rows).to_dict("records") == [
        {"exercise": "01", "question": "starts_in", "wrong answer": "broker", "learners": 1}
    ]
    assert results.told(rows).splitlines()[1].split()[:3] == ["01", "session-timeout", "2"]
    assert len(results.plot_exercises(rows).data[0].x) == 2
    assert list(results.plot_questions(rows).data[0].x) == list(ANSWERS)


def test_a_folder_without_submissions_is_said(tmp_path):
    with pytest.raises(TrainingError, match=r"no submission\.jsonl"):
        results.read(tmp_path, a_set(tmp_path), SECRET)


def test_what_stands_in_clear_names_neither_class_nor_capture(tmp_path):
    text = sealing.exercise_of("01", truth(tmp_path), SECRET).dumps()

    assert "shop-01" not in text
    assert text.count("session-timeout") == 2, "only as one of the options"
