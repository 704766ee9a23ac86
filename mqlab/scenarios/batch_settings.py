"""What would have left the producer with another setting? The model of splitting, fed with what was configured."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pandas as pd

from mqlab import units
from mqlab.facts import Facts
from mqlab.findings import Finding
from mqlab.models.kafka_defaults import Version
from mqlab.models.producer import Link, Producer, burst, producer_of
from mqlab.models.splitting import Outcome, outcome
from mqlab.shared import configured
from mqlab.shared.table import table
from mqlab.words import room

say = room("batch-settings")

_KEYS = (
    "batch.size", "max.request.size", "retries", "linger.ms", "delivery.timeout.ms", "request.timeout.ms",
    "retry.backoff.ms", "max.block.ms", "max.in.flight.requests.per.connection", "buffer.memory", "acks",
)  # fmt: skip
_DEFAULT_BATCH = 16_384
"""batch.size of the client where nobody sets it."""


def configured_producer(facts: Facts, finding: Finding | None) -> Producer | None:
    """The finding's producer as it was when the finding began; None where version or limit is unknown."""
    if finding is None or "/" not in finding.id:
        return None
    client, _, topic = finding.id.partition(":")[2].rpartition("/")
    at = finding.started_at.timestamp() if finding.started_at else None
    version, limit = configured.version_of(facts, client, at), configured.limit(facts, topic, at)
    if version is None or limit is None or limit.number is None:
        return None
    known = {key: configured.producer_value(facts, client, key, at) for key in _KEYS}
    return producer_of({key: one.value for key, one in known.items() if one}, version, limit.number)


def trials(producer: Producer | None, link: Link, *, records: int = 20, payload: int | None = None) -> pd.DataFrame:
    """The same burst as configured and with one thing changed at a time.

    Without *payload* the records have the size of which two make a batch in the middle of what loops.
    """
    rows = []
    if producer is not None:
        sent = burst(records, payload or _looping_payload(producer))
        rows = [_row(name, outcome(one, link, sent)) for name, one in _variants(producer)]
    return table(rows, "with|bytes in|bytes out|factor|splits|ends")


def _variants(producer: Producer) -> Iterator[tuple[str, Producer]]:
    batch, fixed = producer.batch_size, Version(4, 2)
    yield say("configured", batch=str(batch), version=str(producer.version)), producer
    yield f"batch.size {_DEFAULT_BATCH}", replace(producer, batch_size=_DEFAULT_BATCH)
    yield say("limit", limit=str(batch)), replace(producer, limit=max(producer.limit, batch))
    yield say("client", version=str(fixed)), replace(producer, version=fixed)


def _looping_payload(producer: Producer) -> int:
    batch = (producer.limit + max(producer.batch_size, producer.limit)) // 2
    return batch // (4 if producer.key_equals_value else 2)


def _row(name: str, result: Outcome) -> tuple[str, ...]:
    out = say("bytes", out=result.bytes_out, low=result.bytes_out_low, high=result.bytes_out_high)
    splits = say("splits", splits=result.rounds, low=result.rounds_low, high=result.rounds_high)
    ends = say("ends", ends=result.ends)
    return name, units.size(result.bytes_in), out, units.factor(result.factor), splits, ends
