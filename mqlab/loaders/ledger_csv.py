"""CSV in which an application notes each message it sent, had acknowledged, received or processed.

Sample lines::

    1795262756811,orders,0,0,2
    sent_utc,id,topic,qos,done_utc,result

Recognised so that it is not taken for something else; its lines are counted.
"""

from __future__ import annotations

import re

from mqlab.loaders import console
from mqlab.loaders.base import Head
from mqlab.sources import Reading
from mqlab.tables import Table

FORMAT = "ledger-csv"
TABLES: tuple[Table, ...] = ()
READING = Reading.COUNT

_TIME = r"(?i)^(?:ts|time|timestamp|date|at)(?:_ms|_utc)?$|_(?:utc|ms|at)$"
_MESSAGE = r"(?i)^(?:id|key|topic|partition|offset|queue_?id|queue_?offset|msg_?id|message_?id|packet_?id|qos)$"
_EPOCH = r"(?:^|,)1\d{12}(?:,|$)"


def recognise(head: Head) -> bool:
    """True for a header that names a time and two facts of a message, or for even rows with epoch milliseconds."""
    lines = console.plain_lines(head)
    names = [name.strip().strip('"') for name in lines[0].split(",")] if lines else []
    facts = [name for name in names if re.search(_MESSAGE, name)]
    if len(facts) >= 2 and any(re.search(_TIME, name) for name in names):
        return True
    rows = lines[:200]
    even = len({line.count(",") for line in rows}) == 1 and len(names) > 1
    return even and all(re.search(_EPOCH, line) and '"' not in line for line in rows)
