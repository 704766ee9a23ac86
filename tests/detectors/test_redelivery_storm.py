"""Messages that come again with the DUP flag at each connect; and what is one reconnect, or no redelivery."""

import pytest
from facts_builder import at, episode, facts, settings
from mqtt_builder import broker
from mqtt_mail import came, ledger
from said import told

from mqlab.detectors.redelivery_storm import detect, say
from mqlab.findings import Certainty, Severity
from mqlab.mqtt import redeliveries

LOOP = broker(
    "\n".join(f"10:0{n}:05 store connected 10.0.0.7:{4000 + n} k30 c0\n10:0{n}:55 store closed" for n in range(6))
)
AGAIN = ledger("store", "\n".join(f"10:0{n}:00 40 {20 * bool(n)} {60 * n} {20 * bool(n)} 0" for n in range(6)))
CAME = came("10:00:00 10:00:05 20 store:6\n10:00:05 10:05:00 120 store:1")


def test_the_window_again_at_each_connect_is_proven():
    (one,) = detect(facts(LOOP, AGAIN, CAME)).findings
    assert (one.certainty, one.severity, one.subject) == (Certainty.PROVEN, Severity.CRITICAL, "store")
    again = {"redelivered_messages": 100, "redelivered_share": 0.5, "connects": 5, "copies": 6}
    assert told(one.statement) == {"subject": "store", "why": redeliveries.say("cause", end="closed"), **again}
    assert one.measures == {
        "redelivered_messages": 100, "redelivered_share": 0.5, "connects": 5, "redelivered_per_connect": 20,
        "copies_of_worst_id": 6, "in_flight_window": 20,
    }  # fmt: skip
    assert one.started_at.timestamp() == at(60)


def test_a_trace_shows_it_without_a_ledger():
    line = {"source": "logs/mosquitto.log", "system": "mqtt", "client_id": "store", "topic": "a/b"}
    lines = [episode("publish-sent", 60 * n + 5, count=15, reason="dup", **line) for n in range(1, 6)]
    live = [episode("publish-sent", 60 * n + 20, count=15, **line) for n in range(1, 6)]
    (one,) = detect(facts(LOOP, lines, live)).findings
    assert (one.certainty, one.measures["redelivered_messages"], one.measures["connects"]) == (Certainty.PROVEN, 75, 5)


def test_more_than_the_window_allows_is_likely_only():
    small = settings("at owner key value\n- - max_inflight_messages 5", "configs/mosquitto.conf", scope="broker")
    (one,) = detect(facts(LOOP, AGAIN, CAME, small)).findings
    assert (one.certainty, one.severity) == (Certainty.LIKELY, Severity.WARNING)


def test_a_window_without_limit_allows_all():
    none = settings("at owner key value\n- - max_inflight_messages 0", "configs/mosquitto.conf", scope="broker")
    (one,) = detect(facts(LOOP, AGAIN, CAME, none)).findings
    assert one.certainty is Certainty.PROVEN
    assert "in_flight_window" not in one.measures


def test_messages_again_without_a_known_connect_are_likely():
    (one,) = detect(facts(AGAIN, CAME)).findings
    assert one.certainty is Certainty.LIKELY
    assert "connects" not in told(one.statement)


def test_one_reconnect_is_rejected():
    once = ledger("store", "10:00:00 40 0 0 0 0\n10:01:00 40 20 60 20 0\n10:02:00 40 0 0 0 0")
    result = detect(facts(LOOP, once, came("10:00:00 10:00:05 20 store:2")))
    assert (result.findings, result.rejected) == ((), say("few", client="store", dup=20, rows=40, connects=1))


def test_a_few_messages_again_of_many_are_rejected():
    few = ledger("store", "\n".join(f"10:0{n}:00 400 7 60 7 0" for n in range(6)))
    result = detect(facts(LOOP, few))
    assert (result.findings, result.rejected) == ((), say("few", client="store", dup=42, rows=2400, connects=6))


@pytest.mark.parametrize("flags", ["0 0", "0 20"])
def test_copies_without_the_flag_are_none(flags):
    other = ledger("store", "\n".join(f"10:0{n}:00 40 20 60 {flags}" for n in range(6)))
    result = detect(facts(LOOP, other, CAME))
    assert (result.findings, result.rejected, result.missing) == ((), None, ())


def test_a_publisher_that_sends_again_is_no_redelivery():
    line = {"source": "logs/mosquitto.log", "system": "mqtt", "client_id": "store", "topic": "a/b", "reason": "dup"}
    lines = [episode("publish-received", 60 * n + 5, count=15, **line) for n in range(1, 6)]
    assert detect(facts(LOOP, lines)).findings == ()


def test_without_messages_it_is_not_checked():
    assert detect(facts(LOOP)).missing == (say("no-flags"),)


def test_after_takeovers_it_is_their_consequence():
    rows = [f"10:0{n}:05 store connected 10.0.0.{1 + n % 2}:{4000 + n} k30 c0" for n in range(6)]
    turns = "\n".join(f"{row}\n10:0{n + 1}:05 store taken-over" for n, row in enumerate(rows))
    (one,) = detect(facts(broker(turns), AGAIN, CAME)).findings
    assert (one.certainty, one.severity) == (Certainty.PROVEN, Severity.WARNING)
    assert told(one.statement)["why"] == redeliveries.say("cause", end="taken-over")


def test_without_messages_it_is_clear_where_a_broker_resends_at_reconnects_and_nobody_came_back_so_often():
    once = broker("10:00:00 - starting\n10:00:05 store connected 10.0.0.7:4000 k30 c0\n10:01:00 store closed")
    assert (detect(facts(once)).findings, detect(facts(once)).missing) == ((), ())
