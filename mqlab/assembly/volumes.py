"""How the logs grew: from the rows of ``volumes`` and the lines read once more to facts in UTC."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from mqlab.assembly.continuation import Counted, carrier_lines, continued
from mqlab.assembly.payloads import Row
from mqlab.findings import Evidence
from mqlab.log_growth.shapes import summed, together
from mqlab.rows.lines import LineShape, Minute, Volume

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
    dated = {c.minute: c for c in counted if c.minute is not None}
    more = continued(counted)
    told = [row for row in rows if not row["whole"]]
    lines = {minute: c.lines for minute, c in dated.items()}
    carriers = carrier_lines(lines, [_lines(row, lines) for row in told if not _complains(row)])

    def bytes_of(row: Row, minute: Row) -> int:
        name = minute["minute"]
        calm = not _complains(row) and carriers[name] < lines[name]
        return int(minute["bytes"]) + (0 if calm else more.get(name, 0) * minute["lines"] // carriers[name])

    def shape(row: Row) -> LineShape:
        minutes = [(m["minute"], m["lines"], bytes_of(row, m)) for m in row["minutes"] if m["minute"] in lines]
        first = _line(source, row["line"], here)
        return LineShape(row.get("level"), row["shape"], first, moment(row["line"]), _minutes(minutes, at))

    minutes = _minutes([(name, c.lines, c.bytes + more.get(name, 0)) for name, c in dated.items()], at)
    shapes = together(shape(row) for row in told)
    first = min(dated.values(), key=lambda c: c.line, default=None)
    return Volume(
        source,
        (moment(first.line) or at(first.minute)) if first else None,
        minutes,
        shapes,
        whole["bytes"] - sum(m.bytes for m in minutes),
        _before(shapes, here),
    )


def _complains(row: Row) -> bool:
    return row.get("level") in ("WARN", "ERROR", "FATAL")


def _lines(row: Row, known: Collection[str]) -> dict[str, int]:
    return {m["minute"]: m["lines"] for m in row["minutes"] if m["minute"] in known}


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
    return summed(Minute(t, lines, size) for t, lines, size in placed if t is not None)


def _line(source: str, number: int, here: Mapping[int, Row]) -> Evidence:
    return Evidence(source, number, here.get(number, {}).get("text", ""))
