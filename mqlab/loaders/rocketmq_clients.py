"""Consumers and producers in what ``mqadmin`` prints → CLIENTS and EVENTS.

consumerConnection prints a row a connection: the same ``#ClientId`` with another ``#ClientAddr`` is another process.
consumerStatus prints a row a connection, too, but asks each id once only. A consumer's own words give its version and
what it subscribed to. Subscriptions are written ``TOPIC:expression;TOPIC:expression``, sorted, without retry topics.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from mqlab.loaders import rocketmq_lines as lines
from mqlab.sql import filled, group, matches
from mqlab.tables import CLIENTS, EVENTS

_VERSION = r"^PROP_CLIENT_VERSION\s*: (\S+)"
_BLOCK = "OVER (PARTITION BY source, block)"


def clients(placed: DataFrame) -> DataFrame:
    """One row a line of a listing, one a consumer's own words."""
    subscribed = f"""CASE
        WHEN kind = 'subscriptions' THEN {_subscription(lines.SUBSCRIPTION)}
        WHEN kind = 'Consumer Subscription' THEN {_subscription(lines.SUBSCRIBED)} END"""
    shape = f"""CASE
        WHEN kind = 'connections' AND {matches("plain", lines.CONNECTION)} THEN 'connection'
        WHEN {matches("plain", lines.PRODUCER)} THEN 'producer'
        WHEN {matches("plain", lines.RUNNING)} THEN 'running'
        WHEN {matches("plain", _VERSION)} THEN 'self' END"""
    known = placed.selectExpr("*", f"{subscribed} AS subscribed", f"{shape} AS shape").selectExpr(
        "*", f"nullif(array_join(array_sort(collect_set(subscribed) {_BLOCK}), ';'), '') AS subscription"
    )
    columns = {
        "at": f"""coalesce(at, CASE WHEN shape = 'running' THEN
            timestamp_millis(try_cast({group("plain", lines.RUNNING, 3)} AS BIGINT)) END)""",
        "system": "'rocketmq'",
        "group": "CASE WHEN shape != 'producer' THEN `group` END",
        "client_id": f"CASE shape {_parts(1, 1, 1)} ELSE client END",
        "peer": f"CASE shape {_parts(2, 2, None)} END",
        "connected": "'true'",
        "subscription": "CASE WHEN shape IN ('connection', 'self') THEN subscription END",
        "version": f"CASE shape {_parts(4, 4, 2)} ELSE {group('plain', _VERSION)} END",
    }
    return CLIENTS.rows(known.where("shape IS NOT NULL"), columns)


def events(placed: DataFrame) -> DataFrame:
    """What consumerStatus concludes: subscriptions that differ in one group, queues that do not move.

    The value of ``queue-stuck`` is milliseconds, or how often unlocking was tried.
    """
    different, stuck = matches("plain", lines.MISMATCH), matches("plain", lines.STUCK)
    client, topic, broker, number, value = (filled(group("plain", lines.STUCK, part)) for part in range(1, 6))
    columns = {
        "at": "at",
        "system": "'rocketmq'",
        "kind": f"CASE WHEN {different} THEN 'subscription-different' ELSE 'queue-stuck' END",
        "group": "`group`",
        "topic": topic,
        "queue": f"concat({broker}, '/', {number})",
        "client_id": client,
        "value": f"try_cast({value} AS DOUBLE)",
    }
    return EVENTS.rows(placed.where(f"{different} OR {stuck}"), columns)


def _subscription(shape: str) -> str:
    """``TOPIC:expression`` of a line; null for a retry topic and other lines."""
    topic, expression = (group("plain", shape, part) for part in (1, 2))
    told = f"{matches('plain', shape)} AND NOT startswith({topic}, '%RETRY%')"
    return f"CASE WHEN {told} THEN concat({topic}, ':', {expression}) END"


def _parts(connection: int, producer: int, running: int | None) -> str:
    shapes = (("connection", lines.CONNECTION, connection), ("producer", lines.PRODUCER, producer))
    told = [f"WHEN '{name}' THEN {group('plain', shape, part)}" for name, shape, part in shapes]
    return " ".join([*told, f"WHEN 'running' THEN {group('plain', lines.RUNNING, running)}" if running else ""])
