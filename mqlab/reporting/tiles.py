"""The four tiles of the first screen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mqlab import units
from mqlab.catalogue import INCIDENTS
from mqlab.delivery.audit import audits
from mqlab.delivery.path import Summary, summary
from mqlab.diagnosis import Diagnosis
from mqlab.facts import Facts
from mqlab.findings import Finding, Severity
from mqlab.mqtt.chain_stages import Whereabouts
from mqlab.reporting.evidence import Dossier, Measured
from mqlab.reporting.sections import DELIVERY
from mqlab.views import audit_json


@dataclass(frozen=True, slots=True)
class Tile:
    """One big number, what it is, and where it comes from."""

    title: str
    value: str
    note: str
    href: str
    muted: bool = False


_LOSSES = {"lost_records": "records lost", "rejected_records": "records refused", "dropped_records": "messages dropped"}
"""What counts as loss to the user, the gravest first."""


def delivered(facts: Facts, found: tuple[Dossier, ...]) -> list[Tile]:
    """Beside the loss, where the first finding is about delivery: what was acknowledged, doubled, and only waits."""
    whole = summary(audits(facts))
    if DELIVERY not in INCIDENTS[found[0].finding.incident].notebooks or not whole.topics:
        return []
    tiles = [
        _tile("messages acknowledged", whole.acked, "as the producers' ledgers note", found),
        _tile("copies too many", whole.extra or None, "in the log or handled again", found),
        _tile("messages only wait", whole.pending or None, "not read yet, no loss", found),
        _share(whole, found),
    ]
    return [tile for tile in tiles if tile is not None]


def _share(whole: Summary, found: tuple[Dossier, ...]) -> Tile | None:
    """How much of what was acknowledged is lost."""
    if not whole.lost or not whole.acked:
        return None
    least, most = whole.least / whole.acked, whole.most / whole.acked
    note = "" if least == most else f"between {units.percent(least)} and {units.percent(most)}"
    return Tile("of what was acknowledged", units.percent(whole.lost / whole.acked), note or "is lost",
                _anchor(found, "lost_records"))  # fmt: skip


def lost(facts: Facts, diagnosis: Diagnosis, found: tuple[Dossier, ...]) -> Tile:
    """What was lost: as audits say, else as findings counted, else that nothing was or that nobody knows."""
    whole = summary(audits(facts))
    if whole.most:
        return Tile("messages lost", whole.words, _of(whole), _anchor(found, "lost_records"))
    return _counted(diagnosis, found) or _audited(whole, found) or _on_the_way(diagnosis) or _by_classes(diagnosis)


def _audited(whole: Summary, found: tuple[Dossier, ...]) -> Tile | None:
    if whole.open:
        names = whole.open[0] if len(whole.open) == 1 else units.counted(len(whole.open), "topic")
        return Tile("loss", "NOT CHECKED", f"the material cannot say: {names}", "#not-checked", muted=True)
    return Tile("messages lost", "0", _of(whole), _anchor(found, "lost_records")) if whole.topics else None


def _counted(diagnosis: Diagnosis, found: tuple[Dossier, ...]) -> Tile | None:
    for name, title in _LOSSES.items():
        counted = [one for dossier in found for one in dossier.measures if one.name == name]
        if counted:
            total = sum(dossier.finding.measures.get(name, 0) for dossier in found)
            return Tile(title, f"≥ {units.number(total)}", _unchecked(diagnosis), f"#{counted[0].anchor}")
    return None


def _on_the_way(diagnosis: Diagnosis) -> Tile | None:
    """What became of MQTT messages, where no topic of another system was audited."""
    ways = audit_json.worst([way for way in diagnosis.chains if way.system is None])
    if not ways:
        return None
    told = audit_json.outcome(ways[0])
    missing = {where: sum(gap.messages for gap in ways[0].gaps if gap.where is where) for where in Whereabouts}
    if told == audit_json.LOST:
        return Tile("messages dropped", units.number(missing[Whereabouts.DROPPED]), "by the broker", "#evidence")
    if told == audit_json.WAITING:
        return Tile(
            "messages wait", units.number(missing[Whereabouts.QUEUED]), "for clients that are away", "#evidence"
        )
    if told == audit_json.COMPLETE:
        return Tile("messages lost", "0", "every published message arrived", "#evidence")
    lacking = units.number(missing[Whereabouts.UNKNOWN])
    return Tile("messages arrived nowhere", lacking, "by ledgers; no line tells where they are", "#evidence")


def _by_classes(diagnosis: Diagnosis) -> Tile:
    unchecked = _unchecked(diagnosis)
    if any(slug.endswith("-loss") for slug in diagnosis.clear) and not unchecked:
        return Tile("loss", "none seen", "the classes of loss are clear", "#not-checked")
    return Tile(
        "loss", "NOT CHECKED", unchecked or "no record of what was sent and consumed", "#not-checked", muted=True
    )


def _unchecked(diagnosis: Diagnosis) -> str:
    slugs = [entry.incident for entry in diagnosis.not_checked if entry.incident.endswith("-loss")]
    named = slugs[0] if len(slugs) == 1 else f"{len(slugs)} classes of loss"
    return f"not checked: {named}" if slugs else ""


def _of(whole: Summary) -> str:
    of = "" if whole.acked is None else f"of {units.number(whole.acked)} acknowledged"
    more = f"{units.counted(len(whole.open), 'topic')} not checked" if whole.open else ""
    return " · ".join(part for part in (of, more) if part)


def _tile(title: str, value: int | None, note: str, found: tuple[Dossier, ...]) -> Tile | None:
    if value is None:
        return None
    names = {"copies too many": "duplicated_records", "messages only wait": "pending_records"}
    return Tile(title, units.number(value), note, _anchor(found, names.get(title, "acknowledged_records")))


def _anchor(found: tuple[Dossier, ...], measure: str) -> str:
    """The place of the measure; else the first finding, else what was not checked."""
    places = [f"#{one.anchor}" for dossier in found for one in dossier.measures if one.name == measure]
    return next(iter(places), f"#{found[0].anchor}" if found else "#not-checked")


_OWN = ("longest_batch_seconds", "silent_seconds", "restarts", "retries", "rebalances")
"""Measures that only findings about members have; one of them makes the tiles."""
_TITLES = {
    "longest_batch_seconds": "longest poll",
    "silent_seconds": "without a word",
    "restarts": "restarts of members",
    "retries": "tries of one record",
    "rebalances": "rebalances",
    "duplicated_records": "records handed out again",
    "stalled_seconds": "stood still",
    "peak_lag": "messages waited at most",
}
"""The most telling first."""


def grouped(found: tuple[Dossier, ...]) -> list[Tile]:
    """At most three; none for findings about anything else."""
    first = found[0]
    if not set(_OWN) & first.finding.measures.keys():
        return []
    every = {one.name: (dossier, one) for dossier in reversed(_told(found)) for one in dossier.measures}
    names = [name for name in _TITLES if name in every and every[name][0].finding.measures[name]]
    return [_group_tile(name, *every[name]) for name in names[:3]]


def _told(found: tuple[Dossier, ...]) -> list[Dossier]:
    """The first finding and its consequences."""
    first = found[0]
    return [d for d in found if d is first or d.finding.incident in first.finding.explains]


def _group_tile(name: str, dossier: Dossier, one: Measured) -> Tile:
    return Tile(_TITLES[name], one.value, _note(name, dossier.finding.measures), f"#{one.anchor}")


def _note(name: str, measures: Mapping[str, float]) -> str:
    if name == "longest_batch_seconds" and "poll_interval_seconds" in measures:
        return f"{units.duration(measures['poll_interval_seconds'])} may pass between two polls"
    if name == "silent_seconds" and "session_timeout_seconds" in measures:
        return f"session timeout {units.duration(measures['session_timeout_seconds'])}"
    if name == "duplicated_records" and "records_handled" in measures:
        return f"of {units.number(round(measures['records_handled']))} records"
    if name == "peak_lag" and "lag_growth_per_second" in measures:
        return f"{units.digits(measures['lag_growth_per_second'])}/s more while it lasted"
    return ""


_HEADLINES = (
    "orphan_queues", "doubled_queues", "diverted_fraction", "dropped_records", "duplicated_records", "share_of_bytes",
    "peak_lag", "pending_records", "takeovers", "reconnects", "rebalances", "longest_batch_seconds", "split_count",
    "retried_records", "retry_lines", "resubmitted_records", "rejected_records", "readers",
    "drain_seconds", "bytes_out", "bytes_in",
)  # fmt: skip
"""What a tile shows where there is no amplification, the most telling first."""

_ALLOCATED = {
    "orphan_queues": "queues that nobody reads",
    "doubled_queues": "queues that several read",
    "duplicated_records": "deliveries were repeats",
    "duplicated_records_estimated": "deliveries were repeats, about",
    "pending_records": "messages wait",
}
"""What a finding about the allocation of queues counts, in the words of the user."""


def tiles(facts: Facts, diagnosis: Diagnosis, found: tuple[Dossier, ...]) -> tuple[Tile, ...]:
    """Exactly four."""
    if not found:
        return (*_overview(diagnosis), lost(facts, diagnosis, found))
    first = found[0]
    loss = lost(facts, diagnosis, found)
    about = delivered(facts, found)
    if about:
        return (*[*about, *_overview(diagnosis)][:3], loss)
    allocated = _allocated(found)
    if allocated:
        shown = [*allocated, *_drained(found)]
        return (*shown[:4],) if len(shown) > 3 else (*[*shown, *_overview(diagnosis)][:3], loss)
    members = grouped(found)
    if members:
        return (*[*members, *_overview(diagnosis)][:3], loss)
    amplified, damage = (_factor(first), _excess(first)), _damage(facts, first)
    others = [tile for name in _HEADLINES for tile in _headline(first, name)]
    ranked = (*amplified, damage, *others) if any(amplified) else (*others[:2], damage, *others[2:])
    shown = [tile for tile in (*ranked, *_overview(diagnosis)) if tile]
    return (*shown[:3], loss)


def _factor(first: Dossier) -> Tile | None:
    measures = first.finding.measures
    if "amplification_factor" not in measures:
        return None
    ledger = first.finding.ledger
    levels = (
        ("peak", measures.get("peak_amplification_factor")),
        ("before", ledger.factor_before if ledger else None),
        ("after", ledger.factor_after if ledger else None),
    )
    note = " · ".join(f"{name} {units.factor(value)}" for name, value in levels if value is not None)
    value = units.factor(measures["amplification_factor"])
    return Tile("bytes out per byte in", value, note, f"#{first.anchor}-amplification_factor")


def _excess(first: Dossier) -> Tile | None:
    measures = first.finding.measures
    if "excess_bytes" not in measures:
        return None
    whole = f"of {units.size(measures['bytes_out'])} sent" if "bytes_out" in measures else ""
    ledger = first.finding.ledger
    length = f" in {units.duration((ledger.ended_at - ledger.started_at).total_seconds())}" if ledger else ""
    value = units.size(measures["excess_bytes"])
    return Tile("more than needed", value, whole + length, f"#{first.anchor}-excess_bytes")


def _damage(facts: Facts, first: Dossier) -> Tile | None:
    """Processes that ended badly in the finding's time; other damage is a measure."""
    exits = int(first.finding.measures.get("crashes", 0)) or exits_during(facts, first.finding)
    if not exits or first.finding.severity is Severity.NOTICE:
        return None
    splits = first.finding.measures.get("split_count")
    memory = sum(episode.count for episode in facts.of_kind("out-of-memory"))
    notes = (f"{units.number(splits)} batch splits" if splits else "", "out of memory" if memory else "")
    return Tile("process exits", str(exits), " · ".join(note for note in notes if note), "#story")


def exits_during(facts: Facts, finding: Finding, slack: float = 30.0) -> int:
    """Exits from the finding's start until shortly after its end."""
    if finding.started_at is None:
        return 0
    start = finding.started_at.timestamp()
    end = finding.ended_at.timestamp() + slack if finding.ended_at else float("inf")
    return sum(e.count for e in facts.of_kind("process-exit") if e.first_at is not None and start <= e.first_at <= end)


def _allocated(found: tuple[Dossier, ...]) -> list[Tile]:
    """At most three of what a finding about the allocation counts; none for other findings."""
    first = found[0]
    counted = {one.name: one for one in first.measures if first.finding.measures[one.name]}
    if not {"orphan_queues", "doubled_queues"} & counted.keys():
        return []
    several = f"and {counted['doubled_queues'].value} that several read" if "doubled_queues" in counted else ""
    grows = first.finding.measures.get("lag_growth_per_second")
    rate = "" if grows is None else f"{units.digits(grows)}/s more while it lasted"
    notes = {"orphan_queues": several, "pending_records": rate}
    titles = _ALLOCATED if first.finding.ongoing else {**_ALLOCATED, "pending_records": "messages waited at its end"}
    names = [name for name in _ALLOCATED if name in counted]
    if "orphan_queues" in names and "doubled_queues" in names:
        names.remove("doubled_queues")
    return [
        Tile(titles[name], units.number(round(first.finding.measures[name])), notes.get(name, ""),
             f"#{counted[name].anchor}")
        for name in names[:3]
    ]  # fmt: skip


def _drained(found: tuple[Dossier, ...]) -> list[Tile]:
    """How long the backlog took that the first finding left; told by it or by its consequence."""
    tiles = [
        Tile("to drain the backlog", one.value, _from_peak(dossier), f"#{one.anchor}")
        for dossier in found
        if dossier is found[0] or dossier.finding.incident in found[0].finding.explains
        for one in dossier.measures
        if one.name == "drain_seconds"
    ]
    return tiles[:1]


def _from_peak(dossier: Dossier) -> str:
    peak = dossier.finding.measures.get("peak_lag")
    return f"from {units.number(round(peak))} messages" if peak else ""


def _headline(first: Dossier, name: str) -> list[Tile]:
    return [Tile(one.words, one.value, "", f"#{one.anchor}") for one in first.measures if one.name == name]


def _overview(diagnosis: Diagnosis) -> tuple[Tile, ...]:
    material = diagnosis.material
    read = 1 - material.rejected_lines / material.lines if material.lines else 0.0
    return (
        Tile("classes found clear", str(len(diagnosis.clear)), "", "#not-checked"),
        Tile(
            "classes not checked", str(len(diagnosis.not_checked)), "the material lacks what they need", "#not-checked"
        ),
        Tile("lines understood", units.percent(read), f"of {units.number(material.lines)}", "#coverage"),
    )
