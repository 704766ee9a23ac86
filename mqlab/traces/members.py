"""Members of groups as listings and their own metrics show them: who gives way to whom, falls silent, polls late."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise
from statistics import median

from mqlab.facts import Facts, Position, Series
from mqlab.findings import Evidence
from mqlab.kafka import groups as kafka_groups
from mqlab.kafka.poll_limits import interval
from mqlab.marks import Mark, say
from mqlab.rows import Assignment
from mqlab.traces.marking import mark

_INTERVAL = 300.0
"""The default of max.poll.interval.ms in seconds."""
_SILENT = 10.0
"""Seconds without a heartbeat: the shortest default of session.timeout.ms (before 3.0), three intervals and more."""
_NEVER = 1e8
"""What last-heartbeat-seconds-ago shows where there was none yet: seconds since 1970."""
_STEPS = ("rebalance-started", "rebalance-stabilized")
_PENDING = re.compile("pending .*session timeout", re.IGNORECASE)
"""How a coordinator removes an id that it had handed out (KIP-394)."""
_TOGETHER = 5.0
"""Seconds within which all members fall silent that lost their coordinator."""
_Listing = dict[str, tuple[str, Evidence]]
"""Client and place by member id, as one moment shows them."""


def replaced(facts: Facts) -> Iterator[Mark]:
    """Members of Kafka that gave way to others of the same client, or were away, as listings show.

    The id of a static member begins with its group.instance.id, that of any other with its client id.
    """
    lists: dict[str, dict[float, _Listing]] = defaultdict(lambda: defaultdict(dict))
    rows: tuple[Position | Assignment, ...] = (*facts.positions, *facts.assignments)
    for row in rows:
        if row.group and row.client_id and row.member_id and row.at is not None:
            lists[row.group][row.at][row.member_id] = (row.client_id, row.evidence)
    for group, by_moment in lists.items():
        changes = list(_changes([by_moment[at] for at in sorted(by_moment)]))
        seen = [(member, client) for listing in by_moment.values() for member, (client, _) in listing.items()]
        replaced = Counter(client for client, _, is_back in changes if not is_back)
        moments = {place: at for at, listing in by_moment.items() for _, place in listing.values()}
        if replaced:
            times = {replaced[client] for _, client in seen}  # a release replaces every member as often as the others
            each = len(times) == 1 and (len(replaced) > 1 or times == {1})
            static = not all(member.startswith(f"{client}-") for member, client in seen)
            places = [place for _, place, is_back in changes if not is_back]
            kind = f"member-replaced{': each' if each else ': static' if static else ''}"
            yield mark(kind, [(None, place) for place in places], group)
        if told := [(moments[place], place) for _, place, is_back in changes if is_back]:
            yield mark("member-returned", told, group)
    for group in kafka_groups.groups(facts):
        if group not in lists and (known := kafka_groups.returning(facts, group)):
            yield mark("member-replaced", [(None, place) for place in known], group)


def _changes(listings: Iterable[_Listing]) -> Iterator[tuple[str, Evidence, bool]]:
    """(client, place, whether it had been there before) for each member that came after one of its client had gone."""
    gone: dict[str, list[str]] = defaultdict(list)
    before: _Listing = {}
    for now in listings:
        for member in sorted(before.keys() - now.keys()):
            gone[before[member][0]].append(member)
        for member, (client, place) in now.items():
            if member not in before and gone[client]:
                is_back = member in gone[client]
                gone[client].remove(member if is_back else gone[client][-1])
                yield client, place, is_back
        before = now


def waited_for(facts: Facts) -> Iterator[Mark]:
    """Rebalances of Kafka that waited for a member id which was handed out and never joined."""
    for dropped in facts.of_kind("member-dropped"):
        own = [e for e in facts.of_kind(*_STEPS) if (e.group, e.source) == (dropped.group, dropped.source)]
        before = [e for e in own if (e.first.line or 0) < (dropped.first.line or 0)]
        last = max(before, key=lambda e: e.last.line or 0, default=None)
        waits = (
            last is not None and last.kind == _STEPS[0] and _PENDING.search(f"{dropped.first.text} {dropped.reason}")
        )
        if waits and last and last.last_at is not None and dropped.first_at is not None:
            lasted = dropped.first_at - last.last_at
            who = say("waited", group=dropped.group, member=dropped.member_id, lasted=lasted)
            yield mark("rebalance-waited", [(dropped.first_at, dropped.first)], who)


def _silences(series: Series) -> Iterator[tuple[float, float, bool, Evidence]]:
    """(since, until, whether its process ran) for each time without a heartbeat."""
    usual = median([two[0] - one[0] for one, two in pairwise(series.points)] or [0.0])
    last: tuple[float, float, bool, Evidence] | None = None
    for number, (at, seconds) in enumerate(series.points):
        if _SILENT < seconds < _NEVER:
            seen = sum(at - seconds < when < at for when, _ in series.points)
            source, line = series.place(number)
            place = Evidence(source, line, f"{series.original} {seconds:g}", pointer=series.labels.get("client_id"))
            runs = seconds < 1.5 * usual or 2 * seen * usual >= seconds - usual
            if last is not None and at - seconds > last[0] + _TOGETHER:
                yield last
            last = (at - seconds, at, runs, place)
    if last is not None:
        yield last


def heartbeats(facts: Facts) -> Iterator[Mark]:
    """Members whose heartbeats stopped: a client that runs and sends none left its group, a paused one shows gaps."""
    every = {
        series.labels.get("client_id", "?"): [*_silences(series)]
        for series in facts.named("consumer.last_heartbeat_seconds_ago")
    }
    silent = {client: found for client, found in every.items() if found}
    first = [found[0] for found in silent.values()]
    at_once = all(max(edge) - min(edge) <= _TOGETHER for edge in zip(*((s, u) for s, u, _, _ in first), strict=True))
    if len(silent) > 1 and len(silent) == len(every) and at_once:
        told = [(since, place) for found in silent.values() for since, _, _, place in found]
        yield mark("heartbeats-stopped: all", told, sorted(silent))
        return
    for kind, ran in (("heartbeats-stopped: running", True), ("heartbeats-stopped", False)):
        own = {client: [one for one in found if one[2] is ran] for client, found in silent.items()}
        if told := [(since, place) for found in own.values() for since, _, _, place in found]:
            yield mark(kind, told, sorted(client for client, found in own.items() if found))


def late_polls(facts: Facts) -> Iterator[Mark]:
    """Clients whose time between two polls went beyond max.poll.interval.ms."""
    for series in facts.named("consumer.time_between_poll_max"):
        client = series.labels.get("client_id", "?")
        limit = interval(facts, client, None) or _INTERVAL
        late = [(at, value, number) for number, (at, value) in enumerate(series.points) if value > limit * 1000]
        if late:
            at, value, number = late[0]
            source, line = series.place(number)
            place = Evidence(source, line, f"{series.original} {value:g}", pointer=client)
            times = len({value for _, value, _ in late})
            who = say("late-poll", client=client, lasted=value / 1000, limit=limit)
            yield mark("poll-late", [(at, place)], who, times)
