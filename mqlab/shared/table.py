"""Rows as a table for notebooks; its columns are named in one text, parted by ``|``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd


def table(
    rows: Iterable[Sequence[object]] | Iterable[Mapping[str, object]], columns: str | Sequence[str]
) -> pd.DataFrame:
    """The first column is the index, so that no running number is shown; its name stands in the one header row."""
    names = columns.split("|") if isinstance(columns, str) else list(columns)
    frame = pd.DataFrame(list(rows), columns=names).set_index(names[0])
    return frame.rename_axis(index=None, columns=names[0])
