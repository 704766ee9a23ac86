"""Facts: what Spark hands over. Small, plain, sorted; everything after this module is ordinary Python.

The size of the facts depends on how long an incident lasted and how many clients took part, never on the number of
lines: events are thinned to episodes of ten seconds, lines to shapes, settings to distinct values.
All times are epoch seconds, UTC; None means "the source does not say".
Rows that most rules read stand here, others in ``rows`` by subject.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from math import inf

from mqlab.findings import Evidence, Shown, show_rows
from mqlab.rows import (
    Assignment,
    Batch,
    Client,
    Coverage,
    Delivery,
    Fate,
    Flow,
    Part,
    Passage,
    Placed,
    Receipt,
    Reject,
    Shape,
    Tally,
    TopicFlow,
    Volume,
)
from mqlab.sources import CHANGED, Role


@dataclass(frozen=True, slots=True)
class Episode:
    """Events of one kind by one actor within ten seconds; row of EVENTS, thinned.

    Events of the life of a consumer group are not thinned: each line is an episode of its own, see
    ``thinning.tables.EXACT``.
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
    """All samples of one metric series, by time. ``name`` is canonical (see ``formats.exporters``)."""

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
    sources: tuple[str, ...] = ()
    """Path of each point, where each scrape has a file of its own; ``source`` is the first one then."""

    def place(self, number: int) -> tuple[str, int | None]:
        """Path and line of the point at *number*, which may be negative."""
        return (self.sources or (self.source,))[number if self.sources else 0], self.lines[
            number
        ] if self.lines else None

    @property
    def host(self) -> str | None:
        """Host part of the ``instance`` label."""
        instance = self.labels.get("instance")
        return instance.rsplit(":", 1)[0] if instance else None


@dataclass(frozen=True, slots=True)
class Setting(Placed):
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


@dataclass(frozen=True, slots=True)
class Position(Placed):
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


@dataclass(frozen=True, eq=False, repr=False)
class Facts(Shown):
    """Everything the detectors may look at. Told apart by identity, so that answers can be cached (``memo``)."""

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
    whole: bool = True
    """Nothing was left out because of its time; of a part, nothing can be said that needs what was before it."""

    def __post_init__(self) -> None:
        """Each kind of row is shown as a table."""
        show_rows(self)

    def of_kind(self, *kinds: str) -> tuple[Episode, ...]:
        """Episodes of these kinds, by time."""
        if kinds not in self._of_kinds:
            places = sorted(n for kind in set(kinds) for n in self._places.get(kind, ()))
            self._of_kinds[kinds] = tuple(self.episodes[n] for n in places)
        return self._of_kinds[kinds]

    def covered_until(self, sources: Collection[str] | None = None) -> float | None:
        """The last moment that these *sources*, by default all of the material, are known to cover."""
        own = (c for c in self.coverage if sources is None or c.source in sources)
        return max((c.last_at for c in own if c.last_at is not None), default=None)

    @cached_property
    def unread(self) -> Mapping[str, float]:
        """Lines of each source that could not be read, without end where its own end is missing or damaged.

        What such a source does not show is not known to be absent.
        """
        damaged = {c.source: inf for c in self.coverage if c.problem and c.problem != CHANGED}
        return {c.source: c.rejected for c in self.coverage if c.rejected} | damaged

    def logs_of(self, software: str, *roles: Role) -> frozenset[str]:
        """Sources that *software* wrote as one of these *roles*."""
        return frozenset(c.source for c in self.coverage if c.software == software and c.role in roles)

    def near(self, at: float, seconds: float, *kinds: str) -> tuple[Episode, ...]:
        """Episodes of these kinds that began within *seconds* of *at*, by time."""
        if kinds not in self._begun:
            dated = sorted((e.first_at, n) for n, e in enumerate(self.of_kind(*kinds)) if e.first_at is not None)
            self._begun[kinds] = dated
        dated = self._begun[kinds]
        first = bisect_left(dated, (at - seconds, -1))
        last = bisect_right(dated, (at + seconds, len(dated)))
        these = self.of_kind(*kinds)
        return tuple(these[n] for _, n in dated[first:last])

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
    def _places(self) -> Mapping[str, list[int]]:
        found: dict[str, list[int]] = {}
        for n, episode in enumerate(self.episodes):
            found.setdefault(episode.kind, []).append(n)
        return found

    @cached_property
    def _of_kinds(self) -> dict[tuple[str, ...], tuple[Episode, ...]]:
        return {}

    @cached_property
    def _begun(self) -> dict[tuple[str, ...], list[tuple[float, int]]]:
        return {}

    def above(self, place: Evidence) -> tuple[Evidence, ...]:
        """The line with a level that begins the record of *place*, where that line is no event."""
        heads = [s for s in self.shapes if s.source == place.source and s.level and s.first_line < (place.line or 0)]
        last = max(heads, key=lambda s: s.first_line, default=None)
        return (Evidence(last.source, last.first_line, last.sample),) if last else ()

    def below(self, head: Evidence) -> tuple[Evidence, ...]:
        """Lines without a level of the record that begins at *head*, such as those of an exception."""
        own = sorted((s for s in self.shapes if s.source == head.source), key=lambda s: s.first_line)
        record = takewhile(lambda s: s.level is None, (s for s in own if s.first_line > (head.line or 0)))
        return tuple(Evidence(s.source, s.first_line, s.sample) for s in record)

    def named(self, *names: str) -> tuple[Series, ...]:
        """Series with these canonical names."""
        return tuple(s for s in self.series if s.name in names)


def span(times: Iterable[float | None]) -> tuple[float | None, float | None]:
    """First and last of the known times."""
    known = sorted(t for t in times if t is not None)
    return (known[0], known[-1]) if known else (None, None)
