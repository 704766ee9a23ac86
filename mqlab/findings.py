"""What rules answer: findings and changes as plain data, and what a class ends in. Words stand beside the detectors."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta
from enum import IntEnum
from importlib import import_module
from typing import Any, TypeVar

from mqlab import words
from mqlab.units import Interval, moment
from mqlab.words.filling import Measure, Value

Row = TypeVar("Row")


class Shown:
    """Has a short text for terminals and HTML for notebooks, which ``mqlab.card`` makes.

    That module stands above everything it shows, so it is found by its name, and only when somebody looks.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return str(import_module("mqlab.card").text(self))

    def _repr_html_(self) -> str:
        return str(import_module("mqlab.card").html(self))


class Rows(Shown, tuple[Row, ...]):
    """A tuple like any other, shown as a table."""

    __slots__ = ()


def show_rows(one: Any) -> None:
    """Make each tuple that the dataclass *one* holds a tuple that is shown as a table."""
    for each in fields(one):
        if type(held := getattr(one, each.name)) is tuple:
            object.__setattr__(one, each.name, Rows(held))


class Severity(IntEnum):
    """How bad it is; comparable, so a report is as severe as its worst finding."""

    NOTICE = 1
    WARNING = 2
    CRITICAL = 3


class Certainty(IntEnum):
    """How well it is supported: settings only, signature or quantity, or both."""

    POSSIBLE = 1
    LIKELY = 2
    PROVEN = 3


@dataclass(frozen=True, slots=True, repr=False)
class Evidence(Shown):
    """One place in the material. ``line`` is 1-based; ``pointer`` names a JSON or CSV sample."""

    source: str
    line: int | None
    text: str
    why: str = ""
    pointer: str | None = None

    @property
    def place(self) -> str:
        """``source:line``."""
        return self.source if self.line is None else f"{self.source}:{self.line}"

    def because(self, why: str) -> Evidence:
        """The same place, and what it shows."""
        return replace(self, why=why)


@dataclass(frozen=True, slots=True)
class Stage:
    """One step of the ledger of amplification, in bytes, with the interval it is known to lie in."""

    name: str
    """Stable: payload, payload-duplication, encoding, rejected-batches, oversize-records, retries, accepted,
    framing, fan-out, replication, unexplained."""
    label: str
    bytes: int
    low: int
    high: int
    how: str
    second_way: str | None = None
    cross_check: str | None = None
    """Of the second way, what another kind of counter says."""


@dataclass(frozen=True, slots=True)
class TrafficLedger:
    """Bytes in → bytes out of one host over one window, with what is left unexplained."""

    host: str
    how: str
    """Which counters were used; empty where they are of several kinds."""
    started_at: datetime
    ended_at: datetime
    bytes_in: int
    bytes_out: int
    stages: tuple[Stage, ...]
    """They add up to ``bytes_out``; the last one is ``unexplained`` and may be negative."""
    factor_before: float | None = None
    factor_after: float | None = None
    gaps: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Moment:
    """Something that happened in the course of a finding, and when."""

    at: datetime
    what: str


_BUCKET = timedelta(seconds=10)
"""Events are counted by ten seconds, so that a beginning may be that much early or late."""


@dataclass(frozen=True, slots=True, repr=False)
class Finding(Shown):
    """One incident seen on one subject, with the numbers that prove it."""

    id: str
    """Stable: class and subject, e.g. ``batch-split-loop:mqtt-bridge/plant-telemetry``."""
    incident: str
    severity: Severity
    certainty: Certainty
    subject: str
    started_at: datetime | None
    ended_at: datetime | None
    ongoing: bool
    statement: str
    """Two sentences: what happens, and what it does."""
    measures: Mapping[str, float] = field(default_factory=dict)
    evidence: tuple[Evidence, ...] = ()
    explains: tuple[str, ...] = ()
    """Slugs of the classes that it leads over: its consequences, and what ``follows`` and ``beside`` name."""
    follows: tuple[str, ...] = ()
    """Slugs of the classes that bring it about on the same subject."""
    beside: tuple[str, ...] = ()
    """Slugs of the classes that have their cause in common with it: it leads over them and brings none about."""
    mitigate: str = ""
    """Reversible, with its side effect."""
    remedy: str = ""
    verify: str = ""
    """A command or query that shows it worked."""
    ledger: TrafficLedger | None = None
    facts: Mapping[str, str] = field(default_factory=dict)
    """Short words for the screen: role, client version, topic …"""
    moments: tuple[Moment, ...] = ()
    """By time, besides its begin and end: the first line, a crash …"""
    cure: Change | None = None
    """The change that probably ended it."""
    over: bool = True
    """What it was seen in goes on for long enough without it; else ``ended_at`` is only when it was last seen."""
    cause_ended_at: datetime | None = None
    """When what brings it about is known to have ended: a client that was away came back."""

    def __post_init__(self) -> None:
        """Its evidence is shown as a table."""
        show_rows(self)

    @property
    def seconds(self) -> float | None:
        """How long it lasted, to when it was last seen at least; None where a begin or an end is not known."""
        if self.started_at is None or self.ended_at is None:
            return None
        return max(0.0, (self.ended_at - self.started_at).total_seconds())

    @property
    def goes_on(self) -> bool:
        """It was seen for longer than one moment, up to the end of the material."""
        return self.ongoing and self.started_at != self.ended_at

    @property
    def parties(self) -> tuple[str, ...]:
        """Whom it is about, where that is several."""
        return tuple(name for name in re.split(" <?-> ", self.subject) if name)

    def was_cured_by(self, change: Change) -> bool:
        """Whether *change* is the one that probably ended it."""
        one = self.cure
        return one is not None and (one.what, one.before, one.after) == (change.what, change.before, change.after)

    def brings(self, other: Finding) -> bool:
        """Whether *other* is of a class that this one brings about, and did not begin before it."""
        begins, then = self.started_at, other.started_at
        earlier = begins is not None and then is not None and begins - then > _BUCKET
        return other.incident in self.explains and other.incident not in (*self.follows, *self.beside) and not earlier

    def comes_of(self, other: Finding) -> bool:
        """Whether *other* is of a class that brings this one about, of the same subject, and began before its end."""
        then, end = other.started_at, self.ended_at
        later = then is not None and end is not None and then > end
        behind = other.incident in self.follows or (other.brings(self) and not self.brings(other))
        return behind and other.subject == self.subject and not later


def finding(
    incident: str,
    subject: str,
    certainty: Certainty,
    span: tuple[float | None, float | None],
    *,
    measures: Mapping[str, float | None],
    evidence: Iterable[Evidence],
    slots: Mapping[str, Value] | None = None,
    statement: str | None = None,
    mitigate: str | None = None,
    remedy: str | None = None,
    verify: str | None = None,
    explains: tuple[str, ...] = (),
    follows: tuple[str, ...] = (),
    beside: tuple[str, ...] = (),
    severity: Severity | None = None,
    ongoing: bool = False,
    cause_ended: float | None = None,
    name: str | None = None,
    facts: Mapping[str, str | None] | None = None,
    ledger: TrafficLedger | None = None,
    moments: Iterable[tuple[float | None, str]] = (),
) -> Finding:
    """A finding about a *span* of time: critical where it is proven, else a warning, if no *severity* is given.

    What is *ongoing* has no end, or that at which it was last seen. Measures and facts that are not known, and places
    that come twice, are left out. *name* stands in its id where the subject does not tell it from others of its class.
    Its sentences stand among the words of its class, and show ``subject``, ``since``, ``until``, measures, *slots*; a
    rule of a plug-in may bring sentences of its own.
    """
    usual = Severity.CRITICAL if certainty is Certainty.PROVEN else Severity.WARNING
    known = {name: float(value) for name, value in measures.items() if value is not None}
    course = [Moment(at, what) for time, what in moments if (at := moment(time)) is not None]
    seen = {"subject": subject, "since": moment(span[0]), "until": moment(span[1]), **measured(known), **(slots or {})}
    return Finding(
        id=f"{incident}:{name or subject}",
        incident=incident,
        severity=severity or usual,
        certainty=certainty,
        subject=subject,
        started_at=moment(span[0]),
        ended_at=moment(span[1]),
        cause_ended_at=moment(cause_ended),
        ongoing=ongoing,
        statement=words.Text(incident, "statement", seen) if statement is None else statement,
        measures=known,
        evidence=tuple(dict.fromkeys(evidence)),
        explains=(*follows, *beside, *explains),
        follows=follows,
        beside=beside,
        mitigate=mitigate or words.seen(incident, "mitigate", seen) or words.Text("common", "none-needed", {}),
        remedy=remedy or words.seen(incident, "fix", seen) or words.Text("common", "none-needed", {}),
        verify=verify or words.seen(incident, "verify", seen) or "",
        ledger=ledger,
        facts={name: told for name, told in (facts or {}).items() if told},
        moments=tuple(sorted(course, key=lambda one: one.at)),
    )


def measured(known: Mapping[str, float]) -> dict[str, Measure]:
    """Measures with their bounds, as texts show them."""
    return {
        name: Measure(name, Interval(known.get(f"{name}_low", value), value, known.get(f"{name}_high", value)))
        for name, value in known.items()
    }


@dataclass(frozen=True, slots=True)
class Result:
    """What a rule says of its class: findings, rejected (because) or not checked (missing); none of them is clear."""

    findings: tuple[Finding, ...] = ()
    rejected: str | None = None
    missing: tuple[str, ...] = ()
    seen: str | None = None
    """What points to the class where the rest is missing; a hypothesis says it, with its *evidence*."""
    evidence: tuple[Evidence, ...] = ()
    silent: bool = False
    """The rule found nothing in what is there, which is too little to call its class clear."""


CLEAR = Result()


def found_nothing(result: Result) -> bool:
    """The rule looked at what is there and saw nothing of its class."""
    return result.silent or not (result.findings or result.rejected or result.missing)


def together(results: Iterable[Result]) -> Result:
    """What several subjects' results make: their findings, else what is missing, else why there are none."""
    every = tuple(results)
    if findings := tuple(one for result in every for one in result.findings):
        return Result(findings)
    if missing := tuple(dict.fromkeys(what for result in every for what in result.missing)):
        seen = words.listed(dict.fromkeys(result.seen for result in every if result.seen))
        return Result(missing=missing, seen=seen or None, evidence=tuple(e for r in every for e in r.evidence))
    return Result(rejected=words.listed(result.rejected for result in every if result.rejected) or None)


@dataclass(frozen=True, slots=True)
class Change:
    """Something that became different: a setting, a version, a restart, membership, topology."""

    at: float | None
    what: str
    """e.g. ``producer mqtt-bridge batch.size``, ``process bridge exited``."""
    before: str | None
    after: str | None
    evidence: tuple[Evidence, ...] = field(default_factory=tuple)
    inferred: bool = False
