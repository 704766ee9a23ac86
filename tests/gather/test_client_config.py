"""Properties of a client with Java's or librdkafka's names."""

import pytest

from mqlab.gather.client_config import ClientConfigError, client_config

PATIENT = {"reconnect.backoff.ms": "3000", "reconnect.backoff.max.ms": "10000"}
OURS = {"client.id": "mqlab-capture", "enable.sparse.connections": "false", "metadata.recovery.strategy": "none"}
OURS |= PATIENT
KAFKA = "org.apache.kafka.common.security"
CASES = {
    "librdkafka's own names": (
        "bootstrap.servers=k:9092\nsasl.username=u\nsasl.password=p\nssl.ca.location=/ca.pem\n",
        {"bootstrap.servers": "k:9092", "sasl.username": "u", "sasl.password": "p", "ssl.ca.location": "/ca.pem"},
    ),
    "PLAIN of Java": (
        f'bootstrap.servers=k:9092\nsasl.mechanism=PLAIN\nsasl.jaas.config={KAFKA}.plain.PlainLoginModule required \\\n'
        '  username="u" password="a\\\\"b;c";\n',
        {"bootstrap.servers": "k:9092", "sasl.mechanism": "PLAIN", "sasl.username": "u", "sasl.password": 'a"b;c'},
    ),
    "SCRAM of Java over TLS": (
        f"bootstrap.servers=k:9092\nsecurity.protocol=SASL_SSL\nssl.truststore.type=PEM\nssl.truststore.location=/ca.pem\n"
        f"ssl.endpoint.identification.algorithm=\nsasl.jaas.config={KAFKA}.scram.ScramLoginModule required username=u "
        "password='p';\n",
        {"bootstrap.servers": "k:9092", "security.protocol": "SASL_SSL", "ssl.ca.location": "/ca.pem",
         "ssl.endpoint.identification.algorithm": "none", "sasl.username": "u", "sasl.password": "p"},
    ),
    "OAuth of Java": (
        "bootstrap.servers=k:9092\nsasl.oauthbearer.token.endpoint.url=https://i/t\nsasl.jaas.config="
        f'{KAFKA}.oauthbearer.OAuthBearerLoginModule required clientId="c" clientSecret="s";\n',
        {"bootstrap.servers": "k:9092", "sasl.oauthbearer.token.endpoint.url": "https://i/t",
         "sasl.oauthbearer.client.id": "c", "sasl.oauthbearer.client.secret": "s", "sasl.oauthbearer.method": "oidc"},
    ),
    "Kerberos of Java": (
        "bootstrap.servers=k:9092\nsasl.jaas.config=com.sun.security.auth.module.Krb5LoginModule required "
        'keyTab="/k.keytab" principal="g@EAST" serviceName="kafka";\n',
        {"bootstrap.servers": "k:9092", "sasl.kerberos.keytab": "/k.keytab", "sasl.kerberos.principal": "g@EAST",
         "sasl.kerberos.service.name": "kafka"},
    ),
    "a certificate of the client": (
        "bootstrap.servers=k:9092\nssl.keystore.type=PKCS12\nssl.keystore.location=/c.p12\nssl.keystore.password=p\n",
        {"bootstrap.servers": "k:9092", "ssl.keystore.location": "/c.p12", "ssl.keystore.password": "p"},
    ),
    "one in PEM": (
        "bootstrap.servers=k:9092\nssl.keystore.type=PEM\nssl.keystore.location=/c.pem\n",
        {"bootstrap.servers": "k:9092", "ssl.certificate.location": "/c.pem", "ssl.key.location": "/c.pem"},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), CASES.values(), ids=CASES)
def test_a_connection_is_what_librdkafka_calls_it(tmp_path, text, expected):
    (tmp_path / "client.properties").write_text(text)
    found, unused = client_config(tmp_path / "client.properties", None)
    assert (found, unused) == (expected | OURS, [])


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ({}, PATIENT),
        (
            {"reconnect.backoff.ms": "1", "reconnect.backoff.max.ms": "1"},
            PATIENT | {"reconnect.backoff.max.ms": "3000"},
        ),
        ({"reconnect.backoff.ms": "-5"}, PATIENT),
        ({"reconnect.backoff.ms": "60000"}, dict.fromkeys(PATIENT, "60000")),
        ({"reconnect.backoff.max.ms": "90000"}, PATIENT | {"reconnect.backoff.max.ms": "90000"}),
    ],
)
def test_a_broker_is_tried_again_after_three_seconds_or_what_the_user_wants_beyond(tmp_path, told, expected):
    (tmp_path / "client.properties").write_text("".join(f"{key}={value}\n" for key, value in told.items()))
    found, _ = client_config(tmp_path / "client.properties", "a:1")
    assert {key: found[key] for key in PATIENT} == expected


def test_what_makes_librdkafka_forget_when_it_tried_is_never_taken_from_the_user(tmp_path):
    text = "enable.sparse.connections=true\nmetadata.recovery.strategy=rebootstrap\nmetadata.broker.list=a:1\n"
    (tmp_path / "client.properties").write_text(text)
    assert client_config(tmp_path / "client.properties", None)[0] == {"bootstrap.servers": "a:1"} | OURS


def test_what_commits_joins_or_loads_is_left_out_and_told(tmp_path):
    file = tmp_path / "client.properties"
    file.write_text("group.id=billing\nenable.auto.commit=true\nplugin.library.paths=x\nbootstrap.servers=a:1\n")
    found, unused = client_config(file, "b:2")
    assert found == {"bootstrap.servers": "b:2"} | OURS
    assert unused == ["enable.auto.commit", "group.id", "plugin.library.paths"]


@pytest.mark.parametrize(
    ("text", "because"),
    [
        ("", "bootstrap.servers is missing"),
        ("sasl.jaas.config=com.example.Own required;", "Own in sasl.jaas.config is not known"),
        ("sasl.client.callback.handler.class=software.amazon.msk.auth.iam.IAMClientCallbackHandler", "a Java class"),
        ("ssl.truststore.location=/t.jks", "keytool -list -rfc"),
        ("ssl.keystore.type=JKS\nssl.keystore.location=/k.jks", "keytool -importkeystore"),
        ("sasl.password=${file:/s:p}", "config provider"),
    ],
)
def test_what_librdkafka_has_not_is_an_error_that_says_what_to_do(tmp_path, text, because):
    (tmp_path / "client.properties").write_text(text)
    with pytest.raises(ClientConfigError, match=because):
        client_config(tmp_path / "client.properties", None)
