"""Ledgers thinned inside Spark: counts by queue and ten seconds, and who notes the same message."""

import pytest

from mqlab.thinning import ledgers

COLUMNS = "source string, line long, text string, role string, topic string, queue string, position long, key string"


@pytest.fixture(scope="module")
def ledger(spark):
    """Two consumers and a producer: message 1 is handled by both, message 2 twice by one of them."""
    rows = [
        (100, "sent", 2, "sent", "a/0", 1, "k1"), (101, "sent", 3, "sent", "a/0", 2, "k2"),
        (111, "c1", 2, "consumed", "a/0", 1, "k1"), (119, "c2", 2, "consumed", "a/0", 1, "k1"),
        (112, "c1", 3, "consumed", "a/0", 2, "k2"), (125, "c1", 4, "consumed", "a/0", 2, "k2"),
        (131, "c2", 3, "processed", None, None, "k9"), (None, "c2", 4, "consumed", "a/0", 7, "k7"),
    ]  # fmt: skip
    data = [(at, s, n, f"row {n}", role, "orders", queue, offset, key) for at, s, n, role, queue, offset, key in rows]
    return spark.createDataFrame(data, f"seconds long, {COLUMNS}").selectExpr(
        "*", "timestamp_seconds(seconds) AS wall", "topic AS scope"
    )


def told(frame, *names):
    return sorted(tuple(row[name] for name in names) for row in frame.collect())


def test_messages_are_counted_by_ledger_role_queue_and_ten_seconds(ledger):
    assert told(ledgers.tallies(ledger), "source", "role", "queue", "at", "messages", "line") == [
        ("c1", "consumed", "a/0", 110, 2, 2),
        ("c1", "consumed", "a/0", 120, 1, 4),
        ("c2", "consumed", "a/0", 110, 1, 2),
        ("c2", "processed", "", 130, 1, 3),
        ("sent", "sent", "a/0", 100, 2, 2),
    ]


def test_a_message_is_told_with_every_ledger_that_notes_it(ledger):
    assert told(ledgers.deliveries(ledger), "topic", "queue", "at", "sources", "messages") == [
        ("orders", "", 130, ["c2"], 1),
        ("orders", "a/0", 110, ["c1", "c1"], 1),
        ("orders", "a/0", 110, ["c1", "c2"], 1),
    ]
