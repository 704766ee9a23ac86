"""A few shapes of line make up nearly all of a log whose rate exploded.

Fires: at most three shapes carry nine tenths of a log's loudest time, its rate is ten times the log's own earlier one,
and the volume matters. Where the log begins in the flood, lines that complain are enough to call it likely.
Quiet: lines at a steady rate, a log that grows with its load, the burst of a start, bursts that come again and again,
many shapes at once, logs too small to matter. Lines that another finding explains: ``consequences``.
"""

from __future__ import annotations

from mqlab.facts import Facts
from mqlab.findings import Result
from mqlab.logs import explosion, floods
from mqlab.logs.explosion import judged
from mqlab.logs.floods import MUCH_A_MINUTE, flood
from mqlab.rows import Volume
from mqlab.units import size

INCIDENT = "log-explosion"
SYSTEMS: tuple[str, ...] = ("kafka", "rocketmq", "mqtt")

_UNDATED = 0.5
"""Part of a log without moments from which its rate is unknown."""


def detect(facts: Facts) -> Result:
    """One finding a log, files that were rotated away counted with it."""
    if not any(c.role.is_log for c in facts.coverage) and not facts.volumes:
        return Result(missing=("the log itself, from before the onset",))
    logs = [floods.joined(files) for files in floods.logs(facts.volumes)]
    judgements = [judged(facts, found) for log in logs if (found := flood(log)) and not _unknown(log)]
    findings = tuple(explosion.finding(facts, j) for j in judgements if j.certainty is not None)
    if findings:
        return Result(findings)
    missing = [_undated(log) for log in logs if _unknown(log)] + [j.missing for j in judgements if j.missing]
    if missing:
        return Result(missing=tuple(missing[:3]))
    largest = sorted(judgements, key=lambda j: (-j.flood.bytes, j.flood.log.source))
    return Result(rejected="; ".join([j.rejected for j in largest if j.rejected][:2]) or None)


def _unknown(log: Volume) -> bool:
    """True for a log of some size whose lines write no moments: it may have grown at any rate."""
    return log.undated_bytes >= MUCH_A_MINUTE and log.undated_bytes >= _UNDATED * log.bytes


def _undated(log: Volume) -> str:
    return f"the moments of the lines of {log.source}: {size(log.undated_bytes)} of it have none, so no rate is known"
