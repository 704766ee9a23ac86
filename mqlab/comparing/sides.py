"""One of two captures that are compared: what was decided about each class, what was read, whose names are in it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from mqlab.catalogue import INCIDENTS
from mqlab.diagnosis import Diagnosis
from mqlab.facts import Facts
from mqlab.findings import Certainty, Finding, Severity
from mqlab.rows import GRID, Coverage
from mqlab.shared import counters, flows
from mqlab.shared.actors import base_name
from mqlab.sources import Role
from mqlab.units import epoch, rate, size
from mqlab.words import Text, listed, room

if TYPE_CHECKING:
    from mqlab.capture import Capture

say = room("comparison-sides")

FOUND, NOTICED, POSSIBLE = say("found"), say("noticed"), say("possible")
REJECTED, DISMISSED, CLEAR, NOT_CHECKED = say("rejected"), say("dismissed"), say("clear"), say("not-checked")
ABSENT = frozenset({REJECTED, CLEAR})
"""A rule looked for the class and did not find it."""


@dataclass(frozen=True, slots=True)
class State:
    """Where one class ended in one diagnosis, and why."""

    name: str
    because: str = ""


@dataclass(frozen=True, slots=True)
class Load:
    """How much a system carried on average, by one way to count."""

    basis: str
    per_second: float
    unit: str = ""

    @property
    def words(self) -> str:
        """``71.4/s``, ``1.20 MB/s``."""
        return f"{size(self.per_second)}/s" if self.unit == "B" else rate(self.per_second)


@dataclass(frozen=True, eq=False)
class Side:
    """One capture of two, with the path it was opened by."""

    path: str
    facts: Facts
    diagnosis: Diagnosis
    title: str = ""
    """What ``incident.yml`` calls it."""
    since: float | None = None
    until: float | None = None
    """Within which time it was diagnosed; None where all of it was."""
    _loads: dict[str | None, tuple[Load, ...]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What to call it: the title that people gave, else the last part of its path; and which part of it."""
        name = self.title or base_name(self.path.rstrip("/")) or self.path
        if self.until:
            return say("until", capture=name, until=self.until)
        return say("since", capture=name, since=self.since) if self.since else name

    @cached_property
    def lead(self) -> Finding | None:
        """The finding that leads at warning or above."""
        return next((one for one in self.diagnosis.findings if one.severity > Severity.NOTICE), None)

    @cached_property
    def onset(self) -> float | None:
        """When the leading finding began."""
        begun = self.lead.started_at if self.lead else None
        return begun.timestamp() if begun else None

    @property
    def begin(self) -> float | None:
        """The first moment that it tells."""
        return self.within(*self.diagnosis.material.window)[0]

    @property
    def end(self) -> float | None:
        """The last one."""
        return self.within(*self.diagnosis.material.window)[1]

    def within(self, first: float | None, last: float | None) -> tuple[float | None, float | None]:
        """The part of a time that this side is about."""
        begins = [at for at in (first, self.since) if at is not None]
        ends = [at for at in (last, self.until) if at is not None]
        return max(begins, default=None), min(ends, default=None)

    @property
    def seconds(self) -> float:
        """From its first moment to its last."""
        return max(0.0, (self.end or 0.0) - (self.begin or 0.0))

    @cached_property
    def states(self) -> dict[str, State]:
        """Every class that this diagnosis says something of."""
        told = {one.incident: State(NOT_CHECKED, listed(one.missing)) for one in self.diagnosis.not_checked}
        told |= {slug: State(CLEAR) for slug in self.diagnosis.clear}
        told |= {
            one.incident: State(DISMISSED if one.dismissed else REJECTED, one.because)
            for one in self.diagnosis.rejected
        }
        for one in reversed(self.diagnosis.findings):
            if told.get(one.incident, State("")).name != FOUND:
                told[one.incident] = State(_found(one), one.subject)
        return told

    def state(self, slug: str) -> State:
        """Where the class ended; one that needs other systems than these was not checked."""
        wanted = INCIDENTS[slug].systems if slug in INCIDENTS else None
        return self.states.get(slug) or State(NOT_CHECKED, say("no-material", systems=wanted))

    def of(self, slug: str) -> tuple[Finding, ...]:
        """Its findings of one class."""
        return tuple(one for one in self.diagnosis.findings if one.incident == slug)

    @cached_property
    def names(self) -> dict[str, frozenset[str]]:
        """Names that the material tells, by what they are names of: topic, group, client, log."""
        found: dict[str, set[str]] = defaultdict(set)
        for kind, name in _names(self.facts):
            if name:
                found[kind].add(name)
        return {kind: frozenset(own) for kind, own in found.items()}

    def parts(self, finding: Finding) -> tuple[tuple[str, str], ...]:
        """(kind, name) of whatever the subject of *finding* names; a part of another kind is left out."""
        words = {finding.subject, *finding.subject.replace(" -> ", "/").replace(", ", "/").split("/")}
        words |= {word.rpartition("-")[0] for word in words if word.rpartition("-")[2].isdigit()}
        words |= {finding.facts.get("topic", "")}
        return tuple(sorted((kind, name) for kind, own in self.names.items() for name in words & own))

    @cached_property
    def sources(self) -> dict[str, Coverage]:
        """What became of each source, by its path."""
        return {one.source: one for one in self.facts.coverage}

    @cached_property
    def kinds(self) -> frozenset[str]:
        """Kinds of material in which anything was understood."""
        return frozenset(kind(one) for one in self.facts.coverage if one.data + one.noise > 0)

    def kinds_of(self, finding: Finding) -> frozenset[str]:
        """Kinds of material that *finding* was read from."""
        return frozenset(kind(self.sources[e.source]) for e in finding.evidence if e.source in self.sources)

    def loads(self, topic: str | None = None) -> tuple[Load, ...]:
        """What it carried, the closest to what producers offered first; of one *topic* where that can be told."""
        if topic not in self._loads:
            self._loads[topic] = tuple(one for one in _loads(self.facts, topic) if one.per_second > 0)
        return self._loads[topic]


def side(path: str, capture: Capture) -> Side:
    """The capture that was opened by *path*."""
    since, until = epoch(capture.options.since), epoch(capture.options.until)
    return Side(path, capture.facts, capture.diagnosis, capture.notes.title or "", since, until)


def kind(source: Coverage) -> str:
    """``log of a broker (kafka)``; whose metrics, ledgers and settings these are, their format does not say."""
    whose = source.software if source.role.is_log or source.role in (Role.COMMAND, Role.STORE) else None
    role = say("other-log") if source.role is Role.LOG else source.role.value
    return say("kind", role=role, software=whose or None)


def _found(finding: Finding) -> Text:
    if finding.severity > Severity.NOTICE:
        return FOUND
    return NOTICED if finding.certainty > Certainty.POSSIBLE else POSSIBLE


def _names(facts: Facts) -> Iterator[tuple[str, str | None]]:
    for e in facts.episodes:
        yield from (("topic", e.topic), ("group", e.group), ("client", e.client_id))
    for p in facts.positions:
        yield from (("topic", p.topic), ("group", p.group), ("client", p.client_id))
    for s in facts.settings:
        yield {"topic": "topic", "group": "group"}.get(s.scope, "client"), s.owner if s.scope in _OWNED else None
    for c in facts.clients:
        yield from (("group", c.group), ("client", c.client_id))
    for t in facts.tallies:
        yield "topic", t.topic
    for one in facts.series:
        yield from ((name, one.labels.get(name)) for name in ("topic", "group"))
    for v in facts.volumes:
        yield "log", v.source


_OWNED = ("topic", "group", "producer", "consumer")
_PRODUCED = ("sent", "acked")
_COUNTERS = {
    "broker.messages_in": "", "broker.bytes_in": "B", "mqtt.publish_received": "", "mqtt.messages_received": "",
    "producer.record_sends": "",
}  # fmt: skip
"""Counters that grow with the load, the closest to single messages first, and their unit."""


def _loads(facts: Facts, topic: str | None) -> Iterator[Load]:
    for role in _PRODUCED:
        by_time = [(t.at, t.messages) for t in facts.tallies if t.role == role and topic in (None, t.topic)]
        by_time += [(r.at, r.rows) for r in facts.receipts if r.role == role and topic is None]
        if by_time:
            lasted = max(at for at, _ in by_time) - min(at for at, _ in by_time) + GRID
            yield Load(say("in-ledgers", role=role), sum(many for _, many in by_time) / lasted)
    yield from _grown(facts, topic)
    for name, unit in _COUNTERS.items() if topic is None else ():
        steps = counters.summed(flows.all_topics(facts, name) if name.startswith("broker.") else facts.named(name))
        if steps:
            lasted = max(b for _, b, _ in steps) - min(a for a, _, _ in steps)
            yield Load(say("counted", counter=name), sum(v for _, _, v in steps) / lasted if lasted else 0.0, unit)


def _grown(facts: Facts, topic: str | None) -> Iterator[Load]:
    """By how much the ends of all queues rose between the first and the last moment at which they were listed."""
    ends: dict[tuple[str, str], list[tuple[float, int]]] = defaultdict(list)
    for one in facts.positions:
        if one.at is not None and one.end is not None and topic in (None, one.topic) and not one.topic.startswith("_"):
            ends[one.topic, one.queue].append((one.at, one.end))
    moments = [at for own in ends.values() for at, _ in own]
    lasted = max(moments) - min(moments) if moments else 0.0
    if lasted:
        grown = sum(max(0, max(own)[1] - min(own)[1]) for own in ends.values())
        yield Load(say("grown"), grown / lasted)
