"""Which code a result depends on: its own, all of it, and no more."""

import ast
import shutil
from functools import cache
from pathlib import Path

import pytest

import mqlab
from mqlab.cache import dependence

PACKAGE = Path(mqlab.__file__).parent
KEEPING = ("mqlab.cache.batches", "mqlab.cache.dependence", "mqlab.cache.entries", "mqlab.cache.storage",
           "mqlab.cache.workspace")  # fmt: skip
"""What keeps results without having a part in them."""
WORDS = {"mqlab.errors", "mqlab.units", "mqlab.words", "mqlab.words.filling"}
"""What only says why there is no result, or is said of one."""


@cache
def counted(parts):
    """Names of all modules in these files and folders."""
    places = [PACKAGE / part for part in parts]
    files = [file for place in places for file in (place.rglob("*.py") if place.is_dir() else [place])]
    names = {".".join(("mqlab", *file.relative_to(PACKAGE).with_suffix("").parts)) for file in files}
    return names | {name.removesuffix(".__init__") for name in names}


def imported(module):
    """Names of the modules of this package that *module* imports, by its syntax tree."""
    place = PACKAGE.joinpath(*module.split(".")[1:])
    file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    known, found = counted((".",)), set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= {name if name in known else node.module for name in inner}
    return found & known


def reached(roots):
    found, ahead = set(), set(roots)
    while ahead:
        found |= (now := ahead)
        ahead = {name for module in now for name in imported(module)} - found
    return found


def test_no_module_that_has_a_part_in_rows_is_forgotten():
    assert reached({"mqlab.kernel.job", "mqlab.kernel.splits"}) - WORDS <= counted(dependence.READING)


def test_no_module_that_has_a_part_in_facts_is_forgotten():
    parts = reached(imported("mqlab.cache.reading") - set(KEEPING))
    assert parts - WORDS <= counted(dependence.THINNING)


@pytest.fixture
def changed(tmp_path):
    """The kinds of results that a change of one module makes worth nothing."""
    copy = Path(shutil.copytree(PACKAGE, tmp_path / "mqlab", ignore=shutil.ignore_patterns("__pycache__")))
    kinds = {"rows": dependence.READING, "facts": dependence.THINNING}

    def results(module):
        before = {kind: dependence.version(parts, copy) for kind, parts in kinds.items()}
        with (copy / module).open("a") as file:
            file.write("# changed\n")
        dependence.own.cache_clear()
        return {kind for kind, parts in kinds.items() if dependence.version(parts, copy) != before[kind]}

    return results


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        ("formats/kafka_client_log.py", {"rows", "facts"}),
        ("kernel/vectors.py", {"rows", "facts"}),
        ("material/recognition.py", {"rows", "facts"}),
        ("thinning/tables.py", {"rows", "facts"}),
        ("secrets/rules.py", {"rows", "facts"}),
        ("signals.py", {"facts"}),
        ("intake.py", {"facts"}),
        ("cache/entries.py", {"facts"}),
        ("assemble.py", set()),
        ("catalogue.py", set()),
        ("cli.py", set()),
        ("detectors/batch_split_loop.py", set()),
        ("screen.py", set()),
        ("spark/session.py", set()),
        ("spark/jvm.py", set()),
        ("verdict.py", set()),
    ],
)
def test_a_change_makes_worth_nothing_what_it_has_a_part_in(changed, module, expected):
    assert (PACKAGE / module).exists()
    assert changed(module) == expected
