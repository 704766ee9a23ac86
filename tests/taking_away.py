"""Facts without some of their sources, as if nobody had gathered them."""

from __future__ import annotations

from dataclasses import replace

PARTS = {
    "connections": ("consumerConnection", "consumerStatus", "consumer-status", "members"),
    "logs of brokers": ("logs/broker", "logs/server", "logs/kafka", "logs/controller", "logs/namesrv"),
    "logs of clients": ("logs/clients", "clients/"),
    "every log": ("logs/", ".log"),
    "offsets": ("offsets/", "consumerProgress"),
    "metrics": ("metrics/",),
    "ledgers": (".csv",),
    "configuration": ("configs/",),
}
"""What may be missing, by parts of paths."""


def without(facts, part):
    """*facts* without the sources of this part."""

    def kept(rows):
        return tuple(row for row in rows if not any(mark in row.source for mark in PARTS[part]))

    names = (
        "episodes",
        "series",
        "settings",
        "positions",
        "clients",
        "assignments",
        "tallies",
        "shapes",
        "rejects",
        "batches",
    )
    rows = {name: kept(getattr(facts, name)) for name in (*names, "coverage", "volumes")}
    left = {c.source for c in rows["coverage"]}
    noted = tuple(d for d in facts.deliveries if left.issuperset(d.sources))
    return replace(facts, **rows, deliveries=noted)
