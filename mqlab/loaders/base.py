"""What a module in this folder offers, checked by mypy: a module is the plug-in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from pyspark.sql import DataFrame

from mqlab.sources import Reading
from mqlab.tables import Table


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


@dataclass(frozen=True, slots=True)
class Signature:
    """A log line that means something.

    ``begins`` is a regex that the message starts with, after the layout's header and an optional ``[component] ``;
    ``contains`` is a regex found anywhere in a WARN, ERROR, FATAL or undated line. One of the two selects the line
    in the scan; the first signature (in list order) whose pattern is found gives the event its kind.
    """

    kind: str
    begins: str = ""
    words: tuple[str, ...] = ()
    """Comparing words is cheap: the scan tries the regex only on lines that hold one of these. With ``begins``: all
    first words that it allows, at least four letters each; with ``contains``: short regexes that begin with a
    plain character, of which every line that it fits holds at least one."""
    contains: str = ""
    value: str = ""
    """Regex with one group: a number that belongs to the event (unit as the kind says)."""
    scale: float = 1.0
    """What the number is multiplied by, where the line writes another unit: 0.001 for milliseconds told as seconds."""
    base: float = 0.0
    """What is added to it then."""
    counted: str = ""
    """Instead of ``value``, a regex with one group: a list with commas, of which the number of entries is told."""
    reason: str = ""
    """Regex with one group: a word that explains the event."""
    told: str = ""
    """The word itself, where the line has none."""
    system: str = ""
    """What the event is about, where that is not what its loader's other events are about."""
    only: bool = False
    """Holds in files of the loader's own format alone, for a whole line behind its ``PREFIX``."""
    unless: str = ""
    """Regex that no such line begins with."""


class Loader(Protocol):
    """Every loader says what it reads and how it knows it."""

    FORMAT: str
    TABLES: tuple[Table, ...]
    READING: Reading

    def recognise(self, head: Head) -> bool:
        """True when the content is this format's."""
        ...


class LogLoader(Loader, Protocol):
    """A format of dated lines: a table of signatures, no code."""

    SYSTEM: str
    """What the events of its signatures are about: kafka, rocketmq, os."""
    SIGNATURES: tuple[Signature, ...]


@runtime_checkable
class Clocked(Protocol):
    """What a loader offers besides, where a layout fixes the zone of its clock."""

    def zone(self, head: Head) -> str | None:
        """Offset such as ``+08:00`` that lines of this layout show wherever they are written; None where unknown."""
        ...


@runtime_checkable
class LaidOut(Protocol):
    """What a loader of tables offers besides, where its rows cannot be read without a look at the file's beginning."""

    def layout(self, head: Head) -> str:
        """How the rows stand (``ledgers.layout``), which goes with the source and is joined to its rows."""
        ...


class TableLoader(Loader, Protocol):
    """A format in which every line is a row, a header or a remark."""

    def load(self, rows: DataFrame) -> Mapping[Table, DataFrame]:
        """Canonical tables from ``rows``.

        They hold source, line (1-based), text (verbatim), name (base name of the file) and what ``console.dated``
        adds: plain, at, named. Rows of one source arrive in no particular order. Errors of the tool itself are read
        for all tools at once, by ``console.tool_errors``.
        """
        ...

    def line_class(self, text: str) -> str:
        """SQL for the class of a line.

        The class is ``data``, ``noise`` (headers, banners, blank lines) or null for a line that is not understood;
        *text* is SQL that gives the line, such as a column's name.
        """
        ...


class DocumentLoader(Loader, Protocol):
    """A format that is one JSON document."""

    def load(self, documents: DataFrame) -> Mapping[Table, DataFrame]:
        """Canonical tables from ``documents``: source, text (the whole document)."""
        ...

    def understood(self, text: str) -> str:
        """SQL that is true where the document is whole and of this format, and never null."""
        ...
