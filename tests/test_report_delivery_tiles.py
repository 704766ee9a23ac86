"""The tiles of a report about delivery: what audits say, and when nobody knows."""

from dataclasses import replace

import pytest
from audit_builder import FAILOVER, MIXED, SETTINGS_ONLY, audit
from report_example import diagnosis, oversize, split_loop

from mqlab.delivery.path import sentences
from mqlab.delivery.rows import Outcome
from mqlab.facts import Facts
from mqlab.mqtt.chain_stages import Chain, Gap, Stage, Step, Whereabouts
from mqlab.reporting import tiles as reporting_tiles
from mqlab.reporting.evidence import dossiers
from mqlab.reporting.tiles import lost, tiles


@pytest.fixture
def of(monkeypatch):
    """Tiles as ``value title (note) link`` for these audits and findings."""

    def shown(audits, *findings):
        monkeypatch.setattr(reporting_tiles, "audits", lambda _: audits)
        told = diagnosis(*findings)
        return [f"{t.value} {t.title} ({t.note}) {t.href}" for t in tiles(Facts(), told, dossiers(told))]

    return shown


def about(incident, **measures):
    return replace(split_loop(), incident=incident, measures=measures, ledger=None)


def test_what_audits_count_as_lost_is_the_first_card_with_its_share(of):
    found = about("acks1-failover-loss", lost_records=1562, pending_records=4440, acknowledged_records=33002)
    assert of((FAILOVER,), found) == [
        "1,562 messages lost (4.7 % of 33,002 acknowledged) #F1-lost_records",
        "4,440 messages left waiting () #F1-pending_records",
        "153 s from first to last sign (until 12:23:16 UTC) #when",
    ]


def test_what_only_audits_counted_has_cards_with_intervals_and_topics_that_are_open(of):
    assert of((MIXED, SETTINGS_ONLY), about("retention-loss"))[:3] == [
        "about 114 (≥ 104, ≤ 129) messages lost (23.3 % of 490 acknowledged · 1 topic not checked) #F1",
        "7 copies too many (in the log or handled again) #F1",
        "190 messages past the last known commit (as far as commits are known; no loss) #F1",
    ]


def test_nothing_lost_is_told_as_nought_of_what_was_acknowledged(of):
    calm = replace(FAILOVER, losses=(), outcome=audit().outcome)
    assert of((calm,), about("slow-consumer"))[-1] == "0 messages lost (of 33,002 acknowledged) #F1"
    assert of((calm,))[-1] == "0 messages lost (of 33,002 acknowledged) #not-checked"


def test_what_only_the_log_is_known_to_have_kept_is_not_told_of_its_readers(of):
    kept = replace(FAILOVER, losses=(), outcome=Outcome.IN_LOG)
    assert of((kept,))[-1] == "0 messages lost from the log (of 33,002 acknowledged) #not-checked"


def test_copies_of_which_nobody_knows_what_was_acknowledged_are_no_proof_that_nothing_was_lost(of):
    copied = replace(FAILOVER, losses=(), outcome=Outcome.DOUBLED, missing=("the producers' ledger",))
    assert of((copied,))[-1] == "NOT CHECKED loss (the material cannot say: orders) #not-checked"
    assert next(sentences([copied])).startswith(
        "orders: CANNOT SAY (missing: the producers' ledger), 4,440 in no ledger"
    )


def test_what_no_audit_can_say_was_not_checked(of):
    assert of((SETTINGS_ONLY,), about("slow-consumer"))[-1] == (
        "NOT CHECKED loss (the material cannot say: payments) #not-checked"
    )


def test_records_that_another_finding_counts_as_refused_have_a_card(of):
    refused = replace(oversize(), measures={"rejected_records": 3})
    assert of((audit(),), about("slow-consumer"), refused)[0] == "3 records refused () #F2-rejected_records"


def way(*gaps):
    """A way within MQTT whose messages are where *gaps* tell."""
    stages = tuple(Stage(step, "", 100, 100, 100, "ids") for step in (Step.PUBLISHED, Step.TAKEN))
    told = [Gap(Step.PUBLISHED, Step.TAKEN, where, "old", count, count, count, "ids") for where, count in gaps]
    return replace(diagnosis(), chains=(Chain(None, None, (), "ids", stages, tuple(told)),), findings=())


@pytest.mark.parametrize(
    ("gaps", "title", "value"),
    [
        ([(Whereabouts.DROPPED, 7)], "messages dropped", "7"),
        ([(Whereabouts.QUEUED, 33)], "messages wait", "33"),
        ([(Whereabouts.UNKNOWN, 5)], "messages arrived nowhere", "5"),
        ([(Whereabouts.LOST, 80), (Whereabouts.UNKNOWN, 5)], "messages lost", "80"),
        ([(Whereabouts.BEFORE_BEGIN, 5)], "loss", "none seen"),
        ([(Whereabouts.UNSUBSCRIBED, 5), (Whereabouts.SHARED, 5)], "messages lost", "0"),
        ([], "messages lost", "0"),
    ],
)
def test_messages_within_mqtt_are_told_where_no_topic_was_audited(gaps, title, value):
    tile = lost(Facts(), way(*gaps), ())
    assert (tile.title, tile.value) == (title, value)
