"""What is said about members of a Kafka group whose processes die again and again."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mqlab import units
from mqlab.findings import Evidence
from mqlab.kafka.churn_case import Churn
from mqlab.kafka.coordinator_words import once
from mqlab.kafka.trigger_words import triggers
from mqlab.rebalances.rows import Rebalance
from mqlab.rows.lines import Shape
from mqlab.units import counted

_SHOWN = 3
_LONGEST = 80
"""Characters of an error that are read at a glance."""
_SHORTEST = 8
"""Characters from which it says something: shapes are cut."""
_LAYOUT = re.compile(r"^.*?(?: - | : )")
"""What stands before the message in most layouts."""


def statement(group: str, every: Sequence[Churn], rebalances: int, again: int) -> str:
    """Two sentences: who died how often, and what came of it."""
    names = ", ".join(f"{one.client_id} died {counted(one.deaths, 'time')}" for one in every[:_SHOWN])
    more = f" and {counted(len(every) - _SHOWN, 'more member')}" if len(every) > _SHOWN else ""
    lived = _lived(every)
    short = f" after {units.duration(lived)}" if lived is not None else ""
    cost = counted(rebalances, "rebalance") + (f" and {counted(again, 'record')} handled again" if again else "")
    errors = [error for one in every for error in one.errors]
    words = _message(errors[0]) if errors else ""
    said = f"; before each end it says: {words}" if len(words) >= _SHORTEST else ""
    return f"In {group} {names}{more}{short} and was started again. It cost {cost}{said}."


def measures(every: Sequence[Churn], rebalances: int, again: int) -> dict[str, float]:
    """The numbers of the finding."""
    lived = _lived(every)
    found = {
        "members": float(len(every)),
        "deaths": float(sum(one.deaths for one in every)),
        "restarts": float(sum(len(one.restarts) for one in every)),
        "rebalances": float(rebalances),
    }
    if lived is not None:
        found["life_seconds"] = lived
    return found | ({"duplicated_records": float(again)} if again else {})


def remarks(every: Sequence[Churn], rows: Sequence[Rebalance]) -> dict[str, str]:
    """Short words for the screen: who it is, what made the group rebalance, what is behind it."""
    names = {one.client_id.split(" on ")[0] for one in every}
    own = [row for row in rows if row.client_id in names]
    statuses = sorted({f"{e.value_max:.0f}" for one in every for e in one.exits if e.value_max is not None})
    found = {
        "members": ", ".join(one.client_id for one in every),
        "triggers": triggers(rows, own, "end"),
        "cause": f"processes exit with status {', '.join(statuses)}" if statuses else "",
    }
    return {name: words for name, words in found.items() if words}


def evidence(every: Sequence[Churn]) -> tuple[Evidence, ...]:
    """What ends each process, and its first restarts."""
    found = [_with(e.first, "its process fails") for one in every for e in one.exits[:_SHOWN]]
    errors = [error for one in every for error in one.errors[:1]]
    found += [Evidence(e.source, e.first_line, e.sample or e.shape, "before each end") for e in errors]
    found += [
        _with(place, why)
        for one in every
        for restart in one.restarts[:_SHOWN]
        for place, why in zip(restart.evidence, ("a member ends", "and comes again"), strict=False)
    ]
    return once(found)


def _lived(every: Sequence[Churn]) -> float | None:
    known = [one.lived for one in every if one.lived is not None]
    return min(known) if known else None


def _message(error: Shape) -> str:
    """The error without the layout of its line."""
    plain = " ".join((error.sample or error.shape).split())
    return (_LAYOUT.sub("", plain) or plain)[:_LONGEST]


def _with(place: Evidence, why: str) -> Evidence:
    return Evidence(place.source, place.line, place.text, why, place.pointer)
