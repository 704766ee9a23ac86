"""Records that producers were told of as failed: by ledgers, else by applications, by clients' counters, by log lines.

A ledger notes each record, an application counts each callback. A client's counter (``record-error-total``) counts a
batch again that expires while its request is on the way, and misses what came after the last scrape before a crash.
Lines tell of batches, floods of them are cut, and not every application prints one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from math import inf

from mqlab import words
from mqlab.facts import Episode, Facts, Series
from mqlab.findings import Evidence
from mqlab.ledgers.layout import role_in
from mqlab.rows import Fate
from mqlab.shared import actors, counters
from mqlab.shared.counters import first_scrapes
from mqlab.words import Text

say = words.room("failed-records")

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


class Source(Enum):
    """What counted the records that failed."""

    LEDGER = "ledger"
    APPLICATION = "application"
    COUNTER = "counter"
    LINES = "lines"


@dataclass(frozen=True, slots=True)
class Failed:
    """Records that failed, and what counted them."""

    records: float
    by: Source

    @property
    def how(self) -> Text:
        """What counted them, in words."""
        return say(self.by.value)


NONE = Failed(0.0, Source.LINES)


def failed(
    facts: Facts, client: str | None, topics: Collection[str], since: float | None, until: float | None
) -> Failed | None:
    """Records of *client* (of any where it is None) to *topics* (any where none) that failed; None where nothing tells.

    Lines without a date give no moments: then it is what ledgers and counters tell of the whole material. Records that
    were too large are not among them: they are told as refused, and no broker stored them.
    """
    begin, end = (-inf if since is None else since), (inf if until is None else until)
    most = _unacknowledged(facts, client, topics)
    for by, counted in _WAYS:
        if (records := counted(facts, client, topics, begin, end)) is not None:
            records -= 0 if by is Source.LINES else _refused(facts, client, topics, begin, end)
            return Failed(max(0.0, records if most is None else min(records, most)), by)
    return None


_CAUSE = re.compile(r"Caused by:")
_ONE_RECORD = 1.0
"""Seconds within which two lines of a log tell of one record: its name first, and then why."""


def dead(facts: Facts) -> frozenset[str]:
    """Producers that took a refused record for fatal, and refused the rest themselves."""
    lines = [e for e in facts.of_kind("batches-aborted") if "TooLarge" in (e.reason or "")]
    return frozenset(actors.client_of(facts, e) for e in lines)


def oversize(facts: Facts) -> list[Episode]:
    """Lines of refused records, each once: the death of a task names the refusal that it died of as its cause again.

    So does a line without a reason beside the one that tells it.
    """
    deaths = facts.of_kind("task-killed")
    lines = [_without_deaths(e, deaths) for e in facts.of_kind("record-too-large")]
    every = [e for e in lines if not any(_is_explained(e, other) for other in lines)]
    told = {(e.source, e.value_max) for e in every if not _is_cause(e.first)}
    died = {(e.source, e.first_at) for e in deaths}
    again = [e for e in every if _is_cause(e.first) and (e.source, e.first_at) in died]
    return [e for e in every if e not in again or (e.source, e.value_max) not in told]


def _is_cause(place: Evidence) -> bool:
    return _CAUSE.match(place.text) is not None


def _without_deaths(told: Episode, deaths: Sequence[Episode]) -> Episode:
    """Less the deaths of tasks between its lines, where they name it as their cause."""
    between = range(told.first.line or 0, (told.last.line or 0) + 1)
    died = sum(e.count for e in deaths if e.source == told.source and e.first.line in between)
    return replace(told, count=max(1, told.count - died)) if _is_cause(told.last) else told


def _is_explained(episode: Episode, other: Episode) -> bool:
    """The *other* tells of the same records, and who refused them."""
    if episode.reason is not None or other.reason is None or episode.source != other.source:
        return False
    if episode.first_at is None or other.first_at is None:
        return False
    return abs(episode.first_at - other.first_at) <= _ONE_RECORD and episode.count <= other.count


def _refused(facts: Facts, client: str | None, topics: Collection[str], begin: float, end: float) -> int:
    """Records of the client that were too large in that time."""
    return sum(
        line.count
        for line in oversize(facts)
        if client in (None, actors.client_of(facts, line))
        and (not topics or line.topic is None or line.topic in topics)
        if begin <= (begin if line.first_at is None else line.first_at) <= end
    )


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


_GIVEN = ("received", "consumed", "sent", "published")
_TAKEN = ("delivered", "acked", "acknowledged")


def _by_application(
    facts: Facts, client: str | None, topics: Collection[str], begin: float, end: float
) -> float | None:
    """What the applications count, where each of them counts all of the time and all records that it was given."""
    own = {log: _printed(facts, log, ("failed",)) for log in _logs(facts, client, topics)}
    if not own or not all(
        series and _closes(facts, log) and _covers(series, begin, end) for log, series in own.items()
    ):
        return None
    return sum(counters.rise(series, begin, end) or 0.0 for series in own.values())


def _logs(facts: Facts, client: str | None, topics: Collection[str]) -> set[str]:
    """Logs of the producers that failed; none where they wrote to other topics too, which their counts hold as well."""
    lines = [e for e in facts.of_kind(*actors.PRODUCING) if client in (None, actors.client_of(facts, e))]
    named = {s.labels.get("client_id") for s in facts.series if s.name.startswith("producer.topic_")}
    who = {actors.client_of(facts, e) for e in lines}
    counted = [s for s in facts.series if s.name.startswith("producer.topic_") and s.labels.get("client_id") in who]
    written = {s.labels.get("topic") for s in counted} | {e.topic for e in lines if e.topic}
    alone = not topics or (written <= set(topics) and (client is not None or named <= who))
    return {e.source for e in lines if not _is_beside(e, lines)} if alone else set()


def _printed(facts: Facts, log: str, verbs: Collection[str]) -> list[Series]:
    """Counters of records that the application of *log* prints."""
    names = tuple(f"app.{verb}" for verb in verbs)
    every = (s for s in facts.series if s.source == log and s.name.startswith(names) and s.points)
    return [s for s in every if "ytes" not in s.name and "ayload" not in s.name]


def _closes(facts: Facts, log: str) -> bool:
    """Of what it was given, no more was taken and failed: so it counts failures of sends, each once."""
    given, taken, lost = (_printed(facts, log, verbs) for verbs in (_GIVEN, _TAKEN, ("failed",)))
    each = [
        sum(s.points[0][1] + (counters.rise([s], -inf, inf) or 0.0) for s in series) for series in (given, taken, lost)
    ]
    return bool(given and taken) and each[1] + each[2] <= each[0]


def _covers(series: Sequence[Series], begin: float, end: float) -> bool:
    first, last = min(s.points[0] for s in series), max(s.points[-1][0] for s in series)
    return (first[0] <= begin or not first[1]) and last >= end


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
    return float(expired([e for e in rows if not _is_beside(e, rows)])[0]) if rows else None


def _is_beside(episode: Episode, others: Sequence[Episode]) -> bool:
    """Its file is named after another one with such lines: ``shop-outbox.csv`` notes again what ``shop.log`` prints."""
    own = actors.base_name(episode.source)
    names = {actors.base_name(e.source) for e in others if actors.folder(e.source) == actors.folder(episode.source)}
    return role_in(own) is not None and any(own.startswith((f"{name}-", f"{name}_")) for name in names)


_WAYS = (
    (Source.LEDGER, _by_ledger),
    (Source.APPLICATION, _by_application),
    (Source.COUNTER, _by_counter),
    (Source.LINES, _by_lines),
)
"""What counts failed records, the surest first."""
