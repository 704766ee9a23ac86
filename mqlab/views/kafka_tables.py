"""Tables about one consumer group of Kafka: its rebalances, what it and its brokers were set to, lag, polls.

Burrow's verdict on a partition takes commits of a dump of ``__consumer_offsets``; without one, each snapshot counts as
a commit of what it shows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from math import ceil

import pandas as pd

from mqlab.catalogue import INCIDENTS
from mqlab.facts import Facts, Position, Setting
from mqlab.frames import where
from mqlab.kafka.groups import topics
from mqlab.kafka.lives import lives
from mqlab.kafka.rebalance_costs import standstills
from mqlab.kafka.rebalances import history
from mqlab.kafka.rows import Behind, End, Rebalance, Trigger
from mqlab.memo import per_facts
from mqlab.models.lag import INTERVALS, Commit, Status, TimeLag, partition, time_lag
from mqlab.models.polling import ADVISED_MARGIN, largest_safe_records, share_over, smallest_safe_interval
from mqlab.shared.queues import Points, lag
from mqlab.shared.table import table
from mqlab.units import clock, digits, duration, number, percent
from mqlab.views.kafka_group import Phase, RebalanceView, peak_lag, positions, told_of

NOTHING = "—"
_MOST = 400
"""Rebalances that are listed; beyond, the first and the last."""


def triggers(view: RebalanceView) -> pd.DataFrame:
    """How many rebalances each trigger made and what was behind it, the most frequent first."""
    kinds = Counter((one.trigger, one.behind) for one in view.history)
    rows = []
    for (trigger, behind), times in sorted(kinds.items(), key=lambda kind: (-kind[1], kind[0])):
        own = [one for one in view.history if (one.trigger, one.behind) == (trigger, behind)]
        rows.append(
            {
                "trigger": trigger.value,
                "behind it": _behind(trigger, behind),
                "rebalances": times,
                "inferred": sum(one.inferred for one in own),
                "who": counted(one.client_id or "unknown" for one in own),
                "stood still": _seconds(total(one.standstill for one in own)),
                "handed out twice": amount(total(one.repeated for one in own)),
            }
        )
    columns = ("trigger", "behind it", "rebalances", "inferred", "who", "stood still", "handed out twice")
    return table(rows, columns)


def rebalances(view: RebalanceView) -> pd.DataFrame:
    """One row per rebalance: when, why and by whom it began, and what it cost. Inferred triggers are marked."""
    shown = view.history if len(view.history) <= _MOST else (*view.history[: _MOST // 2], *view.history[-_MOST // 2 :])
    columns = (
        "UTC", "generation", "trigger", "behind it", "member", "how it is known", "members", "moved", "stood still",
        "delayed", "twice",
    )  # fmt: skip
    return table([_rebalance(one) for one in shown], columns)


def ends(view: RebalanceView) -> pd.DataFrame:
    """One row per member: how often it came, and how its lives ended."""
    rows = []
    for client, host in sorted({(life.client_id, view.host(life)) for life in view.lives}):
        own = [life for life in view.lives if (life.client_id, view.host(life)) == (client, host)]
        bad = next((life for life in own if life.end not in (End.LEFT, End.OPEN)), own[0])
        rows.append(
            {
                "member": client,
                "host": host or NOTHING,
                "came": len(own),
                "its lives ended": counted(life.end for life in own),
                "static": "yes" if own[-1].static else "no",
                "for example": where(bad.evidence[0]) if bad.evidence else NOTHING,
            }
        )
    return table(rows, ("member", "host", "came", "its lives ended", "static", "for example"))


def counted(words: Iterator[str] | Sequence[str]) -> str:
    """``join 7, poll timeout 6``: the most frequent first."""
    return ", ".join(f"{word} {n}" for word, n in sorted(Counter(words).items(), key=lambda one: (-one[1], one[0])))


def _rebalance(one: Rebalance) -> dict[str, object]:
    return {
        "UTC": clock(one.started),
        "generation": NOTHING if one.generation is None else one.generation,
        "trigger": one.trigger.value,
        "behind it": _behind(one.trigger, one.behind),
        "member": " at ".join(filter(None, (one.client_id, one.host))) or NOTHING,
        "how it is known": _known(one),
        "members": f"{amount(one.members_before)} → {amount(one.members_after)}",
        "moved": amount(one.moved),
        "stood still": _seconds(one.standstill),
        "delayed": amount(one.delayed),
        "twice": amount(one.repeated),
    }


def _known(one: Rebalance) -> str:
    """``inferred: its process stopped, logs/server.log:935``."""
    how = f"inferred: {one.because}" if one.inferred else one.because or "the line says so"
    return ", ".join([how, *[where(line) for line in one.evidence[:1]]])


def _behind(trigger: Trigger, behind: Behind) -> str:
    """Nothing where it says what the trigger says already."""
    return NOTHING if behind.value in (trigger.value, Behind.UNKNOWN.value) else behind.value


def total(values: Iterator[float | None]) -> float | None:
    """None where none of them is known."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def amount(value: float | None) -> str:
    """A number, or a dash where it is not known."""
    return NOTHING if value is None else number(value)


def _seconds(value: float | None) -> str:
    return NOTHING if value is None else f"{digits(value)} s"


def groups(facts: Facts) -> pd.DataFrame:
    """One row per consumer group of the material: members, rebalances and what was behind them, highest lag."""
    rows = [
        {
            "group": group,
            "members": number(len({life.client_id for life in lives(facts, group)}))
            if lives(facts, group)
            else NOTHING,
            "rebalances": number(len(history(facts, group))),
            "behind them": counted(one.behind for one in history(facts, group)) or NOTHING,
            "topics": ", ".join(positions(facts, group)) or NOTHING,
            "highest lag": amount(peak_lag(positions(facts, group))),
        }
        for group in told_of(facts)
    ]
    return table(rows, ("group", "members", "rebalances", "behind them", "topics", "highest lag"))


def overview(view: RebalanceView) -> pd.DataFrame:
    """The group that is looked at, in a few lines."""
    return table([{"question": asked, "answer": told} for asked, told in _overview(view)], ("question", "answer"))


def _overview(view: RebalanceView) -> Iterator[tuple[str, str]]:
    if view.group is None:
        yield "group", "this material names no consumer group of Kafka"
        return
    yield "group", view.group
    yield "topics", ", ".join(view.topics) or "none that the material names"
    clients = sorted({life.client_id for life in view.lives})
    yield "members", f"{len(clients)}: {', '.join(clients[:8])}" if clients else "nobody is named"
    if view.history:
        yield (
            "rebalances",
            f"{len(view.history)}, {clock(view.history[0].started)} to {clock(view.history[-1].started)}",
        )
        yield "behind them", counted(one.behind for one in view.history)
        yield from _standstill(view)
    else:
        yield "rebalances", "none in this material"
    late, polled = sum(poll.late for poll in view.polls), sum(poll.batch.polls for poll in view.polls)
    if polled:
        yield "polls that were too late", f"{number(late)} of {number(polled)} ({percent(late / polled)})"
    yield "highest lag", amount(peak_lag(view.topics))


def _standstill(view: RebalanceView) -> Iterator[tuple[str, str]]:
    stood, window = sum(end - since for since, end in standstills(view.history)), view.window
    if stood and window is not None and window[1] > window[0]:
        of = f" of {duration(window[1] - window[0])} ({percent(min(1.0, stood / (window[1] - window[0])))})"
        yield "stood still for them", f"{duration(stood)}{of}"
    repeated = total(one.repeated for one in view.history)
    if repeated is not None:
        yield "records handed out twice", number(repeated)


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
_UNSET = ("null", "", "[]")
_COLUMNS = ("key", "value", "of", "since", "known from", "where")


def settings(facts: Facts, view: RebalanceView) -> pd.DataFrame:
    """One row per value of each setting, with all that had it; what nobody set is left out."""
    members = {life.client_id for life in view.lives} | {poll.batch.client_id for poll in view.polls}
    alike: dict[tuple[str, str, str], list[Setting]] = {}
    for one in sorted(facts.settings, key=lambda s: (s.at is None, s.at or 0.0, s.source, s.line or 0)):
        wanted = one.key in _KEYS.get(one.scope, ()) and one.value not in _UNSET
        if wanted and (one.scope == "broker" or one.owner in members):
            alike.setdefault((one.scope, one.key, one.value), []).append(one)
    ordered = [
        _row(alike[name]) for scope, keys in _KEYS.items() for key in keys for name in alike if name[:2] == (scope, key)
    ]
    return table(ordered, _COLUMNS)


def _row(same: Sequence[Setting]) -> dict[str, object]:
    first = same[0]
    return {
        "key": first.key,
        "value": first.value.replace("org.apache.kafka.clients.consumer.", "").replace("class ", "").strip("[]"),
        "of": f"{first.scope} {', '.join(sorted({one.owner for one in same if one.owner}))}".strip(),
        "since": clock(first.at),
        "known from": first.origin,
        "where": where(first.evidence) + (f" and {len(same) - 1} more" if len(same) > 1 else ""),
    }


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
    age = time_lag(ends, last.committed or 0, now)
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
    rows = [
        {
            "partition": f"{one.topic}-{one.partition}",
            "verdict": one.status.value,
            "since": clock(one.since),
            "commits known": percent(one.complete),
            "highest lag": number(max(map(lag, view.topics[one.topic][one.partition]))),
            "lag at the end": number(one.lag),
            "its next record waits": age(one.time_lag),
            "last seen in": where(view.topics[one.topic][one.partition][-1].evidence),
        }
        for one in (statuses(facts, view.group) if view.group else ())
        if one.partition in view.topics.get(one.topic, {})
    ]
    columns = (
        "partition", "verdict", "since", "commits known", "highest lag", "lag at the end", "its next record waits",
        "last seen in",
    )  # fmt: skip
    return table(rows, columns)


def age(known: TimeLag | None) -> str:
    """``25.0 s (20.0 s to 30.0 s)``, ``≥ 40.0 s``."""
    if known is None:
        return NOTHING
    if known.likely is None or known.high is None:
        return f"≥ {duration(known.low)}"
    if known.high == 0:
        return "nothing waits"
    return f"{duration(known.likely)} ({duration(known.low)} to {duration(known.high)})"


def polls(view: RebalanceView) -> pd.DataFrame:
    """How long polls took, for each pair of settings that was in force; empty without lines of applications."""
    return table([_polls(phase) for phase in view.phases], ("time", *_TRIAL_COLUMNS))


_TRIAL_COLUMNS = (
    "may pass", "max.poll.records", "polls", "records", "one record, half", "one record, 99 %", "one poll, half",
    "one poll, 99 %", "too late", "longest",
)  # fmt: skip


def enough(view: RebalanceView) -> pd.DataFrame:
    """For each pair of settings: the records a poll may have, and the interval that its records need, at the 99 %.

    *Just enough* leaves nothing for a slow call or a pause; *with room* keeps half of the interval free.
    """
    return table([_enough(phase) for phase in view.phases if phase.interval is not None], ("time", *_ENOUGH))


_ENOUGH = (
    "set", "a full poll takes", "fits", "largest max.poll.records, just enough", "with room",
    "smallest max.poll.interval.ms, just enough", "with room ",
)  # fmt: skip


def actions(view: RebalanceView) -> pd.DataFrame:
    """What to do now, for good, and how to see that it worked; empty without a finding about the group."""
    finding = view.finding
    if finding is None:
        return table([], ("step", "what"))
    commands = INCIDENTS[finding.incident].commands
    steps = [("now", finding.mitigate), ("fix", finding.remedy), ("verify", finding.verify)]
    steps += [("command", c.run) for c in commands if c.system == "kafka" and "{file}" not in c.run]
    rows = [{"step": step, "what": what} for step, what in steps if what]
    return table(rows, ("step", "what"))


def _polls(phase: Phase) -> dict[str, object]:
    longest = max((poll.batch for poll in phase.polls), key=lambda b: (b.longest_seconds, -b.at))
    share = share_over(phase.pairs, phase.interval) if phase.interval is not None else None
    each, whole = phase.work.record_seconds, phase.work.poll_seconds
    return {
        "time": f"{clock(phase.since)} to {clock(phase.until)}",
        "may pass": NOTHING if phase.interval is None else duration(phase.interval),
        "max.poll.records": NOTHING if phase.most_records is None else number(phase.most_records),
        "polls": number(phase.work.polls),
        "records": number(phase.work.records),
        "one record, half": f"{digits(each.p50 * 1000)} ms",
        "one record, 99 %": f"{digits(each.p99 * 1000)} ms",
        "one poll, half": f"{digits(whole.p50)} s",
        "one poll, 99 %": f"{digits(whole.p99)} s",
        "too late": NOTHING if share is None else _late(phase, share),
        "longest": f"{digits(longest.longest_seconds)} s, {where(longest.evidence)}",
    }


def _late(phase: Phase, share: float) -> str:
    return f"{number(round(share * phase.work.polls))} ({percent(share)})" if share else "none"


def _enough(phase: Phase) -> dict[str, object]:
    each, interval = phase.work.record_seconds.p99, phase.interval or 0.0
    takes = phase.records * each
    return {
        "time": f"{clock(phase.since)} to {clock(phase.until)}",
        "set": f"{number(phase.records)} in {duration(interval)}",
        "a full poll takes": f"{digits(takes)} s",
        "fits": "yes" if takes < interval else "no",
        "largest max.poll.records, just enough": _most(interval, each, 0.0),
        "with room": _most(interval, each, ADVISED_MARGIN),
        "smallest max.poll.interval.ms, just enough": _least(phase, each, 0.0),
        "with room ": _least(phase, each, ADVISED_MARGIN),
    }


def _most(interval: float, each: float, margin: float) -> str:
    most = largest_safe_records(interval, each, margin=margin) if each > 0 else None
    return NOTHING if most is None else number(most)


def _least(phase: Phase, each: float, margin: float) -> str:
    return number(ceil(1000 * smallest_safe_interval(phase.records, each, margin=margin)))
