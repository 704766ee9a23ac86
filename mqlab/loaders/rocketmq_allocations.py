"""ASSIGNMENTS from the lines in which a RocketMQ client says which queues it now reads.

Sample lines::

    … rebalanced result changed. allocateMessageQueueStrategyName=AVG, group=billing, topic=ORDERS,
    clientId=10.0.4.17@9, mqAllSize=8, cidAllSize=2, rebalanceResultSize=4, rebalanceResultSet=[MessageQueue
    [topic=ORDERS, brokerName=broker-a, queueId=3], MessageQueue [topic=ORDERS, brokerName=broker-a, queueId=1], …]

The line is printed when the set has changed, so it holds until the client's next one for this topic. A set that is
empty, and the mere count that 3.x prints, give no row.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from mqlab.sql import group, quoted
from mqlab.tables import ASSIGNMENTS

_QUEUE = r"MessageQueue \[topic=[^,]*, brokerName=([^,\]]+), queueId=(\d+)\]"


def allocations(happened: DataFrame) -> DataFrame:
    """One row for each queue of each changed allocation: ASSIGNMENTS with ``wall`` and ``offset`` instead of ``at``.

    *happened* are rows of EVENTS as ``logs.events`` gives them; those of other kinds are passed over. A queue reads
    ``broker/number``.
    """
    listed = f"explode(regexp_extract_all(text, {quoted(_QUEUE)}, 0)) AS one"
    each = happened.where("kind = 'queues-allocated'").selectExpr("*", listed)
    given = {
        "group": "`group`",
        "topic": "topic",
        "client_id": "client_id",
        "peer": "peer",
        "queue": f"concat({group('one', _QUEUE, 1)}, '/', {group('one', _QUEUE, 2)})",
    }
    names = [name for name in ASSIGNMENTS.schema.names if name != "at"]
    known = given | {name: name for name in ("source", "line", "text")}
    return each.selectExpr("wall", "offset", *[f"CAST({known.get(n, 'NULL')} AS {_kind(n)}) AS `{n}`" for n in names])


def _kind(name: str) -> str:
    return ASSIGNMENTS.schema[name].dataType.simpleString()
