"""What it did to the users: messages, time, clients, bytes, and money where people gave rates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from mqlab import units, words
from mqlab.diagnosis import Diagnosis
from mqlab.findings import Finding
from mqlab.mqtt.chain_stages import Whereabouts
from mqlab.notes import Cost, IncidentNotes
from mqlab.reporting.evidence import Dossier, harmful, sudden
from mqlab.words.filling import Measure

say = words.room("impact")

_EFFECTS = (
    "lost_records", "rejected_records", "dropped_records", "dropped_messages", "diverted_messages",
    "duplicated_records", "duplicated_records_estimated", "queued_messages", "peak_lag", "pending_records",
    "excess_bytes", "resent_bytes", "flood_bytes", "crashes", "restarts", "takeovers", "reconnects", "rebalances",
)  # fmt: skip
"""Measures that users feel, the gravest first; the words have the name of the measure."""
GONE = ("lost_records", "rejected_records", "dropped_records", "diverted_messages")
AGAIN = ("duplicated_records", "duplicated_records_estimated")
"""Measures of messages that did not arrive, and of those that came more than once."""
WASTE = ("excess_bytes", "resent_bytes")
"""Measures of what was sent more than once, or for nothing."""
_KINDS = {
    **{"pending_records": "waiting", "peak_lag": "waiting"},
    **{"lost_records": "lost", "dropped_messages": "lost", "diverted_messages": "lost"},
}
"""Measures that count the same messages at other places."""
_ONCE = (*AGAIN, "peak_lag", "pending_records")
"""Measures of which one group has one amount, whatever brought it about: of two findings the larger holds the other."""
_LEFT = "pending_records"
"""What waits for a group when the material ends: no effect of a loss that happened at one moment, in the log."""
_OF_FIRST = ("rebalances",)
"""Measures that count whatever was there in a finding's own time, so that beside another one's time they mislead."""
_MOST = 7
LASTED = "#story-timeline"
"""The place that proves how long it lasted."""


@dataclass(frozen=True, slots=True)
class Effect:
    """One sentence about what it did, and the place that proves it."""

    text: str
    href: str = ""
    how: str = ""
    """How the number was come by, where it is not read from the material."""


def impact(diagnosis: Diagnosis, found: Sequence[Dossier], notes: IncidentNotes) -> tuple[Effect, ...]:
    """People's own words first, then what was measured, then money."""
    grave = [one for one in found if harmful(one.finding)]
    effects = [Effect(notes.impact, how="incident.yml")] if notes.impact else []
    effects += islice((*effects_of(grave), *_unheard(diagnosis), *_copies(diagnosis)), _MOST)
    if grave:
        lead, seconds = grave[0].finding, lasted(grave[0].finding, notes)
        if seconds and not sudden(lead.incident):
            still = lead.ongoing or not lead.over or lead.ended_at is None
            effects.append(Effect(say("lasted-at-least" if still else "lasted", seconds=seconds), LASTED))
        names = list(dict.fromkeys(one.finding.subject for one in grave))
        effects.append(Effect(say("concerned", subjects=names), "#evidence"))
    return (*effects, *_money([one.finding for one in grave], notes))


def effects_of(found: Sequence[Dossier]) -> Iterator[Effect]:
    """What these findings measured, in the user's terms, the gravest first; what one brought about is told once."""
    told: list[tuple[str, Dossier]] = []
    for name in _EFFECTS:
        kind = _KINDS.get(name, name)
        for one in found[:1] if name in _OF_FIRST else found:
            measures = one.finding.measures if name != _LEFT or not sudden(one.finding.incident) else {}
            if measures.get(name) and not any(kind == other and _kin(one, known, name) for other, known in told):
                told.append((kind, one))
                effect = say(name, amount=Measure(name, units.interval(measures, name)))
                several = sum(other == kind for other, _ in told) > 1
                text = say("of", effect=effect, subject=one.finding.subject) if several else effect
                yield Effect(text, f"#{one.anchor}-{name}")


def _unheard(diagnosis: Diagnosis) -> Iterator[Effect]:
    """What was published while its receiver was not connected, where no finding counts what was lost."""
    if not any(one.measures.get(name) for one in diagnosis.findings for name in GONE):
        for gap in (gap for way in diagnosis.chains for gap in way.gaps if gap.where is Whereabouts.ABSENT):
            yield Effect(say("unheard", messages=gap.messages, who=gap.who), "#evidence")


def _copies(diagnosis: Diagnosis) -> Iterator[Effect]:
    """What ledgers on the way note more than once, at the place that notes most of it, where no finding counts any."""
    counted = {name for one in diagnosis.findings for name in AGAIN if one.measures.get(name)}
    stages = [stage for way in diagnosis.chains for stage in way.stages if stage.again]
    worst = max(stages, key=lambda stage: stage.again, default=None)
    if worst is not None and not counted:
        yield Effect(say("copies", copies=worst.again, who=worst.who), "#evidence")


def _kin(one: Dossier, other: Dossier, name: str) -> bool:
    """Whether *one* counts what the *other* counts: one finding, one that explains the other, a part of it."""
    first, second = one.finding, other.finding
    if one is other or second.incident in first.explains or first.incident in second.explains:
        return True
    same = first.subject.partition("/")[0] == second.subject.partition("/")[0]
    return name in _ONCE and same and first.measures[name] <= second.measures.get(name, 0)


def lasted(lead: Finding, notes: IncidentNotes) -> float | None:
    """Seconds from the onset to the end, else to what people wrote, else to when it was last seen."""
    end = (notes.mitigated or notes.resolved) if lead.ongoing or lead.ended_at is None else None
    if end is None or lead.started_at is None:
        return lead.seconds
    return max(0.0, (end - lead.started_at).total_seconds())


def _money(grave: Sequence[Finding], notes: IncidentNotes) -> Iterator[Effect]:
    if notes.cost is None or not grave:
        return
    parts = [part for part in _parts(grave, notes, notes.cost) if part[1] and part[2]]
    if parts:
        total = sum(count * rate for _, count, rate in parts)
        how = say(
            "by-rates", parts=[say("rate", what=what, count=count, rate=f"{rate:g}") for what, count, rate in parts]
        )
        yield Effect(say("cost", total=f"{total:,.2f}", currency=notes.cost.currency), how=how)


def _parts(grave: Sequence[Finding], notes: IncidentNotes, cost: Cost) -> Iterator[tuple[str, float, float]]:
    """(of what, how much, rate); a message that two findings tell of is counted once, as the larger of both."""
    gone = max((finding.measures.get(name, 0.0) for finding in grave for name in GONE), default=0.0)
    again = max((finding.measures.get(name, 0.0) for finding in grave for name in AGAIN), default=0.0)
    waste = max((finding.measures.get(name, 0.0) for finding in grave for name in WASTE), default=0.0)
    yield "lost", gone, cost.per_lost_message
    yield "repeated", again, cost.per_repeated_message
    yield "minutes", (lasted(grave[0], notes) or 0.0) / 60, cost.per_minute
    yield "gigabytes", waste / 1e9, cost.per_gigabyte
