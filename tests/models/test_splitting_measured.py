"""The model against what real clients did.

The lettered runs are lab measurements of the write-up's configuration (acks=1, retries=3, batch.size=1638400,
linger.ms=5) against four brokers 20 ms away at 12.5 MB/s each. Some rows carry an assumption:

- B, F, D: the lab saw 2.1 MB of heap per split, which is what G1 rounds such a buffer up to.
- E: its rate, 10.2 MB/s, is that of one connection, so it is calculated as one.
- M and X went without a round trip.
- T: the lab's broker received every byte; on a real slow link a closed connection keeps part of them from leaving.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import pytest

from mqlab.models.kafka_defaults import Version
from mqlab.models.producer import Link, Producer, Record, burst
from mqlab.models.splitting import outcome

MB = 1_000_000
LAB = Producer(
    Version(2, 1),
    batch_size=1_638_400,
    limit=1_000_012,
    max_request_size=12_695_150,
    retries=3,
    linger_ms=5,
    heap_bytes=1 << 30,
    collector="g1",
    key_equals_value=True,
)
FOUR_BROKERS = Link(12.5 * MB, rtt_s=0.02, partitions=4, connections=4)
NO_ROUND_TRIP = replace(FOUR_BROKERS, rtt_s=0.0)
ONE_CONNECTION = replace(FOUR_BROKERS, connections=1)
FILE = (Record(0.0, 6_150_000),)
BURST = burst(20, 307_500)
MIXED = (Record(0.0, 600_000), *burst(12, 50_000))
FILE_THEN_SMALL = (*FILE, *burst(3_000, 2_000, interval=0.01))


class Run(NamedTuple):
    producer: Producer
    link: Link
    records: tuple[Record, ...]
    megabytes: float
    ends: str
    within: float
    until: float = 600.0


RUNS = {
    "A": Run(LAB, FOUR_BROKERS, FILE, 12.30, "rejected", 0.01),
    "A2": Run(LAB, FOUR_BROKERS, burst(20, 307_500, interval=0.2), 12.3, "delivered", 0.01),
    "B": Run(LAB, FOUR_BROKERS, BURST, 613.8, "heap", 0.05),
    "B at 512 MB": Run(replace(LAB, heap_bytes=512 << 20), FOUR_BROKERS, BURST, 295, "heap", 0.05),
    "F": Run(replace(LAB, limit=1_048_588), FOUR_BROKERS, BURST, 610, "heap", 0.05),
    "D": Run(LAB, FOUR_BROKERS, burst(410, 15_000), 709, "heap", 0.10),
    "E": Run(replace(LAB, key_equals_value=False, keyed=False), ONE_CONNECTION, BURST, 407, "never", 0.20, 40.0),
    "B on 2.3.1": Run(replace(LAB, version=Version(2, 3, 1)), FOUR_BROKERS, BURST, 4960, "delivery-timeout", 0.02),
    "B on 2.0.0": Run(replace(LAB, version=Version(2, 0)), FOUR_BROKERS, BURST, 4140, "never", 0.02, 100.0),
    "B on 1.0.0": Run(replace(LAB, version=Version(1, 0)), FOUR_BROKERS, BURST, 2490, "never", 0.02, 60.0),
    "M": Run(LAB, NO_ROUND_TRIP, MIXED, 471, "never", 0.10, 40.0),
    "G": Run(LAB, replace(FOUR_BROKERS, bytes_per_second=MB), FILE_THEN_SMALL, 67.6, "never", 0.05, 60.0),
    "T": Run(replace(LAB, limit=100 * MB), replace(FOUR_BROKERS, bytes_per_second=300_000), FILE, 49.2,
             "request-timeout", 0.01),
    "X": Run(replace(LAB, heap_bytes=6 << 30), NO_ROUND_TRIP, MIXED, 1246, "delivery-timeout", 0.22, 140.0),
}  # fmt: skip


@pytest.mark.parametrize("name", RUNS)
def test_the_bytes_of_a_measured_run_are_reproduced(name):
    run = RUNS[name]

    found = outcome(run.producer, run.link, run.records, run.until)

    assert found.bytes_out == pytest.approx(run.megabytes * MB, rel=run.within)
    assert found.ends == run.ends
    assert found.bytes_out_low <= found.bytes_out <= found.bytes_out_high


@pytest.mark.parametrize(("name", "splits"), [("B", 490), ("E", 326), ("M", 335), ("G", 38), ("X", 777)])
def test_the_splits_of_a_measured_run_are_reproduced(name, splits):
    run = RUNS[name]

    found = outcome(run.producer, run.link, run.records, run.until)

    assert found.rounds == pytest.approx(splits, rel=0.29 if name == "X" else 0.06)


@pytest.mark.parametrize("name", ["B", "B at 512 MB", "F", "D"])
def test_not_knowing_the_collector_costs_a_fifth_at_most(name):
    run = RUNS[name]

    found = outcome(replace(run.producer, collector=None), run.link, run.records, run.until)

    assert found.bytes_out == pytest.approx(run.megabytes * MB, rel=0.20)


def test_a_file_behind_which_small_records_pile_up_starts_a_loop_of_small_records():
    run = RUNS["G"]

    found = outcome(run.producer, run.link, run.records, run.until)
    alone = outcome(run.producer, run.link, run.records[1:], run.until)

    assert (found.failed, alone.rounds) == (1, 0)
    assert alone.factor == pytest.approx(2.06, rel=0.02)


def plant(seconds, every):
    """Traffic of the plant captures: 20 small messages a second, a burst and a file each *every* seconds."""
    records = list(burst(20 * seconds, 6_000, interval=0.05))
    for start in range(0, seconds, every):
        records += [*burst(20, 307_500, interval=0.03, start=start), Record(start + 5.0, 6_150_000)]
    return records


PLANT = replace(LAB, limit=1_048_588, collector="serial")


def test_a_heap_of_512_mb_ends_each_run_of_kafka_amp_17_after_about_290_splits():
    """293 splits in each of two runs, 762 MB together, at the 9.6 MB/s that the card reached on 100 Mbit/s."""
    link = Link(9.6 * MB, rtt_s=0.002, partitions=4)

    found = outcome(replace(PLANT, heap_bytes=512 << 20), link, plant(seconds=110, every=55))

    assert found.ends == "heap"
    assert found.rounds == pytest.approx(293, rel=0.05)
    assert found.bytes_out == pytest.approx(762 * MB / 2, rel=0.05)


def test_on_the_slow_machine_of_kafka_amp_01_the_delivery_timeout_comes_before_the_heap():
    """946 splits and 1321 MB in 235 s: the machine was busy, so the link is given the mean rate it had, 5.62 MB/s."""
    link = Link(1321 * MB / 235, rtt_s=0.002, partitions=4)

    found = outcome(PLANT, link, plant(seconds=235, every=75), until=235.0)

    assert found.ends == "never"
    assert found.failed > 1_000
    assert found.rounds == pytest.approx(946, rel=0.05)


def test_at_the_full_rate_of_its_link_kafka_amp_01_would_have_ended_with_the_heap():
    found = outcome(PLANT, Link(9.6 * MB, rtt_s=0.002, partitions=4), plant(seconds=235, every=75), until=235.0)

    assert found.ends == "heap"


@pytest.mark.parametrize("version", [(2, 8, 2), (3, 9, 1), (4, 1, 2)])
def test_four_of_six_records_are_lost_up_to_4_1(version):
    """Lab: batch.size 1 MB, limit 512 KB, six records of 220 kB: two delivered after delivery.timeout.ms."""
    found = outcome(six_records(Version(*version)), Link(12.5 * MB, rtt_s=0.02), burst(6, 220_000))

    assert (found.ends, found.delivered, found.failed) == ("delivery-timeout", 2, 4)


def test_two_splits_deliver_all_six_records_since_4_2_0():
    found = outcome(six_records(Version(4, 2)), Link(12.5 * MB, rtt_s=0.02), burst(6, 220_000))

    assert (found.ends, found.delivered, found.rounds) == ("delivered", 6, 2)


def six_records(version):
    return Producer(version, batch_size=1 << 20, limit=1 << 19)


def test_the_default_batch_size_would_have_sent_each_byte_twice():
    run = RUNS["B"]

    repaired = outcome(replace(run.producer, batch_size=16_384), run.link, run.records)

    assert (repaired.ends, repaired.rounds) == ("delivered", 0)
    assert repaired.factor == pytest.approx(2.0, rel=0.01)
