"""Prometheus' text exposition and OpenMetrics, as ``curl host:port/metrics`` saves them → METRICS.

Sample lines::

    # TYPE kafka_server_brokertopicmetrics_bytesin_total counter
    kafka_server_brokertopicmetrics_bytesin_total{topic="orders",} 1.0485760E7
    kafka_consumergroup_lag{topic="orders",partition="0"} => 41873 @[1714565923.427]      promtool query instant
    | kafka_consumergroup_lag{topic="orders",partition="0"} | 41873 |                     a table of answers

A sample's moment is its own, else that of a ``date`` line or comment above, else the snapshot's.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from math import isfinite

from mqlab.formats import console
from mqlab.formats.base import About, Data, Head, Item, Items, Line, Lines, Noise, Spec, regex
from mqlab.formats.values import epoch, labels
from mqlab.sources import Role
from mqlab.tables import METRICS, Row

FORMAT = Spec("prometheus-text", Role.METRICS, (METRICS,))

_META = regex(r"# (?:TYPE|HELP|UNIT|EOF)\b")
_SAMPLE = regex(
    r"(?:\| *)?(?P<name>[A-Za-z_:][\w:]*+)(?:\{(?P<labels>(?:[^\"{}]++|\"(?:[^\"\\]++|\\.)*+\")*+)\})?"
    r"(?:\s+|\s*(?:=>|[|:=])\s*)(?P<value>[-+]?(?:\d++\.?\d*+(?:[eE][-+]?\d+)?|\.\d+|[Nn]a[Nn]|[Ii]nf))(?:\s+(?:@\[)?(?P<at>-?\d+(?:\.\d+)?)\]?)?"
    r"\s*(?:\||# \{.*)?$"
)
_TABLE = regex(r"\|(?: *:?-+:? *\||[^{}|]*\|)+$")
"""The head of a table of samples, and the rule below it."""
_labels = lru_cache(maxsize=4096)(labels)


def recognise(head: Head) -> bool:
    """True when nearly all lines are samples and some of them have labels or a type."""
    lines = console.plain_lines(head)
    found = [line for line in lines if _SAMPLE.match(line)]
    typed = any(_META.match(line) for line in lines) or any("{" in line for line in found)
    if not found or not typed:
        return False
    others = [line for line in lines if not (line.startswith("#") or _SAMPLE.match(line) or _TABLE.match(line))]
    return len(found) >= 9 * sum(1 for line in others if not console.is_remark(line))


def parse(lines: Lines, about: About) -> Items:
    """One metric a sample; NaN and infinite ones are left out, comments are noise."""
    others: list[Line] = []
    for line in lines:
        text = console.plain(line.text)
        if sample := _SAMPLE.match(text):
            if others:
                *remarks, here = console.shown([*others, line], about)
                yield from map(_remark, remarks)
                others, about = [], replace(about, snapshot_at=here.at)
            yield Data(line, _metric(sample, about.snapshot_at))
        elif _META.match(text) or _TABLE.match(text):
            yield Noise(line)
        else:
            others.append(line)
    yield from map(_remark, console.shown(others, about))


def _metric(sample: re.Match[str], at: int | None) -> tuple[Row, ...]:
    name, told, number, moment = sample.groups()
    value = float(number)
    if not isfinite(value):
        return ()
    own = epoch(moment)
    return (METRICS.row(at=at if own is None else own, name=name, labels=_labels(told), value=value),)


def _remark(one: console.Shown) -> Item:
    return Noise(one.line) if one.plain.startswith("#") else console.remark(one)
