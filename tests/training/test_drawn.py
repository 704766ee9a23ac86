"""Any capture with a truth file becomes an exercise: what is right comes from the truth."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from plain_reading import opened

from mqlab.training import drawn, keys
from mqlab.verdict import diagnose

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def capture(tmp_path_factory):
    """Two gateways with one client id, read without Spark."""
    base = ROOT / "data" / "samples" / "mqtt-takeover-01"
    facts = opened([base], tmp_path_factory.mktemp("scratch"))
    return SimpleNamespace(paths=(str(base),), facts=facts, diagnosis=diagnose(facts))


@pytest.fixture
def truth():
    """What really happened there."""
    return json.loads((ROOT / "tests" / "truth" / "mqtt-takeover-01.truth.json").read_text())


def asked(capture, truth, seed=0):
    """Questions by name."""
    key = drawn.key_of(capture, truth, seed)
    return {one.name: one for one in keys.asked(keys.Truth(Path(capture.paths[0]), truth["class"], key))}


def test_what_is_right_comes_from_the_truth_and_every_line_that_it_names_proves_it(capture, truth):
    questions = asked(capture, truth)
    right = [name for name, reply in questions["mechanism"].replies.items() if reply["credit"] == 1]

    assert right == ["client-id-takeover"]
    assert set(truth["must_not_blame"]) <= set(questions["mechanism"].options)
    assert {"since", "line", "amount", "repair", "verify"} <= set(questions)
    for one in truth["evidence"]:
        lines = keys.lines(Path(capture.paths[0]) / one["file"])
        proving = [f"{one['file']}:{n}" for n, line in enumerate(lines, start=1) if one["contains"] in line]
        assert proving
        assert all(questions["line"].replies[place]["credit"] == 1 for place in proving)


def test_other_seeds_draw_other_look_alikes(capture, truth):
    bare = {name: value for name, value in truth.items() if name != "must_not_blame"}
    sets = {frozenset(asked(capture, bare, seed)["mechanism"].options) for seed in range(5)}

    assert len(sets) > 1
    assert all("client-id-takeover" in options for options in sets)


def test_a_truth_of_the_lab_has_its_steps_as_timeline(capture):
    lab = {"class": "client-id-takeover", "steps": [{"at": "2026-11-21T11:40:16Z", "do": "start", "to": ["gw-b"]}]}

    assert drawn.key_of(capture, lab)["timeline"] == [{"at": "2026-11-21T11:40:16Z", "what": "start gw-b"}]


def test_a_key_with_another_seed_keeps_what_is_right_and_changes_what_else_is_offered(truth):
    key = {"mechanism": {"because": ".", "wrong": dict.fromkeys(truth["must_not_blame"], "no")}}
    sets = {frozenset(drawn.varied(key, truth["class"], seed)["mechanism"]["wrong"]) for seed in range(1, 6)}

    assert len(sets) > 1
    assert all(truth["class"] not in wrong for wrong in sets)
