"""The tiles of a finding about the allocation of queues."""

from dataclasses import replace

import pytest
from report_example import diagnosis, split_loop

from mqlab.facts import Facts
from mqlab.reporting.evidence import dossiers
from mqlab.reporting.tiles import tiles

COUNTED = {
    "orphan_queues": 8.0, "doubled_queues": 4.0, "pending_records": 8158.0, "lag_growth_per_second": 24.1,
    "duplicated_records": 8088.0, "distinct_ids": 2.0,
}  # fmt: skip


def of(measures, *others):
    """Tiles as ``value title (note)``."""
    first = replace(
        split_loop(), incident="duplicate-client-id", measures=measures, ledger=None, explains=("backlog-drain",)
    )
    told = diagnosis(first, *others)
    return [f"{t.value} {t.title} ({t.note})" for t in tiles(Facts(), told, dossiers(told))]


def drained(seconds):
    """A drain that took so long."""
    counted = {"drain_seconds": seconds, "peak_lag": 8158.2}
    return replace(split_loop(), incident="backlog-drain", measures=counted, ledger=None)


def test_orphans_repeats_what_waits_and_the_loss_are_the_four_tiles():
    assert of(COUNTED, drained(113.0)) == [
        "8 queues that nobody reads (and 4 that several read)",
        "8,088 repeats of records ()",
        "8,158 messages waited at its end (24.1/s more while it lasted)",
        "NOT CHECKED loss (not checked: acks1-failover-loss)",
    ]


def test_what_still_waits_is_told_as_such():
    still = replace(split_loop(), incident="duplicate-client-id", measures=COUNTED, ledger=None, ongoing=True)
    told = diagnosis(still)
    assert "messages wait" in [tile.title for tile in tiles(Facts(), told, dossiers(told))]


def test_a_drain_that_the_consequence_measured_is_shown_where_there_is_room():
    assert of({"orphan_queues": 8.0}, drained(113.0))[2] == "113 s to drain the backlog (from 8,158 messages)"


@pytest.mark.parametrize(
    ("measures", "first"),
    [
        ({"orphan_queues": 0.0, "doubled_queues": 4.0}, "4 queues that several read ()"),
        ({"orphan_queues": 2.0, "pending_records": 577.0}, "2 queues that nobody reads ()"),
    ],
)
def test_what_was_not_counted_has_no_tile(measures, first):
    found = of(measures)
    assert (len(found), found[0]) == (4, first)


POLLED = {
    "longest_batch_seconds": 48.0, "poll_interval_seconds": 15.0, "rebalances": 16.0, "duplicated_records": 4943.0,
    "peak_lag": 6998.0, "lag_growth_per_second": 28.0,
}  # fmt: skip


def of_members(measures, *others):
    first = replace(
        split_loop(), incident="poll-interval-exceeded", measures=measures, ledger=None,
        explains=("reprocess-duplicates",),
    )  # fmt: skip
    told = diagnosis(first, *others)
    return [f"{t.value} {t.title} ({t.note})" for t in tiles(Facts(), told, dossiers(told))][:3]


def test_late_polls_are_told_by_the_longest_one_the_rebalances_and_what_was_handed_out_again():
    assert of_members(POLLED) == [
        "48.0 s longest poll (max.poll.interval.ms 15.0 s)",
        "16 rebalances while it lasted ()",
        "4,943 repeats of records ()",
    ]


def test_repeats_that_the_consequence_counted_are_shown_too():
    counted = {"duplicated_records": 20.0, "records_handled": 18959.0}
    repeats = replace(split_loop(), incident="reprocess-duplicates", measures=counted, ledger=None)
    silence = {"silent_seconds": 26.3, "session_timeout_seconds": 10.0, "rebalances": 6.0}

    assert of_members(silence, repeats) == [
        "26.3 s without a heartbeat (session timeout 10.0 s)",
        "6 rebalances while it lasted ()",
        "20 repeats of records (of 18,959 records)",
    ]


def test_a_record_that_fails_again_and_again_is_told_by_its_tries():
    stuck = {"retries": 89.0, "stalled_seconds": 112.0, "peak_lag": 1306.0, "lag_growth_per_second": 9.7}

    assert of_members(stuck) == [
        "89 tries of one record ()",
        "112 s stood still ()",
        "1,306 messages waited at most (9.70/s more while it lasted)",
    ]
