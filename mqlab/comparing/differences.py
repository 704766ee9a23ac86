"""What differs between two captures: classes, measures, settings, versions, lines by their rate, and what came when."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

from mqlab.catalogue import INCIDENTS
from mqlab.comparing.answer import place
from mqlab.comparing.sides import ABSENT, FOUND, NOT_CHECKED, Side, kind
from mqlab.facts import Setting
from mqlab.known_errors import words
from mqlab.symptoms.unexplained import trouble
from mqlab.units import by_number
from mqlab.words import Quoted, Text, listed, room
from mqlab.words.filling import Value

say = room("comparison-differences")

# -- classes ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ClassRow:
    """One class that ended differently in both, or was found in both."""

    incident: str
    a: str
    b: str
    reading: str
    because: str
    """Why, of the side on which it was not found."""


def classes(a: Side, b: Side) -> tuple[ClassRow, ...]:
    """Classes found in one of them first, then others that ended differently."""
    rows = []
    for slug in sorted({*a.states, *b.states} & set(INCIDENTS)):
        own, other = a.state(slug), b.state(slug)
        if own.name != other.name or own.name == FOUND:
            because = "" if own.name == other.name else other.because if own.name == FOUND else own.because
            rows.append(ClassRow(slug, own.name, other.name, _reading(own.name, other.name), because))
    return tuple(sorted(rows, key=lambda row: (FOUND not in (row.a, row.b), row.reading, row.incident)))


def _reading(a: str, b: str) -> str:
    if FOUND in (a, b):
        if a == b:
            return say("in-both")
        if a == FOUND:
            return say("not-found") if b in ABSENT else say("not-known", state=b)
        return say("new-in-b") if a in ABSENT else say("in-b", state=a)
    return say("not-compared", state=b) if NOT_CHECKED in (a, b) else say("in-neither")


# -- measures --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MeasureRow:
    """One measure of findings of the same class."""

    incident: str
    measure: str
    a: float
    b: float
    subjects: tuple[str, str]

    @property
    def ratio(self) -> float | None:
        """How many times that of A it is in B."""
        return self.b / self.a if self.a else None


def measures(a: Side, b: Side) -> tuple[MeasureRow, ...]:
    """Measures that findings of one class have in both; findings of the same place are compared, else the first."""
    rows = []
    for slug in dict.fromkeys(one.incident for one in a.diagnosis.findings):
        theirs = b.of(slug)
        for own in a.of(slug)[:1] if theirs else ():
            other = next((one for one in theirs if place(b, one) & place(a, own)), theirs[0])
            rows += [
                MeasureRow(slug, name, value, other.measures[name], (own.subject, other.subject))
                for name, value in own.measures.items()
                if name in other.measures and not name.endswith(("_low", "_high"))
            ]
    return tuple(rows)


# -- settings and versions -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SettingRow:
    """One setting whose values differ; several by time stand one after the other."""

    scope: str
    owners: str
    key: str
    a: str
    b: str
    named_by: tuple[str, ...] = ()
    """Classes found in A or B whose page speaks of it."""
    local: bool = False
    """It says where something is or what it is called, and differs between any two places."""


_RANK = {"printed": 0, "describe": 1, "file": 2, "default": 3}
_LOCAL = re.compile(
    r"(^|[._])(id|ids|dir|dirs|file|path|location|host|hosts|port|listeners?|servers?|address|addresses|addr|connect|"
    r"voters|name|password|username|login|instanceName|clientIP|consumeTimestamp|unitName|timestamp)$|"
    r"^(PROP_|internal\.)|(clientId|clientIP|Addr|consumeTimestamp|instanceName|namesrv\w*|log_dest|listener)$"
)
"""Keys whose values are names and places."""
_OBJECT = re.compile(r"(?<=\w)@[0-9a-f]{5,8}\b")
"""Where in memory a Java object lies: another place in each process."""


def settings(a: Side, b: Side) -> tuple[SettingRow, ...]:
    """Settings of owners that both name, else of all owners of a scope; those that a found class speaks of first."""
    told = a.diagnosis.findings + b.diagnosis.findings
    pages = {f.incident: f"{INCIDENTS[f.incident].mechanism} {INCIDENTS[f.incident].fix}" for f in told}
    mine, theirs = _configured(a), _configured(b)
    owners: dict[tuple[str, str, str, str], list[str]] = defaultdict(list)
    for scope in sorted({scope for scope, _ in mine} & {scope for scope, _ in theirs}):
        for owner, own, other in _pairs(scope, mine, theirs):
            for key in own.keys() & other.keys():
                if own[key] != other[key]:
                    owners[scope, key, own[key], other[key]].append(owner)
    rows = [
        SettingRow(
            scope,
            listed(map(_owner, names), ", "),
            Quoted(key),
            own,
            other,
            _named_by(key, pages),
            _LOCAL.search(key) is not None,
        )
        for (scope, key, own, other), names in owners.items()
    ]
    return tuple(
        sorted(rows, key=lambda r: (not r.named_by, r.local or r.scope == "application", r.scope, r.key, r.owners))
    )


def _named_by(key: str, pages: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(slug for slug, page in pages.items() if f"`{key}`" in page)


_Values = Mapping[tuple[str, str], Mapping[str, str]]


def _pairs(scope: str, a: _Values, b: _Values) -> Iterator[tuple[str, Mapping[str, str], Mapping[str, str]]]:
    """(owner, values in A, values in B) of each owner in both, else of all owners together."""
    mine, theirs = ({owner: v for (s, owner), v in values.items() if s == scope} for values in (a, b))
    common = sorted(mine.keys() & theirs.keys())
    for owner in common:
        yield owner, mine[owner], theirs[owner]
    if not common:
        alone = len(mine) == len(theirs) == 1
        of = [_owner(next(iter(own)) or say("one")) if alone else str(len(own)) for own in (mine, theirs)]
        yield say("owners", a=of[0], b=of[1]), _together(mine.values()), _together(theirs.values())


def _owner(name: str) -> str:
    return name if isinstance(name, Text) else Quoted(name)


def _together(many: Iterable[Mapping[str, str]]) -> Mapping[str, str]:
    found: dict[str, set[str]] = defaultdict(set)
    for values in many:
        for key, value in values.items():
            found[key].add(value)
    return {
        key: say("either", values=sorted(values)) if len(values) > 1 else min(values) for key, values in found.items()
    }


def _configured(side: Side) -> _Values:
    """By scope and owner each key's values by time, as the best kind of source tells them."""
    known: dict[tuple[str, str], dict[str, list[Setting]]] = defaultdict(lambda: defaultdict(list))
    for one in side.facts.settings:
        if not (one.scope == "topic" and (one.owner or "").startswith("__")):
            known[one.scope, one.owner or ""][one.key].append(one)
    return {owner: {key: _values(own, side.since) for key, own in keys.items()} for owner, keys in known.items()}


def _values(told: Sequence[Setting], since: float | None) -> str:
    """Values from *since* on: what was in force then, and what came later."""
    best = min(_RANK.get(one.origin, 9) for one in told)
    own = sorted((one for one in told if _RANK.get(one.origin, 9) == best), key=lambda s: (s.at or 0.0, s.source))
    earlier = sum(since is not None and one.at is not None and one.at < since for one in own)
    values = [_value(one.value) for one in own][max(0, earlier - 1) :]
    changed = [v for n, v in enumerate(values) if n == 0 or values[n - 1] != v]
    return say("in-turn", values=changed) if len(changed) > 1 else changed[0]


def _value(written: str) -> str:
    """A setting's value without what differs in each process."""
    value = _OBJECT.sub("", written.replace("class ", "").strip("[]"))
    return Quoted(value) if value else say("not-set")


@dataclass(frozen=True, slots=True)
class VersionRow:
    """Versions that one kind of log tells."""

    of: str
    a: str
    b: str


def versions(a: Side, b: Side) -> tuple[VersionRow, ...]:
    """Kinds of logs of which both tell a version, and not the same.

    Who started before the time that a side is about does not print its version again: that is no difference.
    """
    mine, theirs = _versions(a), _versions(b)
    return tuple(
        VersionRow(what, *(listed(sorted(every[what], key=by_number), ", ") for every in (mine, theirs)))
        for what in sorted(mine.keys() & theirs.keys())
        if mine[what] != theirs[what] and not (b.since is not None and theirs[what] <= mine[what])
    )


def _versions(side: Side) -> Mapping[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for one in side.facts.of_kind("client-version"):
        if one.reason and one.source in side.sources:
            found[kind(side.sources[one.source])].add(one.reason)
    return found


# -- lines -----------------------------------------------------------------------------------------------------------

NEW_LINE, GONE_LINE, MORE, FEWER, FEW = say("new"), say("gone"), say("more"), say("fewer"), say("few")


@dataclass(frozen=True, slots=True)
class LineRow:
    """One shape of line, or kind of event, in one kind of log: how many, and how often a minute and log."""

    log: str
    level: str
    shape: str
    reading: str
    lines: tuple[int, int]
    per_minute: tuple[float, float]


_TWICE = 2.0
"""How many times as often a line must come: less is what load alone makes of it."""
_CHANCE = 0.01
_DEVIATIONS = 3.0
"""Judgement: how unlikely a difference is where lines came at random and equally often in both."""
_COMPLAINS = frozenset({"WARN", "WARNING", "ERROR", "FATAL", "CRITICAL", "EVENT"})
_UNTOLD = frozenset({"settings-printed", "app-counters", "client-configured", "publish-sent", "publish-received"})
"""Events that are no lines of their own, or stand for ordinary traffic."""
_LEFT_OVER = "…"
"""The shape of lines of which there were too many different ones."""
_CUT = 70
"""Letters from which on the end of a shape may be cut off."""


def lines(a: Side, b: Side) -> tuple[LineRow, ...]:
    """Shapes of lines that are new, gone, or twice as often by the minute; those that complain first, then by rate.

    Names of topics, groups and clients are masked, so that two incidents can be compared; only kinds of logs count
    that both have. Where a few lines may be one side's by chance, that is said.
    """
    minutes, others = _minutes(a), _minutes(b)
    mine, theirs = _counted(a), _counted(b)
    rows = []
    for key in mine.keys() | theirs.keys():
        log, level, shape = key
        if log in minutes and log in others:
            counts, times = (mine[key], theirs[key]), (minutes[log], others[log])
            if reading := _compared(counts, times):
                rows.append(LineRow(log, level, shape, reading, counts, (counts[0] / times[0], counts[1] / times[1])))
    return tuple(sorted(rows, key=lambda r: (r.level not in _COMPLAINS, r.reading == FEW, -max(r.per_minute), r.shape)))


def _compared(counts: tuple[int, int], minutes: tuple[float, float]) -> str:
    """How the second differs from the first, given the time in which they were counted; empty where it does not."""
    a, b = counts
    both, share = a + b, minutes[1] / sum(minutes)
    if not (a and b):
        seen = share if b else 1 - share
        return FEW if seen**both > _CHANCE else NEW_LINE if b else GONE_LINE
    ratio = (b / minutes[1]) / (a / minutes[0])
    if abs(b - both * share) <= _DEVIATIONS * sqrt(both * share * (1 - share)) or 1 / _TWICE < ratio < _TWICE:
        return ""
    return MORE if ratio > 1 else FEWER


def _minutes(side: Side) -> Mapping[str, float]:
    """Minutes that the logs of each kind cover, added up; a log whose lines are not dated covers none."""
    found: dict[str, float] = defaultdict(float)
    for one in side.facts.coverage:
        begin, end = side.within(one.first_at, one.last_at)
        if one.role.is_log and begin is not None and end is not None and begin <= end:
            found[kind(one)] += max(end - begin, 1.0) / 60
    return found


def _counted(side: Side) -> Counter[tuple[str, str, str]]:
    """Lines by kind of log, level and shape, and events by their meaning.

    Lines of a shape are counted as a whole: one that also came at a time that *side* is not about is left out.
    """
    masked, kinds = _Masks(side), {name: kind(source) for name, source in side.sources.items()}
    found: Counter[tuple[str, str, str]] = Counter()
    for shape in side.facts.shapes:
        whole = side.within(shape.first_at, shape.last_at) == (shape.first_at, shape.last_at)
        if whole and shape.shape.strip() != _LEFT_OVER and (log := kinds.get(shape.source)):
            found[log, (shape.level or "").upper(), Quoted(masked(shape.shape.strip()))] += shape.lines
    for one in side.facts.episodes:
        if one.kind not in _UNTOLD and (log := kinds.get(one.source)):
            found[log, "EVENT" if one.kind in trouble() else "", _meaning(one.kind)] += one.count
    return found


def _meaning(event: str) -> str:
    """What an event means, without the explanation that errors have behind it; its name where nothing says that."""
    return words().get(event, event).partition(" (")[0]


class _Masks:
    """Names that the material tells, as ``<topic>``, ``<group>``, ``<client>``."""

    def __init__(self, side: Side) -> None:
        self.kinds = {name: k for k, own in side.names.items() for name in own if len(name) > 2 and k != "log"}
        found = "|".join(map(re.escape, sorted(self.kinds, key=lambda name: (-len(name), name))))
        self.names = re.compile(rf"(?<![\w.]){found and f'(?:{found})'}(?![\w.])") if found else None

    def __call__(self, text: str) -> str:
        if isinstance(text, Text):
            return Text(text.room, text.key, {name: self._value(value) for name, value in text.values.items()})
        told = self.names.sub(lambda name: f"<{self.kinds[name[0]]}>", text) if self.names else text
        if len(text) < _CUT:
            return told
        head, gap, last = told.rpartition(" ")
        cut = next((k for name, k in self.kinds.items() if len(last) > 2 and name.startswith(last)), None)
        told = f"{head}{gap}<{cut}>" if cut else told
        return told[: told.rindex(">") + 1] if ">" in told[_CUT // 2 :] else told

    def _value(self, value: Value) -> Value:
        """A name within a text."""
        if isinstance(value, str):
            return self(value)
        return tuple(map(self, value)) if isinstance(value, list | tuple) else value


# -- what came when --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MomentRow:
    """When something came for the first time, in seconds from the onset; None where it never did."""

    what: str
    a: float | None
    b: float | None


_LEAD_IN = 300.0
"""Seconds before the onset from which on events count: what comes earlier is how everything was started."""


def moments(a: Side, b: Side) -> tuple[MomentRow, ...]:
    """First times of trouble, findings and changes around the onset, by their time in A, then in B."""
    own, other = _moments(a), _moments(b)
    rows = [MomentRow(what, own.get(what), other.get(what)) for what in own.keys() | other.keys()]
    return tuple(sorted(rows, key=lambda r: (r.a is None, r.a if r.a is not None else r.b or 0.0, r.what)))


def origin(side: Side) -> float | None:
    """The moment from which the timeline of *side* counts: the onset, else its beginning."""
    return side.onset if side.onset is not None else side.begin


def _moments(side: Side) -> Mapping[str, float]:
    start = origin(side)
    if start is None:
        return {}
    dated: list[tuple[float, str]] = [
        (one.started_at.timestamp(), say("begins", incident=one.incident))
        for one in side.diagnosis.findings
        if one.started_at is not None
    ]
    for one in side.facts.episodes:
        if one.first_at is not None and one.kind in trouble():
            dated.append((one.first_at, _meaning(one.kind)))
    masked = _Masks(side)
    dated += [
        (one.at, say("change", what=masked(one.what), after=one.after or "—"))
        for one in side.diagnosis.changes
        if one.at is not None and one.before is not None
    ]
    found: dict[str, float] = {}
    for at, what in sorted(dated):
        if at >= start - _LEAD_IN:
            found.setdefault(what, at - start)
    return found
