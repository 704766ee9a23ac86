"""What the material says is text on a terminal, and nothing else."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mqlab
from mqlab.terminal import safe, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text", "plain text"),
        ("a\x1b[31mred", r"a\u001b[31mred"),
        ("c1 \x9b31m", r"c1 \u009b31m"),
        ("abc\u202ecba\u2066x", r"abc\u202ecba\u2066x"),
        ("bell\a\rback\b", r"bell\u0007\u000dback\u0008"),
        ("tag \U000e0041", r"tag \udb40\udc41"),
        ("half \ud800", r"half \ud800"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("中文\u3000é 1\xa0000 🔥", "中文\u3000é 1\xa0000 🔥"),
    ],
)
def test_what_people_cannot_see_is_shown_as_an_escape(text, shown):
    assert visible(text) == shown


@given(st.text())
def test_text_of_any_kind_is_shown_on_one_line_without_a_control(text):
    assert all(letter.isprintable() or letter.isspace() for letter in safe(text))
    assert len(safe(text).splitlines()) <= 1


@given(st.recursive(st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_a_document_says_the_same_with_its_escapes(document):
    assert json.loads(visible(json.dumps(document, ensure_ascii=False, indent=1))) == document


def test_nothing_that_a_guarded_process_prints_reaches_the_terminal_raw():
    program = (
        "import sys, logging, warnings, traceback, click\n"
        "from mqlab.terminal import bare, guard\n"
        "guard()\n"
        "name = 'x\\x1b]0;title\\a\\u202e'\n"
        "print(name); click.echo(name); sys.stdout.write(name + '\\n')\n"
        "logging.warning(name); warnings.warn(name); click.echo(name, err=True)\n"
        "bare(sys.stderr).write('\\x1b[2K')\n"
        "raise ValueError(name)\n"
    )
    environment = os.environ | {"PYTHONPATH": str(Path(mqlab.__file__).parents[1]), "PYTHONIOENCODING": "ascii"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)

    shown = r"x\u001b]0;title\u0007\u202e"
    assert done.stdout == f"{shown}\n" * 3
    assert done.stderr.count(shown) >= 4
    assert [line for line in done.stderr.split("\n") if not line.isprintable()] == [
        line for line in done.stderr.split("\n") if "\x1b[2K" in line
    ]
