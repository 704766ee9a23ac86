"""Records that producers were told of as failed: by ledgers, else by counters, else by lines of the clients' logs.

A ledger notes each record. A counter (``record-error-total``) misses what came after the last scrape before a crash.
Lines tell of batches, floods of them are cut, and not every application prints one.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import inf

from mqlab.facts import Episode, Facts
from mqlab.rows import Fate
from mqlab.shared import actors, counters
from mqlab.shared.counters import first_scrapes

GIVEN_UP = 120.0
"""Seconds after the send in which a record fails at the latest (delivery.timeout.ms)."""


def noted(fates: Sequence[Fate]) -> list[Fate]:
    """Messages that a ledger notes as failed and never as acknowledged."""
    return [f for f in fates if f.failed and not f.acked]


def expired(rows: Sequence[Episode]) -> tuple[int, int]:
    """Records that ``Expiring N record(s)`` lines tell of, at least and at most.

    Each record's callback gets the same error, whose N is the size of their batch: who prints every one prints N lines
    for it, who prints one of them at least tells N.
    """
    least = sum(max(e.count, e.value_max or 1) for e in rows)
    return round(least), round(sum((e.value_max or 1) * e.count for e in rows))


def failed(
    facts: Facts, client: str | None, topics: Collection[str], since: float | None, until: float | None
) -> float | None:
    """Records of *client* (of any where it is None) to *topics* (any where none) that failed; None where nothing tells.

    Lines without a date give no moments: then it is what ledgers and counters tell of the whole material.
    """
    begin, end = (-inf if since is None else since), (inf if until is None else until)
    known = _by_ledger(facts, client, topics, begin, end)
    if known is None:
        known = _by_counter(facts, client, topics, begin, end)
    if known is None:
        known = _by_lines(facts, client, topics, begin, end)
    most = _unacknowledged(facts, client, topics)
    return known if known is None or most is None else min(known, most)


def _unacknowledged(facts: Facts, client: str | None, topics: Collection[str]) -> float | None:
    """Records of *topics* that ledgers note as sent and not as acknowledged: more cannot have failed.

    None where they do not tell all of both, or an application sent a record again, which may fail and be taken later.
    """
    own = [f for f in facts.fates if f.topic in topics or (topics and not f.topic)]
    told = {f.topic for f in own if f.sent and f.acked}
    alone = client is None or all(actors.sole_producer(facts, client, topic) for topic in topics)
    cut = any(facts.unread.get(p.source) for p in facts.parts if p.topic in topics and p.role in ("sent", "acked"))
    once = all(f.sent == 1 for f in own if f.sent or f.acked)
    if not topics or not set(topics) <= told or not alone or cut or not once:
        return None
    return float(sum(f.messages for f in own if f.sent and not f.acked))


def _by_ledger(facts: Facts, client: str | None, topics: Collection[str], begin: float, end: float) -> float | None:
    own = [f for f in noted(facts.fates) if not topics or f.topic in topics]
    alone = client is None or all(actors.sole_producer(facts, client, topic) for topic in {f.topic for f in own})
    within = [f for f in own if (f.first_at or begin) <= end and (f.last_at or end) >= begin - GIVEN_UP]
    return float(sum(f.messages for f in within)) if within and alone else None


def _by_counter(facts: Facts, client: str | None, topics: Collection[str], begin: float, end: float) -> float | None:
    every = [s for s in facts.named("producer.topic_record_errors") if not topics or s.labels.get("topic") in topics]
    every = every or list(facts.named("producer.record_errors"))
    own = [s for s in every if client in (None, s.labels.get("client_id")) and s.points]
    return counters.rise(own, begin, end, first_scrapes(facts)) if own else None


def _by_lines(facts: Facts, client: str | None, topics: Collection[str], begin: float, end: float) -> float | None:
    rows = [
        e
        for e in facts.of_kind("record-expired")
        if (not topics or e.topic is None or e.topic in topics) and begin <= (e.first_at or begin) <= end + GIVEN_UP
        if client in (None, actors.client_of(facts, e))
    ]
    return float(expired(rows)[0]) if rows else None
