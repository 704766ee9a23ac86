"""Whole statements about MQTT, as they read in English."""

from facts_builder import at
from said import statement

from mqlab.mqtt import redeliveries
from mqlab.units import Interval
from mqlab.words import room


def test_connections_that_a_limit_ends():
    lost = {"subject": "edge", "first_end": at("10:00:35"), "last_end": at("10:03:20"), "rate": 10_240, "pings": True}
    assert statement("rate-limit-flapping", {"lives": 4, "life_seconds": 55}, **lost) == (
        "edge lost its connection 4 times from 10:00:35 to 10:03:20 UTC, a median of 55.0 s after it had "
        "connected, and was back at once: it sends faster than the 10.2 kB/s that are read, so its pings wait behind "
        "data until it gives up waiting for their answers."
    )


def test_a_link_that_fails():
    lost = {"subject": "tram", "since": at("10:00:22"), "until": at("10:04:53"), "sure": True}
    waits = {"away": Interval(5, 7.5, 20), "patience": 22.5, "silent": 26.5}
    assert statement("reconnect-flaky-link", {"losses": 4}, **lost, **waits) == (
        "tram lost the connection 4 times between 10:00:22 and 10:04:53 UTC and came back from the same place, a "
        "median of 7.50 s (5.00 s to 20.0 s) after the broker noticed. Nobody else used the id; its link fails. The "
        "broker gives a silent client up after 22.5 s (1.5 × keep-alive), and had heard nothing for at least 26.5 s "
        "at each return after that."
    )


def test_clients_that_all_come_back_at_once():
    back = {"clients": 40, "clients_before": 40, "back_seconds": 6}
    times = {"down": at("10:05"), "up": at("10:05:10"), "until": at("10:05:16")}
    returns = "40 of 40 clients were back by 10:05:16 UTC, within 6.00 s."
    causes = {
        "restart": "mosquitto was stopped at 10:05:00 and started again at 10:05:10 UTC.",
        "network": "The clients lost mosquitto together at 10:05:00 UTC; its log shows no restart.",
        "no-log": "The clients lost the broker together at 10:05:00 UTC; only its log can tell why.",
        "standstill": "mosquitto logged at 10:05:10 UTC that all clients were lost and back at once: it did not "
        "restart but stalled, or what is in front of it did.",
    }
    said = {"subject": "mosquitto", "stopped": True, **times}
    assert {cause: statement("reconnect-storm", back, **said, cause=cause) for cause in causes} == {
        cause: f"{english} {returns}" for cause, english in causes.items()
    }


def test_messages_that_come_again():
    again = {"redelivered_messages": 100, "redelivered_share": 0.5, "connects": 5}
    assert statement(
        "redelivery-storm", again, subject="store", copies=6, why=redeliveries.say("cause", end="closed")
    ) == (
        "store got 100 messages with the DUP flag after 5 connects, one of them 6 times: the broker had sent them "
        "before, and it had not acknowledged them. They are 50.0 % of what it got meanwhile; its connections break."
    )


def test_retained_messages_that_are_replayed():
    replays = {"subscribes": 5, "replayed_messages": 500, "live_messages": 90}
    each = {"subject": "panel", "period": 60, "all": 100, "end": redeliveries.say("cause", end="normal")}
    assert statement("retained-replay-storm", replays, **each) == (
        "panel resubscribed 5 times, about every 60.0 s, and received all 100 retained messages each time: 500 "
        "replayed messages beside 90 live ones; it disconnects by itself each time: it is restarted, or its code "
        "connects anew."
    )


def test_a_queue_that_was_full():
    say = room("session-queue-drop")
    away = {"subject": "app", "state": "away", "gone": at("10:01"), "back": at("10:05"), "published": 5980}
    dropped = {"lost_records": 1400, "queue_limit": 1000, "survivors": 1000}
    proofs = [say("counter"), say("survivors")]
    assert statement("session-queue-drop", dropped, **away, kept="oldest", proofs=proofs) == (
        "app was offline from 10:01:00 to 10:05:00 UTC, and its queue holds 1,000 messages. The broker dropped 1,400 "
        "of 5,980 messages for it; of those published while it was offline, the oldest 1,000 were kept. Confirmed: the "
        "broker's drop counter rose by the same number, and as many came afterwards as the queue holds."
    )
    assert statement("session-queue-drop", {}, subject="app", state="unknown", stands=1400) == (
        "app is too slow or offline (its connections are not in the material); its queue is full. The broker counts "
        "1,400 dropped messages of all its clients; how many of them were for app is not in the material."
    )


def test_a_queue_that_grows_for_nobody():
    growth = {
        "since": at("10:01"),
        "unlimited": True,
        "published": 24_000,
        "grows": True,
        "goes_on": True,
        "memory_per_second": 180_000,
    }
    assert statement("session-queue-growth", {"queue_growth_per_second": 100}, subject="job", **growth) == (
        "job has been offline since 10:01:00 UTC with a persistent session, and its queue has no limit. 24,000 "
        "messages were published for it meanwhile. Messages stored at the broker grow by 100/s, its memory by 180 "
        "kB/s."
    )
