"""kafka-configs --describe, all versions."""

from mqlab.formats import kafka_configs_describe as loader
from mqlab.formats.base import Head
from mqlab.tables import EVENTS, SETTINGS

TEXT = """
All configs for topic plant-telemetry are:
  compression.type=producer sensitive=false synonyms={DEFAULT_CONFIG:compression.type=producer}
  max.message.bytes=524288 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:max.message.bytes=524288, DEFAULT_CONFIG:message.max.bytes=1048588}
  retention.ms=604800000 sensitive=false synonyms={}
Default configs for brokers in the cluster are:
  ssl.keystore.password=null sensitive=true synonyms={DYNAMIC_DEFAULT_BROKER_CONFIG:ssl.keystore.password=null}
Configs for topic 't' are retention.ms=1,cleanup.policy=compact,delete
Configs for topic:old are max.message.bytes=2
Quota configs for client-id 'x' are producer_byte_rate=1048576.0, consumer_byte_rate=5.0
Dynamic configs for broker 1 are:
Error while executing config command with args '--describe'
eh"""  # noqa: E501


def test_settings_belong_to_the_header_above(loaded):
    assert loaded(loader, SETTINGS, "line scope owner key value origin", TEXT) == [
        (2, "topic", "plant-telemetry", "compression.type", "producer", "default"),
        (3, "topic", "plant-telemetry", "max.message.bytes", "524288", "describe"),
        (4, "topic", "plant-telemetry", "retention.ms", "604800000", "default"),
        (6, "broker", None, "ssl.keystore.password", "null", "describe"),
        (7, "topic", "t", "retention.ms", "1", "describe"),
        (7, "topic", "t", "cleanup.policy", "compact,delete", "describe"),
        (8, "topic", "old", "max.message.bytes", "2", "describe"),
        (9, "client", "x", "producer_byte_rate", "1048576.0", "describe"),
        (9, "client", "x", "consumer_byte_rate", "5.0", "describe"),
    ]


def test_errors_become_events(loaded):
    assert loaded(loader, EVENTS, "line kind reason", TEXT) == [
        (11, "tool-error", "Error while executing config command with args '--describe'")
    ]


def test_every_line_has_a_class(classes):
    assert classes(loader, TEXT) == [
        "noise", "data", "data", "data", "noise", "data", "data", "data", "data", "noise", "data", None
    ]  # fmt: skip


def test_properties_are_not_recognised():
    assert loader.recognise(Head("x", "Dynamic configs for topic t are:\n", 33))
    assert not loader.recognise(Head("x", "max.message.bytes=1\nretention.ms=2\n", 34))


def test_a_log_that_quotes_an_entry_stays_a_log():
    entry = "  max.message.bytes=524288 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:max.message.bytes=524288}\n"
    for logged in (
        "2026-11-21 12:18:34,066 INFO  [main] ProducerConfig: ProducerConfig values:\n",
        "[2026-11-21 12:18:34,066] INFO [Producer clientId=app] Closing (org.apache.kafka.clients.Producer)\n",
    ):
        text = logged + entry + logged * 20
        assert not loader.recognise(Head("app.log", text, len(text)))
    assert loader.recognise(Head("x", "Sat Nov 21 12:00:00 UTC 2026\n" + entry, 200))
