"""What would have been and what will be, as rows for notebook and screen: a group replayed, a backlog drained."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, tzinfo
from math import ceil, isinf

import pandas as pd

from mqlab.facts import Facts
from mqlab.frames import NOTHING
from mqlab.kafka.rows import Behind
from mqlab.models.draining import Forecast, Levers, Plan, Refusal, Store, lasting
from mqlab.models.polling import ADVISED_MARGIN, largest_safe_records, smallest_safe_interval
from mqlab.quantities import BadQuantityError
from mqlab.scenarios import drain
from mqlab.scenarios.drain import DrainAnswer, Request
from mqlab.scenarios.drain_state import NoBacklogError
from mqlab.scenarios.replay import ReplayAnswer, Simulated, replay
from mqlab.scenarios.replay_changes import BadChangeError, changes
from mqlab.scenarios.replay_inputs import NoReplayError
from mqlab.shared.queues import OWN, spread
from mqlab.shared.table import table
from mqlab.units import Interval, digits, number, percent
from mqlab.views.kafka_group import Phase, RebalanceView
from mqlab.words import Text, room

say, say_plan = room("replay"), room("drain")

_THREADS = 4
"""An example of threads that share a poll."""
_SESSION_MS = 45_000
"""Default of session.timeout.ms since 3.0 (KIP-735)."""


def answered(facts: Facts, view: RebalanceView, pairs: Sequence[str] = ()) -> ReplayAnswer | None:
    """The replay with these ``KEY=VALUE``; None where nobody fell out, or the material does not suffice for one."""
    if view.group is None or not troubled(view):
        return None
    try:
        return replay(facts, view.group, changes(pairs))
    except (NoReplayError, BadChangeError):
        return None


def troubled(view: RebalanceView) -> bool:
    """Members fell out of the group: something is to be repaired by settings."""
    fell_out = any(one.behind in (Behind.POLL_TIMEOUT, Behind.EXPIRY) for one in view.history)
    return fell_out or any(poll.late for poll in view.polls)


def trials(facts: Facts, view: RebalanceView) -> pd.DataFrame:
    """What was recorded, its replay, and replays with one setting changed at a time; empty without a replay."""
    first = answered(facts, view)
    if first is None:
        return trial(None)
    others = (answered(facts, view, (pair,)) for pair in variants(view))
    return _compared([*_known(first), *(_told(one.changes, one.after) for one in others if one and one.after)])


def trial(found: ReplayAnswer | None) -> pd.DataFrame:
    """One replay beside what was recorded; empty without one."""
    changed = [_told(found.changes, found.after)] if found and found.after else []
    return _compared([*(_known(found) if found else ()), *changed])


def _compared(rows: Sequence[Sequence[str]]) -> pd.DataFrame:
    return table(rows, "with|rebalances|longest poll|polls too late|lag at the end|handed out twice")


def assumptions(facts: Facts, view: RebalanceView) -> pd.DataFrame:
    """What a replay takes for granted, and how far it is from the record; empty without one."""
    found = answered(facts, view)
    return table(_assumed(found) if found else [], "replay|told")


def variants(view: RebalanceView) -> tuple[str, ...]:
    """Settings that are worth a try: those that would have been enough, more threads, a longer session."""
    return tuple(dict.fromkeys(_variants(view)))


def _variants(view: RebalanceView) -> Iterator[str]:
    late = next((phase for phase in view.phases if any(poll.late for poll in phase.polls)), None)
    if late is not None and late.interval is not None:
        yield from _enough(late, late.interval)
        yield f"threads={_THREADS}"
    if any(one.behind is Behind.EXPIRY for one in view.history):
        yield f"session.timeout.ms={_SESSION_MS}"


def _enough(late: Phase, interval: float) -> Iterator[str]:
    each = late.work.record_seconds.p99
    for margin in (ADVISED_MARGIN, 0.0):
        most = largest_safe_records(interval, each, margin=margin)
        if most is not None:
            yield f"max.poll.records={most}"
    yield f"max.poll.interval.ms={ceil(1000 * smallest_safe_interval(late.records, each, margin=ADVISED_MARGIN))}"


def _known(found: ReplayAnswer) -> Iterator[Sequence[str]]:
    known = found.recorded
    yield (
        say("recorded"),
        NOTHING if known.rebalances is None else number(known.rebalances),
        NOTHING if known.longest_poll_seconds is None else f"{digits(known.longest_poll_seconds)} s",
        NOTHING if known.late_share is None else percent(known.late_share),
        NOTHING if known.final_lag is None else number(round(known.final_lag)),
        NOTHING if known.repeated is None else number(known.repeated),
    )
    yield _told(say("replayed"), found.before)


def _told(name: str, told: Simulated) -> Sequence[str]:
    longest, late = f"{digits(told.longest_poll_seconds.likely)} s", percent(told.late_share.likely)
    return name, _between(told.rebalances), longest, late, _between(told.final_lag), _between(told.repeated)


def _between(found: Interval) -> str:
    """``1,353 (1,103 to 1,603)``; bounds that agree are left out."""
    return say("between", amount=Interval(round(found.low), round(found.likely), round(found.high)))


def _assumed(found: ReplayAnswer) -> Iterator[tuple[str, str]]:
    yield say("time"), say("span", since=found.since, until=found.until, incident=found.incident)
    yield say("as-it-was"), say("close", agrees=found.agrees, error=found.error_share)
    for sentence in found.assumed:
        yield say("assumed"), sentence


def drain_answer(facts: Facts, request: Request) -> DrainAnswer | None:
    """The forecast and plan for a group; None without one, or where material and request do not suffice."""
    try:
        return drain.answer(request, facts) if request.group else None
    except (NoBacklogError, BadQuantityError):
        return None


def drain_plan(found: DrainAnswer | None) -> pd.DataFrame:
    """The forecast and plan in a few lines; empty without one."""
    return table(drain_rows(found) if found else [], "drain|what is known")


def drain_rows(answer: DrainAnswer, tz: tzinfo = UTC) -> Iterator[tuple[str, str]]:
    """What is known of a drain as (label, sentence); a row without a label goes on with the one above."""
    waits = {"backlog": round(answer.backlog), "queues": len(answer.queues), "inflow": answer.inflow_per_second}
    at = _clock(answer.at, tz) if answer.at is not None else None
    over = answer.measured_seconds is not None
    yield _label("drain"), say_plan("waits", group=answer.group or None, at=at, over=over, **waits)
    yield from _measured(answer, tz)
    if answer.forecast is not None:
        yield from _forecast(answer, answer.forecast)
    if answer.plan is not None and answer.store is not None:
        yield from _planned(answer, answer.plan, answer.store)
    for place, sentence in enumerate(answer.assumed):
        yield "" if place else _label("assumed"), sentence


def _label(name: str) -> Text:
    return say_plan("label", of=name)


def _measured(answer: DrainAnswer, tz: tzinfo) -> Iterator[tuple[str, str]]:
    fall = answer.fall
    if fall is None:
        if answer.points:
            yield _label("measured"), say_plan("never-falls")
        return
    rate, expected = fall.messages_per_second, fall.expected_at
    told = say_plan(
        "falls",
        began=_clock(fall.began_at, tz),
        rate=rate.likely,
        low=rate.low,
        high=rate.high,
        reached=_clock(fall.reached_at, tz) if fall.reached_at is not None else None,
        expected=_clock(expected.likely, tz) if expected is not None and not isinf(expected.likely) else None,
    )
    yield _label("measured"), told


def _forecast(answer: DrainAnswer, forecast: Forecast) -> Iterator[tuple[str, str]]:
    took, restart = answer.measured_seconds, forecast.start_seconds.likely
    off = forecast.seconds.likely / took.likely - 1 if took and took.likely else None
    told = say_plan(
        "forecast",
        never=forecast.never,
        lasting=lasting(forecast.seconds),
        since="now" if answer.fall and answer.fall.reached_at is None else "rebalance",
        restart=restart + forecast.seconds.likely if restart else None,
        measured=took if off is not None else None,
        off=abs(off) if off is not None else None,
        longer=off is not None and off > 0,
    )
    yield _label("forecast"), told
    for owner in sorted(forecast.owners, key=lambda owner: -owner.seconds.likely)[:6]:
        if owner.seconds.likely >= 1:
            told = say_plan(
                "owner",
                owner=owner.name or None,
                queues=spread(name.rpartition(" ")[2] for name in owner.queues if not name.startswith(OWN)),
                backlog=round(owner.backlog),
                inflow=owner.inflow_per_second,
                capacity=owner.capacity_per_second,
                seconds=None if isinf(owner.seconds.likely) else owner.seconds.likely,
            )
            yield "", told


def _planned(answer: DrainAnswer, made: Plan, store: Store) -> Iterator[tuple[str, str]]:
    told = say_plan(
        "budget",
        reserve=f"{store.reserve_share:g}",
        capacity=store.capacity_writes_per_second,
        load=store.load_writes_per_second,
        inflow=answer.inflow_per_second,
        writes=f"{store.writes_per_message:g}",
        budget=made.budget_writes_per_second,
    )
    yield _label("budget"), told
    if made.refusal is not None:
        yield from _refused(answer, made.refusal)
    elif made.levers is not None:
        yield from _levers(answer, made, made.levers)
    yield from _guards(made)


def _refused(answer: DrainAnswer, refusal: Refusal) -> Iterator[tuple[str, str]]:
    yield _label("refused"), say_plan("refused", reason=refusal.reason)
    yield _label("instead"), say_plan("more-capacity", capacity=round(refusal.needed_capacity_writes_per_second))
    yield "", say_plan("skip", messages=round(refusal.skipped_messages), group=answer.group or "GROUP")
    yield "", say_plan("read-elsewhere")


def _levers(answer: DrainAnswer, made: Plan, levers: Levers) -> Iterator[tuple[str, str]]:
    rate, queues = levers.messages_per_second, len(answer.queues)
    yield _label("hold"), say_plan("hold", rate=round(rate), bound=made.bounded_by)
    each, total, extra = levers.threads_per_instance, levers.threads_total, levers.threads_for_backlog
    many = {"each": each, "instances": levers.instances, "total": total, "backlog": extra}
    yield "", say_plan("threads", **many) if total else say_plan("no-threads")
    yield (
        "",
        say_plan("pull-interval", milliseconds=levers.pull_interval_ms, batch=answer.batch_messages, queues=queues),
    )
    yield "", say_plan("token-bucket", rate=rate, each=rate / levers.instances)
    yield _label("finish"), say_plan("finish", lasting=lasting(made.seconds), rate=made.drained_per_second)
    for place, step in enumerate(made.steps):
        told = say_plan(
            "step",
            share=f"{percent(step.share):>7}",
            rate=f"{digits(step.messages_per_second):>7}",
            each=f"{step.threads_per_instance:>3}" if step.threads_per_instance else None,
            going=step.left > 0,
            seconds=step.seconds,
            left=round(step.left),
        )
        yield "" if place else _label("ramp"), told
    yield "", say_plan("watch")


def _guards(made: Plan) -> Iterator[tuple[str, str]]:
    guard = made.retention
    if guard is None:
        told = say_plan("retention-unknown")
    elif guard.loss_begins_seconds is not None:
        told = say_plan("retention-loss", begins=guard.loss_begins_seconds, lost=round(guard.lost_messages))
    elif guard.margin_seconds > 0:
        told = say_plan("retention-kept", spare=guard.margin_seconds)
    else:
        told = say_plan("retention-tight", reached=guard.deletion_reaches_backlog_seconds)
    yield _label("guard"), told
    yield "", say_plan("heap", heap=made.heap_bytes_per_instance)
    yield "", say_plan("pulls", rate=made.queue_messages_per_second)


def _clock(at: float, tz: tzinfo) -> str:
    return f"{datetime.fromtimestamp(at, tz):%H:%M:%S}"
