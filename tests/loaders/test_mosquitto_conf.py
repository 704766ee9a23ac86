"""mosquitto.conf: one directive a line."""

from mqlab.loaders import mosquitto_conf
from mqlab.loaders.base import Head
from mqlab.tables import SETTINGS

CONF = """
# the broker at the plant
listener 1883
allow_anonymous true
log_timestamp_format %Y-%m-%dT%H:%M:%S
max_queued_messages 10000"""


def test_each_directive_is_a_setting(loaded):
    assert loaded(mosquitto_conf, SETTINGS, "key value scope origin", CONF) == [
        ("listener", "1883", "application", "file"),
        ("allow_anonymous", "true", "application", "file"),
        ("log_timestamp_format", "%Y-%m-%dT%H:%M:%S", "application", "file"),
        ("max_queued_messages", "10000", "application", "file"),
    ]


def test_comments_are_noise_and_anything_else_is_not_understood(classes):
    assert classes(mosquitto_conf, "# x\nlistener 1883\n{nonsense}") == ["noise", "data", None]


def test_only_a_file_of_directives_is_recognised():
    assert mosquitto_conf.recognise(Head("mosquitto.conf", CONF, len(CONF)))
    assert not mosquitto_conf.recognise(Head("x.conf", "listener 1883\nsome sentence about log_type.\n", 40))
    assert not mosquitto_conf.recognise(Head("app.properties", "batch.size=1\nacks=all\n", 22))
