"""Which code a result depends on: its own, all of it, and no more."""

import ast
import shutil
from pathlib import Path

import pytest

import mqlab
from mqlab.cache import dependence
from mqlab.sources import Reading

PACKAGE = Path(mqlab.__file__).parent
KEEPING = ("mqlab.cache.", "mqlab.session", "mqlab.tuning")
"""What keeps results, and starts sessions, without having a part in them."""


def imported(module):
    """Names of the modules of this package that *module* imports, by its syntax tree."""
    place = PACKAGE.joinpath(*module.split(".")[1:])
    file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    known = {".".join(("mqlab", *p.relative_to(PACKAGE).with_suffix("").parts)) for p in PACKAGE.rglob("*.py")}
    known |= {name.removesuffix(".__init__") for name in known if name.endswith("__init__")}
    found = set()
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


@pytest.mark.parametrize("roots", [dependence.SCANNING, dependence.THINNING])
def test_no_module_that_has_a_part_in_a_result_is_forgotten(roots):
    assert dependence.modules(roots) == reached(roots)


def test_whatever_takes_part_in_reading_is_counted():
    parts = {name for name in imported("mqlab.cache.reading") if not name.startswith(KEEPING)}

    assert parts <= dependence.modules(dependence.THINNING)


@pytest.fixture
def changed(tmp_path):
    """The kinds of results that a change of one module makes worth nothing."""
    copy = Path(shutil.copytree(PACKAGE, tmp_path / "mqlab", ignore=shutil.ignore_patterns("__pycache__")))

    def results(module):
        assert (copy / module).exists()
        before = {**dependence.scan_versions(), "rows": dependence.rows_version()}
        with (copy / module).open("a") as file:
            file.write("# changed\n")
        dependence.scan_versions.cache_clear()
        after = {**dependence.scan_versions(copy), "rows": dependence.rows_version(copy)}
        return {str(name) for name in before if before[name] != after[name]}

    return results


LOG, TABLE, DOCUMENT, COUNT = (
    reading.value for reading in (Reading.LOG, Reading.TABLE, Reading.DOCUMENT, Reading.COUNT)
)


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        ("loaders/kafka_client_log.py", {LOG, "rows"}),
        ("loaders/prometheus_json.py", {DOCUMENT, "rows"}),
        ("loaders/kafka_consumer_groups.py", {"rows"}),
        ("loaders/ledger_csv.py", {"rows"}),
        ("signals.py", {"rows"}),
        ("canonical.py", {"rows"}),
        ("thinning/episodes.py", {"rows"}),
        ("material/recognition.py", {LOG, TABLE, DOCUMENT, COUNT, "rows"}),
        ("secrets.py", {LOG, TABLE, DOCUMENT, COUNT, "rows"}),
        ("assemble.py", set()),
        ("catalogue.py", set()),
        ("cli.py", set()),
        ("detectors/batch_split_loop.py", set()),
        ("screen.py", set()),
        ("session.py", set()),
        ("tuning.py", set()),
        ("verdict.py", set()),
    ],
)
def test_a_change_makes_worth_nothing_what_it_has_a_part_in(changed, module, expected):
    assert changed(module) == expected
