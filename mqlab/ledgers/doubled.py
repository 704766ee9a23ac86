"""Messages that an application notes twice, in a file of its own and in lines of its log: the file counts.

Sample material::

    ledgers/payer-processed.csv      PO-17,payouts,1,33,2026-11-22T07:00:01.123Z
    clients/payer.log                2026-11-22 07:00:01,123 INFO payer paid PO-17 (topic=payouts partition=1 offset=33)

Counted both, each payout would have been paid twice.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from mqlab.ledgers.words import HANDLED
from mqlab.sources import Reading, Source

_ANY = "any"
"""Stands for a ledger whose rows tell their roles, or in which nothing tells one."""


def once(sources: Sequence[Source]) -> list[Source]:
    """*sources*, in which lines of logs are no ledger of what the same party notes in rows of a file, too.

    A party is told by names of files, else by the folder. What the user's map says of a log stays.
    """
    kept: dict[str, set[str]] = defaultdict(set)
    for source in sources:
        if source.layout and source.reading is Reading.TABLE:
            layout = json.loads(source.layout)
            for party in _parties(source, layout):
                kept[party].add(_kind(layout["role"]))
    logs = (source.layout and source.reading is Reading.LOG for source in sources)
    return [_without(source, kept) if is_log else source for source, is_log in zip(sources, logs, strict=True)]


def _without(source: Source, kept: Mapping[str, set[str]]) -> Source:
    """A log without the shapes whose messages are noted in files; *kept* are the kinds of roles by party."""
    layout = json.loads(source.layout or "{}")
    noted = {kind for party in _parties(source, layout) for kind in kept.get(party, ())}
    own = [one for one in layout["lines"] if one["told"] == "map" or not noted & {_ANY, _kind(one["role"])}]
    if len(own) == len(layout["lines"]):
        return source
    return replace(source, layout=json.dumps({**layout, "lines": own}) if own else None)


def _kind(role: str | None) -> str:
    return _ANY if role is None else "handled" if role in HANDLED else role


def _parties(source: Source, layout: Mapping[str, Any]) -> set[str]:
    """Who keeps it: the party in its name; what a map says; its folder where the name tells nobody."""
    party = layout.get("party")
    folder = source.path.replace("!/", "/").rpartition("/")[0].rpartition("/")[2]
    return {re.sub(r"[^a-z0-9]+", "-", name.lower()) for name in ([party] if party else [folder]) if name}
