"""What an answer is: read from what people type, and brought into the one form under which its reply is locked.

A choice is one of the options. A moment and an amount are brought onto a grid that is finer than what is tolerated, so
that every answer near enough opens the same reply. A place is ``file:line``, or a file of which each line is right.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from mqlab import quantities, units
from mqlab.training.errors import BadAnswerError

EXAMPLES: Mapping[str, str] = {
    "moment": "12:20:34", "amount": "1234, 4.5k or 1.2M", "place": "logs/server.log:834",
}  # fmt: skip
"""How an answer is written, by the kind of its question."""
_FINER = 4
"""Cells of the grid within what is tolerated on one side."""
_HALF = 3
"""Half of the credit is for what is within three times what is tolerated."""


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several options, by its name."""

    options: Mapping[str, str]
    """What is shown, by the name that is locked."""

    def keys(self, text: str) -> tuple[str, ...]:
        """Under which the reply may stand; by name, by number as shown, or by what is shown.

        Raises:
            BadAnswerError: it is none of the options.
        """
        said, names = text.strip(), list(self.options)
        if said.isdigit() and 0 < int(said) <= len(names) and said not in names:
            return (names[int(said) - 1],)
        for name, shown in self.options.items():
            if said.lower() in (name.lower(), shown.lower()):
                return (name,)
        raise BadAnswerError(f"{said!r} is not an option: answer with a number from 1 to {len(names)}.")


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment, give or take some seconds."""

    seconds: float
    day: str
    """The date of the material, for those who type the time alone."""

    def keys(self, text: str) -> tuple[str, ...]:
        """The cell of the grid.

        Raises:
            BadAnswerError: it is no moment.
        """
        said = text.strip().removesuffix("UTC").strip()
        if re.fullmatch(r"\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?Z?", said):
            said = f"{self.day}T{said.rjust(8, '0') if said.count(':') == 2 else said.rjust(5, '0')}"
        try:
            at = datetime.fromisoformat(said)
        except ValueError:
            raise BadAnswerError(
                f"{text!r} is not a valid time: write it as 12:20:34 or 2026-11-21T12:20:34Z (UTC)."
            ) from None
        return (self.cell((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()),)

    def cell(self, at: float) -> str:
        """The cell in which *at* lies."""
        return str(math.floor(at / self._width))

    def near(self, at: float) -> Iterator[tuple[str, float]]:
        """Cells near the right moment, each with its credit."""
        for step in range(-_HALF * _FINER, _HALF * _FINER + 1):
            yield str(math.floor(at / self._width) + step), 1.0 if abs(step) <= _FINER else 0.5

    @property
    def _width(self) -> float:
        return max(self.seconds, 1.0) / _FINER


@dataclass(frozen=True, slots=True)
class Amount:
    """A number with a unit, give or take a part of it; exact where nothing is tolerated."""

    unit: str
    within: float

    def keys(self, text: str) -> tuple[str, ...]:
        """The cell of the grid.

        Raises:
            BadAnswerError: it is no number, or has another unit.
        """
        return (self.cell(self._read(text)),)

    def cell(self, value: float) -> str:
        """The cell in which *value* lies: by the logarithm, so that each is as wide in proportion."""
        if not self.within or not value:
            return f"={value:.10g}"
        return self._beside(value, 0)

    def near(self, value: float) -> Iterator[tuple[str, float]]:
        """Cells near the right number, each with its credit."""
        if not self.within or not value:
            yield self.cell(value), 1.0
            return
        reach = round(math.log1p(_HALF * self.within) / self._width)
        for step in range(-reach, reach + 1):
            yield self._beside(value, step), 1.0 if abs(step) <= _FINER else 0.5

    def _beside(self, value: float, step: int) -> str:
        return f"{'-' * (value < 0)}{math.floor(math.log(abs(value)) / self._width) + step}"

    @property
    def _width(self) -> float:
        return math.log1p(self.within) / _FINER

    def _read(self, text: str) -> float:
        said = re.sub(r"(?<=\d)[ \u202f](?=\d)", "", text.strip())
        if re.fullmatch(r"-?[\d.,_]+(e[+-]?\d+)?", said):
            return float(re.sub("[,_]", "", said))
        bare = said.removesuffix(self.unit).removesuffix("×").removesuffix("%").strip()
        known = {"bytes": quantities.BYTES, "seconds": quantities.SECONDS, "s": quantities.SECONDS}
        scale = known.get(self.unit.split("/")[0], quantities.COUNT)
        try:
            return quantities.amount(
                "the answer", bare + "s" * (scale is quantities.SECONDS and bare[-1:].isdigit()), scale
            )
        except quantities.BadQuantityError:
            raise BadAnswerError(f"{text!r} is not a number of {self.unit}: write it as 1234, 4.5k or 1.2M.") from None


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file of the material."""

    files: Sequence[str]

    def keys(self, text: str) -> tuple[str, ...]:
        """``file:line``, then the file alone, whose reply is for lines that have none.

        Raises:
            BadAnswerError: no file, or more than one, is called so.
        """
        said, _, line = text.strip().rpartition(":")
        name, number = (said, int(line)) if said and line.strip().isdigit() else (text.strip(), None)
        found = [file for file in self.files if file == name] or [
            file for file in self.files if f"/{file}".endswith(f"/{name}")
        ]
        if len(found) != 1:
            alike = ", ".join(sorted(found)) or "`server.log:834` is how a place is written"
            raise BadAnswerError(f"{name!r} does not name exactly one file of the material: {alike}.")
        return (f"{found[0]}:{number}", found[0]) if number else (found[0],)


Form = Choice | Moment | Amount | Place


def moment_of(text: str) -> float:
    """Epoch seconds of an ISO moment, as authors write it."""
    at = units.epoch(text)
    if at is None:
        raise BadAnswerError(f"{text!r} is not a valid time.")
    return at
