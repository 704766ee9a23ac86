"""The cards of the first screen: what the incident cost, at most four; where nothing was wrong, what was watched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from mqlab import headline, units, words
from mqlab.delivery.audit import audits
from mqlab.delivery.path import Summary, bounded, summary
from mqlab.delivery.rows import Outcome
from mqlab.diagnosis import Diagnosis
from mqlab.facts import Facts
from mqlab.figures.timeline import lag_points
from mqlab.findings import Finding, Severity
from mqlab.measure_names import is_ours
from mqlab.mqtt.chain_stages import Step, Whereabouts
from mqlab.reporting.evidence import DELIVERY, Dossier, family
from mqlab.shared.benign_lines import ORDERLY
from mqlab.views import audit_json

say = words.room("tiles")

MOST = 4
_NONE_SEEN = say("none-seen")


@dataclass(frozen=True, slots=True)
class Tile:
    """One big number, what it is, and where it comes from."""

    title: str
    value: str
    note: str
    href: str
    muted: bool = False


_LOST, _AGAIN, _WAITING = "lost", "again", "waiting"
_COSTS: Mapping[str, Sequence[str]] = {
    _LOST: ("lost_records", "diverted_messages", "dropped_messages", "dropped_records", "missing_messages"),
    "refused": ("rejected_records", "rejected_sends"),
    _AGAIN: (
        "duplicated_records",
        "duplicated_records_estimated",
        "delivered_rows",
        "redelivered_messages",
        "replayed_messages",
        "extra_copies",
        "resubmitted_records",
        "retried_records",
    ),
    "failed": ("failed_records", "refused_requests"),
    _WAITING: ("queued_messages", "stuck_lag", "peak_lag", "pending_records", "longest_delay_seconds"),
    "standing": ("stalled_seconds", "down_seconds", "longest_outage_seconds"),
    "traffic": ("excess_bytes", "resent_bytes", "flood_bytes", "memory_growth_bytes_per_hour", "amplification_factor"),
    "exits": ("crashes",),
    "queues": ("orphan_queues", "doubled_queues"),
    "disturbed": ("takeovers", "fencings", "lives", "losses", "rebalances", "denied"),
    "clients": ("clients", "dead_members", "expired_members", "members"),
}
"""Kinds of cost, the gravest first; of each kind one measure is shown, the one that the title tells before others."""


def _whole(value: float) -> str:
    return units.number(round(value))


_NOTES: Mapping[str, Mapping[str, str]] = {
    "lost_records": {"published_messages": "of-published"},
    "diverted_messages": {"published_messages": "of-published-meanwhile"},
    "dropped_messages": {"distinct_messages": "copies-among"},
    "delivered_rows": {"distinct_messages": "of-different"},
    "duplicated_records": {"records_handled": "of-records"},
    "excess_bytes": {"bytes_out": "of-sent", "amplification_factor": "times-in"},
    "resent_bytes": {"bytes_out": "of-sent", "amplification_factor": "times-in"},
    "flood_bytes": {"flood_seconds": "within"},
    "stuck_lag": {"lag_growth_per_second": "growth-while"},
    "orphan_queues": {"doubled_queues": "doubled"},
    "pending_records": {"lag_growth_per_second": "growth-while"},
    "peak_lag": {"lag_growth_per_second": "growth-while", "drain_seconds": "worked-off"},
    "queued_messages": {"queue_growth_per_second": "growth"},
    "clients": {"down_seconds": "at-least"},
    "takeovers": {"period_seconds": "one-every"},
}
"""Measures that say how much another one is, and how that is told."""
_NEEDS = {"amplification_factor": "healthy_factor"}
"""Who makes the data itself receives next to nothing: a factor tells something of hosts that usually pass data on."""


def tiles(facts: Facts, diagnosis: Diagnosis, found: tuple[Dossier, ...]) -> tuple[Tile, ...]:
    """At most four costs; what was lost is always among them, be it that nobody knows."""
    first = headline.lead(diagnosis)
    if first is None:
        return _watched(facts, diagnosis, found)
    whole = summary(audits(facts))
    costs = dict(_costs(facts, diagnosis, found, whole, first))
    shown = [*costs.values(), *_others(found, first), *_lasted(first)]
    loss = lost(facts, diagnosis, found)
    if _LOST in costs or loss.value in {one.value for one in shown}:
        return tuple(shown[:MOST])
    if loss.value == _NONE_SEEN:
        return (*shown, *(() if costs.keys() & _OF_ALL else (loss,)))[:MOST]
    return (*shown[: MOST - 1], loss)


def _costs(
    facts: Facts, diagnosis: Diagnosis, found: Sequence[Dossier], whole: Summary, first: Finding
) -> Iterator[tuple[str, Tile]]:
    """A card for each kind of cost that was counted, the gravest first: by the finding, its consequences, audits."""
    near = [one for one in found if one.finding is first or first.brings(one.finding)]
    far = [one for one in found if one not in near and one.finding.severity > Severity.NOTICE]
    told = headline.counted(diagnosis)
    for kind, measures in _COSTS.items():
        names = sorted(measures, key=lambda name: name not in told)
        asked = [*near, *far] if kind in _OF_ALL else near
        cards = (_card(diagnosis, one, name) for one in asked for name in names)
        tile = next(filter(None, cards), None)
        if kind == _LOST and whole.most:
            yield kind, Tile(_title("lost_records"), whole.words, _share(whole), _anchor(found, "lost_records"))
        elif tile is not None:
            yield kind, tile
        elif (audited := _audited(kind, whole, found) or _followed(kind, diagnosis)) is not None:
            yield kind, audited
        elif kind == "exits" and (count := exits_during(facts, first)) and first.severity > Severity.NOTICE:
            yield kind, Tile(_title("crashes", one=count == 1), str(count), "", "#when")


_OF_ALL = frozenset({_LOST, "refused", "failed"})
"""Kinds that count whichever finding tells of them."""


def _card(diagnosis: Diagnosis, dossier: Dossier, name: str) -> Tile | None:
    """The card of one measure; None where it was not counted, or counted as nothing."""
    value = headline.amount(diagnosis, dossier.finding, name)
    if not value:
        return None
    notes = (
        say(note, amount=dossier.finding.measures[other], whole=round(dossier.finding.measures[other]))
        for other, note in _NOTES.get(name, {}).items()
        if dossier.finding.measures.get(other, 0) >= 1 and _NEEDS.get(other, other) in dossier.finding.measures
    )
    return Tile(_title(name, one=value == "1"), value, words.listed(notes, " · "), f"#{dossier.anchor}-{name}")


def _title(what: str, *, one: bool = False) -> str:
    """What a card counts, *one* of it or several."""
    return say("title", what=what, one=one)


def _audited(kind: str, whole: Summary, found: Sequence[Dossier]) -> Tile | None:
    """What audits counted of it, where no finding did."""
    if kind == _AGAIN and whole.extra:
        anchor = _anchor(found, "duplicated_records")
        return Tile(_title("extra_copies"), units.number(whole.extra), say("handled-again"), anchor)
    if kind == _WAITING and whole.pending:
        anchor = _anchor(found, "pending_records")
        return Tile(_title("only_wait"), units.number(whole.pending), say("not-read"), anchor)
    return None


def _followed(kind: str, diagnosis: Diagnosis) -> Tile | None:
    """What was counted of it on the way over a bridge or within MQTT, where neither findings nor audits did."""
    copies = max((stage.again for way in diagnosis.chains for stage in way.stages), default=0)
    if kind != _AGAIN or not copies:
        return None
    return Tile(_title("extra_copies"), units.number(copies), say("by-ledgers"), "#evidence")


def _share(whole: Summary) -> str:
    """Of how many, and which topics nobody could check."""
    of = None if whole.acked is None else say("share", share=whole.lost / whole.acked, acked=whole.acked)
    more = say("topics-open", topics=len(whole.open)) if whole.open else None
    return words.listed(filter(None, (of, more)), " · ")


def _others(found: Sequence[Dossier], first: Finding) -> Iterator[Tile]:
    """What a team's own detector counted."""
    for one in (measured for dossier in found if dossier.finding is first for measured in dossier.measures):
        if first.measures[one.name] and not is_ours(one.name):
            yield Tile(one.words, one.value, "", f"#{one.anchor}")


def _lasted(first: Finding) -> Iterator[Tile]:
    """How long it lasted, as far as the material shows."""
    if first.seconds and first.ongoing:
        yield Tile(_title("lasts"), units.duration(first.seconds), say("open"), "#when")
    elif first.seconds:
        yield Tile(_title("lasted"), units.duration(first.seconds), say("until", at=first.ended_at), "#when")


def exits_during(facts: Facts, finding: Finding, slack: float = 30.0) -> int:
    """Exits that nobody asked for, from the finding's start until shortly after its end."""
    if finding.started_at is None:
        return 0
    start = finding.started_at.timestamp()
    end = finding.ended_at.timestamp() + slack if finding.ended_at else float("inf")
    exits = [e for e in facts.of_kind("process-exit") if e.value_max not in ORDERLY]
    return sum(e.count for e in exits if e.first_at is not None and start <= e.first_at <= end)


def _watched(facts: Facts, diagnosis: Diagnosis, found: tuple[Dossier, ...]) -> tuple[Tile, ...]:
    """Where nothing leads: what arrived, what waited, how long it was watched, and what was lost."""
    material, loss = diagnosis.material, lost(facts, diagnosis, found)
    shown = [*_unexplained(diagnosis), *_arrived(facts, diagnosis), *_waited(facts)]
    if material.watched is not None:
        seconds = say("watched", seconds=material.watched)
        shown.append(Tile(_title("watched"), seconds, say("in-files", files=material.files), "#coverage"))
    return (*shown[: MOST - 1], loss)


def _unexplained(diagnosis: Diagnosis) -> Iterator[Tile]:
    if diagnosis.symptoms:
        title = _title("symptoms", one=len(diagnosis.symptoms) == 1)
        yield Tile(title, str(len(diagnosis.symptoms)), diagnosis.symptoms[0], "#evidence")


def _arrived(facts: Facts, diagnosis: Diagnosis) -> Iterator[Tile]:
    """How many messages the ledgers note, to the log or to MQTT's brokers."""
    whole = summary(audits(facts))
    sent = [
        stage for way in diagnosis.chains if way.system is None for stage in way.stages if stage.step is Step.PUBLISHED
    ]
    if whole.acked:
        note = say("in-topics", topics=whole.topics)
        yield Tile(_title("acknowledged"), units.number(whole.acked), note, "#evidence")
    elif sent and sent[0].messages:
        yield Tile(_title("published"), units.number(sent[0].messages), say("as-noted"), "#evidence")


def _waited(facts: Facts) -> Iterator[Tile]:
    peaks = {group: max(behind for _, behind in points) for group, points in lag_points(facts).items() if points}
    for group, peak in list(peaks.items())[:1]:
        yield Tile(_title("peak_lag"), _whole(peak), say("for-group", group=group), "#when")


def lost(facts: Facts, diagnosis: Diagnosis, found: Sequence[Dossier]) -> Tile:
    """What is known of losses where none was counted: that nothing was lost, or that nobody knows, and why."""
    whole, anchor = summary(audits(facts)), _anchor(found, "lost_records")
    if whole.open:
        topic = whole.open[0] if len(whole.open) == 1 else None
        note = say("cannot-say", topic=topic, topics=len(whole.open))
        return Tile(_title("loss"), say("not-checked"), note, "#not-checked", muted=True)
    if whole.topics:
        of = "" if whole.acked is None else say("of-acknowledged", acked=whole.acked)
        from_log = any(one.outcome is Outcome.IN_LOG for one in audits(facts))
        return Tile(_title("lost_from_log" if from_log else "lost_records"), "0", of, anchor)
    return _on_the_way(diagnosis) or _by_classes(diagnosis)


def _on_the_way(diagnosis: Diagnosis) -> Tile | None:
    """What became of MQTT messages, where no topic of another system was audited."""
    ways = audit_json.worst([way for way in diagnosis.chains if way.system is None])
    if not ways:
        return None
    for what, where in _MISSING.items():
        own = [gap for gap in ways[0].gaps if gap.where in where]
        if own:
            low, many, high = (sum(getattr(gap, name) for gap in own) for name in ("low", "messages", "high"))
            value = bounded(many, low, high) if Whereabouts.QUEUED not in where else units.number(many)
            title = _title(what, one=many == high == 1)
            return Tile(title, value, say("missing", what=what), "#evidence")
    if audit_json.outcome(ways[0]) == audit_json.COMPLETE:
        return Tile(_title("lost_records"), "0", say("accounted"), "#evidence")
    return Tile(_title("loss"), _NONE_SEEN, say("as-far"), "#evidence")


_MISSING = {
    "lost_records": (Whereabouts.LOST, Whereabouts.ABSENT),
    "dropped_messages": (Whereabouts.DROPPED,),
    "nowhere": (Whereabouts.UNKNOWN,),
    "waiting": (Whereabouts.QUEUED,),
}
"""Where messages are that did not arrive, the gravest first."""


def _by_classes(diagnosis: Diagnosis) -> Tile:
    unchecked = _unchecked(diagnosis)
    if any(family(slug) == DELIVERY for slug in diagnosis.clear) and not unchecked:
        return Tile(_title("loss"), _NONE_SEEN, say("no-sign"), "#not-checked")
    note = unchecked or say("no-record")
    return Tile(_title("loss"), say("not-checked"), note, "#not-checked", muted=True)


def _unchecked(diagnosis: Diagnosis) -> str:
    slugs = [entry.incident for entry in diagnosis.not_checked if family(entry.incident) == DELIVERY]
    incident = slugs[0] if len(slugs) == 1 else None
    return say("classes-open", incident=incident, classes=len(slugs)) if slugs else ""


def _anchor(found: Sequence[Dossier], measure: str) -> str:
    """The place of the measure; else the first finding, else what was not checked."""
    places = [f"#{one.anchor}" for dossier in found for one in dossier.measures if one.name == measure]
    return next(iter(places), f"#{found[0].anchor}" if found else "#not-checked")
