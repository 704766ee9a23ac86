"""``leader-epoch-checkpoint`` beside the segments of a partition (KIP-101, 0.11 on) → EVENTS of kind ``leader-epoch``.

Sample file, of version 0, with two epochs that began at offsets 0 and 1032::

    0
    2
    0 0
    2 1032

The folder that the file is in is its topic and partition, ``orders-0``.
"""

from __future__ import annotations

import re

from mqlab.formats import console
from mqlab.formats.base import About, Data, Head, Items, Lines, Noise, Reject, Spec, regex
from mqlab.formats.values import real
from mqlab.sources import Role
from mqlab.tables import EVENTS

FORMAT = Spec("leader-epoch-checkpoint", Role.STORE, (EVENTS,), "kafka")

_NAMED = re.compile(r"(?i)leader-epoch")
_FILE = regex(r"^0\s+(\d{1,9})\s+((?:\d+ \d+\s+)*)$")
_NUMBER = re.compile(r"[0-9]*")
_EPOCH = regex(r"^(?P<epoch>\d+) (?P<offset>\d+)\s*$")
_FOLDER = regex(r"^(?P<topic>[\w.-]+)-(?P<queue>\d+)\.leader-epoch-checkpoint")
_COPY = regex(r"leader-epoch-checkpoint[-_.](?P<topic>[\w.-]+?)-(?P<queue>\d+)(?:\.|$)")


def recognise(head: Head) -> bool:
    """True for a version, a count and as many pairs, in a file that is named after the leaders' epochs."""
    found = _FILE.search(head.text.rstrip() + "\n") if _NAMED.search(head.name) else None
    return found is not None and (head.size > len(head.text) or len(found[2].splitlines()) == int(found[1]))


def parse(lines: Lines, about: About) -> Items:
    """One event an epoch: ``value`` is the offset that it began at, ``reason`` its number; what is above is noise."""
    place = _FOLDER.search(about.name) or _COPY.search(about.name)
    topic, queue = (place["topic"], place["queue"]) if place else (None, None)
    for line in lines:
        plain = console.plain(line.text)
        if epoch := _EPOCH.search(plain):
            row = EVENTS.row(
                at=about.snapshot_at,
                system="kafka",
                kind="leader-epoch",
                topic=topic,
                queue=queue,
                value=real(epoch["offset"]),
                reason=epoch["epoch"],
            )
            yield Data(line, (row,) if line.number > 2 else ())
        else:
            yield Noise(line) if _NUMBER.fullmatch(plain) else Reject(line)
