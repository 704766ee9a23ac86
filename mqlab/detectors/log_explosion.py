"""A few shapes of line make up nearly all of a log whose rate exploded.

Fires: at most three shapes carry nine tenths of a log's loudest time, its rate is ten times the log's own earlier one,
and the volume matters. Where the log begins in the flood, lines that complain are enough to call it likely.
Quiet: lines at a steady rate, a log that grows with its load, the burst of a start, bursts that come again and again,
many shapes at once, logs too small to matter. Lines that another finding explains: ``consequences``.
"""

from __future__ import annotations

from collections.abc import Iterator

from mqlab import words
from mqlab.facts import Facts
from mqlab.findings import Certainty, Evidence, Finding, Result, Severity, finding
from mqlab.logs import explosion, floods
from mqlab.logs.explosion import judged
from mqlab.logs.floods import MUCH_A_MINUTE, Flood
from mqlab.rows import Volume
from mqlab.words import listed

INCIDENT = explosion.INCIDENT
SYSTEMS: tuple[str, ...] = ("kafka", "rocketmq", "mqtt")
say = words.room(INCIDENT)

SHORTEST_RATE = 60.0
"""Seconds from which what a log wrote is told as a rate a minute: in less, the few lines of a start decide it."""
_UNDATED = 0.5
"""Part of a log without moments from which its rate is unknown: most of it."""


def detect(facts: Facts) -> Result:
    """One finding a log, files that were rotated away counted with it."""
    if not any(c.role.is_log for c in facts.coverage) and not facts.volumes:
        return Result(missing=(say("no-log"),))
    logs = [floods.joined(files) for files in floods.logs(facts.volumes)]
    judgements = [judged(facts, found) for log in logs if (found := floods.flood(log)) and not _unknown(log)]
    findings = tuple(_finding(facts, j.flood, j.certainty) for j in judgements if j.certainty is not None)
    if findings:
        return Result(findings)
    unknown = [log for log in logs if _unknown(log)]
    missing: list[str] = [say("no-moments", log=log.source, bytes=log.undated_bytes) for log in unknown]
    missing += [j.missing for j in judgements if j.missing]
    if missing:
        return Result(missing=tuple(missing[:3]))
    if fast := [shape for shape in facts.shapes if explosion.is_all_there_is(facts, shape)]:
        seen = listed(say("one-complaint", log=shape.source, bytes=shape.bytes) for shape in fast)
        return Result(missing=(say("no-log"),), seen=seen)
    largest = sorted(judgements, key=lambda j: (-j.flood.bytes, j.flood.log.source))
    return Result(rejected=listed([j.rejected for j in largest if j.rejected][:2]) or None)


def _unknown(log: Volume) -> bool:
    """True for a log of some size whose lines write no moments: it may have grown at any rate."""
    return log.undated_bytes >= MUCH_A_MINUTE and log.undated_bytes >= _UNDATED * log.bytes


def _finding(facts: Facts, found: Flood, certainty: Certainty) -> Finding:
    flood = floods.exact(found, facts.episodes)
    name, last = flood.log.source, _end(facts)
    ended = flood.ended_at if flood.ended_at is None or last is None else min(flood.ended_at, last)
    earlier = flood.earlier
    is_rate = earlier is not None and earlier.seconds >= SHORTEST_RATE
    return finding(
        INCIDENT,
        name,
        certainty,
        (flood.started_at, ended),
        severity=Severity.WARNING,
        ongoing=flood.ended_at is None,
        slots={
            "most": 2 * flood.shape_bytes >= flood.log.bytes,
            "spells": flood.spells if flood.spells > 1 else None,
            "earlier": earlier.seconds if earlier else None,
            "earlier_bytes": None if earlier is None or is_rate else earlier.bytes,
        },
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
            "bytes_per_minute_before": earlier.a_minute if earlier is not None and is_rate else None,
        },
        evidence=_evidence(flood),
        facts={"who": name},
    )


def _end(facts: Facts) -> float | None:
    """The last moment that the material is known to cover."""
    minutes = [v.minutes[-1].at for v in facts.volumes if v.minutes]
    return max([*minutes, *[at for at in [facts.covered_until()] if at is not None]], default=None)


def _evidence(flood: Flood) -> Iterator[Evidence]:
    for shape in flood.shapes:
        share = shape.bytes / flood.log.bytes
        why = say("shape", once=shape.lines == 1, lines=shape.lines, bytes=shape.bytes, share=share)
        yield Evidence(shape.first.source, shape.first.line, shape.first.text, why)
    before = flood.log.before
    if before is not None and before.text and flood.earlier is not None:
        yield Evidence(before.source, before.line, before.text, say("before"))
