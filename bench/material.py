"""A large broker log, generated: the same seed and size give the same bytes, and what is in it is known exactly."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from bench.blocks import STAMP, Block, block
from bench.lines import EVENTS, KINDS
from bench.shapes import shape

START = 1_767_225_600_000
"""2026-01-01 00:00 UTC in milliseconds: the log's first moment."""
_BLOCKS = 16
_PER_SECOND = 200


@dataclass
class Truth:
    """What a generated log holds."""

    bytes: int = 0
    lines: int = 0
    records: int = 0
    long_records: int = 0
    """Records of more than one line."""
    long_lines: int = 0
    """Lines of these records, their first ones too."""
    events: Counter[str] = field(default_factory=Counter)
    """Planted events by the kind that mqlab gives them."""
    places: int = 0
    """Sum of the line numbers of all planted events."""
    shapes: int = 0
    """Distinct shapes of the lines that are not planted."""


def make(out: Path, size: int, seed: int) -> Truth:
    """Write whole records of at least *size* bytes to *out*."""
    rng = np.random.default_rng(seed)
    blocks = [block(rng) for _ in range(_BLOCKS)]
    truth = Truth(shapes=_shapes())
    moment = float(START)
    with out.open("wb") as file:
        while truth.bytes < size:
            chosen = blocks[rng.integers(len(blocks))]
            turn = int(rng.integers(len(chosen.lines)))
            pace = 1000 / _PER_SECOND * rng.lognormal(0, 0.4)
            moments = moment + np.cumsum(rng.exponential(pace, len(chosen.lines)))
            text = chosen.filled(rng, turn, moments.astype(np.int64))
            moment = float(moments[-1])
            file.write(text[: _count(chosen, turn, size, truth)])
    return truth


def _count(chosen: Block, turn: int, size: int, truth: Truth) -> int:
    """Add the block's records to *truth*, as many as are needed; returns their bytes."""
    lengths = np.roll(np.diff(chosen.starts), -turn)
    ends = np.cumsum(lengths)
    taken = min(int(np.searchsorted(ends, size - truth.bytes)) + 1, len(ends))
    lines = np.roll(chosen.lines, -turn)[:taken]
    kinds = np.roll(chosen.kinds, -turn)[:taken]
    last = truth.lines + np.cumsum(lines)
    for number, name in enumerate(EVENTS, len(KINDS)):
        truth.events[name] += int(np.count_nonzero(kinds == number))
    truth.places += int(last[kinds >= len(KINDS)].sum())
    truth.bytes += int(ends[taken - 1])
    truth.lines = int(last[-1])
    truth.records += taken
    truth.long_records += int(np.count_nonzero(lines > 1))
    truth.long_lines += int(lines[lines > 1].sum())
    return int(ends[taken - 1])


def _shapes() -> int:
    """Distinct shapes of ``KINDS``: every slot is a number or an identifier where a shape is cut."""
    texts = [f"{STAMP}{kind.level} {re.sub(r'{[0-9]+}', '7', kind.text)}" for kind in KINDS]
    return len({shape(line) for text in texts for line in text.split("\n")})
