"""The diagnosis as pandas tables, for notebooks: to be read, filtered and copied."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from mqlab import units
from mqlab.diagnosis import Diagnosis
from mqlab.facts import Facts, Setting
from mqlab.findings import Evidence, Finding
from mqlab.logs import floods
from mqlab.shared.table import table

AMPLIFICATION_SETTINGS: Mapping[str, tuple[str, ...]] = {
    "producer": (
        "batch.size", "linger.ms", "max.request.size", "retries", "acks", "enable.idempotence", "delivery.timeout.ms",
        "request.timeout.ms", "compression.type", "key.serializer", "value.serializer",
    ),
    "topic": ("max.message.bytes", "compression.type", "replication.factor"),
    "broker": ("message.max.bytes",),
}  # fmt: skip
"""Settings that decide how many bytes leave for one byte that came, by scope."""

_COMPLAINING = frozenset({"WARN", "WARNING", "ERROR", "FATAL", "CRITICAL"})


def verdict(diagnosis: Diagnosis) -> pd.DataFrame:
    """The verdict and, where nothing explains them, the earliest symptoms."""
    first = {"verdict": diagnosis.verdict.incident, "statement": diagnosis.verdict.statement}
    rest = [{"verdict": "unexplained", "statement": symptom} for symptom in diagnosis.symptoms]
    return table([first, *rest], ("verdict", "statement"))


def findings(diagnosis: Diagnosis) -> pd.DataFrame:
    """One row per finding, in the order of the diagnosis."""
    rows = [
        {
            "finding": f"F{number}",
            "incident": one.incident,
            "severity": one.severity.name.lower(),
            "certainty": one.certainty.name.lower(),
            "subject": one.subject,
            "from": units.clock(one.started_at),
            "to": "open" if one.ongoing else units.clock(one.ended_at),
            "statement": one.statement,
        }
        for number, one in enumerate(diagnosis.findings, start=1)
    ]
    return table(rows, ("finding", "incident", "severity", "certainty", "subject", "from", "to", "statement"))


def measures(finding: Finding | None) -> pd.DataFrame:
    """The finding's numbers."""
    known = sorted(finding.measures.items()) if finding else []
    return table(
        [{"measure": name, "value": units.measure(name, value)} for name, value in known], ("measure", "value")
    )


def evidence(finding: Finding | None) -> pd.DataFrame:
    """The lines and samples that prove the finding."""
    places = finding.evidence if finding else ()
    rows = [{"where": where(one), "why": one.why, "text": one.text} for one in places]
    return table(rows, ("where", "why", "text"))


def changes(diagnosis: Diagnosis) -> pd.DataFrame:
    """What became different, by time."""
    rows = [
        {
            "UTC": units.stamp(one.at),
            "what": one.what,
            "before": one.before or "—",
            "after": one.after or "—",
            "where": where(one.evidence[0]) if one.evidence else "—",
            "inferred": "yes" if one.inferred else "",
        }
        for one in sorted(diagnosis.changes, key=lambda change: (change.at is None, change.at or 0, change.what))
    ]
    return table(rows, ("UTC", "what", "before", "after", "where", "inferred"))


def verdicts(diagnosis: Diagnosis) -> pd.DataFrame:
    """Every class that is no finding: rejected, clear or not checked, and why."""
    rows = [{"class": e.incident, "is": "rejected", "because": e.because} for e in diagnosis.rejected]
    rows += [{"class": e.incident, "is": "not checked", "because": _missing(e.missing)} for e in diagnosis.not_checked]
    rows += [{"class": slug, "is": "clear", "because": ""} for slug in sorted(diagnosis.clear)]
    return table(rows, ("class", "is", "because"))


def coverage(facts: Facts) -> pd.DataFrame:
    """What became of each source."""
    rows = [
        {
            "source": one.source,
            "format": one.format,
            "lines": one.lines,
            "data": one.data,
            "noise": one.noise,
            "rejected": one.rejected,
            "zone": f"{one.zone} ({one.zone_why})",
            "first": units.clock(one.first_at),
            "last": units.clock(one.last_at),
        }
        for one in facts.coverage
    ]
    return table(rows, ("source", "format", "lines", "data", "noise", "rejected", "zone", "first", "last"))


def complaints(facts: Facts, most: int = 20) -> pd.DataFrame:
    """Warnings and errors that are no known event, by shape (numbers, ids and addresses masked), earliest first."""
    chosen = [one for one in facts.shapes if (one.level or "").upper() in _COMPLAINING]
    rows = [
        {
            "first": units.clock(one.first_at),
            "level": one.level,
            "lines": one.lines,
            "where": f"{one.source}:{one.first_line}",
            "shape": one.shape,
        }
        for one in sorted(chosen, key=lambda s: (s.first_at is None, s.first_at or 0, s.source, s.first_line))[:most]
    ]
    return table(rows, ("first", "level", "lines", "where", "shape"))


def line_shapes(facts: Facts, most: int = 5) -> pd.DataFrame:
    """What fills each log of a megabyte or more: its largest shapes, and what it would have been without them."""
    rows: list[dict[str, object]] = []
    for files in floods.logs(facts.volumes):
        log = floods.joined(files)
        largest = sorted(log.shapes, key=lambda s: (-s.bytes, s.first.line or 0))[:most]
        rows += [
            {
                "log": log.source,
                "shape": shape.shape.strip(),
                "level": shape.level or "—",
                "lines": shape.lines,
                "bytes": units.size(shape.bytes),
                "share": units.percent(shape.bytes / log.bytes),
                "since": units.clock(shape.first_at),
                "first line": where(shape.first),
            }
            for shape in largest
        ]
        left = log.bytes - sum(shape.bytes for shape in largest)
        if largest:
            told = {"bytes": units.size(left), "share": units.percent(left / log.bytes)}
            blank = {"level": "—", "lines": "—", "since": "—", "first line": "—"}
            rows.append({"log": log.source, "shape": "everything else", **blank, **told})
    return table(rows, ("log", "shape", "level", "lines", "bytes", "share", "since", "first line"))


def ledger(finding: Finding | None) -> pd.DataFrame:
    """The finding's bytes by cause; they add up to all bytes that went out."""
    stages = finding.ledger.stages if finding and finding.ledger else ()
    rows = [
        {
            "stage": stage.label,
            "bytes": units.size(stage.bytes),
            "lies in": f"{units.size(stage.low)} to {units.size(stage.high)}",
            "how": stage.how,
            "second way": stage.second_way or "—",
        }
        for stage in stages
    ]
    return table(rows, ("stage", "bytes", "lies in", "how", "second way"))


def settings(facts: Facts, keys: Mapping[str, Sequence[str]] = AMPLIFICATION_SETTINGS) -> pd.DataFrame:
    """These settings, each value of an owner once; a dated place stands for undated ones."""
    chosen = [one for one in facts.settings if one.key in keys.get(one.scope, ()) and not _internal(one)]
    ranked = sorted(
        chosen, key=lambda one: (list(keys).index(one.scope), keys[one.scope].index(one.key), *_dated_first(one))
    )
    found: dict[tuple[str, str, str | None, str], list[Setting]] = {}
    for one in ranked:
        found.setdefault((one.scope, one.key, one.owner, _value(one)), []).append(one)
    rows = [
        {
            "key": key,
            "value": value,
            "of": f"{scope} {owner or ''}".strip(),
            "known from": same[0].origin,
            "UTC": units.clock(same[0].at),
            "where": where(same[0].evidence) + (f" and {len(same) - 1} more" if len(same) > 1 else ""),
        }
        for (scope, key, owner, value), same in found.items()
    ]
    return table(rows, ("key", "value", "of", "known from", "UTC", "where"))


def where(one: Evidence) -> str:
    """``source:line``."""
    return one.source if one.line is None else f"{one.source}:{one.line}"


def _internal(one: Setting) -> bool:
    return one.scope == "topic" and (one.owner or "").startswith("__")


def _value(one: Setting) -> str:
    """Java clients print classes with a word before them; files do not."""
    return one.value.removeprefix("class ")


def _dated_first(one: Setting) -> tuple[bool, float, str, int]:
    return (one.at is None, one.at or 0.0, one.source, one.line or 0)


def _missing(missing: Iterable[str]) -> str:
    return "missing: " + "; ".join(missing)
