"""What a file is known by: its content in the workspace, the moment in its name, the name that it was copied from.

``groups.20261121T121918Z.txt``, ``2026-11-21T12-19-18Z``, ``20261121-121918`` and ``1795263520.json`` are moments.
A date alone or the suffix of a rolled log, ``server.log.2026-11-21-11``, is none.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from os import SEEK_END
from pathlib import Path

from mqlab.sources import Source

ENDS = 64 << 10
"""Bytes at the beginning and at the end that are looked at."""


def fingerprint(file: Path, modified: float | None) -> str:
    """16 hex digits for the content of *file*: its size, its time and both its ends.

    Args:
        file: the bytes as they were gathered, compressed where they were.
        modified: epoch seconds; an archive member's own time.
    """
    with file.open("rb") as raw:
        size = raw.seek(0, SEEK_END)
        raw.seek(0)
        head = raw.read(ENDS)
        raw.seek(max(0, size - ENDS))
        return digest(repr((size, modified)).encode(), head, raw.read(ENDS))


def digest(*parts: bytes) -> str:
    """16 hex digits for *parts*."""
    found = hashlib.sha256()
    for part in parts:
        found.update(len(part).to_bytes(8, "little"))
        found.update(part)
    return found.hexdigest()[:16]


def told_apart(sources: Sequence[Source]) -> list[Source]:
    """*sources* with a key each of its own: the second of two copies, in this order, is counted separately."""
    seen: Counter[str] = Counter()
    found = []
    for source in sources:
        copy = seen[source.key]
        seen[source.key] += 1
        found.append(replace(source, key=digest(source.key.encode(), str(copy).encode())) if copy else source)
    return found


_PACKED = re.compile(r"(?i)\.(?:gz|bz2|xz|zst)$")
_COPIED = r"(?:copy|bak|副本|备份|拷贝)(?:[ ._-]?\d+)?"
_KEPT = r"(?:backup|old|orig|save|dpkg-old|rpmsave)\d*|(?:before|prev|pre)(?:[-_][\w-]+)?"
_BEHIND = re.compile(rf"(?i)(?:~|\.(?:{_COPIED}|{_KEPT})| \(\d+\))$")
_WITHIN = re.compile(rf"(?i)(?:[ ._-]+{_COPIED}|[ ._-]*\((?:\d+|{_COPIED})\)| ?(?:的?副本|备份|拷贝))(?=(?:\.\w+)*$)")
_BEFORE = re.compile(r"(?i)^copy(?: \(\d+\))? of (?=.)")


def copied_name(name: str) -> str:
    """The *name* that a copy had before it was copied and compressed: ``a.csv`` of ``a (1).csv.gz`` and ``a.csv.bak``.

    A word such as ``backup`` before the ending is as often whose file it is.
    """
    found = name
    for marks in (_PACKED, _BEHIND, _PACKED, _WITHIN, _BEFORE):
        found = marks.sub("", found) or found
    return found


_ROTATED_DAY = r"\d{4}-?\d{2}-?\d{2}(?:[-_T.]?\d{1,6})?"
_ROTATED = re.compile(
    rf"(?:(?<=\.(?:log|out|txt|csv|tsv))|(?<=\.json)|(?<=\.jsonl)|(?<=\.ndjson))[.-](?:\d{{1,3}}|{_ROTATED_DAY})$"
    rf"|[._-]{_ROTATED_DAY}(?=\.\w+$)"
)
"""A number behind the ending, or a day: a number before the ending is as often that of a node."""


def rotated_name(name: str) -> str:
    """The *name*, or path, without what rotation and compression added."""
    return _ROTATED.sub("", _PACKED.sub("", name))


_DAY = r"(?P<year>(?:19|20)\d\d)-?(?P<month>\d\d)-?(?P<day>\d\d)"
_CLOCK = r"(?P<hour>\d\d)[-:_.]?(?P<minute>\d\d)[-:_.]?(?P<second>\d\d)(?:[.,](?P<fraction>\d{3,9})(?=Z))?"
_ZONE = r"(?P<zone>Z|\+\d\d:?\d\d|-\d\d:\d\d)"
_CALENDAR = (
    re.compile(rf"(?<!\d){_DAY}[T_-]?{_CLOCK}{_ZONE}?(?![\da-zA-Z])"),
    re.compile(rf"(?<!\d){_DAY}T(?P<hour>\d\d)[-:_]?(?P<minute>\d\d){_ZONE}(?![\da-zA-Z])"),
)
# A RocketMQ client id ends in "#" and a nanosecond counter of 13 digits: no moment.
_EPOCH = re.compile(r"(?<![\w#@])(?<!\d\.)(?P<seconds>1[2-9]\d{8}|20\d{8})(?P<millis>\d{3})?(?![\w#@])")


@dataclass(frozen=True, slots=True)
class Stamp:
    """A moment in epoch seconds; ``zoned`` is False where UTC was assumed."""

    at: float
    zoned: bool


def moment_in(name: str) -> Stamp | None:
    """The last moment that a file name holds, a calendar's before a counter's; None without one."""
    found = _found(name)
    return found[0] if found else None


def without_moment(path: str) -> str:
    """*path* without the moment in its name, or in its folder's where the name has none: what scrapes of one share."""
    above, _, name = path.rpartition("/")
    above, _, folder = above.rpartition("/")
    if found := _found(name):
        name = name[: found[1].start()] + "*" + name[found[1].end() :]
    elif found := _found(folder):
        folder = folder[: found[1].start()] + "*" + folder[found[1].end() :]
    return "/".join((above, folder, name))


def _found(name: str) -> tuple[Stamp, re.Match[str]] | None:
    stamps = [(stamp, found) for layout in _CALENDAR for found in layout.finditer(name) if (stamp := _calendar(found))]
    stamps = stamps or [(_epoch(found), found) for found in _EPOCH.finditer(name.replace("_", "-"))]
    return stamps[-1] if stamps else None


def _calendar(match: re.Match[str]) -> Stamp | None:
    found = {"second": "00", "fraction": None} | match.groupdict()
    day, clock = "{year}-{month}-{day}", "{hour}:{minute}:{second}"
    text = f"{day}T{clock}".format_map(found) + (found["zone"] or "Z")
    try:
        return Stamp(
            datetime.fromisoformat(text).timestamp() + float(f"0.{found['fraction'] or 0}"), bool(found["zone"])
        )
    except ValueError:
        return None


def _epoch(match: re.Match[str]) -> Stamp:
    return Stamp(int(match["seconds"]) + int(match["millis"] or 0) / 1000, zoned=True)
