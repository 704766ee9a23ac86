"""Rows as a table for notebooks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd


def table(rows: Iterable[Mapping[str, object]], columns: Sequence[str]) -> pd.DataFrame:
    """The first column is the index, so that no running number is shown; its name stands in the one header row."""
    frame = pd.DataFrame(list(rows), columns=list(columns)).set_index(columns[0])
    return frame.rename_axis(index=None, columns=columns[0])
