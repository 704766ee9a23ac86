"""What changed? Settings, versions, restarts, membership, on the time axis of the findings."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from mqlab.facts import Episode, Facts, Setting
from mqlab.findings import Change
from mqlab.mqtt.connections import by_client
from mqlab.mqtt.sessions import offline_sessions
from mqlab.mqtt.subscriptions import share_groups
from mqlab.rocketmq.eras import member_changes
from mqlab.shared import configured

_ROTATED = re.compile(r"(?:[.-]\d[\d_-]*)?(?:\.(?:gz|bz2|zst|xz))?$")


_CREATED = 1.0
"""Seconds within which brokers log a topic, its partitions and its settings when it is created."""


def changes(facts: Facts) -> tuple[Change, ...]:
    """Every change that the material dates, by time, and settings that differ between undated files."""
    found = [
        *_settings(facts),
        *_topics(facts),
        *_versions(facts),
        *_processes(facts),
        *_groups(facts),
        *member_changes(facts),
        *_mqtt(facts),
        *_files(facts),
    ]
    return tuple(sorted(found, key=lambda c: (c.at or 0.0, c.what, c.before or "", c.after or "")))


def _settings(facts: Facts) -> Iterator[Change]:
    """Values that a process printed differently when it started again, in the same log or its rotated parts."""
    history: dict[tuple[str, str, str, str], list[Setting]] = defaultdict(list)
    for setting in facts.settings:
        if setting.at is not None and setting.origin == "printed" and setting.owner:
            history[setting.scope, setting.owner, setting.key, _ROTATED.sub("", setting.source)].append(setting)
    for (scope, owner, key, _), values in history.items():
        by_time = sorted(values, key=lambda s: (s.at or 0, s.source, s.line or 0))
        yield from _differing(f"{scope} {owner} {key}", by_time)


def _differing(what: str, values: Sequence[Setting]) -> Iterator[Change]:
    """Where one value followed another."""
    for before, after in pairwise(values):
        if before.value != after.value:
            yield Change(after.at, what, before.value, after.value, (before.evidence, after.evidence), after.at is None)


def _topics(facts: Facts) -> Iterator[Change]:
    known: dict[tuple[str | None, str], str] = {}
    for setting in configured.topic_changes(facts):
        before = known.get((setting.owner, setting.key))
        if before is None and setting.key == "max.message.bytes" and setting.at is not None:
            limit = configured.limit(facts, setting.owner, setting.at - 0.001)
            before = limit.value if limit else None
        known[setting.owner, setting.key] = setting.value
        if not str(setting.owner).startswith("__"):
            after = setting.value or "its default"
            if before is None and not _was_there(facts, setting):
                continue
            yield Change(setting.at, f"topic {setting.owner} {setting.key}", before, after, (setting.evidence,))


def _was_there(facts: Facts, setting: Setting) -> bool:
    """Whether its topic was seen before that moment: else it may have been created with this value."""
    if setting.at is None:
        return False
    measured = (one.points[0][0] for one in facts.series if one.points and one.labels.get("topic") == setting.owner)
    told = (one.first_at for one in facts.episodes if one.topic == setting.owner)
    return any(at is not None and at < setting.at - _CREATED for at in (*measured, *told))


def _versions(facts: Facts) -> Iterator[Change]:
    by_source: dict[str, list[Episode]] = defaultdict(list)
    for episode in facts.of_kind("client-version"):
        by_source[episode.source].append(episode)
    for source, episodes in by_source.items():
        for before, after in pairwise(episodes):
            if before.reason != after.reason:
                places = (before.first, after.first)
                yield Change(after.first_at, f"version in {source}", before.reason, after.reason, places)


def _processes(facts: Facts) -> Iterator[Change]:
    for episode in facts.of_kind("process-exit"):
        status = f"status {episode.value_max:.0f}" if episode.value_max is not None else "ended"
        name = f"process {episode.reason or episode.source} exited"
        yield Change(episode.first_at, name, None, status, (episode.first,))
    for episode in facts.of_kind("process-started"):
        name = f"process {episode.reason or episode.source} started"
        yield Change(episode.first_at, name, None, "running", (episode.first,))
    for episode in facts.of_kind("broker-stopping", "broker-started"):
        after = "running" if episode.kind == "broker-started" else "stopping in good order"
        yield Change(episode.first_at, f"broker {episode.node or episode.source}", None, after, (episode.first,))


def _groups(facts: Facts) -> Iterator[Change]:
    seen = set()
    for episode in facts.of_kind("rebalance-started"):
        if episode.group and episode.group not in seen:
            seen.add(episode.group)
            yield Change(episode.first_at, f"group {episode.group}", None, "first seen to join", (episode.first,))


def _files(facts: Facts) -> Iterator[Change]:
    """Configuration files that differ between two states of the same owner, undated."""
    files: dict[tuple[str, str, str], list[Setting]] = defaultdict(list)
    for setting in facts.settings:
        if setting.origin == "file" and setting.at is None and setting.owner and setting.scope != "application":
            files[setting.scope, setting.owner, setting.key].append(setting)
    for (scope, owner, key), values in files.items():
        each = {s.source: s for s in sorted(values, key=lambda s: (s.source, s.line or 0))}
        yield from _differing(f"{scope} {owner} {key} (undated files)", list(each.values()))


_BEGIN = 10.0
"""Seconds after the first connection in which clients belong to the start of what is watched: a client that is refused
once while the broker starts is back by then (first waits of any library: 1, 2, 4 s)."""
_MOST = 12
"""Clients that come later; more of them are a crowd, not a change of who is there. Judgement, no default behind it:
what fits on a screen."""


def _mqtt(facts: Facts) -> Iterator[Change]:
    """One change for each start of a broker, each client that is new, and each session that is left behind."""
    for start in facts.of_kind("broker-starting"):
        yield Change(start.first_at, f"MQTT broker {start.reason or ''}".strip(), None, "starting", (start.first,))
    yield from _came(facts)
    for session in offline_sessions(facts):
        after = "away, its session is kept"
        yield Change(session.since, f"client {session.client_id}", "connected", after, session.evidence[-1:])


def _came(facts: Facts) -> Iterator[Change]:
    """Clients whose first connection came after the others were there."""
    firsts = {client: own[0] for (_, client), own in by_client(facts).items() if own[0].told_by == "broker"}
    begin = min((c.since for c in firsts.values() if c.since is not None), default=0.0)
    later = [(client, c) for client, c in firsts.items() if c.since is not None and c.since > begin + _BEGIN]
    groups = {member.client_id: group.name for group in share_groups(facts) for member in group.members}
    for client, first in later if len(later) <= _MOST else ():
        shared = f", member of the share group {groups[client]}" if client in groups else ""
        place = () if first.begin is None else (first.begin,)
        yield Change(first.since, f"client {client}", None, f"connected{shared}", place)
