"""``mosquitto.conf`` → SETTINGS of scope broker: what the broker allows and limits, and what its bridges do.

Sample lines::

    listener 1883
    max_queued_messages 10000
    connection east-to-west
    topic sensors/# both 0

``connection NAME`` is the setting ``bridge`` with the value NAME; a bridge's directives below it are
``bridge.<directive>`` and have NAME for an owner (``mosquitto.conf(5)``, "Configuring Bridges").
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pyspark.sql import DataFrame

from mqlab.loaders import console
from mqlab.loaders.base import Head
from mqlab.sources import Reading
from mqlab.sql import filled, group, matches
from mqlab.tables import SETTINGS, Table

FORMAT = "mosquitto-conf"
TABLES: tuple[Table, ...] = (SETTINGS,)
READING = Reading.TABLE

_PAIR = r"^\s*([a-z][a-z0-9_]*)(?:\s+(\S.*?))?\s*$"
_COMMENT = r"^\s*(?:#.*)?$"
_OWN = re.compile(
    r"^\s*(?:listener|allow_anonymous|log_type|log_dest|log_timestamp(?:_format)?|max_queued_(?:messages|bytes)"
    r"|max_inflight_(?:messages|bytes)|persistence(?:_location|_file)?|autosave_(?:interval|on_changes)|acl_file"
    r"|password_file|connection|bind_address|per_listener_settings|allow_zero_length_clientid|sys_interval"
    r"|connection_messages|allow_duplicate_messages|queue_qos0_messages|message_size_limit|max_packet_size"
    r"|max_keepalive|max_connections|upgrade_outgoing_qos|retain_available|persistent_client_expiration|try_private"
    r"|remote_clientid|local_clientid|restart_timeout|mount_point|use_identity_as_username|require_certificate"
    r"|include_dir|store_clean_interval|set_tcp_nodelay|max_topic_alias|plugin(?:_opt_\w+)?|auth_plugin)\b"
)
_OF_BRIDGE = (
    r"^(?:address(?:es)?|topic|try_private|(?:local_|remote_)?(?:clientid|username|password)"
    r"|(?:local_)?clean(?:session|start)|keepalive_interval|idle_timeout|restart_timeout|round_robin|start_type"
    r"|threshold|notifications(?:_local_only)?|notification_topic|attempt_unsubscribe|bridge_\w+)$"
)
_NAME = "CASE WHEN directive = 'connection' THEN value END"


def recognise(head: Head) -> bool:
    """True when every line is a directive or a comment and at least two, or all, are mosquitto's own."""
    lines = [line for line in head.text.replace("\r", "").split("\n") if not re.match(_COMMENT, line)]
    own = sum(bool(_OWN.match(line)) for line in lines)
    return 0 < min(2, len(lines)) <= own and all(re.match(_PAIR, line) for line in lines)


def load(rows: DataFrame) -> Mapping[Table, DataFrame]:
    """One row a directive; undated; the owner is the bridge, and null elsewhere."""
    told = rows.where(f"{matches('plain', _PAIR)} AND NOT {matches('plain', _COMMENT)}").selectExpr(
        "source", "line", "text", f"{group('plain', _PAIR)} AS directive",
        f"{filled(group('plain', _PAIR, 2))} AS value",
    )  # fmt: skip
    placed = told.selectExpr("*", f"{console.nearest_above(_NAME)} AS bridge").selectExpr(
        "*", f"bridge IS NOT NULL AND {matches('directive', _OF_BRIDGE)} AS of_bridge"
    )
    columns = {
        "scope": "'broker'",
        "origin": "'file'",
        "owner": "CASE WHEN of_bridge THEN bridge END",
        "key": "CASE WHEN directive = 'connection' THEN 'bridge' WHEN of_bridge THEN concat('bridge.', directive) "
        "ELSE directive END",
        "value": "value",
    }
    return {SETTINGS: SETTINGS.rows(placed, columns)}


def line_class(text: str) -> str:
    """Directives are data, comments noise."""
    line = console.plain(text)
    return f"CASE WHEN {matches(line, _COMMENT)} THEN 'noise' WHEN {matches(line, _PAIR)} THEN 'data' END"
