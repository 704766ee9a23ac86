"""The bytes that Spark reads, each with the link of the source they belong to.

Sources of this machine lie in one folder under their links, so that a file's name says it all. Sources elsewhere are
read where they lie, under explicit paths; which of them a path is, Spark's own listing tells.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import unquote, urlsplit

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from mqlab.errors import RemoteError
from mqlab.material import filesystems, remote
from mqlab.sources import Source
from mqlab.tables import union

_BLOCK = "_metadata.file_block_start AS block"


def content(spark: SparkSession, folder: str, sources: Sequence[Source], options: Mapping[str, str]) -> DataFrame:
    """Rows of ``value``, ``file`` (the link) and ``block`` (where the block begins) of *sources*, at least one.

    Args:
        spark: the session.
        folder: where those of this machine lie under their links.
        sources: all that is to be read.
        options: of Spark's text format.

    Raises:
        RemoteError: Spark does not see a file where the driver does.
    """
    reader = spark.read.options(**options)
    there = {source.location: source for source in sources if filesystems.is_uri(source.location)}
    parts = []
    if len(there) < len(sources):
        here = reader.text(remote.for_spark(folder))
        parts.append(here.selectExpr("value", "_metadata.file_name AS file", _BLOCK))
    if there:
        read = reader.text([remote.for_spark(uri) for uri in there])
        links = spark.createDataFrame(sorted(_links(read.inputFiles(), there).items()), "path string, link string")
        placed = read.selectExpr("value", "_metadata.file_path AS path", _BLOCK).join(
            F.broadcast(links), "path", "left"
        )
        known = "coalesce(link, raise_error('a file that is no source: ' || path)) AS file"
        parts.append(placed.selectExpr("value", known, "block"))
    return union(parts)


def _links(listed: Sequence[str], there: Mapping[str, Source]) -> dict[str, str]:
    """Links by the path that Spark gives a file: an encoded URI, with the host even where we wrote none.

    Where there is no host, rows say ``file:/x`` and listings ``file:///x``.
    """
    by_uri = {filesystems.parts(uri): source for uri, source in there.items()}
    by_path = {path: source for (_, _, path), source in by_uri.items()}
    found: dict[str, str] = {}
    for spelled in listed:
        scheme, authority, path, *_ = urlsplit(spelled)
        source = by_uri.get((scheme, authority, unquote(path))) or by_path.get(unquote(path))
        if source:
            found |= dict.fromkeys((spelled, spelled.replace(":///", ":/", 1)), source.link)
    if missed := {source.link for source in there.values()} - set(found.values()):
        source = next(s for s in there.values() if s.link in missed)
        raise RemoteError(source.location, "Spark does not list it although the driver does")
    return found
