"""What a cell shows that ends with findings, evidence, facts or a table."""

from dataclasses import fields, replace

import pytest
from facts_builder import episode, facts, log

from mqlab.facts import Facts
from mqlab.findings import Certainty, Evidence, Rows, finding
from mqlab.shared.table import table
from mqlab.sources import Envelope, Reading, Source
from mqlab.verdict import diagnose

HOSTILE = "<script>alert(1)</script>\u202e\x1b[31m"
HARMLESS = r"&lt;script&gt;alert(1)&lt;/script&gt;\u202e\u001b[31m"


def found(text="it happened", places=1):
    evidence = [Evidence(f"logs/{text}.log", line, text, why=text) for line in range(1, places + 1)]
    return finding(
        "fan-out",
        text,
        Certainty.LIKELY,
        (0.0, 60.0),
        statement=text,
        measures={"peak_lag": 1234.0},
        evidence=evidence,
        verify=text,
        mitigate=text,
        remedy=text,
    )


SOURCE = Source("0" * 16, HOSTILE, HOSTILE, HOSTILE, Reading.LOG, Envelope.NONE, 1, None)
DIAGNOSIS = replace(diagnose(Facts()), findings=(found(HOSTILE),), gaps=(HOSTILE,))
HELD = facts(log(HOSTILE), episode(HOSTILE, 0, HOSTILE, text=HOSTILE))


def test_findings_are_a_tuple_like_any_other():
    held = DIAGNOSIS.findings

    assert held == (found(HOSTILE),)
    assert (found(HOSTILE),) == held
    assert [*held, *held[:1]] == [found(HOSTILE)] * 2
    assert isinstance(held, tuple)


def test_in_a_terminal_they_are_a_line_each_with_the_number_that_show_knows():
    assert repr(Rows([found("a"), found("b")])).splitlines() == [
        "F1  fan-out · warning · likely · a",
        "F2  fan-out · warning · likely · b",
    ]
    assert repr(found("a")) == "fan-out · warning · likely · a: a"
    assert repr(Evidence("a.log", 7, "line\tseven", "why")) == "a.log:7 · why · line seven"
    assert repr(Rows()) == "()"


def test_long_rows_and_many_of_them_are_cut_in_a_terminal():
    many = Rows(Evidence("a.log", line, "x" * 999) for line in range(1000))

    assert len(repr(many)) < 2_500
    assert repr(many).endswith("and 990 rows more")


@pytest.mark.parametrize(
    "shown",
    [
        found(HOSTILE),
        found(HOSTILE).evidence,
        found(HOSTILE).evidence[0],
        DIAGNOSIS,
        DIAGNOSIS.findings,
        DIAGNOSIS.gaps,
        HELD,
        HELD.coverage,
        HELD.episodes,
        Rows([SOURCE]),
        table([(HOSTILE, HOSTILE)], "a|b"),
    ],
    ids=lambda shown: type(shown).__name__,
)
def test_nothing_of_the_material_runs_or_turns_around_in_a_notebook(shown):
    page = shown._repr_html_()

    assert HARMLESS in page
    assert "<script" not in page
    assert [letter for letter in page if not letter.isprintable() and letter not in "\n"] == []


def test_nor_in_a_terminal():
    shown = (found(HOSTILE), found(HOSTILE).evidence, DIAGNOSIS, DIAGNOSIS.gaps, HELD, HELD.episodes, Rows([SOURCE]))

    assert [letter for one in shown for letter in repr(one) if not letter.isprintable() and letter != "\n"] == []


def test_a_finding_says_what_happened_what_to_do_and_what_proves_it():
    page = found("it happened", places=9)._repr_html_()

    for part in ("fan-out · warning · likely", "<b>Do now</b> it happened", "peak_lag", "1,234", "4 places more"):
        assert part in page
    assert [page.count(f"logs/it happened.log:{line}<") for line in range(1, 10)] == [1] * 9


def test_facts_say_what_they_hold_in_a_few_words_however_much_it_is():
    held = facts([episode("batch-split", n, client_id="app") for n in range(5_000)])

    assert repr(held) == "facts of Kafka\n  episodes 5,000"
    assert len(held._repr_html_()) < 2_000
    assert "and 4,980 rows more" in held.episodes._repr_html_()


@pytest.mark.parametrize("held", [HELD, DIAGNOSIS], ids=["facts", "diagnosis"])
def test_whatever_they_list_is_shown_as_a_table(held):
    listed = [value for field in fields(held) if isinstance(value := getattr(held, field.name), tuple)]

    assert len(listed) > 5
    assert [one for one in listed if not one._repr_html_().startswith(("<div class=", "<i>none"))] == []


def test_a_table_is_shown_whole_and_keeps_its_words_together_where_there_is_room():
    narrow = table([("11:40:49", "prose " * 99)], "UTC|how it is known")._repr_html_()
    wide = table([("x" * 99,) * 12], "|".join("abcdefghijkl"))._repr_html_()

    assert "prose " * 98 in narrow
    assert narrow.count("min-width: 30.0ch") == 1
    assert wide.count("min-width: 8.0ch") == 12
