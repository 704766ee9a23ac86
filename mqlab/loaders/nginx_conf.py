"""``nginx.conf`` → SETTINGS of scope proxy: what a proxy in front of brokers limits.

Sample lines::

    stream {
        upstream mqtt { server 10.41.8.10:1883; }
        server {
            listen 21884;
            proxy_upload_rate 10k;
        }
    }

The owner is what the server around a directive listens on. Keys and values are as written.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from mqlab.loaders import console
from mqlab.loaders.base import Head
from mqlab.sources import Reading
from mqlab.sql import filled, group, matches, quoted, replaced
from mqlab.tables import SETTINGS, Table

FORMAT = "nginx-conf"
TABLES: tuple[Table, ...] = (SETTINGS,)
READING = Reading.TABLE

_COMMENT = r"^\s*(?:#.*)?$"
_ASIDE = r"\s#[^'\"]*$"
_ENDS = r"[;{}]\s*$"
_PIECE = r"(?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[^;{}'\"])"
_STATEMENT = rf"({_PIECE}*)([;{{}}])"
_SPLIT = r"(?s)^\s*(\S+)(?:\s+(.*?))?\s*$"
_OWN = re.compile(
    r"(?m)^\s*(?:stream|http|events|server|upstream\s+\S+)\s*\{|^\s*(?:worker_processes|worker_connections|listen"
    r"|proxy_\w+|server_name|load_module|access_log|log_format)\s[^=;\n]*;"
)
_LIKELY = 0.8
_INSIDE = ("location", "if", "limit_except", "types")
"""Blocks that stand within a server."""


def recognise(head: Head) -> bool:
    """True when directives end in semicolons or open and close blocks, and two of them are nginx's own."""
    lines = [line for line in console.plain_lines(head) if not re.match(_COMMENT, line)]
    ended = sum(bool(re.search(_ENDS, re.sub(_ASIDE, "", line))) for line in lines)
    return len(_OWN.findall("\n".join(lines))) >= 2 and ended >= _LIKELY * len(lines)


def load(rows: DataFrame) -> Mapping[Table, DataFrame]:
    """One row a directive, in the order of the file."""
    order = "OVER (PARTITION BY source ORDER BY line, place)"
    earlier = f"{order[:-1]} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)"
    deeper = "CASE sign WHEN '{' THEN 1 WHEN '}' THEN -1 ELSE 0 END"
    inner = ", ".join(map(quoted, _INSIDE))
    placed = (
        _statements(rows)
        .selectExpr("*", f"coalesce(sum({deeper}) {earlier}, 0) AS depth")
        .selectExpr("*", f"sign = '{{' AND word NOT IN ({inner}) AS opens")
        .selectExpr(
            "*",
            f"sum(CAST(opens AS INT)) {order} AS block",
            f"last(CASE WHEN opens THEN named_struct('depth', depth, 'word', word) END, true) {earlier} AS around",
        )
        .selectExpr("*", "around.word = 'server' AND depth > around.depth AS served")
    )
    listens = "max(CASE WHEN served AND word = 'listen' THEN value END) OVER (PARTITION BY source, block)"
    told = placed.selectExpr("*", f"{listens} AS listens").where("sign = ';' AND word <> ''")
    columns = {
        "scope": "'proxy'",
        "origin": "'file'",
        "owner": "CASE WHEN served THEN listens END",
        "key": "word",
        "value": filled("value"),
    }
    return {SETTINGS: SETTINGS.rows(told, columns)}


def line_class(text: str) -> str:
    """Comments are noise, everything that ends or goes on is data."""
    line = console.plain(text)
    goes_on = rf"{_ENDS}|^\s*['\"$\w]"
    return f"""CASE
        WHEN {matches(line, _COMMENT)} THEN 'noise'
        WHEN {matches(replaced(line, _ASIDE), goes_on)} THEN 'data' END"""


def _statements(rows: DataFrame) -> DataFrame:
    """One row a directive, a block's begin or its end; directives over several lines are joined at the first."""
    lines = rows.where(f"NOT {matches('plain', _COMMENT)}").selectExpr(
        "source", "line", "text", f"{replaced('plain', _ASIDE)} AS said"
    )
    above = f"OVER ({console.IN_ORDER} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)"
    numbered = lines.selectExpr(
        "source", "struct(line, text, said) AS piece",
        f"coalesce(sum(CAST({matches('said', _ENDS)} AS INT)) {above}, 0) AS number",
    )  # fmt: skip
    joined = numbered.groupBy("source", "number").agg(F.expr("array_sort(collect_list(piece)) AS pieces"))
    whole = joined.selectExpr(
        "source", "get(pieces, 0).line AS line", "get(pieces, 0).text AS text",
        "array_join(transform(pieces, piece -> piece.said), ' ') AS said",
    )  # fmt: skip
    found = whole.selectExpr(
        "source", "line", "text", f"posexplode(regexp_extract_all(said, {quoted(_STATEMENT)}, 0)) AS (place, raw)"
    ).selectExpr("*", f"{group('raw', _STATEMENT)} AS directive", "right(raw, 1) AS sign")
    return found.selectExpr(
        "source", "line", "text", "place", "sign",
        f"{group('directive', _SPLIT)} AS word", f"{group('directive', _SPLIT, 2)} AS value",
    )  # fmt: skip
