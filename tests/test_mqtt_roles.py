"""Roles of MQTT ledgers that tell none, by who noted the same messages before."""

import pytest

from mqlab.thinning import mqtt_roles

DRAWN = """
    out      sent  a/1  1  0
    out      sent  a/1  2  1
    out      sent  a/1  3  2
    hearer   -     a/1  1  0
    hearer   -     a/1  2  1
    hearer   -     a/1  3  5
    counter  -     b/1  1  0
    counter  -     b/1  2  1
    counter  -     b/1  3  9
    before   -     a/1  2  0
    before   -     a/1  3  0
    few      -     a/1  1  7
    few      -     a/1  9  8
    kafka    -     a/1  1  9
    told     processed  a/1  1  9
"""


@pytest.fixture(scope="module")
def roles(spark):
    """Role and what it is known by, of each ledger."""
    rows = [
        (source, None if role == "-" else role, None if role == "-" else "name", topic, key, int(second))
        for source, role, topic, key, second in map(str.split, DRAWN.strip().splitlines())
    ]
    columns = "source string, role string, told string, topic string, key string, second long"
    frame = spark.createDataFrame(rows, columns).selectExpr("*", "timestamp_seconds(second) AS wall")

    def of(*links):
        known = mqtt_roles.filled(frame, links).select("source", "role", "told").distinct().collect()
        return {row["source"]: (row["role"], row["told"]) for row in known}

    return of


def test_a_ledger_of_messages_that_a_publisher_noted_before_is_a_receivers(roles):
    assert roles("out", "hearer", "counter", "before", "few", "told") == {
        "out": ("sent", "name"),
        "hearer": ("received", "shape"),
        "counter": (None, None),
        "before": (None, None),
        "few": (None, None),
        "kafka": (None, None),
        "told": ("processed", "name"),
    }


def test_without_a_publisher_nothing_is_guessed(roles):
    assert roles("hearer")["hearer"] == (None, None)


def test_where_each_ledger_tells_its_role_nothing_changes(roles):
    assert roles("out", "told")["hearer"] == (None, None)
