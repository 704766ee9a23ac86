"""Parquet files of the workspace, here or on another file system, as the kernel on a worker reads and writes them.

``pyarrow.dataset`` is not used: importing it imports pandas, which takes a worker half a second.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from mqlab.material import remote


def write_parquet(table: pa.Table, location: str) -> None:
    """Write *table* to a file that nobody else writes."""
    system, path = _placed(location)
    system.create_dir(path.rpartition("/")[0], recursive=True)
    with system.open_output_stream(path, compression=None) as out:
        pq.write_table(table, out, compression="zstd", write_statistics=["source"])


def read_parquet(locations: Sequence[str], sources: Collection[str] | None) -> pa.Table:
    """The rows of these files, all of one table, that are about *sources*; of all where that is None."""
    tables = [_whole(location) for location in locations]
    return pa.concat_tables(tables if sources is None else [about(rows, sources) for rows in tables])


def batches(location: str, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
    """The rows of a file, piece by piece; of all columns, or of these."""
    with _opened(location) as file:
        yield from file.iter_batches(columns=columns)


def count_rows(locations: Sequence[str], sources: Collection[str] | None) -> int:
    """How many rows of these files are about *sources*; of all where that is None."""
    count = 0
    for location in locations:
        with _opened(location) as file:
            if sources is None:
                count += file.metadata.num_rows
            else:
                count += about(file.read(columns=["source"]), sources).num_rows
    return count


def check_parquet(location: str) -> None:
    """Read a file from end to end.

    Raises:
        OSError: it is damaged.
    """
    try:
        _whole(location)
    except pa.ArrowInvalid as error:
        raise OSError(str(error)) from error


def _whole(location: str) -> pa.Table:
    with _opened(location) as file:
        return file.read()


def about(rows: pa.Table, sources: Collection[str]) -> pa.Table:
    """Those of *rows* that are about *sources*."""
    own = pl.Series(pl.from_arrow(rows.column("source"))).is_in(sorted(sources))
    return rows if own.all() else rows.filter(own.to_arrow())


@contextmanager
def _opened(location: str) -> Iterator[Any]:
    system, path = _placed(location)
    with system.open_input_file(path) as raw, pq.ParquetFile(raw) as file:
        yield file


def _placed(location: str) -> tuple[Any, str]:
    if remote.is_uri(location):
        return remote.placed(location)
    from pyarrow import fs

    return fs.LocalFileSystem(), str(Path(location))
