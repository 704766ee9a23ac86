"""Who was in a Kafka group when, by each source that can tell.

Listings of members (``--members``) and the owners of partitions (``--describe``) are true for their moment; lives, put
together from the coordinator's and the clients' logs, last. A member is told by the host or by its member id.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from mqlab.facts import Episode, Facts
from mqlab.findings import Evidence
from mqlab.groups.queues import TOGETHER
from mqlab.kafka.lives import lives
from mqlab.memo import per_facts
from mqlab.rebalances.rows import Life
from mqlab.rocketmq.members import Member, Snapshot, Stream

NOBODY = "has no active members"
"""What kafka-consumer-groups says of a group that has offsets, but no members."""
REBALANCING = "is rebalancing"
_EMPTY = ("Empty", "Dead")
_STEADY = ("Stable", *_EMPTY, "Unknown")


@per_facts
def streams(facts: Facts, group: str) -> tuple[Stream, ...]:
    """Every source's view of *group*, the most direct one first."""
    return tuple(s for s in (_listed(facts, group), _owning(facts, group), _living(facts, group)) if s.snapshots)


@per_facts
def empty(facts: Facts, group: str) -> tuple[Episode, ...]:
    """Everything that says that the group has no members at that moment, by time."""
    told = [e for e in facts.of_kind("group-state", "group-emptied", "tool-error") if e.group == group]
    return tuple(e for e in told if e.first_at is not None and _says_empty(e))


@per_facts
def unsettled(facts: Facts, group: str) -> tuple[float, ...]:
    """Moments at which a command found the group in the middle of a rebalance, sorted."""
    told = [e for e in facts.of_kind("group-state", "tool-error") if e.group == group and e.first_at is not None]
    return tuple(sorted({e.first_at or 0.0 for e in told if _says_unsettled(e)}))


def _says_empty(episode: Episode) -> bool:
    if episode.kind == "group-state":
        return episode.reason in _EMPTY
    return episode.kind == "group-emptied" or NOBODY in (episode.reason or "")


def _says_unsettled(episode: Episode) -> bool:
    if episode.kind == "group-state":
        return episode.reason not in _STEADY
    return REBALANCING in (episode.reason or "")


def _listed(facts: Facts, group: str) -> Stream:
    rows = [c for c in facts.clients if c.group == group and c.system == "kafka" and c.at is not None and c.client_id]
    rows.sort(key=lambda c: (c.at or 0.0, c.source, c.line or 0))
    found = [
        Snapshot(at, tuple(Member(c.client_id or "", c.peer or "", c.evidence) for c in told), source)
        for (at, source), told in groupby(rows, key=lambda c: (c.at or 0.0, c.source))
    ]
    return _moments("listing", [*found, *_nobody(facts, group, [s.at for s in found])] if found else [])


def _owning(facts: Facts, group: str) -> Stream:
    """Members that own a partition; a snapshot in the middle of a rebalance names none."""
    rows = [p for p in facts.positions if p.group == group and p.at is not None and p.client_id]
    rows.sort(key=lambda p: (p.at or 0.0, p.source, p.client_id or "", p.member_id or "", p.line or 0))
    found = []
    for (at, source), told in groupby(rows, key=lambda p: (p.at or 0.0, p.source)):
        first = {(p.client_id or "", p.member_id or p.peer or ""): p for p in reversed([*told])}
        owners = {who: Evidence(p.source, p.line, p.text) for who, p in first.items()}
        found.append(Snapshot(at, tuple(Member(*who, owners[who]) for who in sorted(owners)), source))
    return _moments("owners", [*found, *_nobody(facts, group, [s.at for s in found])] if found else [])


def _nobody(facts: Facts, group: str, listed: list[float]) -> Iterator[Snapshot]:
    """Moments at which a command found no member, unless another of the same moment lists some."""
    for episode in empty(facts, group):
        at = episode.first_at or 0.0
        if episode.kind != "group-emptied" and all(abs(at - other) > TOGETHER for other in listed):
            yield Snapshot(at, (), episode.source)


def _moments(how: str, found: list[Snapshot]) -> Stream:
    ordered = tuple(sorted(found, key=lambda s: (s.at, s.source)))
    return Stream(how, ordered, ordered[-1].at if ordered else 0.0, lasting=False)


def _living(facts: Facts, group: str) -> Stream:
    """A snapshot whenever a life begins or ends; who was there before the logs begin is there from their start."""
    known = lives(facts, group)
    first, last = _logged(facts, known)
    moments = sorted({life.since if life.since is not None else first for life in known} | _ends(known))
    found = tuple(Snapshot(at, tuple(_member(life) for life in known if _lives(life, at))) for at in moments)
    return Stream("logs", found, max([last, *moments]) if found else 0.0, lasting=True)


def _ends(known: tuple[Life, ...]) -> set[float]:
    return {life.until for life in known if life.until is not None}


def _lives(life: Life, at: float) -> bool:
    return (life.since is None or life.since <= at) and (life.until is None or at < life.until)


def _member(life: Life) -> Member:
    place = life.evidence[0] if life.evidence else Evidence("", None, "")
    return Member(life.client_id, life.member_id, place)


def _logged(facts: Facts, known: tuple[Life, ...]) -> tuple[float, float]:
    """When the logs that tell of these lives begin and end."""
    sources = {place.source for life in known for place in life.evidence}
    told = [c for c in facts.coverage if c.source in sources]
    moments = [t for c in told for t in (c.first_at, c.last_at) if t is not None]
    moments += [t for life in known for t in (life.since, life.until) if t is not None]
    return min(moments, default=0.0), max(moments, default=0.0)
