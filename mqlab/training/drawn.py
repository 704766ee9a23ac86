"""A key drawn from any capture and its truth file: a team's own incidents and the lab's become exercises.

What is right comes from the truth file (class, window, evidence, events) and, where mqlab's first finding is of that
class, from its numbers and lines. Why another class is wrong is what mqlab says of it on this material. The texts are
plain; ``mqlab train instructor make --draft`` writes them down so that an instructor may better them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mqlab import units
from mqlab.capture import Capture
from mqlab.catalogue import INCIDENTS, Incident
from mqlab.diagnosis import Diagnosis
from mqlab.findings import Finding
from mqlab.training.keys import lines, places

_FAMILIES = {
    "Traffic amplification": "traffic",
    "Delivery: loss and duplication": "delivery",
    "Rebalance and stalled consumption": "rebalances",
    "MQTT sessions and limits": "sessions",
}
_ASKED = (
    "lost_records", "dropped_messages", "diverted_messages", "duplicated_records", "extra_copies", "bytes_rejected",
    "split_count", "retried_records", "rejected_records", "takeovers", "peak_lag", "replayed_messages", "losses",
    "rebalances", "clients", "members",
)  # fmt: skip
"""Measures that can be asked for, those that matter most first."""
_LOOK_ALIKES = 6


def key_of(capture: Capture, truth: Mapping[str, Any], seed: int = 0) -> dict[str, Any]:
    """The key of *capture*, whose class, window and events *truth* tells; other seeds draw other look-alikes."""
    incident, diagnosis = truth["class"], capture.diagnosis
    found = next((one for one in diagnosis.findings if one.incident == incident), None)
    begin, end = _window(truth, diagnosis)
    known = INCIDENTS.get(incident)
    others = _look_alikes(truth, known, random.Random(seed))
    key: dict[str, Any] = {
        "title": truth.get("title", "Something happened here, or nothing"),
        "chapter": _FAMILIES.get(known.family, "chains") if known else "groups",
        "level": 2,
        "minutes": 20,
        "story": truth.get("symptom", _story(diagnosis)),
        "alarm": units.iso(begin + (end - begin) / 3),
        "mechanism": {
            "because": truth.get("root_cause") or (found.statement if found else diagnosis.verdict.statement),
            "wrong": {slug: _why_not(diagnosis, slug) for slug in others if slug not in truth.get("also_true", ())},
            "partial": dict.fromkeys(truth.get("also_true") or (), "It is there too, but it is not the cause."),
        },
        "order": list(_order(capture, found, truth)),
        "timeline": list(_timeline(truth)),
        "lesson": {"text": _lesson(known, diagnosis)},
    }
    return key | dict(_parts(capture, truth, found, others))


def varied(key: Mapping[str, Any], incident: str, seed: int) -> dict[str, Any]:
    """*key* with other look-alikes: some of its own, some that the catalogue draws for this *seed*."""
    chance = random.Random(seed)
    own = dict(key["mechanism"]["wrong"])
    kept = chance.sample(sorted(own), min(len(own), _LOOK_ALIKES - 2))
    known = INCIDENTS.get(incident)
    taken = {*own, *key["mechanism"].get("partial", {})}
    more = [slug for slug in _look_alikes({"class": incident}, known, chance) if slug not in taken][:2]
    wrong = {slug: own[slug] for slug in kept} | {slug: _unseen(slug) for slug in more}
    return {**key, "mechanism": {**key["mechanism"], "wrong": wrong}}


def _parts(
    capture: Capture, truth: Mapping[str, Any], found: Finding | None, others: list[str]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Questions that not every truth can answer."""
    begin, end = _window(truth, capture.diagnosis)
    if found and not truth.get("benign"):
        yield "since", {
            "question": "Since when?", "at": units.iso(begin), "seconds": max(20.0, (end - begin) / 10),
            "because": f"What went wrong began at {units.clock(begin)} UTC.",
        }  # fmt: skip
    if found and len(names := _names(capture, found)) > 3:
        wrong = {name: "It is in the material, but it is not the one." for name in names if name != found.subject}
        yield "who", {"question": "Who?", "right": found.subject, "because": found.statement, "wrong": wrong}
    if proof := list(_proof(capture, found, truth)):
        yield "line", {"proof": proof}
    measure = next((name for name in _ASKED if found and name in found.measures), None)
    if found and measure:
        unit = "bytes" if "bytes" in measure else "in number"
        yield "amount", {
            "question": f"How much: {measure.replace('_', ' ')}?", "value": found.measures[measure], "unit": unit,
            "within": 0.1, "because": found.statement,
        }  # fmt: skip
    if truth["class"] in INCIDENTS:
        yield from _measures(INCIDENTS[truth["class"]], [INCIDENTS[slug] for slug in others if slug in INCIDENTS][:3])


def _measures(known: Incident, others: list[Incident]) -> Iterator[tuple[str, dict[str, Any]]]:
    """What to do and how to verify it; those of look-alikes are the wrong ones."""
    do, _, effect = known.mitigate.partition("; side effect: ")
    right = {"do": do, "because": known.fix, "side_effect": effect}
    wrong = [{"do": o.mitigate.partition("; side effect: ")[0], "because": f"That is for {o.slug}."} for o in others]
    effects = [{"effect": e, "because": "No."} for o in others if (e := o.mitigate.partition("; side effect: ")[2])]
    yield "repair", {"right": right, "wrong": wrong} | ({"side_effects": effects} if effect and effects else {})
    checks = [{"by": other.verify, "because": f"That would show {other.slug}."} for other in others]
    yield "verify", {"right": {"by": known.verify, "because": known.confirm}, "wrong": checks}


def _look_alikes(truth: Mapping[str, Any], known: Incident | None, drawn: random.Random) -> list[str]:
    """Classes that it may be taken for: those that the truth names, then some of its system, its own family first."""
    named = [slug for slug in truth.get("must_not_blame", ()) if slug in INCIDENTS]
    systems = set(known.systems) if known else {"kafka", "rocketmq", "mqtt"}
    alike = [one for one in INCIDENTS.values() if systems & set(one.systems) and one.slug != truth["class"]]
    drawn.shuffle(alike)
    alike.sort(key=lambda one: known is None or one.family != known.family)
    return list(dict.fromkeys([*named, *(one.slug for one in alike)]))[: max(_LOOK_ALIKES, len(named))]


def _why_not(diagnosis: Diagnosis, slug: str) -> str:
    rejected = next((one.because for one in diagnosis.rejected if one.incident == slug), None)
    if rejected:
        return f"Part of its signature is there, but {rejected}."
    return _unseen(slug)


def _unseen(slug: str) -> str:
    return f"It would show as: {INCIDENTS[slug].proves.rstrip('.')}. Nothing of that is here."


def _names(capture: Capture, found: Finding) -> list[str]:
    """The guilty one and others of whom the material tells: groups, owners of settings."""
    facts = capture.facts
    others = {p.group for p in facts.positions if p.group} | {s.owner for s in facts.settings if s.owner}
    alike = sorted(name for name in others if name not in found.subject and found.subject not in name)
    return [found.subject, *alike[:5]]


def _proof(capture: Capture, found: Finding | None, truth: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """What the truth names, as far as the material has it (a ledger may be compressed there), then what mqlab cites."""
    for one in truth.get("evidence", ()):
        for path in (Path(capture.paths[0], one["file"]), Path(capture.paths[0], f"{one['file']}.gz")):
            if path.is_file() and any(one["contains"] in line for line in lines(path)):
                name = path.relative_to(capture.paths[0]).as_posix()
                yield {"file": name, "contains": one["contains"], "because": one["why"]}
    for place in found.evidence if found else ():
        line = {"line": place.line} if place.line else {}
        yield {"file": place.source, **line, "because": place.why or place.text}


def _order(capture: Capture, found: Finding | None, truth: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """The sources of the finding's evidence, as they come."""
    seen: set[str] = set()
    for one in _proof(capture, found, truth):
        if one["file"] not in seen:
            seen.add(one["file"])
            line = next(iter(places(Path(capture.paths[0]), one)), 1)
            call = f"capture.lines({one['file']!r}, {line})"
            yield {"look": one["file"], "call": call, "shows": one["because"]}


def _timeline(truth: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """What the truth file says happened when: ``events_utc`` as pairs or tables, or the lab's ``steps``."""
    for event in truth.get("events_utc", ()):
        at, what = (event["t"], event["what"]) if isinstance(event, dict) else event
        yield {"at": at, "what": what}
    for step in truth.get("steps", ()):
        yield {"at": step["at"], "what": f"{step['do']} {', '.join(step['to'])}"}


def _window(truth: Mapping[str, Any], diagnosis: Diagnosis) -> tuple[float, float]:
    first, last = diagnosis.material.window
    begin, end = (units.epoch(at) for at in truth.get("window", (first, last)))
    return begin or first or 0.0, end or last or 0.0


def _story(diagnosis: Diagnosis) -> str:
    first, last = diagnosis.material.window
    read = units.counted(diagnosis.material.files, "file")
    return (
        f"This was gathered from {units.stamp(first)} to {units.stamp(last)} UTC: {read}. "
        "Somebody is worried. What happened, if anything?"
    )


def _lesson(known: Incident | None, diagnosis: Diagnosis) -> str:
    if known is None:
        return diagnosis.verdict.statement
    return f"{known.what} What looks like it: {known.looks_like}"
