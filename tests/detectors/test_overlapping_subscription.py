"""Copies for filters that overlap, who made them, and what only looks like it."""

from dataclasses import replace

import pytest
from facts_builder import at, episode, facts, log, ramp, series, settings
from mqtt_mail import came, ledger
from said import told

from mqlab.detectors.overlapping_subscription import detect, say
from mqlab.findings import CLEAR, Certainty, Severity


def subscribed(client, *names):
    """A client that subscribes to these filters, as the broker's log tells."""
    seen = episode("client-connected", 0, "logs/mosquitto.log", client_id=client, system="mqtt", reason="clean")
    lines = [
        episode("client-subscribed", 0, "logs/mosquitto.log", client_id=client, topic=name, line=2 + n, system="mqtt")
        for n, name in enumerate(names)
    ]
    return [seen, *lines]


def traced(topic, received, **sent):
    """A broker's trace: messages of *topic* taken in, and sent to each client."""
    own = {"source": "logs/mosquitto.log", "system": "mqtt", "topic": topic}
    out = [episode("publish-sent", 60, client_id=name, count=count, until=69, **own) for name, count in sent.items()]
    return [episode("publish-received", 60, client_id="meter", count=received, until=69, **own), *out]


TWICE = ledger("billing", "10:01:00 125 25 0.002 0 0\n10:01:10 125 25 0.004 0 0")
ONCE = ledger("viewer", "10:01:00 100 0 0 0 0\n10:01:10 100 0 0 0 0")
SENT = ledger("meter", "10:01:00 100 0 0 0 0\n10:01:10 100 0 0 0 0", role="sent")
DOUBLED = came("10:01:00 10:01:19 50 billing:2 viewer:1", topic="grid/n1/power", sender="meter")
SINGLE = came("10:01:00 10:01:19 150 billing:1 viewer:1", topic="grid/n2/power", sender="meter")
LEDGERS = (TWICE, ONCE, SENT, DOUBLED, SINGLE)
FILTERS = (subscribed("billing", "grid/+/power", "grid/n1/#"), subscribed("viewer", "grid/#"))
ALLOWED = settings("at owner key value\n- - allow_duplicate_messages true", "configs/mosquitto.conf", scope="broker")
DEFAULT = settings("at owner key value\n- - listener 1883", "configs/mosquitto.conf", scope="broker")


def test_a_copy_for_each_filter_that_matches_is_proven():
    (one,) = detect(facts(LEDGERS, FILTERS, ALLOWED)).findings
    assert (one.certainty, one.severity, one.subject) == (Certainty.PROVEN, Severity.WARNING, "billing")
    copies = {"topics": ["grid/n1/power"], "most": 2, "even": True, "extra_copies": 50, "copied_messages": 50}
    matching = {"filters": 2, "names": ["grid/+/power", "grid/n1/#"]}
    assert told(one.statement) == {"subject": "billing", "maker": "broker", **copies, **matching}
    assert one.measures == {
        "copies_per_message": 2, "copied_messages": 50, "extra_copies": 50, "topics": 1, "matching_filters": 2,
    }  # fmt: skip
    assert [e.text for e in one.evidence][2] == "\tallow_duplicate_messages = true"
    assert one.started_at.timestamp() == at(60)
    assert one.ongoing


def test_unsubscribing_is_advised_only_where_another_filter_covers_the_topics():
    crossing, within = (
        detect(facts(LEDGERS, subscribed("billing", *names), ALLOWED)).findings[0].mitigate
        for names in (("grid/+/power", "grid/n1/#"), ("grid/#", "grid/n1/#"))
    )
    assert (told(crossing), told(within)["narrower"]) == ({"subject": "billing", "filters": 2}, ["grid/n1/#"])


def test_copies_begin_no_sooner_than_what_they_are_copies_of_is_sent():
    late = came("10:01:07 10:01:19 50 billing:2 viewer:1", topic="grid/n1/power", sender="meter")
    (one,) = detect(facts(TWICE, ONCE, SENT, late, SINGLE, FILTERS, ALLOWED)).findings
    assert one.started_at.timestamp() == at(67)


def test_without_a_publishers_ledger_copies_begin_no_sooner_than_anybody_notes_the_topic():
    late = came("10:01:07 10:01:19 50 billing:2 viewer:1", topic="grid/n1/power", sender=None)
    (one,) = detect(facts(TWICE, ONCE, late, SINGLE, FILTERS, ALLOWED)).findings
    assert one.started_at.timestamp() == at("10:01:07")


def test_the_trace_tells_that_the_broker_sent_the_copies():
    trace = traced("grid/n1/power", 50, billing=100, viewer=50)
    (one,) = detect(facts(LEDGERS, trace)).findings
    assert (one.certainty, one.measures.get("matching_filters")) == (Certainty.PROVEN, None)
    assert told(one.statement)["maker"] == "broker"
    sent = [say("came", messages=50), say("sent", messages=100, client="billing")]
    assert [e.why for e in one.evidence][1:] == sent


def test_the_trace_tells_that_the_client_counted_one_message_twice():
    trace = traced("grid/n1/power", 50, billing=50, viewer=50)
    (one,) = detect(facts(LEDGERS, FILTERS, trace)).findings
    assert one.certainty is Certainty.PROVEN
    assert (told(one.statement)["maker"], told(one.remedy)) == ("client", {"maker": "client"})


def test_a_counter_below_what_receivers_note_tells_that_the_client_counted_twice():
    sent = series("mqtt.publish_sent", ramp((12, 34)), source="metrics/sys.log")
    (one,) = detect(facts(LEDGERS, FILTERS, sent)).findings
    assert told(one.statement)["maker"] == "client"


def test_mosquitto_without_the_setting_sends_one_copy():
    (one,) = detect(facts(LEDGERS, FILTERS, DEFAULT)).findings
    assert told(one.statement)["maker"] == "client"


def test_who_made_the_copies_stays_open_where_nothing_tells():
    (one,) = detect(facts(LEDGERS, FILTERS)).findings
    assert (one.certainty, told(one.statement)["maker"]) == (Certainty.PROVEN, "unknown")


def test_copies_at_one_client_alone_are_likely_without_its_filters():
    (one,) = detect(facts(LEDGERS)).findings
    assert (one.certainty, one.measures["copies_per_message"]) == (Certainty.LIKELY, 2)


def test_another_number_of_filters_than_copies_is_likely_only():
    three = subscribed("billing", "grid/+/power", "grid/n1/#", "grid/#")
    (one,) = detect(facts(LEDGERS, three)).findings
    assert one.certainty is Certainty.LIKELY


HALF = (
    ledger("billing", "10:01:00 125 25 0.002 0 0\n10:01:10 125 25 0.004 0 0\n10:01:20 100 0 0 0 0\n10:01:40 9 0 0 0 0"),
    ONCE,
    SENT,
    SINGLE,
)


def halved(doubled, single):
    """Messages of one topic: those that came twice, and those that came once."""
    return came(f"{doubled} billing:2 viewer:1\n{single} billing:1 viewer:1", topic="grid/n1/power", sender="meter")


@pytest.mark.parametrize("filters", [FILTERS, ()])
def test_copies_are_found_up_to_the_last_one_after_which_other_filters_stand(filters):
    mended = halved("10:01:02 10:01:18 50", "10:01:21 10:01:44 70")
    (one,) = detect(facts(HALF, mended, filters, ALLOWED)).findings
    assert (one.started_at.timestamp(), one.ended_at.timestamp(), one.ongoing) == (at(62), at(78), False)
    assert (one.measures["copied_messages"], one.measures["extra_copies"]) == (50, 50)


@pytest.mark.parametrize(
    "messages", [("10:01:02 10:01:40 50", "10:01:03 10:01:44 70"), ("10:01:02 10:01:03 6", "10:01:04 10:01:44 70")]
)
def test_copies_now_and_then_and_a_few_at_the_beginning_are_none(messages):
    assert detect(facts(HALF, halved(*messages), FILTERS, ALLOWED)).findings == ()


def test_copies_at_once_at_a_client_whose_filters_nobody_tells_are_never_clear():
    result = detect(facts(HALF, halved("10:01:02 10:01:40 50", "10:01:03 10:01:44 70"), ALLOWED))
    assert result.missing == (say("no-filters", clients=("received-billing",)),)


def test_a_trace_alone_shows_the_copies():
    trace = [*traced("grid/n1/power", 50, billing=100, viewer=50), *traced("grid/n2/power", 90, billing=90, viewer=90)]
    (one,) = detect(facts(trace, FILTERS)).findings
    assert (one.certainty, one.measures["extra_copies"]) == (Certainty.PROVEN, 50)


def test_filters_that_overlap_without_copies_are_rejected():
    once = ledger("billing", "10:01:00 100 0 0 0 0\n10:01:10 100 0 0 0 0")
    messages = came("10:01:00 10:01:19 200 billing:1 viewer:1", topic="grid/n1/power", sender="meter")
    result = detect(facts(once, ONCE, SENT, messages, FILTERS))
    assert result.findings == ()
    filters = ("grid/+/power", "grid/n1/#")
    assert result.rejected == say("no-copies", client="billing", filters=filters, once=200)
    again = ledger("billing", "10:01:00 100 0 0 0 0\n10:01:10 100 5 5 0 5")
    resent = detect(facts(again, ONCE, SENT, messages, FILTERS))
    assert resent.rejected == say("no-copies", client="billing", filters=filters, once=None)
    assert detect(facts(ONCE, SENT, FILTERS)).missing == (say("no-ids"),), "only another client's messages are known"


def test_filters_of_a_share_group_beside_another_one_do_not_count():
    shared = subscribed("billing", "grid/+/power", "$share/g/grid/n1/#")
    assert detect(facts(ONCE, SENT, shared)).rejected is None


@pytest.mark.parametrize("flag", ["dup", "retained"])
def test_copies_with_a_flag_are_none(flag):
    assert detect(facts([replace(r, **{flag: r.again}) for r in TWICE], LEDGERS[1:])).findings == ()


def test_copies_that_come_later_are_none():
    late = ledger("billing", "10:01:00 125 25 5 0 0\n10:01:10 125 25 9 0 0")
    assert detect(facts(late, LEDGERS[1:], FILTERS)).findings == ()


def test_a_client_that_takes_a_second_for_each_message_has_its_copies_a_second_apart():
    slow = ledger("billing", "10:01:00 5 2 2.5 0 0\n10:01:10 5 2 2.5 0 0")
    (one,) = detect(facts(slow, LEDGERS[1:], FILTERS)).findings
    assert one.certainty is Certainty.PROVEN


def test_a_message_now_and_then_that_came_twice_is_none():
    few = came("10:01:00 10:01:19 8 billing:2 viewer:1\n10:01:00 10:01:19 42 billing:1 viewer:1", topic="grid/n1/power")
    assert detect(facts(TWICE, ONCE, SENT, few, SINGLE, FILTERS)).findings == ()


def test_copies_that_every_receiver_gets_are_not_this_clients():
    both = ledger("viewer", "10:01:00 125 25 0.002 0 0")
    messages = came("10:01:00 10:01:19 50 billing:2 viewer:2", topic="grid/n1/power", sender="meter")
    assert detect(facts(TWICE, both, SENT, messages)).findings == ()


def test_copies_that_the_publisher_sent_are_not_the_subscriptions():
    again = ledger("meter", "10:01:00 125 25 0.01 0 0", role="sent")
    assert detect(facts(TWICE, ONCE, again, DOUBLED, SINGLE, FILTERS)).findings == ()


def test_an_echo_over_a_bridge_that_one_broker_alone_gets_is_none():
    bridge = settings("at owner key value\n- - bridge to-west", "configs/mosquitto.conf", scope="broker")
    assert detect(facts(LEDGERS, bridge)).findings == ()


def test_a_consumer_behind_a_bridge_that_gets_all_twice_is_none():
    kafka = log("logs/server.log", "kafka-broker-log")
    assert detect(facts(LEDGERS, kafka)).findings == ()


def test_a_few_messages_in_a_trace_are_none():
    assert detect(facts(traced("grid/n1/power", 4, billing=8, viewer=4), FILTERS)).findings == ()


def test_without_messages_it_is_not_checked():
    assert detect(facts(FILTERS)).missing == (say("no-ids"),)


def test_without_messages_filters_that_do_not_overlap_are_clear_where_the_broker_tells_who_subscribes():
    apart = (subscribed("billing", "grid/n1/power"), subscribed("viewer", "grid/#"))
    silent = episode("client-connected", 0, "logs/other.log", client_id="meter", system="mqtt", reason="clean")
    assert detect(facts(apart)) == CLEAR
    assert detect(facts(apart, silent)).missing == (say("no-ids"),)


def test_topics_that_more_filters_match_come_more_often():
    thrice = came("10:01:00 10:01:19 50 billing:3 viewer:1", topic="grid/n3/power", sender="meter")
    more = ledger("billing", "10:01:00 175 75 0.002 0 0\n10:01:10 175 75 0.004 0 0")
    filters = subscribed("billing", "grid/+/power", "grid/n1/#", "grid/n3/#", "grid/#")
    (one,) = detect(facts(more, ONCE, SENT, DOUBLED, thrice, SINGLE, filters)).findings
    shown = {"topics": ["grid/n1/power", "grid/n3/power"], "least": 2, "most": 3, "filters": 4, "even": True}
    assert told(one.statement).items() >= shown.items()
    names = ("copies_per_message", "copies_per_message_low", "copies_per_message_high")
    assert [one.measures[name] for name in names] == [2.5, 2, 3]


def test_a_few_messages_that_came_once_are_not_told_as_copied():
    most = came("10:01:00 10:01:19 99 billing:2 viewer:1", topic="grid/n1/power", sender="meter")
    few = came("10:01:00 10:01:19 1 billing:1 viewer:1", topic="grid/n1/power", sender="meter")
    (one,) = detect(facts(TWICE, ONCE, SENT, most, few, SINGLE, FILTERS)).findings
    assert (told(one.statement)["most"], "even" in told(one.statement)) == (2, False)
