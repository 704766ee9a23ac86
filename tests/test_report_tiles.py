"""The cards of the first screen: costs only, at most four, and what nobody could count."""

from dataclasses import replace

import pytest
from report_example import diagnosis, facts, oversize, split_loop

from mqlab.facts import Facts
from mqlab.reporting.evidence import dossiers
from mqlab.reporting.tiles import tiles


def of(told, known=None):
    """Cards as ``value title (note)``."""
    return [f"{t.value} {t.title} ({t.note})" for t in tiles(known or Facts(), told, dossiers(told))]


def about(incident, measures, *others, **changes):
    """Cards of a leading finding with these measures."""
    first = replace(split_loop(), incident=incident, measures=measures, ledger=None, **changes)
    return of(diagnosis(first, *others))


SHARED = {
    "orphan_queues": 8.0, "doubled_queues": 4.0, "pending_records": 8158.0, "lag_growth_per_second": 24.1,
    "peak_lag": 8237.0, "duplicated_records": 8088.0, "distinct_ids": 2.0,
}  # fmt: skip


def test_each_kind_of_cost_has_one_card_that_tells_what_the_title_tells_and_loss_is_the_last():
    assert about("duplicate-client-id", SHARED) == [
        "8,088 duplicates ()",
        "8,158 messages left waiting (24.1/s more while it lasted)",
        "8 queues that nobody reads (and 4 that several read)",
        "NOT CHECKED loss (not checked: acks1-failover-loss)",
    ]


def test_messages_that_nobody_read_are_a_card():
    shown = about("persistent-session-diversion", {"diverted_messages": 3264.0, "published_messages": 8908.0})

    assert shown[0] == "3,264 messages that nobody read (of 8,908 published meanwhile)"


def test_what_a_consequence_counted_is_shown_where_the_finding_did_not_count_it():
    drained = replace(
        split_loop(), incident="backlog-drain", ledger=None, measures={"drain_seconds": 113.0, "peak_lag": 8158.0}
    )
    assert "8,158 messages of lag at its peak (worked off in 113 s)" in about(
        "duplicate-client-id", {"orphan_queues": 8.0}, drained, explains=("backlog-drain",)
    )


def test_one_thing_is_told_in_the_singular_and_what_is_zero_has_no_card():
    assert about("session-timeout", {"duplicated_records": 0.0, "rebalances": 1.0})[0] == "1 rebalance ()"
    assert about("duplicate-client-id", {"orphan_queues": 0.0, "doubled_queues": 4.0})[0] == (
        "4 queues that several read ()"
    )


def test_records_that_several_producers_lost_are_added_up_and_not_called_no_loss():
    first = replace(oversize(), measures={"rejected_records": 90.0})
    other = replace(first, id="other", subject="producer scan → plant-telemetry", measures={"rejected_records": 64.0})
    shown = of(replace(diagnosis(first, other), not_checked=()))

    assert shown[0] == "154 records refused ()"
    assert "loss" not in " ".join(shown)


@pytest.mark.parametrize(
    ("ongoing", "card"),
    [
        (True, "153 s since the first sign (still open when the material ends)"),
        (False, "153 s from first to last sign (until 12:23:16 UTC)"),
    ],
)
def test_how_long_it_lasted_is_a_card(ongoing, card):
    assert about("static-member-fenced", {"fencings": 3.0}, ongoing=ongoing)[:2] == [
        "3 times that a member was fenced ()",
        card,
    ]


def test_without_a_finding_cards_tell_what_was_watched():
    calm = replace(diagnosis(), symptoms=())

    assert of(calm, facts()) == [
        "72 messages of lag at its peak (for plant-report)",
        "7.57 min watched (in 96 files)",
        "NOT CHECKED loss (not checked: acks1-failover-loss)",
    ]
    assert of(diagnosis(incident="undetermined"))[0].startswith("1 symptom unexplained")


def test_what_a_detector_of_a_teams_own_counts_is_a_card():
    assert about("outbox-stuck", {"held_payments": 42.0})[0] == "42 held payments ()"
