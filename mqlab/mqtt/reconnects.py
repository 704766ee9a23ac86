"""Moments at which many MQTT clients lost their connections together and came back, and what was behind each.

A broker that stops cuts everybody off; a network, a gateway or a proxy those behind it. Wars for an id are none of it,
nor are clients that are cut off after the same time again and again, each by itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from mqlab.facts import Episode, Facts
from mqlab.memo import per_facts
from mqlab.mqtt.brokers import brokers
from mqlab.mqtt.bursts import CUT_OFF, bursts
from mqlab.mqtt.connection import Connection
from mqlab.mqtt.flapping import flapping
from mqlab.mqtt.lives import by_client, told_by_clients
from mqlab.mqtt.storm import LEAST, MOST, Storm, again, firsts
from mqlab.mqtt.takeovers import fought

BACK = 120.0
"""Seconds after a broker's start in which its clients come back: those that doubled their waits meanwhile are late."""


@per_facts
def storms(facts: Facts) -> tuple[Storm, ...]:
    """Every moment at which many clients of a broker came back together, by broker and time."""
    timed = {(one.broker, one.client_id) for one in flapping(facts) if one.life < CUT_OFF and one.closed}
    clients: dict[str | None, list[Sequence[Connection]]] = defaultdict(list)
    others: dict[str | None, list[Sequence[Connection]]] = defaultdict(list)
    for key, own in by_client(facts).items():
        if key not in fought(facts):
            clients[key[0]].append(own)
        if key not in fought(facts) | timed:
            others[key[0]].append(own)
    found: list[Storm] = []
    for broker in sorted(clients, key=lambda name: name or ""):
        restarts = list(_restarts(facts, broker, clients[broker]))
        found += restarts
        explained = [(storm.down, storm.up + BACK) for storm in restarts]
        found += (_since_when(facts, storm) for storm in bursts(broker, others[broker], explained))
    return tuple(found)


def _since_when(facts: Facts, storm: Storm) -> Storm:
    """*storm*, where a broker stood still with what its silence and its clients tell of since when."""
    if storm.cause != "standstill":
        return storm
    names = {c.client_id for c in storm.back}
    lines = [e.last_at or e.first_at for e in facts.episodes if e.source in _sources(facts, storm.broker)]
    quiet = max((at for at in lines if at is not None and at < storm.down), default=None)
    lost = [c.until for c in told_by_clients(facts) if c.client_id in names and c.end is not None and c.until]
    seen = [at for at in lost if (quiet if quiet is not None else storm.down - CUT_OFF) < at < storm.down]
    return replace(storm, down=min(seen, default=storm.down), quiet_since=quiet)


def _sources(facts: Facts, broker: str | None) -> frozenset[str]:
    """The logs of a broker."""
    return frozenset(source for one in brokers(facts) if one.name == broker for source in one.sources)


@per_facts
def cut_off(facts: Facts) -> frozenset[str]:
    """Clients whose connections ended by a restart of their broker; its first start and its last stop are none."""
    spans = {one.name: [(down, up) for down, up, _ in _starts(facts, one.name)] for one in brokers(facts)}
    return frozenset(
        client
        for (broker, client), own in by_client(facts).items()
        if any(_ended_by_restart(c, *span) for c in own for span in spans.get(broker or "", ()))
    )


def _starts(facts: Facts, broker: str | None) -> Iterator[tuple[float, float, tuple[Episode, ...]]]:
    """When a broker was down and up again, and the lines that say so; its first start in the material, too."""
    sources = _sources(facts, broker)
    lines = [e for e in facts.of_kind("broker-stopping", "broker-starting") if e.source in sources and e.first_at]
    lines.sort(key=lambda e: (e.first_at or 0.0, e.source, e.first.line or 0))
    for number, start in enumerate(lines):
        if start.kind == "broker-starting":
            stop = lines[number - 1] if number and lines[number - 1].kind == "broker-stopping" else None
            yield (stop or start).first_at or 0.0, start.first_at or 0.0, (stop, start) if stop else (start,)


def _restarts(facts: Facts, broker: str | None, clients: Sequence[Sequence[Connection]]) -> Iterator[Storm]:
    for down, up, told in _starts(facts, broker):
        cut = [own for own in clients if any(_ended_by_restart(c, down, up) for c in own)]
        after = [c for own in cut for c in own if up <= (c.since or -1.0) and not _was_open(c, down, up)]
        back = firsts(after, up + BACK)
        if len(back) >= LEAST and len(back) >= MOST * len(cut):
            yield Storm(broker, "restart", down, up, len(cut), back, again(after, back), told)


def _ended_by_restart(connection: Connection, down: float, up: float) -> bool:
    return connection.until is not None and down <= connection.until <= up


def _was_open(connection: Connection, down: float, up: float) -> bool:
    """It ended with the broker: where whole seconds are printed, it may have begun in that one, too."""
    return _ended_by_restart(connection, down, up) and (connection.ended or "").startswith("broker-")
