"""The tiles of a report about delivery: what audits say, and when nobody knows."""

from dataclasses import replace

import pytest
from audit_builder import FAILOVER, MIXED, SETTINGS_ONLY, audit
from report_example import diagnosis, oversize, split_loop

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


def test_a_finding_about_delivery_has_what_was_acknowledged_what_waits_and_what_was_lost(of):
    found = about("acks1-failover-loss", lost_records=1562, pending_records=4440, acknowledged_records=33002)
    assert of((FAILOVER,), found) == [
        "33,002 messages acknowledged (as the producers' ledgers note) #F1-acknowledged_records",
        "4,440 messages only wait (not read yet, no loss) #F1-pending_records",
        "4.7 % of what was acknowledged (is lost) #F1-lost_records",
        "1,562 messages lost (of 33,002 acknowledged) #F1-lost_records",
    ]


def test_doubles_and_intervals_are_told_and_topics_that_are_open_are_counted(of):
    assert of((MIXED, SETTINGS_ONLY), about("retention-loss")) == [
        "490 messages acknowledged (as the producers' ledgers note) #F1",
        "7 copies too many (in the log or handled again) #F1",
        "190 messages only wait (not read yet, no loss) #F1",
        "about 114 (≥ 104, ≤ 129) messages lost (of 490 acknowledged · 1 topic not checked) #F1",
    ]


def test_nothing_lost_is_told_as_nought_of_what_was_acknowledged(of):
    calm = replace(FAILOVER, losses=(), outcome=audit().outcome)
    assert of((calm,), about("slow-consumer"))[3] == "0 messages lost (of 33,002 acknowledged) #F1"
    assert of((calm,))[3] == "0 messages lost (of 33,002 acknowledged) #not-checked"


def test_what_no_audit_can_say_was_not_checked(of):
    assert of((SETTINGS_ONLY,), about("slow-consumer"))[3] == (
        "NOT CHECKED loss (the material cannot say: payments) #not-checked"
    )


def test_refused_records_stand_before_a_log_that_lost_nothing(of):
    refused = replace(oversize(), measures={"rejected_records": 3})
    assert of((audit(),), about("slow-consumer"), refused)[3] == (
        "≥ 3 records refused (not checked: acks1-failover-loss) #F2-rejected_records"
    )


def test_without_any_topic_findings_and_classes_are_asked(of):
    assert of((), about("acks1-failover-loss", lost_records=5))[3].startswith("≥ 5 records lost")
    assert of((), about("slow-consumer"))[3].startswith("NOT CHECKED loss (not checked: acks1-failover-loss)")


def way(*gaps):
    """A way within MQTT whose messages are where *gaps* tell."""
    stage = Stage(Step.PUBLISHED, "", 100, 100, 100, "ids")
    told = [Gap(Step.PUBLISHED, Step.TAKEN, where, "old", count, count, count, "ids") for where, count in gaps]
    return replace(diagnosis(), chains=(Chain(None, None, (), "ids", (stage,), tuple(told)),), findings=())


@pytest.mark.parametrize(
    ("gaps", "title", "value"),
    [
        ([(Whereabouts.DROPPED, 7)], "messages dropped", "7"),
        ([(Whereabouts.QUEUED, 33)], "messages wait", "33"),
        ([(Whereabouts.UNKNOWN, 5)], "messages arrived nowhere", "5"),
        ([], "messages lost", "0"),
    ],
)
def test_messages_within_mqtt_are_told_where_no_topic_was_audited(gaps, title, value):
    tile = lost(Facts(), way(*gaps), ())
    assert (tile.title, tile.value) == (title, value)
