"""``kafka-consumer-groups.sh --describe`` (0.9 … 4.x) and ConsumerOffsetChecker → POSITIONS.

Sample lines::

    GROUP    TOPIC   PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG  CONSUMER-ID                                 HOST        CLIENT-ID
    billing  orders  0          709             718             9    billing-76138202-0b91-44c9-96c4-d85811c453f7 /10.60.1.13 billing

Columns are found by the header's names, or by their arithmetic where ``grep`` left the rows alone. LOG-END-OFFSET is the high watermark; LAG is not used. 0.10.2 to 1.0 glue a
long CONSUMER-ID to the HOST; narrow terminals wrap a row into two lines; 3.8 and 3.9 end without a line break.
"""  # noqa: E501

from __future__ import annotations

import re
from collections.abc import Sequence

from mqlab.formats import console
from mqlab.formats.base import About, Data, Head, Items, Lines, Noise, Spec, regex
from mqlab.formats.values import whole
from mqlab.sources import Role
from mqlab.tables import POSITIONS, Row

FORMAT = Spec("kafka-consumer-groups", Role.COMMAND, (POSITIONS,), "kafka")

_MODERN = regex(r"^\s*(?:GROUP\s+)?TOPIC\s+PARTITION\s+(?:LEADER-EPOCH\s+)?CURRENT-OFFSET\s+LOG-END-OFFSET\b")
_OLD = regex(
    r"^\s*(?:Group\s+Topic\s+Pid\s+Offset\s+logSize\s+Lag\b|GROUP, TOPIC, PARTITION, CURRENT OFFSET, LOG END OFFSET)"
)
_REST_OF_HEADER = regex(r"^\s*(?:(?:LAG|CONSUMER-ID|HOST|CLIENT-ID)(?:\s+|$))+$")
_NUMBERS = ("CURRENT-OFFSET", "LOG-END-OFFSET", "LAG")
_ORDERS = tuple(
    (*group, "TOPIC", "PARTITION", *epoch, *_NUMBERS, "CONSUMER-ID", "HOST", "CLIENT-ID")
    for group in ((), ("GROUP",))
    for epoch in ((), ("LEADER-EPOCH",))
)
"""Columns of all versions that name them so, for rows without a header."""
_OLD_NAMES = ("GROUP", "TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG", "OWNER")
_ROW = regex(
    r"^\s*(?:\S+\s+)?\S+\s+\d+,?\s+(?:(?:\d+|-)\s+)?(?:\d+|-|unknown|none),?\s+(?:\d+|-|unknown|none),?"
    r"\s+(?:-?\d+|-|unknown|none),?(?:\s|$)"
)
_REST_OF_ROW = regex(r"^\s*(?:\S+?\s*/(?:\d+\.|[0-9a-f]*:)\S*|-\s+-)(?:\s+\S+)?\s*$")
_IDLE = regex(r"^\s*-\s+-\s+-\s+-\s+|^BROKER INFO|^\d+ -> \S+:\d+$")
_HOST = regex(r"(?<=[^\s/])(/(?:(?:\d{1,3}\.){3}\d{1,3}|[0-9a-f]*(?::[0-9a-f]*){2,}))")
_COMMA = re.compile(r",(?=\s|$)")
_OLD_CLIENT = re.compile(r"^(.+?)_?/")
_SAID = r"^Error.*consumer group|^(?:(?:Warning|Error): )?(?:The )?[Cc]onsumer group [`'\"]|ConsumerGroupCommand"
_UNKNOWN = ("-", "none", "unknown")


def recognise(head: Head) -> bool:
    """True for output of describe, also where it holds only the tool's messages."""
    lines = console.plain_lines(head)
    told = any(_MODERN.search(line) or _OLD.search(line) for line in lines)
    return told or _order(lines) != () or console.only_errors(head, _SAID, r"consumer-groups")


def parse(lines: Lines, about: About) -> Items:
    """One position a row; second halves of rows are data, headers and members without partitions noise."""
    every = console.shown(lines, about)
    header = _order([one.plain for one in every])
    for one, below in console.with_next(every):
        if _OLD.search(one.plain):
            header = _OLD_NAMES
        elif _MODERN.search(one.plain):
            header = (f"{one.plain} {below}" if _REST_OF_HEADER.search(below) else one.plain).split()
        if _ROW.search(one.plain):
            yield Data(one.line, (_position(one, below, header),) if header else ())
        elif _REST_OF_ROW.search(one.plain):
            yield Data(one.line)
        elif any(known.search(one.plain) for known in (_MODERN, _OLD, _REST_OF_HEADER, _IDLE)):
            yield Noise(one.line)
        else:
            yield console.remark(one)


def _order(lines: Sequence[str]) -> Sequence[str]:
    """The columns of rows without any header: the order in which every lag is what the offsets leave; else nothing."""
    rows: list[list[str]] = []
    for line in lines:
        if _ROW.search(line):
            rows.append(_COMMA.sub("", line).split())
        elif not (_REST_OF_ROW.search(line) or _REST_OF_HEADER.search(line) or console.is_remark(line)):
            return ()
    return next((order for order in _ORDERS if rows and _fits(rows, order)), ())


def _fits(rows: Sequence[Sequence[str]], order: Sequence[str]) -> bool:
    """Whether *rows* have these columns: lags of nothing say so only with members or their dashes behind them."""
    queue, first = order.index("PARTITION"), order.index("CURRENT-OFFSET")
    proven = False
    for row in rows:
        if len(row) < first + len(_NUMBERS) or not row[queue].isdigit():
            return False
        committed, end, lag = (whole(cell) for cell in row[first : first + len(_NUMBERS)])
        if committed is None or end is None or lag is None:
            continue
        if end - committed != lag:
            return False
        proven |= lag != 0 or any(cell == "-" or "/" in cell for cell in row[first + len(_NUMBERS) :])
    return proven


def _position(one: console.Shown, below: str, header: Sequence[str]) -> Row:
    tidy = _COMMA.sub("", console.GLUED.sub("", one.plain))
    tokens = tidy.split()
    if len(tokens) < len(header):
        tokens = _HOST.sub(r" \1", f"{tidy} {below}" if _REST_OF_ROW.search(below) else tidy).split()
    cells = {name: cell for name, cell in zip(header, tokens, strict=False) if cell not in _UNKNOWN}
    owner = cells.get("OWNER", "")
    old_client = _OLD_CLIENT.search(owner)
    host = cells.get("HOST") or (owner if "/" in owner else None)
    return POSITIONS.row(
        at=one.at,
        group=cells.get("GROUP") or one.named,
        topic=cells.get("TOPIC"),
        queue=cells.get("PARTITION"),
        committed=whole(cells.get("CURRENT-OFFSET")),
        end=whole(cells.get("LOG-END-OFFSET")),
        client_id=_client(tokens, header) or (old_client[1] if old_client else None),
        member_id=cells.get("CONSUMER-ID") or (owner if owner and "/" not in owner else None),
        peer=host.rpartition("/")[2] if host else None,
    )


def _client(tokens: Sequence[str], header: Sequence[str]) -> str | None:
    """The rest of the line: a client id may hold spaces."""
    if "CLIENT-ID" not in header:
        return None
    rest = " ".join(tokens[header.index("CLIENT-ID") :])
    return rest if rest not in ("", "-") else None
