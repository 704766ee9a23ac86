"""Queues in what ``mqadmin`` prints: how far each group came, and which consumer holds which queue.

consumerProgress, brokerConsumeStats and topicStatus give POSITIONS; a queue is ``<broker>/<number>``, as each broker
counts its own. ``#Consumer MQ Detail#`` in a consumer's own words gives ASSIGNMENTS; a queue that it is about to lose
is none.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from mqlab.loaders import rocketmq_lines as lines
from mqlab.loaders.rocketmq_lines import cell, words
from mqlab.sql import group, matches
from mqlab.tables import ASSIGNMENTS, POSITIONS

_LOST = r"\bdrop{1,2}ed=true"


def positions(placed: DataFrame) -> DataFrame:
    """POSITIONS of every row of consumerProgress, brokerConsumeStats and topicStatus."""
    rows = placed.where(f"kind IN ('queues', 'topic') AND {matches('plain', lines.QUEUE)}")
    cells = rows.selectExpr("*", f"{words('plain')} AS tokens")
    columns = {
        "at": "at",
        "group": f"CASE WHEN kind = 'queues' THEN coalesce({cell('Group')}, `group`) END",
        "topic": f"CASE WHEN kind = 'queues' THEN {cell('Topic')} ELSE topic END",
        "queue": f"concat({cell('Broker Name')}, '/', {cell('QID')})",
        "committed": _number("Consumer Offset"),
        "end": f"coalesce({_number('Broker Offset')}, {_number('Max Offset')})",
        "start": _number("Min Offset"),
        "peer": f"nullif({cell('Client IP')}, 'N/A')",
    }
    return POSITIONS.rows(cells, columns)


def assignments(placed: DataFrame) -> DataFrame:
    """ASSIGNMENTS of every queue that a consumer says it works on."""
    held = placed.where(f"kind = 'details' AND {matches('plain', lines.DETAIL)} AND NOT {matches('plain', _LOST)}")
    topic, broker, number = (group("plain", lines.DETAIL, part) for part in (1, 2, 3))
    columns = {
        "at": "at",
        "group": "`group`",
        "topic": topic,
        "queue": f"concat({broker}, '/', {number})",
        "client_id": "client",
    }
    return ASSIGNMENTS.rows(held, columns)


def _number(name: str) -> str:
    return f"try_cast({cell(name)} AS BIGINT)"
