"""What changed? Settings, versions, restarts, membership, on the time axis of the findings."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from mqlab import words
from mqlab.facts import Episode, Facts, Setting
from mqlab.findings import Change
from mqlab.kafka.comings import What, comings
from mqlab.kafka.groups import groups
from mqlab.material.names import copied_name
from mqlab.mqtt import absences, circles
from mqlab.mqtt.accounting import accounts
from mqlab.mqtt.brokers import LASTING
from mqlab.mqtt.connections import by_client
from mqlab.mqtt.explained import unheard
from mqlab.mqtt.sessions import offline_sessions
from mqlab.mqtt.subscriptions import share_groups
from mqlab.rocketmq.eras import member_changes
from mqlab.shared import configured
from mqlab.shared.benign_lines import STARTING, starts

_ROTATED = re.compile(r"(?:[.-]\d[\d_-]*)?(?:\.(?:gz|bz2|zst|xz))?$")

say = words.room("changes")

_CREATED = 5.0
"""Seconds within which brokers log a topic, its partitions and its settings when it is created."""


def changes(facts: Facts) -> tuple[Change, ...]:
    """Every change that the material dates, by time, and settings that differ between undated files."""
    found = [
        *_settings(facts),
        *_listed(facts),
        *_topics(facts),
        *_versions(facts),
        *_processes(facts),
        *_groups(facts),
        *_members(facts),
        *member_changes(facts),
        *_mqtt(facts),
        *_dead_letters(facts),
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
        yield from _differing(say("setting", scope=scope, owner=owner, key=key), by_time)


def _listed(facts: Facts) -> Iterator[Change]:
    """Values that listings show differently, by when the later of two was made; but for those that a log dates."""
    dated = {(one.owner, one.key) for one in configured.topic_changes(facts)}
    history: dict[tuple[str, str, str], list[Setting]] = defaultdict(list)
    for one in facts.settings:
        listed = one.origin in ("describe", "default") and one.at is not None and (one.owner, one.key) not in dated
        if listed and one.owner and not one.owner.startswith("__"):
            history[one.scope, one.owner, one.key].append(one)
    for (scope, owner, key), values in history.items():
        by_time = sorted(values, key=lambda s: (s.at or 0, s.source, s.line or 0))
        for change in _differing(say("setting", scope=scope, owner=owner, key=key), by_time):
            yield replace(change, inferred=True)


def _differing(what: str, values: Sequence[Setting]) -> Iterator[Change]:
    """Where one value followed another."""
    for before, after in pairwise(values):
        if before.value != after.value:
            was, now = words.Quoted(before.value), words.Quoted(after.value)
            yield Change(after.at, what, was, now, (before.evidence, after.evidence), after.at is None)


def _topics(facts: Facts) -> Iterator[Change]:
    known: dict[tuple[str | None, str], str] = {}
    for setting in configured.topic_changes(facts):
        before = known.get((setting.owner, setting.key))
        if before is None and setting.key == "max.message.bytes" and setting.at is not None:
            limit = configured.limit(facts, setting.owner, setting.at - 0.001)
            before = limit.value if limit else None
        known[setting.owner, setting.key] = setting.value
        if not str(setting.owner).startswith("__"):
            after = words.Quoted(setting.value) if setting.value else say("default")
            if before is None and not _was_there(facts, setting):
                continue
            what = say("topic", topic=setting.owner, key=setting.key)
            yield Change(setting.at, what, before and words.Quoted(before), after, (setting.evidence,))


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
                yield Change(after.first_at, say("version", source=source), before.reason, after.reason, places)


_START_UP = 120.0
"""Seconds that what is watched takes to come up: brokers, and then their clients. Judgement, no default behind it."""


def _starts(facts: Facts, *kinds: str) -> Iterator[Episode]:
    """Starts of these kinds, without those at which what is watched came up: before them nothing was seen."""
    first = min((one.first_at for one in facts.episodes if one.first_at is not None), default=0.0)
    seen: set[tuple[bool, str]] = set()
    for one in facts.of_kind(*kinds, "process-exit", "broker-stopping"):
        process = one.kind.startswith("process")
        who = (process, (one.reason if process else one.node) or one.source)
        if one.kind in kinds and (who in seen or one.first_at is None or one.first_at - first > _START_UP):
            yield one
        seen.add(who)


def _processes(facts: Facts) -> Iterator[Change]:
    for episode in facts.of_kind("process-exit"):
        status = say("ended") if episode.value_max is None else say("status", status=episode.value_max)
        name = say("exited", process=episode.reason or episode.source)
        yield Change(episode.first_at, name, None, status, (episode.first,))
    for episode in _starts(facts, "process-started"):
        name = say("started", process=episode.reason or episode.source)
        yield Change(episode.first_at, name, None, say("running"), (episode.first,))
    for episode in (*facts.of_kind("broker-stopping"), *_starts(facts, "broker-started")):
        name = say("broker", broker=episode.node or episode.source)
        after = say("running" if episode.kind == "broker-started" else "stopping")
        yield Change(episode.first_at, name, None, after, (episode.first,))


def _groups(facts: Facts) -> Iterator[Change]:
    """Groups that came while their broker's log was long there: what begins with the log was no change."""
    begins = starts(facts).begins
    seen = set()
    for episode in facts.of_kind("rebalance-started"):
        if episode.group and episode.group not in seen:
            seen.add(episode.group)
            begin = begins.get(episode.source)
            if begin is not None and episode.first_at is not None and episode.first_at - begin <= STARTING:
                continue
            yield Change(episode.first_at, say("group", group=episode.group), None, say("joined"), (episode.first,))


def _members(facts: Facts) -> Iterator[Change]:
    """Members of Kafka's groups that somebody added, stopped or restarted."""
    for group in groups(facts):
        for one in comings(facts, group):
            until = one.until if one.what is What.RESTARTED else None
            after = say("members-came", members=one.members, what=one.what, until=until, several=len(one.members) > 1)
            yield Change(one.since, say("group", group=group), None, after, one.evidence)


_DEAD = "%DLQ%"
"""How RocketMQ's topics of dead letters begin, which are a group's own."""


def _dead_letters(facts: Facts) -> Iterator[Change]:
    """When a group's dead letters were first seen to be more, and how many there were last."""
    rows = [p for p in facts.positions if p.topic.startswith(_DEAD) and p.end is not None and p.at is not None]
    for topic in sorted({p.topic for p in rows}):
        own = sorted((p for p in rows if p.topic == topic), key=lambda p: (p.at or 0.0, p.source, p.line or 0))
        first, last = ({p.queue: p.end or 0 for p in some} for some in (reversed(own), own))
        was, many = sum(first.values()), sum(last.values())
        rose = next((p for p in own if (p.end or 0) > first[p.queue]), own[0])
        name = say("dead-letters", group=topic.removeprefix(_DEAD))
        if many:
            before = say("messages", messages=was) if was < many else None
            yield Change(rose.at, name, before, say("messages", messages=many), (own[-1].evidence,), inferred=True)


def _files(facts: Facts) -> Iterator[Change]:
    """Configuration files that differ between two states of the same owner, undated."""
    files: dict[tuple[str, str, str], list[Setting]] = defaultdict(list)
    for setting in facts.settings:
        owner = setting.owner or (copied_name(setting.source) if setting.scope == "broker" else None)
        if setting.origin == "file" and setting.at is None and owner and setting.scope != "application":
            files[setting.scope, owner, setting.key].append(setting)
    for (scope, owner, key), values in files.items():
        each = {s.source: s for s in sorted(values, key=_copies_first)}
        yield from _differing(say("undated", scope=scope, owner=owner, key=key), list(each.values()))


def _copies_first(setting: Setting) -> tuple[bool, str, int]:
    """Whoever changes a file keeps what it was under another name (``.bak``, ``.orig``, ``.before-…``)."""
    return copied_name(setting.source) == setting.source, setting.source, setting.line or 0


_BEGIN = 10.0
"""Seconds after the first connection in which clients belong to the start of what is watched: a client that is refused
once while the broker starts is back by then (first waits of any library: 1, 2, 4 s)."""
_MOST = 12
"""Clients that come later, or miss messages; more of them are a crowd, not a change of who is there. Judgement, no
default behind it: what fits on a screen."""


def _mqtt(facts: Facts) -> Iterator[Change]:
    """Each new start of a broker, each client that is new, restarted, left its session behind, or missed messages."""
    for start in _starts(facts, "broker-starting"):
        name = say("broker", broker=start.node or start.source)
        yield Change(start.first_at, name, None, say("starting", release=start.reason or None), (start.first,))
    for bridge, (opened, start) in circles.given_up(facts).items():
        name = say("bridge", bridge=bridge.name, broker=bridge.here)
        yield Change(start.first_at, name, say("opened"), say("not-opened"), (opened.first, start.first))
    yield from _came(facts)
    for session in offline_sessions(facts):
        name = say("client", client=session.client_id)
        yield Change(session.since, name, say("connected"), say("away"), session.evidence[-1:])
    missed = tuple(_missed(facts))
    yield from missed
    known = {(change.at, change.what) for change in missed}
    yield from (change for change in _restarted(facts) if (change.at, change.what) not in known)


_ONCE = 2
"""Restarts of a client that are told; who leaves in good order more often does so by habit."""


def _restarted(facts: Facts) -> Iterator[Change]:
    """Clients that had long been there, left in good order and were back as soon as a restart takes."""
    found = []
    for (_, client), own in by_client(facts).items():
        pairs = [
            (before, after) for before, after in pairwise(own)
            if before.ended == "normal" and (before.seconds or 0.0) >= LASTING and before.end and after.begin
            and 0 <= (after.since or 0.0) - (before.until or 0.0) <= LASTING
        ]  # fmt: skip
        if len(own) <= _ONCE + 1:
            found += [(client, *pair) for pair in pairs]
    for client, before, after in found if len(found) <= _MOST else ():
        places = tuple(place for place in (before.end, after.begin) if place is not None)
        then = say("absent", until=after.since)
        yield Change(before.until, say("client", client=client), say("connected"), then, places)


def _missed(facts: Facts) -> Iterator[Change]:
    """Clients that were not connected, and missed messages that nobody kept for them."""
    lost = [(own.clients, [(r.first_at, r.last_at) for r in unheard(facts, own)]) for own in accounts(facts)]
    away = sorted({a for clients, at in lost for a in absences.spans(facts, clients, at)}, key=lambda a: a.since)
    for one in away if len(away) <= _MOST else ():
        after = say("absent", until=one.until)
        yield Change(one.since, say("client", client=one.client_id), say("connected"), after, one.evidence)


def _came(facts: Facts) -> Iterator[Change]:
    """Clients whose first connection came after the others were there."""
    firsts = {client: own[0] for (_, client), own in by_client(facts).items() if own[0].told_by == "broker"}
    begin = min((c.since for c in firsts.values() if c.since is not None), default=0.0)
    later = [(client, c) for client, c in firsts.items() if c.since is not None and c.since > begin + _BEGIN]
    groups = {member.client_id: group.name for group in share_groups(facts) for member in group.members}
    for client, first in later if len(later) <= _MOST else ():
        group = groups.get(client)
        after = say("connected-shared", group=group) if group else say("connected")
        place = () if first.begin is None else (first.begin,)
        yield Change(first.since, say("client", client=client), None, after, place)
