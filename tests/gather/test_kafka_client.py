"""A login that a broker refuses is tried once; a broker that is lost is tried again after more than two seconds."""

import json
import time
from contextlib import ExitStack

import pytest
from confluent_kafka import KafkaError
from kafka_refusing import Refusing

from mqlab.cli import commands
from mqlab.gather import kafka_client
from mqlab.gather.client_config import client_config
from mqlab.gather.kafka_client import Client, Entrance, check, refusal
from mqlab.gather.manifest import Manifest
from mqlab.gather.schedule import RefusedError

HOSTILE = (
    "reconnect.backoff.ms=1\nreconnect.backoff.max.ms=1\nretry.backoff.ms=1\nsocket.connection.setup.timeout.ms=1000\n"
)
NO_LOGS = {"log_level": "0"}
LOGIN = "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.username=gatherer\nsasl.password=wr0ng\n"


@pytest.fixture
def brokers():
    with ExitStack() as stack:
        yield [stack.enter_context(Refusing()) for _ in range(3)]


def test_a_wrong_password_is_shown_to_one_broker_once_and_the_rest_is_gathered(tmp_path, brokers, capsys):
    (tmp_path / "client.properties").write_text(LOGIN + HOSTILE)
    (tmp_path / "server.log").write_text("[2026-11-22 10:00:00,000] INFO up\n")
    words = ["--bootstrap", ",".join(one.address for one in brokers), "--config", str(tmp_path / "client.properties")]
    words += ["--files", str(tmp_path / "server.log"), "-o", str(tmp_path / "b"), "--interval", "1", "--duration", "3"]
    assert commands.main(["capture", "kafka", *words], standalone_mode=False) == 0
    assert [(one.connections, one.logins) for one in brokers] == [(1, 1), (0, 0), (0, 0)]
    (told,) = capsys.readouterr().err.splitlines()
    assert told == (
        f"mqlab: login failed once: at {brokers[0].address} (SASL authentication error: "
        "Invalid username or password); no broker of the cluster is asked again"
    )
    said = json.loads((tmp_path / "b/manifest.json").read_text())
    assert (said["state"], said["files"], "wr0ng" in json.dumps(said)) == ("complete", 1, False)


def test_a_broker_that_closes_every_connection_is_tried_after_more_than_two_seconds(tmp_path):
    (tmp_path / "client.properties").write_text(LOGIN + HOSTILE)
    with Refusing(closing=True) as broker:
        client = Client(client_config(tmp_path / "client.properties", broker.address)[0], lambda _: None)
        time.sleep(4)
        client.leave()
        assert 0 < broker.connections <= 2


def test_brokers_that_close_every_connection_are_left_alone_after_three_rounds(monkeypatch):
    monkeypatch.setattr(kafka_client, "BETWEEN_TRIES", 0)
    manifest = Manifest("kafka", {})
    with Refusing(closing=True) as broker:
        entrance = Entrance(client_config(None, broker.address)[0], lambda _: None)
        assert [entrance.client(manifest), entrance.client(manifest)] == [None, None]
        with pytest.raises(RefusedError, match=r"security\.protocol is wrong; the cluster is not asked again"):
            entrance.client(manifest)
        assert broker.connections == 3


def test_a_broker_that_is_not_there_is_no_refusal(monkeypatch):
    monkeypatch.setattr(kafka_client, "BETWEEN_TRIES", 0)
    manifest = Manifest("kafka", {})
    entrance = Entrance(client_config(None, "127.0.0.1:1")[0], lambda _: None)
    assert [entrance.client(manifest) for _ in range(4)] == [None] * 4
    assert manifest.questions["brokers to begin with"].failed == 4


def test_properties_are_checked_without_a_connection(tmp_path, brokers):
    (tmp_path / "client.properties").write_text(LOGIN)
    check(client_config(tmp_path / "client.properties", brokers[0].address)[0])
    time.sleep(0.2)
    assert brokers[0].connections == 0


@pytest.mark.parametrize(
    ("code", "said", "final"),
    [
        (KafkaError._AUTHENTICATION, "SASL authentication error", True),
        (KafkaError._SSL, "SSL handshake failed", True),
        (KafkaError._TRANSPORT, "Receive failed: tlsv13 alert certificate required: SSL alert number 116", True),
        (KafkaError._TRANSPORT, "error:0A000086:SSL routines::certificate verify failed", True),
        (KafkaError._TRANSPORT, "tlsv1 alert internal error: SSL alert number 80", False),
        (KafkaError._TRANSPORT, "Connect to ipv4#127.0.0.1:9092 failed: Connection refused", False),
        (KafkaError._ALL_BROKERS_DOWN, "1/1 brokers are down", False),
    ],
)
def test_what_only_a_change_of_credentials_mends_is_final(code, said, final):
    told = []
    client = Client({"bootstrap.servers": "", **NO_LOGS}, told.append)
    client._failed(KafkaError(code, said))
    client.leave()
    assert bool(told) is final


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        (
            "ssl://k:9093/bootstrap: SSL handshake failed: certificate required (after 5ms in state SSL_HANDSHAKE)",
            "at k:9093 (SSL handshake failed: certificate required); no broker of the cluster is asked again",
        ),
        (
            "Failed to acquire SASL OAUTHBEARER token: 401",
            "at the cluster (Failed to acquire SASL OAUTHBEARER token: 401); no broker of the cluster is asked again",
        ),
    ],
)
def test_a_refusal_names_the_broker_and_why(said, sentence):
    assert refusal(said) == sentence
