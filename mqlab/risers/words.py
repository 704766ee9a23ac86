"""What changed first and what followed, in words: one after the other, or that nobody can say which was first."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, tzinfo

from mqlab.findings import Certainty, Finding
from mqlab.risers.order import consequences, first
from mqlab.risers.rows import CLOCKS, Riser
from mqlab.units import digits, percent, size

_MOST = 3


def order(risers: Sequence[Riser], tz: tzinfo = UTC, most: int = _MOST) -> str:
    """The first ones, then those that surely came after them; empty where nothing left its level.

    What one client does, such as to connect and to take over, is one thing.
    """
    began, then = first(risers), consequences(risers)
    if not began:
        return ""
    told = "; ".join(words(one, tz) for one in began[:most])
    told += f"; {len(began) - most} more" if len(began) > most else ""
    if len(began) > 1 and not (began[0].who and len({one.who for one in began}) == 1):
        told = f"cannot tell which came first: {told}"
    if then:
        told += f"; then {words(then[0], tz)}"
        told += f" and {len(then) - 1} more" if len(then) > 1 else ""
    return told


def during(risers: Sequence[Riser], lead: Finding) -> Sequence[Riser]:
    """What changed with a proven incident: what was over before is no part of it, and what came later began nothing."""
    if lead.started_at is None or lead.certainty is not Certainty.PROVEN:
        return risers
    begin = lead.started_at.timestamp()
    since = [one for one in risers if one.at + CLOCKS >= begin]
    return since if any(one.since <= begin + CLOCKS for one in since) else ()


def words(one: Riser, tz: tzinfo = UTC) -> str:
    """``takeovers of press-07 0 -> 5.00 in 5 s (100.0 % of all) between 11:40:15 and 11:40:20``."""
    who = f" of {one.who}" if one.who else ""
    part = f" ({percent(one.share)} of all)" if one.share is not None else ""
    since, until = (f"{datetime.fromtimestamp(at, tz):%H:%M:%S}" for at in (one.since, one.at))
    values = f"{_value(one.before, one.unit)} -> {_value(one.after, one.unit)}{_unit(one.unit)}"
    return f"{one.quantity}{who} {values}{part} between {since} and {until}"


def _value(value: float, unit: str) -> str:
    return size(value) if unit.startswith("B") else digits(value)


def _unit(unit: str) -> str:
    left = unit.removeprefix("B")
    return left if left.startswith("/") or not left else f" {left}"
