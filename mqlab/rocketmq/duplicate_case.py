"""One group whose processes share a client id: for how long, and what its queues did meanwhile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from math import inf

from mqlab.facts import Facts
from mqlab.findings import Certainty
from mqlab.groups.copies import BUCKET, Copies, copies
from mqlab.memo import per_facts
from mqlab.models.client_ids import parse
from mqlab.questions.wording import clock
from mqlab.rocketmq.duplicate_doubles import Doubles, doubles
from mqlab.rocketmq.members import NOT_ONLINE, Snapshot, Stream, groups, streams
from mqlab.rocketmq.sharing import EXPIRY, Sharing, shared_ids, sharings
from mqlab.rocketmq.slots import SETTLING, Judgement, judged, judged_by_hash

_NO_OFFSETS = "Not found the consumer group consume stats"
"""What consumerProgress says of a group that keeps its offsets itself."""
NEAR = 60.0
"""Seconds between sightings of one sharing by different sources."""
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


def harmless(facts: Facts, case: Case) -> str | None:
    """Why equal ids have no say in who reads what; None where they have."""
    told = {s.key: s.value for s in facts.settings if s.scope == "consumer" and s.owner == case.group}
    read = [parse(client) for client in case.sharing.shared]
    alone = all(one is not None and one.instance == "DEFAULT" for one in read)
    unread = any(e.group == case.group and _NO_OFFSETS in (e.reason or "") for e in facts.of_kind("tool-error"))
    if told.get("messageModel") == "BROADCASTING" or ("messageModel" not in told and (alone or unread)):
        return f"{case.group} is a broadcast group: each member reads every queue, equal ids do no harm"
    if told.get("consumeType") == "CONSUME_POP":
        return f"{case.group} consumes by POP: every client may read every queue, ids have no say"
    return None


@per_facts
def cases(facts: Facts, group: str) -> tuple[Case, ...]:
    """The times in which ids of *group* were shared, each judged once, by time."""
    chains: list[list[Sharing]] = []
    for one in sorted(sharings(facts, group), key=lambda s: (s.since, s.until, s.how)):
        chain = next((c for c in chains if _belongs(one, c)), None)
        if chain is None:
            chains.append([one])
        else:
            chain.append(one)
    return tuple(_case(facts, chain) for chain in chains)


def _belongs(one: Sharing, chain: Sequence[Sharing]) -> bool:
    return any(
        one.streak == s.streak or (set(one.shared) & set(s.shared) and one.since <= s.until + NEAR) for s in chain
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
    judgements = judged(facts, one.group, one.ids, *window, {})
    by_hash = {j.topic: j for j in judged_by_hash(facts, one.group, one.ids, *window)}
    hands = {j.topic: doubles(facts, one, j) for j in judgements}
    chosen = tuple(_chosen(j, by_hash[j.topic], hands[j.topic]) for j in judgements)
    counted = {j.topic: copies(facts, one.group, j.topic, span[0], span[1] + BUCKET) for j in chosen}
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
        alone = list(takewhile(lambda s: not shared_ids(s), later))
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


def doubtful(facts: Facts) -> Iterator[tuple[float, str]]:
    """(since, sentence) for ids that are shared when the material ends, before it shows whether both are alive."""
    for group in groups(facts):
        for case in cases(facts, group):
            if case.unclear and case.certainty is None and harmless(facts, case) is None:
                names, places = " and ".join(case.sharing.shared), ", ".join(sorted(case.sharing.places))
                yield case.since, f"{clock(case.since)} UTC: {group} lists {names} more than once ({places})"
