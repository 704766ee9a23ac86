"""Rules that hold for every producer, and single rules of the client."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mqlab.models.kafka_defaults import Version
from mqlab.models.producer import Link, Producer, Record, burst
from mqlab.models.splitting import outcome

LINK = Link(1_000_000, rtt_s=0.05, partitions=2)
LOOPING = Producer(Version(2, 1), batch_size=20_000, limit=10_000, max_request_size=40_000, heap_bytes=52_000_000)
ANY_VERSION = st.sampled_from([Version.parse(text) for text in ("0.10.2", "1.0.0", "2.1.0", "2.3.1", "3.9.1", "4.2.0")])
ANY_RECORDS = st.lists(st.builds(Record, at=st.floats(0, 20), size=st.integers(1, 50_000)), min_size=1, max_size=25)

producers = st.builds(
    Producer,
    version=ANY_VERSION,
    batch_size=st.integers(1, 40_000),
    limit=st.integers(1_000, 40_000),
    max_request_size=st.integers(5_000, 80_000),
    retries=st.integers(0, 3),
    linger_ms=st.sampled_from([0, 5, 500]),
    delivery_timeout_ms=st.integers(500, 10_000),
    request_timeout_ms=st.sampled_from([60, 500, 5_000]),
    max_block_ms=st.sampled_from([0, 1_000, 60_000]),
    max_in_flight=st.sampled_from([1, 5]),
    buffer_memory=st.integers(30_000, 200_000),
    heap_bytes=st.none() | st.integers(50_000_001, 51_000_000),
    collector=st.sampled_from(["serial", "g1", None]),
    acks=st.sampled_from(["0", "1", "all"]),
    keyed=st.booleans(),
    compression_ratio=st.sampled_from([0.3, 1.0]),
)
links = st.builds(
    Link,
    bytes_per_second=st.sampled_from([100_000, 1_000_000]),
    rtt_s=st.sampled_from([0.05, 0.3]),
    partitions=st.integers(1, 4),
    connections=st.integers(1, 3),
)


@settings(max_examples=150, deadline=None)
@given(producers, links, ANY_RECORDS)
def test_every_record_is_delivered_failed_or_pending_exactly_once(producer, link, records):
    found = outcome(producer, link, records, until=30.0)

    assert found.delivered + found.failed + found.pending == len(records)
    assert min(found.delivered, found.failed, found.pending) >= 0


@settings(max_examples=100, deadline=None)
@given(producers, links, ANY_RECORDS)
def test_a_batch_size_within_the_limit_never_splits(producer, link, records):
    harmless = replace(producer, batch_size=min(producer.batch_size, producer.limit))

    assert outcome(harmless, link, records, until=30.0).rounds == 0


@settings(max_examples=100, deadline=None)
@given(producers, links, ANY_RECORDS)
def test_what_was_delivered_has_left(producer, link, records):
    plain = replace(producer, compression_ratio=1.0)
    smallest = sorted(record.size for record in records)

    found = outcome(plain, link, records, until=30.0)

    assert found.bytes_out >= sum(smallest[: found.delivered])
    assert found.bytes_out_low <= found.bytes_out <= found.bytes_out_high
    assert found.rounds_low <= found.rounds <= found.rounds_high


@settings(max_examples=50, deadline=None)
@given(ANY_RECORDS, st.integers(50_000_001, 51_000_000), st.integers(1, 2_000_000))
def test_more_heap_never_gives_fewer_splits(records, heap, more):
    small = outcome(replace(LOOPING, heap_bytes=heap, collector="serial"), LINK, records, until=60.0)
    large = outcome(replace(LOOPING, heap_bytes=heap + more, collector="serial"), LINK, records, until=60.0)

    assert large.rounds >= small.rounds


@settings(max_examples=100, deadline=None)
@given(producers, links, ANY_RECORDS)
def test_since_4_2_0_every_loop_ends(producer, link, records):
    found = outcome(replace(producer, version=Version(4, 2)), link, records, until=float("inf"))

    assert found.pending == 0
    assert found.rounds <= len(records)


def test_a_record_above_max_request_size_or_the_buffer_sends_nothing():
    found = outcome(LOOPING, LINK, [Record(0.0, 40_000)])
    without_buffer = outcome(replace(LOOPING, buffer_memory=19_999), LINK, [Record(0.0, 100)])

    assert (found.bytes_out, found.failed, found.ends) == (0, 1, "rejected")
    assert (without_buffer.bytes_out, without_buffer.failed) == (0, 1)


def test_before_0_11_a_batch_that_is_too_large_fails_at_once():
    found = outcome(replace(LOOPING, version=Version(0, 10, 2)), LINK, burst(4, 9_000))

    assert (found.rounds, found.failed, found.ends) == (0, 4, "rejected")


def test_without_acknowledgements_the_producer_never_learns_that_a_batch_was_refused():
    found = outcome(replace(LOOPING, acks="0"), LINK, burst(4, 9_000))

    assert (found.rounds, found.delivered) == (0, 4)


def test_a_loop_does_not_hold_up_the_batches_behind_it():
    records = [*burst(2, 9_000), *burst(20, 500, interval=0.5, start=1.0)]

    found = outcome(replace(LOOPING, heap_bytes=None), replace(LINK, partitions=1), records, until=30.0)

    assert (found.delivered, found.pending, found.ends) == (20, 2, "never")


def test_with_one_request_in_flight_everything_behind_a_loop_waits():
    records = [*burst(2, 9_000), *burst(20, 500, interval=0.5, start=1.0)]
    strict = replace(LOOPING, heap_bytes=None, max_in_flight=1)

    assert outcome(strict, replace(LINK, partitions=1), records, until=30.0).delivered == 0


def test_an_application_whose_buffer_is_full_waits_up_to_max_block():
    full = replace(LOOPING, batch_size=10_000, limit=20_000, buffer_memory=10_000)
    slow = Link(1_000, partitions=1)

    patient = outcome(full, slow, burst(3, 9_000))
    hasty = outcome(replace(full, max_block_ms=0), slow, burst(3, 9_000))

    assert (patient.delivered, patient.failed) == (3, 0)
    assert (hasty.delivered, hasty.failed) == (1, 2)


def test_retries_repeat_a_request_that_takes_longer_than_its_timeout():
    slow = Link(1_000)
    patient = Producer(Version(2, 8, 2), batch_size=16_384, limit=1_000_012, retries=3)

    found = outcome(patient, slow, [Record(0.0, 60_000)])

    assert (found.ends, found.failed) == ("request-timeout", 1)
    assert found.bytes_out == pytest.approx(4 * 60_000, rel=0.01)
    assert found.bytes_out_low < 4 * 60_000 * 0.55


def test_nothing_in_means_nothing_out():
    found = outcome(LOOPING, LINK, [])

    assert (found.bytes_out, found.factor, found.ends) == (0, 0.0, "delivered")
