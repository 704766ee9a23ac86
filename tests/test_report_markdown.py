"""The report as Markdown: the story of the page, in which nothing of the material is mark-up."""

import re
from dataclasses import replace

import mistune
import pytest
from click.testing import CliRunner
from report_example import diagnosis, example, split_loop

from mqlab import cli
from mqlab.errors import ForeignFileError
from mqlab.findings import Change, Evidence
from mqlab.languages import ENGLISH, speak
from mqlab.notes import IncidentNotes
from mqlab.reporting import markdown
from mqlab.reporting.view import view
from mqlab.writing import refuse_foreign

HOSTILE = [
    "<script>alert(1)</script>", "[click](https://evil.example)", "![x](https://evil.example/x.png)",
    "https://evil.example/path", "www.evil.example", "**bold** __bold__ *i* _i_ ~~gone~~", "`code` `` `", "# heading",
    "1. item", "- item", "=== ", "| a | b |", r"a \| b \\| c \ ", "&lt;b&gt; &#60;", "<https://evil.example>", "$x^2$",
    "[ref]: https://evil.example", "line\n\n# heading\n\n- item", "a\rb\u2028c", "![[wiki]]", "[^1]",
]  # fmt: skip
RENDERED = mistune.create_markdown(escape=False, plugins=["table", "strikethrough", "url", "footnotes", "task_lists"])


def shown(facts, found):
    return view(facts, found, IncidentNotes())


def of(**changes):
    facts, _ = example()
    return shown(facts, diagnosis(replace(split_loop(), **changes)))


def tags(html):
    return set(re.findall(r"<(\w+)", html))


def words(html):
    plain = re.sub(r"<[^>]*>", "", html)
    for entity, sign in (
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", '"'),
        ("&#x27;", "'"),
        ("&#39;", "'"),
        ("&amp;", "&"),
    ):
        plain = plain.replace(entity, sign)
    return " ".join(plain.replace("\u2060", "").split())


@pytest.mark.parametrize("hostile", HOSTILE)
def test_words_of_the_material_are_text_whatever_they_hold(hostile):
    html = RENDERED(f"- {markdown.text(hostile)}")

    assert tags(html) == {"ul", "li"}
    assert words(html) == " ".join(hostile.replace("\u2028", " ").split())


@pytest.mark.parametrize("hostile", HOSTILE)
def test_literal_lines_are_code_whatever_they_hold(hostile):
    html = RENDERED(f"- x {markdown.code(hostile)}")

    assert tags(html) == {"ul", "li", "code"}
    assert words(html).removeprefix("x ") == " ".join(hostile.replace("\u2028", " ").split())


@pytest.mark.parametrize("hostile", HOSTILE)
def test_no_name_breaks_out_of_the_table_of_moments(hostile):
    change = Change(1795263800.0, f"producer {hostile} acks", "1", hostile, (Evidence(f"a{hostile}", 3, hostile),))
    facts, found = example()
    html = RENDERED(markdown.whole(shown(facts, replace(found, changes=(change,)))))

    assert tags(html) <= {
        "h1", "h2", "p", "ul", "li", "strong", "em", "code", "table", "thead", "tbody", "tr", "th", "td", "br",
    }  # fmt: skip
    rows = re.findall(r"<tr>(.*?)</tr>", html.partition("<h2>Further actions</h2>")[0], re.DOTALL)
    assert {len(re.findall(r"<t[hd]\b", row)) for row in rows} == {2}


@pytest.mark.parametrize("called", ["@channel", "someone@example.org", "shop#12"])
def test_nobody_is_called_and_no_ticket_is_named_by_the_material(called):
    assert not re.search(r"[@#]\w", markdown.text(called))


def test_the_short_form_is_eight_lines_from_the_class_to_the_lines_that_prove_it():
    facts, found = example()

    assert markdown.brief(shown(facts, found)).splitlines() == [
        "**batch-split-loop · PROVEN · ended 12:23:16 UTC · still open: 1** (mqlab 0.1.0): 658 MB of excess traffic: "
        "a producer resent batches that can never be accepted",
        "- **Impact**: 3 messages were lost; 658 MB of excess traffic; It lasted 153 s; Concerned: producer "
        "mqtt-bridge (kafka-clients 2.1.0) → plant-telemetry, producer mqtt-bridge → plant-telemetry",
        "- **When**: 2026-11-21 12:20:44 to 12:23:16 UTC",
        "- **Do now**: Keep batch.size=16384 on every replica. Side effect: more, smaller requests.",
        "- **Fix**: Stop using the payload as key; chunk payloads above 0.5 MB; client ≥ 2.3.1 (leak), ≥ 4.2.0 (loop).",
        r"- **Verify**: increase(batch_split_total\[10m\]) = 0 and eth0 tx/rx \< 2.2 during the next burst",
        "- **Evidence**: `clients/bridge.log:83`, `configs/topic-configs-describe.txt:16`, `clients/bridge.stdout:1`",
    ]


def test_a_part_that_the_material_does_not_show_has_no_line():
    lines = markdown.brief(of(facts={}, started_at=None, remedy="")).splitlines()

    assert [re.match(r"- \*\*(.*?)\*\*", line)[1] for line in lines[1:] if line] == [
        "Impact", "When", "Do now", "Verify", "Evidence",
    ]  # fmt: skip


def test_the_whole_has_the_sections_and_sentences_of_the_page():
    facts, found = example()
    one = shown(facts, found)
    text = words(RENDERED(markdown.whole(one)))

    assert re.findall(r"^## (.*)", markdown.whole(one), re.MULTILINE) == [
        "Impact", "Root cause", "What happened when", "Also found", "Further actions", "Open questions", "Coverage",
        "Evidence",
    ]  # fmt: skip
    told = [*one.story.summary, *(effect.text for effect in one.story.impact)]
    told += [question.text for question in one.story.questions]
    assert [sentence for sentence in told if " ".join(sentence.split()) not in text] == []


def test_where_nothing_was_found_it_says_what_to_fetch_as_code():
    facts, _ = example()

    assert "- **To check the rest, fetch**: `export the bridge's ledger`" in markdown.whole(shown(facts, diagnosis()))


def test_a_piped_command_stays_whole():
    assert markdown.code("a | b") == "`a | b`"


def test_it_is_told_in_the_language_that_is_spoken():
    facts, found = example()
    speak("zh")
    try:
        text = markdown.whole(shown(facts, found))
    finally:
        speak(ENGLISH)

    assert "## 根本原因" in text or "## 根因" in text


def test_markdown_of_people_stays_and_ours_may_be_written_anew(tmp_path):
    ours, theirs = tmp_path / "report.md", tmp_path / "notes.md"
    ours.write_text(markdown.brief(of()), encoding="utf-8")
    theirs.write_text("# What mqlab said\n", encoding="utf-8")

    refuse_foreign(ours)
    with pytest.raises(ForeignFileError):
        refuse_foreign(theirs)


def test_a_name_that_ends_with_md_makes_markdown_and_no_notebook(tmp_path, monkeypatch):
    made = []
    monkeypatch.setattr("mqlab.cli.opened", lambda **_: (None, None))
    monkeypatch.setattr("mqlab.report.render_markdown", lambda _, out, short: made.append((out.name, short)))
    for asked in (["-o", str(tmp_path / "a.md")], ["--format", "md", "--short", "-o", str(tmp_path / "b.txt")]):
        CliRunner().invoke(cli.commands, ["report", str(tmp_path), *asked])

    assert made == [("a.md", False), ("b.txt", True)]
