"""What ``mqlab doctor`` prepares and asks: class-data archives, and what workers have.

``mqlab doctor --prepare`` makes them once for each Java and Spark; ``make setup`` runs it. An archive is put in place
when it is whole, so any number of processes may make or use them at once.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import pyarrow as pa

from mqlab.cache import workspace
from mqlab.cache.owner import is_trusted
from mqlab.errors import ClusterError, WorkspaceError
from mqlab.spark import jvm
from mqlab.spark.clusters import cause, lacking, shown
from mqlab.spark.session import spark_session

_ROW = "name string, at bigint, n int, text string, words array<string>"
_ARROW = pa.schema(
    {"name": pa.string(), "at": pa.int64(), "n": pa.int32(), "text": pa.string(), "words": pa.list_(pa.string())}
)
_UNUSED = 30 * 86400
"""Seconds after which an archive that nobody used goes."""


def prepare() -> bool:
    """Make the archives that this Java lacks; whether all are there.

    Raises:
        JavaMissingError: no usable Java is here.
        WorkspaceError: the user's cache cannot be written, or is not this user's alone.
    """
    known = jvm.java()
    *base, top = jvm.archives(known)
    if all(map(is_trusted, [*base, top])):
        return True
    try:
        workspace.cache_folder(str(top.parent))
        _forget(top.parent)
        with tempfile.TemporaryDirectory(dir=top.parent, prefix="classes-") as folder:
            made = Path(folder, "made.jsa")
            for file in base:
                _run(
                    known.command, "-XX:+UseSerialGC", jvm.NO_PERF_DATA, "-Xshare:dump", f"-XX:SharedArchiveFile={made}"
                )
                _keep(made, file)
            _run(sys.executable, "-m", "mqlab.spark.doctor", str(made), *map(str, base))
            _keep(made, top)
    except OSError as error:
        raise WorkspaceError(str(top.parent), error.strerror or str(error)) from error
    return all(map(is_trusted, [*base, top]))


def _keep(made: Path, place: Path) -> None:
    with suppress(FileNotFoundError):  # a Java that makes none works without
        made.replace(place)


def _run(*words: str | Path) -> None:
    subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def _forget(folder: Path) -> None:
    """Remove archives, also half ones, that nobody used for long."""
    for left in folder.glob("classes-*"):
        with suppress(OSError):
            if time.time() - left.stat().st_mtime > _UNUSED:
                for file in left.iterdir() if left.is_dir() else ():
                    file.unlink()
                left.rmdir() if left.is_dir() else left.unlink()


def _work(folder: Path) -> None:
    """Some Spark work of all the kinds that a run does."""
    from pyspark.sql import functions as F

    spark = spark_session(master="local[*]")
    listed = pa.table({"path": ["a", "b"], "start": [0, 64]})
    spark.createDataFrame(listed).mapInArrow(_lines, _ROW).write.partitionBy("name").parquet(str(folder))
    rows = spark.read.schema(_ROW).parquet(str(folder)).withColumn("at", F.timestamp_micros("at"))
    counts = rows.groupBy("name", F.window("at", "1 minute")["start"].alias("minute")).agg(F.count("*"), F.max("n"))
    both = rows.join(counts, "name").where(F.col("text").rlike("e")).orderBy("at", "n").limit(9)
    both.select(F.to_json(F.struct("*")).alias("json")).collect()
    rows.select("text", F.explode("words")).distinct().toArrow()
    spark.stop()


def _lines(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        rows = [
            {"name": name, "at": 0, "n": 1, "text": "line", "words": ["a", "b"]} for name in batch["path"].to_pylist()
        ]
        yield pa.RecordBatch.from_pylist(rows, _ARROW)


def _main(made: str, *base: str) -> None:
    shared = [f"-XX:ArchiveClassesAtExit={made}", *(f"-XX:SharedArchiveFile={file}" for file in base)]
    jvm.start(jvm.flags([*shared, "-Xlog:disable", "-Xlog:all=off"]), None)
    with workspace.scratch() as folder:
        _work(folder / "rows")
    jvm.leave()


if __name__ == "__main__":
    _main(*sys.argv[1:])


def asked(master: str | None, remote: str | None) -> str:
    """What one worker of the cluster runs: ``Python 3.11.7, pyarrow 26.0.1, polars 2.1.0``.

    Raises:
        ClusterError: it does not answer, or lacks what reading needs; the sentence says what.
    """
    spark = spark_session(master=master, remote=remote)
    try:
        rows = spark.range(1).mapInArrow(_versions, "told string").collect()
    except Exception as error:
        raise ClusterError(shown(master or remote or "local"), lacking(str(error)) or cause(error, None)) from error
    return str(rows[0]["told"])


def _versions(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    import platform

    import polars
    import pyarrow

    for _ in batches:
        told = f"Python {platform.python_version()}, pyarrow {pyarrow.__version__}, polars {polars.__version__}"
        yield pyarrow.RecordBatch.from_arrays([pyarrow.array([told])], names=["told"])
