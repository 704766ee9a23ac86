"""Symptoms among events: those that mean trouble, and brokers that died."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from mqlab import ordinary
from mqlab.delivery_groups.aside import shelf
from mqlab.facts import Episode, Facts
from mqlab.findings import Finding
from mqlab.log_growth import lines
from mqlab.mqtt import symptoms
from mqlab.questions.wording import clock
from mqlab.rows.lines import LineShape
from mqlab.symptoms.symptom import Symptom, explained
from mqlab.symptoms.trouble import DISPROVED, FAILING_OVER, NOTICED, SINGLE, TROUBLE
from mqlab.units import counted

RESTART = 60.0
"""Seconds around a broker's orderly restart in which clients and followers notice it."""


def troubles(
    facts: Facts, findings: Sequence[Finding], rejected: Collection[str], loud: Collection[LineShape]
) -> Iterator[Symptom]:
    """Kinds of trouble that are left; splits that end by themselves (*rejected*) and lines of *loud* shapes are not."""
    orderly = [e.first_at for e in facts.of_kind("broker-stopping") if e.first_at is not None]
    for kind, classes in TROUBLE.items():
        left = [e for e in facts.of_kind(kind) if not explained(e.first_at, findings, classes) and _abnormal(facts, e)]
        if DISPROVED.get(kind) in rejected:
            continue
        flooded = lines.accounted_sources(loud, facts.of_kind(kind))
        left = [e for e in left if e.source not in flooded]
        if kind in NOTICED:
            left = [e for e in left if e.first_at is None or not any(abs(e.first_at - r) <= RESTART for r in orderly)]
        count = sum(e.count for e in left)
        if not left or count < SINGLE.get(kind, 1):
            continue
        place = f"{left[0].source}:{left[0].first.line}"
        yield Symptom(
            left[0].first_at, f"{clock(left[0].first_at)} UTC: {kind}, {counted(count, 'time')}, first at {place}"
        )


def _abnormal(facts: Facts, episode: Episode) -> bool:
    if episode.kind == "record-failed" and episode.topic and shelf(facts, episode.topic):
        return False
    if episode.kind != "process-exit":
        return symptoms.abnormal(facts, episode)
    if episode.value_max is None:
        return "Killed" in episode.first.text
    return episode.value_max not in ordinary.ORDERLY


def crashes_of_brokers(facts: Facts, findings: Sequence[Finding]) -> Iterator[Symptom]:
    """Brokers that started again without having stopped in good order."""
    running: set[str] = set()
    told = facts.of_kind("broker-started", "broker-starting", "broker-stopping", "broker-stopped")
    for episode in sorted(told, key=lambda e: (e.first_at or 0.0, e.source, e.first.line or 0)):
        if episode.kind not in ("broker-started", "broker-starting"):
            running.discard(episode.source)
        elif episode.source in running and not explained(episode.first_at, findings, FAILING_OVER):
            when, place = clock(episode.first_at), f"{episode.source}:{episode.first.line}"
            yield Symptom(episode.first_at, f"{when} UTC: broker started again without an orderly stop, {place}")
        else:
            running.add(episode.source)
