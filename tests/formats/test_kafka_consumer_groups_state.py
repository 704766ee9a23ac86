"""kafka-consumer-groups --describe --state and --list --state."""

from mqlab.formats import kafka_consumer_groups_state as loader
from mqlab.formats.base import Head
from mqlab.tables import EVENTS

STATES = """
Warning: Consumer group 'payments-sink' is rebalancing.

GROUP                     COORDINATOR (ID)          ASSIGNMENT-STRATEGY  STATE           #MEMBERS
payments-sink             kafka-1:9092 (1)                               PreparingRebalance 1
warehouse-loader          kafka-1:9092  (2)         range                Stable          3
GROUP COORDINATOR (ID) ASSIGNMENT-STRATEGY STATE GROUP-EPOCH TARGET-ASSIGNMENT-EPOCH #MEMBERS
g     kafka-1:9092 (1) uniform             Reconciling 5 - 2
GROUP                     TYPE      STATE
sla-clock                 Classic   Stable
odd"""


def test_each_group_gives_its_state_and_members(loaded):
    columns = "line at kind group peer reason value"
    assert loaded(loader, EVENTS, columns, STATES, snapshot_at="2026-11-21 12:21:55") == [
        (1, "12:21:55", "tool-error", "payments-sink", None,
         "Warning: Consumer group 'payments-sink' is rebalancing.", None),
        (4, "12:21:55", "group-state", "payments-sink", "kafka-1:9092", "PreparingRebalance", 1.0),
        (5, "12:21:55", "group-state", "warehouse-loader", "kafka-1:9092", "Stable", 3.0),
        (7, "12:21:55", "group-state", "g", "kafka-1:9092", "Reconciling", 2.0),
        (9, "12:21:55", "group-state", "sla-clock", None, "Stable", None),
    ]  # fmt: skip


def test_a_table_without_groups_takes_the_group_of_the_command(loaded):
    text = """
$ kafka-consumer-groups.sh --describe --state --group billing
COORDINATOR (ID)          ASSIGNMENT-STRATEGY       STATE                #MEMBERS
localhost:9092 (0)        range                     Stable               4"""
    assert loaded(loader, EVENTS, "line group peer reason value", text) == [
        (3, "billing", "localhost:9092", "Stable", 4.0)
    ]


def test_what_sticks_to_the_last_row_is_no_part_of_it(loaded, classes):
    text = """
GROUP COORDINATOR (ID) ASSIGNMENT-STRATEGY STATE #MEMBERS
g     kafka-1:9092  (1)  range             Stable 3Thu Oct 24 10:00:00 UTC 2024
GROUP STATE
h     Empty2024-10-24T10:00:05Z"""
    assert loaded(loader, EVENTS, "line at group reason value", text) == [
        (2, None, "g", "Stable", 3.0),
        (4, "10:00:00", "h", "Empty", None),
    ]
    assert classes(loader, text) == ["noise", "data", "noise", "data"]


def test_every_line_has_a_class(classes):
    assert classes(loader, STATES) == [
        "data", "noise", "noise", "data", "data", "noise", "data", "noise", "data", None
    ]  # fmt: skip


def test_states_are_told_from_offsets():
    assert loader.recognise(Head("out.txt", STATES, len(STATES)))
    assert loader.recognise(Head("group-state.txt", "\nError: Consumer group 'g' does not exist.\n", 42))
    assert not loader.recognise(Head("group.txt", "\nError: Consumer group 'g' does not exist.\n", 42))
