"""The way of MQTT messages as JSON-ready values; times in UTC, null for what the material does not say."""

from __future__ import annotations

from typing import Any

from mqlab.bridging import words
from mqlab.bridging.rows import Chain, Gap, Stage
from mqlab.findings import Evidence
from mqlab.units import iso


def chain_json(chain: Chain) -> dict[str, Any]:
    """One way with its stages and what is missing."""
    return {
        "system": chain.system,
        "topic": chain.topic,
        "bridge": list(chain.bridge),
        "by": chain.by,
        "outcome": words.outcome(chain),
        "statement": words.sentence(chain),
        "stages": [_stage(stage) for stage in chain.stages],
        "missing": [_gap(gap) for gap in chain.gaps],
        "notes": list(chain.notes),
    }


def _stage(one: Stage) -> dict[str, Any]:
    return {
        "stage": one.step.value,
        "who": one.who or None,
        "messages": one.messages,
        "at_least": one.low,
        "at_most": one.high,
        "copies": one.again,
        "how": one.how,
        "since": iso(one.since),
        "until": iso(one.until),
        "shares": [{"who": s.who, "messages": s.messages, "source": s.place} for s in one.shares],
        "evidence": [_place(place) for place in one.evidence],
    }


def _gap(one: Gap) -> dict[str, Any]:
    return {
        "after": one.after.value,
        "before": one.before.value,
        "where": one.where.value,
        "who": one.who or None,
        "messages": one.messages,
        "at_least": one.low,
        "at_most": one.high,
        "how": one.how,
        "since": iso(one.since),
        "until": iso(one.until),
        "offline_since": iso(one.away_since),
        "evidence": [_place(place) for place in one.evidence],
    }


def _place(one: Evidence) -> dict[str, Any]:
    return {"source": one.source, "line": one.line, "text": one.text}
