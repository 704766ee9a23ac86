"""How the logs grew: from the rows of ``volumes`` and the lines read once more to facts in UTC."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from mqlab.continuation import Counted, continued
from mqlab.facts import LineShape, Minute, Volume
from mqlab.findings import Evidence
from mqlab.line_shapes import together

Row = Mapping[str, Any]
Clock = Callable[[str | None], float | None]
"""Epoch seconds of a minute as the log writes it."""


def volumes(
    grown: Sequence[Row], quoted: Sequence[Row], path: Callable[[Row], str], instant: Callable[..., float | None],
    wall: Clock,
) -> Iterator[Volume]:  # fmt: skip
    """One volume a log.

    *instant* makes epoch seconds of (source, seconds on the log's clock, offset that the log writes), *wall* makes
    seconds on the log's clock of a minute.
    """
    lines: dict[str, dict[int, Row]] = defaultdict(dict)
    for row in quoted:
        lines[path(row)][row["line"]] = row
    logs: dict[str, list[Row]] = defaultdict(list)
    for row in grown:
        logs[path(row)].append(row)
    for source, rows in sorted(logs.items()):
        here = lines[source]
        offset = next((q["offset"] for _, q in sorted(here.items()) if q.get("offset") is not None), None)

        def at(minute: str | None, source: str = source, offset: int | None = offset) -> float | None:
            return instant(source, wall(minute), offset)

        def moment(number: int, source: str = source, here: Mapping[int, Row] = here) -> float | None:
            line = here.get(number, {})
            return instant(source, line.get("wall"), line.get("offset"))

        yield _volume(source, rows, here, at, moment)


def _volume(
    source: str, rows: Sequence[Row], here: Mapping[int, Row], at: Clock, moment: Callable[[int], float | None]
) -> Volume:
    whole = next(row for row in rows if row["whole"])
    counted = [Counted(_known(m, at), m["line"], m["lines"], m["bytes"]) for m in whole["minutes"]]
    dated = [c for c in counted if c.minute is not None]
    more = continued(counted)
    lines = {c.minute: c.lines for c in dated}
    minutes = _minutes([(c.minute, c.lines, c.bytes + more.get(c.minute or "", 0)) for c in dated], at)
    first = min(dated, key=lambda c: c.line, default=None)

    def shape(row: Row) -> LineShape:
        told = [
            (m["minute"], m["lines"], m["bytes"] + more.get(m["minute"], 0) * m["lines"] // lines[m["minute"]])
            for m in row["minutes"]
            if m["minute"] in lines
        ]
        number = row["line"]
        return LineShape(
            row.get("level"), row["shape"], _line(source, number, here), moment(number), _minutes(told, at)
        )

    shapes = together(shape(row) for row in rows if not row["whole"])
    return Volume(
        source,
        (moment(first.line) or at(first.minute)) if first else None,
        minutes,
        shapes,
        whole["bytes"] - sum(m.bytes for m in minutes),
        _before(shapes, here),
    )


def _before(shapes: Sequence[LineShape], here: Mapping[int, Row]) -> Evidence | None:
    """The line before the first one of the loudest shape, if it was read."""
    number = (shapes[0].first.line or 1) - 1 if shapes else 0
    return _line(shapes[0].first.source, number, here) if number in here else None


def _known(row: Row, at: Clock) -> str | None:
    """The minute, unless it is none: digits that only look like a moment."""
    minute = row.get("minute")
    return minute if at(minute) is not None else None


def _minutes(counted: Sequence[tuple[str | None, int, int]], at: Clock) -> tuple[Minute, ...]:
    placed = [(at(minute), lines, size) for minute, lines, size in counted]
    return tuple(sorted((Minute(t, lines, size) for t, lines, size in placed if t is not None), key=lambda m: m.at))


def _line(source: str, number: int, here: Mapping[int, Row]) -> Evidence:
    return Evidence(source, number, here.get(number, {}).get("text", ""))
