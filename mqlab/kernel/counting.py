"""Lines of logs counted by minute, level and shape, and what became of them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl

from mqlab.formats.layouts import LEVELS
from mqlab.kernel import vectors
from mqlab.kernel.output import COUNTS, COVERAGE, Output
from mqlab.kernel.shapes import fine
from mqlab.kernel.vectors import Flags, Headers, Lines, Longs

_KEYS = ("minute", "level", "shape", "kept")
_LEVELS = dict(enumerate(LEVELS, 1))


@dataclass
class Counting:
    """The counts of one split so far."""

    _shapes: list[pl.DataFrame] = field(default_factory=list)

    def add(self, lines: Lines, headers: Headers, kept: Flags, sizes: Longs, first: int) -> None:
        """Count *lines*, of which the *first* has this number and each so many bytes."""
        every = np.arange(len(lines))
        frame = pl.DataFrame(
            {
                "minute": headers.minute,
                "level": headers.level,
                "shape": vectors.rough(lines, headers.behind),
                "kept": kept,
                "bytes": sizes,
                "line": every + first,
            }
        )
        summed = frame.group_by(_KEYS).agg(
            pl.len().cast(pl.Int64).alias("lines"), pl.col("bytes").sum(), pl.col("line").min()
        )
        self._shapes.append(summed)

    def hand_over(self, out: Output) -> None:
        """Hand over COUNTS by the shapes proper, and COVERAGE: what was kept is data, all else noise."""
        if not self._shapes:
            return
        rough = _summed(pl.concat(self._shapes), _KEYS)
        names = rough["shape"].unique()
        proper = {name: fine(name) for name in names}
        told = rough.with_columns(
            pl.col("shape").replace_strict(proper, return_dtype=pl.String),
            pl.col("level").replace_strict(_LEVELS, default=None, return_dtype=pl.String),
            vectors.minute_text("minute"),
        )
        out.add_frame(COUNTS, _summed(told, _KEYS))
        known = told.with_columns(pl.when("kept").then(pl.lit("data")).otherwise(pl.lit("noise")).alias("class"))
        ends = pl.col("minute").min().alias("first_minute"), pl.col("minute").max().alias("last_minute")
        out.add_frame(COVERAGE, known.group_by("class").agg(pl.col("lines", "bytes").sum(), *ends))


def _summed(frame: pl.DataFrame, keys: tuple[str, ...]) -> pl.DataFrame:
    return frame.group_by(keys).agg(pl.col("lines", "bytes").sum(), pl.col("line").min())
