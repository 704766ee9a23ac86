"""A few shapes of line make up nearly all of a log whose rate exploded.

Fires: at most three shapes carry nine tenths of a log's loudest time, its rate is ten times the log's own earlier one,
and the volume matters. Where the log begins in the flood, lines that complain are enough to call it likely.
Quiet: lines at a steady rate, a log that grows with its load, the burst of a start, bursts that come again and again,
many shapes at once, logs too small to matter. Lines that another finding explains: ``consequences``.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import floor

from mqlab.facts import Facts
from mqlab.findings import Certainty, Evidence, Finding, Result, Severity, finding
from mqlab.logs import explosion, floods
from mqlab.logs.explosion import judged
from mqlab.logs.floods import MUCH_A_MINUTE, Flood
from mqlab.rows import Volume
from mqlab.shared.wording import clock
from mqlab.units import duration, size

INCIDENT = explosion.INCIDENT
SYSTEMS: tuple[str, ...] = ("kafka", "rocketmq", "mqtt")

_UNDATED = 0.5
"""Part of a log without moments from which its rate is unknown: most of it."""


def detect(facts: Facts) -> Result:
    """One finding a log, files that were rotated away counted with it."""
    if not any(c.role.is_log for c in facts.coverage) and not facts.volumes:
        return Result(missing=("the log itself, from before the onset",))
    logs = [floods.joined(files) for files in floods.logs(facts.volumes)]
    judgements = [judged(facts, found) for log in logs if (found := floods.flood(log)) and not _unknown(log)]
    findings = tuple(_finding(facts, j.flood, j.certainty) for j in judgements if j.certainty is not None)
    if findings:
        return Result(findings)
    missing = [_undated(log) for log in logs if _unknown(log)] + [j.missing for j in judgements if j.missing]
    if missing:
        return Result(missing=tuple(missing[:3]))
    if fast := [shape for shape in facts.shapes if explosion.is_all_there_is(facts, shape)]:
        seen = "; ".join(f"{s.source} is nearly all one complaint, {size(s.bytes)} of it in a moment" for s in fast)
        return Result(missing=("the log itself, from before the onset",), seen=seen)
    largest = sorted(judgements, key=lambda j: (-j.flood.bytes, j.flood.log.source))
    return Result(rejected="; ".join([j.rejected for j in largest if j.rejected][:2]) or None)


def _unknown(log: Volume) -> bool:
    """True for a log of some size whose lines write no moments: it may have grown at any rate."""
    return log.undated_bytes >= MUCH_A_MINUTE and log.undated_bytes >= _UNDATED * log.bytes


def _undated(log: Volume) -> str:
    return f"the moments of the lines of {log.source}: {size(log.undated_bytes)} of it have none, so no rate is known"


def _finding(facts: Facts, flood: Flood, certainty: Certainty) -> Finding:
    name, last = flood.log.source, _end(facts)
    ended = flood.ended_at if flood.ended_at is None or last is None else min(flood.ended_at, last)
    earlier = flood.earlier
    usual = f"{size(earlier.a_minute)} or below" if earlier else "what they are in quiet times"
    return finding(
        INCIDENT,
        name,
        certainty,
        (flood.started_at, ended),
        severity=Severity.WARNING,
        ongoing=flood.ended_at is None,
        statement=f"{_shares(flood)} {_rates(flood)}",
        measures={
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
            "bytes_per_minute_before": earlier.a_minute if earlier else None,
        },
        evidence=_evidence(flood),
        mitigate="Raise the level of that logger, or sample it; side effect: less to see.",
        remedy="Back-off in the loop that prints it, no payloads in log lines, rotation by size, rate-limited loggers.",
        verify=f"Bytes per minute of {name} are back at {usual}.",
        facts={"who": name, "first": f"{clock(flood.started_at)} first line of the flood"},
    )


def _end(facts: Facts) -> float | None:
    """The last moment that the material is known to cover."""
    minutes = [v.minutes[-1].at for v in facts.volumes if v.minutes]
    return max([*minutes, *[at for at in [facts.covered_until()] if at is not None]], default=None)


def _percent(share: float) -> str:
    """A share that is never rounded up to the whole: ``99.97 %``."""
    return f"{floor(share * 1000) / 10:.1f} %" if share < 0.999 else f"{floor(share * 10_000) / 100:.2f} %"


def _shares(flood: Flood) -> str:
    log, count = flood.log, len(flood.shapes)
    shapes = f"{count} line shape{'s' if count != 1 else ''} {'make' if count != 1 else 'makes'} up"
    whole = flood.shape_bytes / log.bytes
    rest = f"without {'them' if count > 1 else 'it'} the log would be {size(log.bytes - flood.shape_bytes)}"
    since = f"since {clock(flood.started_at)} UTC"
    if 2 * whole >= 1:
        return f"{shapes} {_percent(whole)} of the {size(log.bytes)} of {log.source} {since}; {rest}."
    return (
        f"{shapes} {_percent(flood.share)} of the {size(flood.bytes)} that {log.source} wrote {since} "
        f"({_percent(whole)} of its {size(log.bytes)}); {rest}."
    )


def _rates(flood: Flood) -> str:
    spells = f" in {flood.spells} spells" if flood.spells > 1 else ""
    lasted = f"for {duration(flood.seconds)}{spells}" if flood.ended_at else f"{spells} until the log ends".strip()
    rate = f"{size(flood.a_minute)} a minute {lasted}"
    if flood.earlier is None:
        return f"It grew by {rate}; the log begins in the flood, so nothing says what its rate was before."
    before = f"{size(flood.earlier.a_minute)} a minute (over {duration(flood.earlier.seconds)})"
    return f"It grew by {rate}, up from {before}."


def _evidence(flood: Flood) -> Iterator[Evidence]:
    for shape in flood.shapes:
        count = "the only one" if shape.lines == 1 else f"first of {shape.lines:,}"
        part = f"{size(shape.bytes)} = {_percent(shape.bytes / flood.log.bytes)} of the log"
        yield Evidence(shape.first.source, shape.first.line, shape.first.text, f"{count} of this shape, {part}")
    before = flood.log.before
    if before is not None and before.text and flood.earlier is not None:
        yield Evidence(before.source, before.line, before.text, "stands just before the first of them")
