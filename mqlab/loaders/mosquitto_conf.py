"""``mosquitto.conf`` → SETTINGS of scope application: what the broker in front of a bridge allows and limits.

Sample lines::

    listener 1883
    allow_anonymous true
    max_queued_messages 10000
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pyspark.sql import DataFrame

from mqlab.loaders import console
from mqlab.loaders.base import Head
from mqlab.sources import Reading
from mqlab.sql import group, matches
from mqlab.tables import SETTINGS, Table

FORMAT = "mosquitto-conf"
TABLES: tuple[Table, ...] = (SETTINGS,)
READING = Reading.TABLE

_PAIR = r"^([a-z][a-z0-9_]*)(?:\s+(\S.*?))?\s*$"
_COMMENT = r"^\s*(?:#.*)?$"
_OWN = re.compile(
    r"^(?:listener|allow_anonymous|log_type|log_dest|max_queued_messages|max_inflight_messages|persistence"
    r"|persistence_location|acl_file|password_file|connection|bind_address|per_listener_settings|allow_zero_length_clientid)\b"
)


def recognise(head: Head) -> bool:
    """True when every line is a directive or a comment and at least two directives are mosquitto's own."""
    lines = [line for line in head.text.replace("\r", "").split("\n") if not re.match(_COMMENT, line)]
    return sum(bool(_OWN.match(line)) for line in lines) >= 2 and all(re.match(_PAIR, line) for line in lines)


def load(rows: DataFrame) -> Mapping[Table, DataFrame]:
    """One row a directive; undated, without an owner."""
    columns = {
        "scope": "'application'",
        "origin": "'file'",
        "key": group("plain", _PAIR),
        "value": group("plain", _PAIR, 2),
    }
    lines = rows.where(f"{matches('plain', _PAIR)} AND NOT {matches('plain', _COMMENT)}")
    return {SETTINGS: SETTINGS.rows(lines, columns)}


def line_class(text: str) -> str:
    """Directives are data, comments noise."""
    line = console.plain(text)
    return f"CASE WHEN {matches(line, _COMMENT)} THEN 'noise' WHEN {matches(line, _PAIR)} THEN 'data' END"
