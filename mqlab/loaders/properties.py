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

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from mqlab.loaders import console
from mqlab.loaders.base import Head
from mqlab.sources import Reading
from mqlab.tables import SETTINGS, Table

FORMAT = "properties"
TABLES: tuple[Table, ...] = (SETTINGS,)
READING = Reading.TABLE

_KEY = r"(?:[^=:\s\\#!\[{\"']|\\.)(?:[^=:\s\\\"'{}()<>]|\\.)*"
_PAIR = rf"^\s*({_KEY})(?:\s*[=:]\s*|\s+)(.*?)\s*$"
_COMMENT = r"^\s*(?:[#!;].*|\[[^\]=]*\]\s*)?$"
_OPEN = r"(?<!\\)(?:\\\\)*\\$"
"""An odd number of backslashes at the end: the value goes on in the next line."""
_DATED = r"^\W?(?:\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d|[A-Z][a-z]{2} +\d+ \d\d:\d\d:\d\d|\d{10,})"

_SCOPES = {
    "broker": r"broker\.id|node\.id|log\.dirs?|zookeeper\.connect|process\.roles|controller\.quorum\.voters",
    "producer": r"(?:key|value)\.serializer|acks|batch\.size|linger\.ms|max\.request\.size|buffer\.memory"
    r"|delivery\.timeout\.ms|enable\.idempotence|transactional\.id",
    "consumer": r"group\.id|(?:key|value)\.deserializer|max\.poll\..*|fetch\.m.*|auto\.offset\.reset"
    r"|enable\.auto\.commit|partition\.assignment\.strategy",
    "topic": r"cleanup\.policy|retention\.(?:ms|bytes)|max\.message\.bytes|segment\.bytes",
}
_OWNERS = ("client.id", "group.id", "broker.id", "node.id")


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
    pairs = _logical(rows).where(~F.col("plain").rlike(_COMMENT) & F.col("plain").rlike(_PAIR)).select(
        "source", "line", "text",
        F.regexp_extract("plain", _PAIR, 1).alias("key"),
        F.regexp_extract("plain", _PAIR, 2).alias("value"),
    )  # fmt: skip
    file = Window.partitionBy("source")
    owners = [F.max(F.when(F.col("key") == key, F.nullif("value", F.lit("")))).over(file) for key in _OWNERS]
    has = {scope: F.max(F.col("key").rlike(f"^(?:{keys})$")).over(file) for scope, keys in _SCOPES.items()}
    both = has["producer"] & has["consumer"] & ~has["broker"]
    scope = F.coalesce(*[F.when(found & ~both, F.lit(scope)) for scope, found in has.items()], F.lit("application"))
    owner, origin = F.coalesce(*owners), F.lit("file")
    settings = pairs.select("*", scope.alias("scope"), owner.alias("owner"), origin.alias("origin"))
    return {SETTINGS: settings.transform(SETTINGS.conform)}


def line_class(text: Column) -> Column:
    """Pairs and their continuations are data; comments, sections and blank lines noise."""
    line = console.plain(text)
    return F.when(line.rlike(_COMMENT), F.lit("noise")).when(line.rlike(rf"{_PAIR}|{_OPEN}"), F.lit("data"))


def _logical(rows: DataFrame) -> DataFrame:
    """One row a logical line: a backslash at the end joins it with the next."""
    plain = console.plain(F.col("text"))
    above = Window.partitionBy("source").orderBy("line").rowsBetween(Window.unboundedPreceding, -1)
    ends = (plain.rlike(_COMMENT) | ~plain.rlike(_OPEN)).cast("int")
    numbered = rows.select("source", "line", "text", F.coalesce(F.sum(ends).over(above), F.lit(0)).alias("number"))
    pieces = F.array_sort(F.collect_list(F.struct("line", "text")))
    return numbered.groupBy("source", "number").agg(pieces.alias("pieces")).select(
        "source",
        F.get("pieces", F.lit(0))["line"].alias("line"),
        F.get("pieces", F.lit(0))["text"].alias("text"),
        F.array_join(F.transform("pieces", lambda piece: _piece(piece["text"])), "").alias("plain"),
    )  # fmt: skip


def _piece(text: Column) -> Column:
    """A line without the backslash that continues it and without its indentation."""
    bare = F.ltrim(console.plain(text))
    return F.when(bare.rlike(_OPEN), F.regexp_replace(bare, r"\\$", "")).otherwise(bare)
