"""The name of an archive that everything cited lies in: told once, and left out of each place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from mqlab.diagnosis import Diagnosis
from mqlab.words import Text

_WITHIN = "!/"


def archive_of(diagnosis: Diagnosis) -> str:
    """How all cited places begin: their archive, and the folder in it that holds them all; empty where none does."""
    cited = [one.source for finding in diagnosis.findings for one in finding.evidence]
    cited += [one.source for change in diagnosis.changes for one in change.evidence]
    archives = {source.partition(_WITHIN)[0] if _WITHIN in source else "" for source in cited}
    if len(archives) != 1 or archives == {""}:
        return ""
    archive = archives.pop() + _WITHIN
    folders = {source.removeprefix(archive).rpartition("/")[0].partition("/")[0] for source in cited}
    return f"{archive}{folders.pop()}/" if len(folders) == 1 and folders != {""} else archive


def without_archive(diagnosis: Diagnosis) -> Diagnosis:
    """The same with places as they are named within their archive."""
    archive = archive_of(diagnosis)
    shorter: Diagnosis = _shortened(diagnosis, archive) if archive else diagnosis
    return shorter


def _shortened(value: Any, archive: str) -> Any:
    if type(value) is str:
        return value.replace(archive, "")
    if isinstance(value, Text):
        return Text(value.room, value.key, _shortened(value.values, archive)) if archive in value else value
    if isinstance(value, list):
        return [_shortened(one, archive) for one in value]
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return type(value)(_shortened(one, archive) for one in value)
    if isinstance(value, Mapping):
        return {name: _shortened(one, archive) for name, one in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return replace(
            value, **{one.name: _shortened(getattr(value, one.name), archive) for one in fields(value) if one.init}
        )
    return value
