"""What receivers note more than once."""

from facts_builder import at, episode, facts, log
from mqtt_mail import came, ledger

from mqlab.mqtt import copies as mqtt_copies
from mqlab.mqtt.copies import client_of, copies_by_topic, distinct, receivers, senders, worst

VIEWER = ledger(
    "viewer",
    """
    10:00:00  20  0  0    0  0
    10:00:10  30  9  4.5  2  3
    10:00:20  30  5  9.5  1  7
    """,
)
CAME = came("10:00:00 10:00:09 20 viewer:1\n10:00:10 10:00:19 3 viewer:4 hall:1\n10:00:20 10:00:29 5 hall:1")


def test_a_ledger_tells_rows_copies_and_flags_in_all():
    (one,) = receivers(facts(VIEWER))
    assert (one.source, one.client) == ("clients/received-viewer.csv", "received-viewer")
    assert (one.rows, one.again, one.dup, one.retained) == (80, 14, 3, 10)
    assert [r.at for r in one.copied()] == [at(10), at(20)]


def test_only_copies_beyond_the_flags_of_their_ten_seconds_are_certain_to_have_none():
    (one,) = receivers(facts(VIEWER))
    assert one.unflagged == 4


def test_ledgers_of_publishers_are_none_of_receivers():
    sent = ledger("meter", "10:00:00 20 0 0 0 0", role="sent")
    assert [one.source for one in senders(facts(sent, VIEWER))] == ["clients/published-meter.csv"]
    assert [one.source for one in receivers(facts(sent, VIEWER))] == ["clients/received-viewer.csv"]


def test_copies_are_counted_by_topic_and_ledger():
    known = facts(VIEWER, CAME)
    assert copies_by_topic(known, "clients/received-viewer.csv") == {"s/1": {1: 20, 4: 3}}
    assert copies_by_topic(known, "clients/received-hall.csv") == {"s/1": {1: 8}}
    assert distinct(known, "clients/received-viewer.csv") == 23


def test_the_message_that_came_most_often_is_told_with_its_publisher():
    copies, flow = worst(facts(VIEWER, CAME), "clients/received-viewer.csv")
    assert (copies, flow.messages, flow.sender) == (4, 3, "clients/published-sensor.csv")
    assert worst(facts(VIEWER), "clients/received-viewer.csv") == (0, None)


def test_a_ledger_is_the_clients_that_it_or_whose_log_it_is_named_after():
    by_log = episode("client-configured", 0, "clients/viewer.log", client_id="id-77", system="mqtt")
    connected = episode("client-connected", 0, "logs/mosquitto.log", client_id="app-1", system="mqtt")
    known = facts(by_log, connected)
    assert client_of(known, "clients/received-viewer.csv") == "id-77"
    assert client_of(known, "clients/app-1-received.csv") == "app-1"
    assert client_of(known, "clients/received-app-12.csv") is None
    assert client_of(known, "clients/reviewer.csv") is None


def test_the_longest_name_that_fits_is_the_clients():
    both = [episode("client-connected", 0, client_id=name) for name in ("edge", "my-edge")]
    assert client_of(facts(both), "clients/received-my-edge.csv") == "my-edge"


def test_the_first_copy_is_shown_where_it_stands():
    (one,) = receivers(facts(VIEWER))
    (place,) = mqtt_copies.first_copy(one, "again")
    assert (place.source, place.line, place.why) == ("clients/received-viewer.csv", 201, "again")
    assert mqtt_copies.first_copy(receivers(facts(VIEWER[:1]))[0], "again") == ()


def test_beside_another_system_only_ledgers_of_mqtt_clients_are_subscribers():
    consumer = ledger("etl", "10:00:00 20 0 0 0 0", role="consumed")
    known = [episode("client-connected", 0, client_id="viewer", system="mqtt"), VIEWER, consumer]
    alone, behind = facts(known), facts(known, log("logs/server.log", "kafka-broker-log"))
    assert [one.client for one in mqtt_copies.subscribers(alone)] == ["consumed-etl", "viewer"]
    assert [one.client for one in mqtt_copies.subscribers(behind)] == ["viewer"]
