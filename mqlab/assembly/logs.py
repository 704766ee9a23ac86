"""What became of the lines of each source, shapes of lines that are no known event, and how the logs grew, in UTC.

Undated lines of a log belong to the dated record before them: a stack trace, a payload over several lines. Lines are
counted by minute with the number of the first of them; what lies between the first line of one minute and that of the
next and was not counted under the minute is undated. Only their bytes are taken to be evenly spread over them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from mqlab.assembly.rows import Gathered
from mqlab.clocks import zones
from mqlab.clocks.zones import Row, minute
from mqlab.facts import span
from mqlab.findings import Evidence
from mqlab.formats.registry import BY_NAME
from mqlab.logs.floods import summed, together
from mqlab.rows import Coverage, LineShape, Minute, Reject, Shape, Volume
from mqlab.sources import COPY, Role, Source

LONGEST_RECORD = 1024
"""Undated lines per dated one above which they are no continuations: a JVM keeps so many frames of a trace by default
(-XX:MaxJavaStackTraceDepth)."""


@dataclass(frozen=True, slots=True)
class Counted:
    """What the scan counted: dated lines of one minute, or undated ones where ``minute`` is None."""

    minute: str | None
    line: int
    """The first of them."""
    lines: int
    bytes: int


def continued(counted: Sequence[Counted]) -> dict[str, int]:
    """Bytes of undated lines that continue the records of each minute; *counted* is the whole log."""
    dated = sorted((c for c in counted if c.minute is not None), key=lambda c: c.line)
    undated = [c for c in counted if c.minute is None]
    lines, size = sum(c.lines for c in undated), sum(c.bytes for c in undated)
    every = lines + sum(c.lines for c in dated)
    if not dated or not lines or lines > LONGEST_RECORD * (every - lines):
        return {}
    ends = [*(c.line for c in dated[1:]), every + 1]
    between = {c.minute or "": max(0, end - c.line - c.lines) for c, end in zip(dated, ends, strict=True)}
    whole = dated[0].line - 1 + sum(between.values())
    return {when: size * count // whole for when, count in between.items() if count}


def carrier_lines(dated: Mapping[str, int], calm: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Lines of each minute that undated ones may continue: those that complain, as traces do, where there are any.

    *dated* are all dated lines by minute, *calm* those of each shape that is known to complain of nothing.
    """
    left = dict(dated)
    for lines in calm:
        for when, count in lines.items():
            left[when] -= count
    return {when: left[when] or count for when, count in dated.items()}


def shapes(gathered: Gathered, instant: zones.Instant) -> Iterator[Shape]:
    """Shapes by source and first line."""
    rows = [(gathered.path(row), row) for row in gathered.rows["volume"]]
    quoted = {(row["source"], row["line"]): row["text"] for row in gathered.rows["quoted"]}
    for path, row in sorted(rows, key=lambda r: (r[0], r[1]["line"], r[1]["shape"])):
        first, last = minute(row.get("first_minute")), minute(row.get("last_minute"))
        yield Shape(
            path, row.get("level"), row["shape"].rstrip("\r"), row["lines"], row["bytes"],
            instant(path, first, None), instant(path, last, None), row["line"],
            quoted.get((row["source"], row["line"]), ""),
        )  # fmt: skip


def rejects(gathered: Gathered) -> Iterator[Reject]:
    """What no format understood: lines of a source, or all of it."""
    for row in gathered.rows["coverage"]:
        source = gathered.sources[row["source"]]
        if row.get("class") is not None:
            continue
        sample = row.get("sample") or {}
        reason = source.format if source.format in ("unrecognised", "binary") else f"not understood as {source.format}"
        yield Reject(
            source.path, reason, _lines(source, row), row["bytes"], (sample.get("text") or "")[:200], sample.get("line")
        )
    for source in gathered.sources.values():
        if source.format == "unreadable":
            yield Reject(source.path, f"unreadable: {source.problem}", 0, source.size, "")


def coverage(gathered: Gathered, settled: Mapping[str, zones.Zone], instant: zones.Instant) -> Iterator[Coverage]:
    """What became of each source, by path; *settled* are the zones that its lines are read in.

    Lines of a copy are known noise: they count where they were read.
    """
    by_link: dict[str, dict[str | None, Row]] = defaultdict(dict)
    for row in gathered.rows["coverage"]:
        by_link[row["source"]][row.get("class")] = row
    shared = {row["source"]: row for row in gathered.rows["overlaps"]}
    known: dict[str, list[Coverage]] = defaultdict(list)
    for link, source in sorted(gathered.sources.items(), key=lambda s: (s[1].format == COPY, s[1].path, s[1].format)):
        if source.format == COPY:
            known[source.path].append(_copied(source, known[source.copy_of or ""]))
            continue
        one = _covered(source, by_link.get(link, {}), settled.get(source.path, zones.ASSUMED), instant)
        one = replace(one, dateless=link in gathered.dateless)
        if link in shared:
            one = replace(one, copy_of=gathered.paths[shared[link]["other"]], copied=shared[link]["lines"])
        known[source.path].append(one)
    yield from (one for _, each in sorted(known.items()) for one in each)


def _covered(source: Source, rows: Mapping[str | None, Row], zone: zones.Zone, instant: zones.Instant) -> Coverage:
    lines = {name: _lines(source, rows[name]) if name in rows else 0 for name in ("data", "noise", None)}
    form = BY_NAME.get(source.format)
    first, last = span(minute(r.get(end)) for r in rows.values() for end in ("first_second", "last_second"))
    return Coverage(
        source.path,
        source.format,
        sum(lines.values()),
        sum(r["bytes"] for r in rows.values()),
        lines["data"],
        lines["noise"],
        lines[None],
        zone.label,
        zone.why,
        instant(source.path, first, None),
        instant(source.path, last, None),
        source.problem,
        form.FORMAT.software if form else "",
        form.FORMAT.role if form else Role.UNKNOWN,
        source.copy_of,
        source.copied,
    )


def _copied(source: Source, read: Sequence[Coverage]) -> Coverage:
    """A copy of what was *read*: a file, or the parts of one."""
    lines, size = sum(one.lines for one in read), sum(one.bytes for one in read)
    zone = zones.ASSUMED
    return Coverage(
        source.path, source.format, lines, size, 0, lines, 0, zone.label, zone.why, copy_of=source.copy_of, copied=lines
    )


def _lines(source: Source, row: Row) -> int:
    """Lines that *row* counts; what is between two line feeds of a binary file is no line."""
    return 0 if source.format == "binary" else int(row["lines"])


Clock = Callable[[str | None], float | None]
"""Epoch seconds of a minute as the log writes it."""


def volumes(
    grown: Sequence[Row], quoted: Sequence[Row], path: Callable[[Row], str], instant: zones.Instant
) -> Iterator[Volume]:
    """One volume a log."""
    lines: dict[str, dict[int, Row]] = defaultdict(dict)
    for row in quoted:
        lines[path(row)][row["line"]] = row
    logs: dict[str, list[Row]] = defaultdict(list)
    for row in grown:
        logs[path(row)].append(row)
    for source, rows in sorted(logs.items()):
        here = lines[source]
        offset = next((q["offset"] for _, q in sorted(here.items()) if q.get("offset") is not None), None)

        def at(text: str | None, source: str = source, offset: int | None = offset) -> float | None:
            return instant(source, minute(text), offset)

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
    shaped = [row for row in rows if not row["whole"]]
    lines = {minute: c.lines for minute, c in dated.items()}
    calm = [{m["minute"]: m["lines"] for m in row["minutes"] if m["minute"] in lines} for row in shaped
            if not _complains(row)]  # fmt: skip
    carriers = carrier_lines(lines, calm)

    def bytes_of(row: Row, minute: Row) -> int:
        name = minute["minute"]
        without = not _complains(row) and carriers[name] < lines[name]
        return int(minute["bytes"]) + (0 if without else more.get(name, 0) * minute["lines"] // carriers[name])

    def shape(row: Row) -> LineShape:
        minutes = [(m["minute"], m["lines"], bytes_of(row, m)) for m in row["minutes"] if m["minute"] in lines]
        first = _line(source, row["line"], here)
        return LineShape(row.get("level"), row["shape"], first, moment(row["line"]), _minutes(minutes, at))

    minutes = _minutes([(name, c.lines, c.bytes + more.get(name, 0)) for name, c in dated.items()], at)
    shapes = together(shape(row) for row in shaped)
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
