"""mqlab's scan stage alone: raw bytes to tagged Parquet, with the bytes that Spark says it read."""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

from pyspark.sql import functions as F

from mqlab import intake, scan
from mqlab.loaders import LOADERS
from mqlab.session import spark_session


def main(path: str) -> None:
    """Print seconds, groups, planted events and bytes read."""
    with tempfile.TemporaryDirectory() as folder:
        work, logs = Path(folder), Path(folder) / "events"
        logs.mkdir()
        (work / "unpacked").mkdir()
        sources = intake.gather([path], work / "unpacked", LOADERS)
        intake.link_sources(sources, work / "links")
        extra = {"spark.eventLog.enabled": "true", "spark.eventLog.dir": logs.as_uri(),
                 "spark.eventLog.compress": "false",
                 "spark.eventLog.rolling.enabled": "false"}  # fmt: skip
        spark = spark_session(size=sources[0].size, extra=extra)
        spark.range(1).count()
        started = time.perf_counter()
        scan.scan(spark, work / "links", sources, work / "tagged")
        seconds = time.perf_counter() - started
        rows = scan.tagged(spark, work / "tagged")
        groups = rows.filter("tag = 'count'").count()
        events = rows.filter((F.col("tag") == "event") & F.col("text").contains("group planted")).count()
        spark.stop()
        print(f"{seconds:.3f} {groups} {events} {_read(logs)}")


def _read(logs: Path) -> int:
    """Bytes that the tasks of the scan read from files, from Spark's event log (Parquet reads come later)."""
    total = 0
    for log in logs.iterdir():
        for line in log.read_text(encoding="utf-8").splitlines():
            event = json.loads(line)
            if event["Event"] == "SparkListenerTaskEnd" and event.get("Task Metrics"):
                total += event["Task Metrics"]["Input Metrics"]["Bytes Read"]
    return total


if __name__ == "__main__":
    main(sys.argv[1])
