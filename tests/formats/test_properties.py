"""Properties files of brokers, clients and applications."""

import pytest

from mqlab.formats import properties as loader
from mqlab.formats.base import Head
from mqlab.tables import EVENTS, SETTINGS

CONSUMER = r"""
# after the incident
! really
[section]
bootstrap.servers=kafka-1:9092
group.id = ner-indexer
max.poll.records: 50
client.id indexer-1
sasl.jaas.config=org.apache.Plain required \
    user="a" \
    other="b=c";
log=C:\\logs\\
empty=
???"""


def test_pairs_of_every_notation_are_settings(loaded):
    assert loaded(loader, SETTINGS, "line at scope owner key value origin", CONSUMER) == [
        (4, None, "consumer", "indexer-1", "bootstrap.servers", "kafka-1:9092", "file"),
        (5, None, "consumer", "indexer-1", "group.id", "ner-indexer", "file"),
        (6, None, "consumer", "indexer-1", "max.poll.records", "50", "file"),
        (7, None, "consumer", "indexer-1", "client.id", "indexer-1", "file"),
        (8, None, "consumer", "indexer-1", "sasl.jaas.config",
         'org.apache.Plain required user="a" other="b=c";', "file"),
        (11, None, "consumer", "indexer-1", "log", "C:\\logs\\", "file"),
        (12, None, "consumer", "indexer-1", "empty", "", "file"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (r"PLAINTEXT\://h\:9092", "PLAINTEXT://h:9092"),
        (r"\u00fcber", "über"),
        (r"C:\users", r"C:\users"),
        (r"C:\new", r"C:\new"),
        (r"\ud800", r"\ud800"),
    ],
)
def test_escapes_mean_what_java_reads_where_that_can_be_shown(loaded, written, meant):
    assert loaded(loader, SETTINGS, "value", f"key={written}") == [(meant,)]


@pytest.mark.parametrize(
    ("text", "scope", "owner"),
    [
        ("broker.id=1\nlog.dirs=/d\nnum.partitions=3", "broker", "1"),
        ("node.id=7\nprocess.roles=broker", "broker", "7"),
        ("brokerClusterName = c\nbrokerName = broker-a\nfileReservedTime = 48", "broker", "broker-a"),
        ("acks=all\nclient.id=doc-feeder", "producer", "doc-feeder"),
        ("acks=all\ngroup.id=bridge", "application", "bridge"),
        ("cleanup.policy=delete\nretention.ms=5", "topic", None),
        ("topic=documents.raw\nrate=800", "application", None),
    ],
)
def test_the_keys_tell_whose_settings_they_are(loaded, text, scope, owner):
    assert set(loaded(loader, SETTINGS, "scope owner", text)) == {(scope, owner)}


def test_every_line_has_a_class(classes):
    assert classes(loader, CONSUMER) == ["noise"] * 3 + ["data"] * 9 + [None]
    assert classes(loader, "a=1,\\\n  2,\\\n  3\n???\\\n!") == ["data"] * 3 + [None, "noise"]
    assert classes(loader, "====127.0.0.1:10911====\nbrokerId = 0") == ["noise", "data"]


def test_what_a_tool_complains_of_is_an_event(loaded, classes):
    text = "cat: /etc/kafka/server.properties: No such file or directory\nbroker.id=1\n"
    assert loaded(loader, EVENTS, "line kind", text) == [(1, "tool-error")]
    assert classes(loader, text) == ["data", "data", "noise"]


def test_hostile_lines_cost_little(classes):
    for text in ("a=" + " " * 100_000 + "x", "a" * 100_000, "a=" + "\\" * 100_001, "[" * 100_000, "=" * 100_000):
        assert len(classes(loader, text)) == 1


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("server.properties.after-restart", CONSUMER.rsplit("\n", 1)[0]),
        ("broker.conf", "brokerClusterName = C\nbrokerId: 0\n"),
        ("tuned", "mapedFileSizeCommitLog=1073741824\n"),
        ("log4j", "level=INFO\ntime=2026-03-09 11:00\nmsg=%m from host=%h\n"),
        ("typed", "$ cat env\nKAFKA_LOG_DIRS=/d\n"),
        ("env", "KAFKA_HEAP_OPTS=-Xmx1g\nKAFKA_LOG_DIRS=/d\n"),
    ],
)
def test_files_of_pairs_are_recognised(name, text):
    assert loader.recognise(Head(name, text, len(text)))


@pytest.mark.parametrize(
    "text",
    [
        "level=info ts=2024-10-24T10:00:00Z msg=started\nlevel=info ts=2024-10-24T10:00:01Z msg=ready\n",
        'ts=2026-03-09T11:00:00Z level=error caller=till.go:88 msg="drawer is stuck" drawer=4\n',
        'time="2026-03-09 11:00:00" level=error msg="drawer is stuck"\n',
        'level=error msg="drawer is stuck" drawer=4\n',
        "lvl=eror t=2026-03-09T11:00:00+0100 drawer=4\n",
        "$ openssl x509 -noout -dates\nnotBefore=Mar  9 00:00:00 2024 GMT\nnotAfter=Mar  9 00:00:00 2026 GMT\n",
        "[2024-10-24 10:00:00,000] INFO a=b (x)\n",
        "2024-10-24 10:00:00 rate=5\n",
        "ts,id,topic\n1,2,a=b\n",
        "bootTimestamp                   : 1795265959555\nbrokerVersion : 401\n",
        "pid_file /run/mosquitto.pid\npersistence true\n",
        "global:\n  scrape_interval: 5s\n",
        '{"a":"b=c"}\n',
    ],
)
def test_logs_tables_and_outputs_are_not_recognised(text):
    assert not loader.recognise(Head("x", text, len(text)))
