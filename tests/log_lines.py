"""What the scan and the reading of logs make of literal lines."""

from mqlab.loaders import logs
from mqlab.loaders.application_log import COUNTERS
from mqlab.scanning import tagging

_NAMES = ("kind", "client_id", "topic", "peer", "member_id", "group", "value", "reason")


def frame(spark, lines, form):
    """Rows as the scan and the loaders see them, of one file of the format *form*."""
    link = f"Ln1.{form}.-.txt"
    return spark.createDataFrame(list(enumerate(lines, 1)), "line long, text string").selectExpr(
        "text AS value", "text AS inner", "text", "line", "line AS seq", "1L AS lines", f"'{link}' AS source",
        "0 AS block", "CAST(NULL AS TIMESTAMP) AS clock", "CAST(NULL AS TIMESTAMP) AS at",
        "octet_length(text) AS size", f"'{link}' AS file",
    )  # fmt: skip


def kept(spark, lines, form):
    """For each line, whether the scan keeps it."""
    tagged = tagging.tagged(frame(spark, lines, form)).sort("seq").select("tag").collect()
    return [row.tag == tagging.EVENT for row in tagged]


def read(spark, lines, form):
    """For each line whether the scan keeps it, and the events of all of them, by line."""
    return kept(spark, lines, form), logs.events(frame(spark, lines, form)).sort("line")


def events(spark, lines, form):
    """The events of the lines that the scan keeps: what was told, by name; what is not told is left out."""
    flags = kept(spark, lines, form)
    said = [line for line, flag in zip(lines, flags, strict=True) if flag]
    rows = logs.events(frame(spark, said, form)).where(f"kind <> '{COUNTERS}'").sort("line").collect()
    return [{name: row[name] for name in (*_NAMES, "system") if row[name] is not None} for row in rows]
