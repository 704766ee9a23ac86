"""What Spark's workers have of what the kernel needs: Python's minor version of the driver, pyarrow and polars."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from mqlab.clusters import cause, lacking, shown
from mqlab.errors import ClusterError
from mqlab.session import spark_session

if TYPE_CHECKING:
    import pyarrow as pa


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
