# ruff: noqa: E501 - lines of brokers and clients stay in one piece
"""The table of known errors: each entry is whole, and its sample is known by it and by nothing else."""

import dataclasses
import re

import pytest
from log_lines import read

from mqlab.catalogue import INCIDENTS
from mqlab.detectors.known_errors import EXPLAINS
from mqlab.factors import factors
from mqlab.formats.signatures import SIGNATURES
from mqlab.known_errors import known_errors
from mqlab.tables import EVENTS
from mqlab.verbs.explaining import explained

each = pytest.mark.parametrize("error", known_errors().values(), ids=lambda error: error.name)
SYSTEMS = {"kafka", "rocketmq", "mqtt", "os"}


def test_it_holds_at_least_120_errors_of_all_classes_that_are_told_outright():
    assert len(known_errors()) >= 120
    assert {error.incident for error in known_errors().values()} >= set(EXPLAINS)
    assert {error.incident for error in known_errors().values() if not error.event} == set(EXPLAINS)


@each
def test_every_field_says_something(error):
    optional = {
        "begins",
        "contains",
        "needs",
        "now",
        "event",
        "where",
        "unless",
        "fatal",
        "vague",
        "again",
        "by_broker",
        "hints",
    }
    fields = {f.name for f in dataclasses.fields(error)} - optional
    assert {name for name in fields if not getattr(error, name)} == set()
    assert error.incident in INCIDENTS
    assert error.system in SYSTEMS
    assert [bool(error.begins), bool(error.contains), bool(error.event)].count(True) == 1


@each
def test_the_sample_is_known_as_this_error_and_no_other(error):
    _, events = read([error.sample], "mosquitto-log" if error.software == "mosquitto" else "application-log")
    assert [event["kind"] for event in events] == [error.kind]
    meant = [
        e.name for e in known_errors().values() if e.kind == error.kind and e.says(events[0]["reason"], error.sample)
    ]
    assert meant == [error.name]


@each
def test_its_groups_are_columns_and_its_words_are_rare(error):
    pattern = error.begins or error.contains
    named = {name.rstrip("0123456789") for name in re.compile(pattern).groupindex}
    assert named <= set(EVENTS.names) - {"source", "line", "text", "at", "system", "kind"}
    assert not pattern.startswith(".*")
    assert min(map(len, factors(pattern)), default=6) >= 6 or not pattern


@each
def test_a_pasted_line_is_explained_with_software_versions_causes_and_checks(error):
    page = explained(error.sample)
    assert explained(error.name) == error.page()
    assert page.endswith(error.page())
    assert all(words in page for words in (error.software, error.versions, error.causes[0], error.check, error.fix))


def test_every_event_that_an_entry_names_is_one_of_an_older_signature():
    older = {s.kind for s in SIGNATURES if not s.kind.startswith("error:")}
    assert {error.event for error in known_errors().values() if error.event} <= older


def test_what_an_older_signature_says_better_keeps_its_kind():
    lines = (
        "2026-03-02 09:00:00,000 ERROR [p] Sender - java.lang.OutOfMemoryError: Map failed",
        "2026-03-02 09:00:00,000 ERROR [main] Worker - record tills-3@17 failed: java.net.ConnectException: Connection refused",
    )
    assert [event["kind"] for event in read(lines, "application-log")[1]] == ["out-of-memory", "record-failed"]


@pytest.mark.parametrize(
    ("told", "name"),
    [
        ("Disconnected", "librdkafka-disconnected"),
        ("Receive failed: Disconnected", "librdkafka-disconnected"),
        ("Disconnected (after 12ms in state APIVERSION_QUERY)", "librdkafka-broker-failed"),
        ("Connection closed (after 3ms in state SSL_HANDSHAKE)", "librdkafka-broker-failed"),
    ],
)
def test_a_connection_that_was_closed_is_none_that_could_not_be_made(told, name):
    line = f"%3|1772439960.500|FAIL|till#consumer-1| [thrd:till-1:9092/1]: till-1:9092/1: {told}"
    assert [event["kind"] for event in read([line], "kafka-client-log")[1]] == [f"error:{name}"]


@pytest.mark.parametrize(
    ("reason", "name"),
    [
        ("Unexpected Kafka request of type API_VERSIONS during SASL handshake.", "kafka-no-sasl"),
        ("Authentication failed during authentication due to invalid credentials", "kafka-login-refused"),
        ("SSL handshake failed", "kafka-tls-login-failed"),
    ],
)
def test_who_speaks_no_sasl_has_no_wrong_password(reason, name):
    line = f"[2026-03-02 08:12:20,114] INFO [SocketServer brokerId=0] Failed authentication with /10.9.1.45 ({reason}) (o.a.k.Selector)"
    assert [event["kind"] for event in read([line], "kafka-broker-log")[1]] == [f"error:{name}"]


@pytest.mark.parametrize(
    ("node", "name"),
    [
        ("1 (localhost/127.0.0.1:9092)", "kafka-advertised-loopback"),
        ("2147483646 (broker-1/127.0.0.1:9092)", "kafka-advertised-loopback"),
        ("-1 (localhost/127.0.0.1:9092)", "kafka-node-unreachable"),
        ("1 (localhost-7/10.9.1.12:9092)", "kafka-node-unreachable"),
    ],
)
def test_an_address_of_the_own_host_that_the_cluster_told_is_no_bootstrap_address(node, name):
    line = f"[2026-03-02 08:21:01,500] WARN [Producer clientId=a] Connection to node {node} could not be established. Broker may not be available. (o.a.k.clients.NetworkClient)"
    assert [event["kind"] for event in read([line], "kafka-client-log")[1]] == [f"error:{name}"]


@pytest.mark.parametrize(
    ("told", "name"),
    [
        (
            "dial failed: broker closed the connection immediately after a dial: is TLS misconfigured on the client or the broker?",
            "kafka-closed-at-once",
        ),
        (
            "metadata failed: broker closed the connection immediately after a request was issued: is SASL missing?",
            "kafka-closed-at-once",
        ),
        ("dial failed: tls: first record does not look like a TLS handshake", "tls-not-spoken"),
        ("SSL routines::certificate verify failed: broker certificate could not be verified", "tls-unverified"),
        (
            "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: certificate has expired (_ssl.c:1006)",
            "tls-expired",
        ),
        (
            "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: unable to get local issuer certificate (_ssl.c:1006)",
            "tls-unknown-authority",
        ),
        ("certificate verify failed: Hostname mismatch, certificate is not valid for 'till-1'", "tls-wrong-name"),
    ],
)
def test_a_connection_that_tls_or_sasl_ends_is_told_as_far_as_its_line_tells_why(told, name):
    _, events = read([f"2026-03-02 09:00:00,000 ERROR till: {told}"], "application-log")
    assert [event["kind"] for event in events] == [f"error:{name}"]


@pytest.mark.parametrize(
    ("reason", "cause"),
    [
        ("DUPLICATE_BROKER_REGISTRATION", "two brokers have the same id"),
        ("INCONSISTENT_CLUSTER_ID", "another cluster id"),
        ("UNSUPPORTED_VERSION", "a feature level that the broker does not support"),
        ("INVALID_REGISTRATION", None),
    ],
)
def test_the_code_of_a_refused_registration_tells_its_cause(reason, cause):
    told = known_errors()["kafka-registration-refused"].hinted([f"the controller returned error {reason}"])
    assert (told or "").endswith(cause) if cause else told is None


@pytest.mark.parametrize(
    ("name", "line", "cause"),
    [
        ("kafka-setting-refused", "The transaction timeout is larger than the maximum value", "transaction.timeout.ms"),
        ("kafka-setting-refused", "InvalidSessionTimeoutException", "session.timeout.ms"),
        ("kafka-setting-refused", "Broker: Inconsistent group protocol", "members of one group"),
        ("espidf-certificate", "The certificate validity starts in the future", "the device's clock"),
        ("espidf-certificate", "The certificate is not correctly signed by the trusted CA", "the CA is not"),
    ],
)
def test_a_line_that_tells_its_cause_leaves_no_other(name, line, cause):
    assert (known_errors()[name].hinted([line]) or "").startswith(cause)


@pytest.mark.parametrize(
    ("behind", "names"),
    [
        ('server: 0.0.0.0:9092, upstream: "10.9.7.13:9092", bytes from/to client:0/0', ["error:nginx-upstream-failed"]),
        ('server: tills, request: "GET / HTTP/1.1", upstream: "http://10.9.7.13:80/", host: "tills"', ["call-failed"]),
    ],
)
def test_a_proxy_of_web_pages_has_no_broker_behind_it(behind, names):
    line = f"2026/03/02 08:25:01 [error] 31#31: *4 connect() failed (111: Connection refused) while connecting to upstream, client: 10.9.1.57, {behind}"
    assert [event["kind"] for event in read([line], "application-log")[1]] == names


@pytest.mark.parametrize(
    ("why", "cause"),
    [
        ("S3Exception: The provided token has expired. (Service: S3, Status Code: 400)", "the store refuses"),
        ("SdkClientException: Unable to execute HTTP request: Connection timed out", "the store or the way to it"),
        ("NullPointerException", None),
    ],
)
def test_why_a_segment_was_not_copied_stands_below(why, cause):
    told = known_errors()["kafka-tiered-copy-failed"].hinted(["Error occurred while copying log segments", why])
    assert (told or "").startswith(cause) if cause else told is None


def test_a_late_poll_is_told_in_words_of_all_clients():
    error = known_errors()["kafka-poll-late"]
    assert "max.poll.records" not in " ".join((error.means, *error.causes, error.check))


def test_a_log_of_mosquitto_holds_its_own_errors_too():
    _, events = read(
        ["1772442060: Error creating bridge: Connection refused.", "1772442061: Client till-9 disconnected."],
        "mosquitto-log",
    )
    assert [event["kind"] for event in events] == ["error:mqtt-bridge-failed", "client-disconnected"]


def test_lines_that_are_pasted_together_are_explained_once_each():
    refused = known_errors()["connection-refused"]
    page = explained(f"{refused.sample}\n{refused.sample}\njust words\n{known_errors()['os-no-space'].sample}")
    assert page.endswith(f"{refused.page()}\n{known_errors()['os-no-space'].page()}")
    assert page.count(refused.page()) == 1


def test_a_line_that_is_no_error_is_said_to_be_none():
    line = "[2026-03-02 09:00:00,000] INFO [GroupCoordinator 1]: Stabilized group tills generation 4 (kafka.coordinator.group)"
    assert "no known error" in explained(line)


STORED = "2026-03-02 16:47:05 INFO StoreStatsService - [PAGECACHERT] TotalPut 48, PutMessageDistributeTime [<=0ms]:11 [500ms~1s]:1 [1~2s]:{} [10s~]:0"
ALARM = "2026-03-02T08:41:15.690699+00:00 [warning] msg: alarm_is_activated, mfa: emqx_alarm:do_actions/3(418), message: <<>>, name: {}"


@pytest.mark.parametrize(
    ("line", "names"),
    [
        (STORED.format(2), ["rocketmq-put-seconds"]),
        (STORED.format(0), []),
        (
            "2026-03-02 16:47:05 ERROR main - RemotingConnectException: connect to <null> failed",
            ["rocketmq-name-server-unreachable"],
        ),
        (
            "2026-03-02 16:47:05 ERROR main - RemotingConnectException: connect to 10.9.1.12:10911 failed",
            ["rocketmq-connect-failed"],
        ),
        (
            "2026-03-02 16:47:05 ERROR main - MQClientException: No route info for this topic, SEATS",
            ["rocketmq-no-route"],
        ),
        (ALARM.format("high_process_memory_usage"), ["emqx-alarm-memory"]),
        (ALARM.format("high_cpu_usage"), ["emqx-alarm-load"]),
    ],
)
def test_an_error_is_told_from_what_looks_like_it(line, names):
    _, events = read([line], "application-log")
    known = known_errors().values()
    assert [
        e.name for event in events for e in known if e.kind == event["kind"] and e.says(event["reason"], line)
    ] == names


REFUSED = "Compacted topic cannot accept message without key"


@pytest.mark.parametrize(
    ("form", "line", "topic"),
    [
        (
            "kafka-broker-log",
            f"org.apache.kafka.common.InvalidRecordException: One or more records have been rejected due to 1 record errors in total, and only showing the first three errors at most: [RecordError(batchIndex=0, message='{REFUSED} in topic partition web.clicks-1')]",
            "web.clicks",
        ),
        (
            "application-log",
            f"2026-11-28 08:34:25.674 ERROR [main] Tracker - could not publish clk-992: org.apache.kafka.common.InvalidRecordException: {REFUSED} in topic partition web.clicks-0",
            "web.clicks",
        ),
        (
            "application-log",
            "2026-11-28 08:34:25.674 ERROR [main] Tracker - org.apache.kafka.common.InvalidRecordException: This record has failed the validation on broker and hence be rejected.",
            None,
        ),
        (
            "application-log",
            '2026-11-28 08:34:25,674 ERROR sync: m-17: KafkaError{code=INVALID_RECORD,val=87,str="Broker: Broker failed to validate record"}',
            None,
        ),
        (
            "application-log",
            "2026-11-28 08:34:25,674 ERROR sync: kafka.errors.InvalidRecordError: [Error 87] InvalidRecordError",
            None,
        ),
        (
            "kafka-broker-log",
            "org.apache.kafka.common.InvalidRecordException: Record is corrupt (stored crc = 12, computed crc = 13)",
            "none",
        ),
        (
            "application-log",
            "2026-11-28 08:34:25,674 ERROR orders: an invalid record of table clicks has no key",
            "none",
        ),
    ],
    ids=[
        "broker",
        "Java",
        "Java without a reason",
        "librdkafka",
        "kafka-python",
        "a torn log",
        "another program's record",
    ],
)
def test_records_that_a_broker_refuses_are_known_in_the_words_of_each_client(form, line, topic):
    _, events = read([line], form)
    known = [event for event in events if event["kind"] == "error:kafka-record-refused"]
    assert [event["topic"] for event in known] == ([] if topic == "none" else [topic])
