"""Everything that two captures tell of each other, as plain data, as JSON and as tables."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from math import isfinite
from typing import Any

from mqlab import units
from mqlab.comparing.answer import Answer, answer, common_load
from mqlab.comparing.differences import (
    FEW,
    ClassRow,
    LineRow,
    MeasureRow,
    MomentRow,
    SettingRow,
    VersionRow,
    classes,
    lines,
    measures,
    moments,
    origin,
    settings,
    versions,
)
from mqlab.comparing.sides import FOUND, Load, Side
from mqlab.comparing.tables import NOTHING, Table, without_empty
from mqlab.figures import comparing as figures
from mqlab.figures.comparing import Strand
from mqlab.measure_names import measure_words
from mqlab.words import listed, room

say = room("comparison-tables")

SCHEMA = "mqlab.comparison/1"


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two captures, what may be said of both, and where they differ."""

    a: Side
    b: Side
    answer: Answer
    classes: tuple[ClassRow, ...]
    measures: tuple[MeasureRow, ...]
    settings: tuple[SettingRow, ...]
    versions: tuple[VersionRow, ...]
    lines: tuple[LineRow, ...]
    moments: tuple[MomentRow, ...]
    load: tuple[Load, Load] | None


def compare(a: Side, b: Side) -> Comparison:
    """*b* against *a*: two incidents, or one before and after its repair."""
    rows = classes(a, b), measures(a, b), settings(a, b), versions(a, b), lines(a, b), moments(a, b)
    told = replace(answer(a, b), changed=tuple(_changed(a, rows[2])))
    return Comparison(a, b, told, *rows, common_load(a, b, a.lead))


def _changed(a: Side, rows: Sequence[SettingRow]) -> Iterator[str]:
    """What the page of A's class speaks of, and is different in B."""
    for row in rows:
        if a.lead is not None and a.lead.incident in row.named_by:
            yield say("changed", incident=a.lead.incident, key=row.key, whose=_whose(row), a=row.a, b=row.b)


def _whose(row: SettingRow) -> str:
    return say("whose", scope=row.scope, owners=row.owners or None)


def timeline(comparison: Comparison) -> Any:
    """The figure of both, counted from their onsets."""
    sides = (("A", comparison.a), ("B", comparison.b))
    return figures.aligned([Strand(name, s.facts, s.diagnosis, origin(s) or 0.0) for name, s in sides])


def dumps(comparison: Comparison) -> str:
    """The JSON text that ``mqlab compare --format json`` prints."""
    names = ("classes", "settings", "versions", "lines", "moments")
    document = {
        "schema": SCHEMA,
        "answer": asdict(comparison.answer),
        "a": _side(comparison.a),
        "b": _side(comparison.b),
        "load": [asdict(one) for one in comparison.load] if comparison.load else None,
        **{name: [asdict(row) for row in getattr(comparison, name)] for name in names},
        "measures": [_measured(row) for row in comparison.measures],
    }
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def _measured(row: MeasureRow) -> dict[str, Any]:
    """JSON has no infinity: what never ends is null."""
    numbers = {"a": row.a, "b": row.b, "ratio": row.ratio}
    return asdict(row) | {name: v if v is not None and isfinite(v) else None for name, v in numbers.items()}


def _side(side: Side) -> dict[str, Any]:
    lead, material = side.lead, side.diagnosis.material
    return {
        "path": side.path,
        "name": side.name,
        "verdict": side.diagnosis.verdict.incident,
        "subject": lead.subject if lead else None,
        "onset": units.iso(side.onset),
        "window": [units.iso(side.begin), units.iso(side.end)],
        "files": material.files,
        "lines": material.lines,
        "material": sorted(side.kinds),
    }


# -- as tables -------------------------------------------------------------------------------------------------------


def tables(comparison: Comparison) -> tuple[Table, ...]:
    """What differs, a table for each question, in the order in which they are asked."""
    return tuple(map(without_empty, _tables(comparison)))


def _tables(comparison: Comparison) -> Iterator[Table]:
    a, b = comparison.a, comparison.b
    yield from (
        _captures(comparison),
        _classes(comparison),
        Table(
            say("measures"),
            say("measures-note") if comparison.measures else say("no-measures"),
            ("class", "measure", "A", "B", "B − A", "B / A"),
            tuple(_measure(row) for row in comparison.measures),
        ),
        _settings(comparison.settings),
        Table(
            say("versions"),
            "" if comparison.versions else say("no-versions"),
            ("of", "A", "B"),
            tuple((row.of, row.a, row.b) for row in comparison.versions),
        ),
        _lines(comparison),
        Table(
            say("moments"),
            say("moments-note", a=_from(a), b=_from(b)),
            ("what", "A", "B"),
            tuple((row.what, since(row.a), since(row.b)) for row in comparison.moments),
        ),
    )


def _captures(comparison: Comparison) -> Table:
    sides = (comparison.a, comparison.b)
    loads: Sequence[str] = [one.words for one in comparison.load] if comparison.load else [NOTHING, NOTHING]
    basis = say("load", basis=comparison.load[0].basis if comparison.load else None)
    rows = (
        ("verdict", *(side.diagnosis.verdict.incident for side in sides)),
        ("where", *(side.lead.subject if side.lead else NOTHING for side in sides)),
        ("onset, UTC", *(units.stamp(side.onset) for side in sides)),
        ("material begins, UTC", *(units.stamp(side.begin) for side in sides)),
        ("it covers", *(units.duration(side.seconds) for side in sides)),
        (basis, *loads),
        ("read there only", *(listed(sorted(one.kinds - other.kinds), ", ") for one, other in (sides, sides[::-1]))),
    )
    told = tuple(row for row in rows if any(row[1:]))
    named = (say("named", letter=letter, capture=side.name) for letter, side in zip("AB", sides, strict=True))
    return Table(say("captures"), "", ("of each", *named), told)


def _classes(comparison: Comparison) -> Table:
    found = sum(FOUND in (row.a, row.b) for row in comparison.classes)
    rows = tuple((r.incident, say("states", a=r.a, b=r.b), r.reading, r.because) for r in comparison.classes)
    note = say("classes-note") if rows else say("no-classes")
    return Table(say("classes"), note, ("class", "A → B", "read as", "because"), rows, first=found)


def _measure(row: MeasureRow) -> tuple[str, ...]:
    ratio = units.factor(row.ratio) if row.ratio else NOTHING
    words = measure_words(row.measure)
    own, other = units.measure(row.measure, row.a), units.measure(row.measure, row.b)
    apart = NOTHING if own == other else difference(row.measure, row.b - row.a)
    return (row.incident, words, own, other, apart, ratio)


def difference(name: str, value: float) -> str:
    """By how much a measure is higher or lower, in its own unit; shares differ by points."""
    sign = "+" if value > 0 else "−"
    if {"fraction", "share"} & set(name.split("_")):
        return say("points", sign=sign, points=abs(value) * 100)
    return f"{sign}{units.measure(name, abs(value))}"


def _settings(rows: Sequence[SettingRow]) -> Table:
    usual = sum(bool(row.named_by) or not (row.local or row.scope == "application") for row in rows)
    named = any(row.named_by for row in rows)
    note = say("settings-note", named=named) if rows else say("no-settings")
    cells = tuple((_whose(row), row.key, row.a, row.b, ", ".join(row.named_by)) for row in rows)
    return Table(say("settings"), note, ("whose", "setting", "A", "B", "named by"), cells, first=usual)


def _lines(comparison: Comparison) -> Table:
    """Complaints whose rate differs first; ordinary lines, and those too few to tell, behind them."""
    told = [row for row in comparison.lines if row.reading != FEW]
    few = [row for row in comparison.lines if row.reading == FEW]
    loud = sum(bool(row.level) and row.level not in _QUIET for row in told)
    ordered = sorted(told, key=lambda row: not row.level or row.level in _QUIET)
    rows = tuple(
        (row.reading, row.level.lower(), row.shape, _rate(row, 0), _rate(row, 1), row.log) for row in (*ordered, *few)
    )
    return Table(say("lines"), say("lines-note"), _LINE_HEADER, rows[:_MOST], first=loud)


_MOST = 200
_QUIET = ("INFO", "DEBUG", "TRACE")
_LINE_HEADER = ("in B", "level", "line", "A a minute", "B a minute", "log")


def _rate(row: LineRow, side: int) -> str:
    return f"{units.digits(row.per_minute[side])} ({units.number(row.lines[side])})"


def _from(side: Side) -> str:
    return say("origin", onset=side.onset, dated=origin(side) is not None)


def since(seconds: float | None) -> str:
    """A time before or after the onset: ``+53.9 s``, ``−2.10 min``; a dash where it never came."""
    if seconds is None:
        return NOTHING
    return f"{'−' if seconds < 0 else '+'}{units.duration(abs(seconds))}"
