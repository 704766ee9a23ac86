"""kafka-consumer-groups --describe, all versions."""

from datetime import UTC, datetime

from mqlab.formats import kafka_consumer_groups as loader
from mqlab.formats.base import About, Data, Head, Line
from mqlab.tables import EVENTS, POSITIONS

CELLS = "line at group topic queue committed end client_id member_id peer"


def head(text, name="out.txt"):
    return Head(name, text, len(text))


def test_a_modern_table_gives_one_position_a_row(loaded):
    text = """

GROUP           TOPIC           PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG             CONSUMER-ID                                   HOST            CLIENT-ID
plant-report    plant-telemetry 0          327             330             3               report-1-f937d7fc-93af-4945-8353-cd6aec9a68c9 /10.60.1.16     report-1
plant-report    plant-telemetry 1          -               329             -               -                                             -               -
"""  # noqa: E501
    assert loaded(loader, POSITIONS, CELLS, text, snapshot_at="2026-11-21 11:45:34") == [
        (3, "11:45:34", "plant-report", "plant-telemetry", "0", 327, 330, "report-1",
         "report-1-f937d7fc-93af-4945-8353-cd6aec9a68c9", "10.60.1.16"),
        (4, "11:45:34", "plant-report", "plant-telemetry", "1", None, 329, None, None, None),
    ]  # fmt: skip


def test_the_leader_epoch_of_a_verbose_table_is_no_offset(loaded):
    text = """
GROUP TOPIC PARTITION LEADER-EPOCH CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID
g t 0 7 100 120 20 c-1 /10.0.0.1 my client
"""
    assert loaded(loader, POSITIONS, CELLS, text) == [
        (2, None, "g", "t", "0", 100, 120, "my client", "c-1", "10.0.0.1")
    ]


def test_dates_between_tables_give_the_moment_even_glued_to_the_last_client(loaded):
    text = """
Thu Oct 24 10:00:00 UTC 2024

GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID
g t 0 100 120 20 c-1 /10.0.0.1 consumer-1Thu Oct 24 10:00:05 UTC 2024

GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID
g t 0 110 125 15 c-1 /10.0.0.1 consumer-12024-10-24T12:00:10+0200
g t 1 1 2 1 c-1 /10.0.0.1 consumer-1
2024年 10月 24日 星期四 10:00:15 UTC
g t 0 1 2 1 c-1 /10.0.0.1 consumer-1
Thu 24 Oct 2024 01:00:20 PM GMT
g t 0 1 2 1 c-1 /10.0.0.1 consumer-1
"""
    assert loaded(loader, POSITIONS, "line at client_id", text) == [
        (4, "10:00:00", "consumer-1"),
        (7, "10:00:05", "consumer-1"),
        (8, "10:00:10", "consumer-1"),
        (10, "10:00:15", "consumer-1"),
        (12, "13:00:20", "consumer-1"),
    ]


def test_headings_with_an_hour_alone_give_the_moment_where_the_day_is_known():
    text = """GROUP TOPIC PARTITION CURRENT-OFFSET LOG-END-OFFSET LAG CONSUMER-ID HOST CLIENT-ID
===== 10:00:00 UTC
g t 0 100 120 20 c-1 /10.0.0.1 consumer-1
### 12:00:05+02:00 kafka-consumer-groups.sh --describe --group g
g t 0 110 125 15 c-1 /10.0.0.1 consumer-1
"""
    lines = [Line(*one) for one in enumerate(text.splitlines(), 1)]
    told = {
        day: [row.get("at") for item in loader.parse(lines, About("out.txt", day=day)) if isinstance(item, Data)
              for table, row in item.rows if table is POSITIONS]
        for day in (None, "2024-10-24")
    }  # fmt: skip
    ten = datetime(2024, 10, 24, 10, tzinfo=UTC).timestamp() * 1e6
    assert told == {None: [None, None], "2024-10-24": [ten, ten + 5e6]}


def test_a_table_without_groups_takes_the_group_of_the_watch_header(loaded):
    text = """
\x1b[H\x1b[2JEvery 2.0s: kafka-consumer-groups.sh --bootstrap-server b:9092 --describe --group billing     h1: Thu Oct 24 10:00:02 2024\r
TOPIC                          PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG        CONSUMER-ID                                       HOST                           CLIENT-ID\r
storage-events                 0          22922           22922           0          a-very-long-name-1-1cbaa664-e076-47a0-854f-7279d79a4204/10.42.2.77                    a-very-long-name-1\r
-                              -          -               -               -          consumer-4-b91ee930-3ec6-46b9-a430-24d0f1c4c25a   /10.42.1.68                    consumer-4\r
"""  # noqa: E501
    assert loaded(loader, POSITIONS, CELLS, text) == [
        (3, "10:00:02", "billing", "storage-events", "0", 22922, 22922, "a-very-long-name-1",
         "a-very-long-name-1-1cbaa664-e076-47a0-854f-7279d79a4204", "10.42.2.77"),
    ]  # fmt: skip


def test_rows_wrapped_into_two_lines_are_joined(loaded):
    text = """
GROUP                                         TOPIC                        PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG
CONSUMER-ID                                                                                   HOST            CLIENT-ID
df-tmf628-Normalizer df-tmf628-dp-input-real-hxd1 4          0               7               7
consumer-df-tmf628-Normalizer-1-92ff0fa9-4a8c-4763-b2af-732faed37bcd /10.101.3.225   consumer-df-tmf628-Normalizer-1
"""  # noqa: E501
    assert loaded(loader, POSITIONS, CELLS, text) == [
        (3, None, "df-tmf628-Normalizer", "df-tmf628-dp-input-real-hxd1", "4", 0, 7, "consumer-df-tmf628-Normalizer-1",
         "consumer-df-tmf628-Normalizer-1-92ff0fa9-4a8c-4763-b2af-732faed37bcd", "10.101.3.225"),
    ]  # fmt: skip


def test_old_versions_are_read(loaded):
    text = """
Group           Topic                          Pid Offset          logSize         Lag             Owner
my-group        my-topic                       0   3               9               6               test_jkreps-mn-1394154511599-60744496-0
my-group        my-topic                       1   unknown         0               unknown         none
GROUP, TOPIC, PARTITION, CURRENT OFFSET, LOG END OFFSET, LAG, OWNER
g, t, 0, 5, unknown, unknown, consumer-1_/127.0.0.1
GROUP                          TOPIC                          PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG             OWNER
g                              t                              0          5               8               3               consumer-1_/127.0.0.1
"""  # noqa: E501
    assert loaded(loader, POSITIONS, "line group topic queue committed end client_id member_id peer", text) == [
        (2, "my-group", "my-topic", "0", 3, 9, None, "test_jkreps-mn-1394154511599-60744496-0", None),
        (3, "my-group", "my-topic", "1", None, 0, None, None, None),
        (5, "g", "t", "0", 5, None, "consumer-1", None, "127.0.0.1"),
        (7, "g", "t", "0", 5, 8, "consumer-1", None, "127.0.0.1"),
    ]


def test_rows_without_their_header_are_told_by_their_arithmetic(loaded):
    with_groups = """
my-group  my-topic  0  7  709  718  9  c-1-77f0/10.60.1.13  c-1
my-group  my-topic  1  -  -    718  -  -                    -
"""
    alone = "my-topic 0 709 718 9 c-1-77f0 /10.60.1.13 c-1\nmy-topic 1 718 718 0 c-1-77f0 /10.60.1.13 c-1\n"
    columns = "line group topic queue committed end client_id member_id peer"
    assert loaded(loader, POSITIONS, columns, with_groups) == [
        (1, "my-group", "my-topic", "0", 709, 718, "c-1", "c-1-77f0", "10.60.1.13"),
        (2, "my-group", "my-topic", "1", None, 718, None, None, None),
    ]
    assert loaded(loader, POSITIONS, columns, alone) == [
        (1, None, "my-topic", "0", 709, 718, "c-1", "c-1-77f0", "10.60.1.13"),
        (2, None, "my-topic", "1", 718, 718, "c-1", "c-1-77f0", "10.60.1.13"),
    ]
    assert loader.recognise(head(alone))
    assert loader.recognise(head(with_groups))


ERRORS = """
Warning: Consumer group 'BASE_GD' is rebalancing.

TOPIC  PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG  CONSUMER-ID  HOST     CLIENT-ID
orders                    1          13100           20100           7000       -                                                 -
Error: Executing consumer group command failed due to org.apache.kafka.common.errors.TimeoutException: x
java.util.concurrent.ExecutionException: org.apache.kafka.common.errors.TimeoutException: x
\tat org.apache.kafka.common.internals.KafkaFutureImpl.wrapAndThrow(KafkaFutureImpl.java:45)
what is this"""  # noqa: E501


def test_messages_of_the_tool_become_events(loaded):
    assert loaded(loader, EVENTS, "line system kind group reason", ERRORS) == [
        (1, "kafka", "tool-error", "BASE_GD", "Warning: Consumer group 'BASE_GD' is rebalancing."),
        (5, "kafka", "tool-error", "BASE_GD", "Error: Executing consumer group command failed due to "
         "org.apache.kafka.common.errors.TimeoutException: x"),
        (6, "kafka", "tool-error", "BASE_GD", "java.util.concurrent.ExecutionException: "
         "org.apache.kafka.common.errors.TimeoutException: x"),
    ]  # fmt: skip
    assert loaded(loader, POSITIONS, "line group topic queue committed end", ERRORS) == [
        (4, "BASE_GD", "orders", "1", 13100, 20100)
    ]


def test_every_line_has_a_class(classes):
    assert classes(loader, ERRORS) == ["data", "noise", "noise", "data", "data", "data", "noise", None]


def test_tables_and_bare_messages_are_recognised():
    assert loader.recognise(head(ERRORS.rsplit("\n", 1)[0]))
    assert loader.recognise(head("\nError: Consumer group 'invoice-parser' does not exist.\n"))
    assert loader.recognise(head("bash: kafka-consumer-groups.sh: command not found\n", "consumer-groups.1.txt"))


def test_other_tables_are_not_recognised():
    assert not loader.recognise(head("GROUP TOPIC PARTITION NEW-OFFSET\ng t 0 5\n"))
    assert not loader.recognise(head("#Topic #Broker Name #QID #Broker Offset #Consumer Offset #Diff\nT b 0 1 1 0\n"))
    assert not loader.recognise(head("[2024-10-24 10:00:00,000] ERROR Consumer group 'g' broke (x)\n"))
    assert not loader.recognise(head("T b 0 1000 990 10 0\nT b 1 1000 990 10 0\n"))
    assert not loader.recognise(head("t 0 5 5 0\nt 1 7 7 0\n"))
