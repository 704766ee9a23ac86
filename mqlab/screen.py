"""The one screen that triage prints: the verdict first, then what proves it, then what to do."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, tzinfo
from itertools import islice

from mqlab import units
from mqlab.delivery.rows import Audit
from mqlab.diagnosis import Diagnosis, Verdict
from mqlab.findings import Change, Evidence, Finding, Severity
from mqlab.frames import where
from mqlab.languages import said
from mqlab.languages.width import wrapped
from mqlab.repairs import repairs
from mqlab.reporting.evidence import dossiers, harmful
from mqlab.reporting.impact import effects_of
from mqlab.screens import audit
from mqlab.screens.archives import archive_of, without_archive
from mqlab.screens.audit import loss
from mqlab.screens.rows import LABEL, ROOM, WIDTH, labelled, line, placed, proof, row, sentences
from mqlab.symptoms import change_points
from mqlab.terminal import safe
from mqlab.words import listed, room

say = room("selfcheck")

_PROOFS = 5
_LEAST_DRAIN = 1.0
"""Seconds; nobody waits for a backlog that is gone sooner."""
_MOST_EFFECTS = 3
_OF_CLASS = 3
"""Findings of one class that are told one by one."""
_LIFE = re.compile(
    r"(?:process )?(?P<who>.+?)(?: started: running|: running|: starting"
    r"|(?P<end> exited: (?P<status>status \d+)| exited: .*|: stopping in good order))"
)
"""What a change says of the life of a broker or process."""
_MOST_MOMENTS = 6
_DIGITS = re.compile(r"\d+")
_REMARKS = {
    "TRIGGERS": "triggers", "BEHIND": "cause", "DRAIN": "drain", "RETENTION": "retention", "ORDER": "order",
    "RETRIES": "retries",
}  # fmt: skip
"""Rows that some findings add, and which of their short words stand there."""


def screen(
    diagnosis: Diagnosis, paths: Sequence[str], tz: tzinfo = UTC, *, audits: Sequence[Audit] = (), why: bool = False
) -> str:
    """Everything an on-call engineer wants to read first; *why* adds each class that was not checked."""
    archive, diagnosis = archive_of(diagnosis), without_archive(diagnosis)
    lead = next((f for f in diagnosis.findings if f.severity > Severity.NOTICE), None)
    lines = list(_headline(diagnosis, lead))
    lines += _of_finding(diagnosis, lead, tz, audits) if lead is not None else _of_quiet(diagnosis, tz, audits)
    lines += row("PLACES", f"all in {archive.removesuffix('!/')}") if archive else ()
    lines += [*_coverage(diagnosis), *_next_steps(diagnosis, paths, exit_code(diagnosis))]
    if why:
        lines += _every_class(diagnosis)
    return "\n".join(one.rstrip() for one in lines) + "\n"


def exit_code(diagnosis: Diagnosis) -> int:
    """0 for nothing above notice, 1 for a warning, 2 for something critical."""
    return max((int(f.severity) for f in diagnosis.findings), default=1) - 1


def _headline(diagnosis: Diagnosis, lead: Finding | None) -> Iterator[str]:
    verdict = diagnosis.verdict
    if lead is None:
        yield f"{said(verdict.incident.upper())}  {said(verdict.certainty.name) if verdict.certainty else ''}".rstrip()
    else:
        who, topic = lead.facts.get("who", lead.subject), lead.facts.get("topic")
        target = f" -> {safe(topic)}" if topic else ""
        known = said(lead.certainty.name)
        yield f"{said(lead.severity.name)}  {lead.incident}  {known}        {safe(said(who))}{target}"
    yield from wrapped(safe(said(verdict.statement)), WIDTH)


def _of_finding(diagnosis: Diagnosis, lead: Finding, tz: tzinfo, audits: Sequence[Audit]) -> Iterator[str]:
    yield from _course(diagnosis, lead, tz)
    yield from _traffic(lead)
    for label, name in _REMARKS.items():
        if name in lead.facts and not (name == "drain" and _is_over_at_once(lead)):
            yield line(label, lead.facts[name])
    yield from _proofs(lead)
    yield from _others(diagnosis, lead, tz)
    for one in diagnosis.verdict.hypotheses:
        to_tell = f"; to tell: {one.settle[0].missing}" if one.settle else ""
        yield from row("MAYBE", f"{one.incident}: {one.explains[0]}{to_tell}", 2)
    yield from audit.rows(diagnosis.chains, tz)
    yield from row("LOSS", loss(diagnosis, lead, audits, tz), 4)
    yield from _rejected(diagnosis)
    for label, text in (("DO NOW", lead.mitigate), ("FIX", lead.remedy), ("VERIFY", lead.verify)):
        yield from row(label, sentences(text), 2)


def _course(diagnosis: Diagnosis, lead: Finding, tz: tzinfo) -> Iterator[str]:
    """Its state, what it cost, when it was, what set it off, what changed and what came back."""
    near = _relevant(diagnosis.changes, lead)
    yield from row("STATUS", _status(diagnosis, lead, near, tz))
    if cost := list(islice(_effects(diagnosis, lead), _MOST_EFFECTS)):
        yield line("IMPACT", "; ".join(map(said, cost)))
    yield from row("WHEN", when) if (when := _when(lead, tz)) else ()
    if (trigger := lead.trigger) is not None:
        yield placed("TRIGGER", f"{_clock(trigger.at, tz)} {said(trigger.what)}", where(trigger.evidence))
    first = change_points.order(change_points.during(diagnosis.risers, lead), tz)
    yield from row("EARLIEST", first, 3) if first else ()
    for number, change in enumerate(near):
        yield placed("" if number else "CHANGED", *_change(change, tz))
    for number, told in enumerate(_restarts(diagnosis.changes, tz)):
        yield line("" if number else "RESTARTS", told)


def _of_quiet(diagnosis: Diagnosis, tz: tzinfo, audits: Sequence[Audit]) -> Iterator[str]:
    weighed = {text for hypothesis in diagnosis.verdict.hypotheses for text in hypothesis.explains}
    alone = [finding for finding in diagnosis.findings if finding.statement not in weighed]
    for finding in _some(alone):
        told = "" if finding.statement == diagnosis.verdict.statement else f": {finding.statement}"
        yield from row("NOTICE", f"{finding.incident} {said(finding.certainty.name)}{told}", 3)
        yield from (proof("", evidence) for evidence in finding.evidence[:2])
    yield from _left_out(alone)
    yield from _hypotheses(diagnosis.verdict)
    for number, symptom in enumerate(diagnosis.symptoms):
        yield from row("" if number else "SYMPTOMS", symptom, 2)
    for number, change in enumerate(diagnosis.changes[:5]):
        yield placed("" if number else "CHANGED", *_change(change, tz))
    yield from audit.rows(diagnosis.chains, tz)
    yield from row("LOSS", loss(diagnosis, None, audits, tz), 4) if audits or diagnosis.chains else ()
    yield from _rejected(diagnosis)


def _hypotheses(verdict: Verdict) -> Iterator[str]:
    """Each with its share of the lines, what proves it, what speaks against it, and how to tell."""
    shown: set[Evidence] = set()
    for hypothesis in verdict.hypotheses:
        share, signs = units.percent(hypothesis.weight), "; ".join(hypothesis.explains[:2])
        is_calm = hypothesis.incident == "healthy"
        yield from row(
            "MAYBE", f"healthy: {signs}" if is_calm else f"{hypothesis.incident}, would explain {share}: {signs}", 2
        )
        fresh = [evidence for evidence in hypothesis.evidence[:2] if evidence not in shown]
        shown.update(fresh)
        yield from (proof("", evidence, "  ") for evidence in fresh)
        yield from (line("", f"  against: {text}") for text in hypothesis.against)
        for way in hypothesis.settle[:1]:
            yield from row("", f"  to tell: {way.missing}:", 2)
            yield from row("", f"    {way.fetch}", 3)


def _status(diagnosis: Diagnosis, lead: Finding, near: Sequence[Change], tz: tzinfo) -> str:
    if lead.ongoing:
        told = "STILL OPEN at the end of the material"
    elif lead.ended_at is None:
        told = "its end is not in the material"
    else:
        told = f"{'ended' if lead.over else 'last seen'} {lead.ended_at.astimezone(tz):%H:%M:%S}"
        if (cure := lead.cure) is not None:
            changed = f"{cure.what} {cure.before} -> {cure.after}"
            told += (
                f", then {'the change below' if any(map(lead.was_cured_by, near)) else changed} (inferred mitigation)"
            )
    still = sum(f.ongoing for f in diagnosis.findings if f is not lead and f.severity > Severity.NOTICE)
    return told + (f"; {still} other finding{'s' if still != 1 else ''} STILL OPEN" if still else "")


def _when(lead: Finding, tz: tzinfo) -> str:
    parts = [(one.at, f"{_clock(one.at, tz)} {said(one.what)}") for one in lead.moments]
    if lead.started_at:
        parts.append((lead.started_at, f"{_clock(lead.started_at, tz)} began"))
    known = [text for _, text in sorted(parts, key=lambda part: part[0])]
    day = f"{lead.started_at.astimezone(tz):%Y-%m-%d} {'UTC' if tz is UTC else tz}" if lead.started_at else ""
    return f"{' | '.join(known)}   {said(day)}".rstrip()


def _clock(at: datetime, tz: tzinfo) -> str:
    """Time of day in *tz*; as it was written where nothing tells the date."""
    return f"{at.astimezone(UTC if units.is_dateless(at.timestamp()) else tz):%H:%M:%S}"


def _relevant(changes: Sequence[Change], lead: Finding) -> Sequence[Change]:
    made = repairs(lead, changes)
    names = [n for n in lead.subject.split(" -> ") if n]
    near = [c for c in changes if c not in made and any(f" {n} " in f" {c.what} " for n in names)]
    return [*made, *([c for c in near if c.at is not None] or near)][:3]


def _change(change: Change, tz: tzinfo) -> tuple[str, str]:
    """What changed, and where it stands."""
    at = "undated " if change.at is None else f"{datetime.fromtimestamp(change.at, tz):%H:%M:%S} "
    value = f" {change.before} -> {change.after}" if change.before is not None else f": {change.after}"
    places, before = [], ""
    for evidence in change.evidence:
        places.append(f":{evidence.line}" if evidence.source == before else f"{evidence.source}:{evidence.line}")
        before = evidence.source
    return f"{at}{change.what}{value}", " -> ".join(places)


def _is_over_at_once(lead: Finding) -> bool:
    return lead.measures.get("drain_seconds", _LEAST_DRAIN) < _LEAST_DRAIN


def _restarts(changes: Sequence[Change], tz: tzinfo) -> Iterator[str]:
    """Each broker and process that came back after an end that was seen, with its last ends and starts."""
    lives: dict[str, list[tuple[float, str]]] = {}
    for change in changes:
        life = _LIFE.fullmatch(f"{change.what}: {change.after}")
        if life is not None and change.at is not None and change.before is None:
            ended = life["end"] and (f"exited with {life['status']}" if life["status"] else "stopped")
            lives.setdefault(life["who"], []).append((change.at, ended or "started"))
    for who, moments in list(lives.items()):
        moments.sort()
        ends = [number for number, (_, what) in enumerate(moments) if what != "started"]
        if ends and any(what == "started" for _, what in moments[ends[0] :]):
            known = [f"{datetime.fromtimestamp(at, tz):%H:%M:%S} {what}" for at, what in moments[ends[0] :]]
            yield f"{who}: {', '.join(known[-_MOST_MOMENTS:])}"


def _traffic(lead: Finding) -> Iterator[str]:
    measures, ledger = lead.measures, lead.ledger
    if not measures.get("bytes_out"):
        return
    known = (("peak", "peak_amplification_factor"), ("before", "healthy_factor"), ("after", "factor_after"))
    others = "; ".join(f"{name} {units.factor(measures[key])}" for name, key in known if key in measures)
    text = f"in {units.told(measures, 'bytes_in')}, " if "bytes_in" in measures else ""
    text += f"out {units.told(measures, 'bytes_out')}"
    if "amplification_factor" in measures:
        text += f" = {units.told(measures, 'amplification_factor')}"
    if ledger:
        lasted = units.duration((ledger.ended_at - ledger.started_at).total_seconds())
        text = f"{ledger.how or ledger.host}, {lasted}: {text}"
    yield line("TRAFFIC", text + (f"   ({others})" if others else ""))
    for stage in ledger.stages if ledger else ():
        share = units.percent(stage.bytes / ledger.bytes_out) if ledger and ledger.bytes_out else ""
        checked = stage.cross_check if stage.name == "rejected-batches" else None
        second = said(f"(cross check: {said(checked)})") if checked else ""
        yield line("", f"{share:>7} {units.size(stage.bytes):>9}  {said(stage.label)}  {second}".rstrip())


def _proofs(lead: Finding) -> Iterator[str]:
    seen: set[str] = set()
    label = "EVIDENCE"
    for evidence in lead.evidence:
        kind = _DIGITS.sub("#", f"{evidence.source} {evidence.text[24:]}")
        if kind in seen or len(seen) >= _PROOFS:
            continue
        seen.add(kind)
        yield proof(label, evidence)
        if label and "attempts" in lead.facts and "split_count" in lead.measures:
            count = units.number(lead.measures["split_count"])
            told = f"{count} such lines, attempts left always {lead.facts['attempts']}"
            yield line("", f"{told}; by partition {lead.facts.get('partitions', '?')}")
        label = ""


def _effects(diagnosis: Diagnosis, finding: Finding) -> Iterator[str]:
    """What it did, in the user's terms."""
    if harmful(finding):
        yield from (
            effect.text for effect in effects_of([one for one in dossiers(diagnosis) if one.finding is finding])
        )


def _some(findings: Sequence[Finding]) -> Sequence[Finding]:
    """The first few of each class."""
    seen = Counter[str]()
    return [f for f in findings if not seen.update((f.incident,)) and seen[f.incident] <= _OF_CLASS]


def _left_out(findings: Sequence[Finding]) -> Iterator[str]:
    """How many of each class ``_some`` leaves out."""
    for incident, many in Counter(finding.incident for finding in findings).items():
        if many > _OF_CLASS:
            left = units.counted(many - _OF_CLASS, f"more {incident} finding")
            yield line("", f"{left} (mqlab triage --format json lists all)")


def _others(diagnosis: Diagnosis, lead: Finding, tz: tzinfo) -> Iterator[str]:
    others = [f for f in diagnosis.findings if f is not lead and f.severity is not Severity.NOTICE]
    for other in _some(others):
        last = max((e for e in other.evidence if e.line and not e.pointer), key=lambda e: e.line or 0, default=None)
        seen = f", last seen {other.ended_at.astimezone(tz):%H:%M:%S}" if other.ended_at else ""
        head = f"{said(other.severity.name)} {other.incident} {said(other.certainty.name)}{said(seen)}"
        told = said(next(_effects(diagnosis, other), other.subject))
        yield placed(
            "OPEN" if other.ongoing else "ALSO", f"{head}: {told}", f"{last.source}:{last.line}" if last else ""
        )
    yield from _left_out(others)


def _rejected(diagnosis: Diagnosis) -> Iterator[str]:
    for number, entry in enumerate(diagnosis.rejected[:4]):
        yield line(" " * LABEL if number else "RULED OUT", f"{entry.incident}: {entry.because}")


_CLOCKS = (("aligned", "aligned"), ("the log prints", "by a printed epoch"), ("given", "given"))


def _coverage(diagnosis: Diagnosis) -> Iterator[str]:
    """What was read, checked, missing."""
    material = diagnosis.material
    unread = f"{len(material.unrecognised)} unrecognised"
    if material.unrecognised:
        unread += f" ({', '.join(material.unrecognised[:2])}{' …' if len(material.unrecognised) > 2 else ''})"
    numbers = f"{units.counted(material.lines, 'line')} = {units.number(material.data_lines)} data + "
    copied = sum(lines for _, lines in material.copies.values())
    numbers += f"{units.number(material.noise_lines)} noise + {units.number(material.rejected_lines)} rejected"
    numbers += f", {units.number(copied)} of them in copies" if copied else ""
    files = units.counted(material.files, "file")
    yield from row("COVERED", f"{files}, {units.size(material.bytes)}, {numbers}; {unread}", 2)
    unchecked = f"NOT CHECKED {len(diagnosis.unchecked)} (mqlab triage --why)"
    yield line("", " | ".join([f"CLEAR {len(diagnosis.clear)}", unchecked, *(n.missing[0] for n in diagnosis.absent)]))
    if material.time_zones:
        yield line("CLOCKS", _clocks(diagnosis))
    for number, gap in enumerate(diagnosis.gaps[:3]):
        more = f"  (+{len(diagnosis.gaps) - 3} more)" if number == 2 and len(diagnosis.gaps) > 3 else ""
        yield line("" if number else "GAPS", gap + more)


def _clocks(diagnosis: Diagnosis) -> str:
    zones: dict[str, Counter[str]] = {}
    for told in diagnosis.material.time_zones.values():
        zone, _, because = told.partition(": ")
        how = next((short for start, short in _CLOCKS if because.startswith(start)), "assumed")
        how = "corrected" if because.endswith(": corrected") else how
        zones.setdefault(zone, Counter())[how] += 1
    parts = []
    for zone, ways in sorted(zones.items(), key=lambda kv: (-kv[1].total(), kv[0])):
        told = ", ".join(f"{count} {how}" for how, count in sorted(ways.items(), key=lambda kv: (-kv[1], kv[0])))
        logs = f"{zone}: {ways.total()} log{'s' if ways.total() != 1 else ''}"
        parts.append(logs if zone == "as written" else f"{logs} ({told})")
    return " | ".join(parts)


def _next_steps(diagnosis: Diagnosis, paths: Sequence[str], code: int) -> Iterator[str]:
    """The commands that lead on."""
    given = " ".join(shlex.quote(path) for path in paths)
    steps = [f"mqlab report {given} -o report.html"]
    steps += [f"mqlab show F1 {given}"] if diagnosis.findings else []
    counted = {"lost_records", "duplicated_records"}
    steps += [f"mqlab audit {given}"] if any(counted & f.measures.keys() for f in diagnosis.findings) else []
    other = next((f.facts["what_if"] for f in diagnosis.findings if "what_if" in f.facts), None)
    steps += [f"mqlab what-if {given} --set {other}"] if other else []
    told = said(f"exit code {code} with --exit-code")
    whole = "     ".join([*steps, told])
    lines = [whole] if len(whole) <= ROOM else [*steps[:-1], f"{steps[-1]}     {told}"]
    for number, step in enumerate(lines):
        yield labelled("" if number else "NEXT") + safe(step)


def _every_class(diagnosis: Diagnosis) -> Iterator[str]:
    """Each class that is clear or was not checked, what would help, and each clock."""
    yield ""
    yield from row("CLEAR", ", ".join(diagnosis.clear) or "nothing")
    for entry in diagnosis.not_checked:
        yield from row("", f"{entry.incident}: not checked, missing {'; '.join(entry.missing)}")
        yield from (f"             {safe(command)}" for command in entry.fetch[:3])
    for source, zone in diagnosis.material.time_zones.items():
        yield from row("", f"clock of {source}: {zone}")
    if diagnosis.withdrawn:
        told = [say("withdrawn", claim=one.claim, what=one.what, because=one.because) for one in diagnosis.withdrawn]
        yield from row("WITHDRAWN", listed(told), 3)
