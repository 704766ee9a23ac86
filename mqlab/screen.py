"""The one screen that triage prints: the verdict first, then what proves it, then what to do."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, tzinfo

from mqlab import units
from mqlab.diagnosis import Diagnosis
from mqlab.facts import Change
from mqlab.findings import Evidence, Finding, Severity

WIDTH = 110
_LABEL = 9
_PROOFS = 6


def screen(diagnosis: Diagnosis, paths: Sequence[str], tz: tzinfo = UTC, *, why: bool = False) -> str:
    """Everything an on-call engineer wants to read first; *why* adds each class that was not checked."""
    lead = next((f for f in diagnosis.findings if f.severity > Severity.NOTICE), None)
    lines = list(_headline(diagnosis, lead))
    if lead is not None:
        lines += _of_finding(diagnosis, lead, tz)
    else:
        lines += _of_quiet(diagnosis, tz)
    lines += _coverage(diagnosis, paths)
    if why:
        lines += _why(diagnosis)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def exit_code(diagnosis: Diagnosis) -> int:
    """0 for nothing above notice, 1 for a warning, 2 for something critical."""
    return max((int(f.severity) for f in diagnosis.findings), default=1) - 1


def _headline(diagnosis: Diagnosis, lead: Finding | None) -> Iterator[str]:
    verdict = diagnosis.verdict
    if lead is None:
        certainty = verdict.certainty.name if verdict.certainty else ""
        yield f"{verdict.incident.upper()}  {certainty}".rstrip()
    else:
        who = lead.facts.get("who", lead.subject)
        topic = lead.facts.get("topic")
        yield f"{lead.severity.name}  {lead.incident}  {lead.certainty.name}        {_safe(who)}{f' -> {_safe(topic)}' if topic else ''}"
    yield from textwrap.wrap(_safe(verdict.statement), WIDTH, break_long_words=False)


def _of_finding(diagnosis: Diagnosis, lead: Finding, tz: tzinfo) -> Iterator[str]:
    yield from _row("STATUS", _status(diagnosis, lead, tz))
    yield from _row("WHEN", _when(lead, tz))
    if "trigger" in lead.facts:
        yield from _row("TRIGGER", lead.facts["trigger"])
    for change in _relevant(diagnosis.changes, lead):
        yield from _row("CHANGED", _change(change, tz))
    yield from _traffic(lead)
    proofs = lead.evidence[:_PROOFS]
    for number, evidence in enumerate(proofs):
        yield from _row("PROOF" if number == 0 else "", _proof(evidence))
    for other in diagnosis.findings:
        if other is not lead and other.severity > Severity.NOTICE:
            label = "OPEN" if other.ongoing else "ALSO"
            yield from _row(label, f"{other.severity.name} {other.incident} {other.certainty.name}: {other.statement}")
    yield from _row("LOSS", _loss(diagnosis, lead))
    if diagnosis.rejected:
        yield from _row("NOT IT", " | ".join(f"{r.incident} ({r.because})" for r in diagnosis.rejected))
    yield from _row("DO NOW", lead.mitigate)
    yield from _row("FIX", lead.remedy)
    yield from _row("VERIFY", lead.verify)


def _of_quiet(diagnosis: Diagnosis, tz: tzinfo) -> Iterator[str]:
    for finding in diagnosis.findings:
        yield from _row("NOTICE", f"{finding.incident} {finding.certainty.name}: {finding.statement}")
        for evidence in finding.evidence[:2]:
            yield from _row("", _proof(evidence))
    for number, symptom in enumerate(diagnosis.symptoms):
        yield from _row("SYMPTOMS" if number == 0 else "", symptom)
    for change in diagnosis.changes[:5]:
        yield from _row("CHANGED", _change(change, tz))
    if diagnosis.rejected:
        yield from _row("NOT IT", " | ".join(f"{r.incident} ({r.because})" for r in diagnosis.rejected))


def _status(diagnosis: Diagnosis, lead: Finding, tz: tzinfo) -> str:
    if lead.ongoing:
        told = "STILL OPEN at the end of the material"
    elif lead.ended_at is None:
        told = "its end is not in the material"
    else:
        told = f"ended {lead.ended_at.astimezone(tz):%H:%M:%S}"
        if "mitigation" in lead.facts:
            told += f", followed by {lead.facts['mitigation']}"
    still = sum(f.ongoing for f in diagnosis.findings if f is not lead and f.severity > Severity.NOTICE)
    return told + (f"; {still} other finding{'s' if still != 1 else ''} STILL OPEN" if still else "")


def _when(lead: Finding, tz: tzinfo) -> str:
    parts = [f"{lead.started_at.astimezone(tz):%H:%M:%S} began"] if lead.started_at else []
    parts += [v for k, v in lead.facts.items() if k in ("first", "last") or k.startswith("crash")]
    day = f"   {lead.started_at.astimezone(tz):%Y-%m-%d} {_name(tz)}" if lead.started_at else ""
    return " | ".join(parts) + day


def _name(tz: tzinfo) -> str:
    return "UTC" if tz is UTC else str(tz)


def _relevant(changes: Sequence[Change], lead: Finding) -> Iterator[Change]:
    names = [n for n in lead.subject.split(" -> ") if n]
    near = [c for c in changes if any(f" {n} " in f" {c.what} " for n in names)]
    dated = [c for c in near if c.at is not None]
    yield from (dated or near)[:3]


def _change(change: Change, tz: tzinfo) -> str:
    at = "undated " if change.at is None else f"{datetime.fromtimestamp(change.at, tz):%H:%M:%S} "
    value = f" {change.before} -> {change.after}" if change.before is not None else f": {change.after}"
    places = " -> ".join(f"{e.source}:{e.line}" for e in change.evidence)
    return f"{at}{change.what}{value}   {places}"


def _traffic(lead: Finding) -> Iterator[str]:
    measures, ledger = lead.measures, lead.ledger
    if "bytes_out" not in measures:
        return
    factor = measures.get("amplification_factor")
    known = (("peak", "peak_amplification_factor"), ("before", "healthy_factor"), ("after", "factor_after"))
    others = "; ".join(f"{name} {units.factor(measures[key])}" for name, key in known if key in measures)
    came = f"in {units.size(measures['bytes_in'])}, " if "bytes_in" in measures else ""
    text = f"{came}out {units.size(measures['bytes_out'])}" + (f" = {units.factor(factor)}" if factor is not None else "")
    where = f"{ledger.how}: " if ledger else ""
    yield from _row("TRAFFIC", where + text + (f"   ({others})" if others else ""))
    for stage in ledger.stages if ledger else ():
        share = units.percent(stage.bytes / ledger.bytes_out) if ledger and ledger.bytes_out else ""
        second = f"   [{stage.second_way}]" if stage.second_way and stage.name == "rejected-batches" else ""
        yield from _row("", f"{share:>8}  {units.size(stage.bytes):>9}  {stage.label}{second}")


def _proof(evidence: Evidence) -> str:
    place = f"{evidence.source}:{evidence.line}" if evidence.line else evidence.source
    text = evidence.text.strip()
    room = max(30, WIDTH - _LABEL - len(place) - len(evidence.why) - 8)
    short = text if len(text) <= room else "… " + text[len(text) - room :]
    return f"{place}  \"{short}\"  {evidence.why}".rstrip()


def _loss(diagnosis: Diagnosis, lead: Finding) -> str:
    rejected = sum(f.measures.get("rejected_records", 0) for f in diagnosis.findings)
    failed = sum(f.measures.get("failed_records", 0) for f in diagnosis.findings)
    twice = sum(f.measures.get("duplicated_records_at_most", 0) for f in diagnosis.findings)
    told = []
    if rejected:
        told.append(f"{units.number(rejected)} oversize records rejected")
    if failed:
        told.append(f"{units.number(failed)} records reported as failed (some may be stored)")
    if twice:
        told.append(f"at most {units.number(twice)} records stored twice")
    if lead.measures.get("crashes"):
        told.append("unacknowledged records at the crashes NOT CHECKED (send: the application's ledger)")
    elif not told:
        told.append("NOT CHECKED (send: the application's ledger, offsets before and after)")
    return "; ".join(told)


def _coverage(diagnosis: Diagnosis, paths: Sequence[str]) -> Iterator[str]:
    material = diagnosis.material
    absent = [n for n in diagnosis.not_checked if n.incident in ("kafka", "rocketmq", "mqtt")]
    unread = f"{len(material.unrecognised)} unrecognised"
    if material.unrecognised:
        unread += f" ({', '.join(map(_safe, material.unrecognised[:3]))}{' …' if len(material.unrecognised) > 3 else ''})"
    yield from _row(
        "COVERED",
        f"{units.number(material.files)} files, {units.size(material.bytes)}, {units.number(material.lines)} lines = "
        f"{units.number(material.data_lines)} data + {units.number(material.noise_lines)} known noise + "
        f"{units.number(material.rejected_lines)} rejected; {unread}",
    )
    clear = f" ({', '.join(diagnosis.clear)})" if diagnosis.clear else ""
    yield from _row(
        "",
        f"CLEAR {len(diagnosis.clear)}{clear} | "
        f"NOT CHECKED {len(diagnosis.not_checked) - len(absent)} (mqlab triage --why)"
        + "".join(f" | {n.missing[0]}" for n in absent),
    )
    zones: dict[str, list[str]] = {}
    for source, zone in material.time_zones.items():
        zones.setdefault(zone, []).append(source)
    for zone, sources in sorted(zones.items(), key=lambda kv: (-len(kv[1]), kv[0])):
        yield from _row("CLOCKS", f"{zone} ({len(sources)} log{'s' if len(sources) != 1 else ''}: {_safe(sources[0])}{' …' if len(sources) > 1 else ''})")
    for number, gap in enumerate(diagnosis.gaps[:4]):
        yield from _row("GAPS" if number == 0 else "", gap)
    given = " ".join(paths)
    first = f"     mqlab show {diagnosis.findings[0].id}" if diagnosis.findings else ""
    yield from _row("NEXT", f"mqlab report {given} -o report.html{first}")


def _why(diagnosis: Diagnosis) -> Iterator[str]:
    yield ""
    for entry in diagnosis.not_checked:
        yield from _row("", f"{entry.incident}: not checked, missing {'; '.join(entry.missing)}")
        for command in entry.fetch[:3]:
            yield from _row("", f"    {command}")


def _row(label: str, text: str) -> Iterator[str]:
    """*text* behind its label, wrapped and indented."""
    pad = " " * _LABEL
    clean = _safe(text)
    lead = clean[: len(clean) - len(clean.lstrip())]
    lines = textwrap.wrap(clean, WIDTH - _LABEL, subsequent_indent=lead + "  ", break_long_words=False, drop_whitespace=True,
                          initial_indent=lead, replace_whitespace=False) or [""]  # fmt: skip
    for number, line in enumerate(lines):
        yield (f"{label:<{_LABEL}}" if number == 0 else pad) + line


def _safe(text: str | None) -> str:
    """*text* without anything that could move the cursor or change the terminal."""
    return "".join(c if c.isprintable() else "�" for c in (text or "").replace("\t", " "))
