"""Crashes of brokers: deaths of which the log shows that the old process did not stop, and lines that say it halts.

A log that begins after the end of the old process, or an excerpt out of which somebody may have left the stop, shows
none; nor does a start that failed before it served. Lines of others that miss a broker whose log goes on are no crash.
RocketMQ itself says at each start whether it had been stopped.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mqlab.facts import Episode, Facts
from mqlab.findings import Evidence
from mqlab.memo import per_facts
from mqlab.mqtt.brokers import EDGE, broker_of
from mqlab.mqtt.connections import by_client, by_own_log
from mqlab.mqtt.reconnects import BACK
from mqlab.shared.actors import base_name, folder
from mqlab.shared.benign_lines import ORDERLY
from mqlab.sources import Role
from mqlab.symptoms.deaths import BEGINNING, BROKER, ONE_START, STARTS, Death, deaths, name_of
from mqlab.words import room

say = room("broker-crash")

SOON = 60.0
"""Seconds after the last line of a broker within which others lead what it led: it is taken for dead after 9 or 18 s
(broker.session.timeout.ms, zookeeper.session.timeout.ms), and a quiet broker has printed nothing for a while."""
WHOLE = 100
"""Lines from which a log is more than an excerpt, in which its last line is told as what it is anyway."""
_HALTS = ("error:kafka-all-log-dirs-failed", "error:kafka-fatal-start")
"""Lines with which a process ends itself."""
_RAFT = "__cluster_metadata"
"""Its log is recovered at each start."""
_LAST_WORDS = (*_HALTS, "out-of-memory", "error:kafka-map-failed")


@dataclass(frozen=True, slots=True)
class Crash:
    """One end of a broker's process that was no stop."""

    who: str
    since: float
    """When it was last heard of."""
    until: float | None
    """When it was gone at the latest; None where nothing but its own last line tells of the end."""
    back: float | None
    """When its new process began, or ran at the latest."""
    begins: bool
    """It began then."""
    said: Episode | None
    """Its last line, where that says that the process ends, or why."""
    evidence: tuple[Evidence, ...]
    others: tuple[Evidence, ...] = ()
    """What else tells that it was gone."""
    clients: frozenset[str] = frozenset()
    """Whose connections were open when it ended, by a log of MQTT."""
    partitions: frozenset[tuple[str | None, str | None]] = frozenset()
    """Of which a controller says meanwhile that nobody can lead them."""


@per_facts
def crashes(facts: Facts) -> tuple[Crash, ...]:
    """All of them, by broker and time."""
    every = [one for one in deaths(facts) if one.kind == BROKER]
    found = [*(_of_death(facts, one) for one in every if _breaks_off(facts, one)), *_halts(facts, every)]
    return tuple(sorted(found, key=lambda one: (one.who, one.since)))


def _breaks_off(facts: Facts, one: Death) -> bool:
    """The log shows the end of the old process: where nobody else tells of it, a whole log of one that had served."""
    start = one.start
    if start is None or start.first_at is None or one.back is None:
        return one.until - one.since <= SOON and _told_to_the_end(facts, one)
    own = [c for c in facts.coverage if c.source == start.source and c.first_at is not None and c.first_at <= one.since]
    if not own or (start.system == "mqtt" and not _come_back(facts, one)):
        return False
    if any(_others(facts, one)):
        return True
    if start.kind == "broker-started":  # nobody who searches a log for starts and errors finds what they are told with
        printed = facts.of_kind("settings-printed")
        return any(e.source == start.source and _within(e, one.since, start.first_at) for e in printed)
    return start.kind == "broker-starting" and any(c.noise and c.lines >= WHOLE for c in own)


def _told_to_the_end(facts: Facts, one: Death) -> bool:
    """The log in which it would tell of a stop goes as far as the others of its folder."""
    where = folder(one.evidence[0].source)
    started = {base_name(e.source) for e in facts.of_kind("broker-started") if folder(e.source) == where}
    own = [c.source for c in facts.coverage if folder(c.source) == where and base_name(c.source) in started]
    end = facts.covered_until(own)
    return end is not None and end >= one.since - ONE_START


def _come_back(facts: Facts, one: Death) -> bool:
    """Most clients of the old process connect to the new one: the stream does not tell of two brokers."""
    cut = dict(_cut_off(facts, one))
    return 2 * sum(cut.values()) >= max(1, len(cut))


def _of_death(facts: Facts, one: Death) -> Crash:
    said = [line for line in facts.of_kind(*_LAST_WORDS) if _ends(line, one)]
    heard, starts = one.evidence[0].because(say("heard")), one.evidence[-1].because(say("starts"))
    led = tuple(place.because(say("led")) for place in one.evidence[1:])
    return Crash(
        one.who,
        one.since,
        one.until if one.until != one.back else None,
        one.back,
        one.begins,
        said[-1] if said else None,
        (starts, heard) if one.start is not None else (heard, *led),
        tuple(_others(facts, one)),
        frozenset(client for client, _ in _cut_off(facts, one)),
        frozenset((e.topic, e.queue) for e in facts.of_kind("no-leader") if _within(e, one.since, one.back)),
    )


def _others(facts: Facts, one: Death) -> Iterator[Evidence]:
    """Brokers that led in its place, a controller, its own recovery, a supervisor, clients that lost it."""
    if one.start is None or one.back is None:
        return
    yield from (place.because(say("led")) for place in one.evidence[1:-1])
    yield from _told_of(facts, one.start, one.since, one.back)
    for own in by_own_log(facts).values():
        lost = next((c.until for c in own if c.end == one.evidence[0]), None)
        if lost is not None and not any(lost < c.since < one.back - EDGE for c in own if c.since is not None):
            yield one.evidence[0].because(say("lost"))


def _told_of(facts: Facts, start: Episode, since: float, back: float) -> Iterator[Evidence]:
    """Lines of that time which miss the broker, see its process end badly, or tell of its recovery as it starts."""
    for line in facts.of_kind("broker-failed", "broker-fenced"):
        named = {f"{value:.0f}" for value in (line.value_min, line.value_max) if value is not None}
        if start.node in {*named, *(line.reason or "").split(",")} and _within(line, since, back):
            yield line.first.because(say("missed"))
    shared = len({e.node for e in facts.of_kind("broker-started") if e.source == start.source}) > 1
    products = {c.software for c in facts.coverage if c.source == start.source}
    for line in facts.of_kind("process-exit"):
        own = not shared and any(product and product in (line.reason or "") for product in products)
        badly = line.value_max is not None and line.value_max not in ORDERLY
        if own and badly and line.source == start.source and _within(line, since, back):
            yield line.first.because(say("exits"))
    for line in facts.of_kind("log-recovery"):
        near = line.source.rpartition("/")[0] == start.source.rpartition("/")[0] and not shared
        if near and line.topic != _RAFT and _within(line, since, start.first_at):
            yield line.first.because(say("recovers"))


def _within(line: Episode, since: float, until: float | None) -> bool:
    return line.first_at is not None and until is not None and since <= line.first_at <= until


def _ends(line: Episode, one: Death) -> bool:
    """The old process said it as the last thing."""
    mine = one.start is not None and line.source == one.start.source
    return mine and _within(line, one.since - ONE_START, one.back)


def _cut_off(facts: Facts, one: Death) -> Iterator[tuple[str, bool]]:
    """Clients of a broker of MQTT that were connected when it ended, and whether they came back."""
    at = one.start.first_at if one.start is not None and one.start.system == "mqtt" else None
    name = broker_of(facts, one.start.source) if one.start is not None else None
    for (broker, client), own in by_client(facts).items():
        ended = any(c.until == at and (c.ended or "").startswith("broker-") for c in own)
        if at is not None and broker is not None and broker == name and ended:
            yield client, any(c.since is not None and at <= c.since <= at + BACK for c in own)


def _halts(facts: Facts, every: list[Death]) -> Iterator[Crash]:
    """Last lines of brokers that had served, or whose start is not in the material, which say that they halt."""
    begun = facts.of_kind(*BEGINNING, *STARTS)
    logs = {c.source: c.last_at for c in facts.coverage if c.role is Role.BROKER_LOG and c.lines >= WHOLE}
    for line in facts.of_kind(*_HALTS):
        if line.first_at is None or any(_ends(line, one) for one in every):
            continue
        before = [e for e in begun if e.source == line.source and _within(e, 0.0, line.first_at)]
        end = logs.get(line.source)
        if end is not None and end - line.first_at <= ONE_START and (not before or before[-1].kind in STARTS):
            yield Crash(
                name_of([line, *before][-1]), line.first_at, None, None, False, line, (line.first.because(say("said")),)
            )
