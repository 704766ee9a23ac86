"""Rows of ledgers, bytes of logs and lag of groups over time, as courses."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from mqlab.facts import Facts
from mqlab.findings import Evidence
from mqlab.groups import queues
from mqlab.risers.rows import Course

WIDTH = 10.0
"""Seconds of one row of receipts."""
_ROLES = {"sent": "published", "received": "received", "consumed": "consumed", "processed": "processed"}


def courses(facts: Facts) -> Iterator[Course]:
    """Every course, in a fixed order."""
    yield from _receipts(facts)
    yield from _volumes(facts)
    yield from _lags(facts)


def _receipts(facts: Facts) -> Iterator[Course]:
    """Rows a second of each ledger; its first and last ten seconds are not whole."""
    found: dict[tuple[str, str], dict[float, tuple[int, int]]] = defaultdict(dict)
    for receipt in facts.receipts:
        if receipt.role in _ROLES:
            found[receipt.source, receipt.role][receipt.at] = (receipt.rows, receipt.line)
    for (source, role), rows in sorted(found.items()):
        first, last = min(rows), max(rows)
        times = [first + WIDTH * n for n in range(1, int((last - first) // WIDTH))]
        points, places, line = [], [], rows[first][1]
        for at in times:
            many, line = rows.get(at, (0, line))
            points.append((at + WIDTH, many / WIDTH))
            places.append(Evidence(source, line, ""))
        yield Course(_ROLES[role], source, "/s", tuple(points), source, tuple(places))


def _volumes(facts: Facts) -> Iterator[Course]:
    """Bytes a minute of each log; its first and last minute are not whole."""
    for volume in facts.volumes:
        written = {m.at: m.bytes for m in volume.minutes}
        if written:
            first, last = min(written), max(written)
            times = [first + 60.0 * n for n in range(1, int((last - first) // 60))]
            points = tuple((at + 60.0, float(written.get(at, 0))) for at in times)
            yield Course("log volume", volume.source, "B/min", points, volume.source)


def _lags(facts: Facts) -> Iterator[Course]:
    """Messages that wait for each group, at snapshots that tell of all partitions."""
    for (group, topic), by_queue in queues.of_groups(facts).items():
        points = tuple((at, float(waiting)) for at, waiting, _ in queues.totals(by_queue))
        source = next((p.source for own in by_queue.values() for p in own), "")
        yield Course("lag", f"{group} {topic}", "", points, source)
