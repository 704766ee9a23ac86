"""The words and numbers of a log-explosion."""

from __future__ import annotations

from collections.abc import Iterator
from math import floor

from mqlab.facts import Facts
from mqlab.findings import Certainty, Evidence, Finding, Severity
from mqlab.log_growth.floods import Flood
from mqlab.log_growth.judgement import Judgement
from mqlab.questions.wording import clock, moment
from mqlab.rows.lines import LineShape
from mqlab.units import duration, size

INCIDENT = "log-explosion"


def finding(facts: Facts, judgement: Judgement) -> Finding:
    """The finding about one log that was judged an explosion."""
    flood = judgement.flood
    name = flood.log.source
    last = facts_end(facts)
    ended = flood.ended_at if flood.ended_at is None or last is None else min(flood.ended_at, last)
    return Finding(
        id=f"{INCIDENT}:{name}",
        incident=INCIDENT,
        severity=Severity.WARNING,
        certainty=judgement.certainty or Certainty.POSSIBLE,
        subject=name,
        started_at=moment(flood.started_at),
        ended_at=moment(ended),
        ongoing=flood.ended_at is None,
        statement=f"{_shares(flood)} {_rates(flood)}",
        measures=_measures(flood),
        evidence=tuple(_evidence(flood)),
        mitigate="Raise the level of that logger, or sample it; side effect: less to see.",
        remedy="Back-off in the loop that prints it, no payloads in log lines, rotation by size, rate-limited loggers.",
        verify=f"Bytes per minute of {name} are back at {_usual(flood)}.",
        facts={"who": name, "first": f"{clock(flood.started_at)} first line of the flood"},
    )


def facts_end(facts: Facts) -> float | None:
    """The last moment that the material is known to cover."""
    minutes = [v.minutes[-1].at for v in facts.volumes if v.minutes]
    covered = [c.last_at for c in facts.coverage if c.last_at is not None]
    return max([*minutes, *covered], default=None)


def percent(share: float) -> str:
    """A share that is never rounded up to the whole: ``99.97 %``."""
    return f"{floor(share * 1000) / 10:.1f} %" if share < 0.999 else f"{floor(share * 10_000) / 100:.2f} %"


def _shares(flood: Flood) -> str:
    log, count = flood.log, len(flood.shapes)
    shapes = f"{count} shape{'s' if count > 1 else ''} of line"
    whole = flood.shape_bytes / log.bytes
    rest = f"without {'them' if count > 1 else 'it'} the log would have {size(log.bytes - flood.shape_bytes)}"
    since = f"since {clock(flood.started_at)} UTC"
    if 2 * whole >= 1:
        return f"{shapes} = {percent(whole)} of the {size(log.bytes)} of {log.source}, {since}; {rest}."
    return (
        f"{shapes} = {percent(flood.share)} of the {size(flood.bytes)} that {log.source} wrote {since} "
        f"({percent(whole)} of its {size(log.bytes)}); {rest}."
    )


def _rates(flood: Flood) -> str:
    spells = f" in {flood.spells} spells" if flood.spells > 1 else ""
    lasted = f"for {duration(flood.seconds)}{spells}" if flood.ended_at else f"{spells} until the log ends".strip()
    rate = f"{size(flood.a_minute)} a minute {lasted}"
    if flood.earlier is None:
        return f"It grew by {rate}; the log begins in the flood, so nothing says what its rate was before."
    return f"It grew by {rate}, before that by {size(flood.earlier.a_minute)} a minute ({_span(flood)})."


def _span(flood: Flood) -> str:
    return f"over {duration(flood.earlier.seconds)}" if flood.earlier else ""


def _usual(flood: Flood) -> str:
    return f"{size(flood.earlier.a_minute)} or below" if flood.earlier else "what they are in quiet times"


def _measures(flood: Flood) -> dict[str, float]:
    measures: dict[str, float] = {
        "share_of_bytes": flood.shape_bytes / flood.log.bytes,
        "share_of_flood_bytes": flood.share,
        "shapes": len(flood.shapes),
        "lines": sum(s.lines for s in flood.shapes),
        "log_bytes": flood.log.bytes,
        "flood_bytes": flood.bytes,
        "flood_seconds": flood.seconds,
        "bytes_without": flood.log.bytes - flood.shape_bytes,
        "bytes_per_minute": flood.a_minute,
        "peak_bytes_per_minute": max(m.bytes for m in flood.minutes),
    }
    if flood.earlier is not None:
        measures["bytes_per_minute_before"] = flood.earlier.a_minute
    return measures


def _evidence(flood: Flood) -> Iterator[Evidence]:
    for shape in flood.shapes:
        yield Evidence(shape.first.source, shape.first.line, shape.first.text, _why(flood, shape))
    before = flood.log.before
    if before is not None and before.text and flood.earlier is not None:
        yield Evidence(before.source, before.line, before.text, "stands just before the first of them")


def _why(flood: Flood, shape: LineShape) -> str:
    count = "the only one" if shape.lines == 1 else f"first of {shape.lines:,}"
    return f"{count} of this shape, {size(shape.bytes)} = {percent(shape.bytes / flood.log.bytes)} of the log"
