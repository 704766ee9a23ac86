"""``mqlab notebook``: notebooks for people who have no checkout."""

import ast
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from mqlab import bundled, cli
from mqlab.verbs import notebook

MATERIAL = "2024-10-24 10:00:00,000 INFO  Kafka version: 3.9.1\n"
KERNEL = """
import json, os, pathlib, sys, time
kernel = pathlib.Path(os.environ["JUPYTER_PATH"].split(os.pathsep)[0], "kernels", "python3", "kernel.json")
print(json.loads(kernel.read_text())["argv"][0], sys.argv[1:], os.getpid(), flush=True)
time.sleep(1000)
"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run the verb in an empty folder beside ``incident``; gives what it printed, or its exception."""
    (tmp_path / "here").mkdir()
    (tmp_path / "incident").mkdir()
    (tmp_path / "incident" / "client.log").write_text(MATERIAL)
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("MQLAB_WORKSPACE", str(tmp_path / "workspace"))

    def running(*words):
        done = CliRunner().invoke(
            cli.commands, ["notebook", *map(str, words)], prog_name="mqlab", standalone_mode=False
        )
        return str(done.exception or done.output)

    return running


@pytest.fixture
def opened(run, monkeypatch):
    """Open a notebook without JupyterLab; gives what was printed and its parameters."""
    monkeypatch.setattr(notebook, "_jupyter", lambda target, _: click.echo(f"opens {target}") or 0)

    def opening(*words):
        said = run("open", *words)
        target, given = Path(said.rpartition("opens ")[2].strip()), {}
        if "opens " in said:
            exec(parameters(json.loads(target.read_text())), given)
        return said, {
            name: value for name, value in given.items() if name in ("paths", "options", "before", "after", "at")
        }

    return opening


def parameters(content):
    return next("".join(c["source"]) for c in content["cells"] if "parameters" in c["metadata"].get("tags", []))


def test_each_notebook_is_listed_with_the_question_that_it_begins_with(run):
    every = {path.stem for path in bundled.notebooks().rglob("*.ipynb")}
    lines = [line.split(maxsplit=1) for line in run("list").splitlines() if line.startswith("  ")]

    assert {name for name, _ in lines} == every
    assert dict(lines)["00_triage"] == "What happened?"


def test_a_notebook_is_copied_and_takes_nobodys_place(run, tmp_path):
    assert run("copy", "compare") == "wrote compare.ipynb: jupyter lab compare.ipynb\n"
    assert Path("compare.ipynb").read_text() == (bundled.notebooks() / "compare.ipynb").read_text()
    Path("compare.ipynb").write_text("mine")
    assert run("copy", "compare") == "compare.ipynb already exists and was not changed: give another file name."
    assert run("copy", "course_1_lag", tmp_path / "lag.ipynb").startswith(f"wrote {tmp_path / 'lag.ipynb'}")
    assert (
        run("copy", "compare", "nowhere")
        == "nowhere is not a folder: create it first, or give a name that ends with .ipynb."
    )
    assert run("copy", "compare", "nowhere/x.ipynb") == "There is no folder nowhere: create it first."
    assert run("copy", "no-such").startswith("There is no notebook 'no-such'. Known: 00_triage, ")
    assert [path.name for path in Path().iterdir()] == ["compare.ipynb"]


def test_a_notebook_is_opened_with_its_material_and_options_filled_in(opened, tmp_path):
    log = str(tmp_path / "incident")
    said, given = opened(
        "../incident", "--group", "shop", "--log-tz", "Asia/Shanghai", "--since", "2024-10-24T10:00:00Z"
    )

    assert said == "wrote 00_triage.ipynb\nJupyterLab starts; Ctrl-C ends it.\nopens 00_triage.ipynb\n"
    options = {"group": "shop", "log_tz": ["Asia/Shanghai"], "since": "2024-10-24T10:00:00Z"}
    assert given == {"paths": log, "options": options}
    assert "# a" in parameters(json.loads(Path("00_triage.ipynb").read_text()))

    two = opened(log, "../incident/*.log", "--notebook", "compare", "--folder", "mine")
    assert two[0].endswith(f"opens {Path('mine', 'compare.ipynb')}\n")
    assert two[1] == {"before": log, "after": f"{log}/*.log", "at": None, "options": {}}


def test_a_notebook_that_is_there_is_opened_as_it_was_left_but_for_its_own_material_only(opened):
    opened("../incident")
    left = json.loads(Path("00_triage.ipynb").read_text())
    left["cells"].append({"cell_type": "markdown", "metadata": {}, "source": ["mine"]})
    Path("00_triage.ipynb").write_text(json.dumps(left))

    assert opened("../incident")[0] == "JupyterLab starts; Ctrl-C ends it.\nopens 00_triage.ipynb\n"
    refused = "00_triage.ipynb already exists, for other material or options: give --folder, or move it away."
    assert opened("../incident", "--group", "shop")[0] == refused
    assert json.loads(Path("00_triage.ipynb").read_text()) == left
    Path("00_triage.ipynb").write_text("no notebook")
    assert opened("../incident")[0] == refused


@pytest.mark.parametrize(
    ("words", "because"),
    [
        (["nowhere"], "There is no 'nowhere'"),
        (["."], "Nothing readable in .: it contains no file"),
        (["-"], "A notebook cannot read standard input"),
        (["../incident", "--since", "yesterday"], "'yesterday' is not a valid time"),
        (["../incident", "--log-tz", "Mars"], "'Mars' is not a time zone"),
        (["../incident", "--ledger", "gone.toml"], "The ledger map gone.toml cannot be used"),
        (["../incident", "--plugins", "gone"], "The plug-in gone cannot be used"),
        (["../incident", "--notebook", "no-such"], "There is no notebook 'no-such'"),
        (["../incident", "--notebook", "commit_study"], "commit_study reads no material"),
        (["../incident", "--notebook", "compare"], "compare takes two captures, the earlier one first; given: 1."),
        (["../incident", "--folder", "/proc/none"], "The folder /proc/none cannot be created"),
    ],
)
def test_what_cannot_be_opened_is_said_before_anything_is_written(opened, words, because):
    assert opened(*words)[0].startswith(because)
    assert list(Path().iterdir()) == []


def test_values_take_the_place_of_values_and_nothing_else():
    source = 'a: str = "größer"  # why\nb = {  # of\n    1: 2,\n}  # that\nc: int = 3\nd = 4\n'
    content = {"cells": [{"metadata": {}, "source": "a = 1"}, {"metadata": {"tags": ["parameters"]}, "source": source}]}

    assert sorted(bundled.filled(content, {"a": "ü", "b": [1], "c": None, "e": 5})) == ["a", "b", "c", "d"]
    assert parameters(content) == "a: str = 'ü'  # why\nb = [1]  # that\nc: int = None\nd = 4"
    assert content["cells"][0]["source"] == "a = 1"


def test_jupyterlab_runs_this_python_and_ends_with_the_verb(tmp_path):
    package = tmp_path / "lib" / "jupyterlab"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text(KERNEL)
    (tmp_path / "client.log").write_text(MATERIAL)
    root = str(Path(notebook.__file__).parents[2])
    env = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(tmp_path / "lib"), root]),
        "MQLAB_WORKSPACE": str(tmp_path / "w"),
    }
    command = [sys.executable, "-m", "mqlab", "notebook", "open", "client.log", "--no-browser"]
    verb = subprocess.Popen(command, cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    *_, shown = [verb.stdout.readline().rstrip() for _ in range(3)]
    verb.send_signal(signal.SIGINT)
    _, err = verb.communicate(timeout=60)

    python, words, pid = re.fullmatch(r"(\S+) (\[.*\]) (\d+)", shown).groups()
    assert python == sys.executable
    assert ast.literal_eval(words)[:2] == ["--LabApp.default_url=/lab/tree/00_triage.ipynb", "--no-browser"]
    assert (verb.returncode, err.strip()) == (130, "mqlab: interrupted")
    assert not Path("/proc", pid).exists()
    assert list((tmp_path / "w").rglob("kernel.json")) == []
