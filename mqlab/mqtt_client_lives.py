"""Connections of MQTT clients from their own logs.

Many lines do not name the client id: they belong to the only id that the same log names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from mqlab.facts import Episode, Facts
from mqlab.memo import per_facts
from mqlab.mqtt_connection import Connection

_KINDS = ("client-configured", "connection-made", "connection-lost")


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
    for line in lines:
        client = client_of(facts, line)
        if client is None:
            continue
        before = running.pop(client, None)
        if line.kind == "connection-lost":
            yield _lost(before, line, client, _settings(configured, client))
            continue
        if before is not None:
            yield replace(before, until=line.first_at)
        if line.kind == "client-configured":
            configured[client] = line
        else:
            running[client] = _made(line, client, _settings(configured, client))
    yield from running.values()


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


def _lost(before: Connection | None, line: Episode, client: str, settings: Episode | None) -> Connection:
    if before is not None:
        return replace(before, until=line.first_at, ended=line.reason, end=line.first)
    seconds, at = line.value_min, line.first_at
    since = at - seconds if at is not None and seconds is not None else None
    made = _made(replace(line, reason=None), client, settings)
    return replace(made, since=since, until=at, ended=line.reason, begin=None, end=line.first)
