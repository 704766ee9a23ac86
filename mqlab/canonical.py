"""The canonical tables as they are stored: Parquet by table, read back as typed DataFrames.

Moments of log lines are still on the line's own clock (``at``), ``east`` is how far east of UTC that is where the line
writes its zone. Lines of a source that was read in several splits count from its beginning again here.

They live in whatever session the user has: nothing is SQL text, and no type or conversion is left to its settings.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from mqlab.kernel.output import COVERAGE, FACTS
from mqlab.kernel.output import stored as stored_columns
from mqlab.material import remote
from mqlab.tables import Table

_READ = {"ignoreCorruptFiles": "false", "ignoreMissingFiles": "false", "datetimeRebaseMode": "CORRECTED"}
"""How Parquet is read, whatever the session says: files that are damaged or gone are errors, moments as written."""


@dataclass(frozen=True)
class Stored:
    """The rows of some sources, in the files that tasks wrote."""

    spark: SparkSession | None
    """None where nobody asks for a table."""
    files: Mapping[str, Sequence[str]]
    """Locations by the name of the table."""
    sources: Collection[str] | None = None
    """``Source.link`` of those whose rows count; None for all in the files."""
    cut: Collection[str] = ()
    """Those that were read in several splits."""

    def table(self, table: Table) -> DataFrame | None:
        """The rows of *table*; None where there are none."""
        if self.spark is None or table.name not in self.files:
            return None
        read = self.spark.read.options(**_READ).schema(Table(table.name, stored_columns(table)).schema)
        rows = read.parquet(*[remote.for_spark(location) for location in self.files[table.name]])
        if self.sources is not None:
            rows = rows.where(F.col("source").isin(*sorted(self.sources)))
        return self._numbered(rows) if self.cut and table not in (COVERAGE, FACTS) else rows

    def _numbered(self, rows: DataFrame) -> DataFrame:
        """*rows* with lines that count from the beginning of the source, not of the split."""
        counted = self.table(COVERAGE)
        if counted is None:
            return rows
        before = Window.partitionBy("source").orderBy("split").rowsBetween(Window.unboundedPreceding, -1)
        cut = counted.where(F.col("source").isin(*sorted(self.cut))).groupBy("source", "split")
        begins = cut.agg(F.sum("lines").alias("lines")).select(
            "source", "split", F.sum("lines").over(before).alias("earlier")
        )
        placed = rows.join(F.broadcast(begins), ["source", "split"], "left")
        return placed.withColumn("line", F.col("line") + F.coalesce("earlier", F.lit(0))).drop("earlier")
