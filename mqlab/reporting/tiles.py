"""The four tiles of the first screen: factor, excess, damage, loss; or what stands in their place."""

from __future__ import annotations

from mqlab import units
from mqlab.diagnosis import Diagnosis
from mqlab.facts import Facts
from mqlab.findings import Finding, Severity
from mqlab.reporting.delivery_tiles import delivered, lost
from mqlab.reporting.evidence import Dossier
from mqlab.reporting.group_tiles import grouped
from mqlab.reporting.tile import Tile

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
