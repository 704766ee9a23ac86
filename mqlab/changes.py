"""What changed? Settings, versions, restarts, membership, on the time axis of the findings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TypeVar

from mqlab import configured
from mqlab.facts import Change, Episode, Facts, Setting

_T = TypeVar("_T")


def changes(facts: Facts) -> tuple[Change, ...]:
    """Every change that the material dates, by time."""
    found = [
        *_settings(facts),
        *_topics(facts),
        *_versions(facts),
        *_processes(facts),
        *_groups(facts),
        *_starting_loads(facts),
    ]
    return tuple(sorted(found, key=lambda c: (c.at or 0.0, c.what, c.before or "", c.after or "")))


def _settings(facts: Facts) -> Iterator[Change]:
    history: dict[tuple[str, str, str], list[Setting]] = defaultdict(list)
    for setting in facts.settings:
        if setting.at is not None and setting.origin == "printed" and setting.owner:
            history[setting.scope, setting.owner, setting.key].append(setting)
    for (scope, owner, key), values in history.items():
        ordered = sorted(values, key=lambda s: (s.at or 0, s.source, s.line or 0))
        for before, after in _pairs(ordered):
            if before.value != after.value and before.source == after.source:
                yield Change(
                    after.at, f"{scope} {owner} {key}", before.value, after.value, (before.evidence, after.evidence)
                )


def _topics(facts: Facts) -> Iterator[Change]:
    for setting in configured.topic_changes(facts):
        if not str(setting.owner).startswith("__"):
            yield Change(setting.at, f"topic {setting.owner} {setting.key}", None, setting.value, (setting.evidence,))


def _versions(facts: Facts) -> Iterator[Change]:
    by_source: dict[str, list[Episode]] = defaultdict(list)
    for episode in facts.of_kind("client-version"):
        by_source[episode.source].append(episode)
    for source, episodes in by_source.items():
        for before, after in _pairs(episodes):
            if before.reason != after.reason:
                yield Change(
                    after.first_at, f"version in {source}", before.reason, after.reason, (before.first, after.first)
                )


def _processes(facts: Facts) -> Iterator[Change]:
    for episode in facts.of_kind("process-exit"):
        status = f"status {episode.value_max:.0f}" if episode.value_max is not None else "ended"
        yield Change(episode.first_at, f"process {episode.reason or episode.source} exited", None, status, (episode.first,))
    for episode in facts.of_kind("process-started"):
        yield Change(episode.first_at, f"process {episode.reason or episode.source} started", None, "running", (episode.first,))
    for episode in facts.of_kind("broker-stopping", "broker-started"):
        after = "running" if episode.kind == "broker-started" else "stopping in good order"
        name = f"broker {episode.node or episode.source}"
        yield Change(episode.first_at, name, None, after, (episode.first,))


def _groups(facts: Facts) -> Iterator[Change]:
    seen = set()
    for episode in facts.of_kind("rebalance-started"):
        if episode.group and episode.group not in seen:
            seen.add(episode.group)
            yield Change(episode.first_at, f"group {episode.group}", None, "first seen to join", (episode.first,))


def _starting_loads(facts: Facts) -> Iterator[Change]:
    """Configuration files that differ between two states of the same owner, undated."""
    files: dict[tuple[str, str, str], list[Setting]] = defaultdict(list)
    for setting in facts.settings:
        if setting.origin == "file" and setting.at is None and setting.owner and setting.scope != "application":
            files[setting.scope, setting.owner, setting.key].append(setting)
    for (scope, owner, key), values in files.items():
        for before, after in _pairs(sorted(values, key=lambda s: (s.source, s.line or 0))):
            if before.value != after.value and before.source != after.source:
                yield Change(
                    None, f"{scope} {owner} {key} (undated files)", before.value, after.value,
                    (before.evidence, after.evidence), inferred=True,
                )  # fmt: skip


def _pairs(values: Iterable[_T]) -> Iterator[tuple[_T, _T]]:
    before: _T | None = None
    for value in values:
        if before is not None:
            yield before, value
        before = value
