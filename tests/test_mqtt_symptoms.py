"""What MQTT's material leaves unexplained, and what clients and brokers print in every start, stop and restart."""

from dataclasses import replace

import pytest
from facts_builder import at, episode, facts, log
from mqtt_builder import broker
from mqtt_mail import came, ledger

from mqlab.findings import Certainty, Finding, Severity
from mqlab.known_errors import words
from mqlab.rows import Shape
from mqlab.shared.wording import moment
from mqlab.symptoms.unexplained import unexplained
from mqlab.words import room

LOG = log("clients/gw.log", "mqtt-client-log")


def symptoms(*rows, findings=(), shapes=()):
    """What remains, without its clock."""
    left = unexplained(replace(facts(*rows), shapes=tuple(shapes)), findings)
    return [s.text.partition(" UTC: ")[2] for s in left]


def finding(incident):
    """A finding about the whole time."""
    when = (moment(at(0)), moment(at(1800)))
    return Finding(f"{incident}:x", incident, Severity.NOTICE, Certainty.PROVEN, "x", *when, False, "")


def often(kind, count=3, **more):
    return [episode(kind, 300 + 60 * n, "logs/mosquitto.log", line=n + 1, system="mqtt", **more) for n in range(count)]


def shape(text, level="ERROR", start=900, end=None):
    """Lines of one shape in a client's log."""
    return Shape("clients/gw.log", level, text, 5, 100, at(start), at(start if end is None else end), 7)


@pytest.mark.parametrize("kind", ["connection-lost", "ping-unanswered", "session-takeover"])
def test_connections_that_are_lost_again_and_again_are_a_symptom(kind):
    assert symptoms(often(kind)) == [f"{words()[kind]}, 3 times, first at logs/mosquitto.log:1"]
    assert symptoms(often(kind), findings=[finding("reconnect-flaky-link")]) == []
    assert symptoms(often(kind, count=2)) == []


@pytest.mark.parametrize(
    ("kind", "incident"),
    [
        ("session-queue-dropping", "bridge-loop"),
        ("session-queue-dropping", "session-queue-drop"),
        ("publish-denied", "acl-silent-drop"),
        ("session-killed", "session-queue-growth"),
    ],
)
def test_one_line_about_lost_messages_is_a_symptom_unless_its_class_was_found(kind, incident):
    assert symptoms(often(kind, 1)) == [f"{words()[kind]}, once, at logs/mosquitto.log:1"]
    assert symptoms(often(kind, 1), findings=[finding(incident)]) == []
    assert symptoms(often(kind, 1), findings=[finding("retained-replay-storm")]) != []


@pytest.mark.parametrize("reason", ["normal", "closed", "taken-over", "idle", "broker-stopped", None])
def test_connections_that_end_in_the_usual_ways_are_none(reason):
    assert symptoms(often("client-disconnected", reason=reason)) == []


@pytest.mark.parametrize("reason", ["keep-alive", "queue-killed", "not-authorized", "frame-too-large"])
def test_connections_that_the_broker_breaks_off_are_a_symptom(reason):
    assert symptoms(often("client-disconnected", reason=reason)) != []


def test_clients_notice_an_orderly_restart_of_their_broker():
    lost = [episode("connection-lost", 300 + n, f"clients/{n}.log", system="mqtt") for n in range(40)]
    stopping = episode("broker-stopping", 299, "logs/mosquitto.log", line=1, system="mqtt")
    starting = episode("broker-starting", 299, "logs/mosquitto.log", line=2, system="mqtt")
    assert symptoms(lost, stopping, starting) == []
    assert symptoms(lost) == ["connections lost, 40 times, first at clients/0.log:1"]


def test_a_broker_that_stops_and_starts_within_a_second_did_so_in_good_order():
    lines = [("broker-starting", 0, 1), ("broker-stopping", 300, 11), ("broker-starting", 300, 13)]
    rows = [episode(kind, when, "logs/mosquitto.log", line=line, system="mqtt") for kind, when, line in lines]
    assert symptoms(rows) == []
    assert symptoms(rows[0], rows[2]) == [
        "mosquitto started again without an orderly stop, alive until 10:00:00 at least, logs/mosquitto.log:13"
    ]


def test_errors_around_a_restart_of_the_broker_are_ordinary_and_others_are_not():
    refused = shape("dial tcp #: connect: connection refused", start=310, end=330)
    starting = episode("broker-starting", 300, "logs/mosquitto.log", system="mqtt")
    assert symptoms(LOG, starting, shapes=[refused]) == []
    assert symptoms(LOG, shapes=[refused]) != []


@pytest.mark.parametrize(
    "text",
    [
        "[store]    memorystore wiped",
        "[client]   Connect comms goroutine - error triggered EOF",
        "[client]   internalConnLost unexpected status: disconnection already in progress",
    ],
)
def test_what_paho_prints_in_every_start_and_stop_is_ordinary(text):
    assert symptoms(LOG, shapes=[shape(text, "ERROR")]) == []


@pytest.mark.parametrize("text", ["dial tcp #: connect: no route to host", "publish failed topic=a", "error writing"])
def test_other_errors_of_clients_are_symptoms(text):
    assert symptoms(LOG, shapes=[shape(text)]) == [
        f"ERROR lines that mqlab does not know, 5 lines, first clients/gw.log:7  {text}"
    ]


COPIES = (
    ledger("hall", "10:05:00 200 50 4 0 0"),
    came(
        "10:05:01 10:05:09 100 hall:1\n10:05:03.5 10:05:07 40 hall:2\n10:05:04 10:05:05 10 hall:1 view:2", sender="feed"
    ),
)


def test_copies_that_no_class_explains_are_a_symptom():
    (one,) = unexplained(facts(*COPIES), ())
    known = {"at": at("10:05:03.5"), "again": 40, "messages": 150, "client": "received-hall"}
    assert one.text == room("mqtt-symptoms")("copies", **known), "messages, and when the first of them was sent"


@pytest.mark.parametrize("incident", ["bridge-loop", "overlapping-subscription", "client-id-takeover"])
def test_copies_of_a_class_that_was_found_are_explained(incident):
    assert symptoms(*COPIES, findings=[finding(incident)]) == []
    assert symptoms(*COPIES, findings=[finding("session-queue-drop")]) != []


@pytest.mark.parametrize("flags", ["50 0", "0 50"])
def test_copies_with_a_flag_and_a_few_of_many_are_none(flags):
    assert symptoms(ledger("hall", f"10:05:00 200 50 4 {flags}")) == []
    assert symptoms(ledger("hall", "10:05:00 200 9 4 0 0")) == []
    assert symptoms(ledger("hall", "10:05:00 20000 50 4 0 0")) == []


def test_kept_sessions_that_are_used_again_after_their_connections_were_over_are_no_symptom():
    rows = "\n".join(
        f"10:0{n}:00 press connected 10.0.0.1:{n} c0\n10:0{n}:30 press normal 10.0.0.1:{n}\n"
        f"10:0{n + 1}:00 press taken-over 10.0.0.1:{n}"
        for n in range(5)
    )
    assert symptoms(broker(rows)) == []


def test_connections_that_were_open_when_their_ids_were_taken_over_are_a_symptom():
    rows = "\n".join(
        f"10:00:00 dev{n} connected 10.0.0.{n}:1 c0\n10:01:00 dev{n} taken-over 10.0.0.{n}:1" for n in range(5)
    )
    assert symptoms(broker(rows)) == [
        "sessions taken over by another connection with the same client id, 5 times, first at logs/mosquitto.log:2"
    ]


def test_what_is_above_a_quota_is_a_symptom_and_no_refusal():
    assert symptoms(often("quota-exceeded", 1)) == ["quotas exceeded, once, at logs/mosquitto.log:1"]


def test_one_kind_of_line_in_several_files_is_one_symptom():
    kinds = [replace(shape("row lock failed"), source=f"app-{n}.log") for n in (2, 1)]
    told = "ERROR lines that mqlab does not know, 10 lines in 2 files, first app-1.log:7  row lock failed"
    assert symptoms(LOG, shapes=kinds) == [told]
