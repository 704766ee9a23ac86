"""Messages that an application notes twice, in a file of its own and in lines of its log.

Messages that an application notes twice, in a file of its own and in lines of its log: the file counts, no Spark.

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

_LINES = "ledger-lines"
"""The format of files that hold nothing but lines of a ledger."""
_ANY = "any"
"""Stands for a ledger whose rows tell their roles, or in which nothing tells one."""


def once(sources: Sequence[Source]) -> list[Source]:
    """*sources*, in which lines are no ledger of what the same party notes in rows of a file, too.

    Lines between others are none either where a file of nothing but lines has them. A party is told by names of files,
    else by the folder. What the user's map says of a log stays.
    """
    files = [source for source in sources if source.layout and source.reading is Reading.TABLE]
    in_rows = _kept([source for source in files if source.format != _LINES])
    in_files = _kept(files)
    found = []
    for source in sources:
        if source.layout and source.reading is Reading.LOG:
            found.append(_without(source, in_files))
        elif source.layout and source.format == _LINES:
            found.append(replace(source, layout=None) if _is_noted(source, in_rows) else source)
        else:
            found.append(source)
    return found


def _kept(files: Sequence[Source]) -> Mapping[str, set[str]]:
    """Kinds of roles that parties note in *files*."""
    found: dict[str, set[str]] = defaultdict(set)
    for source in files:
        known = json.loads(source.layout or "{}")
        for party in _parties(source, known):
            found[party].add(_kind(known["role"]))
    return found


def _is_noted(source: Source, kept: Mapping[str, set[str]]) -> bool:
    known = json.loads(source.layout or "{}")
    noted = {kind for party in _parties(source, known) for kind in kept.get(party, ())}
    return bool(noted & {_ANY, _kind(known["role"])})


def _without(source: Source, kept: Mapping[str, set[str]]) -> Source:
    """A log without the shapes whose messages are noted in files."""
    known = json.loads(source.layout or "{}")
    noted = {kind for party in _parties(source, known) for kind in kept.get(party, ())}
    own = [one for one in known["lines"] if one["told"] == "map" or not noted & {_ANY, _kind(one["role"])}]
    if len(own) == len(known["lines"]):
        return source
    return replace(source, layout=json.dumps({**known, "lines": own}) if own else None)


def _kind(role: str | None) -> str:
    return _ANY if role is None else "handled" if role in HANDLED else role


def _parties(source: Source, layout: Mapping[str, Any]) -> set[str]:
    """Who keeps it: the party in its name; what a map says; its folder where the name tells nobody."""
    party = layout.get("party")
    folder = source.path.replace("!/", "/").rpartition("/")[0].rpartition("/")[2]
    return {re.sub(r"[^a-z0-9]+", "-", name.lower()) for name in ([party] if party else [folder]) if name}
