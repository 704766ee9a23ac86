"""``incident.yml``: what no file of the material can know, written by people and kept through every re-render.

Sample::

    title: Bridge floods Kafka
    detected: 2026-11-21T12:21:40Z
    mitigated: 2026-11-21T12:23:20Z
    resolved: 2026-11-23T09:00:00Z
    events: [{at: 2026-11-21T12:22:10Z, text: pager fires for egress}]
    impact: 1,200 orders were confirmed an hour late
    cost: {per_lost_message: 0.02, per_minute: 40, currency: EUR}
    went_well: [the on-call engineer knew the bridge]
    went_badly: [nobody watches bytes out per byte in]
    actions: [{what: Alert on batch splits, owner: Maria, due: 2026-12-04, status: open}]
    zones: {"logs/rocketmq/*": Asia/Shanghai}
    roles: {"clients/*": bridge}
    dismissed: [{id: "fan-out:plant-telemetry", reason: the second group is wanted}]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from math import isfinite
from pathlib import Path
from typing import TypeVar

import yaml

from mqlab.errors import BadIncidentFileError
from mqlab.material import remote

NAME = "incident.yml"
_TIMES = ("detected", "mitigated", "resolved")
_KEYS = (
    "title", *_TIMES, "events", "impact", "cost", "went_well", "went_badly", "actions", "zones", "roles", "dismissed",
)  # fmt: skip
_RATES = ("per_lost_message", "per_repeated_message", "per_minute", "per_gigabyte")
_STATUSES = ("open", "in progress", "done", "dropped")


@dataclass(frozen=True, slots=True)
class HumanEvent:
    """Something that people did or saw."""

    at: datetime
    text: str


@dataclass(frozen=True, slots=True)
class Dismissed:
    """A finding that people looked at and set aside."""

    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Cost:
    """What one of each is worth to these people, in their currency."""

    currency: str
    per_lost_message: float = 0.0
    per_repeated_message: float = 0.0
    per_minute: float = 0.0
    """Of the incident, from its onset to its end."""
    per_gigabyte: float = 0.0
    """Sent for nothing."""


@dataclass(frozen=True, slots=True)
class Action:
    """Something that somebody does so that it does not happen again."""

    what: str
    owner: str = ""
    due: date | None = None
    status: str = "open"


@dataclass(frozen=True, slots=True)
class IncidentNotes:
    """The content of ``incident.yml``; empty where there is none."""

    title: str | None = None
    detected: datetime | None = None
    mitigated: datetime | None = None
    resolved: datetime | None = None
    events: tuple[HumanEvent, ...] = ()
    impact: str | None = None
    """Whom it hurt and how, in people's own words."""
    cost: Cost | None = None
    went_well: tuple[str, ...] = ()
    went_badly: tuple[str, ...] = ()
    actions: tuple[Action, ...] = ()
    zones: tuple[tuple[str, str], ...] = ()
    """(glob, zone) pairs, as written."""
    roles: tuple[tuple[str, str], ...] = ()
    """(glob, role) pairs, as written."""
    dismissed: tuple[Dismissed, ...] = ()


_Entry = TypeVar("_Entry", HumanEvent, Action, Dismissed)


class _NonsenseError(ValueError):
    """What is wrong in the file, without its name."""


def read_notes(paths: Sequence[str], hide: Callable[[str], str] = str) -> IncidentNotes:
    """The notes in the first of these folders (or beside the first of these files) that has an ``incident.yml``.

    *hide* masks the secrets that people wrote into a text of theirs.
    """
    for path in paths:
        if remote.is_uri(path):
            if content := remote.beside(path, NAME):
                return _read_from(path, content, hide)
            continue
        given = Path(path)
        candidate = (given if given.is_dir() else given.parent) / NAME
        if candidate.is_file():
            return notes_in(candidate, hide)
    return IncidentNotes()


def notes_in(path: Path, hide: Callable[[str], str] = str) -> IncidentNotes:
    """Read one ``incident.yml``."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise BadIncidentFileError(str(path), str(error)) from error
    return _read_from(str(path), content, hide)


def _read_from(path: str, content: bytes, hide: Callable[[str], str]) -> IncidentNotes:
    try:
        return _notes(_masked(yaml.safe_load(content.decode("utf-8")) or {}, hide))
    except UnicodeDecodeError as error:
        raise BadIncidentFileError(path, str(error)) from error
    except yaml.YAMLError as error:
        raise BadIncidentFileError(path, f"it is no YAML ({' '.join(str(error).split())})") from error
    except _NonsenseError as error:
        raise BadIncidentFileError(path, str(error)) from error


def _masked(content: object, hide: Callable[[str], str]) -> object:
    """*content* with all its texts as *hide* makes them."""
    match content:
        case str():
            return hide(content)
        case list():
            return [_masked(one, hide) for one in content]
        case dict():
            return {key: _masked(value, hide) for key, value in content.items()}
        case _:
            return content


def _notes(content: object) -> IncidentNotes:
    if not isinstance(content, dict):
        raise _NonsenseError(f"it must hold the keys {', '.join(_KEYS)}")
    unknown = [str(key) for key in content if key not in _KEYS]
    if unknown:
        raise _NonsenseError(f"unknown key {unknown[0]!r} (known: {', '.join(_KEYS)})")
    times = {key: _time(content[key], key) for key in _TIMES if content.get(key) is not None}
    return IncidentNotes(
        title=_text(content["title"], "title") if content.get("title") is not None else None,
        events=_each(content.get("events"), "events", _event),
        impact=_text(content["impact"], "impact") if content.get("impact") is not None else None,
        cost=_cost(content["cost"]) if content.get("cost") is not None else None,
        went_well=_texts(content.get("went_well"), "went_well"),
        went_badly=_texts(content.get("went_badly"), "went_badly"),
        actions=_each(content.get("actions"), "actions", _action),
        zones=_pairs(content.get("zones"), "zones"),
        roles=_pairs(content.get("roles"), "roles"),
        dismissed=_each(content.get("dismissed"), "dismissed", _dismissal),
        **times,
    )


def _event(entry: Mapping[str, object], where: str) -> HumanEvent:
    return HumanEvent(_time(entry.get("at"), f"{where}.at"), _text(entry.get("text"), f"{where}.text"))


def _cost(value: object) -> Cost:
    """Rates per loss, repeat, minute and gigabyte; amounts that nobody could pay are refused."""
    if not isinstance(value, dict):
        raise _NonsenseError("cost must be rates and their currency, as {per_minute: 40, currency: EUR}")
    _known(value, (*_RATES, "currency"), "cost")
    rates = {name: _rate(value[name], f"cost.{name}") for name in _RATES if value.get(name) is not None}
    if not rates:
        raise _NonsenseError(f"cost names no rate (known: {', '.join(_RATES)})")
    return Cost(_text(value.get("currency"), "cost.currency"), **rates)


def _rate(value: object, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value) or value < 0:
        raise _NonsenseError(f"{where} must be a number that is not below zero, not {value!r}")
    return float(value)


def _action(entry: Mapping[str, object], where: str) -> Action:
    _known(entry, ("what", "owner", "due", "status"), where)
    due, status = entry.get("due"), entry.get("status", "open")
    if status not in _STATUSES:
        raise _NonsenseError(f"{where}.status must be one of {', '.join(_STATUSES)}, not {status!r}")
    return Action(
        _text(entry.get("what"), f"{where}.what"),
        _text(entry["owner"], f"{where}.owner") if entry.get("owner") is not None else "",
        _day(due, f"{where}.due") if due is not None else None,
        str(status),
    )


def _day(value: object, where: str) -> date:
    try:
        return value if type(value) is date else date.fromisoformat(str(value))
    except ValueError as error:
        raise _NonsenseError(f"{where} is no day: {value!r}; write it as 2026-12-04") from error


def _known(entry: Mapping[str, object], known: Sequence[str], where: str) -> None:
    if unknown := [str(key) for key in entry if key not in known]:
        raise _NonsenseError(f"{where} has an unknown key {unknown[0]!r} (known: {', '.join(known)})")


def _texts(value: object, where: str) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        raise _NonsenseError(f"{where} must be a list of texts")
    return tuple(_text(text, f"{where}[{place}]") for place, text in enumerate(value))


def _dismissal(entry: Mapping[str, object], where: str) -> Dismissed:
    return Dismissed(_text(entry.get("id"), f"{where}.id"), _text(entry.get("reason"), f"{where}.reason"))


def _each(value: object, where: str, read: Callable[[Mapping[str, object], str], _Entry]) -> tuple[_Entry, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        raise _NonsenseError(f"{where} must be a list of entries")
    return tuple(read(entry, f"{where}[{place}]") for place, entry in enumerate(value))


def _pairs(value: object, where: str) -> tuple[tuple[str, str], ...]:
    if value is None:
        return ()
    if not isinstance(value, dict):
        raise _NonsenseError(f"{where} must map a glob to a name")
    return tuple((str(glob), _text(name, f"{where}[{glob}]")) for glob, name in value.items())


def _text(value: object, where: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise _NonsenseError(f"{where} must be a text, not {value!r}")
    return value.strip()


def _time(value: object, where: str) -> datetime:
    """A moment; without a zone it is UTC."""
    try:
        moment = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    except ValueError as error:
        raise _NonsenseError(f"{where} is no moment: {value!r}; write it as 2026-11-21T12:20:00Z") from error
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
