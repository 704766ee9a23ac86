"""``emqx.conf`` of EMQX 4.x (``key = value``) and 5.x (HOCON), and ``acl.conf`` → SETTINGS.

Sample lines::

    zone.external.max_mqueue_len = 1000
    mqtt {
      max_mqueue_len = infinity
    }
    listeners.tcp.default { bind = "0.0.0.0:1883", max_connections = 1024000 }
    {deny, {user, "pump"}, publish, ["plant/+/set"]}.

Names of blocks are joined by dots: ``mqtt.max_mqueue_len``. Rules of ``acl.conf`` have the scope ``acl``, the key
``allow`` or ``deny``, the rest of the rule as value, and are in the order in which they are tried. Nothing dates such a
file. Values of passwords, secrets and cookies are not kept.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pyspark.sql import DataFrame

from mqlab.loaders import console
from mqlab.loaders.base import Head
from mqlab.secrets import MASK
from mqlab.sources import Reading
from mqlab.sql import filled, group, matches, replaced
from mqlab.tables import SETTINGS, Table

FORMAT = "emqx-conf"
TABLES: tuple[Table, ...] = (SETTINGS,)
READING = Reading.TABLE

_OWN = re.compile(
    r"^(?:zone\.\w+\.|listener\.(?:tcp|ssl|ws|wss)\.|broker\.shared_|mqtt\.(?:max_|\w+_backoff)"
    r"|acl_nomatch|acl_deny_action|flapping_detect|node\.cookie|cluster\.discovery|force_shutdown\b"
    r"|(?:mqtt|listeners(?:\.\w+)*|authorization|durable_sessions|sysmon|retainer) *\{"
    r"|\{(?:allow|deny)(?:, *\{?\w|\}\.))"
)
_DATED = re.compile(r"^\W?\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:")
"""A log prints settings, too."""
_COMMENT = r"^\s*(?:#|//|%|##).*$|^\s*$"
_VARIABLE = r"\$\{([^{}]*)\}"
_OPENS = r"^\s*\"?([\w.$\"-]+?)\"?\s*[=:]?\s*\{\s*$"
_PAIR = r"^\s*\"?([a-zA-Z][\w.$-]*)\"?\s*[=:]\s*(.+?)\s*,?\s*$"
_RULE = r"^\s*\{(allow|deny)(?:,\s*(.*))?\}\.\s*$"
_LIST = r"^\s*(?:[\[\]{}(),]+|\"[^\"]*\"\s*,?|[\w./:+#$-]+\s*,?)\s*$"
_SECRET = r"(?i)(?:password|secret|cookie|token|api_key)$"
_PIECES = "PARTITION BY source ORDER BY line, place"
_BEFORE = f"OVER ({_PIECES} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)"
_UPWARD = f"OVER ({_PIECES} ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"
_DEEPEST = 6
"""Blocks within blocks that are told apart."""


def recognise(head: Head) -> bool:
    """True when two lines, or the only one, are keys, blocks or access rules of EMQX."""
    lines = [line for line in head.text.replace("\r", "").split("\n") if not re.match(_COMMENT, line)]
    if any(_DATED.match(line) for line in lines):
        return False
    own = sum(bool(_OWN.match(line)) for line in lines)
    fit = sum(
        bool(re.match(f"{_PAIR}|{_RULE}|{_LIST}", line) or re.match(_OPENS, line) or "{" in line) for line in lines
    )
    return own >= min(2, len(lines)) > 0 and fit * 10 >= len(lines) * 9


def load(rows: DataFrame) -> Mapping[Table, DataFrame]:
    """One row a value or an access rule."""
    rules = rows.where(matches("plain", _RULE))
    told = {
        "scope": "'acl'", "origin": "'file'", "key": group("plain", _RULE), "value": group("plain", _RULE, 2),
    }  # fmt: skip
    return {SETTINGS: _values(rows).unionByName(SETTINGS.rows(rules, told))}


def line_class(text: str) -> str:
    """Values, blocks and rules are data, comments and members of lists noise."""
    line = console.plain(text)
    data = f"{matches(line, _RULE)} OR {matches(line, _PAIR)} OR {matches(line, '[{]')}"
    return f"""CASE
        WHEN {matches(line, _COMMENT)} OR {matches(line, _LIST)} THEN 'noise'
        WHEN {data} THEN 'data' END"""


def _values(rows: DataFrame) -> DataFrame:
    """Each ``key = value`` with the names of the blocks around it."""
    bare = replaced("plain", _VARIABLE, "\\$($1)")
    parted = replaced(replaced(bare, r"\{", "{\n"), r"\}", "\n}\n")
    parted = replaced(parted, r",\s*(?=[a-zA-Z][\w.]*\s*[=:])", ",\n")
    pieces = rows.where(f"NOT {matches('plain', _COMMENT)} AND NOT {matches('plain', _RULE)}").selectExpr(
        "source", "line", "text", f"posexplode(split({parted}, '\\n')) AS (place, piece)"
    ).where("trim(piece) <> ''")  # fmt: skip
    steps = "CAST(endswith(rtrim(piece), '{') AS INT) - CAST(trim(piece) RLIKE '^[}]' AS INT)"
    deep = pieces.selectExpr(
        "*", f"coalesce(sum({steps}) {_BEFORE}, 0) AS depth", f"{filled(group('piece', _OPENS))} AS opens"
    )
    levels = [f"last(CASE WHEN depth = {n} THEN opens END, true) {_UPWARD} AS b{n}" for n in range(_DEEPEST)]
    named = deep.selectExpr("*", *levels).where(f"{matches('piece', _PAIR)} AND NOT endswith(rtrim(piece), '{{')")
    blocks = ", ".join(f"CASE WHEN depth > {n} THEN b{n} END" for n in range(_DEEPEST))
    key, value = group("piece", _PAIR), group("piece", _PAIR, 2)
    columns = {
        "scope": "'broker'",
        "origin": "'file'",
        "key": f"concat_ws('.', {blocks}, {key})",
        "value": f"CASE WHEN {matches(key, _SECRET)} THEN '{MASK}' ELSE trim('\"' FROM {value}) END",
    }
    return SETTINGS.rows(named, columns)
