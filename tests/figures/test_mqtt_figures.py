"""Connections and sessions of MQTT as drawn data."""

from facts_builder import at, facts, series
from mqtt_builder import broker, turns

from mqlab.figures.mqtt import bars_of, connection_lengths, length_counts, ping_pong, session_store
from mqlab.mqtt.connections import connections
from mqlab.mqtt.sessions import offline_sessions

QUARREL = turns("press", ["10.0.0.1", "10.0.0.2"], every=2.0, times=4)
ONE = """
10:00:00 pump connected 10.0.0.7:1001 k30 c0
10:00:45 pump keep-alive
10:01:00 pump connected 10.0.0.7:1002 k30 c0
10:01:45 pump keep-alive
10:02:00 tap connected 10.0.0.8:1003 k30 c1
10:07:00 tap normal
10:08:00 well connected 10.0.0.9:1004 k30 c1
"""


def test_connections_of_like_length_and_end_share_a_bar():
    told = connections(facts(broker(ONE)))
    assert {kind: count for (kind, _), count in length_counts(told).items()} == {"keep-alive": 2, "normal": 1}
    chart = connection_lengths(told)
    assert [(trace.name, sum(trace.y)) for trace in chart.data] == [
        ("disconnected by the client", 1), ("nothing received for 1.5 × keep-alive", 2),
    ]  # fmt: skip


def test_without_an_end_there_is_no_length():
    chart = connection_lengths(connections(facts(broker("10:00:00 well connected 10.0.0.9:1004 k30 c1"))))
    assert "No MQTT connection" in chart.layout.annotations[0].text


def test_who_takes_turns_has_a_row_for_each_address():
    bars = bars_of("press", connections(facts(broker(QUARREL))))
    assert [(bar.lane, bar.kind, bar.since - at(0), round(bar.until - at(0), 1)) for bar in bars] == [
        ("10.0.0.1", "taken-over", 0, 2), ("10.0.0.2", "taken-over", 2, 4), ("10.0.0.1", "taken-over", 4, 6),
        ("10.0.0.2", "taken-over", 6, 8), ("10.0.0.1", "open", 8, 8.3),
    ]  # fmt: skip


def test_behind_one_address_ports_have_rows():
    bars = bars_of("pump", connections(facts(broker(ONE))))
    assert [(bar.lane, bar.kind) for bar in bars] == [("10.0.0.7:1001", "keep-alive"), ("10.0.0.7:1002", "keep-alive")]


def test_names_from_the_material_are_shown_and_not_followed():
    told = connections(facts(broker("10:00:00 <b>x</b> connected 10.0.0.9:1004 k30 c1\n10:00:09 <b>x</b> closed")))
    assert ping_pong("<b>x</b>", told).layout.title.text == "&lt;b&gt;x&lt;/b&gt;"


def test_very_many_connections_are_not_all_drawn():
    told = connections(facts(broker(turns("press", ["10.0.0.1", "10.0.0.2"], every=1.0, times=700))))
    chart = ping_pong("press", told)
    assert chart.layout.title.text == "press: the first 500 of 701 connections"
    assert sum(len(trace.x) for trace in chart.data) == 1500


def test_what_waits_is_drawn_with_the_session_that_was_left_behind():
    rows = facts(
        broker("10:00:00 old connected 10.0.0.9:1004 k30 c0\n10:00:30 old normal\n10:02:00 tap connected 10.0.0.8:9"),
        series("mqtt.stored_messages", [40, 40, 60, 80], start=0), series("mqtt.publish_dropped", [0, 0, 0, 0]),
    )  # fmt: skip
    chart = session_store(rows, offline_sessions(rows))
    assert [trace.name or trace.hovertext[0] for trace in chart.data] == [
        "stored in all", "10:00:30 old disconnects, its session stays",
    ]  # fmt: skip


def test_without_samples_a_sentence_stands_there():
    assert "no samples" in session_store(facts(), ()).layout.annotations[0].text
