"""The diagnosis as pandas tables, for notebooks: to be read, filtered and copied."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from shlex import quote

import pandas as pd

from mqlab import units, words
from mqlab.catalogue import INCIDENTS
from mqlab.diagnosis import Diagnosis
from mqlab.facts import Facts, Setting
from mqlab.findings import Evidence, Finding
from mqlab.logs import floods
from mqlab.models.lag import TimeLag
from mqlab.rows import Coverage
from mqlab.shared.table import table
from mqlab.sources import COPY
from mqlab.words import Text

say = words.room("frames")

NOTHING = "—"
Keys = Mapping[str, Sequence[str]]
"""Names of settings by scope."""
AMPLIFICATION_SETTINGS: Keys = {
    "producer": (
        "batch.size", "linger.ms", "max.request.size", "retries", "acks", "enable.idempotence", "delivery.timeout.ms",
        "request.timeout.ms", "compression.type", "key.serializer", "value.serializer",
    ),
    "topic": ("max.message.bytes", "compression.type", "replication.factor"),
    "broker": ("message.max.bytes",),
}  # fmt: skip
"""What decides how many bytes leave for one byte that came."""
_UNSET = ("null", "", "[]")

_COMPLAINING = frozenset({"WARN", "WARNING", "ERROR", "FATAL", "CRITICAL"})


def moments(micros: Iterable[int]) -> pd.DatetimeIndex:
    """Microseconds since 1970 as ``datetime64[ns, UTC]``, the one type that moments have wherever pandas gets them.

    The tables below are for reading: their times are text, as "open" and "—" are.
    """
    return pd.to_datetime(list(micros), unit="us", utc=True).as_unit("ns")


def lag_seconds(ages: Iterable[tuple[float, TimeLag | None]]) -> pd.DataFrame:
    """Ages of the oldest waiting message, with bounds and trend; NaN where they are not known."""
    known = list(ages)
    each = [(None, None, None) if age is None else (age.likely, age.low, age.high) for _, age in known]
    index = moments(round(at * 1e6) for at, _ in known)
    frame = pd.DataFrame(each, columns=["lag_s", "at_least_s", "at_most_s"], index=index, dtype="float64")
    return frame.assign(trend=frame["lag_s"].diff() / index.to_series().diff().dt.total_seconds())


def verdict(diagnosis: Diagnosis) -> pd.DataFrame:
    """The verdict and, where nothing explains them, the earliest symptoms."""
    first = (say("verdict", incident=diagnosis.verdict.incident), diagnosis.verdict.statement)
    return table([first, *((say("unexplained"), symptom) for symptom in diagnosis.symptoms)], "verdict|statement")


def findings(found: Sequence[Finding]) -> pd.DataFrame:
    """One row per finding, in the order of the diagnosis."""
    rows = [
        (
            f"F{number}", one.incident, say("severity", severity=one.severity.name.lower()),
            say("certainty", certainty=one.certainty.name.lower()), one.subject, units.clock(one.started_at),
            say("open") if one.ongoing else units.clock(one.ended_at), one.statement,
        )
        for number, one in enumerate(found, start=1)
    ]  # fmt: skip
    return table(rows, "finding|incident|severity|certainty|subject|from|to|statement")


def measures(finding: Finding) -> pd.DataFrame:
    """The finding's numbers."""
    known = sorted(finding.measures.items())
    return table([(name, units.measure(name, value)) for name, value in known], "measure|value")


def places(evidence: Sequence[Evidence]) -> pd.DataFrame:
    """What each place says, and what that shows."""
    return table([(one.place, one.why, one.text.strip()) for one in evidence], "where|why|text")


def repair(finding: Finding | None, system: str, group: str | None) -> pd.DataFrame:
    """What to do now, for good, and how to see that it worked, with the commands that show it; empty without need."""
    if finding is None or group is None:
        return table([], "step|what")
    rows = [(say("do-now"), finding.mitigate), (say("for-good"), finding.remedy), (say("verify"), finding.verify)]
    own = [command.run for command in INCIDENTS[finding.incident].commands if command.system == system]
    rows += [(say("command"), run.replace('"$GROUP"', quote(group))) for run in own if "{file}" not in run]
    return table([row for row in rows if row[1]], "step|what")


def changes(diagnosis: Diagnosis) -> pd.DataFrame:
    """What became different, by time."""
    rows = [
        (
            units.stamp(one.at), one.what, one.before or NOTHING, one.after or NOTHING,
            one.evidence[0].place if one.evidence else NOTHING, whether(True) if one.inferred else "",
        )
        for one in sorted(diagnosis.changes, key=lambda change: (change.at is None, change.at or 0, change.what))
    ]  # fmt: skip
    return table(rows, "UTC|what|before|after|where|inferred")


def verdicts(diagnosis: Diagnosis) -> pd.DataFrame:
    """Every class that is no finding: rejected, clear or not checked, and why."""
    rows = [(one.incident, say("rejected"), one.because) for one in diagnosis.rejected]
    rows += [(one.incident, say("not-checked"), say("missing", missing=one.missing)) for one in diagnosis.not_checked]
    rows += [(slug, say("clear"), "") for slug in sorted(diagnosis.clear)]
    return table(rows, "class|is|because")


def coverage(sources: Sequence[Coverage]) -> pd.DataFrame:
    """What became of each source."""
    rows = [
        (
            one.source, say("copy", source=one.copy_of) if one.format == COPY else one.format,
            one.lines, one.data, one.noise, one.rejected, say("zone", zone=one.zone, why=one.zone_why),
            units.clock(one.first_at), units.clock(one.last_at),
        )
        for one in sources
    ]  # fmt: skip
    return table(rows, "source|format|lines|data|noise|rejected|zone|first|last")


def complaints(facts: Facts, most: int = 20) -> pd.DataFrame:
    """Warnings and errors that are no known event, by shape (numbers, ids and addresses masked), earliest first."""
    chosen = [one for one in facts.shapes if (one.level or "").upper() in _COMPLAINING]
    rows = [
        (units.clock(one.first_at), one.level, one.lines, f"{one.source}:{one.first_line}", one.shape)
        for one in sorted(chosen, key=lambda s: (s.first_at is None, s.first_at or 0, s.source, s.first_line))[:most]
    ]
    return table(rows, "first|level|lines|where|shape")


def line_shapes(facts: Facts, most: int = 5) -> pd.DataFrame:
    """What fills each log of a megabyte or more: its largest shapes, and what it would have been without them."""
    rows: list[Sequence[object]] = []
    for files in floods.logs(facts.volumes):
        log = floods.joined(files)
        largest = sorted(log.shapes, key=lambda s: (-s.bytes, s.first.line or 0))[:most]
        rows += [
            (
                log.source, shape.shape.strip(), shape.level or NOTHING, shape.lines,
                *_bytes(shape.bytes, log.bytes), units.clock(shape.first_at), shape.first.place,
            )
            for shape in largest
        ]  # fmt: skip
        if largest:
            left = _bytes(log.bytes - sum(shape.bytes for shape in largest), log.bytes)
            rows.append((log.source, say("others"), NOTHING, NOTHING, *left, NOTHING, NOTHING))
    return table(rows, "log|shape|level|lines|bytes|share|since|first line")


def _bytes(part: int, whole: int) -> tuple[str, str]:
    return units.size(part), units.percent(part / whole)


def ledger(finding: Finding | None) -> pd.DataFrame:
    """The finding's bytes by cause; they add up to all bytes that went out."""
    rows = [
        (
            stage.label, units.size(stage.bytes), say("bounds", low=stage.low, high=stage.high), stage.how,
            stage.second_way or NOTHING,
        )
        for stage in (finding.ledger.stages if finding and finding.ledger else ())
    ]  # fmt: skip
    return table(rows, "stage|bytes|lies in|how|second way")


def settings(facts: Facts, keys: Keys = AMPLIFICATION_SETTINGS, clients: Collection[str] | None = None) -> pd.DataFrame:
    """One row per value of each of these settings, with all (of the *clients*) that had it; unset ones are left out."""
    alike: dict[tuple[str, str, str], list[Setting]] = {}
    for one in sorted(facts.settings, key=lambda s: (s.at is None, s.at or 0.0, s.source, s.line or 0)):
        internal = one.scope == "topic" and (one.owner or "").startswith("__")
        own = one.scope == "broker" or clients is None or one.owner in clients
        if own and not internal and one.value not in _UNSET:
            alike.setdefault((one.scope, one.key, _value(one)), []).append(one)
    rows = [
        (
            key, value, say("whose", scope=scope, owners=sorted({one.owner for one in same if one.owner})),
            units.clock(same[0].at), say("origin", origin=same[0].origin),
            say("places", place=same[0].evidence.place, more=len(same) - 1),
        )
        for scope, names in keys.items()
        for name in names
        for (own_scope, key, value), same in alike.items()
        if (own_scope, key) == (scope, name)
    ]  # fmt: skip
    return table(rows, "key|value|of|since|known from|where")


def _value(one: Setting) -> str:
    """Java clients print classes with a word before them and lists in brackets; files do not."""
    return one.value.replace("org.apache.kafka.clients.consumer.", "").replace("class ", "").strip("[]")


def whether(so: bool) -> Text:
    """Yes or no."""
    return say("yes" if so else "no")
