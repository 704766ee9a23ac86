"""Advice against what was changed already: no finding advises what somebody did after its onset."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from mqlab import units
from mqlab.findings import Change, Finding, Severity
from mqlab.shared.wording import few

_OWNERS = ("producer", "consumer", "topic", "broker")
"""Whose settings the first word of a change names."""
_SHOWN = 3


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
    told = f"Changed already: {few([_told(one) for one in made], _SHOWN)}."
    done, seen = max(one.at or 0.0 for one in made), finding.ended_at
    if seen is None or until is None:
        return replace(finding, mitigate=" ".join((told, finding.mitigate)))
    if seen.timestamp() > done:
        again = f"It was seen after that, last at {units.clock(seen)}."
        return replace(finding, mitigate=" ".join((told, again, finding.mitigate)))
    gone = f"It was not seen after that, up to {units.clock(until)}. Verify before you change more."
    return replace(finding, ongoing=False, mitigate=" ".join((told, gone)))


def _told(change: Change) -> str:
    return f"{change.what} {change.before} → {change.after} ({units.clock(change.at)})"
