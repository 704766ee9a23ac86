"""Access lists of mosquitto (``acl_file``) → SETTINGS of scope acl: who may read and write which topics.

Sample lines::

    topic read news/#
    user agent
    topic write site/a/+/status
    pattern readwrite clients/%c/#

Rules above the first ``user`` hold for clients without a name, and ``pattern`` for everybody (``mosquitto.conf(5)``,
"acl_file"). Without a word for the access a rule is ``readwrite``.
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

FORMAT = "mosquitto-acl"
TABLES: tuple[Table, ...] = (SETTINGS,)
READING = Reading.TABLE

_USER = r"^\s*user\s+(\S.*?)\s*$"
_RULE = r"^\s*(topic|pattern)\s+(?:(readwrite|read|write|deny)\s+(\S.*?)|(\S+))\s*$"
_COMMENT = r"^\s*(?:#.*)?$"


def recognise(head: Head) -> bool:
    """True when every line is a rule, a user or a comment, and one is a rule."""
    lines = [line for line in console.plain_lines(head) if not re.match(_COMMENT, line)]
    rules = [bool(re.match(_RULE, line)) for line in lines]
    return any(rules) and all(rule or re.match(_USER, line) for rule, line in zip(rules, lines, strict=True))


def load(rows: DataFrame) -> Mapping[Table, DataFrame]:
    """One row a rule, in the order of the file; the owner is the user, and null where the rule is everybody's."""
    named = rows.selectExpr("*", f"{console.nearest_above(filled(group('plain', _USER)))} AS user")
    rules = named.where(matches("plain", _RULE)).selectExpr(
        "source", "line", "text", "user",
        f"{group('plain', _RULE)} = 'pattern' AS everybody",
        f"coalesce({filled(group('plain', _RULE, 2))}, 'readwrite') AS access",
        f"concat({group('plain', _RULE, 3)}, {group('plain', _RULE, 4)}) AS filter",
    )  # fmt: skip
    columns = {
        "scope": "'acl'",
        "origin": "'file'",
        "owner": "CASE WHEN NOT everybody THEN user END",
        "key": "CASE WHEN everybody THEN concat('pattern-', access) ELSE access END",
        "value": "filter",
    }
    return {SETTINGS: SETTINGS.rows(rules, columns)}


def line_class(text: str) -> str:
    """Rules and users are data, comments noise."""
    line = console.plain(text)
    return f"CASE WHEN {matches(line, _COMMENT)} THEN 'noise' WHEN {matches(line, f'{_USER}|{_RULE}')} THEN 'data' END"
