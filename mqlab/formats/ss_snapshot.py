"""``ss -t``: which peers were connected → CLIENTS.

Sample lines::

    State  Recv-Q Send-Q Local Address:Port  Peer Address:Port Process
    ESTAB  0      0        10.42.11.10:21883  10.42.11.21:36674 users:(("mosquitto",pid=7,fd=9))

``ss state established`` leaves the State column out; ``-i`` adds an indented line of TCP figures below each row.
"""

from __future__ import annotations

from mqlab.formats import console
from mqlab.formats.base import About, Data, Head, Items, Lines, Noise, Spec, regex
from mqlab.sources import Role
from mqlab.tables import CLIENTS

FORMAT = Spec("ss", Role.COMMAND, (CLIENTS,))

_HEADER = regex(r"^\s*(?:Netid\s+)?(?:State\s+)?Recv-Q\s+Send-Q\s+Local Address:\s*Port\s+Peer Address:\s*Port")
_STATE = r"ESTAB|LISTEN|SYN-SENT|SYN-RECV|FIN-WAIT-[12]|TIME-WAIT|CLOSE-WAIT|LAST-ACK|CLOSING|UNCONN|CLOSED?"
_ROW = regex(
    rf"^\s*(?:tcp\s+)?(?:(?P<state>{_STATE})\s+)?\d+\s+\d+\s+\S+:(?:\d+|\*)\s+(?P<peer>\S+:(?:\d+|\*))(?:\s+.*)?$"
)
_IDLE = regex(r"^\s*(?:tcp\s+)?LISTEN\s|^\s+\S.*\b(?:rto|cwnd|skmem|timer)[:(]")
"""A listener, or the TCP figures of the connection above."""


def recognise(head: Head) -> bool:
    """True for the header of ss."""
    return any(_HEADER.search(line) for line in console.plain_lines(head)[:20])


def parse(lines: Lines, about: About) -> Items:
    """One client a connection: its peer, and whether it is established."""
    for one in console.shown(lines, about):
        row = _ROW.search(one.plain)
        if row and row["state"] != "LISTEN":
            connected = "true" if row["state"] in (None, "ESTAB") else "false"
            yield Data(one.line, (CLIENTS.row(at=one.at, system="os", peer=row["peer"], connected=connected),))
        elif _IDLE.search(one.plain) or _HEADER.search(one.plain):
            yield Noise(one.line)
        else:
            yield console.remark(one)
