"""Logs that were gathered twice, or as parts that overlap."""

from dataclasses import replace

from facts_builder import facts
from mqtt_builder import broker, turns

from mqlab.detectors.client_id_takeover import detect
from mqlab.mqtt.brokers import once

ROWS = turns("dev", ["10.0.0.1", "10.0.0.2"], times=20)
STARTED = "10:00:00 - starting"


def told(name, rows):
    return broker(rows, f"logs/{name}")


def part(rows, since, until):
    """The same lines as another file has them."""
    lines = rows.splitlines()[since:until]
    return "\n".join(lines)


def takeovers(*rows):
    (one,) = detect(once(facts(*rows))).findings
    return one.measures["takeovers"]


def test_a_log_that_was_gathered_twice_counts_once():
    assert takeovers(told("mosquitto.log", ROWS), told("copy/mosquitto.log", ROWS)) == 20


def test_parts_that_overlap_count_once_and_whole():
    first, last = part(ROWS, 0, 27), part(ROWS, 13, None)
    assert takeovers(told("mosquitto.log.1", first), told("mosquitto.log", last)) == 20


def test_a_log_that_is_there_once_stays_as_it_is():
    rows = facts(told("mosquitto.log", ROWS), told("mosquitto.log.1", part(ROWS, 0, 0) or STARTED))
    assert once(rows) is rows


def test_two_brokers_that_see_clients_at_the_same_moments_stay_apart():
    other = ROWS.replace("10.0.0.2", "10.0.0.3")
    rows = facts(told("east/mosquitto.log", ROWS), told("west/mosquitto.log", other))
    assert once(rows) is rows


def test_logs_of_another_format_stay_apart():
    copied = told("b.log", ROWS)
    rows = facts(told("a.log", ROWS), copied)
    other = tuple(replace(c, format="hivemq-log") if c.source == "logs/b.log" else c for c in rows.coverage)
    assert len(once(replace(rows, coverage=other)).episodes) == len(rows.episodes)
