"""What settings alone make possible: notices, never more. They excuse no symptom and change no verdict.

What the delivery path may lose or double is a table (``delivery_risks.settings``): with the defaults of most releases
something of it is always possible, and a notice for each would hang over every producer. Notices are only what somebody
chose or what is on its way: sizes that contradict the broker's limit, unclean elections that were switched on for
topics with copies, and retention that reaches unread records within a day. ``replica.fetch.max.bytes`` below the limit
is no risk since 0.10.1 (KIP-74), and no setting says that key = value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mqlab.delivery import risks as delivery_risks
from mqlab.delivery.risk_rates import Risk
from mqlab.facts import Facts
from mqlab.findings import Certainty, Evidence, Finding, Severity, finding
from mqlab.models import kafka_defaults, splitting
from mqlab.models.lag import DAY
from mqlab.shared import configured
from mqlab.shared.configured import Value
from mqlab.words import Text, room

say = room("settings-audit")


@dataclass(frozen=True, slots=True)
class _Risk:
    """One owner's setting that makes a class possible."""

    who: str
    told: Text
    evidence: tuple[Evidence, ...]


def risks(facts: Facts) -> list[Finding]:
    """One notice per class, whoever has the settings that make it possible."""
    owners = _producers(facts)
    lowest = _lowest_limit(facts)
    found = {
        "batch-split-loop": list(_looping(facts, owners, lowest)),
        "oversize-record-rejected": list(_oversize(facts, owners, lowest)),
        "unclean-election-loss": list(_chosen(facts)),
        "retention-loss": list(_due(facts)),
    }
    return [_notice(incident, own) for incident, own in found.items() if own]


_USUAL = "1048588"
"""The larger of the two defaults of message.max.bytes, where no broker tells its version."""


def _notice(incident: str, found: Sequence[_Risk]) -> Finding:
    names = ", ".join(dict.fromkeys(r.who for r in found))
    return finding(
        incident,
        names,
        Certainty.POSSIBLE,
        (None, None),
        severity=Severity.NOTICE,
        name=f"{names}/settings",
        statement=say("statement", each=list(dict.fromkeys(r.told for r in found)), incident=incident),
        measures={},
        evidence=(e for r in found for e in r.evidence),
        mitigate=say("mitigate"),
        remedy=say("repair", incident=incident),
        verify=say("check", incident=incident),
        facts={"who": say("who", incident=incident, names=names)},
    )


def _chosen(facts: Facts) -> Iterator[_Risk]:
    """Unclean elections that somebody switched on; as a default they are in the table only."""
    for row in delivery_risks.risks(facts):
        if row.incident == "unclean-election-loss" and row.evidence:
            told = say("set", setting=row.setting, value=row.value, owner=_name(row))
            yield _Risk(_name(row), told, row.evidence)


def _due(facts: Facts) -> Iterator[_Risk]:
    """Groups of which the retention deletes unread records within a day, if all goes on as it did."""
    for row in delivery_risks.risks(facts):
        if row.due_seconds is not None and row.due_seconds < DAY:
            told = say("due", setting=row.setting, value=row.value, owner=_name(row), how=row.how)
            yield _Risk(_name(row), told, row.evidence)


def _name(row: Risk) -> str:
    return row.who or ""


def _producers(facts: Facts) -> list[str | None]:
    """Owners of producer settings as they were last; files of an unknown owner where nobody is named."""
    owners = {s.owner for s in facts.settings if s.scope == "producer"}
    return sorted((o for o in owners if o or owners == {None}), key=lambda o: o or "")


def _lowest_limit(facts: Facts) -> Value:
    """The smallest limit of a user's topic; the brokers' where no topic has its own."""
    topics = {s.owner for s in facts.settings if s.scope == "topic" and s.owner and not s.owner.startswith("__")}
    known = [v for t in sorted(topics) if (v := configured.limit(facts, t, None)) is not None and v.number is not None]
    broker = configured.limit(facts, None, None) or Value("message.max.bytes", _USUAL, None)
    return min(known, key=lambda v: v.number or 0) if known else broker


def _last(facts: Facts, owner: str | None, key: str) -> Value | None:
    """What somebody set or printed last; no default."""
    value = configured.producer_value(facts, owner, key, float("inf"))
    return value if value is not None and value.setting is not None else None


def _above(value: Value | None, lowest: Value) -> bool:
    if value is None or value.number is None or lowest.number is None:
        return False
    return splitting.loop_window(lowest.number, value.number) is not None


def _places(*values: Value | None) -> tuple[Evidence, ...]:
    return tuple(v.setting.evidence for v in values if v is not None and v.setting is not None)


def _looping(facts: Facts, owners: Sequence[str | None], lowest: Value) -> Iterator[_Risk]:
    for owner in owners:
        size, version = _last(facts, owner, "batch.size"), configured.version_of(facts, owner)
        if size and _above(size, lowest) and kafka_defaults.loops(version) is not False:
            yield _Risk(
                owner or "producer",
                _told(owner, size, lowest, str(version) if version else None),
                _places(size, lowest),
            )


def _oversize(facts: Facts, owners: Sequence[str | None], lowest: Value) -> Iterator[_Risk]:
    for owner in owners:
        size = _last(facts, owner, "max.request.size")
        if size and _above(size, lowest):
            yield _Risk(owner or "producer", _told(owner, size, lowest), _places(size, lowest))


def _told(owner: str | None, size: Value, lowest: Value, version: str | None = None) -> Text:
    """A producer's *size* is above the *lowest* limit."""
    known = {"owner": owner or None, "version": version}
    return say("above", setting=size.key, value=size.value, limit=lowest.value, **known)
