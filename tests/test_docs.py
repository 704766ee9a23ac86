"""The site of the docs: a figure for every class."""

import re
import sys
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import pytest

from mqlab.catalogue import INCIDENTS

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "docs" / "site"))

pages = __import__("pages")
MECHANISMS = tomllib.loads((ROOT / "docs" / "site" / "mechanisms.toml").read_text())


def test_every_class_has_a_mechanism_of_steps_that_say_who_does_what():
    assert list(MECHANISMS) == list(INCIDENTS)
    for slug, mechanism in MECHANISMS.items():
        steps = mechanism["steps"]
        assert len(steps) >= 2, slug
        assert all(re.fullmatch(r"[^:]+: \S.*", step) for step in steps), slug
        assert 1 <= mechanism.get("again", 1) < len(steps), slug


@pytest.mark.parametrize("again", [None, 1])
def test_a_figure_holds_all_steps_in_their_order_and_says_them_to_who_cannot_see_it(again):
    steps = ["producer: sends <one> batch", "broker: refuses it", "network: carries it again"]
    drawn = ElementTree.fromstring(pages.drawing(steps, again))
    assert [text.text for text in drawn.iter("text")] == [
        "producer",
        "sends <one> batch",
        "broker",
        "refuses it",
        "network",
        "carries it again",
    ]
    arrows = [path for path in drawn.iter("path") if path.get("marker-end")]
    assert len(arrows) == (2 if again is None else 3)
    assert drawn.get("aria-label") == "; then ".join(steps) + ("" if again is None else "; and again from step 1")
