"""The canonical tables as they are stored: Parquet by table, read back as typed DataFrames.

Moments of log lines are still on the line's own clock (``at``), ``east`` is how far east of UTC that is where the line
writes its zone. Lines of a source that was read in several splits count from its beginning again here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from mqlab.kernel.output import COVERAGE, FACTS, ddl
from mqlab.material import remote
from mqlab.tables import Table


@dataclass(frozen=True)
class Stored:
    """The rows of some sources, in the files that tasks wrote."""

    spark: SparkSession
    files: Mapping[str, Sequence[str]]
    """Locations by the name of the table."""
    sources: Collection[str] | None = None
    """``Source.link`` of those whose rows count; None for all in the files."""
    cut: Collection[str] = ()
    """Those that were read in several splits."""

    def table(self, table: Table) -> DataFrame | None:
        """The rows of *table*; None where there are none."""
        if table.name not in self.files:
            return None
        read = self.spark.read.option("ignoreCorruptFiles", "false").schema(ddl(table))
        rows = read.parquet(*[remote.for_spark(location) for location in self.files[table.name]])
        if self.sources is not None:
            rows = rows.where(F.col("source").isin(*sorted(self.sources)))
        return self._numbered(rows) if self.cut and table not in (COVERAGE, FACTS) else rows

    def _numbered(self, rows: DataFrame) -> DataFrame:
        """*rows* with lines that count from the beginning of the source, not of the split."""
        counted = self.table(COVERAGE)
        if counted is None:
            return rows
        before = "OVER (PARTITION BY source ORDER BY split ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)"
        cut = counted.where(F.col("source").isin(*sorted(self.cut))).groupBy("source", "split")
        begins = cut.agg(F.sum("lines").alias("lines")).selectExpr(
            "source", "split", f"coalesce(sum(lines) {before}, 0) AS earlier"
        )
        placed = rows.join(F.broadcast(begins), ["source", "split"], "left")
        return placed.withColumn("line", F.expr("line + coalesce(earlier, 0)")).drop("earlier")
