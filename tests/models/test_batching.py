"""Records become batches, and land on partitions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mqlab.models.kafka_defaults import Version
from mqlab.models.producer import (
    BATCH_OVERHEAD,
    Producer,
    Record,
    burst,
    pack,
    plain_size,
    producer_of,
    spread,
    wire_size,
)

SMALL = Producer(Version(2, 1), batch_size=1_000 + BATCH_OVERHEAD, limit=1_000_012)


def partitions(producer, records):
    return [partition for _, partition in spread(producer, records, 3)]


def test_a_key_that_equals_the_value_doubles_a_record():
    assert plain_size(replace(SMALL, key_equals_value=True), 307_500) == 615_020


def test_compression_shrinks_what_travels_but_not_what_max_request_size_sees():
    squeezed = replace(SMALL, compression_ratio=0.25)

    assert (plain_size(squeezed, 780), wire_size(squeezed, 780)) == (800, 200)


@pytest.mark.parametrize(
    ("sizes", "batches"),
    [
        ([], []),
        ([400, 500, 100, 1], [[400, 500, 100], [1]]),
        ([5_000], [[5_000]]),
        ([100, 5_000, 100], [[100], [5_000], [100]]),
    ],
)
def test_batches_are_filled_in_order_and_a_larger_record_goes_alone(sizes, batches):
    assert pack(sizes, SMALL.batch_size) == batches


def test_keyed_records_are_dealt_evenly():
    assert partitions(SMALL, burst(6, 100)) == [0, 1, 2, 0, 1, 2]


def test_records_without_key_are_dealt_in_turn_before_2_4():
    assert partitions(replace(SMALL, keyed=False), burst(4, 100)) == [0, 1, 2, 0]


def test_records_without_key_stay_with_a_partition_until_its_batch_is_full_since_2_4():
    sticky = replace(SMALL, keyed=False, version=Version(3, 9, 1))

    assert partitions(sticky, burst(5, 480)) == [0, 0, 1, 1, 2]


def test_records_without_key_change_partition_when_linger_is_over():
    sticky = replace(SMALL, keyed=False, version=Version(3, 9, 1), linger_ms=5)

    assert partitions(sticky, [Record(0.0, 10), Record(0.004, 10), Record(0.02, 10)]) == [0, 0, 1]


def test_a_producer_is_made_of_its_settings_and_of_its_versions_defaults():
    settings = {"batch.size": "1638400", "acks": "1", "retries": "3"}

    assert producer_of(settings, Version(4, 0), 1_048_588) == Producer(
        Version(4, 0), batch_size=1_638_400, limit=1_048_588, retries=3, linger_ms=5
    )
