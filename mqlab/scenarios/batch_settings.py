"""What would have left the producer with another setting? The model of splitting, fed with what was configured."""

from __future__ import annotations

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

_KEYS = (
    "batch.size", "max.request.size", "retries", "linger.ms", "delivery.timeout.ms", "request.timeout.ms",
    "retry.backoff.ms", "max.block.ms", "max.in.flight.requests.per.connection", "buffer.memory", "acks",
)  # fmt: skip
_COLUMNS = ("with", "bytes in", "bytes out", "factor", "splits", "ends")
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
    if producer is None:
        return table((), _COLUMNS)
    size = payload or _looping_payload(producer)
    variants = {
        f"as configured (batch.size {producer.batch_size}, client {producer.version})": producer,
        f"batch.size {_DEFAULT_BATCH}": replace(producer, batch_size=_DEFAULT_BATCH),
        f"topic limit {producer.batch_size}": replace(producer, limit=max(producer.limit, producer.batch_size)),
        "client 4.2.0": replace(producer, version=Version(4, 2)),
    }
    rows = [_row(name, outcome(one, link, burst(records, size))) for name, one in variants.items()]
    return table((dict(zip(_COLUMNS, row, strict=True)) for row in rows), _COLUMNS)


def _looping_payload(producer: Producer) -> int:
    batch = (producer.limit + max(producer.batch_size, producer.limit)) // 2
    return batch // (4 if producer.key_equals_value else 2)


def _row(name: str, result: Outcome) -> tuple[str, ...]:
    spread = (
        f"{units.size(result.bytes_out)} ({units.size(result.bytes_out_low)} to {units.size(result.bytes_out_high)})"
    )
    splits = f"{result.rounds:,} ({result.rounds_low:,} to {result.rounds_high:,})"
    return name, units.size(result.bytes_in), spread, units.factor(result.factor), splits, result.ends
