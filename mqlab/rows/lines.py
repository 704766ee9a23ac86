"""Rows of Facts about the lines of logs: their shapes, and how each log grew."""

from __future__ import annotations

from dataclasses import dataclass

from mqlab.findings import Evidence


@dataclass(frozen=True, slots=True)
class Shape:
    """One line shape of one source: numbers, ids and addresses masked."""

    source: str
    level: str | None
    shape: str
    lines: int
    bytes: int
    first_at: float | None
    last_at: float | None
    first_line: int
    sample: str = ""


@dataclass(frozen=True, slots=True)
class Minute:
    """What was written within one minute: dated lines, and bytes with the undated lines that continue them."""

    at: float
    lines: int
    bytes: int


@dataclass(frozen=True, slots=True)
class LineShape:
    """One of the few shapes of dated line that carry most bytes of a log, minute by minute.

    Lines that a signature selects are shapes here too. Bytes are those of the lines and of the undated lines that
    continue them, such as stack traces.
    """

    level: str | None
    shape: str
    first: Evidence
    """The first line of the shape; its text is empty where the file could not be read again."""
    first_at: float | None
    minutes: tuple[Minute, ...]

    @property
    def lines(self) -> int:
        """Dated lines."""
        return sum(m.lines for m in self.minutes)

    @property
    def bytes(self) -> int:
        """Bytes, continuations included."""
        return sum(m.bytes for m in self.minutes)


@dataclass(frozen=True, slots=True)
class Volume:
    """How one log grew, minute by minute; row of VOLUME, thinned."""

    source: str
    first_at: float | None
    """Moment of the first dated line; None where no line writes one."""
    minutes: tuple[Minute, ...]
    shapes: tuple[LineShape, ...] = ()
    """Those with the loudest minutes; none for a log too small to matter."""
    undated_bytes: int = 0
    """Bytes that belong to no minute."""
    before: Evidence | None = None
    """The line before the first line of the loudest shape."""

    @property
    def bytes(self) -> int:
        """All bytes of the log."""
        return self.undated_bytes + sum(m.bytes for m in self.minutes)
