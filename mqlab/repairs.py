"""Advice against what was changed already: no finding advises what somebody did after its onset."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from mqlab import units
from mqlab.findings import Change, Finding, Severity
from mqlab.words import room

say = room("repairs")

_OWNERS = ("producer", "consumer", "topic", "broker")
"""Whose settings the first word of a change names."""


def names(finding: Finding) -> list[str]:
    """Whom *finding* is about: its subject, its members and its topic."""
    told = (finding.facts.get(key, "") for key in ("members", "topic"))
    return [name for text in (*re.split(" -> |/", finding.subject), *told) for name in text.split(", ") if name]


def repairs(finding: Finding, happened: Sequence[Change]) -> list[Change]:
    """The last change of each setting that the advice of *finding* names, by its subject and since its onset.

    None of a setting that has its old value again.
    """
    if finding.started_at is None:
        return []
    advice = f"{finding.mitigate} {finding.remedy}"
    since, whose = finding.started_at.timestamp(), names(finding)
    first: dict[str, Change] = {}
    last: dict[str, Change] = {}
    for one in happened:
        scope, _, rest = one.what.partition(" ")
        owner, _, key = rest.rpartition(" ")
        named = re.search(rf"(?<![\w.]){re.escape(key)}(?![\w.]*\w)", advice) if key else None
        if scope in _OWNERS and owner in whose and named and one.before is not None and (one.at or 0) > since:
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
    done, seen = max(one.at or 0.0 for one in made), finding.ended_at
    known = seen is not None and until is not None
    again = seen if known and seen is not None and seen.timestamp() > done else None
    over = until if known and again is None else None
    then = None if over is not None else finding.mitigate
    told = say("changed", each=tuple(map(_told, made)), again=again, until=over, then=then)
    return replace(finding, ongoing=finding.ongoing and over is None, mitigate=told)


def _told(change: Change) -> str:
    return say("change", what=change.what, before=change.before, after=change.after, at=units.moment(change.at))
