"""``ss -t``: which peers were connected → CLIENTS.

Sample lines::

    State  Recv-Q Send-Q Local Address:Port  Peer Address:Port Process
    ESTAB  0      0        10.42.11.10:21883  10.42.11.21:36674 users:(("mosquitto",pid=7,fd=9))

``ss state established`` leaves the State column out; ``-i`` adds an indented line of TCP figures below each row.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pyspark.sql import DataFrame

from mqlab.loaders import console
from mqlab.loaders.base import Head
from mqlab.sources import Reading
from mqlab.sql import group, matches
from mqlab.tables import CLIENTS, Table

FORMAT = "ss"
TABLES: tuple[Table, ...] = (CLIENTS,)
READING = Reading.TABLE

_HEADER = r"^\s*(?:Netid\s+)?(?:State\s+)?Recv-Q\s+Send-Q\s+Local Address:\s*Port\s+Peer Address:\s*Port"
_STATE = r"ESTAB|LISTEN|SYN-SENT|SYN-RECV|FIN-WAIT-[12]|TIME-WAIT|CLOSE-WAIT|LAST-ACK|CLOSING|UNCONN|CLOSED?"
_ROW = rf"^\s*(?:tcp\s+)?(?:({_STATE})\s+)?\d+\s+\d+\s+\S+:(?:\d+|\*)\s+(\S+:(?:\d+|\*))(?:\s+.*)?$"
_LISTENS = r"^\s*(?:tcp\s+)?LISTEN\s"
_FIGURES = r"^\s+\S.*\b(?:rto|cwnd|skmem|timer)[:(]"


def recognise(head: Head) -> bool:
    """True for the header of ss."""
    return any(re.search(_HEADER, line) for line in console.plain_lines(head)[:20])


def load(rows: DataFrame) -> Mapping[Table, DataFrame]:
    """One row a connection: its peer, and whether it is established."""
    state, peer = group("plain", _ROW, 1), group("plain", _ROW, 2)
    columns = {"at": "at", "system": "'os'", "peer": peer, "connected": f"{state} IN ('', 'ESTAB')"}
    return {CLIENTS: CLIENTS.rows(rows.where(f"{matches('plain', _ROW)} AND {state} != 'LISTEN'"), columns)}


def line_class(text: str) -> str:
    """Connections are data; headers, listeners and TCP figures noise."""
    line = console.plain(text)
    return f"""CASE
        WHEN {matches(line, f"{_LISTENS}|{_HEADER}|{_FIGURES}")} THEN 'noise'
        WHEN {matches(line, _ROW)} THEN 'data'
        WHEN ({console.remark_class(line)}) IS NOT NULL THEN 'noise' END"""
