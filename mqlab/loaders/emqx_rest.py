"""Answers of EMQX's management API, ``/api/v4/clients``, ``/api/v5/subscriptions``, … → CLIENTS, EVENTS, METRICS.

Sample lines::

    {"meta":{"page":1,"limit":100,"count":1},"data":[{"clientid":"pump-7","ip_address":"10.0.0.7","port":59441,
    "clean_start":false,"connected":false,"expiry_interval":7200,"mqueue_len":1000,"mqueue_dropped":17, …
    [{"node":"emqx@10.0.0.1","messages.dropped":17,"session.takenover":3, …

One answer a file, laid out over one line or many. Clients, sessions of 3.0 (``client_id``), subscriptions, metrics,
stats and the counters of rules; of an answer over many lines the first is cited. Moments of 4.x are local time and are
not used: the answer is as old as its file's name says.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from mqlab.loaders import console
from mqlab.loaders.base import Head
from mqlab.sources import Reading
from mqlab.sql import matches
from mqlab.tables import CLIENTS, EVENTS, METRICS, Table

FORMAT = "emqx-rest"
TABLES: tuple[Table, ...] = (CLIENTS, EVENTS, METRICS)
READING = Reading.TABLE

_OWN = re.compile(
    r'"(?:mqueue_len|mqueue_dropped|mqueue_max|max_mqueue|inflight_cnt|inflight_len|awaiting_rel(?:_cnt|_len)?'
    r"|subscriptions_(?:cnt|count)|clean_start|packets\.connect\.received|messages\.dropped|live_connections\.count"
    r'|sessions\.count|session\.(?:takeovered|takenover))"\s*:'
)
_SUBSCRIPTION = re.compile(
    r'^\{?\s*(?:"(?:meta|data)"|\[?\s*\{).*"topic"\s*:.*"clientid"\s*:|"clientid"\s*:.*"topic"\s*:'
)
_RULE = re.compile(r'"(?:sql|rawsql)"\s*:.*"metrics"\s*:|"metrics"\s*:.*"(?:sql|rawsql)"\s*:')
_PART = r'^\s*(?:[{}\[\]]|"[^"]*"\s*[:,]|"[^"]*"\s*$|-?\d[\d.eE+-]*,?\s*$|(?:true|false|null),?\s*$)'
_JOINED = "array_join(transform(array_sort(collect_list(struct(line, plain))), one -> one.plain), '\\n')"
_MAP = "'map<string,string>'"
_DATA = "'struct<data: array<map<string,string>>>'"
_ONE = "'struct<data: map<string,string>>'"


def recognise(head: Head) -> bool:
    """True for a JSON answer that holds what only EMQX counts of clients, sessions, subscriptions or rules."""
    text = head.text.lstrip("\ufeff \r\n\t")
    begun = " ".join(text[:16_384].split())
    return text[:1] in ("{", "[") and any(one.search(begun) for one in (_OWN, _SUBSCRIPTION, _RULE))


def load(rows: DataFrame) -> Mapping[Table, DataFrame]:
    """One client for each entry about one, one subscription, one sample for each counter."""
    entries = _entries(rows)
    return {CLIENTS: _clients(entries), EVENTS: _subscriptions(entries), METRICS: _metrics(entries)}


def line_class(text: str) -> str:
    """Every line of the answer is data, however it is laid out."""
    line = console.plain(text)
    return f"CASE WHEN {matches(line, _PART)} THEN 'data' ELSE {console.remark_class(line)} END"


def _entries(rows: DataFrame) -> DataFrame:
    """source, line, at, text and ``told``, the members of each entry of an answer as text by name."""
    whole = rows.groupBy("source").agg(
        F.expr("min(line) AS line"), F.expr("min(at) AS at"), F.expr(f"{_JOINED} AS answer")
    )  # fmt: skip
    wrapped = """CASE WHEN startswith(ltrim(answer), '[') THEN concat('{"data":', answer, '}') ELSE answer END"""
    listed = f"from_json({wrapped}, {_DATA}).data"
    alone = f"coalesce(from_json({wrapped}, {_ONE}).data, from_json({wrapped}, {_MAP}))"
    told = whole.selectExpr("source", "line", "at", f"explode(coalesce({listed}, array({alone}))) AS told")
    return told.selectExpr("*", "substring(to_json(told), 1, 500) AS text").where("told IS NOT NULL")


def _clients(entries: DataFrame) -> DataFrame:
    about = entries.where("coalesce(told['clientid'], told['client_id']) IS NOT NULL AND told['topic'] IS NULL")
    columns = {
        "at": "at",
        "system": "'mqtt'",
        "client_id": "coalesce(told['clientid'], told['client_id'])",
        "peer": "concat_ws(':', coalesce(told['ip_address'], told['ipaddress']), told['port'])",
        "connected": "lower(told['connected'])",
        "clean": "lower(told['clean_start'])",
        "expiry": "try_cast(coalesce(told['expiry_interval'], told['session_expiry_interval']) AS BIGINT)",
        "queued": "try_cast(coalesce(told['mqueue_len'], told['mqueue_length']) AS BIGINT)",
        "dropped": "try_cast(told['mqueue_dropped'] AS BIGINT)",
    }
    return CLIENTS.rows(about, columns)


def _subscriptions(entries: DataFrame) -> DataFrame:
    about = entries.where("told['clientid'] IS NOT NULL AND told['topic'] IS NOT NULL")
    columns = {
        "at": "at", "system": "'mqtt'", "kind": "'client-subscribed'", "client_id": "told['clientid']",
        "topic": "told['topic']", "value": "try_cast(told['qos'] AS DOUBLE)",
    }  # fmt: skip
    return EVENTS.rows(about, columns)


def _metrics(entries: DataFrame) -> DataFrame:
    """Counters of a node, or of a rule, whose names begin with ``rule.``."""
    nested = f"from_json(told['metrics'], {_MAP})"
    of_rule = "coalesce(told['sql'], told['rawsql']) IS NOT NULL"
    about = entries.where("coalesce(told['clientid'], told['client_id']) IS NULL").selectExpr(
        "source", "line", "at", "text", "coalesce(told['node'], '') AS node", f"{of_rule} AS of_rule",
        "coalesce(told['id'], '') AS id", f"explode(coalesce({nested}, told)) AS (name, value)",
    )  # fmt: skip
    columns = {
        "at": "at",
        "name": "concat('emqx.', CASE WHEN of_rule THEN concat('rule.', name) ELSE name END)",
        "labels": "map_filter(map('node', node, 'rule', CASE WHEN of_rule THEN id ELSE '' END), (k, v) -> v <> '')",
        "value": "try_cast(value AS DOUBLE)",
    }
    counted = "try_cast(value AS DOUBLE) IS NOT NULL AND (of_rule OR name RLIKE '[._]')"
    return METRICS.rows(about.where(counted), columns)
