"""From the rows that leave Spark to series: exporters' names become canonical ones, values their units."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Sequence

from mqlab.assembly.payloads import Row, seconds
from mqlab.clocks.zones import Instant
from mqlab.facts import Series
from mqlab.formats import metric_names


def series(rows: Sequence[Row], path: Callable[[Row], str], instant: Instant) -> tuple[Series, ...]:
    """A series for each canonical name, set of labels and source; samples without a moment are left out."""
    found: dict[tuple[str, str, str, str], list[tuple[float, float, int | None]]] = defaultdict(list)
    for row in rows:
        written = json.loads(row.get("labels") or "{}")
        canonical = row["name"] if row["name"].startswith("app.") else metric_names.canonical(row["name"], written)
        if canonical is None:
            continue
        source = path(row)
        labels = metric_names.labels_of(canonical, row["name"], written)
        key = (canonical, json.dumps(labels, sort_keys=True), source, row["name"])
        factor = metric_names.factor(canonical, row["name"])
        for point in row["points"]:
            at = instant(source, seconds(point, "at"), row.get("offset"))
            if at is not None:
                found[key].append((at, point["value"] * factor, point.get("line")))
    return tuple(
        Series(
            name,
            original,
            json.loads(labels),
            source,
            tuple((at, value) for at, value, _ in sorted(points, key=lambda p: (p[0], p[2] or 0))),
            tuple(line for _, _, line in sorted(points, key=lambda p: (p[0], p[2] or 0))),
            metric_names.factor(name, original),
        )
        for (name, labels, source, original), points in sorted(found.items())
    )
