"""The bundled exercises: enough of them, sealed from their keys, fair to whoever reads only what is in clear."""

import ast
import json
from collections import Counter

import pytest
from training_set import KEYS, NUMBERS, ROOT, SECRET, SECTIONS, exercise, incident, key

from mqlab.catalogue import INCIDENTS
from mqlab.training import sealing
from mqlab.training.exercise import BUNDLED, CHAPTERS, exercises, fingerprint

NAMES = sorted(NUMBERS)
EXPLAINED = {"starts_in", "who", "mechanism", "repair", "verify"}
BENIGN = ("healthy", "fan-out", "rolling-restart", "reconnect-storm", "reconnect-flaky-link")


def test_there_are_exercises_for_every_sample_with_a_truth():
    assert set(NAMES) == {path.stem for path in KEYS.glob("*.toml")}
    assert len(NAMES) >= 24
    assert len({incident(name) for name in NAMES}) >= 20
    assert sum(incident(name) in BENIGN for name in NAMES) >= 6


def test_the_set_is_in_the_order_of_the_course():
    numbers = [one.number for one in exercises()]

    assert numbers == sorted(numbers)
    assert set(CHAPTERS) == {one.chapter for one in exercises()}
    assert len(list(BUNDLED.glob("*.json"))) == len(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_an_exercise_is_sealed_from_its_key_as_it_is_now(name):
    told = sealing.truth_of(exercise(name), SECRET)
    points = told["key"].pop("points")

    assert told == {"key": json.loads(json.dumps(key(name) | {"class": incident(name)}, default=str)), "name": name}
    assert sum(points.values()) == 100
    assert exercise(name).fingerprint == fingerprint(ROOT / "data" / "samples" / name)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_read_before_the_answers_names_neither_class_nor_mechanism(name):
    parts = key(name)
    texts = [parts["title"], parts["story"], *(h for s in SECTIONS for h in parts.get(s, {}).get("hints", ()))]
    slug = incident(name)
    names = [slug, slug.replace("-", " "), INCIDENTS[slug].title if slug in INCIDENTS else slug]

    assert [
        (text, said) for text in texts for said in names if slug != "healthy" and said.lower() in text.lower()
    ] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_newcomer_needs_a_quarter_to_half_an_hour_and_at_least_five_questions(name):
    assert 15 <= key(name)["minutes"] <= 30
    assert sum(section in key(name) for section in SECTIONS) >= 5


@pytest.mark.parametrize("name", NAMES)
def test_every_look_alike_is_offered_with_its_reason(name):
    parts = key(name)
    truth = json.loads((KEYS.parent / f"{name}.truth.json").read_text())
    reasons = parts["mechanism"]["wrong"] | parts["mechanism"].get("partial", {})

    assert set(truth["must_not_blame"]) <= set(reasons)
    assert set(reasons) <= {*INCIDENTS, "healthy"}
    assert len(reasons) >= 4
    for section in EXPLAINED & set(parts):
        wrong = parts[section]["wrong"]
        assert all(wrong.values() if isinstance(wrong, dict) else [one["because"] for one in wrong]), section


@pytest.mark.parametrize("name", NAMES)
def test_the_way_of_an_expert_uses_the_public_api_on_files_that_are_there(name):
    files = set(exercise(name).files)
    for step in key(name)["order"]:
        called = ast.parse(step["call"].strip(), mode="eval")
        roots = {node.id for node in ast.walk(called) if isinstance(node, ast.Name)}
        assert step["look"] in files
        assert "capture" in roots
        assert not {"findings", "diagnosis", "facts", "show"} & {
            node.attr for node in ast.walk(called) if isinstance(node, ast.Attribute)
        }
    assert {entry["file"] for entry in key(name)["timeline"] if "file" in entry} <= files


def test_the_options_do_not_tell_by_their_place():
    places = Counter(
        list(question.options).index(incident(name))
        for name in NAMES
        for question in exercise(name).questions
        if question.name == "mechanism"
    )

    assert max(places.values()) < len(NAMES) / 2
