r"""What ``emqx_ctl`` (4.x) and ``emqx ctl`` (5.x) print → CLIENTS, EVENTS, METRICS, SETTINGS.

Sample lines::

    Client(pump-7, username=undefined, peername=10.0.0.7:59441, clean_start=false, keepalive=60,
        session_expiry_interval=7200, subscriptions=1, inflight=0, awaiting_rel=0, delivered_msgs=4530,
        enqueued_msgs=1000, dropped_msgs=17, connected=false, created_at=1684736435155, connected_at=1684736435155)
    ingest-1 -> $share/ingest/plant/+/telemetry:1
    emqx_a -> topic:t/1 qos:0 nl:0 rh:0 rap:0
    messages.dropped.no_subscriber: 17
    mqtt:tcp:external
      shutdown_count  : [{keepalive_timeout,3},{takeovered,12}]

``enqueued_msgs`` is what waits now, ``dropped_msgs`` what its queue dropped since the session began. Names of metrics
are cut after 30 characters. A client id may hold ``, ``, a topic colons: what surrounds them tells where they end.
Moments are seconds in 4.0 to 4.2 and milliseconds later; none of them says when the command ran.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pyspark.sql import DataFrame

from mqlab.loaders import console
from mqlab.loaders.base import Head
from mqlab.sources import Reading
from mqlab.sql import filled, group, matches, quoted
from mqlab.tables import CLIENTS, EVENTS, METRICS, SETTINGS, Table

FORMAT = "emqx-ctl"
TABLES: tuple[Table, ...] = (CLIENTS, EVENTS, METRICS, SETTINGS)
READING = Reading.TABLE

_CLIENT = r"^Client ?\((.*?), username=(.*?), peername=([^,\s]+), (.*)\)\s*$"
_SUBSCRIBED_5 = r"^(.*?) -> topic:(.*) qos:([012])(?: (?:nl|rh|rap):\d)*\s*$"
_SUBSCRIBED_4 = r"^(.*?) -> (.*):([012])\s*$"
_METRIC = r"^((?:[a-z_]+[./])+[a-z_]*[a-z_/-]|[a-z_]+/[a-z_/-]+)\s*: (-?\d+)\s*$"
_LISTENER = r"^((?:mqtt|tcp|ssl|ws|wss|quic|http|dashboard|management|https)(?::[\w.:-]+)+)\s*$"
_FIELD = (
    r"^\s+(listen_on|acceptors|proxy_protocol|running|max_conns|max_conn|current_conns?|shutdown_count)\s*: (.*?)\s*$"
)
_COUNTED = r"\{([a-z_]+),(\d+)\}"
_NODE = r"^(?:Node '[^']*' \S+ is|emqx \S+ is running|sysdescr|version\s*:|uptime\s*:|datetime\s*:)"
_OWN = re.compile(rf"{_CLIENT}|{_SUBSCRIBED_5}|{_SUBSCRIBED_4}|{_LISTENER}|^(?:messages|packets|session|delivery)\.")


def recognise(head: Head) -> bool:
    """True when the first lines are clients, subscriptions, counters or listeners as these commands print them."""
    lines = [line for line in console.plain_lines(head) if not re.search(r"^\s|emqx(?:_|\s)ctl|^[$#] |^\s*$", line)][
        :20
    ]
    told = [line for line in lines if _OWN.search(line) or re.search(_METRIC, line)]
    return any(_OWN.search(line) for line in told) and len(told) * 2 > len(lines)


def load(rows: DataFrame) -> Mapping[Table, DataFrame]:
    """A client for each line about one, a subscription, a counter, a field of a listener."""
    named = rows.selectExpr("*", f"{console.nearest_above(filled(group('plain', _LISTENER)))} AS listener")
    return {
        CLIENTS: _clients(rows),
        EVENTS: _subscriptions(rows),
        METRICS: _metrics(rows).unionByName(_shut(named)),
        SETTINGS: _settings(named),
    }


def line_class(text: str) -> str:
    """What becomes a row is data; names of listeners, nodes and versions are noise."""
    line = console.plain(text)
    data = "|".join((_CLIENT, _SUBSCRIBED_5, _SUBSCRIBED_4, _METRIC, _FIELD))
    return f"""CASE
        WHEN {matches(line, data)} THEN 'data'
        WHEN {matches(line, f"{_LISTENER}|{_NODE}|emqx(?:_|[ ])ctl")} THEN 'noise'
        ELSE {console.remark_class(line)} END"""


def _clients(rows: DataFrame) -> DataFrame:
    def told(name: str) -> str:
        return filled(group("plain", rf"\b{name}=([^,)]+)"))

    columns = {
        "at": "at",
        "system": "'mqtt'",
        "client_id": group("plain", _CLIENT),
        "peer": f"nullif({group('plain', _CLIENT, 3)}, 'undefined')",
        "connected": told("connected"),
        "clean": told("clean_start"),
        "expiry": f"try_cast({told('session_expiry_interval')} AS BIGINT)",
        "queued": f"try_cast({told('enqueued_msgs')} AS BIGINT)",
        "dropped": f"try_cast({told('dropped_msgs')} AS BIGINT)",
    }
    return CLIENTS.rows(rows.where(matches("plain", _CLIENT)), columns)


def _subscriptions(rows: DataFrame) -> DataFrame:
    def either(part: int) -> str:
        new, old = group("plain", _SUBSCRIBED_5, part), group("plain", _SUBSCRIBED_4, part)
        return f"CASE WHEN {matches('plain', _SUBSCRIBED_5)} THEN {new} ELSE {old} END"

    columns = {
        "at": "at", "system": "'mqtt'", "kind": "'client-subscribed'", "client_id": either(1), "topic": either(2),
        "value": f"try_cast({either(3)} AS DOUBLE)",
    }  # fmt: skip
    return EVENTS.rows(rows.where(f"{matches('plain', _SUBSCRIBED_5)} OR {matches('plain', _SUBSCRIBED_4)}"), columns)


def _metrics(rows: DataFrame) -> DataFrame:
    columns = {
        "at": "at", "name": f"concat('emqx.', {group('plain', _METRIC)})", "labels": "map()",
        "value": f"try_cast({group('plain', _METRIC, 2)} AS DOUBLE)",
    }  # fmt: skip
    return METRICS.rows(rows.where(matches("plain", _METRIC)), columns)


def _shut(named: DataFrame) -> DataFrame:
    """How many connections of each listener ended in which way."""
    lists = named.where(f"{group('plain', _FIELD)} = 'shutdown_count'")
    each = lists.selectExpr("*", f"explode(regexp_extract_all(plain, {quoted(_COUNTED)}, 0)) AS pair")
    columns = {
        "at": "at", "name": "'emqx.shutdown_count'", "value": f"try_cast({group('pair', _COUNTED, 2)} AS DOUBLE)",
        "labels": f"map('listener', coalesce(listener, ''), 'reason', {group('pair', _COUNTED)})",
    }  # fmt: skip
    return METRICS.rows(each, columns)


def _settings(named: DataFrame) -> DataFrame:
    columns = {
        "at": "at", "scope": "'broker'", "owner": "listener", "origin": "'describe'",
        "key": f"concat('listener.', {group('plain', _FIELD)})", "value": group("plain", _FIELD, 2),
    }  # fmt: skip
    wanted = f"{matches('plain', _FIELD)} AND {group('plain', _FIELD)} != 'shutdown_count'"
    return SETTINGS.rows(named.where(wanted), columns)
