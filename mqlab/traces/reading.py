"""What groups read, as positions, lag and ledgers show it: queues that stand still, messages that were passed over."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, pairwise

from mqlab.facts import Facts, Series
from mqlab.findings import Evidence
from mqlab.kafka.member_ledgers import noted_records
from mqlab.known_errors import words
from mqlab.marks import BEHIND, LINES, Mark, say
from mqlab.rows import GRID, LAGS, Fate, Tally
from mqlab.shared.lag import LEAST
from mqlab.shared.queues import OWN, Pace, Points, of_groups, paces, spread
from mqlab.traces.marking import mark

_STOOD = 60.0
"""Seconds in which a queue stands still that are no pause between commits: they come every five seconds by default."""
_SLOW = 50.0
"""Milliseconds for a message from which it is slow: less is the noise of a start."""
_READ = frozenset({"received", "consumed", "processed"})
"""What ledgers of readers note."""


def queues(facts: Facts) -> Iterator[Mark]:
    """Queues of a group that stood still while messages came in and others of the same topic were read."""
    for (group, topic), queues in of_groups(facts).items():
        still = {queue: pace for queue, points in queues.items() if (pace := _stood(points))}
        still = {queue: pace for queue, pace in still.items() if _others_moved(queues, pace)}
        if topic.startswith(OWN) or not still:
            continue
        several = len(still) > 1 or not all(queue.isdigit() for queue in queues)
        kind = "backlog-stands: several" if several else "backlog-stands"
        told = [(pace.first.at, place.evidence) for pace in still.values() for place in (pace.first, pace.last)]
        yield mark(kind, told, say("queues", group=group, topic=topic, queues=spread(still)), len(still))


def _stood(points: Points) -> Pace | None:
    """The longest time in which the position stood still while messages came in."""
    runs = [list(run) for _, run in groupby(points, lambda p: p.committed)]
    found = [Pace(run[0].queue, run[0], run[-1]) for run in runs if len(run) > 2]
    long = [pace for pace in found if pace.seconds >= _STOOD and pace.produced >= LEAST]
    return max(long, key=lambda pace: pace.seconds, default=None)


def _others_moved(queues: Mapping[str, Points], still: Pace) -> bool:
    meanwhile = paces(queues, still.first.at or 0.0, still.last.at or 0.0).values()
    return any(pace.produced >= LEAST and 2 * pace.consumed >= pace.produced for pace in meanwhile)


def lags(facts: Facts) -> Iterator[Mark]:
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
        yield mark("backlog-stands" if alone else "backlog-grows", told, f"{topic} {spread(behind)}")


def _rises(points: Sequence[tuple[float, float]]) -> bool:
    """It ends at its peak or near it, far above where it was, and rose over many samples."""
    values = [max(0.0, value) for _, value in points]
    rises = sum(b > a for a, b in pairwise(values))
    return values[-1] >= 10 * LEAST and values[-1] >= 0.8 * max(values) and rises >= 3 and values[-1] > 3 * min(values)


def exported(facts: Facts) -> Iterator[Mark]:
    """Queues of which an exporter counts more that waits than one poll takes, of groups that nothing else lists."""
    listed = {position.group for position in facts.positions}
    last: dict[tuple[str, str, str], Series] = {}
    for one in sorted(facts.named(*LAGS), key=lambda one: one.points[-1][0]):
        group, queue = one.labels.get("group", ""), one.labels.get("partition") or one.labels.get("queue", "")
        if group not in listed:
            last[group, one.labels.get("topic", ""), queue] = one
    kind, behind = "backlog-unread", {key: one for key, one in last.items() if one.points[-1][1] > BEHIND}
    if behind:
        names = sorted({f"{group}/{topic}-{queue}".strip("/-") for group, topic, queue in behind})
        count, what = round(sum(one.points[-1][1] for one in behind.values())), words()[kind]
        text = say("waiting", messages=count, what=what, queues=len(behind), groups=names)
        places = [Evidence(*one.place(-1), f"{one.original} {one.points[-1][1]:g}", what) for one in behind.values()]
        yield Mark(kind, len(behind), text, tuple(places[:LINES]), None)


def slower(facts: Facts) -> Iterator[Mark]:
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
            names = {"group": group, "topic": topic}
            who = say("slower", now=round(slow[-1][1]), before=round(first[1]), **names)
            yield mark("consume-slower", [(at, place) for at, _, place in slow], who)


def unhandled(facts: Facts) -> Iterator[Mark]:
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
            told = [(since, tally.place) for since, _, tally in still.values()]
            where = f"{topic} {spread(still)}"
            yield mark("backlog-stands: several" if several else "backlog-stands", told, where, len(still))


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


def passed_over(facts: Facts) -> Iterator[Mark]:
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
        yield mark(kind, places, sorted({fate.topic for fate in told}), times)


def _nobody_read(facts: Facts, fate: Fate) -> bool:
    """Nobody read the topic for a time while these messages came: they were not in anybody's memory."""
    read = sorted({t.at for t in facts.tallies if t.topic == fate.topic and t.role in _READ})
    since, until = fate.first_at or 0.0, fate.last_at or 0.0
    return any(b - a >= _STOOD / 2 and a < until and since < b for a, b in pairwise(read))


def handled_again(facts: Facts) -> Iterator[Mark]:
    """Messages that one ledger notes twice, or two where nearly all others are in one: one group handled them again."""
    for topic in sorted({delivery.topic for delivery in facts.deliveries}):
        sources = frozenset(source for one in facts.deliveries if one.topic == topic for source in one.sources)
        known = noted_records(facts, topic, sources)
        across = sum(one.messages for one, noted in known if len(set(noted)) > 1)
        alone = 2 * across < sum(one.messages for one, _ in known)  # else every group reads all of them
        again = [(one, noted) for one, noted in known if len(noted) > len(set(noted)) or (alone and len(noted) > 1)]
        count = sum(one.messages * (len(noted) - 1) for one, noted in again)
        if count >= LEAST:
            second = [(sorted(one.times)[1] if len(one.times) > 1 else one.at, noted[0]) for one, noted in again]
            (at, source), (last, _) = min(second), max(second)
            spans = last if all(one.times for one, _ in again) and int(last) > int(at) else None
            yield mark("handled-again", [(at, Evidence(source, None, topic))], topic, count, spans)
