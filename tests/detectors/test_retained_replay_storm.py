"""Retained messages that come at every subscribe; and first subscribes, bursts and statistics, which are none."""

from dataclasses import replace

import pytest
from facts_builder import at, episode, facts, ramp, series
from mqtt_builder import broker, client
from mqtt_mail import came, ledger
from said import told

from mqlab.detectors.retained_replay_storm import detect, say
from mqlab.findings import CLEAR, Certainty, Severity
from mqlab.mqtt import redeliveries
from mqlab.units import Interval

RESTARTS = "\n".join(
    f"10:0{n}:05 panel connected 10.0.0.7:{4000 + n} k30 c1\n10:0{n}:55 panel normal" for n in range(6)
)
LOOP = broker(RESTARTS)
"""Six connects, a minute apart."""
REPLAYS = ledger(
    "panel",
    """
    10:00:00  20   0   0    0  0
    10:00:50  20   0   0    0  0
    10:01:00  120  80  45   0  100
    10:02:00  120  100 105  0  100
    10:03:00  120  100 165  0  100
    10:04:00  120  100 225  0  100
    10:05:00  120  100 285  0  100
    """,
)
TOPICS = tuple(came("10:00:00 10:04:00 6 panel:1", topic=f"twin/{n}") for n in range(100))


def test_retained_topics_times_subscribes_are_proven():
    (one,) = detect(facts(LOOP, REPLAYS, TOPICS)).findings
    assert (one.certainty, one.severity, one.subject) == (Certainty.PROVEN, Severity.CRITICAL, "panel")
    replays = {"subscribes": 5, "period": 60, "all": 100, "replayed_messages": 500, "live_messages": 90}
    assert told(one.statement) == {"subject": "panel", "end": redeliveries.say("cause", end="normal"), **replays}
    assert one.measures == {
        "subscribes": 5, "replayed_messages": 500, "retained_topics": 100,
        "live_messages": 90, "live_messages_low": 80, "live_messages_high": 100,
        "replay_factor": 590 / 90, "replay_factor_low": 6, "replay_factor_high": 7.25,
    }  # fmt: skip
    assert one.started_at.timestamp() == at("10:01:05")
    assert one.ongoing


@pytest.mark.parametrize(
    ("numbers", "stops", "end"),
    [
        ([1] * 6, range(6), "restarted"),
        ([1] * 6, range(5), "normal"),
        ([1, 2, 3, 4, 5, 6], (), "reconnects"),
        ([1, 2, 3, 1, 2, 3], (), "normal"),
        ([1] * 6, (), "normal"),
    ],
    ids=["it stops each time", "not each time", "one process", "two", "no stop is told"],
)
def test_the_client_s_own_log_tells_whether_it_is_restarted(numbers, stops, end):
    own = [
        (f"10:0{n}:05 made {number} tcp://mqtt:1883", f"10:0{n}:55 closed - normal") for n, number in enumerate(numbers)
    ]
    stopping = [episode("app-stopping", f"10:0{n}:54", "clients/panel.log", line=40 + n) for n in stops]
    log = client("\n".join(line for pair in own for line in pair), "panel")
    (one,) = detect(facts(LOOP, log, stopping, REPLAYS, TOPICS)).findings
    assert told(one.statement)["end"] == redeliveries.say("cause", end=end)


def test_a_connection_that_lives_longer_than_any_before_has_stopped_the_storm():
    calm = ledger("panel", "10:06:00 20 0 0 0 0\n10:06:10 20 0 0 0 0")
    (one,) = detect(facts(LOOP, REPLAYS, TOPICS, calm)).findings
    assert (one.ongoing, one.ended_at.timestamp()) == (False, at("10:05:05"))


def test_a_calm_time_before_the_storm_does_not_keep_it_open():
    late = broker(RESTARTS.replace("10:00:05 panel connected", "09:50:05 panel connected"))
    calm = ledger("panel", "10:06:00 20 0 0 0 0\n10:06:10 20 0 0 0 0")
    (one,) = detect(facts(late, REPLAYS, TOPICS, calm)).findings
    assert not one.ongoing


def test_the_row_that_stands_for_the_replay_is_a_retained_one():
    rows = tuple(replace(r, retained_line=r.line + 7 if r.retained else None, retained_text="r") for r in REPLAYS)
    (one,) = detect(facts(LOOP, rows, TOPICS)).findings
    cited = next(e for e in one.evidence if "received-panel" in e.source)
    assert cited.line == next(r.retained_line for r in rows if r.at >= at("10:01:05"))


def test_ten_seconds_that_begin_with_the_subscribe_leave_no_doubt_of_what_came_after_it():
    whole = broker(RESTARTS.replace(":05 panel connected", ":00 panel connected"))
    (one,) = detect(facts(whole, REPLAYS, TOPICS)).findings
    assert (one.measures["live_messages"], "live_messages_low" in one.measures) == (100, False)


def test_another_number_of_rows_than_topics_times_subscribes_is_likely():
    few = tuple(came("10:00:00 10:04:00 6 panel:1", topic=f"twin/{n}") for n in range(30))
    (one,) = detect(facts(LOOP, REPLAYS, few)).findings
    assert one.certainty is Certainty.LIKELY
    shown = told(one.statement)
    assert ("all" in shown, shown["about"]) == (False, 100)


def test_what_the_broker_keeps_tells_the_topics_too():
    kept = series("mqtt.retained_messages", [100, 100], source="metrics/sys.log")
    (one,) = detect(facts(LOOP, REPLAYS, kept)).findings
    assert one.certainty is Certainty.PROVEN


def trace(client, *clocks, topics=20, flag="retained", live=1):
    """A trace in which *client* gets retained messages at these moments, and live ones a minute."""
    line = {"source": "logs/mosquitto.log", "system": "mqtt", "client_id": client}
    kept = [episode("publish-sent", c, topic=f"t/{n}", reason=flag, **line) for c in clocks for n in range(topics)]
    return [*kept, *(episode("publish-sent", 60 * n + 30, topic="t/0", count=live, **line) for n in range(6))]


def test_a_trace_shows_the_replays_without_a_ledger():
    (one,) = detect(facts(LOOP, trace("panel", 5, 65, 125, 185, 245, 305))).findings
    assert (one.certainty, one.measures["replayed_messages"]) == (Certainty.PROVEN, 100)


def test_counters_alone_make_it_likely():
    sent = series("mqtt.publish_sent", ramp((7, 10), (30, 100)), source="metrics/sys.log")
    kept = series("mqtt.retained_messages", [600, 600], source="metrics/sys.log")
    taken = series("mqtt.messages_received", ramp((37, 10)), source="metrics/sys.log")
    (one,) = detect(facts(LOOP, sent, kept, taken)).findings
    assert (one.certainty, one.severity) == (Certainty.LIKELY, Severity.WARNING)
    assert one.measures["replayed_messages"] == 2700


def test_a_burst_of_real_traffic_while_a_client_comes_back_is_none():
    sent = series("mqtt.publish_sent", ramp((7, 10), (30, 100)), source="metrics/sys.log")
    kept = series("mqtt.retained_messages", [600, 600], source="metrics/sys.log")
    taken = series("mqtt.messages_received", ramp((7, 10), (30, 100)), source="metrics/sys.log")
    assert detect(facts(LOOP, sent, kept, taken)).findings == ()


def test_the_first_subscribe_of_a_client_is_none():
    once = broker("10:00:05 panel connected 10.0.0.7:4001 k30 c1")
    first = ledger("panel", "10:00:00 500 0 0 0 500\n10:00:10 20 0 0 0 0")
    assert detect(facts(once, first, TOPICS)).findings == ()


def test_one_reconnect_is_rejected():
    twice = broker("10:00:05 panel connected 10.0.0.7:4001 k30 c1\n10:01:05 panel connected 10.0.0.7:4002 k30 c1")
    result = detect(facts(twice, REPLAYS[:3], TOPICS))
    small = say("small", client="panel", retained=100, subscribes=1, live=Interval(0, 10, 20))
    assert (result.findings, result.rejected) == ((), small)


def test_few_retained_messages_beside_many_live_ones_are_rejected():
    few = ledger("panel", "\n".join(f"10:0{n}:00 120 0 0 0 2" for n in range(6)))
    result = detect(facts(LOOP, few))
    small = say("small", client="panel", retained=10, subscribes=5, live=Interval(472, 531, 590))
    assert (result.findings, result.rejected) == ((), small)


def test_many_clients_that_come_back_once_each_are_none():
    rows = "\n".join(f"10:0{m}:05 node-{n} connected 10.0.0.{n}:400{m} k30 c1" for m in range(2) for n in range(1, 9))
    ledgers = [ledger(f"node-{n}", "10:00:00 50 0 0 0 50\n10:01:00 50 50 60 0 50") for n in range(1, 9)]
    assert detect(facts(broker(rows), ledgers, TOPICS)).findings == ()


def test_messages_again_without_the_retain_flag_are_none():
    live = ledger("panel", "\n".join(f"10:0{n}:00 120 {100 * bool(n)} {60 * n} 100 0" for n in range(6)))
    result = detect(facts(LOOP, live))
    assert (result.findings, result.rejected, result.missing) == ((), None, ())


def test_a_monitor_that_reads_the_brokers_statistics_again_and_again_is_none():
    line = {"source": "logs/mosquitto.log", "system": "mqtt", "client_id": "panel", "reason": "retained"}
    lines = [episode("publish-sent", 60 * n + 5, topic="$SYS/broker/uptime", count=53, **line) for n in range(6)]
    assert detect(facts(LOOP, lines)).findings == ()


def test_replays_to_a_receiver_of_which_no_subscribe_is_known_are_not_checked():
    other = broker("10:00:05 hall connected 10.0.0.9:4001 k30 c1")
    assert detect(facts(other, REPLAYS)).missing == (say("no-subscribes", client="received-panel"),)


def test_few_subscribes_are_clear_where_the_broker_tells_of_all():
    once = episode("client-subscribed", 6, "logs/mosquitto.log", client_id="panel", topic="hall/#", system="mqtt")
    few = broker("10:00:05 panel connected 10.0.0.7:4001 k30 c1")
    assert detect(facts(few, once)) == CLEAR
    assert detect(facts(few)).missing == (say("no-material"),)
    assert detect(facts(LOOP, once)).missing == (say("no-count", client="panel"),)


def test_without_connects_it_is_not_checked():
    assert detect(facts(series("mqtt.publish_sent", [1, 2]))).missing == (say("no-material"),)


def test_after_takeovers_it_is_their_consequence():
    rows = [f"10:0{n}:05 panel connected 10.0.0.{1 + n % 2}:{4000 + n} k30 c1" for n in range(6)]
    turns = "\n".join(f"{row}\n10:0{n + 1}:05 panel taken-over" for n, row in enumerate(rows))
    (one,) = detect(facts(broker(turns), REPLAYS, TOPICS)).findings
    assert (one.certainty, one.severity) == (Certainty.PROVEN, Severity.WARNING)
    assert told(one.statement)["end"] == redeliveries.say("cause", end="taken-over")


def test_a_client_that_comes_back_often_and_of_which_nothing_counts_what_it_got_is_not_checked():
    other = ledger("wall", "10:00:00 20 0 0 0 0")
    result = detect(facts(LOOP, other))
    assert (result.findings, result.rejected) == ((), None)
    assert result.missing == (say("no-count", client="panel"),)
    assert result.seen is None
    subscribing = [
        episode("client-subscribed", 20 * n, client_id="panel", topic="hall/#", system="mqtt") for n in range(9)
    ]
    assert detect(facts(LOOP, other, *subscribing)).seen == say("often", client="panel")


def test_a_queue_that_overflows_meanwhile_did_not_get_all_of_them():
    full = broker("\n".join(f"10:0{n}:05 panel dropping" for n in range(6)), "logs/mosquitto.log", last="10:06:00")
    counted = series("mqtt.publish_dropped", ramp((6, 40)), step=60, source="metrics/sys.log")
    (one,) = detect(facts(LOOP, full, REPLAYS, TOPICS)).findings
    assert (told(one.statement)["full"], "all" in told(one.statement)) == (5, False)
    (one,) = detect(facts(LOOP, full, REPLAYS, TOPICS, counted)).findings
    assert one.measures["dropped_messages"] == 240
