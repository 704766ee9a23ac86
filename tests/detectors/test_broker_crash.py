"""A broker whose process nobody stopped, and what looks like it."""

from dataclasses import replace

import pytest
from facts_builder import at, episode, facts, log
from message_builder import leaders
from mqtt_builder import broker, client
from said import told

from mqlab.detectors.broker_crash import SYSTEMS, detect, say
from mqlab.findings import CLEAR, Certainty, Severity
from mqlab.known_errors import words
from mqlab.verdict import diagnose

LOG, FORM = "logs/kafka-2/server.log", "kafka-broker-log"
RAN = ("broker-started 10:00:00", "isr-shrunk 10:04:00")
AGAIN = ("broker-booting 10:05:00", "settings-printed 10:05:05", "broker-started 10:05:20")
WHOLE = log(LOG, FORM, first="10:00:00", last="10:20:00")


def lines(*rows, source=LOG, node="2"):
    """Rows ``kind clock`` of one log of broker 2."""
    return [
        episode(kind, when, source, line=number, node=node if kind.startswith("broker-") else None, system="kafka")
        for number, (kind, when) in enumerate(map(str.split, rows), 1)
    ]


def found(*rows):
    """Certainty and severity of each finding."""
    return [(one.certainty, one.severity) for one in detect(facts(*rows)).findings]


LIKELY, PROVEN = (Certainty.LIKELY, Severity.WARNING), (Certainty.PROVEN, Severity.WARNING)
RECOVERS = ("broker-booting 10:05:00", "log-recovery 10:05:10", "broker-started 10:05:20")
LED = leaders("""
    at       queue epoch broker from isr
    10:00:00 0     0     2      0    2,1
    10:04:10 0     1     1      100  1
""")
FENCED = episode("broker-fenced", "10:04:09", "logs/kafka-1/controller.log", left=2, system="kafka")


def test_a_log_that_goes_on_with_a_new_process_without_a_stop_is_likely_a_crash():
    (one,) = detect(facts(lines(*RAN, *AGAIN), WHOLE)).findings
    assert (one.certainty, one.severity, one.subject) == (Certainty.LIKELY, Severity.WARNING, "broker 2")
    assert one.measures == {"crashes": 1}
    assert (one.started_at.timestamp(), one.ended_at.timestamp()) == (at("10:04"), at("10:05"))
    assert [(place.line, place.why) for place in one.evidence] == [(5, say("starts")), (2, say("heard"))]
    assert told(one.statement) == {"subject": "broker 2", "heard": at("10:04"), "back": at("10:05"), "begins": True}


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ((lines(*RAN, *RECOVERS), WHOLE), "recovers"),
        ((lines(*RAN, *AGAIN), WHOLE, LED), "led"),
        ((lines(*RAN, *AGAIN), WHOLE, FENCED), "missed"),
    ],
    ids=["its recovery", "brokers that led in its place", "a controller"],
)
def test_what_another_source_says_of_it_too_is_proven(rows, why):
    (one,) = detect(facts(*rows)).findings
    assert (one.certainty, one.evidence[-1].why) == (Certainty.PROVEN, say(why))


def test_it_was_gone_when_others_led_its_partitions_at_the_latest():
    (one,) = detect(facts(lines(*RAN, *AGAIN), WHOLE, LED)).findings
    assert told(one.statement)["taken"] == at("10:04:10")


def test_a_controller_that_misses_another_broker_proves_nothing():
    other = episode("broker-failed", "10:04:09", "logs/kafka-1/controller.log", reason="1,3", left=1, system="kafka")
    assert found(lines(*RAN, *AGAIN), WHOLE, other) == [LIKELY]


def test_kraft_recovers_the_log_of_its_quorum_at_each_start():
    raft = episode("log-recovery", "10:05:10", LOG, line=9, topic="__cluster_metadata", queue="0", system="kafka")
    assert found(lines(*RAN, *AGAIN), WHOLE, raft) == [LIKELY]


def test_lines_of_other_brokers_in_a_log_that_they_share_are_no_sign_of_its_life_nor_of_its_end():
    own = lines(*RAN[:1], "isr-shrunk 10:02:00", *AGAIN, source="compose.log")
    own[1] = replace(own[1], node="2")
    other = lines(
        "broker-started 10:00:03", "isr-shrunk 10:04:50", "log-recovery 10:05:10", source="compose.log", node="1"
    )
    rows = own, [replace(one, node="1") for one in other], log("compose.log", FORM, first="10:00:00", last="10:20:00")
    (one,) = detect(facts(*rows)).findings
    assert (one.certainty, one.started_at.timestamp()) == (Certainty.LIKELY, at("10:02"))
    assert detect(facts(*rows, FENCED)).findings[0].certainty is Certainty.PROVEN


def test_crashes_of_one_broker_are_one_finding():
    twice = lines(*RAN, *RECOVERS, "isr-shrunk 10:08:00", "log-recovery 10:09:00", "broker-started 10:09:20")
    (one,) = detect(facts(twice, WHOLE)).findings
    assert (one.measures["crashes"], one.started_at.timestamp()) == (2, at("10:04"))
    assert told(one.statement)["several"]


CONNECTED = "10:00:01 press connected 10.0.0.1:1001 k30 c1"
KILLED = f"10:00:00 - starting\n{CONNECTED}\n10:02:08 - starting\n10:02:10 press connected 10.0.0.1:1002 k30 c1"
LOST = client("10:00:01 configured c1\n10:00:01 made\n10:02:05 lost - EOF\n10:02:10 made", "press")
BACK_BEFORE = client(
    "10:00:01 configured c1\n10:00:01 made\n10:01:40 lost - EOF\n10:01:41 made\n10:02:10 made", "press"
)
LONG = replace(log("logs/mosquitto.log", "mosquitto-log", first="10:00", last="10:10", lines=400), noise=300)
CUT_OFF = Severity.CRITICAL


@pytest.mark.parametrize(
    ("more", "certainty"),
    [((), Certainty.LIKELY), (LOST, Certainty.PROVEN), (BACK_BEFORE, Certainty.LIKELY)],
    ids=["its own log", "a client lost it", "a client that was back before"],
)
def test_clients_that_a_broker_of_mqtt_cut_off_are_counted(more, certainty):
    (one,) = detect(facts(broker(KILLED)[:-1], LONG, more)).findings
    assert (one.certainty, one.severity, one.measures["clients"]) == (certainty, CUT_OFF, 1)


EAST_AND_WEST = f"10:00:00 - starting\n{CONNECTED}\n10:02:08 - starting\n10:02:10 sluice connected 10.0.1.1:1001 k30 c1"


def test_a_stream_of_two_brokers_is_no_restart_as_no_client_of_the_one_comes_to_the_other():
    assert found(broker(EAST_AND_WEST)[:-1], LONG) == []


@pytest.mark.parametrize(("status", "certainty"), [(137.0, Certainty.PROVEN), (143.0, Certainty.LIKELY)])
def test_a_supervisor_that_sees_the_process_end_badly_proves_it(status, certainty):
    exits = episode(
        "process-exit", "10:02:00", "logs/mosquitto.log", line=3, left=status, reason="mosquitto", system="os"
    )
    (one,) = detect(facts(broker(KILLED)[:-1], LONG, exits)).findings
    assert (one.certainty, one.started_at.timestamp()) == (certainty, at("10:00:01"))


def test_partitions_that_nobody_can_lead_meanwhile_are_counted():
    nobody = [episode("no-leader", "10:04:30", "logs/kafka-1/controller.log", topic="orders", queue=q) for q in "01"]
    (one,) = detect(facts(lines(*RAN, *AGAIN), WHOLE, nobody)).findings
    assert (one.severity, one.measures["partitions"]) == (Severity.CRITICAL, 2)


def test_rocketmq_says_itself_that_it_was_not_stopped():
    own, starts = "logs/broker-a/broker.log", ("10:00:00", "10:05:20")
    booted = [
        episode("rocketmq-broker-started", when, own, line=n, node="broker-a", system="rocketmq")
        for n, when in zip((1, 9), starts, strict=True)
    ]
    says = episode("log-recovery", "10:05:10", "logs/broker-a/store.log", system="rocketmq")
    whole = [log(f"logs/broker-a/{name}.log", "rocketmq-broker-log", first="10:00:00") for name in ("broker", "store")]
    assert (found(booted, whole), found(booted, whole, says)) == ([], [PROVEN])
    assert "begins" not in told(detect(facts(booted, whole, says)).findings[0].statement)


def test_what_it_said_last_is_told():
    full = episode("out-of-memory", "10:04:00", LOG, line=3, system="os")
    (one,) = detect(facts(lines(*RAN, *AGAIN), full, WHOLE)).findings
    assert (told(one.statement)["said"], one.evidence[0].why) == (words()["out-of-memory"], say("said"))


ENDS = log(LOG, FORM, first="10:00:00", last="10:04:02")


def test_a_broker_whose_last_line_says_that_it_halts_has_crashed():
    halts = "error:kafka-all-log-dirs-failed 10:04:00"
    (one,) = detect(facts(lines(*RAN, halts), ENDS)).findings
    assert (one.certainty, one.subject, one.ended_at) == (Certainty.LIKELY, "broker 2", None)
    assert told(one.statement)["said"] == words()["error:kafka-all-log-dirs-failed"]


@pytest.mark.parametrize(
    "rows",
    [
        (lines("broker-booting 10:03:50", "error:kafka-fatal-start 10:04:00"), ENDS),
        (lines(*RAN, "error:kafka-all-log-dirs-failed 10:04:00"), WHOLE),
    ],
    ids=["a start that failed", "a log that goes on"],
)
def test_a_fatal_line_at_a_start_or_in_a_log_that_goes_on_is_no_crash(rows):
    assert found(*rows) == []


BACKWARDS = ("broker-started 10:00", "broker-stopping 10:30", "broker-started 09:59:30", "broker-started 10:10")
OTHERS = log("logs/kafka-1/server.log", FORM, first="10:00:00", last="10:20:00")


@pytest.mark.parametrize(
    ("last", "findings"),
    [("10:04:00", [LIKELY]), ("10:02:00", []), ("10:19:00", [])],
    ids=["silent as others take over", "gathered before", "its log goes on"],
)
def test_a_broker_that_falls_silent_and_is_not_back_has_crashed_where_others_lead_at_once(last, findings):
    own = log(LOG, FORM, first="10:00:00", last=last)
    assert found(lines("broker-started 10:00:00"), own, OTHERS, LED) == findings


def test_a_broker_whose_log_of_starts_and_stops_is_missing_or_ends_before_is_no_crash():
    states = log("logs/kafka-2/state-change.log", FORM, first="10:00:00", last="10:04:00")
    early = log(LOG, FORM, first="10:00:00", last="10:01:00")
    assert found(states, OTHERS, LED) == found(lines("broker-started 10:00:00"), early, states, OTHERS, LED) == []


def test_a_log_that_begins_after_the_end_of_the_old_process_shows_no_end():
    old = lines(*RAN, source="logs/kafka-2/server.log.2026-11-21-10")
    new = lines(*AGAIN), log(LOG, FORM, first="10:05:00", last="10:20:00")
    rows = old, log("logs/kafka-2/server.log.2026-11-21-10", FORM, first="10:00:00", last="10:04:00"), *new
    assert (found(*rows), found(*rows, LED)) == ([], [])
    assert detect(facts(*rows)).missing == (say("not-whole"),)


@pytest.mark.parametrize(
    "rows",
    [
        (lines(*RAN, "broker-stopping 10:04:30", *AGAIN), WHOLE, LED),
        (lines(*RAN, "broker-stopped 10:04:30", *AGAIN), WHOLE, LED),
        (lines(*RAN), WHOLE),
        (lines(*RAN), ENDS),
        (lines("broker-started 10:00:00", "broker-started 10:05:20"), WHOLE),
        (lines(*RAN, "broker-booting 10:05:00", "broker-started 10:05:20"), WHOLE),
        (broker(KILLED)[:-1], replace(LONG, noise=0)),
        (broker(KILLED),),
        (lines("broker-starting 10:00:00", "broker-starting 10:01:00", "broker-starting 10:02:00"), WHOLE),
        (lines(*BACKWARDS), WHOLE, LED),
        (broker(KILLED, form="vernemq-log")[:-1], log("logs/mosquitto.log", "vernemq-log")),
    ],
    ids=[
        "a stop in good order", "a stop whose begin is not told", "a broker that goes on", "the end of the material",
        "two lines of a log", "lines of starts", "lines of starts and clients", "an excerpt", "starts that failed",
        "a clock that went back", "VerneMQ tells of no stop",
    ],
)  # fmt: skip
def test_what_is_no_crash(rows):
    assert found(*rows) == []


def test_a_broker_that_others_cut_off_and_whose_log_goes_on_is_no_crash():
    cut_off = lines("broker-started 10:00:00", "isr-shrunk 10:04:00", "isr-shrunk 10:10:00")
    assert detect(facts(cut_off, WHOLE, LED, FENCED)) == CLEAR


def test_without_a_log_of_a_broker_nothing_is_known():
    assert detect(facts(log())).missing == (say("no-log"),)
    assert SYSTEMS == ("kafka", "rocketmq", "mqtt")


def test_it_leads_over_what_comes_of_it_and_what_was_lost_leads_over_it():
    refused = [
        episode("not-enough-replicas", "10:04:20", LOG, line=7, topic="orders", queue="0", left=2, reason="[1]",
                system="kafka", node=None, count=9, until="10:04:50")
    ]  # fmt: skip
    found = diagnose(facts(lines(*RAN, *RECOVERS), refused, WHOLE, LED)).findings
    assert [one.incident for one in found] == ["broker-crash", "under-min-isr"]
