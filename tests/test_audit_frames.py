"""The notebook's tables about the delivery audit, as a reader sees them."""

import pytest
from audit_builder import A_FAILOVER, FAILOVER, HOSTILE, MIXED, SETTINGS_ONLY, level, reign, risk

from mqlab.commands import commands
from mqlab.facts import Facts
from mqlab.views import delivery_tables
from mqlab.views.audit_json import commands_for
from mqlab.views.delivery import LEADER, AuditView
from mqlab.words import room


def rows(frame):
    """Cells as text, the index first."""
    return [[str(cell) for cell in row] for row in frame.reset_index().to_numpy()]


def test_each_topic_has_a_row_with_its_outcome_and_the_numbers_behind_it():
    assert [row[:5] for row in rows(delivery_tables.topics((MIXED, FAILOVER, SETTINGS_ONLY)))] == [
        [HOSTILE, "lost and doubled", "≥ 490", "about 114 (≥ 104, ≤ 129)", "7"],
        ["orders", "lost", "33,002", "1,562", "0"],
        ["payments", "cannot say", "–", "0", "0"],
    ]


def test_the_topic_that_is_looked_at_is_told_in_a_few_lines():
    assert rows(delivery_tables.answer(A_FAILOVER)) == [
        ["topic", "orders"],
        ["outcome", "lost"],
        ["what that means", FAILOVER.statement],
        ["lost in the log", "1,562: acks1-failover-loss"],
        ["pending at group sink", "4,440 past its last known commit, not lost"],
    ]


def test_the_way_of_the_messages_has_a_row_for_each_partition_and_group_and_one_for_all():
    frame = delivery_tables.way(A_FAILOVER)
    assert [frame.columns.name, *frame.columns] == [
        "partition", "group", "sent", "acknowledged", "stored", "handled", "committed at", "log", "lost", "pending",
        "doubled",
    ]  # fmt: skip
    found = rows(frame)
    assert found[0] == [
        "0", "sink", "11,002", "11,002", "11,002", "5,035", "5,035", "0 to 9,440", "1,562", "4,405", "0",
    ]  # fmt: skip
    assert found[-1] == ["all", "sink", "33,002", "33,002", "33,002", "27,000", "", "", "1,562", "4,440", "0"]
    assert {"failed", "unknown"} < set(delivery_tables.way(AuditView(MIXED)).columns)
    assert [row[:2] for row in rows(delivery_tables.way(AuditView(MIXED)))] == [
        ["0", "audit"], ["1", "audit"], ["all", "audit"], ["0", "billing"], ["1", "billing"], ["all", "billing"],
    ]  # fmt: skip


def test_losses_are_told_by_mechanism_with_offsets_and_how_they_were_counted():
    assert rows(delivery_tables.lost(A_FAILOVER)) == [
        ["acks1-failover-loss", "in the log", "0", "1,562", "1,032 to 2,593", "10:04:32 to 10:04:38",
         "another id was acknowledged later at the same place", "clients/acked.csv:10"],
    ]  # fmt: skip
    assert [row[:6] for row in rows(delivery_tables.lost(AuditView(MIXED)))] == [
        ["retention-loss", "by group billing", "0", "about 110 (≥ 100, ≤ 120)", "10 to 119", "10:00:00 to 10:01:00"],
        ["not explained by this audit", "by group billing", "0", "≥ 4 (≤ 9)", "–", "–"],
    ]


def test_doubles_are_told_with_their_copies():
    assert rows(delivery_tables.doubled(AuditView(MIXED))) == [
        ["producer-duplicates", "in the log", "1", "6", "7", "10:02:00 to 10:03:00", "by ids",
         "clients/processed.csv:21"],
    ]  # fmt: skip


def test_log_ends_stand_in_the_order_in_which_they_were_told():
    assert [row[:8] for row in rows(delivery_tables.replicas(A_FAILOVER))] == [
        ["0", "10:04:40", "1", "started as leader", "1,032", "–", "–", "–"],
        ["0", "10:04:40", "3", "started as follower", "1,031", "–", "–", "–"],
        ["0", "10:05:20", "2", "started as follower", "2,606", "–", "–", "–"],
        ["0", "10:05:22", "2", "log truncated", "1,032", "–", "–", "–"],
    ]


def test_of_very_many_log_ends_those_of_partitions_whose_leader_changed_are_kept():
    calm = tuple(level(str(n), "1", "10:00", n, LEADER) for n in range(400))
    crowd = AuditView(None, reigns=(reign("399", "1", "10:00", "10:01"),), levels=calm)
    told = rows(delivery_tables.replicas(crowd))
    assert (len(told), told[0][0], told[-1][0]) == (300, "0", "399")


@pytest.mark.parametrize("view", [AuditView(None), AuditView(SETTINGS_ONLY)], ids=["no topic", "no ledger"])
def test_tables_stay_empty_where_nothing_is_told(view):
    tables = [delivery_tables.way(view), delivery_tables.replicas(view), delivery_tables.lost(view),
              delivery_tables.doubled(view)]  # fmt: skip
    assert [len(table) for table in tables] == [0, 0, 0, 0]


def test_material_without_a_topic_says_so():
    assert rows(delivery_tables.answer(AuditView(None))) == [
        ["topic", "no Kafka topic that could be audited in this material"]
    ]


def test_settings_stand_with_what_they_may_lose_each_time(monkeypatch):
    found = (risk("acks", "1", "producer gateway", high=9), risk("min.insync.replicas", "1", "topic orders"))
    monkeypatch.setattr(delivery_tables, "of_settings", lambda _: found)
    assert rows(delivery_tables.risks(Facts())) == [
        ["producer gateway", "acks", "1", "as it stands", "records are lost (acks1-failover-loss)", "up to 9 records",
         "rate × time", "clients/gateway.log:2"],
        ["topic orders", "min.insync.replicas", "1", "as it stands", "records are lost (acks1-failover-loss)", "–",
         "rate × time", "clients/orders.log:2"],
    ]  # fmt: skip


def test_what_is_missing_stands_beside_the_command_that_fetches_it():
    (ledger, brokers) = rows(delivery_tables.missing(AuditView(SETTINGS_ONLY)))
    assert ledger == [SETTINGS_ONLY.missing[0], commands()["kafka-client-ledger"].line]
    assert brokers[1] == commands()["kafka-broker-logs"].line


def test_what_is_missing_names_the_commands_that_fetch_it():
    ask = room("delivery-audit")
    names = ("kafka-client-ledger", "kafka-keys")
    asked = [ask("acknowledged"), ask("number"), ask("owner", ledger="dump.csv"), "a dump of the log"]
    assert commands_for(asked) == tuple(commands()[name].line for name in names)
