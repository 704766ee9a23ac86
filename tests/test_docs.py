"""The pages of docs/: written ones are current, links and pictures lead somewhere, the navigation has all of them."""

import re
import sys
import tomllib
from pathlib import Path

from mqlab.catalogue import INCIDENTS

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS / "site"))

pages = __import__("pages")
MECHANISMS = tomllib.loads((DOCS / "site" / "mechanisms.toml").read_text())
CONFIGURED = tomllib.loads((ROOT / "zensical.toml").read_text())["project"]
BY_PEOPLE = [*DOCS.glob("*.md"), *ROOT.glob("*.md")]


def in_navigation(entries):
    for entry in entries.values() if isinstance(entries, dict) else entries:
        if isinstance(entry, str):
            yield from DOCS.glob(entry)
        else:
            yield from in_navigation(entry)


def test_every_class_has_a_mechanism_of_steps_that_say_who_does_what():
    assert list(MECHANISMS) == list(INCIDENTS)
    for slug, mechanism in MECHANISMS.items():
        steps = mechanism["steps"]
        assert len(steps) >= 2, slug
        assert all(re.fullmatch(r"[^:]+: \S.*", step) for step in steps), slug
        assert 1 <= mechanism.get("again", 1) < len(steps), slug


def test_a_figure_is_a_list_of_its_steps_that_says_where_it_begins_again():
    listed = "1. **producer:** sends a batch\n2. **broker:** refuses it"
    steps = ["producer: sends a batch", "broker: refuses it"]
    assert pages.figure(steps, None) == f'<div class="mechanism" markdown>\n\n{listed}\n\n</div>'
    again = f'<div class="mechanism again-1" markdown>\n\n{listed}\n\nThen again from step 1.\n\n</div>'
    assert pages.figure(steps, 1) == again


def test_an_arrow_is_drawn_back_to_every_step_that_a_figure_begins_again_from():
    drawn = set(re.findall(r"\.again-(\d+) ", (DOCS / "site" / "site.css").read_text()))
    assert {str(mechanism["again"]) for mechanism in MECHANISMS.values() if "again" in mechanism} <= drawn


def test_pages_that_are_made_of_the_catalogue_are_current():
    written = {page: page.read_text() for page in (*(DOCS / "classes").iterdir(), DOCS / "symptoms.md")}
    assert written == pages.generated(), "run `make docs`"


def test_every_page_is_in_the_navigation():
    assert set(in_navigation(CONFIGURED["nav"])) == set(DOCS.rglob("*.md"))


def test_every_link_and_picture_of_a_page_leads_to_a_file():
    targets = {
        (page.relative_to(ROOT), target)
        for page in BY_PEOPLE
        for target in re.findall(r"\]\((?!https?:)([^)#\s]+)", page.read_text())
    }
    assert len(targets) > 100
    assert {(page, target) for page, target in targets if not (ROOT / page.parent / target).exists()} == set()
