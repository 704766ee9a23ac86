"""The Java producer at work: how it packs records into batches, what waits, and what each answer does to a batch.

Sizes are bytes, times seconds since the first moment of the calculation. A record costs about 20 bytes beside its key
and value, a batch 61 (message format v2). Compression is a constant ratio: the client's estimate of it is not modelled.

Rules of ``RecordAccumulator``, ``BufferPool`` and ``Sender.completeBatch`` (0.11 to trunk): MESSAGE_TOO_LARGE for a
batch of several records splits it and sends the parts at once, whatever retries says; for a single record it is final.
A request older than request.timeout.ms is sent again, up to retries times.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Literal, NamedTuple

from mqlab.models.kafka_defaults import Version, default, has_delivery_timeout, loops, splits

RECORD_OVERHEAD = 20
"""Bytes of a record beside key and value, about (message format v2, no headers)."""
BATCH_OVERHEAD = 61
"""Bytes of the header of a batch (DefaultRecordBatch.RECORD_BATCH_OVERHEAD)."""


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


BASELINE_HEAP = 50_000_000
"""Heap in bytes that a small application uses beside the leak (53 MB measured before the first split)."""

Queue = deque[Batch]
Request = list[tuple[Queue, Batch]]


@dataclass(frozen=True, slots=True)
class Link:
    """The way to the brokers. Requests of one connection are served one after the other."""

    bytes_per_second: float
    """Of one connection: a shared network card is one connection with the card's rate."""
    rtt_s: float = 0.0
    """Round trip and the broker's own time."""
    partitions: int = 1
    connections: int = 1
    """Brokers that lead the partitions."""


@dataclass(slots=True)
class Lane:
    """One connection and the partitions it serves."""

    queues: deque[Queue] = field(default_factory=deque)
    free_at: float = 0.0
    wake: float = 0.0
    written_next: Request = field(default_factory=list)
    """The request behind the one that waits for its answer."""


@dataclass(slots=True)
class Work:
    """Everything that changes while the producer runs."""

    producer: Producer
    link: Link
    leak_per_split: float
    lanes: list[Lane]
    queues: list[Queue]
    arrivals: deque[tuple[Record, int]]
    blocked_since: float | None = None
    pool_used: int = 0
    leaked: float = 0.0
    leaks: list[tuple[float, float]] = field(default_factory=list)
    """(when the delivery timeout frees it, bytes), a heap."""
    bytes_out: int = 0
    bytes_cut: int = 0
    """Part of ``bytes_out`` that a closed connection may have kept from leaving."""
    rounds: int = 0
    delivered: int = 0
    failed: int = 0
    expired: bool = False
    timed_out: bool = False


def start(producer: Producer, link: Link, records: Sequence[Record], leak_per_split: float) -> Work:
    """Set up queues and connections; nothing has been sent yet."""
    queues = [Queue() for _ in range(link.partitions)]
    lanes = [Lane() for _ in range(min(link.connections, link.partitions))]
    for index, queue in enumerate(queues):
        lanes[index % len(lanes)].queues.append(queue)
    arrivals = deque(spread(producer, sorted(records), link.partitions))
    return Work(producer, link, leak_per_split, lanes, queues, arrivals)


def deadline(producer: Producer, batch: Batch) -> float:
    """When a batch is given up: delivery.timeout.ms after its first record.

    Before 2.1 it is request.timeout.ms, and only for a batch that was never sent: a loop has no end.
    """
    if has_delivery_timeout(producer.version):
        return batch.created + producer.delivery_timeout_ms / 1000
    return inf if batch.resent or batch.attempts else batch.created + producer.request_timeout_ms / 1000


def pooled(producer: Producer, batch: Batch) -> int:
    """Bytes of buffer.memory that a batch holds; a split batch lies outside the pool."""
    return 0 if batch.resent else max(producer.batch_size, batch.sizes[0])


def pending(work: Work) -> int:
    """Records that were neither delivered nor failed: not sent yet, waiting, or on the way."""
    waiting = sum(len(batch.sizes) for queue in work.queues for batch in queue)
    written = sum(len(batch.sizes) for lane in work.lanes for _, batch in lane.written_next)
    return len(work.arrivals) + waiting + written


def admit(work: Work, now: float) -> None:
    """Let the application send what is due: into an open batch, a new one, or wait for memory up to max.block.ms."""
    while work.arrivals and work.arrivals[0][0].at <= now:
        record, partition = work.arrivals[0]
        size = wire_size(work.producer, record.size)
        if not _acceptable(work.producer, record, size):
            work.failed += 1
        elif not _join(work, partition, size, record.at if work.blocked_since is None else now):
            work.blocked_since = now if work.blocked_since is None else work.blocked_since
            if now - work.blocked_since < work.producer.max_block_ms / 1000:
                return
            work.failed += 1
        work.blocked_since = None
        work.arrivals.popleft()


def _acceptable(producer: Producer, record: Record, size: int) -> bool:
    """Whether send() takes the record at all: it is bounded by max.request.size and by buffer.memory."""
    fits_request = plain_size(producer, record.size) <= producer.max_request_size
    return fits_request and max(size, producer.batch_size) <= producer.buffer_memory


def _join(work: Work, partition: int, size: int, at: float) -> bool:
    producer, queue = work.producer, work.queues[partition]
    if queue and queue[-1].open and queue[-1].size + size <= producer.batch_size:
        queue[-1].add(size)
        return True
    batch = Batch([size], at)
    if work.pool_used + pooled(producer, batch) > producer.buffer_memory:
        return False
    work.pool_used += pooled(producer, batch)
    queue.append(batch)
    lane = work.lanes[partition % len(work.lanes)]
    lane.wake = max(lane.free_at, min(lane.wake, at + producer.linger_ms / 1000))
    return True


def drain(work: Work, lane: Lane, now: float) -> Request:
    """Take the first batch of every partition of a connection, if one of them is ready, up to max.request.size."""
    if not any(_ready_at(work.producer, queue) <= now for queue in lane.queues):
        return []
    request: Request = []
    total = 0
    lane.queues.rotate(-1)
    for queue in lane.queues:
        if queue and queue[0].not_before <= now:
            if request and total + queue[0].size > work.producer.max_request_size:
                break
            batch = queue.popleft()
            batch.open = False
            total += batch.size
            request.append((queue, batch))
    return request


def _ready_at(producer: Producer, queue: Queue) -> float:
    """When the first batch of a queue may go: at once if full, re-sent or followed by another, else after linger.ms."""
    if not queue:
        return inf
    head = queue[0]
    lingers = head.open and len(queue) == 1 and head.size < producer.batch_size
    return head.created + producer.linger_ms / 1000 if lingers else head.not_before


def sleep(work: Work, lane: Lane) -> None:
    """Find when an idle connection has something to do again."""
    due = min(_ready_at(work.producer, queue) for queue in lane.queues)
    # A blocked application wakes with the connection that gives memory back.
    blocked = not work.arrivals or work.blocked_since is not None
    arrival = inf if blocked else work.arrivals[0][0].at
    lane.wake = max(lane.free_at, min(due, arrival))


def give_up_waiting(work: Work, lane: Lane, now: float) -> None:
    """Fail waiting batches whose time is over, and free what leaked with batches of that age."""
    for queue in lane.queues:
        while queue and deadline(work.producer, queue[0]) <= now:
            work.expired = work.expired or has_delivery_timeout(work.producer.version) is True
            work.timed_out = work.timed_out or not work.expired
            fail(work, queue.popleft())
    while work.leaks and work.leaks[0][0] <= now:
        work.leaked -= heapq.heappop(work.leaks)[1]


def fail(work: Work, batch: Batch) -> None:
    """Report an error to every record of a batch."""
    work.failed += len(batch.sizes)
    work.pool_used -= pooled(work.producer, batch)


def run(producer: Producer, link: Link, records: Sequence[Record], leak_per_split: float, until: float) -> Work:
    """Send *records* until all have an answer, the heap is full, or *until* seconds are over."""
    work = start(producer, link, records, leak_per_split)
    while not heap_is_full(work):
        lane = min(work.lanes, key=lambda candidate: candidate.wake)
        if lane.wake >= until or lane.wake == inf:
            break
        _step(work, lane, until)
    return work


def heap_is_full(work: Work) -> bool:
    """Whether leaked buffers have used up what the application leaves of the heap."""
    heap = work.producer.heap_bytes
    return heap is not None and work.leaked > 0 and work.leaked + BASELINE_HEAP >= heap


def _step(work: Work, lane: Lane, until: float) -> None:
    now = lane.wake
    give_up_waiting(work, lane, now)
    admit(work, now)
    request, lane.written_next = lane.written_next or drain(work, lane, now), []
    if not request:
        sleep(work, lane)
        return
    # The next request is written while this one waits for its answer, so later batches do not wait for a looping one.
    if work.producer.max_in_flight > 1:
        lane.written_next = drain(work, lane, now)
    _serve(work, lane, request, now, until)


def _serve(work: Work, lane: Lane, request: Request, now: float, until: float) -> None:
    size = sum(batch.size for _, batch in request)
    answered = now + work.link.rtt_s + size / work.link.bytes_per_second
    closed = now + work.producer.request_timeout_ms / 1000
    lane.free_at = lane.wake = min(answered, closed)
    if lane.free_at > until:
        work.bytes_out += min(size, int((until - now) * work.link.bytes_per_second))
        _put_back(request)
        return
    work.bytes_out += size
    if closed < answered:
        work.bytes_cut += max(0, size - int((closed - now) * work.link.bytes_per_second))
    for queue, batch in reversed(request):
        if closed < answered:
            _unanswered(work, queue, batch, closed)
        else:
            _answer(work, queue, batch, answered)


def _put_back(request: Request) -> None:
    for queue, batch in request:
        queue.appendleft(batch)


def _unanswered(work: Work, queue: Queue, batch: Batch, now: float) -> None:
    """Send again, up to retries times and within the delivery timeout."""
    batch.attempts += 1
    in_time = not has_delivery_timeout(work.producer.version) or now < deadline(work.producer, batch)
    if batch.attempts <= work.producer.retries and in_time:
        batch.not_before = now + work.producer.retry_backoff_ms / 1000
        queue.appendleft(batch)
        return
    work.timed_out = True
    fail(work, batch)


def _answer(work: Work, queue: Queue, batch: Batch, now: float) -> None:
    producer = work.producer
    if batch.size <= producer.limit or producer.acks == "0":
        work.delivered += len(batch.sizes)
        work.pool_used -= pooled(producer, batch)
    elif len(batch.sizes) == 1 or not splits(producer.version):
        fail(work, batch)
    elif now >= deadline(producer, batch):
        work.expired = True
        fail(work, batch)
    else:
        _split(work, queue, batch)


def _split(work: Work, queue: Queue, batch: Batch) -> None:
    """Put the parts at the head of the queue; on leaking versions the old batch stays in memory until its deadline."""
    producer = work.producer
    work.pool_used -= pooled(producer, batch)
    parts = [Batch(sizes, batch.created, open=False, resent=True) for sizes in pack(batch.sizes, _target(work, batch))]
    queue.extendleft(reversed(parts))
    work.rounds += 1
    if work.leak_per_split:
        heapq.heappush(work.leaks, (deadline(producer, batch), work.leak_per_split))
        work.leaked += work.leak_per_split


def _target(work: Work, batch: Batch) -> int:
    """Size to split to: batch.size, and since 4.2.0 half of a batch that is itself the result of a split."""
    if loops(work.producer.version) or not batch.resent:
        return work.producer.batch_size
    return max(max(batch.sizes), batch.size // 2)
