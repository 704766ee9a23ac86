"""Tiles of findings about the members of a consumer group: polls, silences, restarts, what they cost."""

from __future__ import annotations

from collections.abc import Mapping

from mqlab import units
from mqlab.reporting.evidence import Dossier, Measured
from mqlab.reporting.tile import Tile

_OWN = ("longest_batch_seconds", "silent_seconds", "restarts", "retries", "rebalances")
"""Measures that only findings about members have; one of them makes the tiles."""
_TITLES = {
    "longest_batch_seconds": "longest poll",
    "silent_seconds": "without a word",
    "restarts": "restarts of members",
    "retries": "tries of one record",
    "rebalances": "rebalances",
    "duplicated_records": "records handed out again",
    "stalled_seconds": "stood still",
    "peak_lag": "messages waited at most",
}
"""The most telling first."""


def grouped(found: tuple[Dossier, ...]) -> list[Tile]:
    """At most three; none for findings about anything else."""
    first = found[0]
    if not set(_OWN) & first.finding.measures.keys():
        return []
    every = {one.name: (dossier, one) for dossier in reversed(_told(found)) for one in dossier.measures}
    names = [name for name in _TITLES if name in every and every[name][0].finding.measures[name]]
    return [_tile(name, *every[name]) for name in names[:3]]


def _told(found: tuple[Dossier, ...]) -> list[Dossier]:
    """The first finding and its consequences."""
    first = found[0]
    return [d for d in found if d is first or d.finding.incident in first.finding.explains]


def _tile(name: str, dossier: Dossier, one: Measured) -> Tile:
    return Tile(_TITLES[name], one.value, _note(name, dossier.finding.measures), f"#{one.anchor}")


def _note(name: str, measures: Mapping[str, float]) -> str:
    if name == "longest_batch_seconds" and "poll_interval_seconds" in measures:
        return f"{units.duration(measures['poll_interval_seconds'])} may pass between two polls"
    if name == "silent_seconds" and "session_timeout_seconds" in measures:
        return f"session timeout {units.duration(measures['session_timeout_seconds'])}"
    if name == "duplicated_records" and "records_handled" in measures:
        return f"of {units.number(round(measures['records_handled']))} records"
    if name == "peak_lag" and "lag_growth_per_second" in measures:
        return f"{units.digits(measures['lag_growth_per_second'])}/s more while it lasted"
    return ""
