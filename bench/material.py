"""A large broker log made from real lines: their mix and lengths, times that move on, events planted among them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from itertools import cycle
from pathlib import Path

PLANTED = (
    "Preparing to rebalance group planted in state PreparingRebalance with old generation {n} (__consumer_offsets-7) "
    "(reason: removing member m-{n} on heartbeat expiration) (kafka.coordinator.group.GroupCoordinator)"
)
EVERY = 20_000
"""Lines between two planted events."""
_STAMP = re.compile(r"^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\] ")
_SETTING = re.compile(r"^\s+[a-z][\w.-]+ = ")
_PER_SECOND = 200


def make(samples: Path, out: Path, size: int) -> int:
    """Write about *size* bytes to *out* from the server logs below *samples*; returns the number of planted events."""
    bodies = [body for log in sorted(samples.rglob("server.log")) for body in _bodies(log)]
    moment, planted, written, number = datetime(2026, 1, 1, tzinfo=UTC), 0, 0, 0
    with out.open("w", encoding="utf-8", newline="\n") as file:
        for body in cycle(bodies):
            number += 1
            stamp = _stamp(moment, number)
            line = f"{stamp}{body}\n" if body[:1] not in "\t " else f"{body}\n"
            if number % EVERY == 0:
                planted += 1
                line = f"{stamp}INFO [GroupCoordinator 1]: {PLANTED.format(n=planted)}\n"
            written += file.write(line)
            if number % _PER_SECOND == 0:
                moment += timedelta(seconds=1)
            if written >= size:
                return planted
    return planted


def _bodies(log: Path) -> list[str]:
    """Dated lines and stack traces; the settings printed at a start are left out, a log of weeks has few."""
    text = log.read_text(encoding="utf-8", errors="replace")
    return [_STAMP.sub("", line) for line in text.splitlines() if line.strip() and not _SETTING.match(line)]


def _stamp(moment: datetime, number: int) -> str:
    return f"[{moment:%Y-%m-%d %H:%M:%S},{number % 1000:03d}] "
