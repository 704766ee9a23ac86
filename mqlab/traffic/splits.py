"""Splits of one producer on one topic, and whether they are a loop: the rule behind ``batch-split-loop``.

Beside the splits stand the crashes that end them, and the lines that prove the loop.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from mqlab import words
from mqlab.facts import Episode, Facts
from mqlab.findings import Evidence
from mqlab.models import kafka_defaults, splitting
from mqlab.models.kafka_defaults import Version
from mqlab.shared import actors, configured, counters
from mqlab.shared.actors import GIVEN_UP
from mqlab.shared.benign_lines import ORDERLY
from mqlab.words.filling import Value

say = words.room("splits")

EXHAUSTED = 3.0
"""Exit status of a JVM that ran out of memory (-XX:+ExitOnOutOfMemoryError)."""
AFTER_CRASH = 15.0
"""Seconds after the last split within which an exit belongs to it: memory that ran out ends a process within seconds,
what ends it later has had other work meanwhile. Judgement, no default behind it."""


def crashes(facts: Facts, client: str, splits: Sequence[Episode]) -> tuple[Episode, ...]:
    """Abnormal exits within or right after the splits; those without a moment where memory ran out."""
    first, last = actors.span(splits)
    if first is None or last is None:
        return ()
    exits = [
        e
        for e in _of_process(facts, client, splits)
        if e.value_max not in (None, *ORDERLY) and e.first_at is not None and first <= e.first_at <= last + AFTER_CRASH
    ]
    if exits:
        return tuple(exits)
    sources = {s.source for s in splits}
    memory = facts.of_kind("out-of-memory")
    near = [e for e in memory if e.first_at is not None and first <= e.first_at <= last + AFTER_CRASH]
    undated = [e for e in memory if e.first_at is None]
    return tuple(e for e in near if e.source in sources or len({m.source for m in memory}) == 1) or tuple(undated)


def _of_process(facts: Facts, client: str, splits: Sequence[Episode]) -> list[Episode]:
    """Exits of the process behind *client*: all of them where the material watches one process only."""
    exits = list(facts.of_kind("process-exit"))
    if len({e.reason for e in exits}) <= 1:
        return exits
    names = {client, *(actors.base_name(s.source) for s in splits)}
    return [e for e in exits if e.reason and any(e.reason in name or name in e.reason for name in names)]


def out_of_memory(facts: Facts, client: str, splits: Sequence[Episode], ends: Sequence[Episode]) -> list[Episode]:
    """Lines in which the process behind *client* runs out of memory, where that is how it came to its *ends*."""
    if not any(one.kind == "process-exit" for one in ends):
        return []
    sources = {s.source for s in splits}
    names = {client, *map(actors.base_name, sources), *(one.reason for one in ends if one.reason)}
    own = [
        one
        for one in facts.of_kind("out-of-memory")
        if one.source in sources
        or any(name in actors.base_name(one.source) or actors.base_name(one.source) in name for name in names)
    ]
    first, last = actors.span((*splits, *ends))
    if first is None or last is None:
        return own
    return [one for one in own if one.first_at is None or first <= one.first_at <= last + AFTER_CRASH]


def lines(
    facts: Facts,
    splits: Sequence[Episode],
    batch_size: configured.Value | None,
    limit: configured.Value | None,
    ends: Sequence[Episode],
    memory: Sequence[Episode],
) -> tuple[Evidence, ...]:
    """The lines that prove the loop: first and last split, the settings, the ends."""
    last = actors.latest(splits)
    found = [
        splits[0].first.because(say("first-split")),
        last.last.because(say("last-split")),
    ]
    for value, why in ((batch_size, say("batch-size")), (limit, say("limit"))):
        if value is not None and value.setting is not None:
            found.append(value.setting.evidence.because(why))
    found += [end.first.because(say("exit")) for end in ends]
    found += [m.first.because(say("memory")) for m in memory]
    stuck = [e for e in facts.of_kind("producer-stuck", "record-expired") if e.source == splits[0].source]
    found += [e.first.because(say("end")) for e in stuck[:2]]
    return tuple(found)


def begins_within(facts: Facts, splits: Sequence[Episode]) -> bool:
    """True where the log has nothing from before the splits: it starts in the middle of them."""
    first, source = splits[0].first_at, splits[0].source
    if first is None:
        return False
    times = [e.first_at for e in facts.episodes if e.source == source and e.kind != "batch-split"]
    times += [s.at for s in facts.settings if s.source == source]
    times += [c.first_at + GIVEN_UP for c in facts.coverage if c.source == source and c.first_at is not None]
    return all(at is None or at >= first for at in times)


def started_at(
    facts: Facts, host: str | None, splits: Sequence[Episode]
) -> tuple[float | None, counters.ChangePoint | None]:
    """When its traffic began: the first refused record in the log with which that of *host* rose, else the first split.

    The change point of the traffic is known to one scrape; an event inside it is known to the line. Where the log
    starts in the middle of the loop the traffic alone says when it began.
    """
    first = splits[0].first_at
    if first is None or host is None:
        return first, None
    change = counters.onset(counters.summed(counters.card(facts, host, "transmit")), first)
    if change is None:
        return first, None
    if begins_within(facts, splits) and change.before < first:
        return change.after, change
    if first - change.after > 2 * GIVEN_UP:
        return first, None
    sources = {s.source for s in splits}
    events = [
        e.first_at
        for e in facts.of_kind("record-too-large")
        if e.source in sources and e.first_at is not None and change.after <= e.first_at <= first
    ]
    return min([first, *events]), change


REPEATED = 3
"""Splits of one partition that already show the loop where the settings make it certain. Judgement, no default behind
it: an estimate of the compression that was wrong once is put right by one split."""
MANY = 12
"""Splits of one partition without a pause that show it where the settings are not known: as many halvings make 4 kB of
16 MB, and a wrong compression estimate splits now and then."""
CONSTANT = 0.8
"""Share of the splits that show one and the same number of attempts left: a split makes new batches, which have all of
theirs, and a request that fails otherwise takes one. Judgement, no default behind it."""
MOSTLY = 3
"""A loop's batches are at least one in so many of the bytes that left the producer. Judgement, no default behind it: it
may send other topics, too."""
LEAST_LIMIT = 1_000_012
"""The smallest default of message.max.bytes, where the limit is not known."""


@dataclass(frozen=True, slots=True)
class Loop:
    """One client's splits on one topic, with what was configured when they began."""

    client: str
    topic: str
    splits: tuple[Episode, ...]
    version: Version | None
    batch_size: configured.Value | None
    limit: configured.Value | None

    @property
    def count(self) -> int:
        """Split lines."""
        return sum(e.count for e in self.splits)

    @property
    def by_queue(self) -> dict[str, int]:
        """Split lines per partition, most first."""
        found: Counter[str] = Counter()
        for episode in self.splits:
            found[episode.queue or "?"] += episode.count
        return dict(sorted(found.items(), key=lambda kv: (-kv[1], kv[0])))

    @property
    def most(self) -> int:
        """Splits of the partition that has most."""
        return max(self.by_queue.values())

    @property
    def first_at(self) -> float | None:
        """First split."""
        return self.splits[0].first_at

    @property
    def last_at(self) -> float | None:
        """Last split."""
        return actors.span(self.splits)[1]

    @property
    def attempts(self) -> tuple[float | None, float]:
        """(attempts left that most splits show, their share)."""
        found: Counter[float | None] = Counter()
        for episode in self.splits:
            found[episode.value_min if episode.value_min == episode.value_max else None] += episode.count
        (value, times), *_ = sorted(found.items(), key=lambda kv: (-kv[1], kv[0] or 0))
        return value, times / self.count

    @property
    def size_is_certain(self) -> bool:
        """True where batch.size was seen before the first split."""
        return configured.certain(self.batch_size, self.first_at)

    @property
    def window(self) -> tuple[int, int | None] | None:
        """Sizes in bytes of batches that split into themselves; None where unknown or impossible."""
        size, most = (self.batch_size and self.batch_size.number), (self.limit and self.limit.number)
        if not most:
            return None
        found = splitting.loop_window(most, size) if size else None
        return found or (None if self.size_is_certain else (most + 1, None))

    @property
    def setting(self) -> str | None:
        """The batch.size that lets its batches pass the limit; None where that is not known."""
        return self.batch_size.value if self.batch_size and self.window and self.window[1] else None


def loops_seen(facts: Facts) -> list[Loop]:
    """Every client and topic with splits, in order of the first."""
    found: dict[tuple[str, str], list[Episode]] = {}
    for client, episodes in actors.by_client(facts, facts.of_kind("batch-split")).items():
        for episode in episodes:
            found.setdefault((client, episode.topic or "?"), []).append(episode)
    return [_loop(facts, client, topic, splits) for (client, topic), splits in found.items()]


def _loop(facts: Facts, client: str, topic: str, splits: list[Episode]) -> Loop:
    at = splits[0].first_at
    size = configured.producer_value(facts, client, "batch.size", at)
    most = configured.limit(facts, topic, at)
    return Loop(client, topic, tuple(splits), configured.version_of(facts, client, at), size, most)


def why_not(facts: Facts, loop: Loop) -> str | None:
    """Why these splits are no loop; None where they are one."""
    who: dict[str, Value] = {"client": loop.client, "topic": loop.topic}
    seen = who | {"count": loop.count, "began": loop.first_at, "last": loop.last_at}
    if kafka_defaults.loops(loop.version) is False:
        return say("halves", **seen, version=str(loop.version))
    if loop.attempts[1] < CONSTANT:
        return say("changes", **seen)
    size, most = loop.batch_size, loop.limit
    fits = loop.size_is_certain and size and size.number and most and most.number and size.number <= most.number
    if fits and size and most and (configured.certain(most, loop.first_at) or not _a_loop_all_the_same(facts, loop)):
        return say("fits", **seen, batch_size=size.value, limit=most.value)
    if fits or _repeats(facts, loop) or unended(facts, loop):
        return None
    return say("few", **seen, most=loop.most)


def undecided(facts: Facts, loop: Loop) -> bool:
    """Nothing but the end of its log says that the splits ended, and that comes too soon to tell."""
    if kafka_defaults.loops(loop.version) is False or loop.attempts[1] < CONSTANT or loop.last_at is None:
        return False
    size, most = loop.batch_size, loop.limit
    told = loop.size_is_certain and size and size.number and most and most.number
    return not told and actors.goes_on(facts, {e.source for e in loop.splits}, loop.last_at)


def _repeats(facts: Facts, loop: Loop) -> bool:
    if loop.size_is_certain and loop.window is not None:
        return loop.most >= REPEATED
    return _densest(loop) >= MANY or _a_loop_all_the_same(facts, loop)


def unended(facts: Facts, loop: Loop) -> bool:
    """True where the material is little else than these splits, and nothing after them shows that they ended."""
    sources = {e.source for e in loop.splits}
    lines = sum(c.lines for c in facts.coverage if c.source in sources)
    goes_on = loop.last_at is None or actors.goes_on(facts, sources, loop.last_at)
    return loop.most >= REPEATED and lines < 2 * loop.count and goes_on


def _a_loop_all_the_same(facts: Facts, loop: Loop) -> bool:
    """True where the settings do not show a loop, or show what was set afterwards, but its consequences do."""
    return loop.most >= MANY and (_ended_badly(facts, loop) or mostly_splits(facts, loop))


def _densest(loop: Loop) -> int:
    best = 0
    for queue in loop.by_queue:
        own = [(e.first_at or 0.0, e.count) for e in loop.splits if (e.queue or "?") == queue]
        best = max(best, *(sum(count for at, count in own if start <= at < start + GIVEN_UP) for start, _ in own))
    return best


def _ended_badly(facts: Facts, loop: Loop) -> bool:
    ends = facts.of_kind("record-expired", "producer-stuck", "sender-error", "out-of-memory")
    sources = {s.source for s in loop.splits}
    return bool(crashes(facts, loop.client, loop.splits)) or any(e.source in sources for e in ends)


def mostly_splits(facts: Facts, loop: Loop) -> bool:
    """True where a good part of all bytes that left were batches that were split."""
    if loop.first_at is None or loop.last_at is None:
        return False
    least = loop.limit.number if loop.limit and loop.limit.number else LEAST_LIMIT
    own = counters.of_client(facts, "producer.outgoing_bytes", loop.client)
    left = counters.rise(own, loop.first_at, loop.last_at)
    return left is not None and loop.count * least * MOSTLY >= left > 0
