"""What measures and facts of findings are called where somebody reads them: ``measures.toml``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from mqlab.commands import read_toml


@cache
def _names() -> Mapping[str, Mapping[str, Any]]:
    return read_toml("measures.toml")


def measure_words(name: str) -> str:
    """``retried_records`` as ``records retried``; a name that the table lacks, without its underscores."""
    table = _names()["measures"]
    if name in table:
        return str(table[name])
    for ending, bound in _names()["bounds"].items():
        if name.endswith(ending):
            return f"{measure_words(name.removesuffix(ending))}, {bound}"
    return name.replace("_", " ")


def is_ours(name: str) -> bool:
    """False for a measure of a team's own detector, of which the table knows nothing."""
    return name.removesuffix("_low").removesuffix("_high") in _names()["measures"]


def fact_words(name: str) -> str:
    """``second_way`` as ``cross-check``, the same way."""
    return str(_names()["facts"].get(name, name.replace("_", " ")))
