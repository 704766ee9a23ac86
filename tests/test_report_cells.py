"""How a report runs notebooks: literal cells, no Spark."""

import json

import pytest

from mqlab.reporting import running
from mqlab.reporting.running import run


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(running, "notebooks", lambda: tmp_path)
    return tmp_path


def notebook(folder, name, *cells):
    """A notebook of one section whose first cell has the parameter ``paths``."""
    given = {"tags": ["parameters"]}
    code = [{"cell_type": "code", "execution_count": None, "outputs": [], "id": f"c{n}"} for n in range(len(cells) + 1)]
    cells = [one | {"source": text, "metadata": {}} for one, text in zip(code[1:], cells, strict=True)]
    heading = {"cell_type": "markdown", "id": "h", "metadata": {}, "source": "## What?"}
    content = {
        "cells": [code[0] | {"source": "paths = None", "metadata": given}, heading, *cells],
        "metadata": {"kernelspec": {"name": "python3", "language": "python", "display_name": "Python 3"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    (folder / f"{name}.ipynb").write_text(json.dumps(content), encoding="utf-8")


def shown(sections):
    """Title and text of each section."""
    return [(section.title, [str(block.html) for block in section.blocks]) for section in sections]


def test_a_cell_shows_the_value_of_its_last_line(folder):
    notebook(folder, "a", "1", "two = 2", "print(two)", "two", "# nothing", "paths", "None")

    assert shown(run(["a"], {"paths": ["x"]})) == [
        ("What?", ["<pre>1</pre>", "<pre>2</pre>", "<pre>[&#x27;x&#x27;]</pre>"])
    ]


def test_long_texts_of_a_table_are_shown_whole(folder):
    notebook(folder, "a", f"import pandas as pd\npd.DataFrame({{'text': ['{'x' * 99}']}})")

    (text,) = run(["a"], {})[0].blocks
    assert "x" * 99 in text.html


def test_a_figure_is_shown_as_a_chart(folder):
    notebook(folder, "a", "from mqlab.figures.style import figure\nfigure().add_scatter(x=[1, 2], y=[3, 4])")

    (chart,) = run(["a"], {})[0].blocks
    assert [(one["x"], one["y"]) for one in json.loads(chart.json)["data"]] == [([1, 2], [3, 4])]


def test_a_notebook_that_fails_leaves_what_it_showed_and_the_reason(folder):
    notebook(folder, "a", "1", "{}['no']", "2")

    assert shown(run(["a"], {})) == [
        ("What?", ["<pre>1</pre>"]),
        ("a stopped", ["<pre>KeyError: &#x27;no&#x27;</pre>"]),
    ]


def test_a_cell_that_does_not_end_stops_its_notebook_and_no_other(folder, monkeypatch):
    monkeypatch.setattr(running, "CELL_SECONDS", 0.2)
    notebook(folder, "a", "while True: pass")
    notebook(folder, "b", "1")

    assert shown(run(["a", "b"], {})) == [
        ("a stopped", ["<pre>TimeoutError: a cell did not end within 0.2 s</pre>"]),
        ("What?", ["<pre>1</pre>"]),
    ]


def test_notebooks_do_not_know_each_others_names(folder):
    notebook(folder, "a", "left = 1", "left")
    notebook(folder, "b", "left")

    assert shown(run(["a", "b"], {})) == [
        ("What?", ["<pre>1</pre>"]),
        ("b stopped", ["<pre>NameError: name &#x27;left&#x27; is not defined</pre>"]),
    ]
