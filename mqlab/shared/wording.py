"""How findings are written: moments, names, places and samples."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from mqlab.facts import Facts, Series
from mqlab.findings import Evidence


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
    source, line = series.place(number)
    single = any(c.source == source and c.lines == 1 for c in facts.coverage)
    text = f'[{_plain(when)},"{_plain(value)}"]' if line is None else _plain(value)
    labels = ",".join(f'{k}="{v}"' for k, v in sorted(series.labels.items()))
    return Evidence(source, line or (1 if single else None), text, why, f"{series.original}{{{labels}}} {text}")


def _plain(number: float) -> str:
    return str(int(number)) if number == int(number) else repr(number)


def few(names: Sequence[str], shown: int, what: str = "more") -> str:
    """The first of *names*, and how many there are besides: ``a, b and 3 more``."""
    rest = f" and {len(names) - shown} {what}" if len(names) > shown else ""
    return ", ".join(names[:shown]) + rest
