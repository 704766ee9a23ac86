"""Tables of a capture in files that other programs open: Parquet, and CSV for spreadsheets."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from mqlab import __version__
from mqlab.cache.typed import Rows
from mqlab.errors import CannotSaveError

MANIFEST = "mqlab-tables.json"
"""What says that the files beside it are mqlab's, and how many rows they have."""
_FORMULA = r"^[=+\-@\t\r\n＝＋－＠]"
"""How a cell begins that a spreadsheet takes for a formula (OWASP, CSV injection)."""
_NUMBER = r"^[+-]?\d+(\.\d+)?([eE][+-]?\d+)?$"


def save(folder: Path, tables: Iterable[Rows], material: Collection[str]) -> tuple[Path, ...]:
    """Write *tables* to *folder*, two files each; the files.

    Raises:
        CannotSaveError: the folder holds something else, is in the *material*, or cannot be written.
    """
    with _whole(folder, material) as new:
        counts = {rows.table.name: _written(rows, new) for rows in tables}
        names = [f"{name}.{kind}" for name in counts for kind in ("parquet", "csv")]
        manifest = {"mqlab": __version__, "material": list(material), "rows": counts, "files": names}
        (new / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")
    return tuple(folder / name for name in names)


def _written(rows: Rows, folder: Path) -> int:
    """Write the files of one table; its rows."""
    count, stem = 0, folder / rows.table.name
    empty = pa.RecordBatch.from_pylist([], schema=rows.schema)
    with (
        pq.ParquetWriter(stem.with_suffix(".parquet"), rows.schema, compression="zstd") as parquet,
        stem.with_suffix(".csv").open("wb") as csv,
    ):
        _cells(empty).write_csv(csv, include_bom=True)
        for batch in rows.every():
            parquet.write_batch(batch)
            _cells(batch).write_csv(csv, include_header=False)
            count += batch.num_rows
    return count


def _cells(batch: pa.RecordBatch) -> pl.DataFrame:
    """The rows as cells of a spreadsheet."""
    columns = {}
    for field, values in zip(batch.schema, batch.columns, strict=True):
        if pa.types.is_map(field.type):
            told = [None if one is None else json.dumps(dict(one), ensure_ascii=False) for one in values.to_pylist()]
            columns[field.name] = pl.Series(told, dtype=pl.String)
        else:
            columns[field.name] = pl.Series(pl.from_arrow(values))
    text = pl.selectors.string()
    harmless = text.is_null() | text.str.contains(_NUMBER) | ~text.str.contains(_FORMULA)
    return pl.DataFrame(columns).with_columns(
        pl.when(harmless).then(text).otherwise(pl.lit("'") + text),
        pl.selectors.datetime().dt.strftime("%Y-%m-%dT%H:%M:%S%.6fZ"),
    )


@contextmanager
def _whole(folder: Path, material: Collection[str]) -> Iterator[Path]:
    """A new folder that takes the place of *folder* when the block ends well."""
    try:
        real = folder.resolve()
        if because := _objection(real, [Path(path).resolve() for path in material]):
            raise CannotSaveError(str(folder), because)
        real.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".mqlab-", dir=real.parent) as beside:
            new, old = Path(beside, "new"), Path(beside, "old")
            new.mkdir()
            yield new
            if not real.exists():
                new.rename(real)
                return
            real.rename(old)
            try:
                new.rename(real)
            except OSError:
                old.rename(real)
                raise
    except OSError as error:
        raise CannotSaveError(str(folder), error.strerror or str(error)) from error


def _objection(folder: Path, material: Collection[Path]) -> str | None:
    """Why nothing may be saved there."""
    if any(given == folder or (given.is_dir() and given in folder.parents) for given in material):
        return "it is in the material, where the tables would be read as material the next time"
    if not folder.exists():
        return None
    if not folder.is_dir():
        return "there is a file of that name"
    there, manifest = {file.name for file in folder.iterdir()}, folder / MANIFEST
    try:
        own = {MANIFEST, *json.loads(manifest.read_bytes())["files"]} if there else set()
    except (OSError, ValueError, KeyError, TypeError):
        own = set()
    others = sorted(there - own)
    return f"it contains {others[0]}, which mqlab did not write" if others else None
