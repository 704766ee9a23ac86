"""The producer at work: what each answer of the broker does to a batch, until the end.

Rules of ``Sender.completeBatch`` (0.11 to trunk): MESSAGE_TOO_LARGE for a batch of several records splits it and sends
the parts at once, whatever retries says; for a single record it is final. A request older than request.timeout.ms
is sent again, up to retries times.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from math import inf

from mqlab.models.accumulator import admit, drain, fail, give_up_waiting, sleep
from mqlab.models.batching import Batch, Producer, Record, pack
from mqlab.models.clients import has_delivery_timeout, loops, splits
from mqlab.models.sending import BASELINE_HEAP, Lane, Link, Queue, Request, Work, deadline, pooled, start


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
        work.leak_peak = max(work.leak_peak, work.leaked)


def _target(work: Work, batch: Batch) -> int:
    """Size to split to: batch.size, and since 4.2.0 half of a batch that is itself the result of a split."""
    if loops(work.producer.version) or not batch.resent:
        return work.producer.batch_size
    return max(max(batch.sizes), batch.size // 2)
