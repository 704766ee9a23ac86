"""``kafka-consumer-groups.sh --describe --members [--verbose]`` (1.1 … 4.x) → ASSIGNMENTS, CLIENTS.

Sample lines::

    GROUP           CONSUMER-ID                                    HOST         CLIENT-ID   #PARTITIONS  ASSIGNMENT
    entity-extract  extract-c-315903da-2cfa-4657-a276-65af22e5865a /10.22.0.15  extract-c   3            news.articles(6,7,8)

4.x writes ``news.articles:6,7,8`` with epochs around it. 3.8 and 3.9 lose the topic, ``(6,7,8)``: no ASSIGNMENTS then;
they also end without a line break, so that what is printed next sticks to the last row.
"""  # noqa: E501

from __future__ import annotations

import re
from collections.abc import Iterator

from mqlab.formats import console
from mqlab.formats.base import About, Data, Head, Items, Lines, Noise, Spec, regex
from mqlab.formats.values import filled
from mqlab.sources import Role
from mqlab.tables import ASSIGNMENTS, CLIENTS, Row

FORMAT = Spec("kafka-consumer-groups-members", Role.COMMAND, (ASSIGNMENTS, CLIENTS), "kafka")

_HEADER = regex(r"^\s*(?:GROUP\s+)?CONSUMER-ID\s+(?:GROUP-INSTANCE-ID\s+)?HOST\s+CLIENT-ID\s+#PARTITIONS")
_ROW = regex(
    r"^\s*(?P<member>\S+(?:\s+\S+){0,2}?)\s+/(?P<peer>\S+)\s+(?P<client_id>.*?)\s+\d+(?:\s+(?P<held>\S.*))?\s*$"
)
_SHARE = re.compile(r"(?<![A-Za-z0-9._-])(?P<topic>[A-Za-z0-9._-]+)[:(](?P<queues>[0-9,]+)")
"""Partitions of one topic, in either notation."""


def recognise(head: Head) -> bool:
    """True for a members table, or for errors in a file named after it."""
    if any(_HEADER.search(line) for line in console.plain_lines(head)):
        return True
    return "members" in head.name and console.only_errors(head, r"\A\Z", r"group.*members")


def parse(lines: Lines, about: About) -> Items:
    """Who was in the group, and which partitions they held where the tool names the topic; headers are noise."""
    header = ""
    for one in console.shown(lines, about):
        if _HEADER.search(one.plain):
            header = one.plain.strip()
            yield Noise(one.line)
        elif row := _ROW.search(console.GLUED.sub("", one.plain)):
            yield Data(one.line, tuple(_rows(one, row, header)) if header else ())
        else:
            yield console.remark(one)


def _rows(one: console.Shown, row: re.Match[str], header: str) -> Iterator[Row]:
    words, held = row["member"].split(), row["held"] or ""
    group = words.pop(0) if header.startswith("GROUP") else one.named
    who = {"at": one.at, "group": group, "client_id": filled(row["client_id"]), "peer": row["peer"]}
    yield CLIENTS.row(system="kafka", **who)
    if "CURRENT-ASSIGNMENT" in header:
        held = " ".join(held.split()[1:2])
    for share in _SHARE.finditer(held):
        for queue in filter(None, share["queues"].split(",")):
            yield ASSIGNMENTS.row(member_id=words[0] if words else None, topic=share["topic"], queue=queue, **who)
