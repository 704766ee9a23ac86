r"""The file behind ``--ledger``: which files are ledgers, and what stands in them.

Sample::

    pattern = 'did (?P<key>\S+) from (?P<topic>[\w.-]+)/(?P<partition>\d+)/(?P<offset>\d+)'

A pattern is looked for anywhere in a line. Python checks it and Rust reads it where it can, so it may hold only what
both read alike: no lookaround, no back references, no braces or brackets that stand for themselves without a backslash.

Sample::

    [[ledger]]
    files = "exports/*-out.dat"
    role = "acked"
    topic = "orders"
    separator = ";"
    header = false
    time = 3
    key = 0
    partition = 1
    offset = 2

    [[ledger]]
    files = "worker-*.log"
    role = "processed"
    pattern = 'did (?P<key>\S+) from (?P<topic>[\w.-]+)/(?P<partition>\d+)/(?P<offset>\d+)'

Columns are names of the header (or of members of JSON objects), or numbers from 0. The first entry that fits a file
reads it, whatever the file looks like. One with a pattern reads the lines of a log that it fits, and leaves all others
what they are; further entries with patterns for the same file read further lines.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from mqlab.errors import BadLedgerMapError
from mqlab.ledgers.layout import ROLES, Layout, LineShape, is_mqtt

GROUPS = {
    "time": "time", "topic": "topic", "partition": "queue", "offset": "offset", "key": "key", "status": "status",
    "qos": "qos", "dup": "dup", "retained": "retained", "place": "place",
}  # fmt: skip
"""Fields that a group may hold, by the names of the groups; ``place`` is topic and partition in one, ``orders-0``."""
_NAMED = re.compile(r"\(\?P<\w+>")
_FOREIGN = re.compile(r"\(\?(?!:|P<|i:|i\))|\\(?:[1-9]|[ZNUv])|[*+?}]\+|\\$")
_CLASS = re.compile(r"\[\^?(\]?[^\]]*)\]")
_REPEATS = re.compile(r"\{\d+(?:,\d*)?\}")


def wrong(pattern: str) -> str | None:
    """What is wrong with a pattern, to be said after the number of its entry; None where nothing is."""
    if _FOREIGN.search(pattern.replace("\\\\", "")) or _is_loose(pattern):
        return "has a pattern that not every engine reads: without lookaround, back references and bare [, { in it"
    try:
        groups = re.compile(pattern).groupindex
    except (re.error, RecursionError, OverflowError) as error:
        return f"has a pattern that is not a valid regex ({error})"
    unknown = sorted(set(groups) - set(GROUPS))
    if unknown:
        return f"has a pattern with unknown groups {', '.join(map(repr, unknown))}; known are {', '.join(GROUPS)}"
    placed = "offset" in groups and ("partition" in groups or "place" in groups)
    return None if placed or "key" in groups else "needs a group for key in its pattern, or for partition and offset"


def shape(pattern: str, role: str, fixed: dict[str, str]) -> LineShape:
    """The lines that a pattern fits; *fixed* are facts that the map tells of all of them."""
    groups = {GROUPS[name]: number for name, number in re.compile(pattern).groupindex.items()}
    return LineShape(_NAMED.sub("(", pattern), groups, role, "map", fixed)


def _is_loose(pattern: str) -> bool:
    """Whether brackets or braces stand for themselves, which Rust takes for a class in a class and for a repetition."""
    bare = re.sub(r"\\.", "", pattern)
    classes = _CLASS.findall(bare)
    outside = _REPEATS.sub("", _CLASS.sub("", bare))
    return any("[" in inside or "&&" in inside or inside.startswith("]") for inside in classes) or "{" in outside


_COLUMNS = {"time": "time", "key": "key", "partition": "queue", "offset": "offset", "status": "status"}
"""Fields that an entry may place, by their names there."""
_WORDS = ("files", "role", "party", "group", "topic", "separator", "pattern")
_KNOWN = (*_WORDS, *_COLUMNS, "header")


@dataclass(frozen=True, slots=True)
class Entry:
    """One ``[[ledger]]``: files and what is known of them."""

    files: str
    role: str
    columns: Mapping[str, str] = field(default_factory=dict)
    """Names or numbers of columns, by field."""
    party: str | None = None
    group: str | None = None
    topic: str | None = None
    separator: str | None = None
    header: bool | None = None
    pattern: str | None = None
    """Regex with named groups for lines of a log (``patterns``)."""

    def fits(self, path: str) -> bool:
        """Whether this entry is about the file: the pattern fits the end of its path."""
        plain = path.replace("!/", "/")
        return fnmatch(plain, self.files) or fnmatch(plain, f"*/{self.files}")

    def over(self, found: Layout, names: Mapping[str, str]) -> Layout:
        """The layout *found* in the file with what this entry says; *names* are places by name."""
        columns = {name: names.get(place.lower(), place) for name, place in self.columns.items()}
        return replace(
            found,
            columns={**found.columns, **columns},
            role=self.role,
            told="map",
            party=self.party or found.party,
            group=self.group or found.group,
            topic=self.topic or found.topic,
            mqtt=found.mqtt or is_mqtt(columns, [self.topic or ""]),
        )


@dataclass(frozen=True, slots=True)
class LedgerMap:
    """All entries, in their order."""

    entries: tuple[Entry, ...] = ()
    version: str = ""
    """Digest of the file, on which whatever was read by it depends."""

    def entry(self, path: str) -> Entry | None:
        """The first entry about the file."""
        return next((entry for entry in self.entries if entry.fits(path)), None)

    def patterns(self, path: str) -> tuple[Entry, ...]:
        """The entries with a pattern about the file, where the first entry about it has one."""
        first = self.entry(path)
        if first is None or first.pattern is None:
            return ()
        return tuple(entry for entry in self.entries if entry.pattern and entry.fits(path))


NO_MAP = LedgerMap()
"""What recognition finds is all that is known."""


def read_map(path: str | None) -> LedgerMap:
    """The map in the file *path*; an empty one without it.

    Raises:
        BadLedgerMapError: it cannot be read, or says what nobody understands.
    """
    if path is None:
        return NO_MAP
    try:
        content = Path(path).read_bytes()
        document = tomllib.loads(content.decode("utf-8"))
    except OSError as error:
        raise BadLedgerMapError(path, error.strerror or "it cannot be read") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadLedgerMapError(path, f"it is not valid TOML ({error})") from error
    unknown = sorted(set(document) - {"ledger"})
    if unknown:
        raise BadLedgerMapError(path, f"unknown: {', '.join(map(repr, unknown))}; only [[ledger]] is allowed")
    entries = document.get("ledger")
    if not isinstance(entries, list) or not entries or not all(isinstance(entry, dict) for entry in entries):
        raise BadLedgerMapError(path, "it has no [[ledger]]")
    return LedgerMap(
        tuple(_entry(path, number, entry) for number, entry in enumerate(entries, 1)),
        hashlib.sha256(content).hexdigest()[:16],
    )


def _entry(path: str, number: int, given: Mapping[str, Any]) -> Entry:
    because = _wrong(given)
    if because:
        raise BadLedgerMapError(path, f"[[ledger]] number {number} {because}")
    columns = {_COLUMNS[name]: str(given[name]) for name in _COLUMNS if name in given}
    words: dict[str, Any] = {name: given[name] for name in _WORDS if name in given}
    return Entry(columns=columns, header=given.get("header"), **words)


def _wrong(given: Mapping[str, Any]) -> str | None:
    """What is wrong with an entry, to be said after its number."""
    unknown = sorted(set(given) - set(_KNOWN))
    if unknown:
        return f"has unknown keys {', '.join(map(repr, unknown))}; known are {', '.join(_KNOWN)}"
    missing = [name for name in ("files", "role") if name not in given]
    if missing:
        return f"lacks {' and '.join(missing)}"
    words = [name for name in _WORDS if name in given and not (isinstance(given[name], str) and given[name])]
    if words:
        return f"needs text for {', '.join(words)}"
    if given["role"] not in ROLES:
        return f"has the role {given['role']!r}; roles are {', '.join(ROLES)}"
    return _wrong_pattern(given) if "pattern" in given else _wrong_column(given)


def _wrong_pattern(given: Mapping[str, Any]) -> str | None:
    beside = [name for name in (*_COLUMNS, "separator", "header") if name in given]
    if beside:
        return f"has a pattern, whose groups say what stands where, and {', '.join(beside)} besides"
    return wrong(given["pattern"])


def _wrong_column(given: Mapping[str, Any]) -> str | None:
    if not isinstance(given.get("header", True), bool):
        return "needs true or false for header"
    if len(given.get("separator", ",")) != 1:
        return "needs one character for separator"
    wrong = [name for name in _COLUMNS if name in given and not _is_column(given[name])]
    return f"needs a name or a number from 0 for {', '.join(wrong)}" if wrong else None


def _is_column(value: Any) -> bool:
    return (isinstance(value, str) and bool(value)) or (type(value) is int and value >= 0)
