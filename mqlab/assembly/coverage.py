"""What became of the lines of each source: coverage, rejects, shapes of lines that are no known event."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from mqlab.assembly.clocks import minute
from mqlab.assembly.gathered import Gathered
from mqlab.assembly.payloads import Row
from mqlab.clocks import zones
from mqlab.rows.coverage import Coverage, Reject
from mqlab.rows.lines import Shape
from mqlab.sources import Source


def shapes(gathered: Gathered, instant: zones.Instant) -> Iterator[Shape]:
    """Shapes by source and first line."""
    rows = [(gathered.path(row), row) for row in gathered.rows["volume"]]
    for path, row in sorted(rows, key=lambda r: (r[0], r[1]["line"], r[1]["shape"])):
        first, last = minute(row.get("first_minute")), minute(row.get("last_minute"))
        yield Shape(
            path, row.get("level"), row["shape"].rstrip("\r"), row["lines"], row["bytes"],
            instant(path, first, None), instant(path, last, None), row["line"],
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
    """What became of each source, by path; *settled* are the zones that its lines are read in."""
    by_path: dict[str, dict[str | None, Row]] = defaultdict(dict)
    for row in gathered.rows["coverage"]:
        by_path[gathered.path(row)][row.get("class")] = row
    for source in sorted(gathered.sources.values(), key=lambda s: s.path):
        rows = by_path.get(source.path, {})
        lines = {name: _lines(source, rows[name]) if name in rows else 0 for name in ("data", "noise", None)}
        zone = settled.get(source.path, zones.ASSUMED)
        firsts = [minute(r.get("first_minute")) for r in rows.values() if r.get("first_minute")]
        lasts = [minute(r.get("last_minute")) for r in rows.values() if r.get("last_minute")]
        yield Coverage(
            source.path,
            source.format,
            sum(lines.values()),
            sum(r["bytes"] for r in rows.values()),
            lines["data"],
            lines["noise"],
            lines[None],
            zone.label,
            zone.why,
            instant(source.path, min((t for t in firsts if t is not None), default=None), None),
            instant(source.path, max((t for t in lasts if t is not None), default=None), None),
            source.problem,
        )


def _lines(source: Source, row: Row) -> int:
    """Lines that *row* counts; what is between two line feeds of a binary file is no line."""
    return 0 if source.format == "binary" else int(row["lines"])
