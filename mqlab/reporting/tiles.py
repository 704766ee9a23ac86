"""The four tiles of the first screen: what the first finding counted, and what was lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from mqlab import units
from mqlab.delivery.audit import audits
from mqlab.delivery.path import summary
from mqlab.diagnosis import Diagnosis
from mqlab.facts import Facts
from mqlab.findings import Finding, Severity
from mqlab.mqtt.chain_stages import Whereabouts
from mqlab.reporting.evidence import DELIVERY, Dossier, family
from mqlab.shared.benign_lines import ORDERLY
from mqlab.views import audit_json


@dataclass(frozen=True, slots=True)
class Tile:
    """One big number, what it is, and where it comes from."""

    title: str
    value: str
    note: str
    href: str
    muted: bool = False


_TITLES = {
    "amplification_factor": "bytes out per byte in",
    "excess_bytes": "more than needed",
    "orphan_queues": "queues that nobody reads",
    "doubled_queues": "queues that several read",
    "longest_batch_seconds": "longest poll",
    "silent_seconds": "without a heartbeat",
    "restarts": "restarts of members",
    "retries": "tries of one record",
    "rebalances": "rebalances while it lasted",
    "diverted_fraction": "diverted fraction",
    "dropped_records": "messages dropped",
    "duplicated_records": "repeats of records",
    "duplicated_records_estimated": "repeats of records, about",
    "share_of_bytes": "share of bytes",
    "stalled_seconds": "stood still",
    "pending_records": "messages wait",
    "peak_lag": "messages waited at most",
    "drain_seconds": "to drain the backlog",
    "takeovers": "takeovers",
    "reconnects": "reconnects",
    "split_count": "batch splits",
    "retried_records": "records sent again",
    "retry_lines": "retries logged",
    "resubmitted_records": "records submitted again",
    "rejected_records": "records refused",
    "readers": "readers",
    "bytes_out": "bytes out",
    "bytes_in": "bytes in",
}
"""What a tile shows and says, the most telling first."""


def _whole(value: float) -> str:
    return units.number(round(value))


_NOTES: Mapping[str, tuple[str, str, Callable[[float], str]]] = {
    "excess_bytes": ("bytes_out", "of {} sent", units.size),
    "orphan_queues": ("doubled_queues", "and {} that several read", units.number),
    "longest_batch_seconds": ("poll_interval_seconds", "max.poll.interval.ms {}", units.duration),
    "silent_seconds": ("session_timeout_seconds", "session timeout {}", units.duration),
    "duplicated_records": ("records_handled", "of {} records", _whole),
    "pending_records": ("lag_growth_per_second", "{}/s more while it lasted", units.digits),
    "peak_lag": ("lag_growth_per_second", "{}/s more while it lasted", units.digits),
    "drain_seconds": ("peak_lag", "from {} messages", _whole),
}
"""The measure that says how much another one is, and how that is told."""
_LOSSES = {"lost_records": "records lost", "rejected_records": "records refused", "dropped_records": "messages dropped"}
"""What counts as loss to the user, the gravest first."""


def tiles(facts: Facts, diagnosis: Diagnosis, found: tuple[Dossier, ...]) -> tuple[Tile, ...]:
    """Exactly four; the last one is what was lost."""
    counted = _delivered(facts, found) or _measured(facts, found)
    return (*[*counted, *_overview(diagnosis)][:3], lost(facts, diagnosis, found))


def _measured(facts: Facts, found: tuple[Dossier, ...]) -> list[Tile]:
    """What the first finding counted, else its consequences; processes that ended badly third."""
    own = [d for d in found if d is found[0] or d.finding.incident in found[0].finding.explains]
    every = {one.name: (dossier.finding, one) for dossier in reversed(own) for one in dossier.measures}
    if any(finding.measures.get("orphan_queues") for finding, _ in every.values()):
        every.pop("doubled_queues", None)  # its number stands with that of the orphans
    shown = []
    for name, title in _TITLES.items():
        if name in every and every[name][0].measures[name]:
            finding, one = every[name]
            waited = name == "pending_records" and not finding.ongoing
            words = "messages waited at its end" if waited else title
            shown.append(Tile(words, one.value, _note(name, finding), f"#{one.anchor}"))
    return [*shown[:2], *(_exits(facts, found[0].finding) if found else ()), *shown[2:]]


def _note(name: str, finding: Finding) -> str:
    """A second number that says how much the first one is."""
    if name == "amplification_factor":
        return _levels(finding)
    other, words, told = _NOTES.get(name, ("", "", units.digits))
    if not finding.measures.get(other):
        return ""
    note = words.format(told(finding.measures[other]))
    if name == "excess_bytes" and finding.ledger:
        return f"{note} in {units.duration((finding.ledger.ended_at - finding.ledger.started_at).total_seconds())}"
    return note


def _levels(finding: Finding) -> str:
    ledger, peak = finding.ledger, finding.measures.get("peak_amplification_factor")
    edges = (ledger.factor_before, ledger.factor_after) if ledger else (None, None)
    levels = zip(("peak", "before", "after"), (peak, *edges), strict=True)
    return " · ".join(f"{level} {units.factor(value)}" for level, value in levels if value is not None)


def _exits(facts: Facts, first: Finding) -> Iterator[Tile]:
    """Processes that ended badly in the finding's time."""
    exits = int(first.measures.get("crashes", 0)) or exits_during(facts, first)
    if exits and first.severity is not Severity.NOTICE:
        splits, memory = first.measures.get("split_count"), facts.of_kind("out-of-memory")
        notes = (f"{units.number(splits)} batch splits" if splits else "", "out of memory" if memory else "")
        yield Tile("process exits", str(exits), " · ".join(filter(None, notes)), "#story")


def exits_during(facts: Facts, finding: Finding, slack: float = 30.0) -> int:
    """Exits that nobody asked for, from the finding's start until shortly after its end."""
    if finding.started_at is None:
        return 0
    start = finding.started_at.timestamp()
    end = finding.ended_at.timestamp() + slack if finding.ended_at else float("inf")
    exits = [e for e in facts.of_kind("process-exit") if e.value_max not in ORDERLY]
    return sum(e.count for e in exits if e.first_at is not None and start <= e.first_at <= end)


def _delivered(facts: Facts, found: tuple[Dossier, ...]) -> list[Tile]:
    """Where the first finding is about delivery: what was acknowledged, doubled, and only waits."""
    whole = summary(audits(facts))
    if not found or family(found[0].finding.incident) != DELIVERY or not whole.topics:
        return []
    counted = (
        ("messages acknowledged", whole.acked, "as the producers' ledgers note", "acknowledged_records"),
        ("copies too many", whole.extra or None, "in the log or handled again", "duplicated_records"),
        ("messages only wait", whole.pending or None, "not read yet, no loss", "pending_records"),
    )
    shown = [
        Tile(title, units.number(value), note, _anchor(found, measure))
        for title, value, note, measure in counted
        if value is not None
    ]
    if whole.lost and whole.acked:
        least, most = (units.percent(records / whole.acked) for records in (whole.least, whole.most))
        note = "is lost" if whole.least == whole.most else f"between {least} and {most}"
        share = units.percent(whole.lost / whole.acked)
        shown.append(Tile("of what was acknowledged", share, note, _anchor(found, "lost_records")))
    return shown


def lost(facts: Facts, diagnosis: Diagnosis, found: tuple[Dossier, ...]) -> Tile:
    """What was lost: as audits say, else as findings counted, else that nothing was or that nobody knows."""
    whole, anchor = summary(audits(facts)), _anchor(found, "lost_records")
    of = "" if whole.acked is None else f"of {units.number(whole.acked)} acknowledged"
    more = f"{units.counted(len(whole.open), 'topic')} not checked" if whole.open else ""
    note = " · ".join(filter(None, (of, more)))
    if whole.most:
        return Tile("messages lost", whole.words, note, anchor)
    for name, title in _LOSSES.items():
        if counted := [one for dossier in found for one in dossier.measures if one.name == name]:
            total = sum(dossier.finding.measures.get(name, 0) for dossier in found)
            return Tile(title, f"≥ {units.number(total)}", _unchecked(diagnosis), f"#{counted[0].anchor}")
    if whole.open:
        names = whole.open[0] if len(whole.open) == 1 else units.counted(len(whole.open), "topic")
        return Tile("loss", "NOT CHECKED", f"the material cannot say: {names}", "#not-checked", muted=True)
    if whole.topics:
        return Tile("messages lost", "0", note, anchor)
    return _on_the_way(diagnosis) or _by_classes(diagnosis)


def _on_the_way(diagnosis: Diagnosis) -> Tile | None:
    """What became of MQTT messages, where no topic of another system was audited."""
    ways = audit_json.worst([way for way in diagnosis.chains if way.system is None])
    if not ways:
        return None
    outcome, gaps = audit_json.outcome(ways[0]), ways[0].gaps
    title, where, note = {
        audit_json.LOST: ("messages dropped", Whereabouts.DROPPED, "by the broker"),
        audit_json.WAITING: ("messages wait", Whereabouts.QUEUED, "for clients that are away"),
        audit_json.COMPLETE: ("messages lost", None, "every published message arrived"),
        audit_json.UNKNOWN: (
            "messages arrived nowhere",
            Whereabouts.UNKNOWN,
            "by ledgers; no line tells where they are",
        ),
    }[outcome]
    return Tile(title, units.number(sum(gap.messages for gap in gaps if gap.where is where)), note, "#evidence")


def _by_classes(diagnosis: Diagnosis) -> Tile:
    unchecked = _unchecked(diagnosis)
    if any(family(slug) == DELIVERY for slug in diagnosis.clear) and not unchecked:
        return Tile("loss", "none seen", "the classes of loss are clear", "#not-checked")
    note = unchecked or "no record of what was sent and consumed"
    return Tile("loss", "NOT CHECKED", note, "#not-checked", muted=True)


def _unchecked(diagnosis: Diagnosis) -> str:
    slugs = [entry.incident for entry in diagnosis.not_checked if family(entry.incident) == DELIVERY]
    named = slugs[0] if len(slugs) == 1 else f"{len(slugs)} classes of loss and duplication"
    return f"not checked: {named}" if slugs else ""


def _anchor(found: tuple[Dossier, ...], measure: str) -> str:
    """The place of the measure; else the first finding, else what was not checked."""
    places = [f"#{one.anchor}" for dossier in found for one in dossier.measures if one.name == measure]
    return next(iter(places), f"#{found[0].anchor}" if found else "#not-checked")


def _overview(diagnosis: Diagnosis) -> tuple[Tile, ...]:
    material = diagnosis.material
    read = 1 - material.rejected_lines / material.lines if material.lines else 0.0
    lacking = "the material lacks what they need"
    return (
        Tile("classes found clear", str(len(diagnosis.clear)), "", "#not-checked"),
        Tile("classes not checked", str(len(diagnosis.not_checked)), lacking, "#not-checked"),
        Tile("lines understood", units.percent(read), f"of {units.number(material.lines)}", "#coverage"),
    )
