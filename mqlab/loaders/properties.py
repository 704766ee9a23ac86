r"""Java ``.properties`` and INI-like files of brokers, clients and applications → SETTINGS.

Sample lines::

    # after the incident
    group.id=ner-indexer
    max.poll.interval.ms = 15000
    listeners=PLAINTEXT://:9092,\
              SSL://:9093

Which kind of file it is shows in its keys. Nothing dates such a file, so ``at`` is null.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from mqlab.loaders import console
from mqlab.loaders.base import Head
from mqlab.sources import Reading
from mqlab.sql import group, matches, replaced
from mqlab.tables import SETTINGS, Table

FORMAT = "properties"
TABLES: tuple[Table, ...] = (SETTINGS,)
READING = Reading.TABLE

_KEY = r"(?:[^=:\s\\#!\[{\"']|\\.)(?:[^=:\s\\\"'{}()<>]|\\.)*"
_PAIR = rf"^\s*({_KEY})(?:\s*[=:]\s*|\s+)(.*?)\s*$"
_COMMENT = r"^\s*(?:[#!;].*|\[[^\]=]*\]\s*)?$"
_OPEN = r"(?<!\\)(?:\\\\)*\\$"
"""An odd number of backslashes at the end: the value goes on in the next line."""
_LAST = r"\\$"
_DATED = r"^\W?(?:\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d|[A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d|\d{10,})"

_SCOPES = {
    "broker": r"broker\.id|node\.id|log\.dirs?|zookeeper\.connect|process\.roles|controller\.quorum\.voters"
    r"|brokerName|brokerClusterName|brokerRole|storePathRootDir",
    "producer": r"(?:key|value)\.serializer|acks|batch\.size|linger\.ms|max\.request\.size|buffer\.memory"
    r"|delivery\.timeout\.ms|enable\.idempotence|transactional\.id",
    "consumer": r"group\.id|(?:key|value)\.deserializer|max\.poll\..*|fetch\.m.*|auto\.offset\.reset"
    r"|enable\.auto\.commit|partition\.assignment\.strategy",
    "topic": r"cleanup\.policy|retention\.(?:ms|bytes)|max\.message\.bytes|segment\.bytes",
}
_FILE = "OVER (PARTITION BY source)"
_OWNERS = ("client.id", "group.id", "broker.id", "node.id", "brokerName")


def recognise(head: Head) -> bool:
    """True when most lines are ``key=value`` under different keys, and none is dated.

    ``key: value`` counts where the file's name says that it holds settings; otherwise it is as likely a command's
    output or YAML.
    """
    lines = [line for line in console.plain_lines(head) if not re.search(_COMMENT, line)]
    separator = "[=:]" if re.search(r"\.(?:properties|conf|cfg|ini)\b", head.name) else "="
    found = [re.match(rf"\s*({_KEY})\s*{separator}", line) for line in lines]
    keys = [pair[1] for pair in found if pair]
    told = [line for line, before in zip(lines, ["", *lines], strict=False) if not re.search(_OPEN, before)]
    if not keys or any(re.search(_DATED, line) for line in lines):
        return False
    return len(keys) >= 0.8 * len(told) and len(set(keys)) >= 0.8 * len(keys)


def load(rows: DataFrame) -> Mapping[Table, DataFrame]:
    """One setting a key, values over several lines joined; scope and owner from the whole file."""
    pairs = (
        _logical(rows)
        .where(f"NOT {matches('plain', _COMMENT)} AND {matches('plain', _PAIR)}")
        .selectExpr(
            "source", "line", "text", f"{group('plain', _PAIR, 1)} AS key", f"{group('plain', _PAIR, 2)} AS value"
        )
    )
    owners = [f"max(CASE WHEN key = '{key}' THEN nullif(value, '') END) {_FILE}" for key in _OWNERS]
    told = [f"max{matches('key', f'^(?:{keys})$')} {_FILE} AS of_{scope}" for scope, keys in _SCOPES.items()]
    scopes = [f"WHEN of_{scope} THEN '{scope}'" for scope in _SCOPES]
    columns = {
        "scope": f"""CASE
            WHEN of_producer AND of_consumer AND NOT of_broker THEN 'application'
            {" ".join(scopes)} ELSE 'application' END""",
        "owner": "owner",
        "key": "key",
        "value": "value",
        "origin": "'file'",
    }
    owned = pairs.selectExpr("*", *told, f"coalesce({', '.join(owners)}) AS owner")
    return {SETTINGS: SETTINGS.rows(owned, columns)}


def line_class(text: str) -> str:
    """Pairs and their continuations are data; comments, sections and blank lines noise."""
    line = console.plain(text)
    return f"""CASE
        WHEN {matches(line, _COMMENT)} THEN 'noise'
        WHEN {matches(line, f"{_PAIR}|{_OPEN}")} THEN 'data' END"""


def _logical(rows: DataFrame) -> DataFrame:
    """One row a logical line: a backslash at the end joins it with the next."""
    ends = f"{matches('plain', _COMMENT)} OR NOT {matches('plain', _OPEN)}"
    above = f"OVER ({console.IN_ORDER} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)"
    numbered = rows.selectExpr(
        "source", "struct(line, text, plain) AS piece", f"coalesce(sum(CAST({ends} AS INT)) {above}, 0) AS number"
    )
    pieces = F.expr("array_sort(collect_list(piece)) AS pieces")
    return (
        numbered.groupBy("source", "number")
        .agg(pieces)
        .selectExpr(
            "source",
            "get(pieces, 0).line AS line",
            "get(pieces, 0).text AS text",
            f"array_join(transform(pieces, piece -> {_bare('ltrim(piece.plain)')}), '') AS plain",
        )
    )


def _bare(piece: str) -> str:
    """A line without the backslash that continues it."""
    return f"CASE WHEN {matches(piece, _OPEN)} THEN {replaced(piece, _LAST)} ELSE {piece} END"
