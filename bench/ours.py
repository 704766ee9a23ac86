"""mqlab's scan stage alone: raw bytes to tagged Parquet, with the bytes that Spark says it read."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from mqlab import intake, scan
from mqlab.loaders import LOADERS
from mqlab.session import spark_session


def main(log: str, out: Path) -> dict[str, float]:
    """Scan *log* to ``out/tagged``.

    Returns:
        ``seconds`` of the scan, ``gathering`` seconds of the recognition before it (which may decompress), and the
        ``read`` bytes. The session starts in between and is not counted.
    """
    events = out / "events"
    events.mkdir()
    before = time.perf_counter()
    sources = intake.gather([log], out / "unpacked", LOADERS)
    intake.link_sources(sources, out / "links")
    gathering = time.perf_counter() - before
    extra = {"spark.eventLog.enabled": "true", "spark.eventLog.dir": events.as_uri(),
             "spark.eventLog.compress": "false", "spark.eventLog.rolling.enabled": "false"}  # fmt: skip
    spark = spark_session(size=sum(source.unpacked for source in sources), extra=extra)
    spark.range(1).count()
    started = time.perf_counter()
    scan.scan(spark, out / "links", sources, out / "tagged")
    seconds = time.perf_counter() - started
    spark.stop()
    return {"seconds": seconds, "gathering": gathering, "read": _read(events)}


def _read(events: Path) -> int:
    """Bytes that tasks read from files, from Spark's event log."""
    total = 0
    for log in events.iterdir():
        for line in log.read_text(encoding="utf-8").splitlines():
            event = json.loads(line)
            if event["Event"] == "SparkListenerTaskEnd" and event.get("Task Metrics"):
                total += event["Task Metrics"]["Input Metrics"]["Bytes Read"]
    return total


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], Path(sys.argv[2]))))
