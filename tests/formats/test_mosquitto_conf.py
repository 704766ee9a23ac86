"""mosquitto.conf: one directive a line."""

from mqlab.formats import mosquitto_conf
from mqlab.formats.base import Head
from mqlab.tables import SETTINGS

CONF = """
# the broker at the plant
listener 1883
allow_anonymous true
log_timestamp_format %Y-%m-%dT%H:%M:%S
 max_queued_messages 10000
connection east-to-west
address mqtt-west:1883 mqtt-west-2:1883
topic sensors/# both 0
  try_private false
persistence true
connection <b>other</b>
clientid it's a bridge
use_username_as_clientid"""


def test_each_directive_is_a_setting_of_the_broker_or_of_one_of_its_bridges(loaded):
    assert loaded(mosquitto_conf, SETTINGS, "line owner key value", CONF) == [
        (2, None, "listener", "1883"),
        (3, None, "allow_anonymous", "true"),
        (4, None, "log_timestamp_format", "%Y-%m-%dT%H:%M:%S"),
        (5, None, "max_queued_messages", "10000"),
        (6, None, "bridge", "east-to-west"),
        (7, "east-to-west", "bridge.address", "mqtt-west:1883 mqtt-west-2:1883"),
        (8, "east-to-west", "bridge.topic", "sensors/# both 0"),
        (9, "east-to-west", "bridge.try_private", "false"),
        (10, None, "persistence", "true"),
        (11, None, "bridge", "<b>other</b>"),
        (12, "<b>other</b>", "bridge.clientid", "it's a bridge"),
        (13, None, "use_username_as_clientid", None),
    ]
    assert set(loaded(mosquitto_conf, SETTINGS, "scope origin at", CONF)) == {("broker", "file", None)}


def test_comments_are_noise_and_anything_else_is_not_understood(classes):
    assert classes(mosquitto_conf, "# x\nlistener 1883\n{nonsense}\n") == ["noise", "data", None, "noise"]


def test_only_a_file_of_directives_is_recognised():
    assert mosquitto_conf.recognise(Head("mosquitto.conf", CONF, len(CONF)))
    assert mosquitto_conf.recognise(Head("x.conf", "listener 1883\r\n# y\r\n", 20))
    assert not mosquitto_conf.recognise(Head("x.conf", "listener 1883\nsome sentence about log_type.\n", 40))
    assert not mosquitto_conf.recognise(Head("app.properties", "batch.size=1\nacks=all\n", 22))
    assert not mosquitto_conf.recognise(Head("redis.conf", "port 6379\ntimeout 0\n", 22))
    assert not mosquitto_conf.recognise(Head("empty.conf", "# listener 1883\n", 22))
