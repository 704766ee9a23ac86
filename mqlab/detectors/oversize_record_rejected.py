"""Single records over a limit fail once each and are lost to the application.

Fires: a producer reports RecordTooLarge, either because its own ``max.request.size`` refuses the record (no byte
leaves) or because the broker does (each record is sent exactly once, since the error is not retriable). A producer that
takes it for fatal refuses what is sent after it, too, of whatever size.
Quiet: batches that are split (batch-split-loop), records that an application submits again (retry-amplification).
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from statistics import median_low

from mqlab import words
from mqlab.delivery import refused_writes
from mqlab.facts import Episode, Facts
from mqlab.findings import CLEAR, Certainty, Evidence, Finding, Result, Severity, finding
from mqlab.shared import actors, configured, counters, failures, flows
from mqlab.shared.wording import sample
from mqlab.traffic import resending, split_bytes
from mqlab.traffic.resending import IN_CLIENT

INCIDENT = "oversize-record-rejected"
SYSTEMS: tuple[str, ...] = ("kafka",)
say = words.room(INCIDENT)
_PAYLOAD = "payload="
"""How applications tell what they handed over: less than a record, which holds its key and headers besides."""


class Place(Enum):
    """Who refused a record."""

    CLIENT = "client"
    BROKER = "broker"
    DEAD = "dead"
    """Its own producer, to which the broker's refusal of another one was fatal."""
    UNKNOWN = "unknown"


def detect(facts: Facts) -> Result:
    """One finding a client and place of refusal."""
    groups: dict[tuple[str, Place], list[Episode]] = {}
    dead = failures.dead(facts)
    for client, episodes in actors.by_client(facts, failures.oversize(facts)).items():
        for episode in episodes:
            groups.setdefault((client, _place(episode, client in dead)), []).append(episode)
    if groups:
        again = frozenset(r.client for r in resending.found(facts))
        return Result(
            tuple(_finding(facts, client, place, episodes, again) for (client, place), episodes in groups.items())
        )
    errors = facts.named("producer.record_errors")
    if actors.producers_told(facts):
        return CLEAR
    if any(value for series in errors for _, value in series.points):
        return Result(missing=(say("no-log"),))
    return CLEAR if errors or flows.nothing_rejected(facts) else Result(missing=(say("no-producers"),))


def _place(episode: Episode, dead: bool) -> Place:
    if episode.reason == IN_CLIENT:
        return Place.CLIENT
    if dead:
        return Place.DEAD
    return Place.UNKNOWN if episode.reason is None else Place.BROKER


def _topic(facts: Facts, episodes: Sequence[Episode]) -> str | None:
    """By their own lines, or the only one that failed sends of the same log name meanwhile."""
    own = next((e.topic for e in episodes if e.topic), None)
    first, last = actors.span(episodes)
    if own or first is None or last is None:
        return own
    near = [e for e in facts.of_kind("send-failed") if e.source in {one.source for one in episodes}]
    named = {e.topic for e in near if e.topic and e.first_at is not None and first <= e.first_at <= last}
    return named.pop() if len(named) == 1 else None


def _finding(facts: Facts, client: str, place: Place, episodes: Sequence[Episode], again: frozenset[str]) -> Finding:
    in_client = place is Place.CLIENT
    count = sum(e.count for e in episodes)
    first, last = actors.span(episodes)
    topic = _topic(facts, episodes)
    largest = max((e.value_max or 0 for e in episodes), default=0)
    if in_client:
        limit = configured.producer_value(facts, client, "max.request.size", first)
    elif place is Place.UNKNOWN:
        limit = None
    else:
        # Java's error names no topic: then it may be the limit of any topic that has its own.
        whose = topic or not any(s.key == "max.message.bytes" and s.owner for s in facts.settings)
        limit = configured.limit(facts, topic, first) if whose else None
    limit = limit if limit and limit.setting else None  # a default is no sign that nobody set another
    ongoing = _ongoing(facts, client, episodes, last) and (in_client or not _lifted(facts, topic, largest, last))
    resubmitted = client in again and not in_client
    counted = resending.counted(facts, client, "producer.record_errors", first, last)
    return finding(
        INCIDENT,
        f"{client} -> {topic}" if topic else client,
        Certainty.PROVEN if counted else Certainty.LIKELY,
        (first, last),
        severity=Severity.WARNING,
        ongoing=ongoing,
        name=client + ("/client-side" if in_client else ""),
        slots={
            "client": client,
            "owner": None if client == actors.base_name("-") else client,
            "place": place,
            "in_client": in_client,
            "dead": place is Place.DEAD,
            "restart": place is Place.DEAD and ongoing,
            "key": limit.key if limit else None,
            "limit": limit.value if limit else None,
            "resubmitted": resubmitted,
            "payload": _PAYLOAD in actors.latest(episodes).last.text and not in_client,
            "ongoing": ongoing,
            "counter": counters.queried(facts, "producer.record_errors", client),
        },
        measures={
            "rejected_sends" if resubmitted else "rejected_records": count,
            "largest_record_bytes": largest or None,
            "bytes_out": 0 if in_client else None,
            "bytes_rejected": None if in_client else _rejected(facts, client, topic, first, last),
            "dropped_records": refused_writes.never_stored(facts, INCIDENT, topic) or None,
        },
        evidence=_evidence(facts, client, episodes, limit, last),
        facts={"who": say("who", client=client), "count": str(count)},
        moments=[(last, say("last"))] if last != first else [],
    )


def _rejected(facts: Facts, client: str, topic: str | None, first: float | None, last: float | None) -> float | None:
    """Bytes that the brokers threw away; None where they refused others' records, or batches that were split too."""
    refused = [e for e in facts.of_kind("record-too-large") if e.reason != IN_CLIENT]
    others = any(actors.client_of(facts, e) != client for e in refused) or facts.of_kind("batch-split")
    if topic is None or first is None or last is None or others:
        return None
    return split_bytes.topic_bytes(facts, "broker.bytes_rejected", topic, first, last) or None


def _ongoing(facts: Facts, client: str, episodes: Sequence[Episode], last: float | None) -> bool:
    """Open where the log, or a counter that goes on after it, ends before the next failure was due.

    Due is as usual: the longest pause may be one in which nothing was sent.
    """
    end = actors.log_end(facts, {episodes[0].source})
    if last is None or end is None:
        return False
    gaps = actors.gaps(episodes)
    if not gaps or sum(e.count for e in episodes) <= 2:
        return False
    due = last + 2 * median_low(gaps)
    return max(end, _quiet_until(facts, client, last)) < due


def _quiet_until(facts: Facts, client: str, last: float) -> float:
    """Until when the client's counter of failed records stood still after the *last* line."""
    counted = [s.points for s in facts.named("producer.record_errors") if s.labels.get("client_id") == client]
    after = [[point for point in points if point[0] >= last] for points in counted]
    return max((own[-1][0] for own in after if own and own[0][1] == own[-1][1]), default=last)


def _lifted(facts: Facts, topic: str | None, largest: float, last: float | None) -> bool:
    """True where the broker's limit was raised above the largest record when the failures ended."""
    return any(
        s.key == "max.message.bytes" and s.value.isdigit() and int(s.value) > largest > 0
        for s in configured.topic_changes(facts)
        if topic in (None, s.owner) and s.at is not None and last is not None and s.at >= last - 10
    )


def _evidence(
    facts: Facts, client: str, episodes: Sequence[Episode], limit: configured.Value | None, last: float | None
) -> tuple[Evidence, ...]:
    found = [episodes[0].first, actors.latest(episodes).last]
    if limit is not None and limit.setting is not None:
        found.append(limit.setting.evidence)
    own = [s for s in facts.named("producer.record_errors") if s.labels.get("client_id") == client and s.points]
    return tuple(found) + tuple(sample(facts, s, last, say("counted")) for s in own if last is not None)
