"""What every loader's test does: literal lines in, plain tuples out."""

import pytest
from pyspark.sql import functions as F

from mqlab.loaders import console, ledger_rows
from mqlab.loaders.base import Head, LaidOut
from mqlab.tables import EVENTS

ROWS = "source string, line long, text string, name string, snapshot_at timestamp"


@pytest.fixture
def tables(spark):
    """A function: the tables of a loader for the lines of one file, ``snapshot_at`` as written."""

    def _tables(loader, text, name="out.txt", snapshot_at=None):
        lines = text.removeprefix("\n").split("\n")
        rows = [("dir/" + name, number, line, name, None) for number, line in enumerate(lines, 1)]
        moment = F.lit(snapshot_at).cast("timestamp")
        lines = console.dated(spark.createDataFrame(rows, ROWS).withColumn("snapshot_at", moment))
        if isinstance(loader, LaidOut):
            layouts = {"dir/" + name: loader.layout(Head(name, text, len(text)))}
            lines = lines.join(spark.sql(ledger_rows.layouts(layouts)), "source")
        found, complaints = dict(loader.load(lines)), console.tool_errors(lines)
        return found | {EVENTS: found[EVENTS].unionByName(complaints) if EVENTS in found else complaints}

    return _tables


@pytest.fixture
def loaded(tables):
    """A function: rows of one table as tuples of the wanted columns, by line; moments as ``HH:mm:ss`` UTC."""

    def _loaded(loader, table, columns, text, name="out.txt", snapshot_at=None):
        frame = tables(loader, text, name, snapshot_at)[table]
        assert frame.schema.names == table.schema.names
        clock = F.date_format("at", "HH:mm:ss").alias("at")
        wanted = [clock if column == "at" else F.col(column) for column in columns.split()]
        return [tuple(row) for row in frame.sort("line").select(*wanted).collect()]

    return _loaded


@pytest.fixture
def classes(spark):
    """A function: the class of each line, in order."""

    def _classes(loader, text):
        lines = list(enumerate(text.removeprefix("\n").split("\n")))
        frame = spark.createDataFrame(lines, "n int, text string").sort("n")
        return [row[0] for row in frame.selectExpr(loader.line_class("text")).collect()]

    return _classes
