r"""``rabbitmqctl list_permissions`` and ``list_topic_permissions`` → SETTINGS: what users of RabbitMQ may do.

Sample lines (cells are parted by tabulators)::

    Listing topic permissions for vhost "/" ...
    user    exchange    write    read
    panel   amq.topic   ^$       ^press\.1\..*

The scope is ``permission``, not ``acl``: values are regular expressions over names and routing keys, which have dots
where topics of MQTT have slashes, and no filters. The owner is the user, keys are
``configure``, ``write`` and ``read``.
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

FORMAT = "rabbitmq-permissions"
TABLES: tuple[Table, ...] = (SETTINGS,)
READING = Reading.TABLE

_HEADER = r"^user\t(exchange|configure)\twrite\tread\s*$"
_LISTING = r"^Listing (?:topic )?permissions for (?:vhost|user) "
_ROW = r"^([^\t]+)\t([^\t]*)\t([^\t]*)\t([^\t]*?)\s*$"


def recognise(head: Head) -> bool:
    """True for a table under the header of one of both commands."""
    return any(re.match(_HEADER, line) for line in console.plain_lines(head)[:5])


def load(rows: DataFrame) -> Mapping[Table, DataFrame]:
    """One row a permission: three of a user's row, two where it is about topics of an exchange."""
    kinds = console.nearest_above(f"nullif({group('plain', _HEADER)}, '')")
    told = rows.selectExpr("*", f"{kinds} AS first_kind").where(
        f"{matches('plain', _ROW)} AND NOT {matches('plain', _HEADER)}"
    )
    first = f"named_struct('key', 'configure', 'value', {group('plain', _ROW, 2)})"
    both = (
        f"named_struct('key', 'write', 'value', {group('plain', _ROW, 3)}), "
        f"named_struct('key', 'read', 'value', {group('plain', _ROW, 4)})"
    )
    every = f"CASE first_kind WHEN 'configure' THEN array({first}, {both}) ELSE array({both}) END"
    cut = told.selectExpr("source", "line", "text", "at", "plain", f"explode({every}) AS one")
    columns = {
        "at": "at",
        "scope": "'permission'",
        "origin": "'describe'",
        "owner": group("plain", _ROW),
        "key": "one.key",
        "value": "one.value",
    }
    return {SETTINGS: SETTINGS.rows(cut, columns)}


def line_class(text: str) -> str:
    """Rows are data; the header and what the tool says above it are noise."""
    line = console.plain(text)
    return f"""CASE
        WHEN {matches(line, f"{_HEADER}|{_LISTING}")} THEN 'noise'
        WHEN {matches(line, _ROW)} THEN 'data'
        WHEN ({console.remark_class(line)}) IS NOT NULL THEN {console.remark_class(line)} END"""
