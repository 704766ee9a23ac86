"""Blocks of log text whose stamps and numbers can be filled anew: what makes the generator fast.

A block is about a megabyte of records in a drawn order. Places that change are marked by control characters; filling
them is a matter of a few numpy assignments.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from bench.lines import EVENTS, GROUPS, KINDS, PLANTED, TOPICS, Kind

STAMP = "[2026-01-01 00:00:00,000] "
_RECORDS = 7000
_MOST = 3
"""Planted events of one kind in one block."""
_ANY, _FIRST, _HEX, _LETTER = "\x01", "\x02", "\x03", "\x05"
_SLOT = re.compile(r"\{(\d+|n|b|uuid|id|ip|topic|group)\}")
_UUID = "-".join(_HEX * size for size in (8, 4, 4, 4, 12))
_IP = f"10.{_FIRST}{_ANY}.{_FIRST}{_ANY}.{_FIRST}{_ANY}"
_ALPHABETS = (
    (_ANY, b"0123456789"),
    (_FIRST, b"123456789"),
    (_HEX, b"0123456789abcdef"),
    (_LETTER, b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"),
)
_DAY = 86_400_000


@dataclass(frozen=True)
class Block:
    """Text with marked places, and per record what must be known to count."""

    text: np.ndarray
    places: tuple[tuple[np.ndarray, np.ndarray], ...]
    """(positions, characters that may stand there)."""
    starts: np.ndarray
    """Position of each record, and of the end."""
    lines: np.ndarray
    kinds: np.ndarray
    """Number of each record's kind in ``KINDS + PLANTED``."""

    def filled(self, rng: np.random.Generator, turn: int, moments: np.ndarray) -> bytes:
        """The records from number *turn* on, then those before; *moments* are milliseconds since 1970, in order."""
        text = self.text.copy()
        for positions, alphabet in self.places:
            text[positions] = alphabet[rng.integers(0, len(alphabet), len(positions), dtype=np.uint8)]
        stamps = _stamps(np.roll(moments, turn))
        text[self.starts[:-1, None] + np.arange(1, 1 + stamps.shape[1])] = stamps
        cut = self.starts[turn]
        return text[cut:].tobytes() + text[:cut].tobytes()


def block(rng: np.random.Generator) -> Block:
    """A block whose records are in the proportions of ``KINDS``, with at least one planted event of each kind."""
    kinds = rng.permutation(np.concatenate([_ordinary(rng), _events(rng)]))
    every = KINDS + PLANTED
    records = [_record(every[number], rng) for number in kinds]
    text = np.frombuffer("".join(records).encode("ascii"), dtype=np.uint8)
    places = tuple(
        (np.flatnonzero(text == ord(mark)), np.frombuffer(alphabet, dtype=np.uint8)) for mark, alphabet in _ALPHABETS
    )
    starts = np.concatenate([[0], np.cumsum([len(record) for record in records])])
    return Block(text, places, starts, np.array([record.count("\n") for record in records]), kinds)


def _ordinary(rng: np.random.Generator) -> np.ndarray:
    weights = np.array([kind.weight for kind in KINDS])
    wanted = weights * _RECORDS / weights.sum()
    return np.repeat(np.arange(len(KINDS)), np.floor(wanted + rng.random(len(KINDS))).astype(int))


def _events(rng: np.random.Generator) -> np.ndarray:
    return np.repeat(np.arange(len(KINDS), len(EVENTS) + len(KINDS)), rng.integers(1, _MOST + 1, len(EVENTS)))


def _record(kind: Kind, rng: np.random.Generator) -> str:
    return f"{STAMP}{kind.level} {_SLOT.sub(lambda slot: _marks(slot[1], rng), kind.text)}\n"


def _marks(slot: str, rng: np.random.Generator) -> str:
    fixed = {"uuid": _UUID, "ip": _IP, "id": _LETTER * 22, "20": "0" * 10 + _FIRST + _ANY * 9}
    if slot in fixed:
        return fixed[slot]
    if words := {"topic": TOPICS, "group": GROUPS, "b": "123"}.get(slot):
        return words[int(rng.integers(len(words)))]
    return _FIRST + _ANY * (int(rng.integers(6)) if slot == "n" else int(slot) - 1)


def _stamps(moments: np.ndarray) -> np.ndarray:
    """One row a moment: the characters of ``2026-01-01 00:00:00,000``."""
    pattern = np.frombuffer(STAMP[1:24].encode(), dtype=np.uint8)
    rows = np.tile(pattern, (len(moments), 1))
    days = moments // _DAY
    for day in np.unique(days):
        rows[days == day, :10] = np.frombuffer(str(np.datetime64(int(day), "D")).encode(), dtype=np.uint8)
    for column, unit, base in ((11, 3_600_000, 24), (14, 60_000, 60), (17, 1000, 60)):
        value = moments // unit % base
        rows[:, column], rows[:, column + 1] = 48 + value // 10, 48 + value % 10
    for column, unit in ((20, 100), (21, 10), (22, 1)):
        rows[:, column] = 48 + moments // unit % 10
    return rows
