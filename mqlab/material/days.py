"""The day of outputs that show an hour alone, where the logs beside them are all of one day.

Sample names and headings::

    check_082436.txt    083112-groups.txt
    ===== 08:29:13 UTC
    ### 08:24:16Z kafka-consumer-groups.sh --describe --all-groups

Such an hour is of that day where it lies within what the logs cover, or soon after; elsewhere its day stays unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from os import SEEK_END
from pathlib import Path

from mqlab.formats.console import HOUR
from mqlab.material.names import ENDS
from mqlab.sources import Reading, Source

_MOMENT = re.compile(rb"(?m)^.{0,60}?\b(20\d\d-[01]\d-[0-3]\d)[T ](\d\d:\d\d:\d\d)")
_IN_A_NAME = re.compile(r"(?<!\d)([01]\d|2[0-3])[-_]?([0-5]\d)[-_]?([0-5]\d)(?!\d)")
_HEADING = re.compile(rf"(?m)^(?:\[\d+,\d+,\d+,\")?{HOUR[1:]}")

_AFTER = timedelta(minutes=10)
"""After the last line of the logs: who gathers them asks the broker last. Judgement, no default behind it."""

Span = tuple[datetime, datetime]


def dated(sources: Sequence[Source]) -> list[Source]:
    """*sources*, those that show an hour alone with the day of the logs."""
    wanted = [one.reading is Reading.TABLE and one.snapshot_at is None for one in sources]
    span = _span(sources) if any(wanted) else None
    return [_of(one, span) if span and asked else one for one, asked in zip(sources, wanted, strict=True)]


def _span(sources: Sequence[Source]) -> Span | None:
    """First and last moment in the ends of all logs; None where they are of several days."""
    logs = (one for one in sources if one.reading is Reading.LOG and not one.packed)
    moments = [
        b"T".join(found.groups()).decode() for log in logs for end in _ends(log) for found in _MOMENT.finditer(end)
    ]
    if not moments or min(moments)[:10] != max(moments)[:10]:
        return None
    try:
        first, last = (datetime.fromisoformat(text).replace(tzinfo=UTC) for text in (min(moments), max(moments)))
    except ValueError:
        return None
    return first, last


def _ends(source: Source) -> Iterator[bytes]:
    """Its first and its last bytes; none of what is read from elsewhere."""
    try:
        with Path(source.part or source.location).open("rb") as raw:
            yield raw.read(ENDS)
            size = raw.seek(0, SEEK_END)
            raw.seek(max(0, size - ENDS))
            yield raw.read(ENDS)
    except OSError:
        return


def _of(source: Source, span: Span) -> Source:
    """With the moment that its name shows, and the day of its headings."""
    taken = [_at(span, ":".join(found.groups())) for found in _IN_A_NAME.finditer(source.name)]
    text = next(_ends(source), b"").decode("utf-8", "replace")
    told = [_at(span, found["clock"]) for found in _HEADING.finditer(text)]
    return replace(
        source,
        snapshot_at=taken[0].timestamp() if len(taken) == 1 and taken[0] else None,
        day=span[0].date().isoformat() if told and all(told) else None,
    )


def _at(span: Span, clock: str) -> datetime | None:
    """That hour of the day; None where the logs do not cover it."""
    hour, minute, second = map(int, clock.split(":"))
    if hour > 23:
        return None
    moment = span[0].replace(hour=hour, minute=minute, second=second)
    return moment if span[0] <= moment <= span[1] + _AFTER else None
