"""The diagnosis as JSON, schema ``mqlab.diagnosis/2``: the same facts give the same bytes."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import Any

from mqlab.diagnosis import Diagnosis, Material, Verdict
from mqlab.findings import Change, Evidence, Finding
from mqlab.hypotheses import Hypothesis
from mqlab.units import iso
from mqlab.views.audit_json import chain_json

SCHEMA = "mqlab.diagnosis/2"


def diagnosis_json(diagnosis: Diagnosis) -> dict[str, Any]:
    """Everything a program may want to know about the diagnosis, as JSON-ready values.

    ``chains`` is there where messages went over a bridge, ``withdrawn`` where a rule claimed what cannot be true.
    """
    told = {
        "schema": SCHEMA,
        "version": diagnosis.version,
        "material": _material(diagnosis.material),
        "verdict": _verdict(diagnosis.verdict),
        "findings": [_finding(finding) for finding in diagnosis.findings],
        "rejected": [asdict(entry) for entry in sorted(diagnosis.rejected, key=lambda e: (e.incident, e.because))],
        "clear": sorted(diagnosis.clear),
        "not_checked": [asdict(entry) for entry in sorted(diagnosis.not_checked, key=lambda e: e.incident)],
        "changes": [_change(change) for change in sorted(diagnosis.changes, key=_by_time)],
    }
    over = [chain_json(chain) for chain in diagnosis.chains if chain.system]
    gone = [asdict(one) for one in diagnosis.withdrawn]
    return told | ({"chains": over} if over else {}) | ({"withdrawn": gone} if gone else {})


def dumps(diagnosis: Diagnosis) -> str:
    """The JSON text that ``mqlab triage --format json`` prints and the report leaves beside itself."""
    return json.dumps(diagnosis_json(diagnosis), ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def _material(material: Material) -> dict[str, Any]:
    told = asdict(material)
    return told | {
        "unrecognised": sorted(material.unrecognised),
        "window": [iso(at) for at in material.window],
        "time_zones": dict(sorted(material.time_zones.items())),
        "copies": {path: {"of": of, "lines": lines} for path, (of, lines) in sorted(material.copies.items())},
    }


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return asdict(verdict) | {
        "certainty": None if verdict.certainty is None else verdict.certainty.name.lower(),
        "hypotheses": [_hypothesis(hypothesis) for hypothesis in verdict.hypotheses],
    }


def _hypothesis(hypothesis: Hypothesis) -> dict[str, Any]:
    told = asdict(hypothesis) | {"for": [_evidence(evidence) for evidence in hypothesis.evidence]}
    return {name: told[name] for name in ("incident", "weight", "explains", "for", "against", "unexplained", "settle")}


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "id": finding.id,
        "incident": finding.incident,
        "severity": finding.severity.name.lower(),
        "certainty": finding.certainty.name.lower(),
        "subject": finding.subject,
        "started_at": iso(finding.started_at),
        "ended_at": iso(finding.ended_at),
        "ongoing": finding.ongoing,
        "over": finding.over,
        "measures": {name: _measured(value) for name, value in sorted(finding.measures.items())},
        "evidence": [_evidence(evidence) for evidence in finding.evidence],
        "explains": sorted(finding.explains),
        "statement": finding.statement,
        "mitigate": finding.mitigate,
        "remedy": finding.remedy,
        "verify": finding.verify,
    }


def _evidence(evidence: Evidence) -> dict[str, Any]:
    place = {"source": evidence.source, "line": evidence.line, "text": evidence.text}
    return place if evidence.pointer is None else place | {"pointer": evidence.pointer}


def _change(change: Change) -> dict[str, Any]:
    place = change.evidence[0] if change.evidence else Evidence("", None, "")
    return {
        "at": iso(change.at),
        "what": change.what,
        "from": change.before,
        "to": change.after,
        "source": place.source or None,
        "line": place.line,
    }


def _by_time(change: Change) -> tuple[float, str, str]:
    return (math.inf if change.at is None else change.at, change.what, change.after or "")


def _measured(value: float) -> float | int | None:
    """Six significant digits; whole numbers stay whole."""
    if not math.isfinite(value):
        return None
    rounded = float(f"{value:.6g}")
    return int(rounded) if rounded.is_integer() else rounded
