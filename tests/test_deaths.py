"""Deaths that no line tells outright: what starts again without a stop, and what is no death."""

import pytest
from facts_builder import at, episode, facts, log
from message_builder import leaders

from mqlab.views.deaths import deaths

LOG = "logs/kafka-2/server.log"


def told(*rows):
    """Rows ``kind clock``: lines of one log of broker 2, and what is inferred from them."""
    lines = [
        episode(kind, when, LOG, line=number, node="2" if kind.startswith("broker") else None)
        for number, (kind, when) in enumerate(map(str.split, rows), 1)
    ]
    return [(one.who, one.since, one.until) for one in deaths(facts(*lines))]


def test_a_broker_that_starts_again_without_a_stop_died_in_its_longest_silence():
    assert told(
        "broker-started 10:00:00", "isr-shrunk 10:04:00", "log-recovery 10:06:00", "broker-started 10:06:20"
    ) == [("broker 2", at("10:04:00"), at("10:06:00"))]


def test_lines_of_a_slow_start_before_its_settings_are_of_the_new_process():
    slow = ("client-version 10:05:58", "settings-printed 10:06:06", "broker-started 10:06:51")
    died = ("broker 2", at("10:04:37"), at("10:05:58"))
    assert told("broker-started 10:00:00", "isr-shrunk 10:04:37", *slow) == [died]


@pytest.mark.parametrize(
    "rows",
    [
        ("broker-started 10:00:00", "broker-stopping 10:04:00", "broker-started 10:05:00"),
        ("broker-started 10:00:00", "broker-started 10:00:04"),
        ("broker-started 10:00:00", "isr-shrunk 10:04:00"),
    ],
)
def test_an_orderly_restart_one_start_in_two_lines_and_a_log_that_ends_are_no_death(rows):
    assert told(*rows) == []


def test_logs_of_two_brokers_in_one_folder_are_not_taken_for_two_starts_of_one():
    logs = ("logs/east.log", "logs/west.log")
    starts = [episode("broker-starting", f"10:0{number}:00", log) for number, log in enumerate(logs)]

    assert deaths(facts(*starts)) == ()


def test_a_stop_and_a_start_in_the_same_second_keep_the_order_of_their_lines():
    rows = [("broker-starting", "10:00:00"), ("broker-stopping", "10:05:00"), ("broker-starting", "10:05:00")]
    lines = [episode(kind, when, "logs/east.log", line=number) for number, (kind, when) in enumerate(rows, 1)]

    assert deaths(facts(*reversed(lines))) == ()


LED = """
    at    queue epoch broker from isr
    10:00 0     0     2      0    2,1
    10:05 0     1     1      100  {isr}
"""


@pytest.mark.parametrize(("isr", "names"), [("1", ["broker 2"]), ("1,2", [])])
def test_a_broker_that_is_never_heard_of_again_died_where_others_led_without_it(isr, names):
    later = episode("isr-updated", "10:10:00", "logs/kafka-1/server.log")

    assert [one.who for one in deaths(facts(leaders(LED.format(isr=isr)), later))] == names


def test_a_broker_that_goes_on_after_others_took_its_partitions_is_alive():
    later = episode("isr-updated", "10:10:00", "logs/kafka-2/state-change.log")

    assert deaths(facts(leaders(LED.format(isr="1")), later)) == ()


def test_a_stop_in_order_by_a_log_that_does_not_say_whose_it_is_counts_for_the_broker_of_its_folder():
    stopped = episode("broker-stopping", "10:04:00", LOG)

    assert deaths(facts(leaders(LED.format(isr="1")), stopped)) == ()


@pytest.mark.parametrize(("last", "names"), [("10:04", ["broker 2"]), ("10:09", [])])
def test_lines_that_no_signature_knows_are_signs_of_life_too(last, names):
    later = episode("isr-updated", "10:10:00", "logs/kafka-1/server.log")
    own = log("logs/kafka-2/server.log", "kafka-broker-log", last=last)
    led = leaders(LED.format(isr="1"))

    assert [one.who for one in deaths(facts(led, later, own))] == names
