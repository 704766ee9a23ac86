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

import codecs
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from math import inf
from pathlib import Path
from typing import Any, TypeVar, cast

import yaml
from yaml.reader import ReaderError

from mqlab.errors import BadIncidentFileError, BadTimeZoneError
from mqlab.material import remote
from mqlab.secrets import mask
from mqlab.units import parse_zone

NAME = "incident.yml"
_TIMES = ("detected", "mitigated", "resolved")
_KEYS = (
    "title", *_TIMES, "events", "impact", "cost", "went_well", "went_badly", "actions", "zones", "roles", "dismissed",
)  # fmt: skip
MAX_BYTES = 128 << 10
"""Of a file that people write: twenty thousand words. Reading more would take seconds."""
MAX_DEPTH = 10
"""Levels of lists and keys; the file's own need three."""
_MOST_DIGITS = 40
"""Of a number; Python refuses to print one of thousands."""
_MOST_QUOTED = 60
"""Characters of a wrong value that its sentence shows."""
_KINDS = {"timestamp": "time", "int": "number", "float": "number", "bool": "true or false"}
"""YAML's names of values, in words."""
_YEARS = range(1970, 2200)
"""Of moments and days: what figures and tables can show."""
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

    def __init__(self, where: str, because: str) -> None:
        super().__init__(f"{where} {because}".strip())
        self.where = where


def read_notes(paths: Sequence[str]) -> IncidentNotes:
    """The notes in the first of these folders (or beside the first of these files) that has an ``incident.yml``.

    Raises:
        BadIncidentFileError: it cannot be used.
    """
    for path in paths:
        if remote.is_uri(path):
            if content := remote.beside(path, NAME):
                return _read_from(path, content)
            continue
        given = Path(path)
        try:
            candidate = (given if given.is_dir() else given.parent) / NAME
        except OSError:  # who walks the path says what is wrong with it
            continue
        if os.path.lexists(candidate):
            return notes_in(candidate)
    return IncidentNotes()


def notes_in(path: Path) -> IncidentNotes:
    """Read one ``incident.yml``.

    Raises:
        BadIncidentFileError: it cannot be used.
    """
    if path.exists() and not path.is_file():
        raise BadIncidentFileError(str(path), "it is not a file")
    try:
        with path.open("rb") as raw:
            return _read_from(str(path), raw.read(MAX_BYTES + 1))
    except OSError as error:
        raise BadIncidentFileError(str(path), error.strerror or str(error)) from error


def _read_from(path: str, content: bytes) -> IncidentNotes:
    places: dict[str, int] = {}
    try:
        if len(content) > MAX_BYTES:
            raise _NonsenseError("", f"it is larger than {MAX_BYTES:,} bytes")
        return _notes(_masked(_content(_text_of(content), places)))
    except yaml.YAMLError as error:
        raise BadIncidentFileError(f"{path}{_line_of(error)}", _problem(error)) from error
    except _NonsenseError as error:
        raise BadIncidentFileError(f"{path}{_at(places, error.where)}", str(error)) from error


def _text_of(content: bytes) -> str:
    """The file as text: UTF-8, or UTF-16 where it says so."""
    try:
        return content.decode("utf-16" if content[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise _NonsenseError("", f"line {line} is not UTF-8 (byte 0x{content[error.start]:02x})") from error


class _Loader(yaml.SafeLoader):
    """YAML as people write notes: no references to other places, no deep nesting, and nothing but its own errors."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        """The next node, unless it refers to another one or is too deep."""
        event = self.peek_event()  # type: ignore[no-untyped-call]
        if isinstance(event, yaml.AliasEvent):
            raise _at_mark(event, f"*{event.anchor} is an alias: write the value out")
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise _at_mark(event, f"it is nested deeper than {MAX_DEPTH} levels")
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        """The value of *node*, where it has one."""
        if node.tag == "tag:yaml.org,2002:int" and len(str(node.value)) > _MOST_DIGITS:
            raise _at_mark(node, f"a number has more than {_MOST_DIGITS} digits")
        try:
            return super().construct_object(node, deep)
        except yaml.YAMLError:
            raise
        except Exception as error:  # impossible dates and tags that do not fit raise whatever their constructor does
            kind = node.tag.rpartition(":")[2]
            raise _at_mark(node, f"{_quoted(node.value)} is not a valid {_KINDS.get(kind, kind)}") from error


def _at_mark(there: yaml.Node | yaml.Event, problem: str) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=problem, problem_mark=cast(yaml.Mark, there.start_mark))


def _content(text: str, places: dict[str, int]) -> object:
    """What the file holds; the line of each key and entry goes into *places*."""
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return {}
        _place(node, "", places)
        return loader.construct_document(node) or {}
    except (ValueError, OverflowError) as error:  # the scanner, of an escape that is no character
        raise error if isinstance(error, _NonsenseError) else _NonsenseError("", "it is not valid YAML") from error
    finally:
        loader.dispose()


def _place(node: yaml.Node, where: str, places: dict[str, int]) -> None:
    places[where] = node.start_mark.line + 1
    if isinstance(node, yaml.SequenceNode):
        for number, entry in enumerate(node.value):
            _place(entry, f"{where}[{number}]", places)
    elif isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            inner = f"{where}.{key.value}" if where else str(key.value)
            if inner in places:
                again = f"is there again in line {key.start_mark.line + 1}: leave one of them"
                raise _NonsenseError(inner, again)
            _place(value, inner, places)
            places[inner] = key.start_mark.line + 1


def _at(places: Mapping[str, int], where: str) -> str:
    """The line of the nearest place that is known."""
    while where and where not in places:
        where = where[: max(where.rfind("."), where.rfind("["), 0)]
    return f", line {places[where]}," if where else ""


def _line_of(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    return f", line {mark.line + 1}," if mark else ""


def _problem(error: yaml.YAMLError) -> str:
    if isinstance(error, ReaderError):
        return f"the character U+{int(error.character):04X} must not stand in it"
    problem = str(getattr(error, "problem", None) or error)
    return problem if type(error) is yaml.MarkedYAMLError else f"it is not valid YAML ({problem})"


def _quoted(value: object) -> str:
    """*value* as people see it in a sentence: no more than its begin."""
    text = str(value) if isinstance(value, date) else repr(value)
    return text if len(text) <= _MOST_QUOTED else f"{text[:_MOST_QUOTED]} …"


def _masked(content: object) -> object:
    """*content* without the secrets that people wrote into their texts."""
    match content:
        case str():
            return mask(content)
        case list():
            return [_masked(one) for one in content]
        case dict():
            return {key: _masked(value) for key, value in content.items()}
        case _:
            return content


def _notes(content: object) -> IncidentNotes:
    if not isinstance(content, dict):
        raise _NonsenseError("", f"it must hold the keys {', '.join(_KEYS)}")
    unknown = [str(key) for key in content if key not in _KEYS]
    if unknown:
        raise _NonsenseError(unknown[0], f"is an unknown key (known: {', '.join(_KEYS)})")
    times = {key: _time(content[key], key) for key in _TIMES if content.get(key) is not None}
    return IncidentNotes(
        title=_text(content["title"], "title") if content.get("title") is not None else None,
        events=_each(content.get("events"), "events", _event),
        impact=_text(content["impact"], "impact") if content.get("impact") is not None else None,
        cost=_cost(content["cost"]) if content.get("cost") is not None else None,
        went_well=_texts(content.get("went_well"), "went_well"),
        went_badly=_texts(content.get("went_badly"), "went_badly"),
        actions=_each(content.get("actions"), "actions", _action),
        zones=_zones(_pairs(content.get("zones"), "zones")),
        roles=_pairs(content.get("roles"), "roles"),
        dismissed=_each(content.get("dismissed"), "dismissed", _dismissal),
        **times,
    )


def _event(entry: Mapping[str, object], where: str) -> HumanEvent:
    return HumanEvent(_time(entry.get("at"), f"{where}.at"), _text(entry.get("text"), f"{where}.text"))


def _cost(value: object) -> Cost:
    """Rates per loss, repeat, minute and gigabyte; amounts that nobody could pay are refused."""
    if not isinstance(value, dict):
        raise _NonsenseError("cost", "must be rates and their currency, such as {per_minute: 40, currency: EUR}")
    _known(value, (*_RATES, "currency"), "cost")
    rates = {name: _rate(value[name], f"cost.{name}") for name in _RATES if value.get(name) is not None}
    if not rates:
        raise _NonsenseError("cost", f"names no rate (known: {', '.join(_RATES)})")
    return Cost(_text(value.get("currency"), "cost.currency"), **rates)


def _rate(value: object, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < inf:
        raise _NonsenseError(where, f"must be a number of zero or more, not {_quoted(value)}")
    return float(value)


def _action(entry: Mapping[str, object], where: str) -> Action:
    _known(entry, ("what", "owner", "due", "status"), where)
    due, status = entry.get("due"), entry.get("status", "open")
    if status not in _STATUSES:
        raise _NonsenseError(f"{where}.status", f"must be one of {', '.join(_STATUSES)}, not {_quoted(status)}")
    return Action(
        _text(entry.get("what"), f"{where}.what"),
        _text(entry["owner"], f"{where}.owner") if entry.get("owner") is not None else "",
        _day(due, f"{where}.due") if due is not None else None,
        str(status),
    )


def _day(value: object, where: str) -> date:
    try:
        day = value if type(value) is date else date.fromisoformat(str(value))
        if day.year in _YEARS:
            return day
    except ValueError:
        pass
    raise _NonsenseError(where, f"is not a date: {_quoted(value)}; write it as 2026-12-04")


def _known(entry: Mapping[str, object], known: Sequence[str], where: str) -> None:
    if unknown := [str(key) for key in entry if key not in known]:
        raise _NonsenseError(where, f"has an unknown key {_quoted(unknown[0])} (known: {', '.join(known)})")


def _texts(value: object, where: str) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list):
        raise _NonsenseError(where, "must be a list of texts")
    return tuple(_text(text, f"{where}[{place}]") for place, text in enumerate(value))


def _dismissal(entry: Mapping[str, object], where: str) -> Dismissed:
    return Dismissed(_text(entry.get("id"), f"{where}.id"), _text(entry.get("reason"), f"{where}.reason"))


def _each(value: object, where: str, read: Callable[[Mapping[str, object], str], _Entry]) -> tuple[_Entry, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        raise _NonsenseError(where, "must be a list of entries")
    return tuple(read(entry, f"{where}[{place}]") for place, entry in enumerate(value))


def _pairs(value: object, where: str) -> tuple[tuple[str, str], ...]:
    if value is None:
        return ()
    if not isinstance(value, dict):
        raise _NonsenseError(where, "must map a glob to a name")
    return tuple((str(glob), _text(name, f"{where}[{glob}]")) for glob, name in value.items())


def _zones(pairs: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    for glob, zone in pairs:
        try:
            parse_zone(zone)
        except BadTimeZoneError as error:
            raise _NonsenseError(
                f"zones.{glob}", f"is not a time zone: {_quoted(zone)}; write it as Asia/Shanghai"
            ) from error
    return pairs


def _text(value: object, where: str) -> str:
    if not isinstance(value, str) or not value.strip() or any("\ud800" <= letter <= "\udfff" for letter in value):
        raise _NonsenseError(where, f"must be a text, not {_quoted(value)}")
    return value.strip()


def _time(value: object, where: str) -> datetime:
    """A moment; without a zone it is UTC."""
    try:
        moment = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
        moment = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
        if moment.year in _YEARS:
            return moment
    except (ValueError, OverflowError):
        pass
    raise _NonsenseError(where, f"is not a valid time: {_quoted(value)}; write it as 2026-11-21T12:20:00Z")
