"""Every measure and fact of a finding has words for its reader."""

import ast
import re
from pathlib import Path

import pytest

import mqlab
from mqlab.measure_names import fact_words, measure_words

PACKAGE = Path(mqlab.__file__).parent
COUNTING = (
    "detectors", "delivery/losses.py", "rocketmq/shared_client_ids.py", "scenarios/drain.py", "shared/lag.py",
    "strong_signs.py", "traffic",
)  # fmt: skip
"""Where measures get their names."""


def keys(node):
    """Names that this piece of code gives to numbers."""
    if isinstance(node, ast.Dict):
        return [key.value for key in node.keys if isinstance(key, ast.Constant)]
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
        return [node.slice.value] if isinstance(node.slice, ast.Constant) else []
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "measures":
        return [arg.value for arg in node.args if isinstance(arg, ast.Constant)]
    return []


def walked(tree):
    """All nodes but those of slots, which texts show beside the measures."""
    for node in ast.iter_child_nodes(tree):
        slots = getattr(node, "name", None) == "_slots" or getattr(node, "arg", None) == "slots"
        if not slots:
            yield node
            yield from walked(node)


def counted():
    """All names that look like those of measures: words with underscores between."""
    places = [PACKAGE / place for place in COUNTING]
    files = [path for place in places for path in (place.glob("*.py") if place.is_dir() else [place])]
    trees = (ast.parse(path.read_text()) for path in files)
    names = {key for tree in trees for node in walked(tree) for key in keys(node)}
    return sorted(name for name in names if isinstance(name, str) and re.fullmatch(r"[a-z0-9]+(_[a-z0-9]+)+", name))


def test_every_measure_of_the_code_has_words_of_its_own():
    lacking = [name for name in counted() if measure_words(name) == fact_words(name) == name.replace("_", " ")]

    assert len(counted()) > 100
    assert not lacking


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("retried_records", "records retried"),
        ("bytes_out_low", "sent, at least"),
        ("lost_records_most", "messages lost, at most"),
        ("heat_of_the_room", "heat of the room"),
    ],
)
def test_bounds_are_told_with_what_they_bound_and_strangers_without_underscores(name, words):
    assert measure_words(name) == words


def test_facts_have_words():
    assert [fact_words(name) for name in ("second_way", "falling behind")] == [
        "cross-check", "falling behind",
    ]  # fmt: skip
