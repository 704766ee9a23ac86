"""Tables about one RocketMQ group for the notebook.

Who was there, who held what, what waited, what it cost, how client ids came about and how they are repaired.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby

import pandas as pd

from mqlab import words
from mqlab.facts import Facts
from mqlab.frames import NOTHING, where
from mqlab.models.client_ids import Risk, parse, risks
from mqlab.models.queue_allocation import Capacity, owned
from mqlab.rocketmq.eras import Panel, Share
from mqlab.rocketmq.shared_client_ids import Case, reserved_seconds
from mqlab.shared.queues import place, spread
from mqlab.shared.table import table
from mqlab.units import clock, digits, duration, measure, number, percent, stamp
from mqlab.views.rocketmq_group import GroupView, QueueLag, queue_lags
from mqlab.words import listed

say = words.room("client-ids")


def overview(facts: Facts, view: GroupView) -> pd.DataFrame:
    """What is looked at, in a few lines; with or without a shared id."""
    return table(_overview(facts, view), "question|answer")


def people(view: GroupView) -> pd.DataFrame:
    """One row per process and stay: its id, where it is, when it came and went, and whether its id was its own."""
    rows = (
        (m.client_id, m.place, clock(stay.since), clock(stay.until), "shared" if stay.shared else "its own",
         where(m.evidence))
        for stay in sorted(view.stays, key=lambda s: (s.since, s.member.client_id, s.member.place))
        for m in (stay.member,)
    )  # fmt: skip
    return table(rows, "client id|address|came|went|id is|first seen in")


def shares(panels: Sequence[Panel]) -> pd.DataFrame:
    """Queues that fare alike: who owns them by the rule, how many processes say so, and what their offsets did."""
    rows = []
    for panel in panels:
        when = panel.title or f"{clock(panel.era.since)} to {clock(panel.era.seen)}"
        for alike in _alike(panel):
            first, queues = alike[0], spread(s.queue for s in alike)
            rows.append((when, first.topic, queues, len(first.owners), _who(first), _said(first), _offsets(alike)))
    return table(rows, "when|topic|queues|owners|who|say so|offsets")


def waiting(facts: Facts, view: GroupView) -> pd.DataFrame:
    """Queues by what became of them: how many messages wait, and how fast they came while the group was as drawn."""
    paces = {(s.topic, s.queue): s.pace for s in view.during.shares} if view.during else {}
    rows = []
    for (kind, topic), alike in groupby(sorted(queue_lags(facts, view), key=_kind), key=_kind):
        own = list(alike)
        known = [pace for one in own if (pace := paces.get((topic, one.queue))) is not None and pace.seconds]
        came = f"{digits(sum(p.produced / p.seconds for p in known))}/s" if known else NOTHING
        read = f"{digits(sum(p.consumed / p.seconds for p in known))}/s" if known else NOTHING
        waits = number(max(one.peak for one in own)), number(sum(one.points[-1][1] for one in own))
        rows.append((spread(one.queue for one in own), topic, kind, came, read, *waits))
    return table(rows, "queues|topic|fate|come in|are read|highest lag of one|waiting at the end")


def capacity(view: GroupView) -> pd.DataFrame:
    """How much of the work is of use, as it was and had each process an id of its own; empty where each has one."""
    rows = []
    during = view.during if view.unique is not None else None
    for one in view.terms if during is not None and during.by_rule else ():
        queues = [(one.topic, *place(queue)) for queue in one.queues]
        found = owned(one.strategy, during.era.ids if during else (), queues, absent=one.absent)
        rows.append(_capacity(one.topic, "as it was", found.capacity))
        rows.append(_capacity(one.topic, "had each process an id of its own", found.unique_capacity))
    return table(rows, "topic|ids|queues with an owner|processes|do useful work|work done once")


def _capacity(topic: str, ids: str, found: Capacity) -> Sequence[object]:
    served = f"{found.served} of {found.queues} ({percent(found.served_share)})"
    useful = f"as {digits(found.useful_processes)} processes"
    return topic, ids, served, found.processes, useful, percent(found.distinct_share)


def _overview(facts: Facts, view: GroupView) -> Iterator[tuple[str, str]]:
    if view.group is None:
        yield "group", "this material names no consumer group of RocketMQ"
        return
    yield "group", view.group
    yield "topics", ", ".join(t.topic for t in view.terms) or "none named in this material"
    if view.broadcast:
        yield "messages", "broadcast: each process reads every queue, so duplicate ids do no harm"
    elif view.terms:
        yield "allocated by", ", ".join(dict.fromkeys(t.strategy for t in view.terms))
    counted = {s.member.client_id: s.member for s in view.stays}
    yield "processes that came", number(len({(s.member.client_id, s.member.host) for s in view.stays}))
    shared = sorted({s.member.client_id for s in view.stays if s.shared})
    yield "ids that several processes shared", ", ".join(shared) or ("none" if counted else "nobody is listed")
    if view.mismatch is not None:
        yield "members do not all read", ", ".join(view.mismatch.topics)
    peaks = [lag.peak for lag in queue_lags(facts, view)]
    yield "highest lag of one queue", number(max(peaks)) if peaks else "no offsets"


def _alike(panel: Panel) -> Iterator[list[Share]]:
    for _, told in groupby(
        panel.shares, key=lambda s: (s.topic, place(s.queue)[0], s.owners, _said(s), bool(s.pace and s.pace.frozen))
    ):
        yield list(told)


def _who(share: Share) -> str:
    times = {client: share.owners.count(client) for client in share.owners}
    return ", ".join(client if n == 1 else f"{n} × {client}" for client, n in times.items()) or "nobody"


def _said(share: Share) -> str:
    """Processes that name the queue, of those that should; of a queue without owner, of all that speak."""
    asked = {c: n for c, n in share.speaking.items() if not share.owners or c in {*share.owners, *share.said}}
    return f"{sum(share.said.get(c, 0) for c in asked)} of {sum(asked.values())}" if asked else NOTHING


def _offsets(alike: Sequence[Share]) -> str:
    seen = [s.pace for s in alike if s.pace is not None and s.pace.produced > 0]
    if not seen:
        return NOTHING
    came, read = sum(p.produced for p in seen), sum(p.consumed for p in seen)
    return f"moved by {number(read)}, {number(came)} came in" if read else f"stand still, {number(came)} came in"


def _kind(lag: QueueLag) -> tuple[str, str]:
    return lag.kind, lag.topic


_COSTS = {
    "lag_growth_per_second": "what waits grows by",
    "orphans_produced_per_second": "produced to queues that nobody reads",
    "pending_records": "messages that waited at its end",
    "peak_lag": "most that ever waited",
    "duplicated_records": "deliveries that were repeats, by the ledgers",
    "duplicated_records_estimated": "deliveries that were repeats, if every process handled all of its own",
}
_MOST = 4
"""Ids that are named of those alike."""


def costs(facts: Facts, view: GroupView) -> pd.DataFrame:
    """What the finding counted, and when the broker deletes what nobody read; empty without a finding."""
    return table(_costs(facts, view), "what|how much")


def repeats(view: GroupView) -> pd.DataFrame:
    """How often a message of the queues was handled, by the applications' own ledgers; empty without them.

    Queues without an owner are left out: of them only the few messages before the last process came were handled.
    """
    owners = {(s.topic, s.queue): len(s.owners) for s in view.during.shares} if view.during else {}
    alike: dict[tuple[str, int, str], list[str]] = defaultdict(list)
    for topic, counted in (view.case.copies if view.case else {}).items():
        for queue, times in counted.by_queue.items():
            if owners.get((topic, queue)):
                alike[topic, -owners[topic, queue], digits(times)].append(queue)
    rows = [(spread(queues), topic, -less, f"{times} times") for (topic, less, times), queues in sorted(alike.items())]
    return table(rows, "queues|topic|owners|each message was handled")


def identities(facts: Facts, view: GroupView) -> pd.DataFrame:
    """What the client ids are made of, and how another process can come to the same one; those of shared ids first."""
    versions = {c.client_id: c.version for c in facts.clients if c.group == view.group and c.version}
    alike: dict[tuple[str, str, str, str], list[str]] = defaultdict(list)
    for client in dict.fromkeys(s.member.client_id for s in sorted(view.stays, key=lambda s: not s.shared)):
        alike[_anatomy(client, versions.get(client))].append(client)
    rows = [
        (", ".join(ids[:_MOST]) + (f" and {len(ids) - _MOST} more" if len(ids) > _MOST else ""), *anatomy)
        for anatomy, ids in alike.items()
    ]
    return table(rows, "client id|made of|client version|another process can have the same, because|so")


def _anatomy(client: str, version: str | None) -> tuple[str, str, str, str]:
    """Parts, version, risks and repair."""
    read = parse(client)
    if read is None:
        return "something else than address and instance", version or NOTHING, NOTHING, NOTHING
    number = ", nanosecond number" if read.nano is not None else ""
    found = risks(read, version)
    chosen = read.pid is None or Risk.EXPLICIT_NAME in found
    named = "configured instance name" if chosen else f"process id{number}"
    because = listed(say("because", risk=one) for one in found) or "no reason known: the number differs in each process"
    unit = ", unit" if read.unit else ""
    return f"address, {named}{unit}", version or NOTHING, because, say("repair", risk=found[0]) if found else NOTHING


def _costs(facts: Facts, view: GroupView) -> Iterator[tuple[str, str]]:
    if view.finding is None:
        return
    for name, label in _COSTS.items():
        if name in view.finding.measures:
            value = view.finding.measures[name]
            yield label, f"{digits(value)}/s" if name.endswith("_per_second") else measure(name, value)
    for name in ("order", "retries"):
        if name in view.finding.facts:
            yield name, view.finding.facts[name]
    if view.case is not None and view.during is not None and view.during.orphans:
        yield from _deleted(facts, view.case)


def _deleted(facts: Facts, case: Case) -> Iterator[tuple[str, str]]:
    seconds, said = reserved_seconds(facts)
    kept = f"{duration(seconds)}, {'as configured' if said else 'the default of the broker'}"
    yield "messages are kept for", kept
    yield "the first that nobody read may be deleted from", f"{stamp(case.since + seconds)} UTC on"
