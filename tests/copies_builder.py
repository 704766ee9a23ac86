"""Ledgers of MQTT receivers and publishers drawn by hand: rows by ten seconds, and how often each message came."""

from __future__ import annotations

from facts_builder import at

from mqlab.findings import Evidence
from mqlab.rows import Flow, Receipt, TopicFlow


def noted(client, text, *, role="received"):
    """A ledger of *client* from rows of time, rows, again, seconds, dup and retained, one for each ten seconds."""
    rows = [line.split() for line in text.strip().splitlines()]
    source = f"clients/{'published' if role == 'sent' else role}-{client}.csv"
    return tuple(
        Receipt(
            at(when), source, role, int(count), 1, int(dup), int(retained), int(again), float(late), number * 100,
            number * 100 + 1 if int(again) else None,
        )
        for number, (when, count, again, late, dup, retained) in enumerate(rows, 1)
    )  # fmt: skip


def came(text, *, sender="sensor", topic="s/1", failed=False):
    """Messages of one topic from rows of begin, end, messages and ``client:copies`` words, as flows of both kinds."""
    rows = [line.split() for line in text.strip().splitlines()]
    source = f"clients/published-{sender}.csv" if sender else None
    found = []
    for number, (begin, end, messages, *words) in enumerate(rows, 1):
        got = tuple(sorted((f"clients/received-{w.split(':')[0]}.csv", int(w.split(":")[1])) for w in words))
        keys = (f"{topic}-{number}-a", f"{topic}-{number}-b")
        places = tuple(Evidence(source or got[0][0], number * 10 + n, keys[n]) for n in (0, 1))
        told = (source, sender, int(messages), failed, 1, got, at(begin), at(end))
        found.append(Flow(*told, *keys, *places))
        found.append(TopicFlow(topic, 1, *told, *places))
    return tuple(found)
