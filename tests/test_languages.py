"""Texts in another language: found as the templates they are made from, shown on screens and pages."""

import ast
import re
from io import BytesIO
from pathlib import Path
from time import process_time
from types import SimpleNamespace

import plain_reading
import pytest
from babel.messages.extract import extract
from click.testing import CliRunner

from mqlab import report, screen, words
from mqlab.cli import commands
from mqlab.delivery.audit import audits
from mqlab.languages import UnknownLanguageError, extraction, keep, pages, said, speak
from mqlab.languages.translation import Translator, messages
from mqlab.languages.width import cells, wrapped
from mqlab.mqtt.chain import ways
from mqlab.notes import IncidentNotes
from mqlab.screens.audit import audit_screen
from mqlab.shared.table import table
from mqlab.verdict import diagnose

SAMPLES = Path(__file__).parents[1] / "data" / "samples"

PLACE = re.compile(r"\{\d+\}")
ENGLISH = re.compile(r"(?<![\w.\-/:=$_`@*])[A-Za-z]?[a-z]+(?: [a-z]+)+(?![\w\-/=_`@*]|[.:]\w)")
"""Two words of prose, outside of what stays: code, quoted lines, commands of mqlab."""
STAYS = re.compile(r"<(script|style|pre|code)\b.*?</\1>|<[^>]*>|\"[^\"]*\"|&quot;.*?&quot;|mqlab [a-z-]+", re.DOTALL)
KNOWN = {
    "{0} record{|s} of {1} {is|are} gone": "{1} 的 {0} 条消息不见了",
    "a follower without them took over": "没有这些消息的 follower 接管",
    "Consumers are slow": "消费者很慢",
    "Restart it; side effect: one rebalance": "重启它；副作用：一次再均衡",
}


@pytest.fixture
def chinese():
    speak("zh")
    yield
    speak("en")


def templates(source):
    found = extraction.Texts(labels=True)
    found.visit(ast.parse(source))
    return list(found.found)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("4,310 records of orders are gone", "orders 的 4,310 条消息不见了"),
        ("1 record of orders is gone.", "orders 的 1 条消息不见了。"),
        (
            "consumers are slow; 2 records of a, b are gone: a follower without them took over",
            "消费者很慢；a, b 的 2 条消息不见了：没有这些消息的 follower 接管",
        ),
        ("Restart it; side effect: one rebalance. Consumers are slow.", "重启它；副作用：一次再均衡。消费者很慢。"),
        ("3.2 min", "3.2 分钟"),
        ("2026-11-22 07:00:00 UTC", "2026年11月22日 07:00:00 UTC"),
        ("orders, payments; max.poll.records = 500", "orders, payments; max.poll.records = 500"),
        (
            "Worker - it says consumers are slow and gives up at last",
            "Worker - it says consumers are slow and gives up at last",
        ),
    ],
)
def test_a_text_is_told_by_the_template_it_was_made_from(text, told):
    assert Translator(KNOWN)(text) == told


@pytest.mark.parametrize("name", ["x" * 4096, "records of " * 380, "a; b: c, (d. e) " * 250, "(" * 4096])
def test_names_of_four_kilobytes_take_no_time(name):
    begun = process_time()
    told = Translator(KNOWN)(f"7 records of {name} are gone")
    assert process_time() - begun < 1
    assert name[:1] in told


def test_names_of_the_material_stay_whatever_words_they_are_made_of():
    told = Translator(KNOWN | {"events": "事件"})
    assert told("3 records of events are gone") == "事件的 3 条消息不见了"
    told.keep(["events"])
    assert told("3 records of events are gone") == "events 的 3 条消息不见了"


def test_texts_of_code_are_templates_with_their_choices():
    source = """
def told(facts):
    '''Docstrings are read by nobody here.'''
    if facts["some key of it"] == "a value of it":
        why = f"{count} record{'s' if count != 1 else ''} of {topic}{f' on {node}' if node else ''} are gone. Do so."
    return counted(lost, "lost message"), line("STATUS", why), why.startswith("some words here")
"""
    assert templates(source) == [
        "{0} record{|s} of {1} on {2} are gone",
        "Do so",
        "{0} record{|s} of {1} are gone",
        "{0} lost message{|s}",
        "STATUS",
    ]


@pytest.mark.usefixtures("chinese")
def test_a_page_is_told_without_its_code_and_with_its_marks():
    html = '<html lang="en"><p title="the producer\'s log">&amp; <b>the producer\'s log</b></p><pre>expired token</pre>'
    told = pages.page(html)
    assert told.startswith('<html lang="zh-CN">')
    assert told.endswith('title="生产者的日志">&amp; <b>生产者的日志</b></p><pre>expired token</pre>')


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


def test_no_text_is_missing_and_each_place_is_told():
    found = {text for texts in extraction.texts().values() for text in texts}
    known = messages("zh")
    assert sorted(found - known.keys()) == []
    assert [text for text, told in known.items() if set(PLACE.findall(text)) != set(PLACE.findall(told))] == []


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
