"""ASSIGNMENTS from the line in which the leader of a Kafka group says what it gave to each member.

Sample line::

    … [Consumer clientId=c-1, groupId=g] Finished assignment for group at generation 5:
    {c-1-…=Assignment(partitions=[orders-0, orders-1]), c-2-…=Assignment(partitions=[orders-2])}

Only the leader's log has it (2.5 on). A member that got nothing gives no row; its client is not named.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from mqlab.sql import filled, group, quoted
from mqlab.tables import ASSIGNMENTS

_MEMBER = r"(?<![^\s{=])([^\s{=]+)=Assignment\(partitions=\[([^\]]*)\]"
_PARTITION = r"^(.+)-(\d+)$"
_GROUP = r"groupId=([^,\]\s]+)"
KIND = "assignment-made"


def assignments(lines: DataFrame) -> DataFrame:
    """One row for each partition of each member: ASSIGNMENTS with ``wall`` and ``offset`` instead of ``at``.

    *lines* are those of ``KIND`` as ``logs.beginning`` gives them.
    """
    members = lines.selectExpr(
        "*", f"{filled(group('text', _GROUP))} AS `group`",
        f"explode(regexp_extract_all(text, {quoted(_MEMBER)}, 0)) AS one",
    )  # fmt: skip
    each = members.selectExpr(
        "source", "line", "text", "wall", "offset", "`group`", f"{group('one', _MEMBER)} AS member_id",
        f"explode(split({group('one', _MEMBER, 2)}, ', ')) AS held",
    ).where(f"held RLIKE {quoted(_PARTITION)}")  # fmt: skip
    placed = each.selectExpr("*", f"{group('held', _PARTITION)} AS topic", f"{group('held', _PARTITION, 2)} AS queue")
    known = ("source", "line", "text", "group", "member_id", "topic", "queue")
    names = [name for name in ASSIGNMENTS.schema.names if name != "at"]
    told = [f"CAST({f'`{n}`' if n in known else 'NULL'} AS {_kind(n)}) AS `{n}`" for n in names]
    return placed.selectExpr("wall", "offset", *told)


def _kind(name: str) -> str:
    return ASSIGNMENTS.schema[name].dataType.simpleString()
