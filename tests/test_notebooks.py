"""Notebooks tell the story; the package does the work."""

import ast
import json
from pathlib import Path

import jupytext
import papermill
import pytest

from mqlab import bundled

FOLDER = Path(__file__).parents[1] / "notebooks"
EVERY = sorted(str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*.ipynb"))
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
    assigned = {node.target.id for node in ast.parse("".join(cells[0]["source"])).body}

    assert len(cells) == 1
    assert {"paths", "options"} <= assigned


@pytest.mark.parametrize("name", REPORTED)
def test_opens_its_material_with_one_call(name):
    tree = ast.parse("\n".join("".join(cell["source"]) for cell in code_cells(name)))
    calls = [
        ast.unparse(n) for n in ast.walk(tree) if isinstance(n, ast.Call) and "open_capture" in ast.unparse(n.func)
    ]

    assert calls == ["mqlab.open_capture(paths, **options)"]


@pytest.mark.parametrize("name", EVERY)
def test_papermill_names_the_type_of_each_parameter_and_says_what_it_is_for(name):
    cells = json.loads((FOLDER / name).read_text(encoding="utf-8"))["cells"]
    source = "".join("".join(cell["source"]) for cell in cells if "parameters" in cell["metadata"].get("tags", []))
    known = papermill.inspect_notebook(str(FOLDER / name)).values()

    assert [one["name"] for one in known] == [node.target.id for node in ast.parse(source).body]
    assert [one["name"] for one in known if one["inferred_type_name"] == "None" or not one["help"]] == []


@pytest.mark.parametrize("name", EVERY)
def test_writes_nothing_above_the_folder_it_is_run_in(name):
    known = papermill.inspect_notebook(str(FOLDER / name))
    written = [ast.literal_eval(known[one]["default"]) for one in ("output", "folder") if one in known]

    assert [path for path in written if Path(path).is_absolute() or ".." in Path(path).parts] == []


@pytest.mark.parametrize("name", [name for name in REPORTED if name != "06_live_capture"] + COMPARED)
def test_finds_its_sample_wherever_it_is_run(name, tmp_path, monkeypatch):
    known = papermill.inspect_notebook(str(FOLDER / f"{name}.ipynb"))
    monkeypatch.chdir(tmp_path)
    named = [ast.literal_eval(known[one]["default"]) for one in ("paths", "before", "after") if one in known]

    assert [Path(bundled.sample_or_path(one)).is_dir() for one in named] == [True] * len(named)


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_reaches_no_broker_unless_one_is_named(name):
    cells = [cell for cell in code_cells(name) if "parameters" in cell["metadata"].get("tags", [])]
    given = {node.target.id: ast.literal_eval(node.value) for node in ast.parse("".join(cells[0]["source"])).body}

    assert len(cells) == 1
    assert given["bootstrap"] == ""


@pytest.mark.parametrize("name", NAMES)
def test_ends_by_checking_itself(name):
    body = ast.parse("".join(code_cells(name)[-1]["source"])).body

    assert isinstance(body[-1], ast.Assert)


@pytest.mark.parametrize("name", NAMES)
def test_runs_on_the_kernel_that_everybody_has(name):
    assert notebook(name)["metadata"]["kernelspec"]["name"] == "python3"
