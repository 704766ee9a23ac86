"""Parquet files of the workspace, here or on another file system, as the kernel on a worker reads and writes them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from mqlab.material import filesystems


def write_parquet(table: pa.Table, location: str) -> None:
    """Write *table* to a file that nobody else writes."""
    system, path = _placed(location)
    system.create_dir(path.rpartition("/")[0], recursive=True)
    pq.write_table(table, path, filesystem=system, compression="zstd", write_statistics=["source"])


def read_parquet(locations: Sequence[str], sources: Collection[str] | None) -> pa.Table:
    """The rows of these files, all of one table, that are about *sources*; of all where that is None."""
    placed = [_placed(location) for location in locations]
    rows = ds.dataset([path for _, path in placed], filesystem=placed[0][0], format="parquet")
    return rows.to_table(filter=None if sources is None else ds.field("source").isin(sorted(sources)))


def check_parquet(location: str) -> None:
    """Read a file from end to end.

    Raises:
        OSError: it is damaged.
    """
    system, path = _placed(location)
    try:
        for _ in pq.ParquetFile(path, filesystem=system).iter_batches():
            pass
    except pa.ArrowInvalid as error:
        raise OSError(str(error)) from error


def _placed(location: str) -> tuple[Any, str]:
    if filesystems.is_uri(location):
        return filesystems.placed(location)
    return pa.fs.LocalFileSystem(), str(Path(location))
