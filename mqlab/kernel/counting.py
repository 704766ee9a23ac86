"""Lines that nothing keeps, counted by minute, level and shape.

Rough shapes, with their digits masked, are made of all lines at once (``vectors.rough``); ``fine`` is asked about the
few that are left after counting::

    [2026-11-21 12:18:43,427] INFO [UnifiedLog partition=t-0, dir=/data] Rolled new log segment at offset 4711 in 3 ms.
    INFO [UnifiedLog partition=t-#, dir=/data] Rolled new log segment at offset # in # ms.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import polars as pl

from mqlab.formats.layouts import LEVELS
from mqlab.kernel import vectors
from mqlab.kernel.output import COUNTS, COVERAGE, Output
from mqlab.kernel.vectors import Flags, Headers, Lines, Longs
from mqlab.secrets import mask

_REST_OF_STAMP = r"^(?:[.,]#? ?(?:Z|UTC|[+-]#:?#)?[ \]]+|(?:Z|[+-]#:?#)?: )"
"""What stands between the seconds and the message in layouts whose fraction has any length."""
_HEX = r"[0-9a-fA-F#]"
_STEPS = tuple(
    (re.compile(pattern, re.ASCII), name)
    for pattern, name in (
        (_REST_OF_STAMP, ""),
        (rf"(?<![\w#])(?:#-)?{_HEX}{{1,8}}(?:-{_HEX}{{1,8}}){{3}}-{_HEX}{{1,12}}(?![\w#])", "<id>"),
        (rf"(?<![\w#])(?=[#-]*[a-fA-F][^ ]*#|#[#-]*[a-fA-F]){_HEX}{{1,8}}(?:-{_HEX}{{0,12}}){{0,4}}$", "<id>"),
        (
            r"(?<![\w#])(?=[A-Za-z_-]*#)(?=[a-z#_-]*[A-Z])(?=[A-Z#_-]*[a-z])(?=[\w-]*#[\w-]*#)[\w#-]{14,24}(?![\w#])",
            "<id>",
        ),
        (r"#[#.,:]*#", "#"),
    )
)
"""UUIDs, with a number before them; one that the end cuts off; 22 characters of base 64, as Kafka's topic ids;
numbers and addresses."""
_FRAME = re.compile(r"^\s+(?:at |\.\.\. )", re.ASCII)
"""A frame of a stack trace; all of them are one shape."""


@lru_cache(maxsize=1 << 14)
def fine(rough: str) -> str:
    """The shape proper of a rough one: numbers, ids and addresses masked, stack frames as one, no secret in it."""
    if _FRAME.match(rough):
        return "…"
    for pattern, name in _STEPS:
        rough = pattern.sub(name, rough)
    return mask(rough.replace("#", "0")).replace("0", "#")


_KEYS = ("minute", "level", "shape", "kept")
_ENDS = ("first_second", "last_second")
_LEVELS = dict(enumerate(LEVELS, 1))


@dataclass
class Counting:
    """The counts of one split so far."""

    _shapes: list[pl.DataFrame] = field(default_factory=list)

    def add(self, lines: Lines, headers: Headers, kept: Flags, sizes: Longs, first: int, held: Longs | int = 1) -> None:
        """Count *lines*: the *first* has this number, each so many bytes, and takes up (*held*) so many of the file."""
        every = np.arange(len(lines))
        frame = pl.DataFrame(
            {
                "minute": headers.minute,
                "first_second": headers.second,
                "last_second": headers.second,
                "level": headers.level,
                "shape": vectors.rough(lines, headers.behind),
                "kept": kept,
                "bytes": sizes,
                "held": np.broadcast_to(np.asarray(held, np.int64), len(every)),
                "line": every + first,
            }
        )
        self._shapes.append(_summed(frame.with_columns(pl.lit(1, pl.Int64).alias("lines")), _KEYS))

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
            vectors.second_text("first_second"),
            vectors.second_text("last_second"),
        )
        out.add_frame(COUNTS, _summed(told, _KEYS).drop("held", *_ENDS))
        known = told.with_columns(pl.when("kept").then(pl.lit("data")).otherwise(pl.lit("noise")).alias("class"))
        out.add_frame(COVERAGE, _summed(known, ("class",)).drop("lines", "line").rename({"held": "lines"}))


def _summed(frame: pl.DataFrame, keys: tuple[str, ...]) -> pl.DataFrame:
    ends = pl.col("first_second").min(), pl.col("last_second").max()
    return frame.group_by(keys).agg(pl.col("lines", "bytes", "held").sum(), pl.col("line").min(), *ends)
