"""RocketMQ's stores and routes, which are not quite JSON."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mqlab.formats import rocketmq_store as loader
from mqlab.formats.base import Head
from mqlab.tables import POSITIONS, SETTINGS

OFFSETS = """
{
\t"offsetTable":{
\t\t"%RETRY%g1@g1":{0:0
\t\t},
\t\t"TopicTest@g1":{0:6,1:3,10:2
\t\t}
\t}
}"""

BROADCAST = """
{
\t"offsetTable":{{
\t\t\t"brokerName":"broker-p",
\t\t\t"queueId":1,
\t\t\t"topic":"price-update"
\t\t}:851,{
\t\t\t"brokerName":"broker-p",
\t\t\t"queueId":0,
\t\t\t"topic":"price-update"
\t\t}:852
\t}
}"""

TOPICS = """
{
\t"dataVersion":{
\t\t"counter":3,
\t\t"timestamp":1795266020452
\t},
\t"topicConfigTable":{
\t\t"T_1":{
\t\t\t"attributes":{"+message.type":"NORMAL"},
\t\t\t"perm":6,
\t\t\t"topicFilterType":"SINGLE_TAG",
\t\t\t"writeQueueNums":16
\t\t}
\t}
}"""

ROUTE = """
$ sh mqadmin topicRoute -n 10.0.0.1:9876 -t ORDERS
{
\t"brokerDatas":[
\t\t{
\t\t\t"brokerAddrs":{0:"192.168.50.11:30911",1:"192.168.50.12:30911"
\t\t\t},
\t\t\t"brokerName":"broker-b",
\t\t\t"cluster":"c"
\t\t}
\t],
\t"filterServerTable":{},
\t"queueDatas":[
\t\t{
\t\t\t"perm":6,
\t\t\t"readQueueNums":16,
\t\t\t"brokerName":"broker-a"
\t\t},
\t\t{
\t\t\t"brokerName":"broker-b",
\t\t\t"perm":4
\t\t}
\t]
}"""


def test_every_queue_of_every_group_is_a_position(loaded):
    columns = "line at group topic queue committed end"
    expected = [
        (3, "12:00:00", "g1", "%RETRY%g1", "0", 0, None),
        (5, "12:00:00", "g1", "TopicTest", "0", 6, None),
        (5, "12:00:00", "g1", "TopicTest", "1", 3, None),
        (5, "12:00:00", "g1", "TopicTest", "10", 2, None),
    ]
    name = "consumerOffset.json.20261121T120000Z"
    assert loaded(loader, POSITIONS, columns, OFFSETS, name, "2026-11-21 12:00:00") == expected
    strict = '{"dataVersion":{"counter":3},"offsetTable":{"%RETRY%g1@g1":{"0":0},"TopicTest@g1":{"0":6,"1":3,"10":2}}}'
    for text in (OFFSETS.replace("\n", "").replace("\t", ""), strict):
        assert loaded(loader, POSITIONS, columns, text, name, "2026-11-21 12:00:00") == [(1, *r[1:]) for r in expected]


def test_other_keys_than_topic_and_group_are_no_positions(loaded):
    assert loaded(loader, POSITIONS, "queue", '{"offsetTable":{"T@g@x":{0:1},"T":{0:1}}}') == []


def test_a_broadcast_client_names_its_brokers(loaded):
    columns = "line group topic queue committed"
    assert loaded(loader, POSITIONS, columns, BROADCAST, "offsets.json") == [
        (6, None, "price-update", "broker-p/1", 851),
        (10, None, "price-update", "broker-p/0", 852),
    ]
    flat = BROADCAST.replace("\n", "").replace("\t", "")
    assert loaded(loader, POSITIONS, "queue committed", flat) == [("broker-p/1", 851), ("broker-p/0", 852)]


def test_levels_of_delay_are_no_positions(loaded, classes):
    text = '{\n\t"offsetTable":{1:1,3:77\n\t}\n}'
    assert loaded(loader, POSITIONS, "queue", text) == []
    assert classes(loader, text) == ["noise", "data", "noise", "noise"]


def test_topics_and_groups_are_settings_of_themselves(loaded):
    columns = "line at scope owner key value origin"
    assert loaded(loader, SETTINGS, columns, TOPICS, "topics.json") == [
        (9, None, "topic", "T_1", "perm", "6", "file"),
        (10, None, "topic", "T_1", "topicFilterType", "SINGLE_TAG", "file"),
        (11, None, "topic", "T_1", "writeQueueNums", "16", "file"),
    ]
    groups = '{"subscriptionGroupTable":{"g1":{"groupRetryPolicy":{"type":"CUSTOMIZED"},"retryMaxTimes":16}}}'
    assert loaded(loader, SETTINGS, "scope owner key value", groups) == [("group", "g1", "retryMaxTimes", "16")]


@pytest.mark.parametrize(("name", "text"), [("out.txt", ROUTE), ("topicRoute-ORDERS.20261121T120220Z.txt", ROUTE[52:])])
def test_a_route_tells_the_queues_of_a_topic_on_each_broker(loaded, name, text):
    assert loaded(loader, SETTINGS, "scope owner key value origin", text, name) == [
        ("topic", "ORDERS", "broker-a.perm", "6", "describe"),
        ("topic", "ORDERS", "broker-a.readQueueNums", "16", "describe"),
        ("topic", "ORDERS", "broker-b.perm", "4", "describe"),
    ]


@pytest.mark.parametrize("text", [OFFSETS, BROADCAST, TOPICS, ROUTE])
def test_only_lines_that_are_broken_are_rejected(classes, text):
    found = classes(loader, f"{text}\nwat\n{text} …")
    assert [n for n, kind in enumerate(found) if kind is None] == [text.count("\n"), len(found) - 1]


def test_a_file_that_was_cut_gives_what_can_be_read(loaded, classes):
    text = '{"offsetTable":{"A@g1":{0:6,1:3},"B@g1":{0:26,1:4…'
    assert loaded(loader, POSITIONS, "topic queue committed", text) == [("A", "0", 6), ("A", "1", 3), ("B", "0", 26)]
    assert classes(loader, text) == ["data"]
    assert loaded(loader, SETTINGS, "owner key value", ROUTE[: ROUTE.index('"readQueue')], "topicRoute-T.txt") == []
    unfinished = ROUTE[: ROUTE.index('"readQueue')] + '"brokerName":"b"'
    assert loaded(loader, SETTINGS, "owner key value", unfinished) == [("ORDERS", "b.perm", "6")]


def test_brackets_in_words_and_values_on_the_next_line_are_read(loaded):
    text = '{"subscriptionGroupTable":\n{"g":{"expression":"a > 1 }{ \\" b",\n"retryMaxTimes":16}}}'
    assert loaded(loader, SETTINGS, "line owner key value", text) == [
        (2, "g", "expression", 'a > 1 }{ \\" b'),
        (3, "g", "retryMaxTimes", "16"),
    ]


def test_prompts_and_dates_between_documents_are_no_part_of_them(loaded, classes):
    text = f"[root@mq-1 store]# cat consumerOffset.json{OFFSETS}\nThu Oct 24 10:00:05 UTC 2024{OFFSETS}"
    found = loaded(loader, POSITIONS, "at topic queue committed", text)
    assert [row[0] for row in found] == [None] * 4 + ["10:00:05"] * 4
    assert found[0][1:] == found[4][1:] == ("%RETRY%g1", "0", 0)
    assert None not in classes(loader, text)


@pytest.mark.parametrize("text", ["{" * 50_000, "}" * 50_000, '{"a":' * 20_000, '"' + "\\" * 50_001, "1" * 50_000])
def test_hostile_lines_are_read_quickly(loaded, text):
    assert loaded(loader, POSITIONS, "queue", text) == []


@pytest.mark.parametrize(
    "text", [OFFSETS, BROADCAST, TOPICS, ROUTE, '{"filterDataByTopic":{}}', TOPICS.replace("\n", "")]
)
def test_stores_are_recognised_by_their_tables(text):
    assert loader.recognise(Head("x", text, len(text)))


@pytest.mark.parametrize("text", ['{"status":"success","data":{}}', '{"message":"\\"offsetTable\\":{}"}', "a=1", ""])
def test_other_documents_are_not(text):
    assert not loader.recognise(Head("consumerOffset.json", text, len(text)))


NAMES = st.text("abcDEF_-%09", min_size=1, max_size=9)
STORES = st.dictionaries(
    st.tuples(NAMES, NAMES), st.dictionaries(st.integers(0, 99), st.integers(0, 1 << 50), max_size=5), max_size=5
)


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STORES, st.booleans())
def test_a_store_is_read_as_it_was_written(loaded, store, pretty):
    tables = {f"{topic}@{group}": queues for (topic, group), queues in store.items()}
    text = json.dumps({"offsetTable": tables}, indent=1 if pretty else None)
    found = loaded(loader, POSITIONS, "topic group queue committed", text)
    assert sorted(found) == sorted(
        (topic, group, str(queue), offset)
        for (topic, group), queues in store.items()
        for queue, offset in queues.items()
    )
