"""Traces of trouble in what is listed and counted, where no line tells of it: marks for hypotheses.

Snapshots of a group show queues that stand still beside others that move, and members that give way to others of the
same client. A client's metrics show polls that come late, heartbeats that stop, and partitions that change hands while
no consumer starts or stops. None of them names a mechanism by itself; together with what moves on they leave few.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from statistics import median

from mqlab.facts import Facts, Position, Series
from mqlab.findings import Evidence
from mqlab.kafka import groups as kafka_groups
from mqlab.kafka.member_ledgers import noted_records
from mqlab.kafka.poll_limits import interval
from mqlab.known_errors import words
from mqlab.marks import LINES, Mark
from mqlab.rows import GRID, Assignment, Client, Fate, Tally
from mqlab.shared.lag import LEAST
from mqlab.shared.queues import OWN, Pace, Points, of_groups, paces, spread
from mqlab.shared.wording import clock, few
from mqlab.units import counted, duration

_STOOD = 60.0
"""Seconds in which a queue stands still that are no pause between commits: they come every five seconds by default."""
_INTERVAL = 300.0
"""The default of max.poll.interval.ms in seconds."""
_SILENT = 10.0
"""Seconds without a heartbeat: the shortest default of session.timeout.ms (before 3.0), three intervals and more."""
_NEVER = 1e8
"""What last-heartbeat-seconds-ago shows where there was none yet: seconds since 1970."""
_TOGETHER = 5.0
"""Seconds within which all members fall silent that lost their coordinator."""
_SETTLES = 60.0
"""Seconds around a start or stop of a consumer in which partitions change hands for it."""
_PAUSE = 2.0
"""Seconds of one stop of a process from which it is no ordinary collection."""
_BESIDE = re.compile("cycle|concurrent", re.IGNORECASE)
"""How collectors are called that run beside the application."""
_SLOW = 50.0
"""Milliseconds for a message from which it is slow: less is the noise of a start."""
_READ = frozenset({"received", "consumed", "processed"})
"""What ledgers of readers note."""
_SHARE = 0.2
"""Share of the time that stops take from which a process hardly runs."""


def traces(facts: Facts) -> Iterator[Mark]:
    """Everything of the kind."""
    yield from _queues(facts)
    yield from _members(facts)
    yield from _heartbeats(facts)
    yield from _late_polls(facts)
    yield from _restarts(facts)
    yield from _lags(facts)
    yield from _pauses(facts)
    yield from _unhandled(facts)
    yield from _passed_over(facts)
    yield from _handled_again(facts)
    yield from _connections(facts)
    yield from _fenced(facts)
    yield from _slower(facts)
    yield from _retained_again(facts)


def _mark(kind: str, told: Sequence[tuple[float | None, Evidence]], who: str, times: int | None = None) -> Mark:
    """A mark of what was seen at these moments and places."""
    first = sorted(told, key=lambda one: (one[0] or 0.0, one[1].source, one[1].line or 0))
    at = first[0][0]
    since = "" if at is None else f", from {clock(at)} UTC on"
    count = len(told) if times is None else times
    text = f"{words()[kind]}, {counted(count, 'time')}{since}: {who}"
    return Mark(kind, count, text, tuple(place.because(words()[kind]) for _, place in first[:LINES]), at)


def _queues(facts: Facts) -> Iterator[Mark]:
    """Queues of a group that stood still while messages came in and others of the same topic were read."""
    for (group, topic), queues in of_groups(facts).items():
        still = {queue: pace for queue, points in queues.items() if (pace := _stood(points))}
        still = {queue: pace for queue, pace in still.items() if _others_moved(queues, pace)}
        if topic.startswith(OWN) or not still:
            continue
        several = len(still) > 1 or not all(queue.isdigit() for queue in queues)
        kind = "backlog-stands: several" if several else "backlog-stands"
        told = [(pace.first.at, place.evidence) for pace in still.values() for place in (pace.first, pace.last)]
        yield _mark(kind, told, f"{group} on {topic} {spread(still)}", len(still))


def _stood(points: Points) -> Pace | None:
    """The longest time in which the position stood still while messages came in."""
    runs = [list(run) for _, run in groupby(points, lambda p: p.committed)]
    found = [Pace(run[0].queue, run[0], run[-1]) for run in runs if len(run) > 2]
    long = [pace for pace in found if pace.seconds >= _STOOD and pace.produced >= LEAST]
    return max(long, key=lambda pace: pace.seconds, default=None)


def _others_moved(queues: Mapping[str, Points], still: Pace) -> bool:
    meanwhile = paces(queues, still.first.at or 0.0, still.last.at or 0.0).values()
    return any(pace.produced >= LEAST and 2 * pace.consumed >= pace.produced for pace in meanwhile)


_Listing = dict[str, tuple[str, Evidence]]
"""Client and place by member id, as one moment shows them."""


def _members(facts: Facts) -> Iterator[Mark]:
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
            told = [(moments[place], place) for _, place, is_back in changes if not is_back]
            yield _mark(f"member-replaced{': each' if each else ': static' if static else ''}", told, group)
        if told := [(moments[place], place) for _, place, is_back in changes if is_back]:
            yield _mark("member-returned", told, group)
    for group in kafka_groups.groups(facts):
        if group not in lists and (places := kafka_groups.returning(facts, group)):
            yield _mark("member-replaced", [(None, place) for place in places], group)


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


def _heartbeats(facts: Facts) -> Iterator[Mark]:
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
        yield _mark("heartbeats-stopped: all", told, few(sorted(silent), 3))
        return
    for kind, ran in (("heartbeats-stopped: running", True), ("heartbeats-stopped", False)):
        own = {client: [one for one in found if one[2] is ran] for client, found in silent.items()}
        if told := [(since, place) for found in own.values() for since, _, _, place in found]:
            yield _mark(kind, told, few(sorted(client for client, found in own.items() if found), 3))


def _late_polls(facts: Facts) -> Iterator[Mark]:
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
            who = f"{client}, {duration(value / 1000)} where {duration(limit)} are allowed"
            yield _mark("poll-late", [(at, place)], who, times)


def _restarts(facts: Facts) -> Iterator[Mark]:
    """Processes that started anew, and partitions that changed hands while no consumer did."""
    consumers = {s.labels.get("instance") for s in facts.series if s.name.startswith("consumer.")} - {None}
    brokers = {s.labels.get("instance") for s in facts.series if s.name.startswith("broker.")} - {None}
    started = {s.labels.get("instance"): s for s in facts.named("process.start_time") if s.points}
    moving: list[tuple[float, float]] = []
    for kind, instances in (("process-started-anew", consumers), ("broker-started-anew", brokers)):
        again = {
            name: [(a, b, n + 1) for n, ((a, v), (b, w)) in enumerate(pairwise(series.points)) if w - v > 1.0]
            for name, series in started.items()
            if name in instances
        }
        if instances is consumers:
            moving = [(a, b) for found in again.values() for a, b, _ in found]
            moving += [
                (one.points[edge][0], one.points[edge][0])
                for name, one in started.items()
                if name in instances
                for edge in (0, -1)
            ]
        told = [
            (
                at,
                Evidence(
                    *started[name].place(n), f"{started[name].original} {started[name].points[n][1]:g}", pointer=name
                ),
            )
            for name, found in again.items()
            for _, at, n in found
        ]
        names = sorted(name or "" for name, found in again.items() if found)
        each = len(again) > 1 and len({len(found) for found in again.values()}) == 1
        several = len(names) > 1 and instances is consumers
        if told and (each or len(told) > 1 or instances is brokers):
            yield _mark(f"{kind}{': each' if each else ': several' if several else ''}", told, few(names, 3))
    if consumers & started.keys():
        yield from _handed_over(facts, moving)


def _handed_over(facts: Facts, moving: Sequence[tuple[float, float]]) -> Iterator[Mark]:
    """Partitions that members got or gave while none of them started or stopped."""
    told: list[tuple[float | None, Evidence]] = []
    for series in facts.named("consumer.assigned_partitions"):
        for number, (before, after) in enumerate(pairwise(series.points), start=1):
            near = any(a - _SETTLES <= after[0] and before[0] <= b + _SETTLES for a, b in moving)
            if after[1] != before[1] and not near:
                source, line = series.place(number)
                text = f"{series.original} {after[1]:g}"
                told.append((after[0], Evidence(source, line, text, pointer=series.labels.get("client_id"))))
    if len(told) > 1:
        yield _mark("handed-over", told, few(sorted({place.pointer or "?" for _, place in told}), 3))


def _lags(facts: Facts) -> Iterator[Mark]:
    """Partitions of which a client's own count of what it has not read yet rises, the others' does not."""
    by_topic: dict[str, dict[str, Series]] = defaultdict(dict)
    for series in facts.named("consumer.records_lag"):
        if {"topic", "partition"} <= series.labels.keys() and series.points:
            known = by_topic[series.labels["topic"]].get(series.labels["partition"])
            if known is None or known.points[-1][0] < series.points[-1][0]:
                by_topic[series.labels["topic"]][series.labels["partition"]] = series
    for topic, queues in by_topic.items():
        behind = {queue: one for queue, one in queues.items() if _rises(one.points)}
        calm = max((one.points[-1][1] for queue, one in queues.items() if queue not in behind), default=None)
        if not behind:
            continue
        alone = calm is not None and len(behind) == 1
        alone = alone and all(one.points[-1][1] > 10 * max(calm or 0.0, float(LEAST)) for one in behind.values())
        told = [
            (
                one.points[0][0],
                Evidence(*one.place(-1), f"{one.original} {one.points[-1][1]:g}", pointer=f"{topic}-{queue}"),
            )
            for queue, one in behind.items()
        ]
        yield _mark("backlog-stands" if alone else "backlog-grows", told, f"{topic} {spread(behind)}")


def _rises(points: Sequence[tuple[float, float]]) -> bool:
    """It ends at its peak or near it, far above where it was, and rose over many samples."""
    values = [max(0.0, value) for _, value in points]
    rises = sum(b > a for a, b in pairwise(values))
    return values[-1] >= 10 * LEAST and values[-1] >= 0.8 * max(values) and rises >= 3 and values[-1] > 3 * min(values)


def _pauses(facts: Facts) -> Iterator[Mark]:
    """Processes that stood for seconds: collections of the JVM that stop everything."""
    told = [
        (e.first_at, e.first, e.value_max or 0.0) for e in facts.of_kind("gc-pause") if (e.value_max or 0.0) >= _PAUSE
    ]
    for series in facts.named("jvm.gc_last_pause_seconds"):
        told += _samples(series, [(n, v) for n, (_, v) in enumerate(series.points) if v >= _PAUSE])
    for series in facts.named("jvm.gc_seconds"):
        if _BESIDE.search(series.labels.get("gc", "")):
            continue
        steps = [(n, b[1] - a[1], b[0] - a[0]) for n, (a, b) in enumerate(pairwise(series.points), start=1)]
        told += _samples(series, [(n, rose) for n, rose, passed in steps if rose >= max(_PAUSE, _SHARE * passed)])
    if told:
        places = [(at, place) for at, place, _ in told]
        longest = max(seconds for _, _, seconds in told)
        yield _mark(
            "long-pauses", places, f"{few(sorted({place.source for _, place in places}), 2)}, up to {duration(longest)}"
        )


def _samples(series: Series, chosen: Iterable[tuple[int, float]]) -> list[tuple[float, Evidence, float]]:
    found = []
    for number, value in chosen:
        source, line = series.place(number)
        place = Evidence(
            source, line, f"{series.original} {series.points[number][1]:g}", pointer=series.labels.get("instance")
        )
        found.append((series.points[number][0], place, value))
    return found


def _unhandled(facts: Facts) -> Iterator[Mark]:
    """Queues of which no ledger notes a message for a time, though as many must have come as before, as in others."""
    read: dict[str, dict[str, dict[float, Tally]]] = defaultdict(lambda: defaultdict(dict))
    for tally in facts.tallies:
        if tally.role in _READ and tally.queue:
            read[tally.topic][tally.queue][tally.at] = tally
    for topic, queues in read.items():
        until = max(at for tallies in queues.values() for at in tallies)
        still = {queue: found for queue, tallies in queues.items() if (found := _silent(tallies, until))}
        still = {queue: found for queue, found in still.items() if _others_read(queues, queue, found)}
        ledgers = {tally.source for tallies in queues.values() for tally in tallies.values()}
        if still and (len(still) == 1 or len(ledgers) > 1):  # one member's ledger ends where it gives queues away
            several = len(still) > 1 or not all(queue.isdigit() for queue in queues)
            told = [(since, Evidence(tally.source, tally.line, topic)) for since, _, tally in still.values()]
            where = f"{topic} {spread(still)}"
            yield _mark("backlog-stands: several" if several else "backlog-stands", told, where, len(still))


def _silent(tallies: Mapping[float, Tally], until: float) -> tuple[float, float, Tally] | None:
    """The longest time without a message after a time with many: since, until, and the last message before it."""
    moments = sorted(tallies)
    for before, after in sorted(pairwise((*moments, until)), key=lambda pair: pair[0] - pair[1]):
        came = sum(tallies[at].messages for at in moments if at <= before)
        passed = before - moments[0] + GRID
        if after - before < _STOOD or passed < _STOOD / 2:
            continue
        if came / passed * (after - before) >= 10 * LEAST:
            return before + GRID, after, tallies[before]
    return None


def _others_read(queues: Mapping[str, Mapping[float, Tally]], silent: str, found: tuple[float, float, Tally]) -> bool:
    """Others of the topic were read all the while."""
    since, until, _ = found
    busy = [{at for at in tallies if since <= at < until} for queue, tallies in queues.items() if queue != silent]
    return any(2 * len(moments) * GRID >= until - since for moments in busy)


def _passed_over(facts: Facts) -> Iterator[Mark]:
    """Acknowledged messages that no ledger of a reader notes, between others of their queue that one does."""
    by_queue: dict[tuple[str, str], list[Fate]] = defaultdict(list)
    for fate in facts.fates:
        if fate.first_offset is not None and fate.queue and (fate.acked or fate.stored):
            by_queue[fate.topic, fate.queue].append(fate)
    told = []
    for fates in by_queue.values():
        handled = [fate.first_offset or 0 for fate in fates if fate.handled]
        told += [
            fate
            for fate in fates
            if not fate.handled and handled and min(handled) < (fate.first_offset or 0) < max(handled)
        ]
    if sum(fate.messages for fate in told) >= LEAST:
        places = [(fate.first_at, fate.first) for fate in told]
        times = sum(fate.messages for fate in told)
        kind = "passed-over: away" if any(_nobody_read(facts, fate) for fate in told) else "passed-over"
        yield _mark(kind, places, few(sorted({fate.topic for fate in told}), 3), times)


def _nobody_read(facts: Facts, fate: Fate) -> bool:
    """Nobody read the topic for a time while these messages came: they were not in anybody's memory."""
    read = sorted({t.at for t in facts.tallies if t.topic == fate.topic and t.role in _READ})
    since, until = fate.first_at or 0.0, fate.last_at or 0.0
    return any(b - a >= _STOOD / 2 and a < until and since < b for a, b in pairwise(read))


def _handled_again(facts: Facts) -> Iterator[Mark]:
    """Messages that one ledger notes twice, or two where nearly all others are in one: one group handled them again."""
    for topic in sorted({delivery.topic for delivery in facts.deliveries}):
        sources = frozenset(source for one in facts.deliveries if one.topic == topic for source in one.sources)
        known = noted_records(facts, topic, sources)
        across = sum(one.messages for one, noted in known if len(set(noted)) > 1)
        alone = 2 * across < sum(one.messages for one, _ in known)  # else every group reads all of them
        again = [(one, noted) for one, noted in known if len(noted) > len(set(noted)) or (alone and len(noted) > 1)]
        count = sum(one.messages * (len(noted) - 1) for one, noted in again)
        if count >= LEAST:
            at, source = min((one.at, noted[0]) for one, noted in again)
            yield _mark("handled-again", [(at, Evidence(source, None, topic))], topic, count)


def _fenced(facts: Facts) -> Iterator[Mark]:
    """Brokers that KRaft's controller fenced, by their own log: heartbeats that failed before it, or only after."""
    lost = facts.of_kind("error:kraft-heartbeat-lost")
    for kind, is_cut_off in (("broker-fenced: cut off", True), ("broker-fenced: silent", False)):
        told = []
        for fencing in facts.of_kind("broker-fenced"):
            name, at = f"id={fencing.value_min or 0.0:.0f}]", fencing.first_at or 0.0
            own = [e.first_at for e in lost if name in e.first.text and abs((e.first_at or 0.0) - at) <= _SETTLES]
            if own and any((when or 0.0) < at for when in own) is is_cut_off:
                told.append((fencing.first_at, fencing.first))
        if told:
            yield _mark(kind, told, few(sorted({place.source for _, place in told}), 2))


_Peers = dict[str, dict[str, Client]]
"""Rows by host and port."""


def _connections(facts: Facts) -> Iterator[Mark]:
    """Connections that were made anew, as lists of peers show: another port of the same host is another connection."""
    lists: dict[float, _Peers] = defaultdict(lambda: defaultdict(dict))
    for row in facts.clients:
        host, _, port = (row.peer or "").rpartition(":")
        if row.at is not None and host and not row.client_id:
            lists[row.at][host][port] = row
    every = [lists[at] for at in sorted(lists)]
    anew = list(_renewed(every))
    at_once = [rows for listing, rows in zip(every[1:], anew, strict=True) if len(rows) == len(listing) > 2]
    swaps = [row for before, after in pairwise(every) for row in _swapped(before, after)]
    again = [row for rows in anew for row in rows]
    often = {host for host, times in Counter(_host(row) for row in again).items() if times > 1}
    if at_once:
        yield _renewals("connections-renewed: all", [row for rows in at_once for row in rows])
    elif len(swaps) > 2 and len({_host(row) for row in swaps}) == 2:
        yield _renewals("connections-renewed: in turn", swaps)
    elif often:
        yield _renewals("connections-renewed", [row for row in again if _host(row) in often])


def _host(row: Client) -> str:
    return (row.peer or "").rpartition(":")[0]


def _renewals(kind: str, rows: Sequence[Client]) -> Mark:
    return _mark(kind, [(row.at, row.evidence) for row in rows], few(sorted({_host(row) for row in rows}), 3))


def _renewed(listings: Sequence[_Peers]) -> Iterator[list[Client]]:
    """The connections of each listing but the first that took the place of another of the same host."""
    known: dict[str, set[str]] = {}
    for number, listing in enumerate(listings):
        rows = []
        for host, ports in listing.items():
            fresh = sorted(ports.keys() - known.get(host, ports.keys()))
            rows += [ports[fresh[0]]] if fresh and known[host] - ports.keys() else []
            known[host] = set(ports)
        if number:
            yield rows


def _swapped(before: _Peers, after: _Peers) -> list[Client]:
    """The connection of the one host that came as one other went."""
    came, went = sorted(after.keys() - before.keys()), after.keys() ^ before.keys()
    return [next(iter(after[came[0]].values()))] if len(came) == 1 and len(went) == 2 else []


def _retained_again(facts: Facts) -> Iterator[Mark]:
    """Retained messages that a receiver had noted before: it subscribed once more."""
    told = [(one, min(one.retained, one.again)) for one in facts.receipts if min(one.retained, one.again) >= LEAST]
    if told:
        places = [(one.at, Evidence(one.source, one.line, "")) for one, _ in told]
        yield _mark("retained-again", places, few(sorted({one.source for one, _ in told}), 2), sum(n for _, n in told))


def _slower(facts: Facts) -> Iterator[Mark]:
    """Groups of RocketMQ whose members take many times as long for a message as at first."""
    taken: dict[tuple[str, str], list[tuple[float, float, Evidence]]] = defaultdict(list)
    for series in facts.named("rocketmq.consumer.consume_rt_ms"):
        topic = series.labels.get("topic", "")
        for number, (at, value) in enumerate(series.points):
            if value > 0 and not topic.startswith(OWN):
                place = Evidence(*series.place(number), f"{topic} {value:g} ms")
                taken[series.labels.get("group", ""), topic].append((at, value, place))
    for (group, topic), samples in taken.items():
        first, *later = sorted(samples, key=lambda sample: (sample[0], sample[2].source, sample[2].line or 0))
        slow = [one for one in later if one[1] >= max(_SLOW, 3 * first[1])]
        if len(slow) > 1:
            who = f"{group} on {topic}, {slow[-1][1]:.0f} ms where it was {first[1]:.0f} ms"
            yield _mark("consume-slower", [(at, place) for at, _, place in slow], who)
