"""How findings are written: moments, names, places and samples; an accusation, and a notice that accuses nobody."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TypedDict, Unpack

from mqlab.facts import Facts, Series
from mqlab.findings import Certainty, Evidence, Finding, Severity


def instant(at: float) -> datetime:
    """*at* as an aware datetime."""
    return datetime.fromtimestamp(round(at, 3), UTC)


def moment(at: float | None) -> datetime | None:
    """*at* as an aware datetime, None where it is unknown."""
    return None if at is None else instant(at)


def clock(at: float | None) -> str:
    """*at* as ``12:20:44`` UTC."""
    return "an unknown time" if at is None else f"{datetime.fromtimestamp(at, UTC):%H:%M:%S}"


def sample(facts: Facts, series: Series, at: float, why: str) -> Evidence:
    """The sample of *series* nearest to *at*, as evidence: labels as pointer, the literal sample as text."""
    number = min(range(len(series.points)), key=lambda n: abs(series.points[n][0] - at))
    when, value = series.points[number][0], series.points[number][1] / series.factor
    line = series.lines[number] if number < len(series.lines) else None
    single = any(c.source == series.source and c.lines == 1 for c in facts.coverage)
    text = f'[{_plain(when)},"{_plain(value)}"]' if line is None else _plain(value)
    labels = ",".join(f'{k}="{v}"' for k, v in sorted(series.labels.items()))
    return Evidence(series.source, line or (1 if single else None), text, why, f"{series.original}{{{labels}}} {text}")


def _plain(number: float) -> str:
    return str(int(number)) if number == int(number) else repr(number)


def few(names: Sequence[str], shown: int, what: str = "more") -> str:
    """The first of *names*, and how many there are besides: ``a, b and 3 more``."""
    rest = f" and {len(names) - shown} {what}" if len(names) > shown else ""
    return ", ".join(names[:shown]) + rest


class Details(TypedDict, total=False):
    """What a finding says besides who, when and how sure."""

    statement: str
    measures: Mapping[str, float]
    evidence: tuple[Evidence, ...]
    explains: tuple[str, ...]
    mitigate: str
    remedy: str
    verify: str
    facts: Mapping[str, str]


def accusation(
    name: str,
    certainty: Certainty,
    span: tuple[float | None, float | None],
    *,
    ongoing: bool = False,
    severity: Severity | None = None,
    **details: Unpack[Details],
) -> Finding:
    """A finding named class:subject about a *span* of time: critical where it is proven, if nothing else is said."""
    incident, _, subject = name.partition(":")
    usual = Severity.CRITICAL if certainty is Certainty.PROVEN else Severity.WARNING
    end = None if ongoing else moment(span[1])
    return Finding(
        name, incident, severity or usual, certainty, subject, moment(span[0]), end, ongoing, **details
    )  # fmt: skip


def notice(
    name: str,
    span: tuple[float | None, float | None],
    statement: str,
    measures: Mapping[str, float],
    evidence: tuple[Evidence, ...],
    *,
    verify: str,
) -> Finding:
    """A finding of severity notice about a *span* of time: nothing to repair, something to know.

    *name* is the id: class and subject.
    """
    return accusation(
        name,
        Certainty.PROVEN,
        span,
        severity=Severity.NOTICE,
        statement=statement,
        measures=measures,
        evidence=evidence,
        mitigate="None needed.",
        remedy="None needed; size the network for it.",
        verify=verify,
    )
