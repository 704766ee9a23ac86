"""Entries of a plug-in's tables, held against the dataclass that each becomes."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import MISSING, fields
from difflib import get_close_matches
from typing import Any

from mqlab.errors import PluginError
from mqlab.plugins import place

_KINDS: Mapping[str, tuple[tuple[type, ...], str]] = {
    "str": ((str,), "a text"), "bool": ((bool,), "true or false"), "tuple": ((list,), "a list of texts"),
    "float": ((int, float), "a number"), "Mapping": ((dict,), "a table"),
}  # fmt: skip


def ensure_fits(table: str, name: str, entry: Any, kind: type, keys: Mapping[str, str], lacks: Collection[str]) -> None:
    """Nothing, where an *entry* of a *table* has the fields of the dataclass *kind*, and of their types.

    Args:
        table: where it stands.
        name: of the entry.
        entry: as TOML gives it.
        kind: what it becomes.
        keys: fields that the table calls otherwise.
        lacks: fields that no entry says.

    Raises:
        PluginError: it lacks something, or holds something else.
    """
    known = {keys.get(one.name, one.name): one for one in fields(kind) if one.name not in lacks}
    wrong = [] if isinstance(entry, dict) else [f"{name} is not a table: write [{name}]"]
    held: Mapping[str, Any] = entry if isinstance(entry, dict) else {}
    for key, value in held.items():
        if key not in known:
            near = get_close_matches(key, known, 1)
            wrong.append(f"{name} has {key}, which is not a field" + (f": did you mean {near[0]}" if near else ""))
            continue
        types, said = _KINDS[re.split(r"\W", str(known[key].type))[0]]
        is_text = all(isinstance(one, str) for one in value) if isinstance(value, list) else True
        if not isinstance(value, types) or not is_text:
            wrong.append(f"{key} of {name} must be {said}")
    if not wrong:
        needed = [key for key, one in known.items() if one.default is MISSING and one.default_factory is MISSING]
        missing = [key for key in needed if key not in held]
        wrong = [f"{name} lacks {', '.join(missing)}"] if missing else []
    if wrong:
        raise PluginError(place(table, name), wrong[0])
