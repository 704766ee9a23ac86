"""Deaths that no line tells outright.

Brokers start again without having stopped, or lose their partitions and are never heard of again; members of groups
fall silent until they are expelled.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from typing import NamedTuple

from mqlab import words
from mqlab.delivery.leaders import SLACK, Leadership, leaderships
from mqlab.facts import Episode, Facts
from mqlab.findings import Evidence
from mqlab.kafka.groups import groups
from mqlab.kafka.lives import lives
from mqlab.kafka.rows import End
from mqlab.known_errors import of_class
from mqlab.memo import per_facts
from mqlab.mqtt.brokers import broker_of, brokers
from mqlab.mqtt.connections import SILENT, connections, silent_ends, told_by_clients
from mqlab.shared.actors import base_name, folder
from mqlab.shared.wording import sample
from mqlab.sources import Role

say = words.room("deaths")

BROKER, MEMBER = "broker", "member"
STARTS = ("broker-started", "broker-starting", "rocketmq-broker-started")
_STOPS = ("broker-stopped", "broker-stopping", "server-stopping", "rocketmq-broker-stopping")
_FIRST = ("broker-booting", "broker-starting")
"""What a broker prints first of all."""
BEGINNING = (*_FIRST, "settings-printed", "log-recovery")
"""What it prints while it starts."""
_SERVING = ("broker-started", "rocketmq-broker-started")
_WATCHED = ("process-exit", "process-started", "process-given-up")
"""What a supervisor writes into the same log."""
ONE_START = 10.0
"""Seconds within which a broker tells of one start in several lines."""
_LATER = 30.0
"""Seconds that other logs must go on for a silence to tell something: several times the 6 to 18 s after which brokers
are taken for dead (broker.session.timeout.ms, zookeeper.session.timeout.ms)."""


@dataclass(frozen=True, slots=True)
class Death:
    """One that is inferred: when it was last heard of, and when it was gone at the latest."""

    who: str
    kind: str
    """``broker`` or ``member``."""
    since: float
    until: float
    how: str
    """How it is known, one sentence."""
    evidence: tuple[Evidence, ...]
    back: float | None = None
    """When its new process started, or ran at the latest; None where it is not told to be back."""
    start: Episode | None = None
    """The line with which that process starts or serves."""
    begins: bool = False
    """It is *back* with the first line that a process prints."""

    def holds(self, at: float | None) -> bool:
        """It was gone then, as far as anybody knows, or had not served for long."""
        return at is not None and self.back is not None and self.since <= at <= self.back + ONE_START


@per_facts
def deaths(facts: Facts) -> tuple[Death, ...]:
    """All of them, by time."""
    found = [*_brokers(facts), *_members(facts)]
    return tuple(sorted(found, key=lambda one: (one.since, one.who)))


def _brokers(facts: Facts) -> Iterator[Death]:
    away = _moved_away(facts)
    by_log = _logs(facts, away)
    heard, in_folder = _heard(facts, by_log), Counter(where for where, _, _ in by_log)
    in_log = Counter(log[:2] for log in by_log if log[2] is not None)
    for log, lines in sorted(by_log.items(), key=lambda entry: (entry[0][:2], entry[0][2] or "")):
        alone, mine = in_folder[log[0]] == 1, {e.source for e in lines}
        signs = _acknowledged(facts, log[2]) + (_scraped(facts, log[0].rpartition("/")[2]) if alone else [])
        signs += [one for source in sorted(mine) for one in _of_mqtt(facts, source)]
        shared = in_log[log[:2]] > 1
        own = [
            one for one in heard[log[0]] if (alone or one.place.source in mine) and (not shared or one.node == log[2])
        ]
        name = _name(log, alone=alone and len(by_log) > 1)
        taken = [after for _, after in away.get(log[2] or "", ())]
        for before, after in pairwise(lines):
            if (
                {before.kind, after.kind} <= set(STARTS)
                and _apart(before, after)
                and _follows(facts, before, after)
                and not _gave_up(facts, before, after)
            ):
                yield _back(name, [*own, *signs], before, after, taken, shared=shared)
        if own and (not lines or lines[-1].kind in STARTS):
            yield from _never_back(facts, name, own[-1], signs, taken)


def _logs(
    facts: Facts, away: Mapping[str, Sequence[tuple[Leadership, Leadership]]]
) -> Mapping[_Log, Sequence[Episode]]:
    """Starts and stops of each log of a broker by time; none of one that only its leaderships tell of."""
    found: dict[_Log, list[Episode]] = defaultdict(list)
    for one in facts.of_kind(*STARTS, *_STOPS):
        if one.first_at is not None:
            found[folder(one.source), base_name(one.source), one.node].append(one)
    told_of, folders = {node for _, _, node in found}, {where for where, _, _ in found}
    for node in sorted(away.keys() - told_of):
        if (where := folder(away[node][0][0].evidence.source)) not in folders:
            found[where, "", node] = []
    return {log: sorted(told, key=_moment) for log, told in found.items()}


def _moment(line: Episode) -> tuple[float, str, int]:
    """Lines of one second keep the order of their log."""
    return line.first_at or 0.0, line.source, line.first.line or 0


class _Heard(NamedTuple):
    """One line of a broker, or another sign of its life, whose ``kind`` is empty."""

    at: float
    kind: str
    place: Evidence
    node: str | None = None


_Log = tuple[str, str, str | None]
"""Folder and name of a broker's log, and the broker where it says who it is: rotated files are one log."""


def _name(log: _Log, *, alone: bool) -> str:
    """The broker's number; else the folder of its log, where it lies there *alone*, else the log's own name."""
    where, file, node = log
    return say("broker", node=node) if node is not None else where.rpartition("/")[2] if alone else file


def name_of(line: Episode) -> str:
    """The broker that wrote a *line*: its number, else the folder of its log, else that log."""
    return _name((folder(line.source), base_name(line.source), line.node), alone=bool(folder(line.source)))


def _gave_up(facts: Facts, before: Episode, after: Episode) -> bool:
    """It ended while it started, by an error that its log names: that start failed, and nobody died."""
    begin, end = _moment(before)[0], _moment(after)[0]
    failed = [one for one in facts.of_kind(*of_class("startup-failure")) if one.source == before.source]
    dated = [(one.first_at, one.last_at) for one in failed if one.first_at is not None and one.last_at is not None]
    return before.kind not in _SERVING and any(first <= end and last >= begin for first, last in dated)


def _follows(facts: Facts, before: Episode, after: Episode) -> bool:
    """A log that tells of stops (VerneMQ's does not) has them in this order and none between, by its lines."""
    products = {one.software for one in facts.coverage if one.source in (before.source, after.source)}
    first, last = before.first.line or 0, after.first.line or 0
    same, mine = before.source == after.source, (before.node, None)
    stops = [e.first.line or 0 for e in facts.of_kind(*_STOPS) if e.source == before.source and e.node in mine]
    return "vernemq" not in products and not (same and (first > last or any(first < one < last for one in stops)))


def _apart(before: Episode, after: Episode) -> bool:
    return (after.first_at or 0.0) - (before.last_at or 0.0) > ONE_START


def _heard(facts: Facts, logs: Collection[_Log]) -> Mapping[str, Sequence[_Heard]]:
    """What logs of brokers tell, by folder and time."""
    found: dict[str, list[_Heard]] = {where: [] for where, _, _ in logs}
    brokers = {one.source for one in facts.coverage if one.role is Role.BROKER_LOG}
    brokers |= {one.source for one in facts.of_kind(*STARTS, *_STOPS, "leader-started")}
    for one in facts.episodes:
        if one.source in brokers and folder(one.source) in found and one.kind not in _WATCHED:
            ends = ((one.first_at, one.first), (one.last_at, one.last))
            found[folder(one.source)] += [_Heard(at, one.kind, place, one.node) for at, place in ends if at is not None]
    return {where: sorted(told, key=lambda heard: heard.at) for where, told in found.items()}


@per_facts
def _acknowledged(facts: Facts, node: str | None) -> list[_Heard]:
    """When broker *node* acknowledged messages of partitions that it led, as far as ledgers say.

    Shortly before another one led them it may have been that one, by a clock that differs.
    """
    found = []
    for (topic, queue), rows in leaderships(facts).items():
        acknowledged = [one for one in facts.fates if one.acked and (one.topic, one.queue) == (topic, queue)]
        ends = [
            (at, place) for one in acknowledged for at, place in ((one.first_at, one.first), (one.last_at, one.last))
        ]
        ends += [
            (one.at, one.place) for one in facts.tallies if (one.role, one.topic, one.queue) == ("acked", topic, queue)
        ]
        for row, after in zip(rows, [*rows[1:], None], strict=True):
            until = inf if after is None else after.at - SLACK if after.at is not None else -inf
            if row.leader == node and row.at is not None:
                found += [_Heard(at, "", place) for at, place in ends if at is not None and row.at < at < until]
    return found


@per_facts
def _scraped(facts: Facts, host: str) -> list[_Heard]:
    """When a broker on *host* answered scrapes: it lived at a sample that the next one follows by a step.

    The sample itself may be the answer of up to a step before, and after a gap another process may have answered.
    """
    up = {one.labels.get("instance"): dict(one.points) for one in facts.named("up")}
    found = []
    for one in facts.series:
        if one.host == host and one.name.startswith("broker."):
            known = up.get(one.labels.get("instance"), {})
            answered = [at for at, _ in one.points if known.get(at, 1.0)]
            pairs = [*pairwise(answered)]
            step = min((after - at for at, after in pairs), default=0.0)
            found += [_Heard(at, "", sample(facts, one, at, "")) for at, after in pairs if after - at < 2 * step]
    return found


@per_facts
def _of_mqtt(facts: Facts, log: str) -> list[_Heard]:
    """When an MQTT broker published values of its own, and when clients whose connections it ends say that they ended.

    A client that got no answer to its ping notices long after the broker fell silent.
    """
    broker = broker_of(facts, log)
    if broker is None or not any(log in one.sources for one in brokers(facts)):
        return []
    mine = {c.client_id for c in connections(facts) if c.broker == broker}
    lost = [c for c in told_by_clients(facts) if c.client_id in mine and c.ended not in ("normal", SILENT)]
    silent = {(line.source, line.first_at) for own in silent_ends(facts).values() for line in own}
    ends = [(c.until, c.end) for c in lost if (c.source, c.until) not in silent]
    values = [one for one in facts.series if one.name.startswith("mqtt.") and broker_of(facts, one.source) == broker]
    told = [_Heard(at, "", sample(facts, one, at, "")) for one in values for at, _ in one.points]
    return [*told, *(_Heard(at, "", place) for at, place in ends if at is not None and place is not None)]


def _moved_away(facts: Facts) -> Mapping[str, Sequence[tuple[Leadership, Leadership]]]:
    """By broker: what it led, and what others led after it while it was not in sync, by time."""
    found: dict[str, list[tuple[Leadership, Leadership]]] = defaultdict(list)
    for rows in leaderships(facts).values():
        for before, after in pairwise(rows):
            out = after.isr is not None and before.leader not in after.isr
            if after.at is not None and before.leader != after.leader and out:
                found[before.leader].append((before, after))
    return {name: sorted(rows, key=lambda pair: pair[1].at or 0.0) for name, rows in found.items()}


def _back(
    name: str, own: Sequence[_Heard], before: Episode, after: Episode, away: Sequence[Leadership], *, shared: bool
) -> Death:
    """It was gone in the last silence before it printed settings or recovered logs, as it does while it starts.

    What a broker prints first of all ends that silence; in a log that several *share* it does not say whose it is.
    Lines that follow each other more closely than ``ONE_START`` before these are of the new process already.
    """
    start, again = before.first_at or 0.0, after.first_at or 0.0
    between = sorted((heard for heard in own if start <= heard.at <= again), key=lambda heard: heard.at)
    starting = next((one for one in between if one.kind in BEGINNING and one.at > start), None)
    begun, at_once = (again, after.kind in _FIRST) if starting is None else (starting.at, starting.kind in _FIRST)
    ends = [*((one.at, one.place) for one in between if one.at < begun or one.at == start), (begun, after.first)]
    steps = [*pairwise(ends)][::-1]
    (since, last), (back, first) = next(
        (pair for pair in steps if at_once or pair[1][0] - pair[0][0] > ONE_START), steps[0]
    )
    taken = next((row for row in away if since < (row.at or 0.0) < back), None)
    begins = any(one.kind in _FIRST and one.at == back for one in between) or after.kind in _FIRST
    starts = begins and not shared
    served = again if after.kind in _SERVING and again > back else None
    how = say("back", since=since, taken=taken.at if taken else None, back=back, starts=starts, served=served)
    places = (last, *((taken.evidence,) if taken else ()), first)
    return Death(name, BROKER, since, (taken.at if taken else None) or back, how, places, back, after, starts)


def _never_back(
    facts: Facts, name: str, last: _Heard, signs: Sequence[_Heard], away: Sequence[Leadership]
) -> Iterator[Death]:
    """It is silent since the end of its logs, whatever their last lines say, and since every other sign of it."""
    place = last.place
    own = [c.source for c in facts.coverage if c.role is Role.BROKER_LOG and folder(c.source) == folder(place.source)]
    since = max(last.at, facts.covered_until(own) or last.at, *(one.at for one in signs))
    taken = next((row for row in away if (row.at or 0.0) > since), None)
    if taken is not None and taken.at is not None and max(facts.covered_until() or 0.0, taken.at) - since > _LATER:
        how = say("never-back", since=since, taken=taken.at)
        yield Death(name, BROKER, since, taken.at, how, (place, taken.evidence))


def _members(facts: Facts) -> Iterator[Death]:
    """Those that fell silent; one whose log says that it stops is expelled since it did not say good-bye."""
    for group in groups(facts):
        for life in lives(facts, group):
            silent = life.end is End.EXPIRED and life.process_stopped is None
            if silent and life.silent_since is not None and life.until is not None:
                how = say("expelled", since=life.silent_since, group=group, until=life.until)
                yield Death(life.client_id, MEMBER, life.silent_since, life.until, how, life.evidence)
