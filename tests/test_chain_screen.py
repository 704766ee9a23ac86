"""The way of MQTT messages as people and programs read it: the row of triage, the table and the JSON of the audit."""

import json
from dataclasses import replace
from datetime import timedelta, timezone

import pytest
from facts_builder import at
from report_example import diagnosis, split_loop

from mqlab.findings import Evidence
from mqlab.jsonout import diagnosis_json
from mqlab.mqtt.chain_stages import Chain, Gap, Share, Stage, Step, Whereabouts
from mqlab.screen import screen
from mqlab.screens import audit
from mqlab.screens.audit import audit_exit_code as exit_code
from mqlab.screens.audit import audit_screen, loss
from mqlab.views import audit_json
from mqlab.views.audit_json import outcome, sentence

HOSTILE = "b<script>1\x1b[2J"


def stage(step, messages, who="", *, low=None, high=None, again=0, shares=(), how="each message by its id"):
    bounds = (messages if low is None else low, messages if high is None else high)
    return Stage(step, who, messages, *bounds, how, at(0), at(600), again, shares)


def gap(where, messages, who="", *, low=None, high=None, before=Step.TAKEN, since=None):
    bounds = (messages if low is None else low, messages if high is None else high)
    place = Evidence("logs/mosquitto.log", 12, "1800007260: Client b1 disconnected.")
    return Gap(Step.ACKNOWLEDGED, before, where, who, messages, *bounds, "by ids", at(0), at(600), since, (place,))


SHARES = (Share("b1", 2640, "clients/forwarded-b1.csv"), Share("b2", 3000, "clients/forwarded-b2.csv"))
DEAD = Chain(
    "kafka", "telemetry", ("b1", "b2"), "ids",
    (
        stage(Step.PUBLISHED, 7120), stage(Step.ACKNOWLEDGED, 7120), stage(Step.TAKEN, 5640, "b1, b2", shares=SHARES),
        stage(Step.STORED, 5640, how="what was handled had been stored"), stage(Step.HANDLED, 5640, "etl"),
    ),
    (gap(Whereabouts.QUEUED, 1480, "b1", since=at("10:01:01")),),
    ("9 more were received and are in no publisher's ledger",),
)  # fmt: skip

ROW = "published 7,120 -> bridge 5,640 -> Kafka telemetry 5,640 -> etl 5,640; 1,480 in the queue of b1 (offline"


def test_a_chain_is_one_row_of_the_triage_screen():
    assert list(audit.rows((DEAD,))) == [
        f"CHAIN    {ROW}",
        "           since 10:01:01)",
    ]
    shown = screen(replace(diagnosis(incident="healthy"), symptoms=(), chains=(DEAD,)), ["x"])
    assert "CHAIN    published 7,120 -> bridge 5,640" in shown
    assert "LOSS     see the chain above" in shown
    assert "CHAIN" not in screen(replace(diagnosis(incident="healthy"), symptoms=()), ["x"])


def test_moments_are_shown_in_the_zone_that_was_asked_for():
    assert sentence(DEAD, timezone(timedelta(hours=8))).endswith("(offline since 18:01:01)")


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (gap(Whereabouts.QUEUED, 1480, "b1", low=1300, since=at(61)),
         "1,480 in the queue of b1 (offline since 10:01:01; the broker's store shows 1,300 of them)"),
        (gap(Whereabouts.DROPPED, 600, "b1"), "600 dropped by the MQTT broker from the queue of b1"),
        (gap(Whereabouts.DROPPED, 600, low=0), "≤ 600 (≥ 0) dropped by the MQTT broker"),
        (gap(Whereabouts.REFUSED, 3, before=Step.ACKNOWLEDGED), "3 failed at their publishers"),
        (gap(Whereabouts.REFUSED, 3, before=Step.HANDLED), "3 refused by the log"),
        (gap(Whereabouts.PENDING, 70, "etl", before=Step.HANDLED), "70 pending for etl"),
        (gap(Whereabouts.AFTER_END, 5, "b1"), "5 published after the last message that b1 noted"),
        (gap(Whereabouts.UNKNOWN, 9, "b1"), "9 not received by b1, whereabouts unknown"),
        (gap(Whereabouts.SHARED, 9, "b2"), "9 went to b2"),
        (gap(Whereabouts.SHARED, 9, "b2", low=0), "up to 9 may have gone to b2"),
        (gap(Whereabouts.UNSUBSCRIBED, 9, "b1"), "9 published while b1 was not subscribed"),
        (gap(Whereabouts.BEFORE_BEGIN, 9, "b1"), "9 published before the first message that b1 noted"),
        (gap(Whereabouts.LOST, 9, "acl-silent-drop"), "9 lost (acl-silent-drop)"),
    ],
    ids=["queue", "dropped", "perhaps dropped", "publisher", "log", "pending", "after the end", "unknown",
         "shared", "perhaps shared", "not subscribed", "before the begin", "lost"],
)  # fmt: skip
def test_each_place_of_what_is_missing_has_its_words(found, told):
    assert sentence(replace(DEAD, gaps=(found,))).partition("; ")[2] == told


def test_many_gaps_are_counted():
    chain = replace(DEAD, gaps=tuple(gap(Whereabouts.UNKNOWN, n, "b1") for n in range(1, 7)))
    assert sentence(chain).endswith("; 2 more (mqlab audit)")


def test_bounds_and_copies_stand_beside_numbers():
    chain = replace(DEAD, by="counts", gaps=(), stages=(
        stage(Step.PUBLISHED, 100, low=90, high=110), stage(Step.TAKEN, 80, "b1", again=7),
        stage(Step.HANDLED, 80, "etl"), stage(Step.HANDLED, 70, "backup"),
    ))  # fmt: skip
    assert sentence(chain) == (
        "published about 100 (≥ 90, ≤ 110) -> bridge 80 (+ 7 copies) -> etl 80, backup 70 (by counts, not by ids)"
    )


@pytest.mark.parametrize(
    ("found", "told", "code"),
    [
        ((), "nothing lost", 0),
        (DEAD.gaps, "waiting", 0),
        ((gap(Whereabouts.PENDING, 5, "etl", before=Step.HANDLED),), "waiting", 0),
        ((gap(Whereabouts.REFUSED, 5, before=Step.ACKNOWLEDGED),), "nothing lost", 0),
        ((gap(Whereabouts.REFUSED, 5, before=Step.HANDLED),), "cannot say", 1),
        ((*DEAD.gaps, gap(Whereabouts.UNKNOWN, 5)), "cannot say", 1),
        ((gap(Whereabouts.DROPPED, 5, low=0),), "cannot say", 1),
        ((gap(Whereabouts.DROPPED, 5), gap(Whereabouts.UNKNOWN, 5)), "lost", 2),
        ((gap(Whereabouts.LOST, 5),), "lost", 2),
        ((gap(Whereabouts.UNSUBSCRIBED, 5), gap(Whereabouts.SHARED, 5)), "nothing lost", 0),
        ((gap(Whereabouts.SHARED, 5, low=0),), "cannot say", 1),
        ((gap(Whereabouts.BEFORE_BEGIN, 5),), "cannot say", 1),
    ],
    ids=[
        "all there",
        "queue",
        "pending",
        "publisher",
        "log",
        "unknown",
        "perhaps dropped",
        "dropped",
        "counted as lost",
        "no loss",
        "perhaps shared",
        "before the begin",
    ],
)
def test_a_way_is_as_bad_as_its_worst_gap(found, told, code):
    assert (outcome(replace(DEAD, gaps=found)), exit_code((), (replace(DEAD, gaps=found),))) == (told, code)


def test_counts_alone_never_say_that_nothing_was_lost():
    assert outcome(replace(DEAD, by="counts", gaps=())) == "cannot say"


def test_the_audit_shows_stages_shares_and_where_the_missing_are():
    assert audit_screen((), ways=(DEAD,)).splitlines() == [
        "WAITING  MQTT -> Kafka telemetry",
        f"         {ROW}",
        "           since 10:01:01)",
        "PATH     stage             messages    copies  who, by each message's id",
        "         published            7,120",
        "         acknowledged         7,120",
        "         received             5,640            b1, b2",
        "                              2,640            b1   clients/forwarded-b1.csv",
        "                              3,000            b2   clients/forwarded-b2.csv",
        "         stored               5,640            what was handled had been stored",
        "         handled              5,640            etl",
        "MISSING  1,480 in the queue of b1 (offline since 10:01:01)",
        "           by ids",
        "           logs/mosquitto.log:12  1800007260: Client b1 disconnected.",
        "         9 more were received and are in no publisher's ledger",
    ]


def test_names_of_the_material_move_no_cursor():
    chain = replace(DEAD, topic=HOSTILE, gaps=(gap(Whereabouts.UNKNOWN, 9, HOSTILE),))
    assert "\x1b" not in audit_screen((), ways=(chain,)) + "".join(audit.rows((chain,)))


def test_json_has_the_ways_only_where_there_are_any():
    told = json.loads(audit_json.dumps((), "nothing of Kafka", (), (DEAD,)))
    assert (list(told), told["because"]) == (["schema", "topics", "because", "risks", "mqtt"], None)
    (way,) = told["mqtt"]
    assert (way["system"], way["topic"], way["bridge"], way["by"], way["outcome"]) == (
        "kafka", "telemetry", ["b1", "b2"], "ids", "waiting",
    )  # fmt: skip
    assert way["stages"][2] == {
        "stage": "taken", "who": "b1, b2", "messages": 5640, "at_least": 5640, "at_most": 5640, "copies": 0,
        "how": "each message by its id", "since": "2027-01-15T10:00:00Z", "until": "2027-01-15T10:10:00Z",
        "shares": [
            {"who": "b1", "messages": 2640, "source": "clients/forwarded-b1.csv"},
            {"who": "b2", "messages": 3000, "source": "clients/forwarded-b2.csv"},
        ],
        "evidence": [],
    }  # fmt: skip
    assert way["missing"] == [{
        "after": "acknowledged", "before": "taken", "where": "queued", "who": "b1", "messages": 1480, "at_least": 1480,
        "at_most": 1480, "how": "by ids", "since": "2027-01-15T10:00:00Z", "until": "2027-01-15T10:10:00Z",
        "offline_since": "2027-01-15T10:01:01Z",
        "evidence": [
            {"source": "logs/mosquitto.log", "line": 12, "text": "1800007260: Client b1 disconnected."}
        ],
    }]  # fmt: skip
    assert "mqtt" not in json.loads(audit_json.dumps((), "nothing of Kafka"))


def test_the_diagnosis_as_json_has_chains_only_where_there_are_any():
    assert diagnosis_json(replace(diagnosis(), chains=(DEAD,)))["chains"][0]["topic"] == "telemetry"
    assert "chains" not in diagnosis_json(diagnosis())


INSIDE = replace(DEAD, system=None, topic=None, bridge=(), stages=(
    stage(Step.PUBLISHED, 656), stage(Step.ACKNOWLEDGED, 656), stage(Step.TAKEN, 600, "hmi")),
    gaps=(gap(Whereabouts.DROPPED, 56, "hmi"),))  # fmt: skip


def test_the_way_within_mqtt_is_what_was_lost_and_no_chain():
    told = "MQTT: published 656 -> hmi 600; 56 dropped by the MQTT broker from the queue of hmi"
    shown = screen(replace(diagnosis(incident="healthy"), symptoms=(), chains=(INSIDE,)), ["x"]).splitlines()
    assert [line for line in shown if line.startswith(("LOSS", "CHAIN"))] == [f"LOSS     {told}"]
    counted = replace(split_loop(), measures={"lost_records": 56})
    assert loss(replace(diagnosis(counted), chains=(INSIDE,)), counted) == told
    assert "chains" not in diagnosis_json(replace(diagnosis(), chains=(INSIDE,)))
