"""Templates: a team's own is data, what is wrong in it is said with its line; colours can be read by everybody."""

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from report_example import example

from mqlab import cli, report
from mqlab.errors import ForeignFileError, MqlabError
from mqlab.figures import style
from mqlab.figures.drawing import drawing
from mqlab.notes import IncidentNotes
from mqlab.reporting import pages, printing
from mqlab.reporting.pages import BadTemplateError
from mqlab.writing import refuse_foreign, refuse_material

LINES = (style.INCOMING, style.OUTGOING, style.LAG, style.ALARM, style.CHANGE)
ROOT = Path(__file__).parents[1]
CSS = (ROOT / "mqlab" / "templates" / "report.css").read_text(encoding="utf-8")


def page(template):
    facts, diagnosis = example()
    capture = SimpleNamespace(facts=facts, diagnosis=diagnosis, notes=IncidentNotes(), paths=("x",))
    return report.html(capture, template=str(template))


def written(folder, text):
    file = folder / "ours.html.j2"
    file.write_text(text, encoding="utf-8")
    return file


def test_the_template_of_the_documentation_works(tmp_path):
    example_of_page = re.search(r"```html\+jinja\n(.*?)```", (ROOT / "docs" / "templates.md").read_text(), re.S)[1]
    text = page(written(tmp_path, example_of_page))

    assert "<li>Mechanism: " in text
    assert '<h2 id="F1">batch-split-loop</h2>' in text
    assert "main { padding: 24px;" in text


def test_the_short_page_has_the_story_and_links_only_to_what_it_has():
    text = page("short")

    assert 'id="causes"' in text
    assert 'id="evidence"' not in text
    assert set(re.findall(r'<a [^>]*href="#([^"]+)"', text)) <= set(re.findall(r'\bid="([^"]+)"', text))


@pytest.mark.parametrize(
    ("text", "because"),
    [
        ("a\n{% if %}", r"ours\.html\.j2, line 2: Expected an expression"),
        ("a\n\n{{ heading }}", r"ours\.html\.j2, line 3: 'heading' is undefined\."),
        ("{{ title.__class__.__mro__ }}", r"ours\.html\.j2, line 1: access to attribute '__class__' .* is unsafe\."),
        ("a\n{% include 'gone.j2' %}", r"ours\.html\.j2, line 2: there is no template 'gone\.j2'\."),
        ("{{ changes.append(1) }}", r"line 1: .*has no attribute 'append'"),
        ("{{ 1 / 0 }}", r"line 1: division by zero\."),
    ],
)
def test_what_is_wrong_in_a_template_is_said_with_its_line(tmp_path, text, because):
    with pytest.raises(BadTemplateError, match=because):
        pages.page(str(written(tmp_path, text)), {"title": "x", "changes": ()})


def test_a_template_includes_its_neighbours_and_what_it_shows_is_escaped(tmp_path):
    (tmp_path / "near.j2").write_text("near {{ title }}", encoding="utf-8")
    own = written(tmp_path, "{% include 'near.j2' %}")

    assert pages.page(str(own), {"title": "<b>"}) == "near &lt;b&gt;"


@pytest.mark.parametrize("name", ["link.j2", "up/secret.j2", "../secret.j2"])
@pytest.mark.parametrize("tag", ["include '{}'", "extends '{}'", "import '{}' as x", "from '{}' import x"])
def test_no_way_leads_a_template_out_of_its_folder(tmp_path, tag, name):
    (tmp_path / "secret.j2").write_text("secret", encoding="utf-8")
    folder = tmp_path / "ours"
    folder.mkdir()
    (folder / "link.j2").symlink_to(tmp_path / "secret.j2")
    (folder / "up").symlink_to(tmp_path)

    with pytest.raises(BadTemplateError, match="there is no template"):
        pages.page(str(written(folder, f"{{% {tag.format(name)} %}}")), {})


def test_a_limit_that_a_template_meets_is_named(tmp_path):
    with pytest.raises(BadTemplateError, match=r"line 1: (MemoryError|OverflowError)\.|line 1: .*index-sized"):
        pages.page(str(written(tmp_path, "{{ 'a' * (2 ** 62) }}")), {})


@pytest.mark.parametrize(
    "text", ["{% extends 'base.html.j2' %}", "<script>alert(1)</script>", "<!doctype html><img src=x>"]
)
def test_what_a_page_may_load_and_run_stands_before_everything_of_a_template(tmp_path, text):
    head = '<!DOCTYPE html>\n<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
    shown = page(written(tmp_path, text))

    assert shown.startswith(head)
    assert shown.lower().count("<!doctype") == shown.count("Content-Security-Policy") == 1


def test_a_page_says_who_wrote_it_so_that_the_next_one_may_take_its_place(tmp_path):
    out = tmp_path / "report.html"
    out.write_text(page(written(tmp_path, f"<title>x</title>{'-' * 100_000}")))

    refuse_foreign(out)
    refuse_material(out, [str(tmp_path)])


@pytest.mark.parametrize("name", ["report.html", "report.findings.json"])
def test_what_somebody_else_wrote_stays_as_it_is(tmp_path, name):
    theirs = tmp_path / name
    theirs.write_text("[1]")

    failure = CliRunner().invoke(cli.commands, ["report", "nowhere", "-o", str(tmp_path / "report.html")]).exception
    assert (type(failure), theirs.read_text()) == (ForeignFileError, "[1]")


@pytest.mark.parametrize(
    ("options", "because"),
    [
        (["--template", "gone.j2"], "There is no template 'gone.j2'"),
        (["-o", "x.pdf"], "A PDF needs Chromium or Chrome"),
    ],
)
def test_what_cannot_be_made_is_said_before_anything_is_read(options, because, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))

    failure = CliRunner().invoke(cli.commands, ["report", "nowhere", *options]).exception
    assert isinstance(failure, MqlabError)
    assert failure.exit_code == 64
    assert because in str(failure)


def browser(folder, monkeypatch, script):
    """A Chromium that does what *script* says, in whose first word stands where the PDF belongs."""
    fake = folder / "chromium"
    fake.write_text(f"#!/bin/sh\nfor one; do case $one in --print-to-pdf=*) out=${{one#*=}};; esac; done\n{script}\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


@pytest.mark.parametrize("place", ["x.pdf", "a folder/x.pdf", "../x.pdf"])
def test_a_page_is_printed_by_the_browser_of_the_machine_wherever_it_belongs(tmp_path, monkeypatch, place):
    here = tmp_path / "here"
    (here / "a folder").mkdir(parents=True)
    browser(tmp_path, monkeypatch, 'cd /; page=$(echo ${one#file://} | sed \'s/%20/ /g\'); cp "$page" "$out"')
    monkeypatch.chdir(here)
    printing.print_page("<p>x</p>", Path(place))

    assert (here / place).read_text() == "<p>x</p>"
    assert {path.name for path in tmp_path.rglob("*")} == {"chromium", "here", "a folder", "x.pdf"}


@pytest.mark.parametrize(
    ("script", "because"),
    [("echo no display >&2; exit 3", "could not print the page: no display"), ("exit 0", "printed nothing"),
     ("exec sleep 9", "did not print the page within 0.2 s")],
)  # fmt: skip
def test_a_browser_that_fails_leaves_no_file_and_one_sentence(tmp_path, monkeypatch, script, because):
    monkeypatch.setattr(printing, "_SECONDS", 0.2 if "sleep" in script else 60)
    browser(tmp_path, monkeypatch, script)

    with pytest.raises(printing.NoBrowserError, match=because):
        printing.print_page("<p>x</p>", tmp_path / "x.pdf")
    assert not (tmp_path / "x.pdf").exists()


def colours(dark):
    """Custom properties of the style sheet, by screen."""
    night = re.search(r"prefers-color-scheme: dark\) \{\s*:root \{(.*?)\}", CSS, re.S)[1]
    found = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", re.search(r":root \{(.*?)\}", CSS, re.S)[1]))
    return found | dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", night)) if dark else found


def contrast(one, other):
    """The ratio of WCAG 2.1."""

    def luminance(colour):
        parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_text_stands_out_from_what_it_stands_on(dark):
    known = colours(dark)
    text = [(ink, paper) for ink in ("ink", "muted", "link", "alarm") for paper in ("paper", "soft", "target")]

    assert [(ink, paper) for ink, paper in text if contrast(known[ink], known[paper]) < 4.5] == []
    assert contrast(known["focus"], known["paper"]) >= 3


def test_the_band_can_be_read_in_every_tone():
    tones = re.findall(r"--tone: (#[0-9a-f]{6})", CSS)

    assert len(tones) == 5
    assert min(contrast("#ffffff", tone) for tone in tones) >= 4.5


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_words_and_lines_of_figures_stand_out_from_the_page(dark):
    paper = colours(dark)["paper"]
    shades = {one: style.DARK.get(one, one) if dark else one for one in (style.INK, style.MUTED)}
    lines = {one: style.DARK.get(one, one) if dark else one for one in LINES}

    assert [one for one, shade in shades.items() if contrast(shade, paper) < 4.5] == []
    assert [one for one, shade in lines.items() if contrast(shade, paper) < 3] == []


def test_the_short_page_runs_no_script_draws_its_timeline_itself_and_is_fit_for_mail():
    text = page("short")

    assert "script-src 'none'" in text
    assert "<script" not in text
    assert '<svg class="drawing"' in text
    assert ">batch splits</text>" in text
    assert len(text.encode()) < 100_000


def test_a_lane_named_by_the_material_is_escaped_in_the_drawn_timeline():
    facts, diagnosis = example()
    hostile = replace(diagnosis.findings[1], incident="<script>x</script>")
    found = replace(diagnosis, findings=(diagnosis.findings[0], hostile))
    capture = SimpleNamespace(facts=facts, diagnosis=found, notes=IncidentNotes(), paths=("x",))
    text = report.html(capture, template="short")

    assert ">&lt;script&gt;x&lt;/script&gt;</text>" in text
    assert "<script" not in text


def test_a_timeline_of_nothing_is_no_drawing():
    assert drawing(style.empty("Nothing.", 60)) is None


def test_the_contents_list_names_each_section_that_is_shown_in_its_order():
    text = page("default")
    contents = re.search(r'<nav class="contents".*?</nav>', text, re.DOTALL)[0]
    linked = re.findall(r'<li><a href="#([^"]+)">', contents)
    shown = re.findall(r'<(?:section|details)[^>]* id="([^"]+)"', text.partition("</nav>")[2])

    assert linked == [
        "impact", "causes", "story-timeline", "actions", "open", "ledger", "evidence",
        "changes", "not-checked", "coverage",
    ]  # fmt: skip
    assert [one for one in shown if one in linked] == list(dict.fromkeys(linked))
    assert '<nav class="contents"' not in page("short")
