"""The root cause as a chain: trigger, mechanism, amplifier, consequence, each with its proof or marked as inferred.

Nothing is invented: a link that the material does not show is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from mqlab import units
from mqlab.catalogue import INCIDENTS
from mqlab.diagnosis import Diagnosis
from mqlab.facts import Facts
from mqlab.findings import Change, Finding
from mqlab.frames import where
from mqlab.reporting.evidence import Dossier, by_time
from mqlab.reporting.impact import effects_of

_BEFORE, _AFTER = 120.0, 10.0
"""Seconds around the onset within which a change of those concerned may have triggered it."""
_WORD = re.compile(r"[\w.@%$-]{4,}")
_KINDS = frozenset(("broker", "client", "consumer", "group", "members", "MQTT", "process", "producer", "topic"))
"""What a change is of, which names nobody."""
_MOST = 3


@dataclass(frozen=True, slots=True)
class Link:
    """One link of the chain."""

    role: str
    text: str
    href: str = ""
    proof: str = ""
    """Where it was read, or how it is known."""
    inferred: bool = False


def causes(facts: Facts, diagnosis: Diagnosis, found: Sequence[Dossier]) -> tuple[Link, ...]:
    """The chain of the leading finding; empty where nothing was found."""
    if not found or found[0].finding.incident != diagnosis.verdict.incident:
        return ()
    lead = found[0]
    return (
        *_triggers(diagnosis, lead),
        _mechanism(lead),
        *islice(_amplifiers(facts, lead), _MOST),
        *_consequences(lead, found),
    )


def _triggers(diagnosis: Diagnosis, lead: Dossier) -> Iterator[Link]:
    told = lead.finding.facts
    if "trigger" in told:
        what, _, place = told["trigger"].partition("  ")
        yield Link("Trigger", what, _evidence(lead, place), place)
    elif "cause" in told:
        yield Link("Trigger", told["cause"], f"#{lead.anchor}", "by the lines of the finding")
    else:
        near = [one for one in enumerate(by_time(diagnosis.changes), start=1) if _concerns(one[1], lead.finding)]
        for number, change in islice(near, 1):
            yield Link(
                "Trigger", f"{units.clock(change.at)} {change.what}: {change.before} → {change.after or '—'}",
                f"#C{number}", "by its moment", inferred=True,
            )  # fmt: skip


def _concerns(change: Change, finding: Finding) -> bool:
    """Whether it happened to somebody whom the finding names, just before the finding began."""
    if change.at is None or change.before is None or finding.started_at is None:
        return False
    if not -_BEFORE <= change.at - finding.started_at.timestamp() <= _AFTER:
        return False
    names = set(_WORD.findall(change.what)) - _KINDS
    return any(name in f"{finding.subject} {finding.statement}" for name in names)


def _mechanism(lead: Dossier) -> Link:
    incident = INCIDENTS.get(lead.finding.incident)
    proof = f"{lead.finding.certainty.name.lower()}, {units.counted(len(lead.finding.evidence), 'place')} of evidence"
    return Link("Mechanism", incident.what if incident else lead.finding.statement, f"#{lead.anchor}", proof)


def _amplifiers(facts: Facts, lead: Dossier) -> Iterator[Link]:
    """Settings among the evidence that were in force when it began: what made it possible or worse."""
    begin = lead.finding.started_at
    latest = begin.timestamp() + _AFTER if begin else float("inf")
    known = {(one.source, one.line): one for one in facts.settings if one.at is None or one.at <= latest}
    told_of: set[tuple[str, str]] = set()
    for number, place in enumerate(lead.finding.evidence, start=1):
        setting = known.get((place.source, place.line or 0))
        if setting is not None and (setting.key, setting.value) not in told_of:
            told_of.add((setting.key, setting.value))
            owner = f"{setting.scope} {setting.owner or ''}".strip()
            told = f"{setting.key} = {setting.value} ({owner})" + (f": {place.why}" if place.why else "")
            yield Link("Amplifier", told, f"#{lead.anchor}-e{number}", where(place))
    if "cause of the id" in lead.finding.facts:
        yield Link("Amplifier", lead.finding.facts["cause of the id"], f"#{lead.anchor}", "by the ids and addresses")


def _consequences(lead: Dossier, found: Sequence[Dossier]) -> Iterator[Link]:
    for effect in islice(effects_of([lead]), _MOST - 1):
        yield Link("Consequence", effect.text, effect.href, "measured")
    for one in found[1:]:
        if one.finding.incident in lead.finding.explains:
            first, _, _ = one.finding.statement.partition(". ")
            proof = one.finding.certainty.name.lower()
            yield Link("Consequence", f"{one.finding.incident}: {first.rstrip('.')}", f"#{one.anchor}", proof)


def _evidence(dossier: Dossier, place: str) -> str:
    """The anchor of the evidence that lies at *place*, else of the finding."""
    numbers = (number for number, one in enumerate(dossier.finding.evidence, start=1) if where(one) == place)
    return next((f"#{dossier.anchor}-e{number}" for number in numbers), f"#{dossier.anchor}")
