"""What was known when: how each file of a capture grew, and a file as it was at a moment.

``index`` is made once, on the instructor's side, and goes into the exercise: moments and sizes, no content. ``cut``
makes of an original what was known then. A log or a ledger grows line by line, the output of a command is there as a
whole from its moment on, an export of metrics holds the samples up to the moment, and what has no moment was always
there. Lines are dated as mqlab dates them; those of a clock that is off stay as they are written.
"""

from __future__ import annotations

import bz2
import io
import lzma
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from itertools import accumulate, pairwise
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

import zstandard
from isal import igzip

from mqlab import intake
from mqlab.assembly.rows import Gathered
from mqlab.cache import workspace
from mqlab.clocks.settling import settled
from mqlab.clocks.zones import ASSUMED, MICRO, WRITTEN, Zone, placed
from mqlab.formats import prometheus_json
from mqlab.formats.layouts import moment
from mqlab.formats.registry import BY_NAME, FORMATS
from mqlab.kernel import job, thin
from mqlab.kernel.output import Output
from mqlab.kernel.splits import splits
from mqlab.material import streams
from mqlab.material.envelopes import unwrapped
from mqlab.sources import Envelope, Reading, Role, Source
from mqlab.training import exports
from mqlab.units import parse_zone

if TYPE_CHECKING:
    from mqlab.capture import Capture

MARKS = 200
"""Moments of one file that are kept, at most: more than three a step of the desk's clock."""
_PACK: Mapping[str | None, Callable[[bytes], bytes]] = {
    "gz": lambda data: igzip.compress(data, mtime=0),
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": lambda data: zstandard.ZstdCompressor().compress(data),
}
_YEARLESS = 7 * 365 * 86_400.0
"""Seconds since 1970 up to which a moment has no year: it is in ``layouts.NO_YEAR``, without a date in ``NO_DATE``."""
_Line = tuple[float | None, int]
"""The moment of a line, if it has one, and where it ends."""
_Moment = tuple[float, int | None]
"""Seconds since 1970 on a line's own clock, and how far east of UTC that is, where the line says so."""


class How(StrEnum):
    """How a file becomes known."""

    GROWS = "grows"
    """Line by line: logs, ledgers."""
    TAKEN = "taken"
    """As a whole, at one moment: the output of a command, a snapshot."""
    SERIES = "series"
    """Sample by sample: an export of metrics."""
    ALWAYS = "always"
    """It has no moment: configuration."""


@dataclass(frozen=True, slots=True)
class Known:
    """How one file becomes known; all of it is plain JSON."""

    how: str
    role: str
    """What it is to who wrote it."""
    since: float = 0.0
    """Nothing of it was there before."""
    last: float = 0.0
    """All of it was there from then on."""
    marks: str = ""
    """Of what grows: ``milliseconds+bytes`` that were there then, each counted from the mark before."""

    def grown(self) -> list[tuple[float, int]]:
        """(moment, bytes of the content that were there then), rising."""
        later, more = zip(*(mark.split("+") for mark in self.marks.split()), strict=True)
        return [
            (at / 1000, size) for at, size in zip(accumulate(map(int, later)), accumulate(map(int, more)), strict=True)
        ]


def index(base: Path, zones: Mapping[str, str], later: Mapping[str, str]) -> dict[str, Known]:
    """How each file below *base* becomes known, by its path there.

    *zones* are those of logs that write none (``zones_of``); of logs that it lacks the zone is found here, without
    Spark. *later* are moments before which files did not exist; a broker's own file and a binary one that show none
    are taken for what they held at the end.
    """
    with workspace.scratch() as scratch:
        found = _read(base, scratch, zones)
    end = span(found)[1]
    told = {name: datetime.fromisoformat(text).timestamp() for name, text in later.items() if name in found}
    for name, known in found.items():
        if at := told.get(name) or (end if known.how == How.TAKEN and not known.since else None):
            found[name] = replace(known, since=max(at, known.since), last=max(at, known.last))
    return found


def zones_of(capture: Capture) -> dict[str, str]:
    """The zone of each source, as the capture has settled it."""
    return {row.source: row.zone for row in capture.facts.coverage}


def span(known: Mapping[str, Known]) -> tuple[float, float]:
    """The first and the last moment that anything in the material tells."""
    dated = [one for one in known.values() if one.how != How.ALWAYS and one.last]
    return min((one.since for one in dated), default=0.0), max((one.last for one in dated), default=0.0)


def cut(original: Path, known: Known, until: float) -> bytes | None:
    """What of *original* was known at the moment *until*, compressed as it is; None where nothing of it was there."""
    if until < known.since:
        return None
    raw = original.read_bytes()
    if until >= known.last or known.how in (How.TAKEN, How.ALWAYS):
        return raw
    content = _content(original)
    if known.how == How.SERIES:
        kept = exports.until(content.decode("utf-8", "replace"), until)
    else:
        kept = content[: max((size for at, size in known.grown() if at <= until), default=0)]
    return _PACK.get(streams.kind_of(raw[:512]), bytes)(kept) if kept else None


def known_from(original: Path, known: Known, text: str) -> float:
    """From when a line was known that holds *text*; of a file that does not grow, or without a text, when it began."""
    place = _content(original).find(text.encode()) if text and known.how == How.GROWS else -1
    return next((at for at, size in known.grown() if size > place), known.since) if place >= 0 else known.since


# -- how files grew ----------------------------------------------------------------------------------------------------


def _read(base: Path, scratch: Path, zones: Mapping[str, str]) -> dict[str, Known]:
    sources = intake.gather([str(base)], scratch, FORMATS)
    out = Output()
    for split in splits(sources):
        job.rows_of(split, out)
    out.close(thin.facts)
    known = {**settled(Gathered.of(out.facts, sources).rows, {s.link: s for s in sources}, ()), **_zones(zones)}
    rows = _moments_of_rows(out)
    dated = {s.link: list(_lines(s, rows[s.link], known.get(s.path, ASSUMED))) for s in sources if s.has_content}
    dated = _in_years(dated, {s.link: s.modified for s in sources})
    found: dict[str, Known] = {}
    for source in sources:
        name, _, member = source.path.partition("!/")
        one = _known(source, dated.get(source.link, ()))
        lies_as_written = not member and not source.part and Path(source.location) == (base / name).absolute()
        if not lies_as_written and one.how != How.ALWAYS:
            last = max(one.last, found[name].last if name in found else 0.0)
            one = replace(one, how=How.TAKEN, since=last, last=last, marks="")
        found[name] = one
    return found


def _zones(labels: Mapping[str, str]) -> dict[str, Zone]:
    named = {
        label: WRITTEN if label == WRITTEN.label else Zone(parse_zone(label), label, "") for label in labels.values()
    }
    return {path: named[label] for path, label in labels.items()}


def _moments_of_rows(out: Output) -> Mapping[str, Mapping[int, _Moment]]:
    """The latest moment that rows tell of each line, by source: (seconds on its clock, seconds east of UTC)."""
    found: dict[str, dict[int, _Moment]] = defaultdict(dict)
    for rows in out.tables.values():
        if not {"at", "line", "east"} <= set(rows.column_names):
            continue
        wall = rows.column("at").cast("int64").to_pylist()
        columns = (rows.column(name).to_pylist() for name in ("source", "line", "east"))
        for source, line, east, at in zip(*columns, wall, strict=True):
            if line is not None and at is not None:
                found[source][line] = max(found[source].get(line, (0.0, east)), (at / MICRO, east))
    return found


def _lines(source: Source, rows: Mapping[int, _Moment], zone: Zone) -> Iterator[_Line]:
    """Each line with its moment, from what its rows tell or as it is written, and where it ends."""
    envelope = Envelope(source.envelope)
    end = 0
    for number, line in enumerate(io.BytesIO(_content(Path(source.location))), start=1):
        end += len(line)
        told = rows.get(number) or _written(line.decode("utf-8", "replace").rstrip("\r\n"), envelope)
        if told is None:
            yield None, end
        else:
            wall, east = told
            yield zone.instant(wall) if east is None else wall - east, end


def _written(line: str, envelope: Envelope) -> _Moment | None:
    """What the line itself shows, else its envelope."""
    text, clock = (line, None) if envelope is Envelope.NONE else unwrapped(line, envelope)
    own = moment(text)
    if own is None and clock is not None:
        return clock / MICRO, 0
    shown = own or moment(line)
    return (shown.wall / MICRO, shown.east) if shown else None


def _in_years(dated: Mapping[str, Sequence[_Line]], modified: Mapping[str, float | None]) -> dict[str, list[_Line]]:
    """*dated*, by source, with the year where lines write none: the one in which it fits all others."""
    proper = [at for lines in dated.values() for at, _ in lines if at is not None and at > _YEARLESS]
    whole = (min(proper), max(proper)) if proper else None
    return {
        source: [
            (placed(at, whole, modified[source]) if at is not None and at <= _YEARLESS else at, end)
            for at, end in lines
        ]
        for source, lines in dated.items()
    }


def _known(source: Source, lines: Sequence[_Line]) -> Known:
    role = BY_NAME[source.format].FORMAT.role if source.format in BY_NAME else Role.UNKNOWN
    if source.format == prometheus_json.FORMAT.name:
        moments = sorted(exports.moments(_content(Path(source.location)).decode("utf-8", "replace")))
        return Known(How.SERIES, role, moments[0], moments[-1]) if moments else Known(How.ALWAYS, role)
    if source.snapshot_at is not None and source.reading is not Reading.LOG and role is not Role.LEDGER:
        return Known(How.TAKEN, role, source.snapshot_at, source.snapshot_at)
    marks = _marks(lines)
    if source.format == "binary" or (role is Role.STORE and not marks):
        return Known(How.TAKEN, role)
    if role is Role.CONFIGURATION or not marks:
        return Known(How.ALWAYS, role)
    first, last = marks[0][0] / 1000, marks[-1][0] / 1000
    if source.reading is Reading.DOCUMENT:
        return Known(How.TAKEN, role, last, last)
    steps = [(at - earlier[0], size - earlier[1]) for earlier, (at, size) in pairwise([(0, 0), *marks])]
    return Known(How.GROWS, role, first, last, " ".join(f"{at}+{size}" for at, size in steps))


def _marks(lines: Iterable[_Line]) -> list[tuple[int, int]]:
    """(milliseconds, bytes): up to there no line is later; evenly over time where there are too many."""
    marks: list[tuple[int, int]] = []
    for at, end in lines:
        if at is not None and (not marks or at * 1000 > marks[-1][0]):
            marks.append((ceil(at * 1000), end))
        elif marks:
            marks[-1] = marks[-1][0], end
    if len(marks) <= MARKS:
        return marks
    first, last = marks[0][0], marks[-1][0]
    return list({(at - first) * (MARKS - 1) // (last - first): (at, size) for at, size in marks}.values())


def _content(file: Path) -> bytes:
    """What is in *file*, as far as it can be read."""
    parts: list[bytes] = []
    with suppress(*streams.BROKEN), streams.opened(file) as stream:
        parts.extend(streams.blocks(stream))
    return b"".join(parts)
