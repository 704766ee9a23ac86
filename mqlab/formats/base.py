"""What a module in this folder offers, checked by mypy: a module is the plug-in. Plain Python, no Spark.

A format is asked twice: ``recognise`` looks at the beginning of a file, ``parse`` is given its lines and says of each
what it is: data, with the rows of canonical tables that it gives, known noise, or nothing it understands.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

import polars as pl

from mqlab.sources import Reading, Role
from mqlab.tables import Row, Table


@dataclass(frozen=True, slots=True)
class Head:
    """The first 64 KB of a file, decompressed and freed from its envelope; what recognition may look at."""

    name: str
    """Base name without compression suffix: a hint, never proof."""
    text: str
    size: int

    @property
    def lines(self) -> list[str]:
        """Lines of the head; the last one may be cut."""
        return self.text.split("\n")


class Line(NamedTuple):
    """One line of a file, without envelope and carriage return, its secrets masked; never a blank one."""

    number: int
    """From 1."""
    text: str
    clock: int | None = None
    """The moment that its envelope shows, in microseconds since 1970; None where it shows none."""


@dataclass(frozen=True, slots=True)
class About:
    """What is known of a file beside its lines."""

    name: str
    """Base name; behind that of its folder, ``orders-0.leader-epoch-checkpoint``, where only the folder tells."""
    snapshot_at: int | None = None
    """The moment that its name shows, in microseconds since 1970."""
    layout: str | None = None
    """What ``layout`` said of it, where the format offers that."""
    day: str | None = None
    """ISO date of headings that show an hour alone, where the material beside it tells that."""


class Data(NamedTuple):
    """A line that says something, and the rows that it gives: their line and text are its own unless they say so."""

    line: Line
    rows: Sequence[Row] = ()


class Noise(NamedTuple):
    """A line that is known to say nothing: a header, a banner, a comment."""

    line: Line


class Reject(NamedTuple):
    """A line that the format does not understand."""

    line: Line


Item = Data | Noise | Reject
"""What became of one line."""
Lines = Iterable[Line]
Items = Iterator[Item]


def regex(pattern: str) -> re.Pattern[str]:
    """The *pattern* compiled; its digits, words and blanks are those of ASCII, as in all that software writes."""
    return re.compile(pattern, re.ASCII)


class Block(NamedTuple):
    """What became of many lines, for formats whose lines are so many that they are read as columns."""

    rows: Mapping[Table, pl.DataFrame]
    """Columns of each table but ``source``; moments as microseconds (Int64)."""
    kinds: pl.Series
    """``data``, ``noise`` or null for each line."""


class Spec(NamedTuple):
    """What a format is."""

    name: str
    role: Role
    tables: tuple[Table, ...]
    software: str = ""
    """Whose files look so: kafka, rocketmq, mosquitto, …, ``mqtt`` for any client's; empty where anything's may."""
    reading: Reading = Reading.TABLE
    system: str = ""
    """What the events of the signatures of a log are about: kafka, rocketmq, mqtt, os."""
    layout: str = ""
    """Regex with named groups of what lines of a log say before their message, or anywhere where it has no beginning.
    """


class Format(Protocol):
    """Every format says what it reads and how it knows it."""

    FORMAT: Spec

    def recognise(self, head: Head) -> bool:
        """True when the content is this format's."""
        ...


class LineFormat(Format, Protocol):
    """A format in which every line is a row, a header or a remark; of a document the only line is all of it."""

    def parse(self, lines: Lines, about: About) -> Items:
        """What each line is, one item a line and in any order; *lines* are in theirs."""
        ...


@runtime_checkable
class BlockFormat(Protocol):
    """A format whose lines are many and each of which stands for itself, so that they are read as columns."""

    def parse_block(self, lines: pl.DataFrame, about: About) -> Block:
        """What the *lines* (number, text, clock) are; a file may come in several pieces."""
        ...


@runtime_checkable
class LooksBack(Protocol):
    """What such a format offers besides, where lines of one piece say what those of the next are about."""

    def above(self, lines: pl.DataFrame) -> pl.DataFrame:
        """The few of *lines* that those behind them need; they are read once more before these, and count once."""
        ...


@runtime_checkable
class Clocked(Protocol):
    """What a format offers besides, where a layout fixes the zone of its clock."""

    def zone(self, head: Head) -> str | None:
        """Offset such as ``+08:00`` that lines of this layout show wherever they are written; None where unknown."""
        ...


@runtime_checkable
class LaidOut(Protocol):
    """What a format offers besides, where its rows cannot be read without a look at the file's beginning."""

    def layout(self, head: Head) -> str:
        """How the rows stand (``ledgers.layout``), which goes with the source and comes back as ``About.layout``."""
        ...


@dataclass(frozen=True, slots=True)
class Signature:
    r"""A log line that means something, as a regex whose named groups are what it says.

    ``begins`` is a regex that the message starts with, after the layout's header and an optional ``[component] ``;
    ``contains`` is one that is found anywhere in a WARN, ERROR, FATAL or undated line. One of the two selects the line;
    the first signature (in list order) whose pattern is found gives the event its kind. What lines do not all have
    stands in it as optional: ``(?:.*? generation (?P<value>\d+))?``.

    Groups are named as columns of EVENTS: ``node``, ``group``, ``topic``, ``queue``, ``client_id``, ``member_id``,
    ``peer``, ``value`` (a number in the unit of the kind) and ``reason`` (words that explain the event). Others:
    ``broker`` goes before the queue's number, ``entries`` is a list with commas of which the number of entries is the
    value, ``dotted`` a topic as AMQP writes it. A digit behind a name tells several places of one column apart; the
    first that holds something counts, those of the selecting regex before those of ``also``, and these before those of
    the format's layout.
    """

    kind: str
    begins: str = ""
    contains: str = ""
    also: str = ""
    """Regex of which every find in the line counts, for what has no fixed place in it."""
    rare: str = ""
    """Regex of a part by which its lines are looked for, where the words of the whole are in too many others."""
    needs: str = ""
    """Regex that the line must hold as well: a word of the software, where other programs print the same."""
    scale: float = 1.0
    """What the value is multiplied by, where the line writes another unit: 0.001 for milliseconds told as seconds."""
    base: float = 0.0
    """What is added to it then."""
    told: str = ""
    """The reason, where the line has no word for it."""
    system: str = ""
    """What the event is about, where that is not what its format's other events are about."""
    only: bool = False
    """Holds in files of the format alone, for a whole line behind its ``PREFIX``."""
    unless: str = ""
    """Regex that no such line begins with."""

    @property
    def unnamed(self) -> str:
        """The regex that selects its lines, without names, so that it can be one of several alternatives."""
        return re.sub(r"\(\?P<\w+>", "(?:", self.begins or self.contains)


class LogFormat(Format, Protocol):
    """A format of dated lines: a table of signatures, no code."""

    SIGNATURES: tuple[Signature, ...]
