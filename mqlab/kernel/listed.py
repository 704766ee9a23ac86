"""Sources in which every line is data, documents, and what nobody understands: a format's ``parse``, line by line.

Secrets are masked before a format sees them. What a format says of each line is what is counted: data, noise, or
nothing it understands; blank lines are noise.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from mqlab.formats.base import About, BlockFormat, Data, Line, LineFormat, LooksBack, Noise
from mqlab.formats.foreign import Foreign
from mqlab.kernel import vectors
from mqlab.kernel.logs import shortened, sizes
from mqlab.kernel.output import COVERAGE, Output
from mqlab.kernel.pieces import Piece, Pieces
from mqlab.kernel.splits import Split
from mqlab.kernel.vectors import Lines
from mqlab.material import wholes
from mqlab.material.envelopes import unwrapped
from mqlab.secrets import Spanning, mask
from mqlab.sources import Envelope
from mqlab.tables import LEDGER

_SAMPLE = 200
"""Characters that are shown of what nobody understands."""


@dataclass
class _Kinds:
    """Lines and bytes of each kind, and the first line that is not understood."""

    lines: dict[str | None, int] = field(default_factory=dict)
    bytes: dict[str | None, int] = field(default_factory=dict)
    rejected: tuple[int, str] | None = None

    def add(self, kind: str | None, lines: int, size: int) -> None:
        """Count so many more."""
        self.lines[kind] = self.lines.get(kind, 0) + lines
        self.bytes[kind] = self.bytes.get(kind, 0) + size

    def reject(self, number: int, text: str) -> None:
        """Remember the first line that is not understood."""
        if self.rejected is None or number < self.rejected[0]:
            self.rejected = number, text[:_SAMPLE]

    def hand_over(self, out: Output, found: Pieces, failed: str | None = None) -> None:
        """COVERAGE of the split that was *found*, and why it was not read to its end, if it was not."""
        out.damage = found.damage or failed
        if found.is_corrupt:
            out.forget(LEDGER)  # copies and gaps of garbage would be copies and losses of messages
        number, text = self.rejected or (None, None)
        for kind, lines in self.lines.items():
            known = {} if kind else {"line": number, "text": text}
            out.count(COVERAGE, **{"class": kind}, lines=lines, bytes=self.bytes[kind], **known)


def about(split: Split) -> About:
    """What is known of the file beside its lines."""
    return About(split.name, split.snapshot_at, split.layout, split.day)


def read_lines(split: Split, form: LineFormat, out: Output) -> None:
    """Read a source line by line."""
    kinds, counted, held, found = _Kinds(), array("q"), array("q"), Pieces(split)
    for item in form.parse(_lines(found, kinds, counted, held), about(split)):
        number = item.line.number
        if isinstance(item, Data):
            for row in item.rows:
                out.add(row, number, item.line.text, 0)
        kind = "data" if isinstance(item, Data) else "noise" if isinstance(item, Noise) else None
        kinds.add(kind, held[number - 1], counted[number - 1])
        if kind is None:
            kinds.reject(number, item.line.text)
    kinds.hand_over(out, found, _failed(form))


def read_blocks(split: Split, form: BlockFormat, out: Output) -> None:
    """Read a source piece by piece as columns."""
    kinds, first, found, spanning = _Kinds(), 1, Pieces(split), Spanning()
    above = pl.DataFrame(schema={"number": pl.Int64, "text": pl.String, "clock": pl.Int64})
    for piece in found:
        frame, size = _frame(split, piece, first, spanning)
        first += len(size)
        written = frame.filter(pl.col("text").str.contains(r"\S"))
        blank = frame.filter(~pl.col("text").str.contains(r"\S"))
        kinds.add("noise", int(blank["held"].sum()), int(blank["size"].sum()))
        lines = pl.concat([above, written.drop("size", "held")])
        block = form.parse_block(lines, about(split))
        for table, rows in block.rows.items():
            own = rows.filter(pl.col("line") >= frame["number"][0]) if above.height else rows
            out.add_frame(table, own.with_columns(pl.lit(0, pl.Int32).alias("east")))
        told = written.with_columns(block.kinds.tail(written.height).alias("kind"))
        above = form.above(lines) if isinstance(form, LooksBack) else above
        for kind, lines, taken in told.group_by("kind").agg(pl.col("held", "size").sum()).iter_rows():
            kinds.add(kind, lines, taken)
        unknown = told.filter(pl.col("kind").is_null())
        if unknown.height:
            kinds.reject(unknown["number"][0], unknown["text"][0])
    kinds.hand_over(out, found)


def read_document(split: Split, form: LineFormat, out: Output) -> None:
    """Read a document as its only line."""
    found = Pieces(split)
    data = found.joined()
    text = mask(vectors.valid(data).decode())
    kinds = _Kinds()
    lines, size = data.count(b"\n") + (0 if data.endswith(b"\n") else 1), len(data)
    if split.part:
        made = wholes.load(split.part)
        lines, size = sum(one.lines for one in made), sum(one.bytes for one in made)
    for item in form.parse(iter([Line(1, text)]), about(split)):
        if isinstance(item, Data):
            for row in item.rows:
                out.add(row, 1, row.values.get("text", ""), 0)
        kind = "data" if isinstance(item, Data) else "noise" if isinstance(item, Noise) else None
        kinds.add(kind, lines, size)
        if kind is None:
            kinds.reject(1, text)
    kinds.hand_over(out, found, _failed(form))


def _failed(form: LineFormat) -> str | None:
    """Why a plug-in's format did not read its last source to the end."""
    return form.failed if isinstance(form, Foreign) else None


def count(split: Split, out: Output) -> None:
    """Count a source that nobody understands, or in which nothing is used yet."""
    kinds, kind = _Kinds(), None if split.format in ("unrecognised", "binary") else "noise"
    found = Pieces(split)
    for piece in found:
        if not piece.own:
            continue
        size = sizes(Lines.of(piece.data), piece)
        kinds.add(kind, sum(one.lines for one in piece.wholes) or len(size), int(size.sum()))
    kinds.hand_over(out, found)


def _frame(
    split: Split, piece: Piece, first: int, spanning: Spanning
) -> tuple[pl.DataFrame, np.ndarray[tuple[int], np.dtype[np.int64]]]:
    raw = Lines.of(vectors.valid(piece.data))
    size = sizes(raw, piece)
    texts, clocks = raw.texts(), None
    if piece.wholes:
        texts = pl.Series([one.inner for one in piece.wholes], dtype=pl.String)
        clocks = [one.clock for one in piece.wholes]
    elif split.envelope != Envelope.NONE.value:
        taken = [unwrapped(line, Envelope(split.envelope)) for line in texts]
        texts, clocks = pl.Series([text for text, _ in taken], dtype=pl.String), [clock for _, clock in taken]
    columns = {
        "number": np.arange(first, first + len(raw)),
        "text": shortened(spanning.masked(texts)),
        "clock": pl.Series(clocks or [None] * len(raw), dtype=pl.Int64),
        "size": size,
        "held": [one.lines for one in piece.wholes] or [1] * len(raw),
    }
    frame = pl.DataFrame(columns)
    return frame, size


def _lines(found: Pieces, kinds: _Kinds, counted: array[int], held: array[int]) -> Iterator[Line]:
    """The lines of a source that are not blank; their sizes go to *counted*, the lines of the file to *held*."""
    first, spanning = 1, Spanning()
    for piece in found:
        frame, size = _frame(found.split, piece, first, spanning)
        first += len(size)
        counted.extend(size.tolist())
        held.extend(frame["held"].to_list())
        for number, text, clock, taken, lines in frame.iter_rows():
            if text.strip():
                yield Line(number, text, clock)
            else:
                kinds.add("noise", lines, taken)
