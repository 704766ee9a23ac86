"""Tables without Spark at hand: ``spark.read.format("mqlab")`` for any session, and files that other programs open."""

import json
import pickle
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyspark.sql.datasource import CaseInsensitiveDict

import mqlab
from mqlab import saving
from mqlab.cache.typed import Typed, placed
from mqlab.errors import CannotSaveError, MqlabError
from mqlab.spark.source import MqlabDataSource
from mqlab.tables import EVENTS, TABLES

SAMPLE = Path(__file__).parents[1] / "data" / "samples" / "rocketmq-02"


@pytest.fixture(scope="module")
def capture(spark, tmp_path_factory):  # noqa: ARG001 - the session is there before it is asked for
    return mqlab.open_capture(SAMPLE, workspace=str(tmp_path_factory.mktemp("workspace")))


def rows(table):
    """All rows in one order; labels as pairs."""
    return sorted(json.dumps(row, sort_keys=True, default=str) for row in table.to_pylist())


def read(capture, table):
    """The rows as a worker reads them, which gets all that it needs by pickle."""
    typed = Typed(capture.cache, capture.places, placed(capture.sources, capture.facts.coverage)).table(table)
    return pa.Table.from_batches(pickle.loads(pickle.dumps(typed)).every(), typed.schema)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_a_worker_reads_the_rows_that_the_capture_has(capture, table):
    found, wanted = read(capture, table), capture.table(table).toArrow()

    assert found.schema == wanted.schema
    assert rows(found) == rows(wanted)


def test_moments_and_lines_of_a_log_in_several_splits_are_the_same_where_a_clock_is_set(spark, tmp_path, monkeypatch):  # noqa: ARG001
    times = [
        f"2026-{day} {hour:02}:{minute:02}:00,000"
        for day in ("03-08", "11-01")
        for hour in range(4)
        for minute in (0, 30)
    ]
    line = "[{}] INFO [GroupCoordinator 2]: Member c-{} in group g has failed, removing it from the group (kafka)\n"
    log = tmp_path / "server.log"
    log.write_text("".join(line.format(at, number) for number, at in enumerate(times)), encoding="utf-8")
    monkeypatch.setattr("mqlab.kernel.splits.SIZE", 600)
    capture = mqlab.open_capture(log, workspace=str(tmp_path / "w"), log_tz="America/New_York")

    assert len(capture.places.cut) == 1
    assert rows(read(capture, EVENTS)) == rows(capture.events.toArrow())
    assert read(capture, EVENTS).num_rows == len(times)


def test_a_session_that_was_told_reads_tables_in_python_and_sql(spark, capture):
    mqlab.register(spark)
    options = {"table": "settings", "workspace": str(capture.cache)}
    wanted = rows(capture.settings.toArrow())
    spark.sql(
        f"CREATE TEMPORARY VIEW told USING mqlab OPTIONS (table 'settings', path '{SAMPLE}', "
        f"workspace '{capture.cache}')"
    )

    assert rows(spark.read.format("mqlab").options(**options).load(str(SAMPLE)).toArrow()) == wanted
    assert rows(spark.sql("select * from told").toArrow()) == wanted
    assert spark.read.format("mqlab").options(**options | {"table": "rejects"}).load(str(SAMPLE)).count() == 0
    spark.catalog.dropTempView("told")


@pytest.mark.parametrize(
    ("options", "because"),
    [
        ({"table": "event", "path": "x"}, "there is no table 'event': write .option"),
        ({"path": "x"}, "no table is given: write .option"),
        ({"table": "events"}, 'no path is given: write .load("bundle/").'),
        ({"table": "events", "path": "x", "since": "2"}, "it has no option 'since'; known: ledger, log_tz, path"),
        ({"table": "events", "path": "/nowhere"}, "there is no '/nowhere'; relative paths are below "),
        ({"table": "events", "path": "x", "log_tz": "Mars"}, "'Mars' is not a time zone"),
        ({"table": "events", "path": "x", "option.table": "events"}, "write CREATE TEMPORARY VIEW … USING mqlab."),
    ],
)
def test_what_cannot_be_read_so_is_one_sentence(tmp_path, options, because):
    with pytest.raises(MqlabError) as told:
        MqlabDataSource(CaseInsensitiveDict(options | {"workspace": str(tmp_path)})).schema()
    assert because in str(told.value)


@pytest.mark.slow
def test_material_that_was_not_read_is_read_first(tmp_path):
    log = tmp_path / "server.log"
    log.write_text("[2026-11-21 12:00:00,000] INFO [KafkaServer id=1] started (kafka.server.KafkaServer)\n")
    source = MqlabDataSource(
        CaseInsensitiveDict({"table": "events", "path": str(log), "workspace": str(tmp_path / "w")})
    )
    reader = source.reader(source.schema())

    (part,) = reader.partitions()
    (told,) = pa.Table.from_batches(reader.read(part)).select(["kind", "node", "line"]).to_pylist()
    assert told == {"kind": "broker-started", "node": "1", "line": 1}


def test_every_table_is_saved_as_parquet_and_csv(capture, tmp_path):
    saved = capture.save(tmp_path / "tables")

    assert [file.name for file in saved] == [f"{t.name}.{kind}" for t in TABLES for kind in ("parquet", "csv")]
    counts = json.loads((tmp_path / "tables" / saving.MANIFEST).read_text())["rows"]
    assert {name: count for name, count in counts.items() if name != "volume"} == capture.sizes()
    for table in TABLES:
        parquet = pd.read_parquet(tmp_path / "tables" / f"{table.name}.parquet")
        csv = pd.read_csv(tmp_path / "tables" / f"{table.name}.csv", low_memory=False)
        assert (list(csv.columns), len(csv)) == (list(table.names), counts[table.name])
        assert (list(parquet.columns), len(parquet)) == (list(table.names), counts[table.name])
        if "at" in parquet:
            assert pd.to_datetime(csv["at"], utc=True).astype(parquet["at"].dtype).equals(parquet["at"])


def test_a_cell_that_a_spreadsheet_would_run_is_text_and_a_number_stays_one():
    text = ["=1+1", "+x", "-x", "@x", "\tx", "\rx", "-5", "+5.5e3", "plain", None, "ok, =1"]
    cells = saving._cells(pa.record_batch({"text": text, "n": [-1] * len(text)}))

    wanted = ["'=1+1", "'+x", "'-x", "'@x", "'\tx", "'\rx", "-5", "+5.5e3", "plain", None, "ok, =1"]
    assert cells.equals(pl.DataFrame({"text": wanted, "n": [-1] * len(text)}))


def test_tables_take_the_place_of_saved_tables_only_and_never_lie_in_the_material(tmp_path):
    material, folder = tmp_path / "material", tmp_path / "tables"
    material.mkdir()
    saving.save(folder, [], [str(material)])
    saving.save(folder, [], [str(material)])
    (folder / "mine.txt").write_text("mine")
    for place, because in (
        (folder, "it contains mine.txt, which mqlab did not write"),
        (folder / "mine.txt", "there is a file of that name"),
        (material, "it is in the material"),
        (material / "tables", "it is in the material"),
    ):
        with pytest.raises(CannotSaveError, match=because):
            saving.save(place, [], [str(material)])
    assert sorted(file.name for file in folder.iterdir()) == ["mine.txt", saving.MANIFEST]
    assert [*material.iterdir()] == []
