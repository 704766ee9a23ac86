"""What the manifest says of questions and clocks."""

import json

import pytest

from mqlab.gather.manifest import Manifest


def test_a_question_counts_its_answers_and_failures():
    manifest = Manifest("kafka", {})
    for fails in (False, True, False):
        with manifest.asking("groups", OSError):
            if fails:
                raise OSError("no route")
    question = json.loads(manifest.text())["questions"][0]
    assert (question["what"], question["times"], question["failed"], question["because"]) == (
        "groups",
        3,
        1,
        "no route",
    )
    assert question["failed_at"] is not None


def test_what_is_not_expected_goes_on():
    with pytest.raises(KeyError), Manifest("kafka", {}).asking("groups", OSError):
        raise KeyError


@pytest.mark.parametrize(
    ("measured", "bounds"),
    [
        ([(-0.4, 0.9)], [-0.4, 0.9]),
        ([(-0.4, 0.9), (-0.1, 1.2)], [-0.1, 0.9]),
        ([(None, 0.9), (0.25, None)], [0.25, 0.9]),
        ([(-0.4, 0.9), (3.0, 4.0)], [3.0, 4.0]),
        ([(None, None)], [None, None]),
    ],
    ids=["one", "narrowed", "one side each", "set in between", "nothing known"],
)
def test_measurements_narrow_the_clock_of_a_host_down(measured, bounds):
    manifest = Manifest("kafka", {})
    for lowest, highest in measured:
        manifest.clock("kafka-1:7071", "Date", lowest, highest)
    assert manifest.clocks["kafka-1:7071"].ahead_seconds == bounds
