"""What a producer sends for what it was given: the arithmetic of batches that are too large (KAFKA-8350).

Ask "what if" by calling ``outcome`` again with ``dataclasses.replace(producer, batch_size=16_384)``.

Checked against 16 runs of real clients (``tests/models/test_splitting_measured.py``). Bytes out: single sends within
1 %; loops ended by the heap within 7 % where the garbage collector is known, within 20 % where it is not; loops ended
by time within 21 % (splits within 29 %), given the rate the link really had. That rate is the weak side: a busy machine
makes a producer slower than its link, and then the delivery timeout may come before the heap. The lower bounds assume
three quarters of the rate; no bound covers a machine that is slower still.

Not modelled: which partition a key hashes to, idempotent ordering, the client's estimate of compression, a topic that
decompresses, and the second failure that 2.1.0 to 2.3.0 report for records of a leaked batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from mqlab.models.kafka_defaults import Version, leaks
from mqlab.models.producer import Link, Producer, Record, Work, heap_is_full, pending, run

Ends = Literal["delivered", "rejected", "request-timeout", "delivery-timeout", "heap", "never"]
"""``rejected``: some records were refused and sent once at most. ``never``: still at it when the observation ended."""

_SLOW = 0.75
"""Share of a link's rate that was seen at the least while a loop filled it (9.4 of 12.5 MB/s)."""


_MIB = 1 << 20
_REGIONS = 2048
"""G1 divides the heap into about this many regions (JDK, ``G1HeapRegionSize``)."""


def loop_window(limit: int, batch_size: int) -> tuple[int, int] | None:
    """Smallest and largest size in bytes of a batch (of two records or more) that a split returns unchanged.

    ``RecordAccumulator.splitAndReenqueue`` splits to batch.size: what is above the broker's limit and not above
    batch.size stays as it is (KAFKA-8350). None where batch.size does not exceed the limit.
    """
    return (limit + 1, batch_size) if batch_size > limit else None


def leak_bytes_per_split(
    version: Version | None, batch_size: int, heap_bytes: int | None = None
) -> tuple[int, int] | None:
    """Least and most heap in bytes that one split keeps (KAFKA-8325); None where the version keeps nothing.

    Each split allocates ``max(first record, batch.size)``, and a batch that loops is not above batch.size. Serial and
    parallel collectors keep that (least; 512 MB died after 293 splits of 1,638,400, which leaves 57 MB for the rest).
    G1 rounds an array of half a region or more up to whole regions (most; 1 GB died after 490 splits: 2.10 MB each).
    """
    if not leaks(version):
        return None
    region = _region(heap_bytes)
    humongous = batch_size >= region // 2
    return batch_size, -(-batch_size // region) * region if humongous else batch_size


def _region(heap_bytes: int | None) -> int:
    """Region size of G1 in bytes: a power of two from 1 to 32 MiB."""
    wanted = (heap_bytes or 0) // _REGIONS
    return int(min(max(1 << max(wanted.bit_length() - 1, 0), _MIB), 32 * _MIB))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of some records. ``delivered`` + ``failed`` + ``pending`` are all of them, each once."""

    bytes_in: int
    """Payload the application handed over."""
    bytes_out: int
    """Bytes of batches that left, without framing (1.6 % on Ethernet)."""
    bytes_out_low: int
    bytes_out_high: int
    rounds: int
    """Splits, which is log lines "splitting and retrying"."""
    rounds_low: int
    rounds_high: int
    ends: Ends
    seconds: float
    delivered: int
    failed: int
    """Records whose callback got an error; after a request timeout they may be in the topic all the same."""
    pending: int

    @property
    def factor(self) -> float:
        """Bytes out per byte in; 0 where nothing came in."""
        return self.bytes_out / self.bytes_in if self.bytes_in else 0.0


def outcome(producer: Producer, link: Link, records: Sequence[Record], until: float = 600.0) -> Outcome:
    """Calculate what *producer* does with *records* over *link* within *until* seconds.

    The bounds of ``bytes_out`` and ``rounds`` come from the least and most heap that a split may keep and from a link
    at full and at three quarters of its rate.
    """
    least, most = leak_bytes_per_split(producer.version, producer.batch_size, producer.heap_bytes) or (0, 0)
    likely = {"serial": least, "g1": most, None: (least + most) / 2}[producer.collector]
    slow = replace(link, bytes_per_second=link.bytes_per_second * _SLOW)
    work = run(producer, link, records, likely, until)
    others = run(producer, slow, records, most, until), run(producer, link, records, least, until)
    rounds = sorted(one.rounds for one in (work, *others))
    bytes_out = sorted((work.bytes_out, *(one.bytes_out - one.bytes_cut for one in others), others[1].bytes_out))
    return Outcome(
        bytes_in=sum(record.size for record in records),
        bytes_out=work.bytes_out,
        bytes_out_low=bytes_out[0],
        bytes_out_high=bytes_out[-1],
        rounds=work.rounds,
        rounds_low=rounds[0],
        rounds_high=rounds[-1],
        ends=_ends(work),
        seconds=min(until, max(lane.free_at for lane in work.lanes)),
        delivered=work.delivered,
        failed=work.failed,
        pending=pending(work),
    )


def _ends(work: Work) -> Ends:
    if heap_is_full(work):
        return "heap"
    if pending(work):
        return "never"
    if work.expired:
        return "delivery-timeout"
    if work.timed_out:
        return "request-timeout"
    return "rejected" if work.failed else "delivered"
