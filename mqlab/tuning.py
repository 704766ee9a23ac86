"""What Spark is set to, and what results depend on.

A local session starts quickly: the C1 compiler, the serial collector, no generated code. That serves large material as
well, since reading and thinning are the kernel's, and Spark's own share is small.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

TINY = 32 * 1024 * 1024
"""Bytes of material up to which one partition is faster than spreading the work."""
LARGE = 256 * 1024 * 1024
"""Bytes of material for each partition of tables that are joined."""

_INTERPRETED = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
"""Compiling generated code takes longer than running without it."""

JVM = ("-Xmx1g", "-Dlog4j2.level=OFF", "-XX:-UsePerfData", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
"""Options of the JVM: memory, which is only a limit, log, compiler and collector."""

PARTITIONS = "spark.sql.shuffle.partitions"
UNCONFIGURED = "200"
"""Spark's own number of shuffle partitions: nobody chose it."""

SQL = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.files.ignoreCorruptFiles": "true",
    "spark.sql.legacy.timeParserPolicy": "CORRECTED",
    "spark.sql.icu.caseMappings.enabled": "false",
}
"""What results depend on; the tables that Unicode's own rules for letters need would cost a second on first use."""

_HERE = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.log.level": "OFF",
    "spark.python.sql.dataFrameDebugging.enabled": "false",
}


def server(cache: Path, shared: Sequence[str], class_path: str) -> Mapping[str, str]:
    """Settings of a warm server; what depends on material comes by session.

    Its JVM gets the flags *shared*, too, for archives that serve class paths that begin with *class_path*.
    """
    memory, *flags = JVM
    return {
        **_HERE,
        **SQL,
        "spark.sql.warehouse.dir": str(cache / "session"),
        "spark.driver.extraClassPath": class_path,
        "spark.driver.memory": memory.removeprefix("-Xmx"),
        "spark.driver.extraJavaOptions": shlex.join([*flags, *shared]),
    }


def local(size: int) -> Mapping[str, str]:
    """Settings of a session on this machine for *size* bytes."""
    return {**_HERE, **sized(size), "spark.default.parallelism": sized(size)[PARTITIONS]}


def sized(size: int) -> Mapping[str, str]:
    """What a session needs for *size* bytes on this machine, as far as it can be set while Spark runs."""
    partitions = str(max(1 if size < TINY else 2, min(64, size // LARGE)))
    return {
        PARTITIONS: partitions,
        "spark.sql.leafNodeDefaultParallelism": partitions,
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.sources.parallelPartitionDiscovery.threshold": "100000",
        "spark.sql.files.openCostInBytes": "65536",
        "spark.sql.files.maxPartitionBytes": "67108864",
        "spark.sql.lightweightPlanChangeValidation": "false",
        **_INTERPRETED,
    }


def few(size: int) -> Mapping[str, str]:
    """Settings for small material: as many partitions as pay off, and no generated code."""
    return {PARTITIONS: "1" if size < TINY else "2", "spark.sql.files.openCostInBytes": "65536", **_INTERPRETED}
