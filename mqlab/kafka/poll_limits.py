"""One client of a Kafka group: which rows are about it, its polls, its signs of life, and what it was allowed.

Lines of an application name no client: they belong to the only client that the log tells of. A limit is what a process
printed then, else what a line of the broker or of the client itself tells of it, else a file, else the default of its
version.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from operator import attrgetter

from mqlab.facts import Episode, Facts
from mqlab.findings import Evidence
from mqlab.kafka.log_lines import homes, lines
from mqlab.known_errors import PREFIX
from mqlab.memo import per_facts
from mqlab.models import polling
from mqlab.models.polling import Percentiles
from mqlab.rows import Batch
from mqlab.shared import actors, configured
from mqlab.sources import Role

_WATCHED = ("process-exit", "process-started")
_done = attrgetter("at")
PROCESSES = 8
"""Processes with one client id that are told apart: of the polls that end after a moment, and of the lives before one,
as many are looked at. Judgement, no default behind it: a bound of the work."""


def client_of(facts: Facts, group: str, row: Episode | Batch) -> str | None:
    """The client of *group* that a row is about: as it says, else the only one of its log; None for others' rows.

    A supervisor's line names the process, often after its client.
    """
    if row.group not in (None, group):
        return None
    watched = row.reason if isinstance(row, Episode) and row.kind in _WATCHED else None
    return (
        row.client_id or (watched if watched in members(facts, group) else None) or homes(facts, group).get(row.source)
    )


@per_facts
def members(facts: Facts, group: str) -> frozenset[str]:
    """Client ids that lines about *group* name."""
    named = {e.client_id for e in facts.episodes if e.group == group and e.client_id}
    return frozenset(named | set(homes(facts, group).values()))


@per_facts
def polls(facts: Facts, group: str) -> tuple[Batch, ...]:
    """Polls that clients of *group* worked off, by time; each names the client that did.

    Of a client of several groups that is each poll of which no line says for which of them it was.
    """
    named = {client for client, own in actors.groups(facts).items() if group in own}
    found = []
    for batch in facts.batches:
        client = client_of(facts, group, batch)
        ours = batch.source in homes(facts, group) or client in named
        if client and (batch.group == group or (not batch.group and ours)):
            found.append(replace(batch, client_id=client, group=group))
    return tuple(found)


@per_facts
def own_lines(facts: Facts, group: str, *kinds: str) -> tuple[tuple[Episode, str], ...]:
    """Lines of these kinds with the client of *group* that each is about, by time."""
    named = [(e, client_of(facts, group, e)) for e in facts.of_kind(*kinds) if e.first_at is not None]
    own = members(facts, group)
    return tuple((e, client) for e, client in named if client and (e.group == group or (not e.group and client in own)))


@per_facts
def lines_of(facts: Facts, group: str, client_id: str, *kinds: str) -> tuple[Episode, ...]:
    """Lines of these kinds about one client, by time."""
    return tuple(line for line, client in own_lines(facts, group, *kinds) if client == client_id)


@per_facts
def polls_of(facts: Facts, group: str, client_id: str) -> tuple[Batch, ...]:
    """Polls of one client, by time."""
    return tuple(sorted((b for b in polls(facts, group) if b.client_id == client_id), key=_done))


def covering(facts: Facts, group: str, client_id: str, at: float) -> Batch | None:
    """The poll that *client_id* was working off at *at*, where a line tells how long it took."""
    own = polls_of(facts, group, client_id)
    place = bisect_left(own, at, key=_done)
    fitting = [b for b in own[place : place + PROCESSES] if b.at - b.longest_seconds <= at]
    return max(fitting, key=lambda b: (b.longest_seconds, b.at), default=None)


def last_poll(facts: Facts, group: str, client_id: str, at: float) -> Batch | None:
    """The last poll that *client_id* had worked off at *at*."""
    own = polls_of(facts, group, client_id)
    place = bisect_right(own, at, key=_done)
    return own[place - 1] if place else None


_POLLED = ("partitions-assigned", "sync-completed", "join-completed")
"""Lines that a client prints in poll."""


def waited(facts: Facts, group: str, client_id: str, at: float) -> float | None:
    """Seconds from the last poll of *client_id* to *at*; None where nothing tells of one.

    The last poll is the begin of the batch in work at *at*, else the end of the one before it, or the moment when the
    member got its partitions.
    """
    batch = covering(facts, group, client_id, at)
    polled = _polled(facts, group, client_id)
    place = bisect_left(polled, at)
    if batch is not None:
        return at - (batch.at - batch.longest_seconds)
    return at - polled[place - 1] if place else None


def assigned(facts: Facts, group: str, client_id: str) -> Sequence[float]:
    """When *client_id* got partitions, by its own log and by time."""
    return [line.first_at or 0.0 for line in lines_of(facts, group, client_id, *_POLLED)]


@per_facts
def _polled(facts: Facts, group: str, client_id: str) -> Sequence[float]:
    """When *client_id* polled, sorted; where its own log tells of no assignment, by its coordinator's."""
    moments = assigned(facts, group, client_id)
    if not moments:
        moments = [e.first_at or 0.0 for e in lines(facts, group).coordinator if e.kind == "rebalance-assigned"]
    return sorted([*moments, *(batch.at for batch in polls_of(facts, group, client_id))])


@dataclass(frozen=True, slots=True)
class Silence:
    """A time in which a client gave no sign of life."""

    since: float
    until: float | None
    """None where it gave none again."""
    telling: bool
    """It usually gives so many that this is no chance."""


EXPECTED = 4
"""Signs that would have come in a silence; that none does is chance in one of fifty (Poisson: exp(-4) = 1.8 %)."""
_LOOKED = 60.0
"""Seconds before a silence by which it is known how often the client gives a sign: the longest usual scrape interval,
and six rows of polls."""
_ROW = 10
"""Polls of one row that count, at most: one a second (a row stands for ten), which is what most logs resolve."""


def silence(facts: Facts, group: str, client_id: str, at: float, timeout: float) -> Silence | None:
    """The silence in which a member was expelled at *at*; None where nothing tells of the client.

    A sign less than half of *timeout* before ends it: heartbeats come at least three times in one, so the member was
    alive and not heard. The coordinator heard it until *timeout* before *at*: where it had been quiet for long by
    then, its log is cut there, or a silence of it tells nothing.
    """
    signs = signs_of_life(facts, group).get(client_id, ())
    place = bisect_right(signs, at)
    if not place or at - signs[place - 1] < timeout / 2:
        return None
    since, until = signs[place - 1], signs[place] if place < len(signs) else None
    rate = (place - bisect_left(signs, since - _LOOKED)) / _LOOKED
    lasted, heard = (until if until is not None else at) - since, max(0.0, at - timeout - since)
    return Silence(since, until, rate * lasted >= EXPECTED > rate * heard)


@per_facts
def signs_of_life(facts: Facts, group: str) -> Mapping[str, Sequence[float]]:
    """By client of *group*: when it wrote a line or worked off a poll, sorted; without polls, when its counter moved.

    A counter tells only of the time between two samples, so lines about polls count more. Polls that share a row count
    as often as one a second in the ten seconds that the row stands for, no more.
    """
    found: dict[str, list[float]] = defaultdict(list)
    alone = homes(facts, group)
    brokers = facts.logs_of("kafka", Role.BROKER_LOG)
    for episode in facts.episodes:
        if episode.kind.startswith(PREFIX):
            continue  # trouble comes in bursts, it does not tell how often a client writes
        client = client_of(facts, group, episode)
        if client and (episode.group == group or episode.source in alone) and episode.source not in brokers:
            found[client] += [at for at in (episode.first_at, episode.last_at) if at is not None]
    for batch in polls(facts, group):
        found[batch.client_id or ""] += [batch.at] * min(batch.polls, _ROW)
    for series in facts.named("consumer.records_consumed"):
        client = series.labels.get("client_id")
        if client in members(facts, group) and not polls_of(facts, group, client):
            found[client] += [at for (_, old), (at, new) in pairwise(series.points) if new != old]
    return {client: sorted(moments) for client, moments in sorted(found.items())}


@dataclass(frozen=True, slots=True)
class Pace:
    """How long polls took, by all that were noted."""

    mean: float
    """Seconds per record."""
    longest: Batch
    each: Percentiles
    """Seconds per record; each record counts as the average of its poll."""
    largest: int
    """Most records of one poll."""


def pace(batches: Sequence[Batch]) -> Pace | None:
    """How long *batches* took; None where there are none with records."""
    done = polling.work((b.records, b.seconds) for b in batches)
    if done is None:
        return None
    longest = max(batches, key=lambda b: (b.longest_seconds, -b.at))
    largest = max(max(b.longest_records, round(b.records / b.polls)) for b in batches)
    return Pace(sum(b.seconds for b in batches) / done.records, longest, done.record_seconds, largest)


INTERVAL = "max.poll.interval.ms"
SESSION = "session.timeout.ms"
SERVER_SESSION = "group.consumer.session.timeout.ms"
"""What limits a silence of heartbeats in groups of the consumer protocol (KIP-848): a setting of the broker."""

_EXCEEDED = re.compile(r"\((\d+) ?ms\) exceeded")
_METADATA = re.compile(r"clientId=([^,)]*).*?sessionTimeoutMs=(\d+), rebalanceTimeoutMs=(\d+)")
_MEMBERS = ("member-left", "member-expired", "rebalance-started")
"""Lines of the broker that may print what a member was set to (MemberMetadata)."""


@dataclass(frozen=True, slots=True)
class Limit:
    """How long a client may do something, and where that is told."""

    key: str
    seconds: float
    evidence: Evidence | None
    """None for a default."""


def poll_limit(facts: Facts, client_id: str, at: float | None) -> Limit | None:
    """Time that may pass between two polls of *client_id* at *at*: the poll interval, or the session timeout of 0.10.0.

    A rebalance timeout that the broker prints is the client's poll interval (ConsumerCoordinator, since 0.10.1).
    """
    key = polling.which_timeout(configured.version_of(facts, client_id, at)) or INTERVAL
    return _limit(facts, client_id, key, at)


def session_limit(facts: Facts, client_id: str, at: float | None) -> Limit | None:
    """Time after which the coordinator expels *client_id* when it hears nothing; the broker's own in KIP-848 groups."""
    protocol = configured.consumer_value(facts, client_id, "group.protocol", at)
    own = [s for s in facts.settings if s.key == SERVER_SESSION and s.value.isdigit()]
    if protocol is not None and protocol.value.lower() == "consumer" and own:
        return Limit(SESSION, int(own[-1].value) / 1000, own[-1].evidence)
    return _limit(facts, client_id, SESSION, at)


def interval(facts: Facts, client_id: str, at: float | None) -> float | None:
    """``poll_limit`` in seconds; None where nothing tells it."""
    found = poll_limit(facts, client_id, at)
    return found.seconds if found else None


def poll_records(facts: Facts, client_id: str, at: float | None) -> int | None:
    """What max.poll.records was for *client_id* at *at*.

    None where a later process printed another value than that of before: polls were larger then.
    """
    value = configured.consumer_value(facts, client_id, "max.poll.records", at)
    told = value.number if value else None
    printed = value.setting if value else None
    if told is None or printed is None or at is None or (printed.at or 0.0) <= at:
        return told
    own = [b for b in facts.batches if b.source == printed.source or b.client_id == client_id]
    return None if any(b.at <= (printed.at or 0.0) and b.longest_records > told for b in own) else told


def _limit(facts: Facts, client_id: str, key: str, at: float | None) -> Limit | None:
    value = configured.consumer_value(facts, client_id, key, at)
    setting = value.setting if value else None
    if value is not None and value.number is not None and setting is not None and setting.origin == "printed":
        return Limit(key, value.number / 1000, setting.evidence)
    told = _told(facts).get((client_id, key))
    if told is not None:
        return told
    if value is None or value.number is None:
        return None
    return Limit(key, value.number / 1000, setting.evidence if setting else None)


@per_facts
def _told(facts: Facts) -> Mapping[tuple[str, str], Limit]:
    """Limits by (client id, key) that lines about members tell first; what a client says of itself counts more."""
    found: dict[tuple[str, str], Limit] = {}
    for episode in facts.of_kind("poll-timeout", *_MEMBERS):
        exceeded = _EXCEEDED.search(episode.first.text)
        if exceeded and episode.client_id:
            found.setdefault((episode.client_id, INTERVAL), Limit(INTERVAL, int(exceeded[1]) / 1000, episode.first))
        for client, session, rebalance in _METADATA.findall(episode.first.text):
            found.setdefault((client, SESSION), Limit(SESSION, int(session) / 1000, episode.first))
            found.setdefault((client, INTERVAL), Limit(INTERVAL, int(rebalance) / 1000, episode.first))
    return found
