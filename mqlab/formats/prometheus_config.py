"""``prometheus.yml`` → SETTINGS: how often was scraped, and what.

Sample lines::

    global:
      scrape_interval: 5s
    scrape_configs:
    - job_name: kafka
      static_configs:
      - targets: ['kafka-1:19404']

Of a torn file every piece that is YAML is read; a piece that begins within a job belongs to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import yaml

from mqlab.formats import console
from mqlab.formats.base import About, Data, Head, Items, Lines, Noise, Reject, Spec, regex
from mqlab.sources import Role
from mqlab.tables import SETTINGS, Row

FORMAT = Spec("prometheus-config", Role.CONFIGURATION, (SETTINGS,))

_SCRAPES = regex(r"(?m)^scrape_configs:")
_GLOBAL = regex(r"(?m)^global:\s*\n(?:[ #].*\n)*?\s+scrape_interval:")
_COMMENT = re.compile(r"\s*#")
_UNREADABLE = re.compile(r"[^\t -~\xa0-\u2027\u202a-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What YAML allows nowhere, and what else it takes for the end of a line."""
_KEYS = {"scrape_interval": "scrape_interval", "targets": "target"}
_IN_MAPPINGS, _IN_LISTS = ("scrape_interval", "job_name"), ("targets",)
_JOBS = "scrape_configs"
_DEEPEST, _LONGEST = 200, 5_000_000
_TRIES = 20
"""Faults of a file that are looked for; what follows is not understood."""


@dataclass(slots=True)
class _Job:
    name: str | None = None


@dataclass(slots=True)
class _Frame:
    """A mapping or a list that is being read."""

    job: _Job
    listed: bool = False
    key: str | None = None
    """Of a list the key above it; of a mapping the one whose value comes next."""

    def passed(self, value: str) -> None:
        """A key becomes that of the value behind it, a value ends its key."""
        if not self.listed:
            if self.key == "job_name":
                self.job.name = value or None
            self.key = value if self.key is None else None


class _Told(NamedTuple):
    place: int
    key: str
    value: str
    job: _Job


def recognise(head: Head) -> bool:
    """True for scrape_configs, or a global scrape interval, at the left margin."""
    return bool(_SCRAPES.search(head.text) or _GLOBAL.search(head.text))


def parse(lines: Lines, about: About) -> Items:
    """The interval (owner null: global) and each target, owned by its job; other YAML is noise."""
    shown = console.shown(lines, about)
    rows: dict[int, list[Row]] = {}
    read: set[int] = set()
    job = _Job()
    for begin, end, events in _pieces([_UNREADABLE.sub("?", one.plain) for one in shown]):
        read.update(range(begin, end))
        told = list(_told(events, job))
        for one in told:
            rows.setdefault(begin + one.place, []).extend(_settings(one))
        job = told[-1].job if told else job
    for place, line in enumerate(shown):
        if place in rows or line.error:
            yield Data(line.line, (*rows.get(place, ()), *filter(None, [line.error])))
        else:
            yield Noise(line.line) if place in read or _COMMENT.match(line.plain) else Reject(line.line)


def _settings(told: _Told) -> Iterator[Row]:
    if key := _KEYS.get(told.key):
        yield SETTINGS.row(scope="application", owner=told.job.name, key=key, value=told.value, origin="file")


def _pieces(lines: Sequence[str]) -> Iterator[tuple[int, int, Sequence[yaml.Event]]]:
    """Where each piece that is YAML begins and ends, and what it says."""
    begin, end, tries = 0 if _is_plausible(lines) else len(lines), len(lines), 0
    while begin < len(lines) and tries < _TRIES:
        events, fault = _events(lines[begin:end])
        if fault is None:
            yield begin, end, events
            begin, end = end, len(lines)
        elif fault:
            end, tries = begin + fault, tries + 1
        else:
            begin, end, tries = begin + 1, len(lines), tries + 1


def _events(lines: Sequence[str]) -> tuple[Sequence[yaml.Event], int | None]:
    """What lines say as YAML; else the place of the one at which they end to be such."""
    try:
        return list(yaml.parse("\n".join(lines), Loader=yaml.CSafeLoader)), None
    except yaml.MarkedYAMLError as error:
        marks = [error.problem_mark, error.context_mark]
        if isinstance(error, yaml.scanner.ScannerError):
            marks.reverse()
        return (), next((mark.line for mark in marks if mark and mark.line < len(lines)), 0)


def _is_plausible(lines: Sequence[str]) -> bool:
    """False for far too much, and for deep brackets, whose time in libyaml grows with the square of their number."""
    depth = 0
    for line in lines:
        depth += line.count("[") + line.count("{")
        if depth > _DEEPEST:
            return False
        depth = max(0, depth - line.count("]") - line.count("}"))
    return sum(map(len, lines)) <= _LONGEST


def _told(events: Iterable[yaml.Event], job: _Job) -> Iterator[_Told]:
    """The jobs, intervals and targets of one piece, which may begin within a *job*."""
    frames = [_Frame(job, listed=True, key="")]
    for event in events:
        frame = frames[-1]
        if isinstance(event, yaml.SequenceStartEvent):
            frames.append(_Frame(frame.job, listed=True, key=frame.key or _JOBS))
        elif isinstance(event, yaml.MappingStartEvent):
            frames.append(_Frame(_Job() if frame.listed and frame.key == _JOBS else frame.job))
        elif isinstance(event, yaml.CollectionEndEvent):
            frames.pop()
            frames[-1].passed("")
        elif isinstance(event, yaml.AliasEvent):
            frame.passed("")
        elif isinstance(event, yaml.ScalarEvent):
            key, mark = frame.key, event.start_mark
            if key and mark and event.value and key in (_IN_LISTS if frame.listed else _IN_MAPPINGS):
                yield _Told(mark.line, key, event.value, frame.job)
            frame.passed(event.value)
