"""Messages that a subscriber on a command line printed."""

from mqlab.formats import mqtt_subscriber as loader
from mqlab.formats.base import Head

TEXT = """
pi@station:~ $ mosquitto_sub -v -t "sensors/#"
sensors/hall/temp 21.5
sensors/hall/state {"on":true}
^C
pi@station:~ $ mosquitto_sub -v -t "application/#"
^C"""
JSON = 'zigbee/0x01 {"battery":97}\nzigbee/0x02 {"battery":90}\n'


def head(text):
    return Head("x", text, len(text))


def test_messages_are_data_and_all_around_them_noise(classes):
    assert classes(loader, TEXT) == ["noise", "data", "data", "noise", "noise", "noise"]


def test_a_transcript_is_told_by_its_command_and_messages_by_payloads_of_json():
    assert loader.recognise(head(TEXT))
    assert loader.recognise(head(JSON))


def test_paths_and_prose_are_no_messages():
    assert not loader.recognise(head("conf/server.properties changed\nlogs/server.log is empty\n"))
    assert not loader.recognise(head('{"topic":"a/b","payload":"1"}\n'))
    assert not loader.recognise(head("$ mosquitto_sub -v -t a/b\n"))
