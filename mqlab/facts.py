"""Facts: what Spark hands over. Small, plain, sorted; everything after this module is ordinary Python.

The size of the facts depends on how long an incident lasted and how many clients took part, never on the number of
lines: events are thinned to episodes of ten seconds, lines to shapes, settings to distinct values.
All times are epoch seconds, UTC; None means "the source does not say".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from mqlab.findings import Evidence
from mqlab.rows.groups import Assignment, Batch, Client, Delivery, Tally
from mqlab.rows.messages import Fate, Part
from mqlab.rows.mqtt import Flow, Passage, Receipt, TopicFlow


@dataclass(frozen=True, slots=True)
class Episode:
    """Events of one kind by one actor within ten seconds; row of EVENTS, thinned.

    Events of the life of a consumer group are not thinned: each line is an episode of its own, see
    ``thinning.episodes.EXACT``.
    """

    kind: str
    source: str
    count: int
    first_at: float | None
    last_at: float | None
    first: Evidence
    last: Evidence
    system: str = "kafka"
    node: str | None = None
    client_id: str | None = None
    group: str | None = None
    topic: str | None = None
    queue: str | None = None
    peer: str | None = None
    reason: str | None = None
    value_min: float | None = None
    value_max: float | None = None
    member_id: str | None = None


@dataclass(frozen=True, slots=True)
class Series:
    """All samples of one metric series, by time. ``name`` is canonical (see ``loaders.metric_names``)."""

    name: str
    original: str
    """The exporter's own name."""
    labels: Mapping[str, str]
    source: str
    points: tuple[tuple[float, float], ...]
    """(at, value)."""
    lines: tuple[int | None, ...] = ()
    """Line of each point in ``source``; None (or empty) for JSON documents."""
    factor: float = 1.0
    """What the exporter's own values were multiplied by."""

    @property
    def host(self) -> str | None:
        """Host part of the ``instance`` label."""
        instance = self.labels.get("instance")
        return instance.rsplit(":", 1)[0] if instance else None


@dataclass(frozen=True, slots=True)
class Setting:
    """One configured value; row of SETTINGS, distinct per source, owner, moment and value."""

    key: str
    value: str
    scope: str
    """broker, topic, producer, consumer, session, os or application."""
    owner: str | None
    """Topic name, client id, broker id; None where the source does not say."""
    origin: str
    """printed, file, describe or default."""
    at: float | None
    source: str
    line: int | None
    text: str
    version: str | None = None

    @property
    def evidence(self) -> Evidence:
        """Where it stands."""
        return Evidence(self.source, self.line, self.text)


@dataclass(frozen=True, slots=True)
class Position:
    """One group's position in one partition at one moment; row of POSITIONS."""

    at: float | None
    group: str | None
    topic: str
    queue: str
    committed: int | None
    end: int | None
    start: int | None
    client_id: str | None
    member_id: str | None
    peer: str | None
    source: str
    line: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Shape:
    """One line shape of one source: numbers, ids and addresses masked."""

    source: str
    level: str | None
    shape: str
    lines: int
    bytes: int
    first_at: float | None
    last_at: float | None
    first_line: int
    sample: str = ""


@dataclass(frozen=True, slots=True)
class Minute:
    """What was written within one minute: dated lines, and bytes with the undated lines that continue them."""

    at: float
    lines: int
    bytes: int


@dataclass(frozen=True, slots=True)
class LineShape:
    """One of the few shapes of dated line that carry most bytes of a log, minute by minute.

    Lines that a signature selects are shapes here too. Bytes are those of the lines and of the undated lines that
    continue them, such as stack traces.
    """

    level: str | None
    shape: str
    first: Evidence
    """The first line of the shape; its text is empty where the file could not be read again."""
    first_at: float | None
    minutes: tuple[Minute, ...]

    @property
    def lines(self) -> int:
        """Dated lines."""
        return sum(m.lines for m in self.minutes)

    @property
    def bytes(self) -> int:
        """Bytes, continuations included."""
        return sum(m.bytes for m in self.minutes)


@dataclass(frozen=True, slots=True)
class Volume:
    """How one log grew, minute by minute; row of VOLUME, thinned."""

    source: str
    first_at: float | None
    """Moment of the first dated line; None where no line writes one."""
    minutes: tuple[Minute, ...]
    shapes: tuple[LineShape, ...] = ()
    """Those with the loudest minutes; none for a log too small to matter."""
    undated_bytes: int = 0
    """Bytes that belong to no minute."""
    before: Evidence | None = None
    """The line before the first line of the loudest shape."""

    @property
    def bytes(self) -> int:
        """All bytes of the log."""
        return self.undated_bytes + sum(m.bytes for m in self.minutes)


@dataclass(frozen=True, slots=True)
class Reject:
    """Lines or a file that no loader understood."""

    source: str
    reason: str
    lines: int
    bytes: int
    sample: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Coverage:
    """What became of one source. ``lines`` = data + noise + rejected, always."""

    source: str
    format: str
    lines: int
    bytes: int
    data: int
    noise: int
    rejected: int
    zone: str
    """The zone its undated-zone lines were read in, as shown to the user, e.g. ``+08:00`` or ``UTC``."""
    zone_why: str
    first_at: float | None = None
    last_at: float | None = None
    problem: str | None = None


@dataclass(frozen=True)
class Facts:
    """Everything the detectors may look at."""

    episodes: tuple[Episode, ...] = ()
    series: tuple[Series, ...] = ()
    settings: tuple[Setting, ...] = ()
    positions: tuple[Position, ...] = ()
    shapes: tuple[Shape, ...] = ()
    rejects: tuple[Reject, ...] = ()
    coverage: tuple[Coverage, ...] = ()
    volumes: tuple[Volume, ...] = ()
    clients: tuple[Client, ...] = ()
    assignments: tuple[Assignment, ...] = ()
    tallies: tuple[Tally, ...] = ()
    deliveries: tuple[Delivery, ...] = ()
    batches: tuple[Batch, ...] = ()
    fates: tuple[Fate, ...] = ()
    parts: tuple[Part, ...] = ()
    flows: tuple[Flow, ...] = ()
    topic_flows: tuple[TopicFlow, ...] = ()
    receipts: tuple[Receipt, ...] = ()
    passages: tuple[Passage, ...] = ()

    def of_kind(self, *kinds: str) -> tuple[Episode, ...]:
        """Episodes of these kinds, by time."""
        if len(kinds) == 1:
            return self._by_kind.get(kinds[0], ())
        return tuple(e for e in self.episodes if e.kind in kinds)

    def named_clients(self, source: str) -> frozenset[tuple[str, str]]:
        """(kind, client id) of the episodes of *source* that name a client."""
        return self._named_clients.get(source, frozenset())

    @cached_property
    def _named_clients(self) -> Mapping[str, frozenset[tuple[str, str]]]:
        found: dict[str, set[tuple[str, str]]] = {}
        for episode in self.episodes:
            if episode.client_id:
                found.setdefault(episode.source, set()).add((episode.kind, episode.client_id))
        return {source: frozenset(these) for source, these in found.items()}

    @cached_property
    def _by_kind(self) -> Mapping[str, tuple[Episode, ...]]:
        found: dict[str, list[Episode]] = {}
        for episode in self.episodes:
            found.setdefault(episode.kind, []).append(episode)
        return {kind: tuple(these) for kind, these in found.items()}

    def named(self, *names: str) -> tuple[Series, ...]:
        """Series with these canonical names."""
        return tuple(s for s in self.series if s.name in names)


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


def span(times: Iterable[float | None]) -> tuple[float | None, float | None]:
    """First and last of the known times."""
    known = sorted(t for t in times if t is not None)
    return (known[0], known[-1]) if known else (None, None)


def ordered(facts: Facts) -> Facts:
    """*facts* with every row in its place: the same whatever the order in which they were read."""
    return replace(
        facts,
        episodes=tuple(sorted(facts.episodes, key=_of_episode)),
        series=tuple(sorted(facts.series, key=lambda s: (s.name, sorted(s.labels.items()), s.source, s.original))),
        settings=tuple(sorted(facts.settings, key=lambda s: (s.source, s.line or 0, s.key, s.owner or "", s.value))),
        positions=tuple(sorted(facts.positions, key=lambda p: (p.at or 0.0, p.source, p.line or 0, p.topic, p.queue))),
        clients=tuple(sorted(facts.clients, key=_of_row)),
        assignments=tuple(sorted(facts.assignments, key=lambda a: (*_of_row(a), a.topic, a.queue))),
        tallies=tuple(sorted(facts.tallies, key=lambda t: (t.at, t.source, t.topic, t.queue, t.role))),
        deliveries=tuple(sorted(facts.deliveries, key=lambda d: (d.at, d.topic, d.queue, d.sources))),
        batches=tuple(sorted(facts.batches, key=lambda b: (b.at, b.source, b.line))),
        fates=tuple(sorted(facts.fates, key=_of_fate)),
        parts=tuple(sorted(facts.parts, key=lambda p: (p.source, p.role, p.topic, p.queue))),
        flows=tuple(sorted(facts.flows, key=_of_flow)),
        topic_flows=tuple(sorted(facts.topic_flows, key=lambda f: (f.topic is None, f.topic or "", *_of_flow(f)))),
        receipts=tuple(sorted(facts.receipts, key=lambda r: (r.at, r.source, r.role))),
        passages=tuple(sorted(facts.passages, key=lambda p: (p.sender, p.receiver))),
        shapes=tuple(sorted(facts.shapes, key=lambda s: (s.source, s.first_line, s.shape))),
        rejects=tuple(sorted(facts.rejects, key=lambda r: (r.source, r.line or 0, r.reason))),
        coverage=tuple(sorted(facts.coverage, key=lambda c: c.source)),
        volumes=tuple(sorted(facts.volumes, key=lambda v: v.source)),
    )


def _of_episode(episode: Episode) -> tuple[float, str, str, int, str, str]:
    where = (episode.source, episode.kind, episode.first.line or 0)
    return (episode.first_at or 0.0, *where, episode.topic or "", episode.queue or "")


def _of_fate(fate: Fate) -> tuple[str, str, float, int, str, int]:
    where = (fate.first.source, fate.first.line or 0)
    return (fate.topic, fate.queue, fate.first_at or 0.0, fate.first_offset or 0, *where)


def _of_flow(flow: Flow | TopicFlow) -> tuple[float, str, str, int]:
    return (flow.first_at, flow.sender or "", flow.first.source, flow.first.line or 0)


def _of_row(row: Client | Assignment) -> tuple[float, str, int]:
    return (row.at or 0.0, row.source, row.line or 0)
