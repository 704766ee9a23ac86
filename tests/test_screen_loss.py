"""The row that says what was lost: by audits where there are any, else by findings, else that nobody knows."""

from dataclasses import replace

import pytest
from audit_builder import FAILOVER, HOSTILE, MIXED, SETTINGS_ONLY, audit
from report_example import diagnosis, oversize, split_loop

from mqlab.delivery.path import Summary, summary
from mqlab.screen import screen
from mqlab.screens.audit import loss

CALM = replace(split_loop(), measures={})


def counted(**measures):
    return diagnosis(replace(CALM, measures=measures))


@pytest.mark.parametrize(
    ("audits", "told"),
    [
        (
            (FAILOVER,),
            "orders: 1,562 of 33,002 acknowledged lost in the log (acks1-failover-loss; partition 0 at offsets 1,032 "
            "to 2,593), 4,440 in no ledger of sink",
        ),
        (
            (MIXED,),
            f"{HOSTILE}: about 110 (≥ 100, ≤ 120) of ≥ 490 acknowledged lost by group billing (retention-loss; "
            "partition 0 at offsets 10 to 119), ≥ 4 (≤ 9) lost by group billing (not explained by this audit; "
            "partition 0), 190 in no ledger of audit, 7 doubled in the log",
        ),
        (
            (SETTINGS_ONLY,),
            f"payments: CANNOT SAY (missing: {SETTINGS_ONLY.missing[0]})",
        ),
        (
            (replace(FAILOVER, losses=(), groups=(), outcome=audit().outcome),),
            "orders: none lost of 33,002 acknowledged",
        ),
    ],
)
def test_audits_say_what_was_lost_where_and_what_only_waits(audits, told):
    assert loss(diagnosis(CALM), CALM, audits) == told


def test_the_worst_topics_come_first_and_the_rest_is_counted():
    calm = [audit(topic=name) for name in "abcd"]
    told = loss(diagnosis(CALM), CALM, (*calm, FAILOVER)).split("; ")
    assert [part[:9] for part in told] == ["orders: 1", "partition", "a: none l", "b: none l", "2 more to"]


def test_what_was_refused_or_failed_stands_beside_what_audits_say():
    refused = replace(oversize(), measures={"rejected_records": 3})
    told = loss(diagnosis(CALM, refused), CALM, (audit(),))
    assert told == "orders: none lost; 3 oversize records rejected"


def test_without_audits_findings_are_summed_with_their_interval():
    assert loss(counted(lost_records=1574, lost_records_least=374, lost_records_most=1574), CALM) == (
        "1,574 records (374 to 1,574) lost"
    )
    assert loss(counted(lost_records=2, duplicated_records=5), CALM) == "2 records lost; 5 duplicates"


def test_where_an_audit_counted_doubles_a_finding_does_not_count_them_again():
    assert "handed out again" not in loss(counted(duplicated_records=5), CALM, (MIXED,))


def test_copies_that_a_finding_counted_are_told_where_an_audit_counted_none():
    assert loss(counted(duplicated_records=5), CALM, (SETTINGS_ONLY,)).endswith("; 5 duplicates")


def test_without_audits_and_findings_it_was_not_checked():
    assert loss(diagnosis(CALM), CALM) == "not checked"


def test_healthy_material_says_that_nothing_was_lost_where_it_was_counted():
    quiet = replace(diagnosis(incident="healthy"), symptoms=())
    shown = screen(quiet, ["x"], audits=(audit(),)).splitlines()
    assert [line for line in shown if line.startswith("LOSS")] == ["LOSS     orders: none lost"]
    assert "LOSS " not in screen(quiet, ["x"])


def test_a_summary_adds_topics_and_keeps_what_is_open():
    assert summary((FAILOVER, MIXED, SETTINGS_ONLY)) == Summary(
        topics=3, acked=33_492, lost=1_676, least=1_666, most=1_691, extra=7, pending=4_630, open=("payments",)
    )
    assert summary((FAILOVER, MIXED)).words == "about 1,676 (≥ 1,666, ≤ 1,691)"


def test_what_was_lost_leads_on_to_the_audit():
    assert "     mqlab audit x     exit code" in screen(counted(lost_records=2), ["x"])
    assert "mqlab audit" not in screen(diagnosis(CALM), ["x"])
