"""Sizes that loop, and what a split keeps in memory."""

from __future__ import annotations

import pytest

from mqlab.models.kafka_defaults import Version
from mqlab.models.limits import leak_bytes_per_split, loop_window


def test_batches_above_the_limit_and_not_above_batch_size_loop():
    assert loop_window(limit=1_000_012, batch_size=1_638_400) == (1_000_013, 1_638_400)


@pytest.mark.parametrize("batch_size", [16_384, 1_000_012])
def test_nothing_loops_while_batch_size_does_not_exceed_the_limit(batch_size):
    assert loop_window(limit=1_000_012, batch_size=batch_size) is None


def test_a_split_keeps_batch_size_or_the_regions_it_covers():
    assert leak_bytes_per_split(Version(2, 1), 1_638_400) == (1_638_400, 2_097_152)
    assert leak_bytes_per_split(Version(2, 1), 1_638_400, heap_bytes=6 << 30) == (1_638_400, 2_097_152)
    assert leak_bytes_per_split(Version(2, 1), 1_638_400, heap_bytes=16 << 30) == (1_638_400, 1_638_400)
    assert leak_bytes_per_split(Version(2, 1), 16_384) == (16_384, 16_384)


@pytest.mark.parametrize("version", [None, Version(2, 0, 1), Version(2, 3, 1)])
def test_other_versions_keep_nothing(version):
    assert leak_bytes_per_split(version, 1_638_400) is None
