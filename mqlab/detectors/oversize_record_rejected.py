"""Single records over a limit fail once each and are lost to the application.

Fires: a producer reports RecordTooLarge, either because its own ``max.request.size`` refuses the record (no byte
leaves) or because the broker does (each record is sent exactly once, since the error is not retriable).
Quiet: batches that are split (batch-split-loop), records that an application submits again (retry-amplification).
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from mqlab import actors, configured, traffic, units
from mqlab.detectors.base import CLEAR, Result
from mqlab.facts import Episode, Facts
from mqlab.findings import Certainty, Evidence, Finding, Severity
from mqlab.wording import clock, moment, sample

INCIDENT = "oversize-record-rejected"

_IN_CLIENT = "when serialized"


def detect(facts: Facts) -> Result:
    """One finding a client and place of refusal."""
    groups: dict[tuple[str, bool], list[Episode]] = {}
    for client, episodes in actors.by_client(facts, facts.of_kind("record-too-large")).items():
        for episode in episodes:
            groups.setdefault((client, episode.reason == _IN_CLIENT), []).append(episode)
    if groups:
        return Result(tuple(_finding(facts, client, own, episodes) for (client, own), episodes in groups.items()))
    if not any(s.scope == "producer" for s in facts.settings) and not facts.named("producer.record_errors"):
        return Result(missing=("a log or metrics of the producers",))
    return CLEAR


def _finding(facts: Facts, client: str, in_client: bool, episodes: Sequence[Episode]) -> Finding:
    count = sum(e.count for e in episodes)
    first, last = episodes[0].first_at, max((e.last_at for e in episodes if e.last_at is not None), default=None)
    errors = _counted_errors(facts, client, first, last)
    agrees = errors is not None and errors >= 1
    open_still = _ongoing(facts, episodes, last)
    topic = next((e.topic for e in episodes if e.topic), None)
    limit = (
        configured.producer_value(facts, client, "max.request.size", first)
        if in_client
        else configured.limit(facts, topic, first)
    )
    largest = max((e.value_max or 0 for e in episodes), default=0)
    measures: dict[str, float] = {"rejected_records": count}
    if largest:
        measures["largest_record_bytes"] = largest
    if in_client:
        measures["bytes_out"] = 0
    where = "max.request.size of the client" if in_client else "the broker's limit"
    over = f" of up to {units.size(largest)}" if largest else ""
    sent = "no byte of them left the client" if in_client else "each was sent once and is not retried"
    return Finding(
        id=f"{INCIDENT}:{client}" + ("/client-side" if in_client else ""),
        incident=INCIDENT,
        severity=Severity.WARNING,
        certainty=Certainty.PROVEN if agrees else Certainty.LIKELY,
        subject=f"{client} -> {topic}" if topic else client,
        started_at=moment(first),
        ended_at=moment(last),
        ongoing=open_still,
        statement=(
            f"{client} lost {count} record{'s' if count != 1 else ''}{over} that exceed {where}"
            f"{f' ({limit.key} {limit.value})' if limit else ''}: {sent}. "
            + ("It still happens at the end of the material." if open_still else f"The last one failed at {clock(last)} UTC.")
        ),
        measures=measures,
        evidence=_evidence(facts, client, episodes, limit, last),
        mitigate=(
            "Let the application divert or cut such payloads before send(); side effect: they arrive by another way."
        ),
        remedy=(
            "Raise the limits together (topic max.message.bytes, producer max.request.size, replica.fetch.max.bytes, "
            "consumer max.partition.fetch.bytes), or store large payloads elsewhere and send a reference."
        ),
        verify="record-error-total of the producer stands still while payloads of that size arrive.",
        facts={"who": f"producer {client}", "last": f"{clock(last)} last failure", "count": str(count)},
    )


def _counted_errors(facts: Facts, client: str, first: float | None, last: float | None) -> float | None:
    own = [s for s in facts.named("producer.record_errors") if s.labels.get("client_id") == client]
    if first is None or last is None or not own:
        return None
    found = traffic.increase(own, first, last, traffic.first_scrape(facts, own[0]))
    return found.value if found else None


def _ongoing(facts: Facts, episodes: Sequence[Episode], last: float | None) -> bool:
    """Open where the log ends before the next failure was due."""
    moments = sorted(e.first_at for e in episodes if e.first_at is not None)
    ends = [e.last_at for e in facts.episodes if e.source == episodes[0].source and e.last_at is not None]
    ends += [c.last_at for c in facts.coverage if c.source == episodes[0].source and c.last_at is not None]
    if last is None or not ends:
        return False
    gaps = [b - a for a, b in zip(moments, moments[1:], strict=False)]
    due = max(60.0, 2 * median(gaps)) if gaps else 60.0
    return max(ends) - last < due


def _evidence(
    facts: Facts, client: str, episodes: Sequence[Episode], limit: configured.Value | None, last: float | None
) -> tuple[Evidence, ...]:
    final = max(episodes, key=lambda e: (e.last_at or 0, e.last.line or 0))
    found = [episodes[0].first, final.last]
    if limit is not None and limit.setting is not None:
        found.append(limit.setting.evidence)
    own = [s for s in facts.named("producer.record_errors") if s.labels.get("client_id") == client and last is not None]
    return tuple(found) + tuple(sample(facts, s, last or 0, "records failed, as the producer counts") for s in own)
