"""The one screen that triage prints: the verdict first, then what proves it, then what to do."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, tzinfo
from itertools import dropwhile, islice

from mqlab import units
from mqlab.delivery.rows import Audit
from mqlab.diagnosis import Diagnosis, Verdict
from mqlab.findings import Change, Evidence, Finding, Severity, measured
from mqlab.headline import begins
from mqlab.languages import said
from mqlab.repairs import its_topic, repairs
from mqlab.reporting.evidence import dossiers, harmful
from mqlab.reporting.impact import effects_of
from mqlab.screens import audit
from mqlab.screens.archives import archive_of, without_archive
from mqlab.screens.audit import loss
from mqlab.screens.rows import ROOM, WIDTH, labelled, line, placed, placed_whole, proof, row, sentences
from mqlab.symptoms import change_points
from mqlab.terminal import safe, wrapped
from mqlab.words import Text, listed, pieces, room
from mqlab.words.filling import Value

say, withdrawn = room("screen"), room("selfcheck")

_PROOFS = 5
_LEAST_DRAIN = 1.0
"""Seconds; nobody waits for a backlog that is gone sooner."""
_MOST_EFFECTS = 3
_OF_CLASS = 3
"""Findings of one class that are told one by one."""
_STARTS = ("running", "starting")
_ENDS = ("status", "ended", "stopping")
"""What changes tell of the life of a broker or process."""
_MOST_MOMENTS = 6
_DIGITS = re.compile(r"\d+")
_REMARKS = {
    "TRIGGERS": "triggers", "CAUSE": "cause", "DRAIN": "drain", "RETENTION": "retention", "ORDER": "order",
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
    lines += row("PLACES", say("places", archive=archive.removesuffix("!/"))) if archive else ()
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
        missing = one.settle[0].missing if one.settle else None
        yield from row("MAYBE", say("maybe", incident=one.incident, sign=one.explains[0], missing=missing), 2)
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
        yield line("IMPACT", listed(cost))
    yield from row("WHEN", when) if (when := _when(diagnosis, lead, tz)) else ()
    first = change_points.order(change_points.during(diagnosis.risers, lead), tz, lead=lead)
    yield from row("EARLIEST", first, 3) if first else ()
    for number, change in enumerate(near):
        yield from placed_whole("" if number else "CHANGED", *_change(change, tz))
    for number, told in enumerate(_restarts(diagnosis.changes, tz)):
        yield line("" if number else "RESTARTS", told)


def _of_quiet(diagnosis: Diagnosis, tz: tzinfo, audits: Sequence[Audit]) -> Iterator[str]:
    weighed = {text for hypothesis in diagnosis.verdict.hypotheses for text in hypothesis.explains}
    alone = [finding for finding in diagnosis.findings if finding.statement not in weighed]
    for finding in _some(alone):
        what = None if finding.statement == diagnosis.verdict.statement else finding.statement
        told = say("finding", incident=finding.incident, certainty=finding.certainty.name, what=what)
        yield from row("NOTICE", told, 3)
        yield from (proof("", evidence) for evidence in finding.evidence[:2])
    yield from _left_out(alone)
    yield from _hypotheses(diagnosis.verdict)
    for number, symptom in enumerate(diagnosis.symptoms):
        yield from row("" if number else "SYMPTOMS", symptom, 2)
    for number, change in enumerate(diagnosis.changes[:5]):
        yield from placed_whole("" if number else "CHANGED", *_change(change, tz))
    yield from audit.rows(diagnosis.chains, tz)
    yield from row("LOSS", loss(diagnosis, None, audits, tz), 4) if audits or diagnosis.chains else ()
    yield from _rejected(diagnosis)


def _hypotheses(verdict: Verdict) -> Iterator[str]:
    """Each with what proves it, what speaks against it, and how to tell."""
    shown: set[Evidence] = set()
    for hypothesis in verdict.hypotheses:
        signs, calm = hypothesis.explains[:2], hypothesis.incident == "healthy"
        told = say("hypothesis", incident=hypothesis.incident, calm=calm, signs=signs)
        yield from row("MAYBE", told, 2)
        fresh = [evidence for evidence in hypothesis.evidence[:2] if evidence not in shown]
        shown.update(fresh)
        yield from (proof("", evidence, "  ") for evidence in fresh)
        yield from (line("", say("against", text=text)) for text in hypothesis.against)
        for way in hypothesis.settle[:1]:
            yield from row("", say("to-tell", missing=way.missing), 2)
            yield from row("", say("fetch", command=way.fetch), 3)


def _status(diagnosis: Diagnosis, lead: Finding, near: Sequence[Change], tz: tzinfo) -> str:
    still = sum(f.goes_on for f in diagnosis.findings if f is not lead and f.severity > Severity.NOTICE)
    if lead.goes_on or lead.ended_at is None:
        return say("status", state="open" if lead.goes_on else "no-end", open=still)
    cure = lead.cure
    return say(
        "status",
        state="ended" if lead.over and not lead.ongoing else "seen",
        at=_clock(lead.ended_at, tz),
        below=any(map(lead.was_cured_by, near)),
        cure=cure and say("cure", what=cure.what, was=cure.before, after=cure.after),
        open=still,
    )


def _when(diagnosis: Diagnosis, lead: Finding, tz: tzinfo) -> str:
    """Its moments by time, then the day."""
    begin = lead.started_at
    parts = [(one.at, say("at", at=_clock(one.at, tz), what=one.what)) for one in lead.moments]
    if begin:
        onset = begins(diagnosis, lead) or say("began")
        parts.append((begin, say("at", at=_clock(begin, tz), what=onset)))
    if not parts:
        return ""
    moments = [text for _, text in sorted(parts, key=lambda part: part[0])]
    date = f"{begin.astimezone(tz):%Y-%m-%d}" if begin else None
    return say("when", moments=moments, date=date, zone="UTC" if tz is UTC else str(tz))


def _clock(at: datetime | float, tz: tzinfo) -> str:
    """Time of day in *tz*; as it was written where nothing tells the date."""
    moment = at if isinstance(at, datetime) else datetime.fromtimestamp(at, UTC)
    return f"{moment.astimezone(UTC if units.is_dateless(moment.timestamp()) else tz):%H:%M:%S}"


def _relevant(changes: Sequence[Change], lead: Finding) -> Sequence[Change]:
    """Repairs, changes of what its own lines show, and changes of whom it is about, those without a date last."""
    dated = {(c.before, c.after) for c in changes if c.at is not None}
    changes = [c for c in changes if c.at is not None or (c.before, c.after) not in dated]
    made, lines = repairs(lead, changes), {(e.source, e.line) for e in lead.evidence}
    cited = [c for c in changes if c.before and c not in made and any((e.source, e.line) in lines for e in c.evidence)]
    parties = (*lead.parties, *its_topic(lead, changes))
    names = {name for n in parties if n for name in (n, n.partition("/")[0])}
    near = [c for c in changes if c not in (*made, *cited) and any(f" {n} " in f" {c.what} " for n in names)]
    return [*made, *cited, *([c for c in near if c.at is not None] or near)][:3]


def _change(change: Change, tz: tzinfo) -> tuple[str, str]:
    """What changed, and where it stands."""
    at = None if change.at is None else _clock(change.at, tz)
    places, before = [], ""
    for evidence in change.evidence:
        places.append(f":{evidence.line}" if evidence.source == before else f"{evidence.source}:{evidence.line}")
        before = evidence.source
    told = say(
        "change", at=at, by=change.inferred and at, what=change.what, was=change.before, after=change.after or "—"
    )
    return told, " -> ".join(places)


def _is_over_at_once(lead: Finding) -> bool:
    return lead.measures.get("drain_seconds", _LEAST_DRAIN) < _LEAST_DRAIN


def _restarts(changes: Sequence[Change], tz: tzinfo) -> Iterator[str]:
    """Each broker and process that came back after an end that was seen, with its last ends and starts."""
    lives: dict[str, list[tuple[float, bool, str]]] = {}
    for change in changes:
        what, after = change.what, change.after
        if change.at is None or change.before is not None or not isinstance(after, Text):
            continue
        if after.room == "changes" and after.key in (*_STARTS, *_ENDS) and isinstance(what, Text):
            told = say("moment", at=_clock(change.at, tz), how=after.key, status=after)
            who = str(what.values.get("process") or what)
            lives.setdefault(who, []).append((change.at, after.key in _STARTS, told))
    for who, moments in lives.items():
        moments.sort(key=lambda one: one[:2])
        since = list(dropwhile(lambda one: one[1], moments))
        if any(started for _, started, _ in since):
            yield say("restarts", who=who, moments=[told for *_, told in since[-_MOST_MOMENTS:]])


def _traffic(lead: Finding) -> Iterator[str]:
    measures, ledger = lead.measures, lead.ledger
    if not measures.get("bytes_out"):
        return
    known = (("peak", "peak_amplification_factor"), ("before", "healthy_factor"), ("after", "factor_after"))
    factors = [say(name, factor=measures[key]) for name, key in known if key in measures]
    lasted = (ledger.ended_at - ledger.started_at).total_seconds() if ledger else None
    how = (ledger.how or ledger.host) if ledger else None
    yield line("TRAFFIC", say("traffic", how=how, lasted=lasted, factors=factors, **measured(measures)))
    # A rest of nothing is none that was measured: the other stages were made to fit, or one of them is the rest.
    for stage in (one for one in ledger.stages if one.bytes or one.name != "unexplained") if ledger else ():
        share = units.percent(stage.bytes / ledger.bytes_out) if ledger and ledger.bytes_out else ""
        second = stage.cross_check if stage.name == "rejected-batches" else None
        size = f"{units.size(stage.bytes):>9}"
        yield line("", say("stage", share=f"{share:>7}", size=size, label=stage.label, second=second))


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
            lines, attempts = lead.measures["split_count"], lead.facts["attempts"]
            yield line("", say("repeated", lines=lines, attempts=attempts, partitions=lead.facts.get("partitions")))
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
            yield line("", say("left-out", more=many - _OF_CLASS, incident=incident))


def _others(diagnosis: Diagnosis, lead: Finding, tz: tzinfo) -> Iterator[str]:
    others = [f for f in diagnosis.findings if f is not lead and f.severity is not Severity.NOTICE]
    for other in _some(others):
        last = max((e for e in other.evidence if e.line and not e.pointer), key=lambda e: e.line or 0, default=None)
        told = say(
            "finding",
            grave=other.severity.name,
            incident=other.incident,
            certainty=other.certainty.name,
            at=_clock(other.ended_at, tz) if other.ended_at else None,
            what=next(_effects(diagnosis, other), other.subject),
        )
        yield placed("OPEN" if other.ongoing else "ALSO", told, f"{last.source}:{last.line}" if last else "")
    yield from _left_out(others)


def _rejected(diagnosis: Diagnosis) -> Iterator[str]:
    for number, entry in enumerate(diagnosis.rejected[:4]):
        yield from row("" if number else "RULED OUT", say("of", name=entry.incident, text=entry.because), 2)


_KNOWN = {
    "generations": "aligned",
    "events": "aligned",
    "printed": "printed",
    "given": "given",
    "corrected": "corrected",
}
"""How a clock is known, by the text that tells why."""


def _coverage(diagnosis: Diagnosis) -> Iterator[str]:
    """What was read, checked, missing."""
    material = diagnosis.material
    unread, copied = material.unrecognised, sum(lines for _, lines in material.copies.values())
    covered = say(
        "covered",
        files=material.files,
        bytes=material.bytes,
        lines=material.lines,
        data=material.data_lines,
        noise=material.noise_lines,
        rejected=material.rejected_lines,
        copied=copied,
        unread=len(unread),
        sources=unread[:2],
        more=len(unread) > 2,
    )
    yield from row("COVERED", covered, 2)
    absent = [one.missing[0] for one in diagnosis.absent]
    yield line("", say("checked", clear=len(diagnosis.clear), unchecked=len(diagnosis.unchecked), systems=absent))
    if material.time_zones:
        yield line("CLOCKS", _clocks(diagnosis))
    for number, gap in enumerate(diagnosis.gaps[:3]):
        yield line("" if number else "GAPS", say("gap", gap=gap, more=max(0, len(diagnosis.gaps) - 3) * (number == 2)))


def _clocks(diagnosis: Diagnosis) -> str:
    """How many logs are in each zone, and how that is known."""
    zones: dict[str, Counter[str]] = {}
    for told in diagnosis.material.time_zones.values():
        zones.setdefault(str(told.values["zone"]), Counter())[_how(told.values["why"])] += 1
    rows = []
    for zone, ways in sorted(zones.items(), key=lambda kv: (-kv[1].total(), kv[0])):
        each = sorted(ways.items(), key=lambda kv: (-kv[1], kv[0]))
        hows = [] if zone == "as written" else [say("way", logs=logs, how=how) for how, logs in each]
        rows.append(say("zone", zone=zone, logs=ways.total(), hows=hows))
    return listed(rows, " | ")


def _how(why: Value) -> str:
    """How a zone is known, by the last of its reasons."""
    last = pieces(why)[-1] if isinstance(why, Text) else None
    return _KNOWN.get(last.key, "assumed") if isinstance(last, Text) else "assumed"


def _next_steps(diagnosis: Diagnosis, paths: Sequence[str], code: int) -> Iterator[str]:
    """The commands that lead on."""
    given = " ".join(shlex.quote(path) for path in paths)
    steps = [f"mqlab report {given} -o report.html"]
    steps += [f"mqlab show F1 {given}"] if diagnosis.findings else []
    counted = {"lost_records", "duplicated_records"}
    steps += [f"mqlab audit {given}"] if any(counted & f.measures.keys() for f in diagnosis.findings) else []
    other = next((f.facts["what_if"] for f in diagnosis.findings if "what_if" in f.facts), None)
    steps += [f"mqlab what-if {given} --set {other}"] if other else []
    told = said(say("exit-code", code=code))
    whole = "     ".join([*steps, told])
    lines = [whole] if len(whole) <= ROOM else [*steps[:-1], f"{steps[-1]}     {told}"]
    for number, step in enumerate(lines):
        yield labelled("" if number else "NEXT") + safe(step)


def _every_class(diagnosis: Diagnosis) -> Iterator[str]:
    """Each class that is clear or was not checked, what would help, and each clock."""
    yield ""
    yield from row("CLEAR", ", ".join(diagnosis.clear) or "nothing")
    for entry in diagnosis.not_checked:
        yield from row("", say("not-checked", incident=entry.incident, missing=entry.missing))
        yield from (f"             {safe(command)}" for command in entry.fetch[:3])
    for source, zone in diagnosis.material.time_zones.items():
        yield from row("", say("clock", source=source, zone=zone))
    if diagnosis.withdrawn:
        told = [
            withdrawn("withdrawn", claim=one.claim, what=one.what, because=one.because) for one in diagnosis.withdrawn
        ]
        yield from row("WITHDRAWN", listed(told), 3)
