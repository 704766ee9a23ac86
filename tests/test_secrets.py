import json
from unittest.mock import patch

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqlab.secrets import mask, mask_all, nested

PEM_LINE = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7S3cr3tABCDEF"
SEEDED = [
    "ssl.keystore.password = {}",
    "clientId=10.0.0.1@AKabc|{}|orders|12, language=JAVA",
    "ssl.truststore.password={}",
    "\tssl.key.password = {}",
    "db.password: {}",
    "  password: pa\"ss{}'x}}y",
    "  passphrase = my own {}",
    '{{"user":"u","password":"{}","acks":"1"}}',
    '{{"password": "a\\"b{}", "x": 1}}',
    "{{'password': '{}', 'x': 1}}",
    '{{"log":"{{\\"password\\":\\"{}\\"}}"}}',
    "2026-11-21 12:00:00,123 INFO config {{acks=1, sasl.password={}, linger.ms=5}} (x.Y)",
    "acks=1,password={},linger.ms=5",
    "<password>{}</password>",
    '<property name="ssl.keystore.password" value="{}"/>',
    '<entry key="db.password">{}</entry>',
    '{{"name":"KAFKA_PASSWORD","value":"{}"}}',
    "kafka-tool --password {} --topic t",
    "kafka-tool --password={} --topic t",
    'kafka-tool --client-secret "a {} b" --topic t',
    "java -Djavax.net.ssl.trustStorePassword={} -Xmx1g kafka.Kafka",
    'KAFKA_OPTS="-Djavax.net.ssl.keyStorePassword={} -Dx=y"',
    "export SMTP_PASS={}",
    'KAFKA_CFG_SASL_JAAS_CONFIG=org.apache.PlainLoginModule required username="u" password="{}";',
    'sasl.jaas.config = org.apache.PlainLoginModule required username="{}" password="p";',
    '"sasl.jaas.config": "org.apache.PlainLoginModule required username=\\"u\\" password=\\"{};x\\";"',
    "listener.name.sasl_ssl.plain.sasl.jaas.config=org.apache.X required token={};",
    '   user_alice="{}";',
    "ssl.keystore.key=-----BEGIN ENCRYPTED PRIVATE KEY----- MII{} -----END ENCRYPTED PRIVATE KEY-----",
    "-----BEGIN RSA PRIVATE KEY-----\nMII{}\n-----END RSA PRIVATE KEY-----",
    "ssl.keystore.certificate.chain=-----BEGIN CERTIFICATE----- MII{}",
    "GET https://user:{}@host:8080/path failed",
    "mongodb://admin:{}@h1:27017,h2:27017/db",
    "amqp://guest:p@ss{}@rabbit/vhost",
    "redis://:{}@cache:6379/0",
    "jdbc:postgresql://db/x?user=u&password={}&ssl=true",
    "jdbc:oracle:thin:scott/{}@db:1521/orcl",
    "Authorization: Basic {}",
    'curl -H "Authorization: Bearer {}" http://x',
    "curl -s -u admin:{} http://x",
    "sent with bearer {}",
    "X-Api-Key: {}",
    "Set-Cookie: session={}; Path=/",
    "aws_secret_access_key = {}",
    "aws_access_key_id={}",
    "accessKey = {}",
    "secretKey      : {}",
    '"client_secret":"{}"',
    "sasl.oauthbearer.client.credentials.client.secret = {}",
    "https://x.blob.core.windows.net/c?sv=2020&sig={}&se=2027",
    "GET /x?X-Amz-Date=20261121T114200Z&X-Amz-Signature={} HTTP/1.1",
    "Endpoint=sb://x/;SharedAccessKeyName=Root;SharedAccessKey={};EntityPath=e",
    "refresh_token={}&grant_type=x",
    '{{"access_token": "{}"}}',
    "SCRAM-SHA-256=[iterations=8192,password={}]",
    "kafka-configs --alter --add-config 'SCRAM-SHA-512=[password={}]' --entity-type users",
    "config = {{SCRAM-SHA-256=salt={},stored_key=x,server_key=y,iterations=4096}}",
    "remote_password {}",
    "password_file {}",
    "mosquitto_sub -h x -u u -P {} -t t",
    "basic.auth.user.info=user:{}",
    "schema.registry.basic.auth.user.info = user:{}",
    "value.converter.basic.auth.user.info: user:{}",
    "delegation.token.master.key = {}",
    "password.encoder.secret={}",
    "spring.kafka.properties.sasl.credentials={}",
    "  ssl.key.password={} sensitive=true synonyms={{DYNAMIC_BROKER_CONFIG:ssl.key.password={}}}",
]
SHAPED = [
    ("token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl end", "eyJhbGci"),
    ("key AKIAIOSFODNN7EXAMPLE used", "IOSFODNN7EXAMPLE"),
    ("posted with xoxb-123456789012-abcdefghij", "abcdefghij"),
    ("git clone with ghp_0123456789abcdefghijABCDEFGHIJ012345", "abcdefghij"),
    (PEM_LINE, "S3cr3t"),
]
HARMLESS = [
    "\tbatch.size = 16384",
    "\tacks = -1",
    "\tkey.serializer = class org.apache.kafka.common.serialization.StringSerializer",
    "\tkey.deserializer = class org.apache.kafka.common.serialization.StringDeserializer",
    "\tmax.partition.fetch.bytes = 1048576",
    "\tsasl.login.callback.handler.class = null",
    "\tsasl.jaas.config = null",
    "\tsasl.jaas.config = [hidden]",
    "\tssl.keystore.password = null",
    "\tssl.truststore.password = ",
    "\tssl.keystore.location = /etc/kafka/keystore.jks",
    "\tdelegation.token.expiry.time.ms = 86400000",
    "\tdelegation.token.max.lifetime.ms = 604800000",
    "\tpassword.encoder.iterations = 4096",
    "\tpassword.encoder.cipher.algorithm = AES/CBC/PKCS5Padding",
    "\tpassword.encoder.key.length = 128",
    "\tsasl.oauthbearer.token.endpoint.url = http://idp:8080/token",
    "\tssl.client.auth = none",
    "  ssl.key.password=null sensitive=true synonyms={}",
    '{"password":null,"acks":"1"}',
    '{"password":"","acks":"1"}',
    '{"credentials":{"user":"u"}}',
    '{"tokens_never_completed": 9, "tokens": 5}',
    "broker=tcp://mqtt-1:21883 client@home",
    "bootstrap.servers = PLAINTEXT://kafka-1:9092,x@y",
    "1795261711: New client connected from 10.0.0.1:5000 as c1 (p2, c1, k60, u'bridge').",
    "[2026-11-21 12:00:00,123] INFO [Controller 1] expireDelegationTokens every 3600000 ms (org.apache.X)",
    "InitializeNewPublishers: initializing DelegationTokenPublisher controller id=1 with a snapshot",
    "Failed authentication with /10.0.0.1 (SSL handshake failed) (org.apache.kafka.common.network.Selector)",
    "subscription key=value keys=3 keepalive=60 user=bridge signal=9",
    "billing  orders  0  1042  1390  348  c-1-7f3a  /10.0.4.17  c-1",
    "sleep pass 3: 12 records passed, compass=north",
    "controller.quorum.voters = 1@kafka-1:9093,2@kafka-2:9093",
    "SharedAccessKeyName=Root",
]


def seeded():
    return [(text.replace("{{", "{").replace("}}", "}"), f"S3cr3t-{n}") for n, text in enumerate(SEEDED)]


LINES = [text.replace("{}", secret) for text, secret in seeded()]


@pytest.mark.parametrize(("text", "secret"), seeded())
def test_a_secret_does_not_survive(text, secret):
    hidden = mask(text.replace("{}", secret))

    assert secret not in hidden
    assert "[masked]" in hidden


@pytest.mark.parametrize(
    ("text", "secret"), [case for case in seeded() if "\n" not in case[0] and "my own" not in case[0]]
)
def test_a_collectors_json_around_a_secret_stays_whole(text, secret):
    hidden = mask(json.dumps({"log": text.replace("{}", secret) + "\n", "stream": "stdout", "time": "t"}))

    assert secret not in hidden
    assert json.loads(hidden).keys() == {"log", "stream", "time"}


@pytest.mark.parametrize(("text", "secret"), SHAPED)
def test_a_secret_known_by_its_shape_does_not_survive(text, secret):
    assert secret not in mask(text)


@pytest.mark.parametrize("text", HARMLESS)
def test_a_harmless_line_stays_as_it_is(text):
    assert mask(text) == text


def test_what_stands_beside_a_secret_stays():
    assert mask("acks=1,password=x,linger.ms=5") == "acks=1,password=[masked],linger.ms=5"
    assert mask('{"password":"x","acks":"1"}') == '{"password":"[masked]","acks":"1"}'
    assert (
        mask("config {acks=1, sasl.password=x, linger.ms=5}") == "config {acks=1, sasl.password=[masked], linger.ms=5}"
    )
    assert mask("jdbc:x://db/x?password=x&ssl=true") == "jdbc:x://db/x?password=[masked]&ssl=true"
    assert mask("tool --password x --topic t") == "tool --password [masked] --topic t"


def test_many_texts_are_masked_as_each_of_them_is():
    texts = [*LINES, *(text for text, _ in SHAPED), *HARMLESS, 'sasl.jaas.config = "' + "a\\b" * 20_000]
    assert mask_all(pl.Series(texts)).to_list() == [mask(text) for text in texts]
    assert mask_all(pl.Series(HARMLESS)).to_list() == HARMLESS
    assert mask_all(pl.Series([None, LINES[0]])).to_list() == [None, mask(LINES[0])]
    assert mask_all(pl.Series([], dtype=pl.String)).to_list() == []


@pytest.mark.parametrize("text", [*LINES, *(text for text, _ in SHAPED), *HARMLESS])
def test_masking_twice_changes_nothing(text):
    assert mask(mask(text)) == mask(text)


PIECES = [
    "password",
    "token",
    "=",
    ": ",
    '"',
    "'",
    " ",
    "x",
    "12",
    "[masked]",
    "\\",
    "{",
    "}",
    ",",
    "jaas.config",
    "://",
    "@",
    "Authorization: Bearer ",
    "SCRAM-SHA-256=",
    "\n",
    "null",
    ";",
    "<",
    ">",
    "name",
    "value",
    "--",
]


@given(st.lists(st.sampled_from(PIECES), max_size=25).map("".join))
def test_masking_is_idempotent_and_that_of_many_texts_at_once(text):
    hidden = mask(text)
    assert mask(hidden) == hidden
    assert mask_all(pl.Series([text, "", text])).to_list() == [hidden, "", hidden]
    assert mask_all(pl.Series([text, "y " * 3000])).to_list() == [hidden, "y " * 3000]


BRACKETED = [
    "password",
    "token",
    "x_",
    "=",
    ": ",
    '"',
    "'",
    "\\",
    " ",
    "\t" * 60,
    "[",
    "]",
    "{",
    "}",
    "{{",
    "[3]",
    "y,",
    "-" * 290,
]


@given(st.lists(st.sampled_from(BRACKETED), max_size=40).map("".join))
def test_what_stands_in_brackets_under_a_secret_name_is_found_wherever_in_a_text_that_is(text):
    with patch.object(nested, "_near_brackets", lambda text: [(0, len(text))]):
        whole = nested.lists_and_objects(text)
    assert nested.lists_and_objects(text) == whole


@pytest.mark.parametrize("piece", ["password", "secret.", "curl ", "-", '"', " ", "eyJ", "://a:"])
def test_a_secret_at_the_end_of_a_long_line_is_masked(piece):
    line = "key " + piece * (300_000 // len(piece)) + " --password S3cr3t-9"
    assert "S3cr3t-9" not in mask(line)


def test_the_payload_of_a_rocketmq_message_is_masked():
    line = "msgs=[MessageExt [queueId=5, body=[120, -1, 33], transactionId='null'}]]"
    assert mask(line) == "msgs=[MessageExt [queueId=5, body=[masked], transactionId='null'}]]"
    assert mask("cut: body=[120, 120, 1") == "cut: body=[masked]"


def test_the_secret_key_in_a_client_id_of_rocketmq_spring_is_masked():
    line = "clientId=10.0.0.1@AKabc|S3cr3t|orders|12, language=JAVA"
    assert mask(line) == "clientId=10.0.0.1@AKabc|[masked]|orders|12, language=JAVA"


def test_what_a_dump_prints_of_a_record_is_masked_and_offsets_are_not():
    record = "| offset: 5 CreateTime: 1795265755256 keySize: 2 valueSize: 9 headerKeys: [] key: 17 payload: name=Ann"
    commit = "| offset: 1 CreateTime: 1795262743796 key: offset_commit::group=g,partition=t-0 payload: offset=9"
    typed = 'offset: 1 CreateTime: 1795263301773 key: {"type":"1","data":{"group":"g"}} payload: {"data":{"offset":4}}'
    assert mask(record) == record.replace("name=Ann", "[masked]")
    assert (mask(commit), mask(typed)) == (commit, typed)
