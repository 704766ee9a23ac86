"""``kafka-configs.sh --describe`` (0.10 … 4.x) → SETTINGS of topics, brokers and clients.

Sample lines::

    All configs for topic plant-telemetry are:
      max.message.bytes=1048588 sensitive=false synonyms={DEFAULT_CONFIG:message.max.bytes=1048588}
    Quota configs for client-id 'billing' are producer_byte_rate=1048576.0

A value whose first synonym is the default, or that has none, was never set by anybody: its origin is ``default``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pyspark.sql import DataFrame

from mqlab.loaders import console
from mqlab.loaders.base import Head
from mqlab.sources import Reading
from mqlab.sql import group, matches, quoted, replaced
from mqlab.tables import SETTINGS, Table

FORMAT = "kafka-configs-describe"
TABLES: tuple[Table, ...] = (SETTINGS,)
READING = Reading.TABLE

_HEADER = (
    r"^\s*(?:(?:Dynamic|All|Default|Quota|SCRAM credential) )?[Cc]onfigs? for (?:the default )?"
    r"(topic|broker|client-id|client|user-principal|user|ip|group)s?\b[ :]?(.*?) are\b:?(.*)$"
)
_ROW = r"^\s+([A-Za-z][\w.-]*)=(.*) sensitive=(true|false) synonyms=\{(.*)\}\s*$"
_INLINE = r",\s*(?=[A-Za-z][\w.]*=)"
_MARKS = r"^:?\s*'?|'$"
"""What surrounds an owner's name; without a name it is the default of all, as in ``for brokers in the cluster``."""
_LOGGED = r"^\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[.,]\d+\]?.* (?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL) "
_FEW = 5
"""Lines of its own log that the tool may print beside its output."""
_SAID = r"executing config command|ConfigCommand"


def recognise(head: Head) -> bool:
    """True when most lines are the tool's headers, entries with synonyms or remarks: a log may quote one."""
    lines = console.plain_lines(head)
    strange = [line for line in lines if not re.search(f"{_HEADER}|{_ROW}", line)]
    found = len(lines) - len(strange)
    if not found:
        return console.only_errors(head, _SAID, r"configs?-describe|kafka-configs")
    logged = sum(1 for line in strange if re.search(_LOGGED, line))
    others = sum(1 for line in strange if not re.search(_LOGGED, line) and not console.is_remark(line))
    return found > others + max(0, logged - _FEW)


def load(rows: DataFrame) -> Mapping[Table, DataFrame]:
    """One setting an entry; scope and owner come from the header nearest above."""
    header = f"CASE WHEN {matches('plain', _HEADER)} THEN plain END"
    return {SETTINGS: _settings(rows.selectExpr("*", f"{console.nearest_above(header)} AS header"))}


def line_class(text: str) -> str:
    """Entries, and headers that hold some, are data; other headers are noise."""
    line = console.plain(text)
    header = matches(line, _HEADER)
    return f"""CASE
        WHEN {matches(line, _ROW)} OR ({header} AND contains({group(line, _HEADER, 3)}, '=')) THEN 'data'
        WHEN {header} THEN 'noise'
        ELSE {console.remark_class(line)} END"""


def _settings(lines: DataFrame) -> DataFrame:
    entry = matches("plain", _ROW)
    key, value, synonyms = (group("plain", _ROW, part) for part in (1, 2, 4))
    inline = f"split(trim({group('plain', _HEADER, 3)}), {quoted(_INLINE)})"
    pairs = f"CASE WHEN {entry} THEN array(concat_ws('=', {key}, {value})) ELSE {inline} END"
    named = replaced(f"trim({group('header', _HEADER, 2)})", _MARKS)
    found = lines.where(matches("plain", f"{_ROW}|{_HEADER}")).selectExpr(
        "source", "line", "text", "at",
        f"{group('header', _HEADER, 1)} AS entity",
        f"{named} AS named",
        f"{entry} AND {matches(synonyms, '^(?:DEFAULT_CONFIG:|$)')} AS unset",
        f"explode(filter({pairs}, pair -> contains(pair, '='))) AS pair",
    )  # fmt: skip
    columns = {
        "at": "at",
        "scope": "CASE WHEN entity IN ('topic', 'broker') THEN entity ELSE 'client' END",
        "owner": "CASE WHEN named NOT IN ('', 'in the cluster') THEN named END",
        "key": "substring_index(pair, '=', 1)",
        "value": group("pair", "^[^=]*=(.*)$"),
        "origin": "CASE WHEN unset THEN 'default' ELSE 'describe' END",
    }
    return SETTINGS.rows(found, columns)
