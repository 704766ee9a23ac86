"""Connections of MQTT clients from their own logs.

Many lines do not name the client id: they belong to the only id that the same log names. Library and application tell
of one connection in a line each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from mqlab.facts import Episode, Facts
from mqlab.memo import per_facts
from mqlab.mqtt.connection import Connection

SILENT = "Keep alive timeout"
"""Why a client lost its connection that says so in one line: nobody answered its ping."""
_KINDS = ("client-configured", "connection-made", "connection-lost", "connection-closed")
_SAME = 0.5
"""Seconds within which two lines tell of one connection, or of one loss, if nothing stands between them."""


@per_facts
def own_id(facts: Facts) -> Mapping[str, str]:
    """The client id of each client's log that names exactly one."""
    named: dict[str, set[str]] = {}
    for line in facts.of_kind(*_KINDS):
        if line.system == "mqtt" and line.client_id:
            named.setdefault(line.source, set()).add(line.client_id)
    return {source: next(iter(ids)) for source, ids in named.items() if len(ids) == 1}


def client_of(facts: Facts, line: Episode) -> str | None:
    """The client id that a line of a client's log is about; None where it names none and the log names several."""
    return line.client_id or own_id(facts).get(line.source)


def lives(facts: Facts) -> Iterator[Connection]:
    """The connections that clients' logs tell of, log by log."""
    by_log: dict[str, list[Episode]] = {}
    for line in facts.of_kind(*_KINDS):
        if line.system == "mqtt" and line.first_at is not None:
            by_log.setdefault(line.source, []).append(line)
    for _, lines in sorted(by_log.items()):
        lines.sort(key=lambda e: (e.first_at, e.first.line or 0))
        yield from _of_log(facts, lines)


def _of_log(facts: Facts, lines: list[Episode]) -> Iterator[Connection]:
    configured: dict[str, Episode] = {}
    running: dict[str, Connection] = {}
    ended: dict[str, float] = {}
    for line in lines:
        client = client_of(facts, line)
        at = line.first_at
        if client is None or at is None or _told_before(line, at, running.get(client), ended.get(client)):
            continue
        before = running.pop(client, None)
        if line.kind in ("connection-lost", "connection-closed"):
            ended[client] = at
            yield _over(before, line, client, _settings(configured, client))
            continue
        if before is not None:
            yield replace(before, until=at)
        if line.kind == "client-configured":
            configured[client] = line
        else:
            running[client] = _made(line, client, _settings(configured, client))
    yield from running.values()


def _told_before(line: Episode, at: float, running: Connection | None, ended: float | None) -> bool:
    """The line says again what the one before said: that there is a connection, or none."""
    if line.kind == "connection-made":
        return running is not None and at - (running.since or at) <= _SAME
    if line.kind == "client-configured":
        return False
    return running is None and ended is not None and at - ended <= _SAME


def _settings(configured: Mapping[str, Episode], client: str) -> Episode | None:
    """What the client was configured with; in a log of many clients that prints one configuration, that one."""
    only = next(iter(configured.values())) if len(configured) == 1 else None
    return configured.get(client, only)


def _made(line: Episode, client: str, settings: Episode | None) -> Connection:
    kept = {"persistent": True, "clean": False}.get((settings.reason if settings else None) or "")
    return Connection(
        line.reason, client, line.source, "client", line.first_at, None, None,
        keep_alive=settings.value_min if settings else None, persistent=kept, begin=line.first, count=line.count,
    )  # fmt: skip


def _over(before: Connection | None, line: Episode, client: str, settings: Episode | None) -> Connection:
    how = "normal" if line.kind == "connection-closed" else line.reason
    if before is not None:
        return replace(before, until=line.first_at, ended=how, end=line.first)
    seconds, at = line.value_min, line.first_at
    since = at - seconds if at is not None and seconds is not None else None
    made = _made(replace(line, reason=None), client, settings)
    return replace(made, since=since, until=at, ended=how, begin=None, end=line.first)
