"""What applications say of their own payload: bytes that they were offered and bytes that they delivered.

A network card's ratio tells a fault from health only where a host passes on what it receives; one that reads a disk or
a sensor sends a hundred times what it receives on its best day.
"""

from __future__ import annotations

from collections.abc import Collection

from mqlab.facts import Facts
from mqlab.shared import counters

_OFFERED = ("app.received", "app.consumed")
_DELIVERED = ("app.delivered", "app.acked")


def measures(
    facts: Facts, sources: Collection[str], bytes_out: float | None, since: float | None, until: float | None
) -> dict[str, float]:
    """Payload of the applications that log to *sources*, and how many times it left; empty where they count no bytes.

    They print their counters now and then: what they count is that between the prints around the time.
    """
    found: dict[str, float] = {}
    if since is None or until is None:
        return found
    for name, begins in (("offered", _OFFERED), ("delivered", _DELIVERED)):
        own = [s for s in facts.series if s.source in sources and s.name.startswith(begins) and "ytes" in s.name]
        size = counters.rise(own, since, until) if own else None
        if size:
            found[f"{name}_bytes"] = size
            if bytes_out:
                found[f"sent_per_{name}_factor"] = bytes_out / size
    return found
