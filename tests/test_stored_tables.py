"""Canonical tables as a notebook gets them: typed, in UTC, and quick to join, whatever the material."""

from collections import Counter
from functools import reduce
from pathlib import Path

import pytest
from pyspark.sql import functions as F

from mqlab.capture import open_capture
from mqlab.tables import EVENTS, TABLES, VOLUME

pytestmark = pytest.mark.usefixtures("spark")

SAMPLES = Path(__file__).parents[1] / "data" / "samples"


@pytest.fixture(params=["rocketmq-02", "mqtt-kafka-01"])
def capture(request, tmp_path_factory):
    workspace = tmp_path_factory.getbasetemp() / "stored"
    return open_capture(SAMPLES / request.param, workspace=str(workspace))


def test_all_tables_join_on_their_files_and_count(capture):
    there = [table for table in TABLES if table.name != "rejects"]
    rows = [capture.table(table).groupBy("source").agg(F.count("*").alias(table.name)) for table in there]
    joined = reduce(lambda one, two: one.join(two, "source", "outer"), rows).collect()
    counts = {table.name: {row["source"]: row[table.name] for row in joined if row[table.name]} for table in there}
    assert counts == {
        table.name: Counter(row["source"] for row in capture.table(table).select("source").collect()) for table in there
    }


def test_a_table_has_the_columns_of_its_contract_and_moments_within_the_material(capture):
    begin, end = capture.diagnosis.material.window
    for table in (EVENTS, VOLUME):
        frame = capture.table(table)
        assert frame.schema == table.schema
        first, last = frame.selectExpr("unix_seconds(min(at))", "unix_seconds(max(at))").collect()[0]
        assert begin - 60 <= first <= last <= end + 60


def test_the_node_is_told_wherever_the_file_says_whose_log_it_is(tmp_path):
    log = tmp_path / "server.log"
    log.write_text(
        "[2026-11-21 12:18:43,427] INFO [GroupCoordinator 2]: Preparing to rebalance group g in state Stable with old "
        "generation 4 (__consumer_offsets-2) (reason: x) (kafka.coordinator.group.GroupCoordinator)\n"
        "[2026-11-21 12:18:44,427] INFO Stabilized group g generation 5 (__consumer_offsets-2) with 3 members "
        "(kafka.coordinator.group.GroupCoordinator)\n",
        encoding="utf-8",
    )
    capture = open_capture(log, workspace=str(tmp_path / "workspace"))
    told = capture.table(EVENTS).sort("line").select("kind", "node").collect()
    assert [tuple(row) for row in told] == [("rebalance-started", "2"), ("rebalance-stabilized", "2")]
