"""How often the members of a group handled the same message, counted in their own ledgers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from mqlab.facts import Facts
from mqlab.rows import GRID
from mqlab.shared.actors import base_name


@dataclass(frozen=True, slots=True)
class Copies:
    """What the ledgers of one group say about the messages of one time."""

    extra: int
    """Times that a message was handled again."""
    by_queue: Mapping[str, float]
    """How often a message of the queue was handled, on average."""


def copies(facts: Facts, group: str, topic: str, since: float, until: float) -> Copies | None:
    """Copies of messages of *topic* that were first handled in this time; None without ledgers of the group.

    The ten seconds at its edges count for the copies, but not for the average: a message that came once there may
    belong to another time.
    """
    own = ledgers_of(facts, group, topic)
    extra = 0
    handled: dict[str, int] = defaultdict(int)
    times: dict[str, int] = defaultdict(int)
    for delivery in facts.deliveries:
        noted = sum(source in own for source in delivery.sources)
        if delivery.topic != topic or not noted:
            continue
        if since - GRID < delivery.at < until:
            extra += (noted - 1) * delivery.messages
        if since <= delivery.at <= until - GRID:
            handled[delivery.queue] += delivery.messages
            times[delivery.queue] += noted * delivery.messages
    if not handled:
        return None
    by_queue = {queue: times[queue] / handled[queue] for queue in sorted(handled)}
    return Copies(extra, by_queue)


def ledgers_of(facts: Facts, group: str, topic: str) -> Collection[str]:
    """Ledgers of consumers that belong to *group*: those in a folder named like that of a member's log, or after it.

    Where no log says who is in which group, all of them, if the topic has one group only.
    """
    noted = {t.source for t in facts.tallies if t.topic == topic and t.role in ("received", "consumed", "processed")}
    parties: dict[str, set[str]] = defaultdict(set)
    for episode in facts.of_kind("queues-allocated", "consumer-starting", "consumer-stopped", "app-started"):
        if episode.group:
            parties[episode.group].add(party(episode.source))
    if group in parties:
        return {source for source in noted if _is_of(source, parties[group])}
    groups = {p.group for p in facts.positions if p.topic == topic and p.group}
    return noted if groups == {group} else set()


def _is_of(source: str, parties: Collection[str]) -> bool:
    """The ledger lies in the folder of one of the *parties*, or its name begins with that: ``app-1-consumed.csv``."""
    own = base_name(source)
    begun = (one for one in parties if one and own.startswith(one) and not own[len(one) : len(one) + 1].isalnum())
    return party(source) in parties or any(begun)


def party(source: str) -> str:
    """The folder in which a member's ledger or log lies."""
    return source.rpartition("/")[0].rpartition("/")[2]
