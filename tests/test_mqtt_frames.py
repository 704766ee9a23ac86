"""Tables of MQTT connections and sessions."""

from facts_builder import facts
from mqtt_builder import broker

from mqlab.views.mqtt_tables import away, peers

LOG = """
10:00:00 pump connected 10.0.0.7:1001 k30 c0
10:00:40 pump keep-alive
10:01:00 pump connected 10.0.0.8:1002 k30 c0
10:02:00 pump normal
10:02:30 tap connected 10.0.0.9:1003 k60 c1
"""


def test_each_client_id_has_a_row_with_its_peers_and_how_its_connections_ended():
    assert peers(facts(broker(LOG))).reset_index().values.tolist() == [
        ["pump", "mosquitto", 2, 2, 2, "50.0 s", "20 %", "keep-alive 1, normal 1", "30.0 s", "persistent"],
        ["tap", "mosquitto", 1, 1, 1, "", "", "", "60.0 s", "clean"],
    ]


def test_sessions_of_clients_that_are_away_have_a_row():
    assert away(facts(broker(LOG))).reset_index().values.tolist() == [
        ["pump", "mosquitto", "10:02:00", "normal", "", "", "logs/mosquitto.log:4"]
    ]


def test_without_material_the_tables_are_empty():
    assert (len(peers(facts())), len(away(facts()))) == (0, 0)
