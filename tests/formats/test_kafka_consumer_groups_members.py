"""kafka-consumer-groups --describe --members."""

from mqlab.formats import kafka_consumer_groups_members as loader
from mqlab.formats.base import Head
from mqlab.tables import ASSIGNMENTS, CLIENTS, EVENTS

V2 = """

GROUP           CONSUMER-ID         HOST            CLIENT-ID       #PARTITIONS     ASSIGNMENT
entity-extract  extract-c-315903da /10.22.0.15     extract-c       3               news.articles(6,7), b(0)
entity-extract  extract-a-99       /10.22.0.16     extract-a       0               -
"""
V4 = """
GROUP       CONSUMER-ID GROUP-INSTANCE-ID HOST            CLIENT-ID       #PARTITIONS     CURRENT-EPOCH   CURRENT-ASSIGNMENT   TARGET-EPOCH    TARGET-ASSIGNMENT
cdr-rating  cdr-2-6c    rack-1            /10.89.0.15     cdr-2           3               7               calls.cdr:1,3;x:0    8               calls.cdr:9
"""  # noqa: E501


def test_each_held_partition_is_an_assignment(loaded):
    columns = "line group topic queue client_id member_id peer"
    assert loaded(loader, ASSIGNMENTS, columns, V2) == [
        (3, "entity-extract", "news.articles", "6", "extract-c", "extract-c-315903da", "10.22.0.15"),
        (3, "entity-extract", "news.articles", "7", "extract-c", "extract-c-315903da", "10.22.0.15"),
        (3, "entity-extract", "b", "0", "extract-c", "extract-c-315903da", "10.22.0.15"),
    ]
    assert loaded(loader, ASSIGNMENTS, "topic queue client_id member_id", V4) == [
        ("calls.cdr", "1", "cdr-2", "cdr-2-6c"),
        ("calls.cdr", "3", "cdr-2", "cdr-2-6c"),
        ("x", "0", "cdr-2", "cdr-2-6c"),
    ]


def test_every_member_is_a_client_even_without_partitions(loaded):
    assert loaded(loader, CLIENTS, "line at system group client_id peer", V2, snapshot_at="2026-11-21 11:42:26") == [
        (3, "11:42:26", "kafka", "entity-extract", "extract-c", "10.22.0.15"),
        (4, "11:42:26", "kafka", "entity-extract", "extract-a", "10.22.0.16"),
    ]


def test_assignments_without_topic_names_are_left_out(loaded):
    text = """
Warning: Consumer group 'loader' is rebalancing.
CONSUMER-ID HOST CLIENT-ID #PARTITIONS ASSIGNMENT
loader-1-db9f5952 /10.83.0.11 loader-1 3 (0,1,2)"""
    assert loaded(loader, ASSIGNMENTS, "line topic", text) == []
    assert loaded(loader, CLIENTS, "line group client_id", text) == [(3, "loader", "loader-1")]
    assert loaded(loader, EVENTS, "line kind group", text) == [(1, "tool-error", "loader")]


def test_what_sticks_to_the_last_row_is_no_part_of_it(loaded, classes):
    text = """
GROUP CONSUMER-ID HOST CLIENT-ID #PARTITIONS
g c-1-u /10.83.0.11 c-1 3Thu Oct 24 10:00:00 UTC 2024

GROUP CONSUMER-ID HOST CLIENT-ID #PARTITIONS ASSIGNMENT
g c-1-u /10.83.0.11 c-1 3 (0,10,2)[root@b bin]# date"""
    assert loaded(loader, CLIENTS, "line at group client_id peer", text) == [
        (2, None, "g", "c-1", "10.83.0.11"),
        (5, "10:00:00", "g", "c-1", "10.83.0.11"),
    ]
    assert loaded(loader, ASSIGNMENTS, "topic", text) == []
    assert classes(loader, text) == ["noise", "data", "noise", "noise", "data"]


def test_a_member_of_two_topics_holds_partitions_of_both(loaded):
    text = """
GROUP CONSUMER-ID HOST CLIENT-ID #PARTITIONS CURRENT-EPOCH CURRENT-ASSIGNMENT TARGET-EPOCH TARGET-ASSIGNMENT UPGRADED
g AbCdEfGhIjKlMnOpQrStUv /10.0.0.1 c-1 3 3 topicA:0,1;topicB:2 4 topicA:0 true
g other /10.0.0.2 c-2 0 3 - 4 topicA:1 true"""
    assert loaded(loader, ASSIGNMENTS, "client_id topic queue", text) == [
        ("c-1", "topicA", "0"), ("c-1", "topicA", "1"), ("c-1", "topicB", "2")
    ]  # fmt: skip


def test_every_line_has_a_class(classes):
    assert classes(loader, V2 + "???") == ["noise", "noise", "data", "data", None]


def test_members_are_told_from_offsets():
    assert loader.recognise(Head("out.txt", V2, len(V2)))
    assert loader.recognise(Head("groups-members.txt", "\nError: Consumer group 'g' does not exist.\n", 42))
    assert not loader.recognise(Head("groups.txt", "\nError: Consumer group 'g' does not exist.\n", 42))
    assert not loader.recognise(Head("o.txt", "GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID", 9))
