"""What messages carried is blotted out in as many bytes; what only has such a name elsewhere stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqlab.gather.redact_payloads import without_payloads
from mqlab.ledgers.words import PAYLOADS


def without(text):
    return b"".join(without_payloads([text.encode()])).decode()


@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        ("tag: AUTHZ, payload: hello world, topic: t", "tag: AUTHZ, payload: xxxxxxxxxxx, topic: t"),
        ('{"payload":"{\\"a\\":1}","qos":1}', '{"payload":"xxxxxxxxx","qos":1}'),
        ('consumed a-0@33 value={"card":"4111","n":12}', 'consumed a-0@33 value={"xxxx":"xxxx","x":11}'),
        ('sent value="hello" topic=a id=17', 'sent value="xxxxx" topic=a id=17'),
        ("got body=hello world partition=1", "got body=xxxxxxxxxxx partition=1"),
        ('{"topic":"t","data":"MTIz","offset":3}', '{"topic":"t","data":"xxxx","offset":3}'),
        ('{"topic":"t","content":{"who":"anna"},"offset":3}', '{"topic":"t","content":{"xxx":"xxxx"},"offset":3}'),
        (
            "(topic = a, offset = 3, key = 1, value = hello anna)",
            "(topic = a, offset = 3, key = 1, value = xxxxxxxxxxx",
        ),
        ("Message Body: hi there", "Message Body: xxxxxxxx"),
        ("| offset: 5 keySize: 2 key: k1 payload: {anna}", "| offset: 5 keySize: 2 key: k1 payload: {xxxx}"),
        ("CreateTime:17\tPartition:0\tOffset:5\tk1\tanna", "CreateTime:17\tPartition:0\tOffset:5\tk1\txxxx"),
        ('at,topic,value\n1,t,"a, ""b"""\n2,t,5\n', 'at,topic,value\n1,t,"xxxxxx"""\n2,t,5\n'),
        ("at;payload;topic\n1;anna;t\n2;null;t\n", "at;payload;topic\n1;xxxx;t\n2;null;t\n"),
    ],
)
def test_payloads_are_blotted_out_in_as_many_bytes(text, becomes):
    written = without(text)
    assert written.startswith(becomes)
    assert len(written) == len(text)


@pytest.mark.parametrize(
    "text",
    [
        "message payload=1048588 bytes",
        '{"topic":"$SYS/broker/uptime","payload":"12 s"}',
        "key: offset_commit::group=g,partition=t-0 payload: offset=981",
        '{"data":[{"clientid":"c1","topic":"t"}],"meta":{"count":1}}',
        "ConfigRecord(resourceName='t', name='cleanup.policy', value='compact')",
        '{"metric":{"topic":"o"},"value":[173,"1"]}',
        '{"name":"retention.ms","value":"-1"}',
        "received value=null offset=3",
        "at,topic,offset\n1,t,2\n",
    ],
)
def test_values_of_settings_metrics_and_documents_stay(text):
    assert without(text) == text


@given(st.sampled_from(["payload", "body", "value", "data", "content", "headers"]), st.text(max_size=40))
def test_lines_and_bytes_stay_as_many(name, value):
    text = f"received topic=t offset=1 {name}={value}\n"
    written = without(text)
    assert [len(line) for line in written.encode().split(b"\n")] == [len(line) for line in text.encode().split(b"\n")]


def test_the_names_of_payloads_are_those_of_ledgers():
    assert without(f"received offset=1 {PAYLOADS.split('(?:')[-1].split('|')[0]}=anna").endswith("xxxx")
