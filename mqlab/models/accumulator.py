"""The producer's queues: taking records in, handing batches out, giving up (``RecordAccumulator``, ``BufferPool``)."""

from __future__ import annotations

import heapq
from math import inf

from mqlab.models.batching import Batch, Producer, Record, plain_size, wire_size
from mqlab.models.clients import has_delivery_timeout
from mqlab.models.sending import Lane, Queue, Request, Work, deadline, pooled


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
