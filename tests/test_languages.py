"""Texts in another language: filled again or known as a whole, shown on screens and pages."""

import ast
import re
import sys
from importlib import resources
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace

import plain_reading
import pytest
from babel.messages.extract import extract
from babel.messages.pofile import read_po
from click.testing import CliRunner

from mqlab import report, screen, words
from mqlab.cli import commands
from mqlab.delivery.audit import audits
from mqlab.languages import UnknownLanguageError, fixed, keep, said, speak
from mqlab.languages.fixed import messages
from mqlab.mqtt.chain import ways
from mqlab.notes import IncidentNotes
from mqlab.screens.audit import audit_screen
from mqlab.shared.table import table
from mqlab.terminal import cells, wrapped
from mqlab.verdict import diagnose

sys.path.insert(0, str(Path(__file__).parents[1] / "docs" / "site"))
catalogues = __import__("catalogues")
SAMPLES = Path(__file__).parents[1] / "data" / "samples"

ENGLISH = re.compile(r"(?<![\w.\-/:=$_`@*])[A-Za-z]?[a-z]+(?: [a-z]+)+(?![\w\-/=_`@*]|[.:]\w)")
"""Two words of prose, outside of what stays: code, quoted lines, commands of mqlab."""
STAYS = re.compile(r"<(script|style|pre|code)\b.*?</\1>|<[^>]*>|\"[^\"]*\"|&quot;.*?&quot;|mqlab [a-z-]+", re.DOTALL)


@pytest.fixture
def chinese():
    speak("zh")
    yield
    speak("en")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("lag", "积压"),
        ("Lag", "积压"),
        ("UNDETERMINED", "未能确定"),
        ("Every class could be checked", "Every class could be checked"),
        ("3.2 min", "3.2 分钟"),
        ("2026-11-22 07:00:00 UTC", "2026年11月22日 07:00:00 UTC"),
        ("orders, payments; max.poll.records = 500", "orders, payments; max.poll.records = 500"),
        ("Worker - it says that the lag is high", "Worker - it says that the lag is high"),
        ("x" * 4096, "x" * 4096),
    ],
)
@pytest.mark.usefixtures("chinese")
def test_a_text_of_no_room_is_told_if_it_is_known_as_a_whole(text, told):
    assert said(text) == told


@pytest.mark.usefixtures("chinese")
def test_names_of_the_material_stay_whatever_words_they_are_made_of(monkeypatch):
    monkeypatch.setattr(fixed, "_KEPT", set())
    fixed.keep(["events"])
    assert said("events") == "events"
    assert said(words.room("delivery-path")("topic", topic="events", parts=("lag",))) == "events：积压"


def test_lines_end_where_two_columns_for_each_chinese_character_are_full():
    lines = wrapped("消费组 shop 再均衡了两次，因为成员离开。", 12, "  ")
    assert all(cells(line) <= 12 for line in lines)
    assert "".join(line.strip() for line in lines).replace(" ", "") == "消费组shop再均衡了两次，因为成员离开。"


def test_an_unknown_language_is_told_with_those_that_there_are():
    with pytest.raises(UnknownLanguageError, match="Known: en, zh"):
        speak("fr")
    assert isinstance(
        CliRunner().invoke(commands, ["explain", "slow-consumer", "--lang", "fr"]).exception, UnknownLanguageError
    )


@pytest.mark.usefixtures("chinese")
def test_the_catalogue_is_told_in_chinese():
    told = CliRunner().invoke(commands, ["explain", "slow-consumer", "--lang", "zh"]).output
    assert "消费" in told
    assert said("no such text here") == "no such text here"


def test_no_fixed_text_is_missing():
    found = {text for texts in catalogues.texts().values() for text in texts}
    assert sorted(found - messages("zh").keys()) == []


def test_every_term_stands_in_the_code():
    package = resources.files("mqlab")
    with package.joinpath("languages/zh/terms.po").open("rb") as stream:
        terms = {str(one.id) for one in read_po(stream) if one.id}
    code = [ast.parse(file.read_bytes()) for file in package.rglob("*.py")]
    said = {one.value for tree in code for one in ast.walk(tree) if isinstance(one, ast.Constant)}
    parts = {part.lower() for text in said if isinstance(text, str) for part in text.split("|")}
    assert sorted(term for term in terms if term.lower() not in parts) == []


def headers():
    """Names of columns, as calls of ``table`` have them in one text."""
    for file in (SAMPLES.parents[1] / "mqlab").rglob("*.py"):
        source = file.read_bytes()
        if b"from mqlab.shared.table import table" in source:
            for _, names, _, _ in extract("python", BytesIO(source), keywords={"table": (2,)}):
                yield from map(str.strip, names.split("|"))


def test_every_column_of_a_table_has_a_name_in_chinese():
    known = messages("zh")
    assert {"lag at the end", "with room", "queues with an owner", "unanswered"} <= set(headers())
    assert sorted(name for name in set(headers()) if name not in known) == []


@pytest.mark.usefixtures("chinese")
def test_a_table_is_told_in_chinese_but_for_what_the_material_says():
    rows = [("lag", words.room("kafka-tables")("too-late", late=3, polls=4, share=0.75), "3.20 min", 7, "<b>\x1b")]
    frame = table(rows, "topic|polls|longest|members|text")
    html = frame._repr_html_()
    shown = re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", html)
    assert shown == [
        *("主题", "拉取", "最长", "成员", "原文"),
        *("lag", "4 次中的 3 次（75.0%）", "3.20 分钟", "7", "&lt;b&gt;\\u001b"),
    ]
    assert frame.iloc[0, 0] == "3 of 4 (75.0 %)"


@pytest.mark.parametrize("sample", ["mqtt-takeover-01", "rocketmq-dup-01", "kafka-rebalance-05"])
@pytest.mark.usefixtures("chinese")
def test_screens_and_reports_of_samples_are_told_without_english(sample, tmp_path):
    facts = plain_reading.opened([SAMPLES / sample], tmp_path)
    keep(facts)
    diagnosis = diagnose(facts)
    shown = [
        screen.screen(diagnosis, [sample], audits=audits(facts)),
        audit_screen(audits(facts), ways=ways(facts)),
        report.html(SimpleNamespace(facts=facts, diagnosis=diagnosis, notes=IncidentNotes())),
    ]
    assert [ENGLISH.findall(STAYS.sub(" | ", text)) for text in shown] == [[], [], []]
