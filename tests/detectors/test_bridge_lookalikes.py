"""What only looks like messages that go round over bridges."""

from dataclasses import replace

import pytest
from circle_builder import BOTH_WAYS, CAME, OPENED, ROUND, SENT, STEADY, SWOLLEN, bridged, opened
from facts_builder import facts
from mqtt_mail import came, ledger

from mqlab.detectors.bridge_loop import detect, say
from mqlab.findings import CLEAR, Result

ONCE = ledger("hall", "10:01:00 400 0 0 0 0\n10:01:10 400 0 0 0 0")
EACH_ONCE = came("10:01:00 10:01:19 800 hall:1")


def test_one_bridge_with_much_traffic_is_clear():
    one_way = bridged("east", "west", "s/# out 0")
    assert detect(facts(ONCE, EACH_ONCE, SENT, one_way, opened("east", "west", 0), SWOLLEN)) == CLEAR


@pytest.mark.parametrize(
    ("out", "back"),
    [("up/# out 0", "down/# out 0"), ('s/# out 0 "" east/', 's/# out 0 "" west/'), ("s/# out 0", "s/# in 0")],
)
def test_two_bridges_over_which_nothing_comes_back_are_clear(out, back):
    result = detect(
        facts(ONCE, EACH_ONCE, SENT, bridged("east", "west", out), bridged("west", "east", back), OPENED, SWOLLEN)
    )
    assert result == CLEAR


def test_bridges_over_which_messages_could_come_back_and_do_not_are_rejected():
    result = detect(facts(ONCE, EACH_ONCE, SENT, BOTH_WAYS, OPENED, STEADY))
    assert result == Result(rejected=say("nothing-back", subject="east <-> west", carried="s/#", rounds=2))


def test_settings_alone_are_not_judged():
    assert detect(facts(BOTH_WAYS)).missing == (say("no-ids"),)


def test_more_traffic_after_the_second_bridge_that_publishers_note_is_none():
    busy = ledger("sensor", "\n".join(f"10:01:{n:02} 4000 0 0 0 0" for n in range(0, 60, 10)), role="sent")
    assert detect(facts(busy, BOTH_WAYS, OPENED, SWOLLEN)).findings == ()


def test_a_rise_at_one_of_the_brokers_alone_is_none():
    assert detect(facts(BOTH_WAYS, OPENED, SWOLLEN[0], STEADY[1])).findings == ()


def test_copies_are_no_circle_where_brokers_take_in_what_is_published():
    assert detect(facts(ROUND, CAME, SENT, BOTH_WAYS, OPENED, STEADY)).findings == ()


@pytest.mark.parametrize("flag", ["dup", "retained"])
def test_copies_with_a_flag_are_none(flag):
    flagged = [replace(r, **{flag: r.again}) for r in ROUND]
    assert detect(facts(flagged, CAME, SENT, BOTH_WAYS)).findings == ()


def test_as_many_copies_of_each_message_of_a_topic_are_none():
    even = ledger("hall", "10:01:00 300 200 0.1 0 0\n10:01:10 300 200 0.2 0 0")
    assert detect(facts(even, came("10:01:00 10:01:19 200 hall:3"), SENT, BOTH_WAYS)).findings == ()


def test_two_copies_at_most_are_none():
    twice = ledger("hall", "10:01:00 300 100 5 0 0\n10:01:10 300 100 9 0 0")
    messages = came("10:01:00 10:01:10 200 hall:1\n10:01:10 10:01:19 200 hall:2")
    assert detect(facts(twice, messages, SENT, BOTH_WAYS)).findings == ()


def test_a_publisher_that_sends_its_own_ids_again_is_none():
    again = ledger("sensor", "10:01:00 2000 1990 9 0 0\n10:01:10 2000 1990 19 0 0", role="sent")
    assert detect(facts(ROUND, CAME, again, BOTH_WAYS)).findings == ()
