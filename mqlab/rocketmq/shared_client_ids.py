"""Processes of a RocketMQ group that share a client id: for how long, what their queues did, and what that costs.

A second row is not yet a second process. A connection of which nobody said good-bye stays listed until the broker's
scan finds it expired, 120 to 130 s after its last heartbeat (ClientHousekeepingService), and each broker sees another
port of one client. So the same two hosts, or within one output the same two ports, must be there for longer.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from math import inf

from mqlab import words
from mqlab.facts import Episode, Facts
from mqlab.findings import Certainty, Evidence
from mqlab.memo import per_facts
from mqlab.models.client_ids import parse
from mqlab.rocketmq import members
from mqlab.rocketmq.members import EXPIRY, HEARTBEATS, NOT_ONLINE, groups, log_ends, streams
from mqlab.rocketmq.slots import SETTLING, Judgement, judged
from mqlab.rows import GRID
from mqlab.shared.actors import folder
from mqlab.shared.copies import Copies, copies
from mqlab.shared.queues import TOGETHER, Member, Snapshot, Stream, lag, of_groups, totals
from mqlab.units import moment
from mqlab.words import Text

say = words.room("duplicate-client-id")


@dataclass(frozen=True, slots=True)
class Sharing:
    """One time in which ids were shared, and the group did not change."""

    group: str
    how: str
    """listing, broker log or client logs."""
    since: float
    until: float
    ids: tuple[str, ...]
    """All ids of the group, one as often as it is there, sorted."""
    shared: tuple[str, ...]
    """Those that are there more than once."""
    members: tuple[Member, ...]
    """The processes that share."""
    persistent: bool
    """It lasted longer than a dead connection stays listed."""
    streak: tuple[str, float]
    """The time in which this source saw the id shared without a break: the source's kind, and when it began."""

    @property
    def hosts(self) -> int:
        """Hosts on which they are."""
        return len({m.host for m in self.members})

    @property
    def seconds(self) -> float:
        """How long it is known to have lasted."""
        return self.until - self.since


def _of_stream(group: str, stream: Stream) -> Iterator[Sharing]:
    """Sharings of one source: a streak in which an id is shared, cut where the places of the shared ids change."""
    snapshots = stream.snapshots
    begin = 0
    for end in range(1, len(snapshots) + 1):
        if end < len(snapshots) and set(snapshots[end].shared) & set(snapshots[end - 1].shared):
            continue
        if snapshots[begin].shared:
            next_at = snapshots[end].at if end < len(snapshots) else stream.until
            yield from _of_streak(group, replace(stream, snapshots=snapshots[begin:end], until=next_at))
        begin = end


def _of_streak(group: str, streak: Stream) -> Iterator[Sharing]:
    """The steady parts of a streak; ids that are not shared may change, as long as they sort alike."""
    clients = {client for snapshot in streak.snapshots for client in snapshot.shared}
    lasting = {client for client in clients if _persists(streak, client)}
    for run, _, seen in streak.runs(_pattern):
        last, shared = run[-1], run[-1].shared
        doubles = tuple(m for m in last.members if m.client_id in shared)
        yield Sharing(
            group, streak.how, run[0].at, seen, last.ids, shared, doubles, set(shared) <= lasting,
            (streak.how, streak.snapshots[0].at),
        )  # fmt: skip


def _pattern(snapshot: Snapshot) -> tuple[str, ...]:
    """The sorted ids, those that are not shared without their names: what a rule that goes by places depends on."""
    return tuple(client if client in snapshot.shared else "" for client in snapshot.ids)


def _persists(streak: Stream, client: str) -> bool:
    """The same two hosts had the id for longer than a dead connection is listed, or the same two ports in a list."""
    seen = [(snapshot.at, snapshot.of(client)) for snapshot in streak.snapshots]
    ends = [*(at for at, _ in seen[1:]), streak.until] if streak.lasting else [at for at, _ in seen]
    if _two_stay([(until, at, {m.host for m in own}) for until, (at, own) in zip(ends, seen, strict=True)]):
        return True
    return not streak.lasting and _two_stay([(at, at, {m.place for m in own}) for at, own in seen])


def _two_stay(seen: Sequence[tuple[float, float, set[str]]]) -> bool:
    """Two of them are there together at two moments far enough apart; rows are (until, at, who)."""
    later = 0
    for _, at, who in seen:
        while later < len(seen) and seen[later][0] - at <= EXPIRY:
            later += 1
        if later < len(seen) and max(len(who & seen[later][2]), len(who & seen[-1][2])) > 1:
            return True
    return False


MOSTLY = 1.5
"""Times that a message of a doubled queue is handled, at least: the most part again, where all of them should be."""


@dataclass(frozen=True, slots=True)
class Doubles:
    """Queues that several processes were seen to read."""

    queues: tuple[str, ...]
    evidence: tuple[Evidence, ...]


def doubles(facts: Facts, sharing: Sharing, judgement: Judgement) -> Doubles:
    """Queues of the topic that ledgers, clients' logs or the broker's remarks show in several hands."""
    counted = copies(facts, sharing.group, judgement.topic, sharing.since + SETTLING, sharing.until)
    often = {queue for queue, times in (counted.by_queue if counted else {}).items() if times >= MOSTLY}
    held = _held(facts, sharing, judgement.topic)
    back = _went_back(facts, sharing, judgement.topic)
    queues = often | {q for q, found in held.items() if len(found) > 1}
    if len({q.rpartition("/")[0] for q in judgement.queues}) == 1:
        queues |= {q for q in judgement.queues if len({_host(e) for e in back.get(q.rpartition("/")[2], ())}) > 1}
    places = [place for q in sorted(queues) for place in held.get(q, {}).values()]
    return Doubles(tuple(q for q in judgement.queues if q in queues), tuple(dict.fromkeys(places)))


def _held(facts: Facts, sharing: Sharing, topic: str) -> Mapping[str, Mapping[str, Evidence]]:
    """By queue: the logs whose last allocation before the end holds it, with the line."""
    last: dict[str, float] = {}
    ends = log_ends(facts)
    rows = [
        a for a in facts.assignments
        if a.group == sharing.group and a.topic == topic and a.client_id in sharing.shared and a.at is not None
        and a.at <= sharing.until <= ends[folder(a.source)] + HEARTBEATS and "rebalanced" in a.text
    ]  # fmt: skip
    for row in rows:
        last[folder(row.source)] = max(last.get(folder(row.source), 0.0), row.at or 0.0)
    held: dict[str, dict[str, Evidence]] = defaultdict(dict)
    for row in rows:
        if row.at == last[folder(row.source)]:
            held[row.queue][folder(row.source)] = row.evidence
    return held


def _went_back(facts: Facts, sharing: Sharing, topic: str) -> Mapping[str, Sequence[Episode]]:
    """By queue id: commits below the stored one while the group did not change."""
    found: dict[str, list[Episode]] = defaultdict(list)
    for episode in facts.of_kind("offset-went-back"):
        inside = episode.first_at is not None and sharing.since <= episode.first_at <= sharing.until
        if inside and episode.group == sharing.group and episode.topic == topic and episode.queue:
            found[episode.queue].append(episode)
    return found


def _host(episode: Episode) -> str:
    return Member("", episode.peer or "", episode.first).host


_NO_OFFSETS = "Not found the consumer group consume stats"
"""What consumerProgress says of a group that keeps its offsets itself."""
_DIRECT = ("listing", "broker log", "client logs")
"""Sources by how directly they tell who is connected."""


@dataclass(frozen=True, slots=True)
class Case:
    """What can be said about one group."""

    group: str
    sharing: Sharing
    """The longest time in which the group did not change."""
    since: float
    until: float
    ongoing: bool
    judgements: tuple[Judgement, ...]
    doubles: Mapping[str, Doubles]
    """By topic."""
    copies: Mapping[str, Copies]
    """By topic, over the whole time."""

    @property
    def confirmed(self) -> tuple[Judgement, ...]:
        """Topics whose queues stood still, or were read by several, just where the rule puts it."""
        return tuple(j for j in self.judgements if (j.agrees and j.expected) or self._doubled(j))

    @property
    def contradicted(self) -> bool:
        """Every queue moved, also those that the rule leaves without an owner."""
        return any(j.expected and not j.frozen for j in self.judgements)

    @property
    def unclear(self) -> bool:
        """The material ends before it shows whether the second connection is alive."""
        return self.ongoing and not self.sharing.persistent

    @property
    def certainty(self) -> Certainty | None:
        """Proven by two live processes and their queues, likely by one of both; None where neither holds.

        A dead connection is listed, and counted by the rule, for as long as its expiry takes: what lasted no longer is
        likely only where another host was seen to read the same queues.
        """
        elsewhere = self.sharing.hosts > 1
        longer = any(j.seconds > EXPIRY for j in self.confirmed) and elsewhere
        if self.confirmed and (self.sharing.persistent or longer):
            return Certainty.PROVEN
        if self.contradicted:
            return None
        told = elsewhere and any(self._doubled(j) for j in self.confirmed)
        return Certainty.LIKELY if self.sharing.persistent or told else None

    def _doubled(self, judgement: Judgement) -> bool:
        seen = self.doubles[judgement.topic].queues
        return bool(seen) and set(seen) <= set(judgement.doubled) and not set(judgement.frozen) - set(judgement.orphans)


def harmless(facts: Facts, case: Case) -> Text | None:
    """Why equal ids have no say in who reads what; None where they have."""
    told = {s.key: s.value for s in facts.settings if s.scope == "consumer" and s.owner == case.group}
    read = [parse(client) for client in case.sharing.shared]
    alone = all(one is not None and one.instance == "DEFAULT" for one in read)
    unread = any(e.group == case.group and _NO_OFFSETS in (e.reason or "") for e in facts.of_kind("tool-error"))
    if told.get("messageModel") == "BROADCASTING" or ("messageModel" not in told and (alone or unread)):
        return say("broadcast", group=case.group)
    if told.get("consumeType") == "CONSUME_POP":
        return say("pop", group=case.group)
    return None


@per_facts
def cases(facts: Facts, group: str) -> tuple[Case, ...]:
    """The times in which ids of *group* were shared, each judged once, by time."""
    chains: list[list[Sharing]] = []
    sharings = [one for stream in streams(facts, group) for one in _of_stream(group, stream)]
    for one in sorted(sharings, key=lambda s: (s.since, s.until, s.how)):
        chain = next((c for c in chains if _belongs(one, c)), None)
        if chain is None:
            chains.append([one])
        else:
            chain.append(one)
    return tuple(_case(facts, chain) for chain in chains)


def _belongs(one: Sharing, chain: Sequence[Sharing]) -> bool:
    """The same source saw it without a break, or another one saw the same ids at that time, to two heartbeats."""
    return any(
        one.streak == s.streak or (set(one.shared) & set(s.shared) and one.since <= s.until + HEARTBEATS) for s in chain
    )


def _case(facts: Facts, chain: Sequence[Sharing]) -> Case:
    """The case by the most direct source whose time the queues confirm, else by the most direct that lasted."""
    span = min(s.since for s in chain), max(s.until for s in chain)
    longest = max(one.seconds for one in chain)
    long = [one for one in chain if one.seconds >= longest / 2]
    direct = sorted(long, key=lambda one: (not one.persistent, _DIRECT.index(one.how), -one.seconds))
    every = [_judged(facts, one, span, window) for one in direct for window in _windows(facts, one)]
    return next((case for case in every if case.confirmed), every[0])


def _windows(facts: Facts, one: Sharing) -> Iterator[tuple[float, float]]:
    """When the queues are looked at: while the ids are known to be shared, else until they are seen not to be."""
    yield one.since, one.until
    if one.how == "listing":
        (view,) = (view for view in streams(facts, one.group) if view.how == "listing")
        before = [s.at for s in view.snapshots if s.at < one.since]
        after = [s.at for s in view.snapshots if s.at > one.until]
        yield max(before, default=-inf), min(after, default=inf)


def _judged(facts: Facts, one: Sharing, span: tuple[float, float], window: tuple[float, float]) -> Case:
    judgements = judged(facts, one.group, one.ids, window)
    by_hash = {j.topic: j for j in judged(facts, one.group, one.ids, window, likely=("CONSISTENT_HASH",))}
    hands = {j.topic: doubles(facts, one, j) for j in judgements}
    chosen = tuple(_chosen(j, by_hash[j.topic], hands[j.topic]) for j in judgements)
    counted = {j.topic: copies(facts, one.group, j.topic, span[0], span[1] + GRID) for j in chosen}
    return Case(
        one.group, one, *span, _goes_on(facts, one, span[1]), chosen, hands,
        {topic: found for topic, found in counted.items() if found is not None},
    )  # fmt: skip


def _chosen(by_place: Judgement, by_hash: Judgement, hands: Doubles) -> Judgement:
    """Hashing, which leaves nothing to see, only where queues were seen in several hands and it alone says so."""
    seen = set(hands.queues)
    fits = seen and not by_place.frozen and seen <= set(by_hash.doubled)
    return by_hash if fits and not seen <= set(by_place.doubled) else by_place


def _goes_on(facts: Facts, one: Sharing, until: float) -> bool:
    """No source shows the group afterwards, for as long as it needs to settle, without shared ids or members."""
    for view in streams(facts, one.group):
        later = [s for s in view.snapshots if s.at > until or (view.lasting and s.at == until)]
        alone = list(takewhile(lambda s: not s.shared, later))
        if alone and (not view.lasting or min(view.until, _end(alone, view)) - alone[0].at > SETTLING):
            return False
    return not any(
        e.group == one.group and NOT_ONLINE in (e.reason or "") and (e.first_at or 0.0) > until
        for e in facts.of_kind("tool-error")
    )


def _end(alone: Sequence[Snapshot], view: Stream) -> float:
    """When the state that begins with the first of these ends: with the next one, or with the source."""
    after = [s.at for s in view.snapshots if s.at > alone[-1].at]
    return after[0] if after else view.until


def doubtful(facts: Facts) -> Iterator[tuple[float, Text]]:
    """(since, sentence) for ids that are shared when the material ends, before it shows whether both are alive."""
    for group in groups(facts):
        for case in cases(facts, group):
            if case.unclear and case.certainty is None and harmless(facts, case) is None:
                places = sorted(m.place for m in case.sharing.members)
                told = say("doubtful", since=moment(case.since), group=group, ids=case.sharing.shared, places=places)
                yield case.since, told


RESERVED_HOURS = 72
"""fileReservedTime of BrokerConfig; the broker.conf that is shipped says 48."""


def measures(facts: Facts, case: Case) -> Mapping[str, float]:
    """Counts and rates over the topics that the group reads; rates while the group did not change.

    What the rule gives is counted where the queues agree with it, or nothing shows what they did.
    """
    found: dict[str, float] = {
        "processes": float(len(case.sharing.ids)),
        "distinct_ids": float(len(set(case.sharing.ids))),
    }
    read = [j for j in case.judgements if not j.unread]
    known = [j for j in read if j.owners and (j.agrees or not j.paces)]
    if known:
        found["orphan_queues"] = float(sum(len(j.orphans) for j in known))
        found["doubled_queues"] = float(sum(len(j.doubled) for j in known))
    elif any(j.frozen for j in read):
        found["frozen_queues"] = float(sum(len(j.frozen) for j in read))
    watched = [j for j in known if j.paces]
    if watched:
        found["orphans_produced_per_second"] = sum(_produced(j, j.orphans) for j in watched)
        found["lag_growth_per_second"] = sum(_growth(j) for j in watched)
    if any(j.paces for j in read):
        found["pending_records"], found["peak_lag"] = _waiting(facts, case, {j.topic for j in read})
    if case.copies:
        found["duplicated_records"] = float(sum(c.extra for c in case.copies.values()))
    elif watched and case.confirmed:
        found["duplicated_records_estimated"] = sum(_doubled(j) for j in watched) * (case.until - case.since)
    return found


def _produced(judgement: Judgement, queues: Sequence[str]) -> float:
    """Messages a second that came into these queues."""
    seen = [judgement.paces[q] for q in queues if q in judgement.paces]
    return sum(p.produced / p.seconds for p in seen)


def _growth(judgement: Judgement) -> float:
    """Messages a second by which the lag of all queues grew."""
    return sum((lag(p.last) - lag(p.first)) / p.seconds for p in judgement.paces.values())


def _doubled(judgement: Judgement) -> float:
    """Messages a second that are handled once more than needed, if every copy is handled."""
    return sum(_produced(judgement, (queue,)) * (times - 1) for queue, times in judgement.doubled.items())


def _waiting(facts: Facts, case: Case, topics: Collection[str]) -> tuple[float, float]:
    """Messages that wait when the sharing ends, or at last, and most that ever waited since it began."""
    last = peak = 0
    for (group, topic), queues in of_groups(facts).items():
        if group != case.group or topic not in topics:
            continue
        since = [(at, waiting) for at, waiting, _ in totals(queues) if at >= case.since]
        within = [waiting for at, waiting in since if case.ongoing or at <= case.until + TOGETHER]
        last += within[-1] if within else 0
        peak += max((waiting for _, waiting in since), default=0)
    return float(last), float(peak)


def reserved_seconds(facts: Facts) -> tuple[float, bool]:
    """How long the brokers keep messages, and whether the material says so."""
    told = members.reserved_seconds(facts)
    return (RESERVED_HOURS * 3600.0, False) if told is None else (told, True)


def retries(facts: Facts, group: str) -> int:
    """Messages that the group sent back to be handled again, in the time of the material."""
    queues = of_groups(facts).get((group, f"%RETRY%{group}"), {})
    return sum((points[-1].end or 0) - (points[0].end or 0) for points in queues.values())


def orderly(facts: Facts, case: Case) -> bool:
    """A member says that it consumes in order."""
    names = {"PROP_CONSUMEORDERLY", "PROP_CONSUME_ORDERLY", "CONSUME_ORDERLY", "consumeOrderly"}
    return any(s.owner in case.sharing.ids and s.key in names and s.value.lower() == "true" for s in facts.settings)
