"""Sizes that decide whether a rejected batch is sent once, split, or sent for ever."""

from __future__ import annotations

from mqlab.models.kafka_defaults import Version, leaks

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
    G1 rounds an array of half a region (a power of two from 1 to 32 MiB) or more up to whole regions (most; 1 GB died
    after 490 splits: 2.10 MB each).
    """
    if not leaks(version):
        return None
    wanted = (heap_bytes or 0) // _REGIONS
    region = min(max(1 << max(wanted.bit_length() - 1, 0), _MIB), 32 * _MIB)
    humongous = batch_size >= region // 2
    return batch_size, -(-batch_size // region) * region if humongous else batch_size
