"""Lines as columns: cut out of a buffer without copying, with their minute, level and shape; the cost of every line.

The brokers' own layout, and others that begin with the same date, are read by position, all lines at once::

    [2026-11-21 12:18:43,427] INFO [GroupCoordinator 1]: Preparing to rebalance …
    2026-11-21 12:13:33,850 WARN  [kafka-producer-network-thread | p] …

Other layouts take the slower expressions of Polars, or ``layouts`` line by line where only a few programs write them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from mqlab.formats import layouts

Longs = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

SHAPE = 80
"""Bytes of a line, behind its date, that make its shape."""
PAD = 64
"""Zero bytes behind a buffer, so that pieces of the last lines may be taken without a look at its end."""
NO_MINUTE = -1
_HEAD = 36
_MONTH_DAYS = np.array([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])
_NAMES = tuple(int.from_bytes(name[:4].encode(), "little") for name in layouts.LEVELS)
_LEVEL = layouts.LEVEL.replace(r"\b", r"(?-u:\b)")
_ODD = rf"^\[?(?:\d|{layouts.WEEKDAY}|{layouts.MONTH}|%\d\|)"
"""How a line with a moment of another layout may begin."""
_EMPTY = pl.Series([], dtype=pl.String)


@dataclass(frozen=True)
class Lines:
    """Some lines of one source, without their line feeds."""

    data: npt.NDArray[np.uint8]
    """The bytes they stand in, with ``PAD`` zeros behind."""
    starts: Longs
    lengths: Longs

    @classmethod
    def of(cls, data: bytes) -> Lines:
        """The lines of valid UTF-8; a carriage return at the end of a line does not belong to it."""
        buffer = np.frombuffer(data + bytes(PAD), np.uint8)
        ends = np.flatnonzero(buffer[: len(data)] == 10)
        if len(data) and (not len(ends) or ends[-1] != len(data) - 1):
            ends = np.append(ends, len(data))
        starts = np.empty_like(ends)
        starts[:1], starts[1:] = 0, ends[:-1] + 1
        returns = (ends > starts) & (buffer[ends - 1] == 13)
        return cls(buffer, starts, ends - starts - returns)

    @classmethod
    def of_texts(cls, texts: pl.Series) -> Lines:
        """Lines that were freed from an envelope; a line feed within one is part of it."""
        array = texts.to_arrow(compat_level=pl.CompatLevel.oldest()).cast(pa.large_string())
        offsets = np.frombuffer(array.buffers()[1], np.int64)[array.offset : array.offset + len(array) + 1]
        buffer = np.frombuffer(array.buffers()[2] or b"", np.uint8)
        data = np.concatenate([buffer[offsets[0] : offsets[-1]], np.zeros(PAD, np.uint8)])
        starts = offsets[:-1] - offsets[0]
        lengths = np.diff(offsets)
        ended = (lengths > 0) & (data[np.maximum(starts + lengths - 1, 0)] == 13)
        return cls(data, starts, lengths - ended)

    def __len__(self) -> int:
        return len(self.starts)

    def texts(self) -> pl.Series:
        """The lines as text."""
        return self.cut(self.starts, self.lengths)

    def cut(self, starts: Longs, lengths: Longs) -> pl.Series:
        """Pieces of the buffer as text, without copying them: Arrow's views of strings."""
        if not len(starts):
            return _EMPTY
        views = np.zeros((len(starts), 4), np.int32)
        views[:, 0], views[:, 3] = lengths, starts
        prefix = np.zeros((len(starts), 4), np.uint8)
        for place in range(4):
            prefix[:, place] = self.data[starts + place]
        views[:, 1] = prefix.view(np.int32)[:, 0]
        short = np.flatnonzero(lengths <= 12)
        places = np.arange(12)
        inline = self.data[starts[short][:, None] + places]
        inline[places >= lengths[short][:, None]] = 0
        views.view(np.uint8).reshape(-1, 16)[short, 4:] = inline
        buffers = [None, pa.py_buffer(views), pa.py_buffer(self.data)]
        return pl.Series(pl.from_arrow(pa.Array.from_buffers(pa.string_view(), len(starts), buffers)))

    def near(self, most: int, skip: Longs | int = 0, among: Longs | None = None) -> pl.Series:
        """The first *most* bytes of the lines (*among* these) behind *skip*; no letter is cut in two."""
        starts, lengths = (self.starts, self.lengths) if among is None else (self.starts[among], self.lengths[among])
        skip = np.minimum(skip, lengths)
        starts, lengths = starts + skip, lengths - skip
        for _ in range(3):
            starts, lengths = _past_letter(self.data, starts, lengths)
        cut = np.minimum(lengths, most)
        for _ in range(3):
            within = (cut < lengths) & (cut > 0) & ((self.data[starts + cut] & 0xC0) == 0x80)
            cut = cut - within
        return self.cut(starts, cut)


def _past_letter(data: npt.NDArray[np.uint8], starts: Longs, lengths: Longs) -> tuple[Longs, Longs]:
    """Places moved on where they stand within a letter of several bytes."""
    within = (lengths > 0) & ((data[starts] & 0xC0) == 0x80)
    return starts + within, lengths - within


@dataclass(frozen=True)
class Headers:
    """What stands before the message of each line."""

    minute: Longs
    """Minutes since 1970 on the line's own clock; ``NO_MINUTE`` for a line without a moment."""
    second: Longs
    """Seconds since 1970, likewise."""
    level: npt.NDArray[np.int8]
    """Place in ``layouts.LEVELS`` from 1; 0 for none."""
    plain: Flags
    """The line is in the brokers' own layout."""
    behind: Longs
    """Bytes of the line before its shape begins."""


def headers(lines: Lines) -> Headers:
    """The headers of *lines*."""
    head = lines.data[lines.starts[:, None] + np.arange(_HEAD)] if len(lines) else np.zeros((0, _HEAD), np.uint8)
    bracket = (head[:, 0] == ord("[")).astype(np.int64)
    bracketed = bracket == 1
    digits = np.where(bracketed[:, None], head[:, 1:20], head[:, :19])
    dated, seconds = _seconds(digits)
    dated &= lines.lengths >= 14 + bracket
    level = _level_at(head, 26) * (bracketed & (head[:, 24] == ord("]")) & (head[:, 25] == ord(" ")))
    plain = dated & (level > 0)
    early = dated & ~bracketed
    level = np.where(plain, level, _level_at(head, 24) * (early & (head[:, 23] == ord(" ")))).astype(np.int8)
    # A bracketed date without the level behind it is no layout of the brokers; it is looked for like any other.
    second = np.where(plain | early, seconds, NO_MINUTE)
    counted = _counted(head, lines.lengths)
    second = np.where(counted >= 0, counted, second)
    behind = np.where(plain, 26, np.where(counted >= 0, 12, np.where(early, 19, 0)))
    others = np.flatnonzero(second < 0)
    second[others] = _others(lines, others)
    unknown = np.flatnonzero((level == 0) & (lines.lengths > 0))
    level[unknown] = _levels(lines, unknown, counted)
    minute = np.where(second < 0, NO_MINUTE, second // 60)
    return Headers(minute, second, level, plain, behind.astype(np.int64))


def minute_text(column: str) -> pl.Expr:
    """``2026-11-21 12:18`` for a *column* of minutes since 1970; null where there is none."""
    return _text(column, 60, "%Y-%m-%d %H:%M")


def second_text(column: str) -> pl.Expr:
    """``2026-11-21 12:18:43`` for a *column* of seconds since 1970; null where there is none."""
    return _text(column, 1, "%Y-%m-%d %H:%M:%S")


def _text(column: str, seconds: int, form: str) -> pl.Expr:
    known = pl.when(pl.col(column) >= 0).then(pl.col(column) * seconds * 1_000_000)
    return known.cast(pl.Datetime("us")).dt.strftime(form).alias(column)


def rough(lines: Lines, behind: Longs) -> pl.Series:
    """The beginning of the message of each line, with its digits masked."""
    return lines.near(SHAPE, behind).str.replace_all("[0-9]+", "#")


def _seconds(digits: npt.NDArray[np.uint8]) -> tuple[Flags, Longs]:
    """Whether each row reads ``2026-11-21 12:18:``, and the seconds since 1970 that it shows."""
    figures = digits.astype(np.int16) - 48
    numeric = ((figures >= 0) & (figures <= 9))[:, [0, 1, 2, 3, 5, 6, 8, 9, 11, 12]].all(axis=1)
    dash, parted, blank = digits[:, 4], digits[:, 7], digits[:, 10]
    formed = np.isin(dash, (45, 47)) & np.isin(parted, (45, 47)) & np.isin(blank, (32, 84)) & (digits[:, 13] == 58)
    rest = ((figures >= 0) & (figures <= 9))[:, [14, 15]].all(axis=1)
    year = figures[:, 0] * 1000 + figures[:, 1] * 100 + figures[:, 2] * 10 + figures[:, 3]
    month, day, hour = (figures[:, n] * 10 + figures[:, n + 1] for n in (5, 8, 11))
    minute, second = (figures[:, n] * 10 + figures[:, n + 1] for n in (14, 17))
    second = np.where((second >= 0) & (second < 60), second, 0)
    dated = numeric & formed & rest & (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)
    dated &= (hour < 24) & (minute < 60) & (year >= 1970)
    year, month, day = (np.where(dated, part, 1).astype(np.int64) for part in (year, month, day))
    is_leap = (year % 4 == 0) & ((year % 100 != 0) | (year % 400 == 0))
    dated &= day <= _MONTH_DAYS[month - 1] + ((month == 2) & is_leap)
    return dated, ((_days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second


def _days(year: Longs, month: Longs, day: Longs) -> Longs:
    """Days since 1970 (Howard Hinnant, chrono-compatible low-level date algorithms)."""
    year = year - (month <= 2)
    era_year = year % 400
    month_of_year = (month + 9) % 12
    of_year = (153 * month_of_year + 2) // 5 + day - 1
    of_era = era_year * 365 + era_year // 4 - era_year // 100 + of_year
    return (year // 400) * 146_097 + of_era - 719_468


def _level_at(head: npt.NDArray[np.uint8], place: int) -> npt.NDArray[np.int8]:
    """The level whose name stands at *place*; 0 for none."""
    words = np.ascontiguousarray(head[:, place : place + 4]).view(np.uint32)[:, 0]
    found = np.zeros(len(head), np.int8)
    for number, name in enumerate(_NAMES, 1):
        found[words == name] = number
    return found


def _counted(head: npt.NDArray[np.uint8], lengths: Longs) -> Longs:
    """The seconds that ``1795261186: …`` counts since 1970; -1 for any other line."""
    figures = head[:, :10].astype(np.int64) - 48
    formed = (lengths >= 12) & (head[:, 0] == ord("1")) & (head[:, 10] == ord(":")) & (head[:, 11] == ord(" "))
    formed &= ((figures >= 0) & (figures <= 9)).all(axis=1)
    return np.where(formed, figures @ (10 ** np.arange(9, -1, -1)), -1)


def _others(lines: Lines, places: Longs) -> Longs:
    """Seconds since 1970 of lines whose layout is not read by position; ``NO_MINUTE`` for none."""
    found = np.full(len(places), NO_MINUTE, np.int64)
    if not len(places):
        return found
    near = lines.near(layouts.NEAR, 0, places)
    stamped = near.str.contains(r"\d[-/]\d\d[T ]\d\d:\d\d:\d\d").to_numpy() | near.str.contains(_ODD).to_numpy()
    for place in np.flatnonzero(stamped):
        if moment := layouts.moment(near[int(place)]):
            found[place] = moment.wall // 1_000_000
    return found


def _levels(lines: Lines, places: Longs, counted: Longs) -> npt.NDArray[np.int8]:
    """Levels that do not stand where the commonest layouts have them."""
    if not len(places):
        return np.zeros(0, np.int8)
    near = lines.near(layouts.NEAR, 0, places)
    close = pl.Series(counted[places] >= 0)
    near = pl.select(pl.when(close).then(near.str.slice(0, 24)).otherwise(near)).to_series()
    word = near.str.extract(_LEVEL, 1).fill_null(near.str.extract(_LEVEL, 2)).replace(layouts.SAME)
    names = {name: number for number, name in enumerate(layouts.LEVELS, 1)}
    known = word.replace_strict(names, default=0, return_dtype=pl.Int8).to_numpy().copy()
    for place in np.flatnonzero(near.str.contains(r"^%\d\|\d{10}\.\d{3}\|").to_numpy()):
        known[place] = names.get(layouts.level(near[int(place)]) or "", 0)
    return known


def valid(data: bytes) -> bytes:
    """*data* as valid UTF-8: what is none is replaced, letter by letter."""
    if data.isascii():
        return data
    try:
        data.decode()
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace").encode()
    return data
