"""Sizes that loop, bounds of legal splits, and what a split keeps in memory."""

from __future__ import annotations

import pytest

from mqlab.models.kafka_defaults import Version
from mqlab.models.limits import leak_bytes_per_split, loop_window, message_limit, rounds_bound


def test_batches_above_the_limit_and_not_above_batch_size_loop():
    assert loop_window(limit=1_000_012, batch_size=1_638_400) == (1_000_013, 1_638_400)


@pytest.mark.parametrize("batch_size", [16_384, 1_000_012])
def test_nothing_loops_while_batch_size_does_not_exceed_the_limit(batch_size):
    assert loop_window(limit=1_000_012, batch_size=batch_size) is None


def test_the_topic_decides_before_the_broker_and_the_broker_before_its_default():
    broker = {"message.max.bytes": "2000000"}

    assert message_limit({"max.message.bytes": "524288"}, broker, None) == 524_288
    assert message_limit({}, broker, None) == 2_000_000
    assert message_limit({}, {}, Version(2, 8, 2)) == 1_048_588
    assert message_limit({}, {}, None) is None


@pytest.mark.parametrize(
    ("version", "records", "size", "batch_size", "bound"),
    [
        ("2.8.2", 1, 6_000_000, 1_638_400, 0),
        ("2.8.2", 9, 900_000, 1_638_400, 0),
        ("0.10.2.1", 9, 1_500_000, 1_638_400, 0),
        ("2.8.2", 9, 1_500_000, 16_384, 1),
        ("2.8.2", 9, 1_500_000, 1_638_400, None),
        ("4.2.0", 9, 1_500_000, 1_638_400, 9),
    ],
)
def test_a_split_that_is_no_loop_has_a_bound(version, records, size, batch_size, bound):
    parsed = Version.parse(version)
    assert parsed is not None

    assert rounds_bound(parsed, records, size, 1_000_012, batch_size) == bound


def test_a_split_keeps_batch_size_or_the_regions_it_covers():
    assert leak_bytes_per_split(Version(2, 1), 1_638_400) == (1_638_400, 2_097_152)
    assert leak_bytes_per_split(Version(2, 1), 1_638_400, heap_bytes=6 << 30) == (1_638_400, 2_097_152)
    assert leak_bytes_per_split(Version(2, 1), 1_638_400, heap_bytes=16 << 30) == (1_638_400, 1_638_400)
    assert leak_bytes_per_split(Version(2, 1), 16_384) == (16_384, 16_384)


@pytest.mark.parametrize("version", [None, Version(2, 0, 1), Version(2, 3, 1)])
def test_other_versions_keep_nothing(version):
    assert leak_bytes_per_split(version, 1_638_400) is None
