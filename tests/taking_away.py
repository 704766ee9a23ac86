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
        "parts",
        "receipts",
    )
    rows = {name: kept(getattr(facts, name)) for name in (*names, "coverage", "volumes")}
    left = {c.source for c in rows["coverage"]}
    noted = tuple(d for d in facts.deliveries if left.issuperset(d.sources))
    roles = {part.role for part in rows["parts"]}
    fates = tuple(fate for f in facts.fates if (fate := _told_by(f, roles, left)))
    told = {
        "flows": tuple(flow for f in facts.flows if (flow := _noted_by(f, left))),
        "topic_flows": tuple(flow for f in facts.topic_flows if (flow := _noted_by(f, left))),
        "passages": tuple(p for p in facts.passages if {p.sender, p.receiver} <= left),
    }
    return replace(facts, **rows, **told, deliveries=noted, fates=fates)


def _noted_by(flow, left):
    """What the ledgers *left* tell of messages of MQTT; None where that is nothing."""
    received = tuple(one for one in flow.received if one[0] in left)
    if flow.sender in left:
        return replace(flow, received=received)
    return replace(flow, sender=None, party=None, failed=False, received=received) if received else None


def _told_by(fate, roles, left):
    """What ledgers of these *roles* and the sources *left* tell of some messages; None where that is nothing."""
    known = replace(
        fate,
        sent=fate.sent if "sent" in roles else 0,
        acked=fate.acked if "acked" in roles else 0,
        failed=fate.failed if roles & {"failed", "acked", "sent"} else 0,
        overwritten=fate.overwritten and "acked" in roles,
        stored=tuple(s for s in fate.stored if s in left),
        handled=tuple(s for s in fate.handled if s in left),
    )
    return known if known.sent or known.acked or known.failed or known.stored or known.handled else None
