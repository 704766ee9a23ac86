"""Settings in what ``mqadmin`` prints → SETTINGS.

Of consumers: their own ``#Consumer Properties#``, owned by the client id, and what consumerConnection says of the
group. Of brokers: getBrokerConfig, and the version in brokerStatus and clusterList. Of topics and groups: topicRoute
-l and what updateTopic and updateSubGroup confirm. Secrets are left out.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from mqlab.loaders import rocketmq_lines as lines
from mqlab.sql import filled, group, matches, quoted
from mqlab.tables import SETTINGS

_SECRET = r"(?i)password|passwd|secret|accesskey|token|credential"
_FIELD = r"([\w.]+)=([^,\[\]{}]*)"
_OWNER = r"\b(?:topicName|groupName)=([^,\]}]+)"
_VERSION = r"^(?:\S+\s+)?brokerVersionDesc\s*: "


def settings(placed: DataFrame) -> DataFrame:
    """One row a value."""
    values = f"CASE {' '.join(f'WHEN {when} THEN {then}' for when, then in _VALUES.items())} END"
    told = placed.selectExpr("source", "line", "text", "at", f"inline({values})")
    columns = {name: name for name in ("at", "scope", "owner", "key", "value", "origin")}
    return SETTINGS.rows(told.where(f"NOT {matches('key', _SECRET)}"), columns)


def _value(scope: str, owner: str, key: str, value: str, origin: str = "describe") -> str:
    return f"named_struct('scope', '{scope}', 'owner', {owner}, 'key', {key}, 'value', {value}, 'origin', '{origin}')"


def _several(*values: str) -> str:
    return f"array({', '.join(values)})"


def _model() -> str:
    key, value = (group("plain", lines.MODEL, part) for part in (1, 2))
    lower = f"concat(lower(substring({key}, 1, 1)), substring({key}, 2))"
    return _several(_value("consumer", "`group`", lower, value, "printed"))


def _property() -> str:
    key, value = (group("plain", lines.PAIR, part) for part in (2, 3))
    return _several(_value("consumer", "client", key, value, "printed"))


def _route() -> str:
    broker = group("plain", lines.ROUTE, 2)
    return _several(
        *[
            _value("topic", "topic", f"concat({broker}, '.{key}')", group("plain", lines.ROUTE, part))
            for key, part in (("readQueueNums", 3), ("writeQueueNums", 4), ("perm", 5))
        ]
    )


def _confirmed() -> str:
    """Every ``key=value`` of what is confirmed, owned by the topic or group that it names."""
    body = group("plain", lines.CONFIRMED, 2)
    keys, values = (f"regexp_extract_all({body}, {quoted(_FIELD)}, {part})" for part in (1, 2))
    of_topic = f"{group('plain', lines.CONFIRMED)} = 'Topic'"
    owner = filled(group(body, _OWNER))
    scope = f"CASE WHEN {of_topic} THEN 'topic' ELSE 'group' END"
    fields = f"'scope', {scope}, 'owner', {owner}, 'key', name_of, 'value', value_of, 'origin', 'describe'"
    return f"zip_with({keys}, {values}, (name_of, value_of) -> named_struct({fields}))"


def _broker_version() -> str:
    owner = f"coalesce({filled(group('plain', lines.PAIR, 1))}, broker)"
    return _several(_value("broker", owner, "'brokerVersion'", group("plain", lines.PAIR, 3)))


def _cluster_version() -> str:
    owner, value = (group("plain", lines.CLUSTER, part) for part in (2, 4))
    return _several(_value("broker", owner, "'brokerVersion'", value))


def _broker_pair() -> str:
    key, value = (group("plain", lines.BROKER_PAIR, part) for part in (1, 2))
    return _several(_value("broker", "broker", key, value))


_VALUES = {
    matches("plain", lines.MODEL): _model(),
    f"kind = 'Consumer Properties' AND {matches('plain', lines.PAIR)}": _property(),
    f"kind = 'routes' AND {matches('plain', lines.ROUTE)}": _route(),
    matches("plain", lines.CONFIRMED): _confirmed(),
    f"section IS NULL AND {matches('plain', _VERSION)}": _broker_version(),
    f"kind = 'clusters' AND {group('plain', lines.CLUSTER, 4)} != ''": _cluster_version(),
    f"kind IS NULL AND {matches('plain', lines.BROKER_PAIR)}": _broker_pair(),
}
"""Which lines hold settings, and those settings."""
