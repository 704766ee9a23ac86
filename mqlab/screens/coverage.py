"""The end of the triage screen: what the material covers, what it does not, and what to run next."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence

from mqlab import units
from mqlab.diagnosis import Diagnosis
from mqlab.screens.rows import LABEL, ROOM, line, row, safe

_CLOCKS = (("aligned", "aligned"), ("the log prints", "by a printed epoch"), ("given", "given"))


def coverage(diagnosis: Diagnosis) -> Iterator[str]:
    """What was read, checked, missing."""
    material = diagnosis.material
    unread = f"{len(material.unrecognised)} unrecognised"
    if material.unrecognised:
        unread += f" ({', '.join(material.unrecognised[:2])}{' …' if len(material.unrecognised) > 2 else ''})"
    numbers = f"{units.number(material.lines)} lines = {units.number(material.data_lines)} data + "
    numbers += f"{units.number(material.noise_lines)} noise + {units.number(material.rejected_lines)} rejected"
    yield from row(
        "COVERED", f"{units.number(material.files)} files, {units.size(material.bytes)}, {numbers}; {unread}", 2
    )
    absent = [n for n in diagnosis.not_checked if n.incident in ("kafka", "rocketmq", "mqtt")]
    unchecked = f"NOT CHECKED {len(diagnosis.not_checked) - len(absent)} (mqlab triage --why)"
    yield line("", " | ".join([f"CLEAR {len(diagnosis.clear)}", unchecked, *(n.missing[0] for n in absent)]))
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


def next_steps(diagnosis: Diagnosis, paths: Sequence[str], code: int) -> Iterator[str]:
    """The commands that lead on."""
    given = " ".join(shlex.quote(path) for path in paths)
    steps = [f"mqlab report {given} -o report.html"]
    steps += [f"mqlab show F1 {given}"] if diagnosis.findings else []
    counted = {"lost_records", "duplicated_records"}
    steps += [f"mqlab audit {given}"] if any(counted & f.measures.keys() for f in diagnosis.findings) else []
    other = next((f.facts["what_if"] for f in diagnosis.findings if "what_if" in f.facts), None)
    steps += [f"mqlab what-if {given} --set {other}"] if other else []
    told = f"exit code {code} with --exit-code"
    whole = "     ".join([*steps, told])
    lines = [whole] if len(whole) <= ROOM else [*steps[:-1], f"{steps[-1]}     {told}"]
    for number, step in enumerate(lines):
        yield f"{'' if number else 'NEXT':<{LABEL}}{safe(step)}"


def every_class(diagnosis: Diagnosis) -> Iterator[str]:
    """Each class that is clear or was not checked, what would help, and each clock."""
    yield ""
    yield from row("CLEAR", ", ".join(diagnosis.clear) or "nothing")
    for entry in diagnosis.not_checked:
        yield from row("", f"{entry.incident}: not checked, missing {'; '.join(entry.missing)}")
        yield from (f"             {safe(command)}" for command in entry.fetch[:3])
    for source, zone in diagnosis.material.time_zones.items():
        yield from row("", f"clock of {source}: {zone}")
