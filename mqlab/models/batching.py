"""How a Java producer packs records into batches, one queue per partition.

Sizes are bytes, times seconds since the first moment of the calculation. A record costs about 20 bytes beside its key
and value, a batch 61 (message format v2). Compression is a constant ratio: the client's estimate of it is not modelled.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from mqlab.models.clients import default
from mqlab.models.versions import Version

RECORD_OVERHEAD = 20
BATCH_OVERHEAD = 61


class Record(NamedTuple):
    """One message of the application: when it was sent and the bytes of its payload."""

    at: float
    size: int


@dataclass(frozen=True, slots=True)
class Producer:
    """A Kafka producer as configured. ``limit`` is the topic's max.message.bytes."""

    version: Version
    batch_size: int
    limit: int
    max_request_size: int = 1_048_576
    retries: int = 2_147_483_647
    linger_ms: int = 0
    delivery_timeout_ms: int = 120_000
    request_timeout_ms: int = 30_000
    retry_backoff_ms: int = 100
    max_block_ms: int = 60_000
    max_in_flight: int = 5
    buffer_memory: int = 33_554_432
    heap_bytes: int | None = None
    """-Xmx; None where unknown: the heap then never ends a loop."""
    collector: Literal["serial", "g1"] | None = None
    """Garbage collector of the JVM; parallel counts as serial."""
    acks: str = "1"
    keyed: bool = True
    key_equals_value: bool = False
    """The application uses the payload as key too, so that every byte travels twice."""
    compression_ratio: float = 1.0
    """Bytes after compression by bytes before."""


def producer_of(settings: Mapping[str, str], version: Version, limit: int) -> Producer:
    """Return the producer that these settings make, with the version's defaults for what is not set."""

    def number(key: str, otherwise: int) -> int:
        return int(settings.get(key) or default(key, "producer", version) or otherwise)

    return Producer(
        version=version,
        batch_size=number("batch.size", 16_384),
        limit=limit,
        max_request_size=number("max.request.size", 1_048_576),
        retries=number("retries", 0),
        linger_ms=number("linger.ms", 0),
        delivery_timeout_ms=number("delivery.timeout.ms", 120_000),
        request_timeout_ms=number("request.timeout.ms", 30_000),
        retry_backoff_ms=number("retry.backoff.ms", 100),
        max_block_ms=number("max.block.ms", 60_000),
        max_in_flight=number("max.in.flight.requests.per.connection", 5),
        buffer_memory=number("buffer.memory", 33_554_432),
        acks=settings.get("acks") or default("acks", "producer", version) or "1",
    )


@dataclass(slots=True)
class Batch:
    """Records of one partition that travel together."""

    sizes: list[int]
    created: float
    open: bool = True
    """More records may join: it was not sent yet, and is no result of a split."""
    resent: bool = False
    """It is the result of a split."""
    attempts: int = 0
    not_before: float = 0.0
    size: int = field(init=False)
    """Bytes on the wire."""

    def __post_init__(self) -> None:
        self.size = BATCH_OVERHEAD + sum(self.sizes)

    def add(self, size: int) -> None:
        """Take one more record of *size* bytes."""
        self.sizes.append(size)
        self.size += size


def burst(count: int, size: int, interval: float = 0.0, start: float = 0.0) -> tuple[Record, ...]:
    """Return *count* messages of *size* bytes, one each *interval* seconds."""
    return tuple(Record(start + index * interval, size) for index in range(count))


def plain_size(producer: Producer, payload: int) -> int:
    """Bytes of a record before compression, which is what max.request.size bounds."""
    return payload * (2 if producer.key_equals_value else 1) + RECORD_OVERHEAD


def wire_size(producer: Producer, payload: int) -> int:
    """Bytes of a record inside its batch."""
    return max(1, round(plain_size(producer, payload) * producer.compression_ratio))


def spread(producer: Producer, records: Sequence[Record], partitions: int) -> Iterator[tuple[Record, int]]:
    """Give each record its partition.

    A key is hashed: taken as an even deal in turn. Without a key the client deals in turn before 2.4, and later stays
    with one partition until batch.size or linger.ms is used up (KIP-480, KIP-794); the next one is taken in turn,
    where the client draws it at random.
    """
    if producer.keyed or producer.key_equals_value or producer.version < Version(2, 4):
        yield from ((record, index % partitions) for index, record in enumerate(records))
        return
    partition, filled, since = 0, 0, 0.0
    for record in records:
        size = wire_size(producer, record.size)
        if filled and (filled + size > producer.batch_size or record.at - since > producer.linger_ms / 1000):
            partition, filled = (partition + 1) % partitions, 0
        since = since if filled else record.at
        filled += size
        yield record, partition


def pack(sizes: Iterable[int], target: int) -> list[list[int]]:
    """Fill batches of at most *target* bytes, in order; a record larger than that goes alone."""
    batches: list[list[int]] = []
    filled = target
    for size in sizes:
        if not batches or filled + size > target:
            batches.append([])
            filled = BATCH_OVERHEAD
        batches[-1].append(size)
        filled += size
    return batches
