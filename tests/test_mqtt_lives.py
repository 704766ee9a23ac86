"""Connections of MQTT clients and the sessions kept for them, from drawn logs."""

from __future__ import annotations

from facts_builder import at, episode, facts, log, series
from mqtt_builder import broker, client

from mqlab.facts import Facts
from mqlab.mqtt.brokers import broker_of, brokers
from mqlab.mqtt.connections import by_client, connections, resumed, told_by_clients
from mqlab.mqtt.sessions import offline_sessions
from mqlab.rows import Client


def told(material: Facts):
    """Client, peer, from, until and end of each connection, times in seconds since 10:00."""
    return [
        (c.client_id, c.peer, None if c.since is None else c.since - at(0), c.until and c.until - at(0), c.ended)
        for c in connections(material)
    ]


def test_a_connection_lasts_from_its_connect_to_its_end():
    log_of_it = broker("""
        10:00:00 press connected 10.0.0.1:1001 k30 c0 u=line
        10:00:50 press keep-alive
    """)
    (one,) = connections(facts(log_of_it))
    assert (one.seconds, one.ended, one.keep_alive, one.persistent) == (50.0, "keep-alive", 30.0, True)
    assert (one.user, one.address, one.broker, one.told_by) == ("line", "10.0.0.1", "mosquitto", "broker")
    assert (one.begin.line, one.end.line) == (1, 2)


def test_a_takeover_line_before_the_new_connect_ends_the_old_connection():
    taken = broker("""
        10:00:00 press connected 10.0.0.1:1001
        10:00:05 press taken-over
        10:00:05 press connected 10.0.0.2:1002
    """)
    assert told(facts(taken)) == [
        ("press", "10.0.0.1:1001", 0.0, 5.0, "taken-over"),
        ("press", "10.0.0.2:1002", 5.0, None, None),
    ]


def test_a_takeover_line_after_the_new_connect_ends_the_old_connection_too():
    taken = broker("""
        10:00:00 press connected 10.0.0.1:1001
        10:00:05 press connected 10.0.0.2:1002
        10:00:05 press taken-over
    """)
    assert [(end, how) for *_, end, how in told(facts(taken))] == [(5.0, "taken-over"), (None, None)]


def test_an_end_that_names_the_address_ends_that_connection():
    taken = broker("""
        10:00:00 press connected 10.0.0.1:1001
        10:00:05 press connected 10.0.0.2:1002
        10:00:06 - closed 10.0.0.2:1002
    """)
    assert [(end, how) for *_, end, how in told(facts(taken))] == [(5.0, None), (6.0, "closed")]


def test_an_end_of_another_address_or_of_none_that_is_open_ends_nothing():
    resumed = broker("""
        10:00:00 press connected 10.0.0.1:1001 k30 c0
        10:00:50 press normal 10.0.0.1:1001
        10:05:00 press taken-over 10.0.0.1:1001
        10:05:00 press connected 10.0.0.1:1002 k30 c0
        10:06:00 press taken-over (null):0
    """)
    assert [(end, how) for *_, end, how in told(facts(resumed))] == [(50.0, "normal"), (None, None)]


def test_an_end_that_tells_no_port_ends_the_connection_from_that_address():
    taken = broker("""
        10:00:00 press connected 10.0.0.1:1001
        10:00:05 press connected 10.0.0.2:1002
        10:00:06 press closed 10.0.0.2
    """)
    assert [(end, how) for *_, end, how in told(facts(taken))] == [(5.0, None), (6.0, "closed")]


def test_a_second_line_about_an_end_is_no_connection():
    twice = broker("""
        10:00:00 press connected 10.0.0.1:1001
        10:00:05 press kicked
        10:00:06 press closed
    """)
    assert told(facts(twice)) == [("press", "10.0.0.1:1001", 0.0, 5.0, "kicked")]


def test_an_end_without_a_begin_belongs_to_a_connection_from_before_the_log():
    assert told(facts(broker("10:00:05 press closed"))) == [("press", None, None, 5.0, "closed")]


def test_a_broker_that_stops_ends_every_connection():
    stopped = broker("""
        10:00:00 press connected 10.0.0.1:1001
        10:01:00 - stopping
        10:01:10 - starting
        10:01:12 press connected 10.0.0.1:1002
    """)
    assert [(end, how) for *_, end, how in told(facts(stopped))] == [(60.0, "broker-stopped"), (None, None)]


def test_a_broker_that_starts_without_having_stopped_ends_every_connection():
    died = broker("""
        10:00:00 press connected 10.0.0.1:1001
        10:01:10 - starting
    """)
    assert told(facts(died)) == [("press", "10.0.0.1:1001", 0.0, 70.0, "broker-restarted")]


def test_connections_of_one_id_at_two_brokers_are_apart():
    east = broker("10:00:00 press connected 10.0.0.1:1001", "logs/mosquitto-east.log")
    west = broker("10:00:05 press connected 10.0.0.1:1002", "logs/mosquitto-west.log")
    assert list(by_client(facts(east, west))) == [("mosquitto-east", "press"), ("mosquitto-west", "press")]
    assert [c.until for c in connections(facts(east, west))] == [None, None]


def test_parts_of_a_rotated_log_and_files_beside_it_are_one_broker():
    material = facts(
        broker("10:00:00 a connected 10.0.0.1:1", "node1/hivemq.log"),
        broker("10:00:00 a connected 10.0.0.1:1", "node1/event.log"),
        broker("10:00:00 a connected 10.0.0.1:1", "node1/event.log.1"),
        broker("10:00:00 a connected 10.0.0.1:1", "node2/hivemq.log"),
    )
    assert [(b.name, len(b.sources)) for b in brokers(material)] == [("node1/hivemq", 3), ("node2/hivemq", 1)]


def test_what_stands_beside_logs_belongs_to_the_broker_that_its_name_tells():
    two = facts(
        broker("10:00:00 a connected 10.0.0.1:1", "logs/mosquitto-east.log"),
        broker("10:00:00 a connected 10.0.0.1:1", "logs/mosquitto-west.log"),
    )
    asked = ("metrics/sys-topics-east.log", "configs/mosquitto-west.conf", "metrics/sys-topics.log")
    assert [broker_of(two, source) for source in asked] == ["mosquitto-east", "mosquitto-west", None]
    one = facts(broker("10:00:00 a connected 10.0.0.1:1"))
    assert broker_of(one, "metrics/sys-topics.log") == "mosquitto"


def test_statistics_alone_tell_of_a_broker_too():
    assert [b.sources for b in brokers(facts(series("mqtt.clients_total", [1], source="sys.log")))] == [("sys.log",)]


def test_lines_of_a_client_without_an_id_belong_to_the_only_one_that_its_log_names():
    own = (
        episode("client-configured", 0, "clients/a.log", client_id="press", left=30.0, reason="clean", system="mqtt"),
        client("10:00:01 made 1\n10:00:36 lost 35 EOF\n10:00:38 made 2", source="clients/a.log"),
    )
    first, second = connections(facts(own))
    assert (first.client_id, first.seconds, first.ended, first.keep_alive) == ("press", 35.0, "EOF", 30.0)
    assert (first.persistent, first.told_by, first.source, second.until) == (False, "client", "clients/a.log", None)


def test_lines_without_an_id_in_a_log_of_several_clients_are_nobodys():
    shared = [episode("client-configured", n, "clients/all.log", client_id=f"p{n}", system="mqtt") for n in (1, 2)]
    assert told_by_clients(facts(shared, client("10:00:05 made 1", source="clients/all.log"))) == ()


def test_library_and_application_tell_of_one_connection_in_a_line_each():
    own = client(
        "10:00:00 made 1\n10:00:00.01 made 1\n10:00:05 lost 5 EOF\n10:00:05.1 lost 5 EOF\n10:00:05.2 made 2", "press"
    )
    assert [(c.since, c.until) for c in told_by_clients(facts(own))] == [(at(0), at(5)), (at(5.2), None)]


def test_a_client_that_closes_its_connection_ends_it_in_order():
    (one,) = told_by_clients(facts(client("10:00:00 made 1\n10:00:05 closed", "press")))
    assert (one.until, one.ended) == (at(5), "normal")


def test_a_loss_tells_when_its_connection_began():
    (one,) = told_by_clients(facts(client("10:01:00 lost 35 EOF", "press")))
    assert (one.since, one.until, one.begin) == (at(25), at(60), None)


def test_what_clients_tell_is_left_out_where_a_broker_names_them():
    both = facts(
        broker("10:00:00 press connected 10.0.0.1:1001"),
        client("10:00:00 made 1", "press"),
        client("10:00:03 made 1", "drill"),
    )
    assert [(c.client_id, c.told_by) for c in connections(both)] == [("press", "broker"), ("drill", "client")]


AWAY = """
    10:00:00 press connected 10.0.0.1:1001 k30 c0
    10:00:50 press normal
"""


def test_a_persistent_client_that_left_has_a_session():
    (one,) = offline_sessions(facts(broker(AWAY)))
    assert (one.broker, one.client_id, one.since) == ("mosquitto", "press", at(50))
    assert [place.line for place in one.evidence] == [1, 2]


def test_a_client_that_came_back_or_was_clean_or_expired_has_none():
    back = AWAY + "10:02:00 press connected 10.0.0.1:1002 k30 c0"
    clean = AWAY + "10:02:00 press connected 10.0.0.1:1002 k30 c1\n10:03:00 press normal"
    expired = AWAY + "10:02:00 press expired"
    untold = AWAY.replace(" c0", "")
    assert [offline_sessions(facts(broker(text))) for text in (back, clean, expired, untold)] == [(), (), (), ()]


def test_a_session_of_an_earlier_expiry_is_kept():
    (one,) = offline_sessions(facts(broker("09:00:00 press expired" + AWAY)))
    assert one.since == at(50)


def test_a_broker_that_came_back_still_has_the_sessions_of_those_who_did_not():
    restarted = AWAY.replace("press normal", "- stopping") + "10:01:00 - starting"
    assert [o.since for o in offline_sessions(facts(broker(restarted)))] == [at(50)]
    assert offline_sessions(facts(broker(AWAY.replace("press normal", "- stopping")))) == ()


def snapshot(when, connected, clean="false", queued=None):
    return Client(
        at(when), "mqtt", None, "press", None, None, None, f"clients.{when}.txt", 3, f"press {connected}",
        connected=connected, clean=clean, queued=queued, dropped=0 if queued else None,
    )  # fmt: skip


def test_a_snapshot_tells_of_a_session_that_no_log_tells_of():
    (one,) = offline_sessions(facts(snapshot(0, "true"), snapshot(60, "false", queued=5), snapshot(90, "false")))
    assert (one.client_id, one.since, one.queued, one.connection) == ("press", at(60), None, None)
    assert offline_sessions(facts(snapshot(0, "false"), snapshot(60, "true"))) == ()
    assert offline_sessions(facts(snapshot(0, "false", clean="true"))) == ()


def test_a_log_that_sees_the_client_back_overrules_a_snapshot():
    back = broker("10:02:00 press connected 10.0.0.1:1002 k30 c0")
    assert offline_sessions(facts(snapshot(60, "false"), back)) == ()


def test_log_and_snapshot_of_one_session_are_one():
    (one,) = offline_sessions(facts(broker(AWAY), snapshot(60, "false", queued=7)))
    assert (one.since, one.queued, len(one.evidence)) == (at(50), 7, 3)


def test_a_log_without_times_tells_of_no_connection():
    nothing = episode("client-connected", None, "logs/mosquitto.log", client_id="press", system="mqtt")
    assert connections(facts(nothing, log("logs/mosquitto.log", "mosquitto-log"))) == ()


def resumes(text):
    """Numbers of the lines about takeovers that are none."""
    return sorted(line.first.line or 0 for line in resumed(facts(broker(text))))


def test_a_kept_session_that_is_used_again_long_after_its_connection_was_over_is_no_takeover():
    assert resumes("""
        10:00:00 press connected 10.0.0.1:1001 k30 c0
        10:00:50 press normal 10.0.0.1:1001
        10:05:00 press taken-over 10.0.0.1:1001
        10:05:00 press connected 10.0.0.1:1002 k30 c0
    """) == [3]


def test_a_kept_session_that_is_used_again_within_the_same_second_is_no_takeover():
    assert resumes("""
        10:00:50 press closed 10.0.0.1:1001
        10:00:50 press taken-over 10.0.0.1:1001
        10:00:50 press connected 10.0.0.1:1002 k30 c0
    """) == [2]


def test_sessions_that_a_broker_kept_while_it_was_down_are_used_again():
    assert resumes("""
        10:00:00 press connected 10.0.0.1:1001 k30 c0
        10:05:00 - starting
        10:05:01 press taken-over (null):0
        10:05:01 press connected 10.0.0.1:1002 k30 c0
    """) == [3]


def test_a_connection_that_is_open_is_taken_over_even_from_an_address_that_was_used_before():
    assert (
        resumes("""
        10:00:00 press connected 10.0.0.1:1001 k30 c0
        10:00:50 press normal 10.0.0.1:1001
        10:01:00 press connected 10.0.0.1:1001 k30 c0
        10:02:00 press taken-over 10.0.0.1:1001
        10:02:00 press connected 10.0.0.2:1002 k30 c0
        10:02:01 press taken-over 10.0.0.2:1002
        10:02:01 press connected 10.0.0.1:1003 k30 c0
    """)
        == []
    )


def test_a_takeover_of_a_connection_that_no_line_tells_of_is_not_called_a_session_that_is_used_again():
    lost = "10:00:00 press normal 10.0.0.1\n10:01:00 press taken-over 10.0.0.1\n10:01:00 press connected 10.0.0.1"
    assert resumes(lost) == []
    assert resumes("10:01:00 press taken-over 10.0.0.1:1001\n10:01:00 press connected 10.0.0.1:1002 c0") == []


def test_a_takeover_ends_a_connection_that_began_before_the_log():
    rest = "10:00:01 press connected 10.0.0.2:1002\n10:00:02 press taken-over\n10:00:02 press connected 10.0.0.1:1003"
    assert told(facts(broker(f"10:00:01 press taken-over\n{rest}"))) == [
        ("press", None, None, 1.0, "taken-over"),
        ("press", "10.0.0.2:1002", 1.0, 2.0, "taken-over"),
        ("press", "10.0.0.1:1003", 2.0, None, None),
    ]


def test_words_that_may_mean_a_session_that_is_used_again_tell_of_no_connection_before_the_log():
    again = episode(
        "session-takeover", 1, "logs/mosquitto.log", reason="session taken over", system="mqtt", client_id="press",
        peer="10.0.0.1:1001", line=1,
    )  # fmt: skip
    (one,) = connections(facts([again], broker("10:00:01 press connected 10.0.0.2:1002")))
    assert (one.since, one.ended) == (at(1), None)
