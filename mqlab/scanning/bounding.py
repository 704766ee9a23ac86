"""A flood of lines that are kept: some of each kind are, the last of them stands for all others.

A client that logs an error a thousand times a second would otherwise have its whole log kept, masked and thinned. Of
the kept lines of one shape and ten seconds (the length of an episode), the first ``MOST`` of a file stay as they are;
the last one carries the lines and bytes of the rest. Counts, first and last moment stay exact, extrema of values are
those of the lines that stay. Lines without a moment, such as those of an exception, follow dated ones that were
counted: those beyond the first ``MOST`` of a file are counted by shape like any other line. A broker's line for each
message is alike only where client, topic and flags are the same, so that their counts stay exact too.
"""

from __future__ import annotations

from collections.abc import Collection

from pyspark.sql import DataFrame

from mqlab.loaders import layouts, own_lines
from mqlab.scanning import shapes
from mqlab.scanning.tagging import COUNT, EVENT
from mqlab.sql import matches, quoted, replaced

MOST = 100
"""Lines of one shape and ten seconds that are kept."""
TRACED = 1
"""Lines about one topic, client and ten seconds that are kept of those that mosquitto writes for each message."""
_SECONDS = 10
_FROM, _ALIKE = 20, 160
"""Where a line's message has begun in every layout, and how many characters of it are compared."""


def bounded(rows: DataFrame, large: Collection[str]) -> DataFrame:
    """*rows* of lines grouped by what they are, one row a kept line, without the rest of each flood in *large* files.

    Which files are large is their own affair, not that of the material: what is read together makes no difference.
    """
    line = "coalesce(inner, text)"
    trace = f"({own_lines.is_file('file')} AND {matches(line, own_lines.TRACE)})"
    shape_of = replaced(f"substring({line}, {_FROM}, {_ALIKE})", "[0-9]+", "#")
    alike = f"CASE WHEN {trace} THEN {own_lines.traced(line)} ELSE {shape_of} END"
    known = rows.selectExpr(
        "*",
        f"CASE WHEN tag = {EVENT} THEN coalesce({layouts.wall(line)}, at) END AS wall",
        f"CASE WHEN {trace} THEN {TRACED} ELSE {MOST} END AS most",
    ).selectExpr(
        "*", f"floor(unix_seconds(wall) / {_SECONDS}) AS episode", f"CASE WHEN tag = {EVENT} THEN {alike} END AS alike"
    )
    same = "PARTITION BY file, tag, minute, episode, alike"
    ranked = known.selectExpr(
        "*", f"row_number() OVER ({same} ORDER BY line) AS rank", f"count(1) OVER ({same}) AS last"
    )
    rest = f"tag = {EVENT} AND rank > most AND file IN ({', '.join(map(quoted, sorted(large)))})"
    summed = ranked.selectExpr(
        "*",
        f"{rest} AND wall IS NULL AS undated",
        f"{rest} AND wall IS NOT NULL AS spare",
        f"sum(CASE WHEN {rest} THEN bytes END) OVER ({same}) AS spared",
    )
    shape = shapes.rough(f"substring({line}, 1, {shapes.LENGTH})")
    changed = {
        "tag": f"CASE WHEN undated THEN {COUNT} ELSE tag END",
        "shape": f"CASE WHEN undated THEN {shape} ELSE shape END",
        "lines": "CASE WHEN spare THEN rank - most ELSE lines END",
        "bytes": "CASE WHEN spare THEN spared ELSE bytes END",
        **{name: f"CASE WHEN NOT undated THEN {name} END" for name in ("row", "text", "inner")},
    }
    columns = [f"{changed[name]} AS {name}" if name in changed else name for name in rows.columns]
    return summed.where("NOT spare OR rank = last").selectExpr(*columns)
