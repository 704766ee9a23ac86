"""Notebooks tell the story; the package does the work."""

import ast
import json
from pathlib import Path

import jupytext
import pytest

FOLDER = Path(__file__).parents[1] / "notebooks"
NAMES = sorted(path.stem for path in FOLDER.glob("*.py"))
STUDIES = ["commit_study"]
"""They need no material, and are no part of a report."""
COMPARED = ["compare"]
"""They open two captures, and are no part of a report either."""
REPORTED = [name for name in NAMES if name not in STUDIES + COMPARED]


def notebook(name):
    return json.loads((FOLDER / f"{name}.ipynb").read_text(encoding="utf-8"))


def code_cells(name):
    return [cell for cell in notebook(name)["cells"] if cell["cell_type"] == "code"]


def test_every_notebook_has_its_twin():
    assert sorted(path.stem for path in FOLDER.glob("*.ipynb")) == NAMES
    assert NAMES == [
        "00_triage",
        "01_traffic_amplification",
        "02_duplicate_client_ids",
        "03_rebalance_timeouts",
        "04_delivery_audit",
        "05_mqtt_sessions",
        "06_live_capture",
        "commit_study",
        "compare",
        "your_own_question",
    ]


@pytest.mark.parametrize("name", NAMES)
def test_commits_no_output(name):
    assert [cell["outputs"] for cell in code_cells(name) if cell["outputs"] or cell["execution_count"]] == []


@pytest.mark.parametrize("name", NAMES)
def test_matches_its_reviewable_twin(name):
    twins = (jupytext.read(FOLDER / f"{name}{suffix}") for suffix in (".py", ".ipynb"))
    paper, screen = ([(c.cell_type, c.source, c.metadata.get("tags", [])) for c in twin.cells] for twin in twins)

    assert paper == screen


@pytest.mark.parametrize("name", NAMES)
def test_defines_nothing(name):
    tree = ast.parse((FOLDER / f"{name}.py").read_text(encoding="utf-8"))

    assert [
        n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda)
    ] == []


@pytest.mark.parametrize("name", REPORTED)
def test_takes_the_parameters_that_a_report_sets(name):
    cells = [cell for cell in code_cells(name) if "parameters" in cell["metadata"].get("tags", [])]
    assigned = {node.targets[0].id for node in ast.parse("".join(cells[0]["source"])).body}

    assert len(cells) == 1
    assert {"paths", "options"} <= assigned


@pytest.mark.parametrize("name", REPORTED)
def test_opens_its_material_with_one_call(name):
    tree = ast.parse("\n".join("".join(cell["source"]) for cell in code_cells(name)))
    calls = [
        ast.unparse(n) for n in ast.walk(tree) if isinstance(n, ast.Call) and "open_capture" in ast.unparse(n.func)
    ]

    assert calls == ["mqlab.open_capture(paths, **options)"]


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_reaches_no_broker_unless_one_is_named(name):
    cells = [cell for cell in code_cells(name) if "parameters" in cell["metadata"].get("tags", [])]
    given = {node.targets[0].id: ast.literal_eval(node.value) for node in ast.parse("".join(cells[0]["source"])).body}

    assert len(cells) == 1
    assert given["bootstrap"] == ""


@pytest.mark.parametrize("name", NAMES)
def test_ends_by_checking_itself(name):
    body = ast.parse("".join(code_cells(name)[-1]["source"])).body

    assert isinstance(body[-1], ast.Assert)


@pytest.mark.parametrize("name", NAMES)
def test_runs_on_the_kernel_that_everybody_has(name):
    assert notebook(name)["metadata"]["kernelspec"]["name"] == "python3"
