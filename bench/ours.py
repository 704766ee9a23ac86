"""mqlab's scan alone: raw bytes to rows of canonical tables and counts, as Parquet, by the job that runs in Spark."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from pyspark.sql import SparkSession

from bench.checks import ROWS
from mqlab import intake
from mqlab.formats.registry import FORMATS
from mqlab.kernel import job
from mqlab.kernel.splits import splits
from mqlab.sources import Source
from mqlab.spark.session import spark_session


def scan(spark: SparkSession, sources: list[Source], out: Path) -> None:
    """Read *sources* into ``out/rows``."""
    job.read(spark, list(splits(sources)), str(out / ROWS))


def main(log: str, out: Path) -> dict[str, float]:
    """Scan *log* into *out*.

    Returns:
        ``seconds`` of the scan, the start of Python's workers included, and ``gathering`` seconds of the recognition
        before it. The session starts in between and is not counted; it is never one that is warm already.
    """
    before = time.perf_counter()
    sources = intake.gather([log], out / "unpacked", FORMATS)
    gathering = time.perf_counter() - before
    spark = spark_session(size=sum(source.unpacked for source in sources), master="local[*]")
    spark.range(1).count()
    started = time.perf_counter()
    scan(spark, sources, out)
    seconds = time.perf_counter() - started
    spark.stop()
    return {"seconds": seconds, "gathering": gathering}


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], Path(sys.argv[2]))))
