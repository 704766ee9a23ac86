"""The tiles of a finding about the allocation of queues."""

from dataclasses import replace

import pytest
from report_example import diagnosis, split_loop

from mqlab.facts import Facts
from mqlab.report_evidence import dossiers
from mqlab.report_tiles import tiles

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


def test_orphans_repeats_what_waits_and_the_drain_are_the_four_tiles():
    assert of(COUNTED, drained(113.0)) == [
        "8 queues that nobody reads (and 4 that several read)",
        "8,088 deliveries were repeats ()",
        "8,158 messages waited at its end (24.1/s more while it lasted)",
        "113 s to drain the backlog (from 8,158 messages)",
    ]


def test_before_the_drain_the_loss_has_its_tile():
    assert [("loss" in words) for words in of(COUNTED)] == [False, False, False, True]


def test_what_still_waits_is_told_as_such():
    still = replace(split_loop(), incident="duplicate-client-id", measures=COUNTED, ledger=None, ongoing=True)
    told = diagnosis(still)
    assert "messages wait" in [tile.title for tile in tiles(Facts(), told, dossiers(told))]


def test_a_drain_that_the_finding_itself_measured_is_shown_once():
    assert of(COUNTED | {"drain_seconds": 99.0}, drained(113.0))[3] == "99.0 s to drain the backlog ()"


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
