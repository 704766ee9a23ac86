"""The pages of docs/: written ones are current, links lead to files, and commands are those that mqlab has."""

import re
import shlex
import sys
import tomllib
from pathlib import Path

import click
import nbformat
import pytest
from click.testing import CliRunner

from mqlab.catalogue import INCIDENTS
from mqlab.cli import commands

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


def test_the_first_page_lists_the_extras_that_users_install():
    told = re.findall(r"^\| `(\w+)` \|", (DOCS / "index.md").read_text(), re.MULTILINE)
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert told == [extra for extra in extras if extra not in ("test", "dev", "bench")]


def test_the_notebooks_are_listed_with_their_titles():
    told = re.findall(r"^\| `(\S+)` \| (.+?) \|", (DOCS / "notebooks.md").read_text(), re.MULTILINE)
    notebooks = (ROOT / "notebooks").rglob("*.ipynb")
    titles = {path.stem: nbformat.read(path, 4).cells[0].source.splitlines()[0] for path in notebooks}
    assert {name: f"# {title}" for name, title in told} == titles


def test_the_exercises_are_listed_as_the_training_lists_them(tmp_path):
    block = re.search(r'```text title="mqlab train list"\n(.*?)```', (DOCS / "training.md").read_text(), re.DOTALL)
    listed = CliRunner().invoke(commands, ["train", "list", "--folder", str(tmp_path)])
    assert block[1] == listed.output, "run `make docs`"


def typed(page):
    """Every command of mqlab on a page: the lines of shell blocks, titles of blocks, and code in a sentence."""
    text = page.read_text().replace("\\\n", " ")
    blocks = re.findall(r"^ *```(?:sh|bash|console)\n(.*?)^ *```", text, re.DOTALL | re.MULTILINE)
    lines = [*"\n".join(blocks).splitlines(), *re.findall(r'title="([^"]+)"', text), *re.findall(r"`([^`\n]+)`", text)]
    for line in lines:
        if found := re.search(r"(?:^|[|;] *|\w=\S+ )(mqlab [^|;>&]+)", line.strip()):
            yield found[1]


def unknown(command):
    """What of the command mqlab does not have, by click's own parser; nothing runs."""
    words = shlex.split(command, comments=True)[1:]
    verb = commands
    while True:
        context = click.Context(verb, info_name="mqlab")
        try:
            _, words, _ = verb.make_parser(context).parse_args(words)
        except click.UsageError as error:
            return error.message
        if not isinstance(verb, click.Group) or not words or words[0] in ("…", "NAME"):
            return None
        name, words = words[0], words[1:]
        verb = verb.get_command(context, name)
        if verb is None:
            return f"no verb {name}"


def test_every_command_on_a_page_is_one_that_mqlab_has():
    found = {(page.name, command) for page in BY_PEOPLE if page.name != "CHANGELOG.md" for command in typed(page)}
    assert len(found) > 100
    assert {command: why for command in found if (why := unknown(command[1]))} == {}


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("mqlab triage bundle/ --why", None),
        ("mqlab train start 01 --roll-back", None),
        ("mqlab report bundle/ --pdf", "No such option '--pdf'."),
        ("mqlab train begin 01", "no verb begin"),
    ],
)
def test_a_command_that_mqlab_does_not_have_would_be_noticed(command, why):
    assert unknown(command) == why
