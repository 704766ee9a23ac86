"""Tables about one consumer group of Kafka: its rebalances, what it and its brokers were set to, lag, polls.

Burrow's verdict on a partition takes commits of a dump of ``__consumer_offsets``; without one, each snapshot counts as
a commit of what it shows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from math import ceil

import pandas as pd

from mqlab import frames
from mqlab.facts import Facts, Position
from mqlab.frames import NOTHING, whether
from mqlab.kafka.groups import topics
from mqlab.kafka.lives import lives
from mqlab.kafka.rebalance_costs import standstills
from mqlab.kafka.rebalances import history
from mqlab.kafka.rows import Behind, End, Life, Rebalance
from mqlab.memo import per_facts
from mqlab.models.lag import INTERVALS, Commit, Status, TimeLag, partition, time_lag
from mqlab.models.polling import ADVISED_MARGIN, largest_safe_records, share_over, smallest_safe_interval
from mqlab.shared.queues import Points, lag, next_read
from mqlab.shared.table import table
from mqlab.units import clock, digits, duration, number, percent
from mqlab.views.kafka_group import Phase, RebalanceView, groups_to_show, peak_lag, positions
from mqlab.words import listed, room

say = room("kafka-tables")

_MOST = 400
"""Rebalances that are listed; beyond, the first and the last."""
_KEYS: Mapping[str, tuple[str, ...]] = {
    "consumer": (
        "max.poll.interval.ms", "max.poll.records", "session.timeout.ms", "heartbeat.interval.ms",
        "partition.assignment.strategy", "group.protocol", "group.instance.id", "enable.auto.commit",
        "auto.commit.interval.ms",
    ),
    "broker": (
        "group.initial.rebalance.delay.ms", "group.min.session.timeout.ms", "group.max.session.timeout.ms",
        "group.consumer.session.timeout.ms", "group.consumer.heartbeat.interval.ms",
    ),
}  # fmt: skip
"""What decides how long a group waits for a member."""


def groups(facts: Facts) -> pd.DataFrame:
    """One row per consumer group of the material: members, rebalances and what was behind them, highest lag."""
    rows = [
        (
            group, number(len({life.client_id for life in lives(facts, group)})) if lives(facts, group) else NOTHING,
            number(len(history(facts, group))), counted(one.behind.text for one in history(facts, group)) or NOTHING,
            ", ".join(positions(facts, group)) or NOTHING, amount(peak_lag(positions(facts, group))),
        )
        for group in groups_to_show(facts)
    ]  # fmt: skip
    return table(rows, "group|members|rebalances|causes|topics|highest lag")


def overview(view: RebalanceView) -> pd.DataFrame:
    """The group that is looked at, in a few lines."""
    return table(_overview(view), "question|answer")


def _overview(view: RebalanceView) -> Iterator[tuple[str, str]]:
    if view.group is None:
        yield say("group"), say("no-group")
        return
    yield say("group"), view.group
    yield say("topics"), ", ".join(view.topics) or say("no-topics")
    clients = sorted({life.client_id for life in view.lives})
    yield say("members"), say("named", many=len(clients), clients=clients[:8]) if clients else say("nobody")
    if view.history:
        first, last = view.history[0].started, view.history[-1].started
        yield say("rebalances"), say("during", rebalances=len(view.history), first=first, last=last)
        yield say("behind"), counted(one.behind.text for one in view.history)
        yield from _standstill(view)
    else:
        yield say("rebalances"), say("no-rebalances")
    late, polled = sum(poll.late for poll in view.polls), sum(poll.batch.polls for poll in view.polls)
    if polled:
        yield say("late"), say("too-late", late=late, polls=polled, share=late / polled)
    yield say("lag"), amount(peak_lag(view.topics))


def _standstill(view: RebalanceView) -> Iterator[tuple[str, str]]:
    stood, window = sum(end - since for since, end in standstills(view.history)), view.window
    if stood and window is not None and window[1] > window[0]:
        whole = window[1] - window[0]
        yield say("still"), say("stood", stood=stood, whole=whole, share=min(1.0, stood / whole))
    repeated = total(one.repeated for one in view.history)
    if repeated is not None:
        yield say("again"), number(repeated)


def triggers(view: RebalanceView) -> pd.DataFrame:
    """How many rebalances each trigger made and what was behind it, the most frequent first."""
    kinds = Counter((one.trigger, one.behind) for one in view.history)
    rows = []
    for (trigger, behind), times in sorted(kinds.items(), key=lambda kind: (-kind[1], *(one.value for one in kind[0]))):
        own = [one for one in view.history if (one.trigger, one.behind) == (trigger, behind)]
        still, again = total(one.standstill for one in own), total(one.repeated for one in own)
        who = counted(one.client_id or say("unknown") for one in own)
        inferred = sum(one.inferred for one in own)
        rows.append((trigger.text, _behind(own[0]), times, inferred, who, _seconds(still), amount(again)))
    return table(rows, "trigger|cause|rebalances|inferred|who|stood still|handed out twice")


def rebalances(view: RebalanceView) -> pd.DataFrame:
    """One row per rebalance: when, why and by whom it began, and what it cost. Inferred triggers are marked."""
    shown = view.history if len(view.history) <= _MOST else (*view.history[: _MOST // 2], *view.history[-_MOST // 2 :])
    rows = (
        (
            clock(one.started), NOTHING if one.generation is None else one.generation, one.trigger.text, _behind(one),
            say("member", client=one.client_id, host=one.host) if one.client_id or one.host else NOTHING, _known(one),
            f"{amount(one.members_before)} → {amount(one.members_after)}", amount(one.moved),
            _seconds(one.standstill), amount(one.delayed), amount(one.repeated),
        )
        for one in shown
    )  # fmt: skip
    return table(rows, "UTC|generation|trigger|cause|member|how it is known|members|moved|stood still|delayed|twice")


def ends(view: RebalanceView) -> pd.DataFrame:
    """One row per member: how often it came, and how how it ended."""
    members: dict[tuple[str, str], list[Life]] = {}
    for life in view.lives:
        members.setdefault((life.client_id, view.host(life)), []).append(life)
    rows = []
    for (client, host), own in sorted(members.items()):
        bad = next((life for life in own if life.end not in (End.LEFT, End.OPEN)), own[0])
        ended, static = counted(life.end.text for life in own), whether(own[-1].static)
        place = bad.evidence[0].place if bad.evidence else NOTHING
        rows.append((client, host or NOTHING, len(own), ended, static, place))
    return table(rows, "member|host|came|how it ended|static|for example")


def counted(words: Iterable[str]) -> str:
    """``join 7, poll timeout 6``: the most frequent first."""
    most = sorted(Counter(words).items(), key=lambda one: (-one[1], one[0]))
    return listed((say("times", what=word, times=times) for word, times in most), ", ")


def _known(one: Rebalance) -> str:
    """``inferred: its process stopped, logs/server.log:935``."""
    place = one.evidence[0].place if one.evidence else None
    return say("known", inferred=one.inferred, because=one.because or None, place=place)


def _behind(one: Rebalance) -> str:
    """Nothing where it says what the trigger says already."""
    return NOTHING if one.behind.value in (one.trigger.value, Behind.UNKNOWN.value) else one.behind.text


def total(values: Iterable[float | None]) -> float | None:
    """None where none of them is known."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def amount(value: float | None) -> str:
    """A number, or a dash where it is not known."""
    return NOTHING if value is None else number(value)


def _seconds(value: float | None) -> str:
    return NOTHING if value is None else f"{digits(value)} s"


def settings(facts: Facts, view: RebalanceView) -> pd.DataFrame:
    """What decides how long the group waits for a member: a row per value, with all members that had it."""
    members = {life.client_id for life in view.lives} | {poll.batch.client_id or "" for poll in view.polls}
    return frames.settings(facts, _KEYS, members)


@dataclass(frozen=True, slots=True)
class LagStatus:
    """One partition of a group at the last snapshot that tells of it."""

    topic: str
    partition: str
    status: Status
    complete: float
    """Share of the ten commits, which Burrow looks at, that there are."""
    lag: int
    since: float | None
    """From when on the committed offset stands still, lags or went back; None where all is well."""
    time_lag: TimeLag | None


@per_facts
def statuses(facts: Facts, group: str) -> tuple[LagStatus, ...]:
    """A row for each partition of *group*, by topic and number."""
    found = []
    for (name, topic), queues in topics(facts).items():
        if name == group:
            logged = _logged(facts, group, topic)
            found += [_of(topic, queue, points, logged.get(queue, ())) for queue, points in queues.items()]
    return tuple(sorted(found, key=lambda row: (row.topic, row.partition.zfill(9))))


def _logged(facts: Facts, group: str, topic: str) -> dict[str, tuple[Position, ...]]:
    """Commits in dumps by partition, by time."""
    found: dict[str, list[Position]] = {}
    for one in facts.positions:
        if (one.group, one.topic) == (group, topic) and one.end is None and one.committed is not None and one.at:
            found.setdefault(one.queue, []).append(one)
    return {queue: tuple(sorted(rows, key=lambda p: (p.at or 0.0, p.line or 0))) for queue, rows in found.items()}


def _of(topic: str, queue: str, points: Points, logged: Sequence[Position]) -> LagStatus:
    now, last = points[-1].at or 0.0, points[-1]
    ends = [(p.at or 0.0, p.end or 0) for p in points]
    told = [p for p in logged if (p.at or 0.0) <= now] if len(logged) > 1 else points
    commits = [Commit(p.at or 0.0, p.committed or 0, _lag(ends, p)) for p in told[-INTERVALS:]]
    found = partition(commits, [end for _, end in ends[-INTERVALS:]], now)
    age = time_lag(ends, next_read(last), now)
    return LagStatus(topic, queue, found.status, found.complete, found.lag, _since(found.status, commits), age)


def _lag(ends: Sequence[tuple[float, int]], commit: Position) -> int | None:
    """Lag at the moment of the commit, by the last end that was known then."""
    before = [end for at, end in ends if at <= (commit.at or 0.0)]
    return max(0, before[-1] - (commit.committed or 0)) if before else None


def _since(status: Status, commits: Sequence[Commit]) -> float | None:
    if status in (Status.STOP, Status.STALL):
        return [*takewhile(lambda c: c.offset == commits[-1].offset, reversed(commits))][-1].at
    if status is Status.REWIND:
        return next(after.at for before, after in pairwise(commits) if after.offset < before.offset)
    return commits[0].at if status is Status.WARN else None


def partitions(facts: Facts, view: RebalanceView) -> pd.DataFrame:
    """One row per partition of the group: Burrow's verdict, lag, and how long the next record has waited."""
    rows = []
    for one in statuses(facts, view.group) if view.group else ():
        if points := view.topics.get(one.topic, {}).get(one.partition):
            known, peak, place = percent(one.complete), number(max(map(lag, points))), points[-1].evidence.place
            verdict = (one.status.value, clock(one.since), known, peak, number(one.lag), age(one.time_lag))
            rows.append((f"{one.topic}-{one.partition}", *verdict, place))
    return table(
        rows,
        "partition|verdict|since|commits known|highest lag|lag at the end|next record has waited|last seen in",
    )


def age(known: TimeLag | None) -> str:
    """``25.0 s (20.0 s to 30.0 s)``, ``≥ 40.0 s``."""
    if known is None:
        return NOTHING
    if known.likely is None or known.high is None:
        return f"≥ {duration(known.low)}"
    if known.high == 0:
        return say("nothing-waits")
    return say("waits", likely=known.likely, low=known.low, high=known.high)


def polls(view: RebalanceView) -> pd.DataFrame:
    """How long polls took, for each pair of settings that was in force; empty without lines of applications."""
    rows = []
    for phase in view.phases:
        longest = max((poll.batch for poll in phase.polls), key=lambda b: (b.longest_seconds, -b.at))
        each, whole = phase.work.record_seconds, phase.work.poll_seconds
        rows.append((
            _time(phase), NOTHING if phase.interval is None else duration(phase.interval), amount(phase.most_records),
            number(phase.work.polls), number(phase.work.records), f"{digits(each.p50 * 1000)} ms",
            f"{digits(each.p99 * 1000)} ms", f"{digits(whole.p50)} s", f"{digits(whole.p99)} s", _late(phase),
            say("longest", seconds=longest.longest_seconds, place=longest.evidence.place),
        ))  # fmt: skip
    return table(
        rows,
        "time|allowed|max.poll.records|polls|records|time per record, median|time per record, 99 %"
        "|time per poll, median|time per poll, 99 %|too late|longest",
    )


def enough(view: RebalanceView) -> pd.DataFrame:
    """For each pair of settings: the records a poll may have, and the interval that its records need, at the 99 %.

    *Just enough* leaves nothing for a slow call or a pause; *with room* keeps half of the interval free.
    """
    rows = []
    for phase in view.phases:
        if phase.interval is not None:
            each, margins = phase.work.record_seconds.p99, (0.0, ADVISED_MARGIN)
            takes = phase.records * each
            most = [largest_safe_records(phase.interval, each, margin=m) if each > 0 else None for m in margins]
            least = [ceil(1000 * smallest_safe_interval(phase.records, each, margin=m)) for m in margins]
            was, fits = say("set", records=phase.records, interval=phase.interval), whether(takes < phase.interval)
            rows.append((_time(phase), was, f"{digits(takes)} s", fits, *map(amount, (*most, *least))))
    return table(
        rows,
        "time|set|a full poll takes|fits|largest max.poll.records, just enough|with room"
        "|smallest max.poll.interval.ms, just enough|with room ",
    )


def _time(phase: Phase) -> str:
    return say("time", since=phase.since, until=phase.until)


def _late(phase: Phase) -> str:
    share = None if phase.interval is None else share_over(phase.pairs, phase.interval)
    if share is None:
        return NOTHING
    return say("share-late", late=round(share * phase.work.polls), share=share) if share else say("none-late")
