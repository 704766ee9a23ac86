"""Who reads Facts asks what a source is, by its software and role, never by the name of its format."""

import ast
import tomllib
from pathlib import Path

import pytest

from mqlab.formats.registry import BY_NAME
from mqlab.sources import Role

ROOT = Path(__file__).parents[2]
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
(RIGHT,) = (c["source_modules"] for c in CONTRACTS if c["name"] == "Right of Facts there is no format and no Spark")
TOPS = (
    "verdict",
    "scope",
    "changes",
    "precedence",
    "settings_audit",
    "narrowing",
    "screen",
    "jsonout",
    "report",
)
NAMES_COMMANDS: set[str] = set()
"""Modules that name commands which are called as formats are."""


def modules():
    for name in (*RIGHT, *(f"mqlab.{top}" for top in TOPS)):
        place = ROOT / name.replace(".", "/")
        yield from sorted(place.rglob("*.py")) if place.is_dir() else [place.with_suffix(".py")]


def names_in(module):
    texts = {n.value for n in ast.walk(ast.parse(module.read_text())) if isinstance(n, ast.Constant)}
    return sorted(texts & BY_NAME.keys())


def test_no_module_right_of_facts_holds_the_name_of_a_format():
    places = {str(module.relative_to(ROOT)): names_in(module) for module in modules()}
    assert len(places) > 100
    assert {place for place, found in places.items() if found} == NAMES_COMMANDS


@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_a_format_whose_name_says_log_is_one(name):
    assert BY_NAME[name].FORMAT.role.is_log is name.endswith("-log")
    assert BY_NAME[name].FORMAT.role is not Role.UNKNOWN
