"""Tiles about delivery: what audits of topics say was lost, doubled, or only waits."""

from __future__ import annotations

from mqlab import units
from mqlab.delivery.audit import audits
from mqlab.delivery.path import Summary, summary
from mqlab.diagnosis import Diagnosis
from mqlab.facts import Facts
from mqlab.mqtt.chain_stages import Whereabouts
from mqlab.reporting.evidence import Dossier
from mqlab.reporting.tile import Tile
from mqlab.views import audit_json
from mqlab.views.delivery import ABOUT_DELIVERY

_LOSSES = {"lost_records": "records lost", "rejected_records": "records refused", "dropped_records": "messages dropped"}
"""What counts as loss to the user, the gravest first."""


def delivered(facts: Facts, found: tuple[Dossier, ...]) -> list[Tile]:
    """Beside the loss, where the first finding is about delivery: what was acknowledged, doubled, and only waits."""
    whole = summary(audits(facts))
    if found[0].finding.incident not in ABOUT_DELIVERY or not whole.topics:
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
