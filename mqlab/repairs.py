"""Advice against what happened since the onset: what was changed already, and that it has ended."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from mqlab import units
from mqlab.findings import Change, Finding, Severity
from mqlab.words import Text, is_idle, room, seen

say = room("repairs")

_NOW, _OPEN = "mitigate", "ongoing"
"""The text of a class that says what to do at once, and the place by which it tells what goes on from what ended."""
_UNSET = "default"
"""What a change to no value of its own is called, in the room of changes."""
_OWNERS = ("producer", "consumer", "topic", "broker")
"""Whose settings the first word of a change names."""


def names(finding: Finding) -> list[str]:
    """Whom *finding* is about: its subject, its members and its topic."""
    told = (finding.facts.get(key, "") for key in ("members", "topic"))
    return [name for text in (*re.split(" -> |/", finding.subject), *told) for name in text.split(", ") if name]


def its_topic(finding: Finding, happened: Sequence[Change]) -> list[str]:
    """Where *finding* names no topic, the only one of which a setting changed that the advice names."""
    topics = {_owner(one) for one in happened if _advised(finding, one, ("topic",))}
    named = bool(finding.facts.get("topic")) or " -> " in finding.subject
    return [] if named or len(topics) != 1 else list(topics)


def _owner(change: Change) -> str:
    return change.what.partition(" ")[2].rpartition(" ")[0]


def _advised(finding: Finding, change: Change, scopes: Sequence[str] = _OWNERS) -> bool:
    """It is of a setting that the advice of *finding* names."""
    key, advice = change.what.rpartition(" ")[2], f"{finding.mitigate} {finding.remedy}"
    is_setting = change.what.partition(" ")[0] in scopes and _owner(change)
    return bool(is_setting and re.search(rf"(?<![\w.]){re.escape(key)}(?![\w.]*\w)", advice))


def repairs(finding: Finding, happened: Sequence[Change]) -> list[Change]:
    """The last change of each setting that the advice of *finding* names, by its subject and since its onset.

    None of a setting that has its old value again.
    """
    if finding.started_at is None:
        return []
    since, whose = finding.started_at.timestamp(), [*names(finding), *its_topic(finding, happened)]
    first: dict[str, Change] = {}
    last: dict[str, Change] = {}
    for one in happened:
        if _advised(finding, one) and _owner(one) in whose and one.before is not None and (one.at or 0) > since:
            first.setdefault(one.what, one)
            last[one.what] = one
    return [one for what, one in last.items() if one.after != first[what].before]


def with_repairs(finding: Finding, happened: Sequence[Change], until: float | None) -> Finding:
    """*finding*, whose advice begins with the repairs that were made; *until* is how far the material goes.

    What was last seen before they were complete is not called open.
    """
    made = repairs(finding, happened) if finding.severity > Severity.NOTICE else []
    if not made:
        return finding
    done, last = max(one.at or 0.0 for one in made), finding.ended_at
    known = last is not None and until is not None
    again = last if known and last is not None and last.timestamp() > done else None
    over = until if known and again is None else None
    then = None if over is not None else finding.mitigate
    told = say("changed", each=tuple(map(_told, made)), again=again, until=over, then=then)
    remedy = say("back") if all(_is_back(one, happened) for one in made) else finding.remedy
    return replace(finding, ongoing=finding.ongoing and over is None, mitigate=told, remedy=remedy)


def _is_back(repair: Change, happened: Sequence[Change]) -> bool:
    """A change before it, of those that *happened* by time, is taken back: its old value is set again, or none."""
    earlier = [one for one in happened[: happened.index(repair)] if one.what == repair.what]
    unset = isinstance(repair.after, Text) and repair.after.key == _UNSET
    return any(one.before == repair.after or (unset and one.after == repair.before) for one in earlier)


def after_its_end(finding: Finding) -> Finding:
    """*finding*, whose advice for now says that it has ended, unless its class itself says another thing then."""
    now = finding.mitigate
    goes_on = finding.ongoing or not finding.over or finding.ended_at is None or finding.severity is Severity.NOTICE
    own = isinstance(now, Text) and (now.room, now.key) == (finding.incident, _NOW)
    if goes_on or not isinstance(now, Text) or not own or is_idle(now):
        return finding
    if seen(now.room, _NOW, {**now.values, _OPEN: True}) != seen(now.room, _NOW, {**now.values, _OPEN: None}):
        return finding
    return replace(finding, mitigate=say("ended", advice=now))


def _told(change: Change) -> str:
    return say("change", what=change.what, before=change.before, after=change.after, at=units.moment(change.at))
