"""Who was in a RocketMQ group when, process by process, by each source that can tell, and whose processes restarted.

Three kinds of sources tell it: the broker's list of connections (``consumerConnection``), the broker's log, and the
logs of the clients themselves. A process is told by the address that the broker sees, or by the folder its log lies in.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, zip_longest
from math import inf

from mqlab import words
from mqlab.facts import Episode, Facts, span
from mqlab.memo import per_facts
from mqlab.rocketmq.slots import REBALANCED
from mqlab.shared.actors import base_name, folder
from mqlab.shared.queues import OWN, TOGETHER, Member, Points, Snapshot, Stream, of_groups
from mqlab.shared.restarts import CLOCKS, Restart, Round, runs
from mqlab.sources import Role
from mqlab.words import Text

say = words.room("restarts")

ROCKETMQ = "rocketmq"
EXPIRY = 130.0
"""Seconds for which a dead connection may stay listed: 120 s after its last heartbeat, and the scan is every 10 s."""
HEARTBEATS = 60.0
"""Two heartbeats of a client (heartbeatBrokerInterval 30000): by then each has connected to a broker that started, and
every broker and client has heard of a change."""
_SAID = "unregistered"
"""How a connection ends that its client ends itself."""
_CHANGES = ("consumer-connected", "consumer-disconnected", "queues-allocated")
"""Events at which members come, leave or get other queues."""
_DIFFER = ("update", "remove")
"""What a broker does to a subscription where members differ; one that comes adds it, or says the same again."""
_BROADCASTING = "BROADCASTING"
NOT_LATEST = "not latest"
"""Why a pull is refused whose subscription is newer than the one that the broker heard of."""
NOT_ONLINE = "CODE: 206"
"""CONSUMER_NOT_ONLINE of ResponseCode."""


@per_facts
def groups(facts: Facts) -> tuple[str, ...]:
    """Groups of RocketMQ consumers that anything in the material names."""
    named = {c.group for c in facts.clients if c.system == ROCKETMQ}
    named |= {e.group for e in facts.episodes if e.system == ROCKETMQ and not e.kind.startswith("producer-")}
    return tuple(sorted(name for name in named if name and not name.startswith("%")))


@per_facts
def broadcast(facts: Facts, group: str) -> bool:
    """A setting, or a member's log as it starts, says that each member of *group* reads all."""
    told = (s.value for s in facts.settings if s.owner == group and s.key == "messageModel")
    started = (e.reason for e in facts.of_kind("consumer-starting") if e.group == group)
    return _BROADCASTING in {*told, *started}


@per_facts
def topics(facts: Facts) -> Mapping[tuple[str, str], Mapping[str, Points]]:
    """Queues of every (group, topic) of RocketMQ, without the groups' own retry topics.

    Members of a broadcast group keep their positions themselves: what a broker has of it stands still.
    """
    known = {group for group in groups(facts) if not broadcast(facts, group)}
    return {key: q for key, q in of_groups(facts).items() if key[0] in known and not key[1].startswith(OWN)}


@per_facts
def streams(facts: Facts, group: str) -> tuple[Stream, ...]:
    """Every source's view of *group*, the most direct one first."""
    return tuple(s for s in (_listed(facts, group), *_logged(facts, group), _own_logs(facts, group)) if s.snapshots)


def _listed(facts: Facts, group: str) -> Stream:
    """Brokers that are asked within one snapshot list the same group; the longest list counts."""
    rows = [c for c in facts.clients if c.group == group and c.system == ROCKETMQ and c.at is not None and c.peer]
    rows.sort(key=lambda c: (c.at or 0.0, c.source, c.line or 0))
    found: list[Snapshot] = []
    for (at, source), told in groupby(rows, key=lambda c: (c.at or 0.0, c.source)):
        members = {(c.client_id or "", c.peer or ""): Member(c.client_id or "", c.peer or "", c.evidence) for c in told}
        one = Snapshot(at, tuple(members[key] for key in sorted(members)), source)
        if found and at - found[-1].at <= TOGETHER and source != found[-1].source:
            found[-1] = max(found[-1], one, key=lambda s: len(s.members))
        else:
            found.append(one)
    return Stream("listing", tuple(found), found[-1].at if found else 0.0, lasting=False)


def _logged(facts: Facts, group: str) -> Iterator[Stream]:
    """A stream for each broker's log that tells who came and went."""
    ends = log_ends(facts)
    by_source: dict[str, list[Episode]] = defaultdict(list)
    for episode in facts.of_kind(
        "consumer-connected", "consumer-disconnected", "group-offline", "rocketmq-broker-started"
    ):
        if episode.first_at is not None and episode.group in (group, None):
            by_source[f"{folder(episode.source)}/{base_name(episode.source)}"].append(episode)
    for _, told in sorted(by_source.items()):
        snapshots = tuple(_followed(sorted(told, key=lambda e: (e.first_at or 0.0, e.first.line or 0))))
        if snapshots:
            yield Stream("broker log", snapshots, max(ends[folder(told[0].source)], snapshots[-1].at), lasting=True)


def _followed(told: Sequence[Episode]) -> Iterator[Snapshot]:
    live: dict[tuple[str, str], Member] = {}
    for episode in told:
        client, place = episode.client_id or "", episode.peer or ""
        if episode.kind == "consumer-connected":
            live[client, place] = Member(client, place, episode.first)
        elif episode.kind == "consumer-disconnected":
            # The line about an expired channel names its address only.
            live = {key: m for key, m in live.items() if key[1] != place or (client and key[0] != client)}
        else:
            live.clear()
        yield Snapshot(episode.first_at or 0.0, tuple(live[key] for key in sorted(live)))


def _own_logs(facts: Facts, group: str) -> Stream:
    """What the clients' logs say of themselves.

    A process has the id of its last allocation until it stops or starts anew, or its log ends.
    """
    told = [e for e in facts.of_kind("queues-allocated") if e.group == group and e.client_id and e.first_at is not None]
    ends = log_ends(facts)
    by_folder: dict[str, list[Episode]] = defaultdict(list)
    for episode in told:
        by_folder[folder(episode.source)].append(episode)
    for episode in facts.of_kind("consumer-stopped", "client-created"):
        if folder(episode.source) in by_folder and episode.first_at is not None and episode.group in (group, None):
            by_folder[folder(episode.source)].append(episode)
    every = [episode for lines in by_folder.values() for episode in lines]
    every.sort(key=lambda e: (e.first_at or 0.0, e.source, e.first.line or 0))
    found = tuple(_lived(every, {place: ends[place] for place in by_folder}))
    return Stream("client logs", found, found[-1].at if found else 0.0, lasting=True)


def _lived(lines: Sequence[Episode], ends: Mapping[str, float]) -> Iterator[Snapshot]:
    """A snapshot whenever a process takes another id, stops, starts anew, or its log ends."""
    live: dict[str, Member] = {}
    over = deque(sorted((until, place) for place, until in ends.items()))
    for episode in lines:
        at, place = episode.first_at or 0.0, folder(episode.source)
        yield from _ended(live, over, at)
        before = live.get(place)
        if episode.kind != "queues-allocated" or at >= ends[place]:
            live.pop(place, None)
        elif before is None or before.client_id != episode.client_id:
            live[place] = Member(episode.client_id or "", place, episode.first)
        if live.get(place) is not before:
            yield Snapshot(at, tuple(live[p] for p in sorted(live)))
    yield from _ended(live, over, inf)


def _ended(live: dict[str, Member], over: deque[tuple[float, str]], at: float) -> Iterator[Snapshot]:
    """Processes whose logs have ended by then leave."""
    while over and over[0][0] <= at:
        until, gone = over.popleft()
        if live.pop(gone, None):
            yield Snapshot(until, tuple(live[p] for p in sorted(live)))


@per_facts
def log_ends(facts: Facts) -> Mapping[str, float]:
    """When the logs of each folder end."""
    found: dict[str, float] = defaultdict(float)
    for episode in facts.episodes:
        place = folder(episode.source)
        found[place] = max(found[place], episode.last_at or 0.0)
    for coverage in facts.coverage:
        place = folder(coverage.source)
        found[place] = max(found[place], coverage.last_at or 0.0)
    return found


def reserved_seconds(facts: Facts | None) -> float | None:
    """The shortest time for which a broker keeps messages (fileReservedTime, in hours)."""
    told = [s.value for s in facts.settings if s.key == "fileReservedTime"] if facts else []
    return min((int(hours) * 3600.0 for hours in told if hours.isdigit()), default=None)


def deleting_hours(facts: Facts) -> tuple[str, ...]:
    """The hours at which brokers delete files that are old enough (deleteWhen), as settings tell."""
    told = (s.value for s in facts.settings if s.key == "deleteWhen")
    return tuple(sorted({hour for value in told for hour in value.split(";") if hour.isdigit()}, key=int))


Process = tuple[str, str, str]
"""(host, client id, place where the id alone tells no process)."""


def rounds(facts: Facts, group: str) -> tuple[Round, ...]:
    """Runs of restarts of *group*'s members, by the first source that shows some: the brokers' logs, then listings.

    A member is told by its host: a restart gives it another port, and from client 4.9 on another id. The former
    process leaves when the new one comes; one that stays has got a second process beside it.
    """
    views = [view for view in streams(facts, group) if view.how != "client logs"]
    ordered = sorted(views, key=lambda view: not view.lasting)
    return next(filter(None, (tuple(_rounds(facts, group, view)) for view in ordered)), ())


def _rounds(facts: Facts, group: str, view: Stream) -> Iterator[Round]:
    """Whole are those before and after which the same hosts were there, each of which came again once."""
    hosts = [(s.at, {m.host for m in s.members}) for s in view.snapshots if s.members]
    for run in runs(_restarts(facts, view)):
        before = {host for at, there in hosts if at < run[0].started for host in there}
        after = any(there == before for at, there in hosts if at >= run[-1].started)
        yield Round(group, run, after and sorted(before) == sorted(restart.member for restart in run))


def _restarts(facts: Facts, view: Stream) -> Iterator[Restart]:
    """Processes of another id, or to one broker from another port, that came in the place of one that left."""
    starts = [e.first_at for e in facts.of_kind("rocketmq-broker-started") if e.first_at is not None]
    gone: dict[Process, float] = {}
    for snapshot, later in zip_longest(view.snapshots, view.snapshots[1:]):
        gone |= {_process(view, m): later.at if later else inf for m in snapshot.members}
    seen: set[Process] = set()
    former: dict[str, list[Process]] = defaultdict(list)
    for snapshot in view.snapshots:
        there = {_process(view, m): m for m in snapshot.members}
        afresh = any(0 <= snapshot.at - start <= HEARTBEATS for start in starts)
        for member in (there[process] for process in sorted(there.keys() - seen)):
            left = [old for old in former[member.host] if gone[old] <= snapshot.at + EXPIRY]
            if left and not afresh:
                old = min(left, key=gone.__getitem__)
                former[member.host].remove(old)
                places = (member.evidence.because(say("again")),)
                stopped = min(gone[old], snapshot.at)
                yield Restart(member.host, stopped, snapshot.at, _said_so(facts, old, gone[old]), None, places)
        for process in sorted(there.keys() - seen):
            former[process[0]].append(process)
        seen |= there.keys()


def releases(facts: Facts, group: str) -> tuple[Round, ...]:
    """Rounds in which every member came again, and none is seen to have ended without unregistering.

    Where nothing tells how they ended, they must have been replaced one after another.
    """
    return tuple(
        one
        for one in rounds(facts, group)
        if one.whole and not _lost(one) and (one.sequence or all(restart.orderly for restart in one.restarts))
    )


def no_release(facts: Facts, group: str) -> Text | None:
    """Which restarts of a group's members contradict a release; None where none do."""
    died = {restart.member for one in rounds(facts, group) for restart in _lost(one)}
    return say("not-unregistered", group=group, members=len(died)) if died else None


def _lost(round_: Round) -> list[Restart]:
    return [restart for restart in round_.restarts if restart.orderly is False]


def _said_so(facts: Facts, process: Process, at: float) -> bool | None:
    """A broker's log has its good-bye; not, if that has only the end of its connection; None where it has neither."""
    _, client, place = process
    told = facts.near(at, CLOCKS, "consumer-disconnected")
    ends = {line.reason for line in told if line.client_id == client or (place and line.peer == place)}
    return True if _SAID in ends else False if ends & {"closed", "expired"} else None


def _process(view: Stream, member: Member) -> Process:
    """An id with a number of its own is one process, whatever port it connects from; a listing tells ids only."""
    return (member.host, member.client_id, member.place if view.lasting and "#" not in member.client_id else "")


def comes_with_a_change(facts: Facts, line: Episode) -> bool:
    """What members print as they come and go: a pull before a heartbeat or after a good-bye, a queue's hand-over."""
    if line.first_at is None:
        return False
    if line.kind == "offset-went-back":
        return _near_a_change(facts, line, REBALANCED)
    if line.kind in ("group-unknown", "not-in-group"):
        middle, reach = line.first_at - (HEARTBEATS - CLOCKS) / 2, (HEARTBEATS + CLOCKS) / 2
        return any(_is_of(line, e) for e in facts.near(middle, reach, "consumer-disconnected", "consumer-stopped"))
    return line.kind == "subscription-missing" and line.reason == NOT_LATEST and _awaits_heartbeat(facts, line)


def _is_of(line: Episode, end: Episode) -> bool:
    """The *end* is a good-bye of the *line*'s client, or of its group where it names no client."""
    if end.kind == "consumer-stopped":
        return end.source == line.source
    return end.reason == _SAID and line.client_id in (None, end.client_id) and line.group in (None, end.group)


def _near_a_change(facts: Facts, line: Episode, reach: float) -> bool:
    """All of the *line* is near one at which members came, left or got other queues."""
    near = [facts.near(at, reach, *_CHANGES) for at in (line.first_at, line.last_at) if at is not None]
    return all(any(e.group == line.group for e in changes) for changes in near)


def _awaits_heartbeat(facts: Facts, line: Episode) -> bool:
    """A consumer that starts pulls before the heartbeat that tells the broker of its subscription, and is refused.

    The broker's log shows all of them; a line of one client does not show whether it went on, and is one of those.
    """
    brokers = {c.source for c in facts.coverage if c.role is Role.BROKER_LOG}
    refused = [e for e in facts.of_kind(line.kind) if e.reason == NOT_LATEST and e.source in brokers]
    if line.source not in brokers:
        return any(e in refused for e in facts.near(line.first_at or inf, CLOCKS, line.kind))
    since, until = span(at for e in refused if e.group == line.group for at in (e.first_at, e.last_at))
    changed = any(e.group == line.group and e.reason in _DIFFER for e in facts.of_kind("subscription-changed"))
    brief = since is not None and until is not None and until - since <= HEARTBEATS
    return not changed and (brief or _near_a_change(facts, line, HEARTBEATS))
