"""Tables about one RocketMQ group for the notebook.

Who was there, who held what, what waited, what it cost, how client ids came about and how they are repaired.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby

import pandas as pd

from mqlab.facts import Facts
from mqlab.frames import NOTHING
from mqlab.models.client_ids import Risk, parse, risks
from mqlab.models.queue_allocation import Capacity, owned
from mqlab.rocketmq.eras import Panel, Share
from mqlab.rocketmq.shared_client_ids import Case, reserved_seconds
from mqlab.shared.queues import place, spread
from mqlab.shared.table import table
from mqlab.units import clock, digits, measure, number, percent
from mqlab.views.rocketmq_group import GroupView, QueueLag, queue_lags
from mqlab.words import listed, room

say, say_of_id = room("rocketmq-tables"), room("client-ids")


def overview(facts: Facts, view: GroupView) -> pd.DataFrame:
    """What is looked at, in a few lines; with or without a shared id."""
    return table(_overview(facts, view), "question|answer")


def people(view: GroupView) -> pd.DataFrame:
    """One row per process and stay: its id, where it is, when it came and went, and whether its id was its own."""
    rows = (
        (m.client_id, m.place, clock(stay.since), clock(stay.until), say("shared" if stay.shared else "own"),
         m.evidence.place)
        for stay in sorted(view.stays, key=lambda s: (s.since, s.member.client_id, s.member.place))
        for m in (stay.member,)
    )  # fmt: skip
    return table(rows, "client id|address|came|went|ID is|first seen in")


def shares(panels: Sequence[Panel]) -> pd.DataFrame:
    """Queues that fare alike: who owns them by the rule, how many processes say so, and what their offsets did."""
    rows = []
    for panel in panels:
        when = panel.title or say("span", since=panel.era.since, until=panel.era.seen)
        for alike in _alike(panel):
            first, queues = alike[0], spread(s.queue for s in alike)
            rows.append((when, first.topic, queues, len(first.owners), _who(first), _said(first), _offsets(alike)))
    return table(rows, "when|topic|queues|owners|who|confirmed by|offsets")


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
    return table(rows, "queues|topic|readers|arriving|read|highest lag of one queue|pending at the end")


def capacity(view: GroupView) -> pd.DataFrame:
    """How much of the work is of use, as it was and had each process an id of its own; empty where each has one."""
    rows = []
    during = view.during if view.unique is not None else None
    for one in view.terms if during is not None and during.by_rule else ():
        queues = [(one.topic, *place(queue)) for queue in one.queues]
        found = owned(one.strategy, during.era.ids if during else (), queues, absent=one.absent)
        rows.append(_capacity(one.topic, say("as-it-was"), found.capacity))
        rows.append(_capacity(one.topic, say("unique"), found.unique_capacity))
    return table(rows, "topic|IDs|queues with an owner|processes|useful work|work done once")


def _capacity(topic: str, ids: str, found: Capacity) -> Sequence[object]:
    served = say("served", served=found.served, queues=found.queues, share=found.served_share)
    useful = say("useful", processes=found.useful_processes)
    return topic, ids, served, found.processes, useful, percent(found.distinct_share)


def _overview(facts: Facts, view: GroupView) -> Iterator[tuple[str, str]]:
    if view.group is None:
        yield say("group"), say("no-group")
        return
    yield say("group"), view.group
    yield say("topics"), ", ".join(t.topic for t in view.terms) or say("no-topics")
    if view.broadcast:
        yield say("messages"), say("broadcast")
    elif view.terms:
        yield say("allocated"), ", ".join(dict.fromkeys(t.strategy for t in view.terms))
    counted = {s.member.client_id: s.member for s in view.stays}
    yield say("processes"), number(len({(s.member.client_id, s.member.host) for s in view.stays}))
    shared = sorted({s.member.client_id for s in view.stays if s.shared})
    yield say("shared-ids"), ", ".join(shared) or say("none" if counted else "unlisted")
    if view.mismatch is not None and not view.mismatch.tags:
        yield say("differ"), ", ".join(view.mismatch.topics)
    peaks = [lag.peak for lag in queue_lags(facts, view)]
    yield say("lag"), number(max(peaks)) if peaks else say("no-offsets")


def _alike(panel: Panel) -> Iterator[list[Share]]:
    for _, told in groupby(
        panel.shares, key=lambda s: (s.topic, place(s.queue)[0], s.owners, _said(s), bool(s.pace and s.pace.frozen))
    ):
        yield list(told)


def _who(share: Share) -> str:
    times = {client: share.owners.count(client) for client in share.owners}
    return ", ".join(client if n == 1 else f"{n} × {client}" for client, n in times.items()) or say("nobody")


def _said(share: Share) -> str:
    """Processes that name the queue, of those that should; of a queue without owner, of all that speak."""
    asked = {c: n for c, n in share.speaking.items() if not share.owners or c in {*share.owners, *share.said}}
    said = sum(share.said.get(client, 0) for client in asked)
    return say("so-many", said=said, asked=sum(asked.values())) if asked else NOTHING


def _offsets(alike: Sequence[Share]) -> str:
    seen = [s.pace for s in alike if s.pace is not None and s.pace.produced > 0]
    if not seen:
        return NOTHING
    came, read = sum(p.produced for p in seen), sum(p.consumed for p in seen)
    return say("moved" if read else "stand-still", read=read, came=came)


def _kind(lag: QueueLag) -> tuple[str, str]:
    return lag.kind, lag.topic


_COSTS = (
    "lag_growth_per_second", "orphans_produced_per_second", "pending_records", "peak_lag", "duplicated_records",
    "duplicated_records_estimated",
)  # fmt: skip


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
    rows = [
        (spread(queues), topic, -less, say("times", times=times))
        for (topic, less, times), queues in sorted(alike.items())
    ]
    return table(rows, "queues|topic|owners|each message was handled")


def identities(facts: Facts, view: GroupView) -> pd.DataFrame:
    """What the client ids are made of, and how another process can come to the same one; those of shared ids first."""
    versions = {c.client_id: c.version for c in facts.clients if c.group == view.group and c.version}
    alike: dict[tuple[str, str, str, str], list[str]] = defaultdict(list)
    for client in dict.fromkeys(s.member.client_id for s in sorted(view.stays, key=lambda s: not s.shared)):
        alike[_anatomy(client, versions.get(client))].append(client)
    rows = [(say("ids", ids=ids), *anatomy) for anatomy, ids in alike.items()]
    return table(rows, "client id|made of|client version|why another process can have the same|fix")


def _anatomy(client: str, version: str | None) -> tuple[str, str, str, str]:
    """Parts, version, risks and repair."""
    read = parse(client)
    if read is None:
        return say("made-otherwise"), version or NOTHING, NOTHING, NOTHING
    found = risks(read, version)
    chosen = read.pid is None or Risk.EXPLICIT_NAME in found
    made = say("made-of", chosen=chosen, nano=read.nano is not None, units=read.unit)
    because = listed(say_of_id("because", risk=one) for one in found) or say("no-reason")
    return made, version or NOTHING, because, say_of_id("repair", risk=found[0]) if found else NOTHING


def _costs(facts: Facts, view: GroupView) -> Iterator[tuple[str, str]]:
    if view.finding is None:
        return
    for name in _COSTS:
        if name in view.finding.measures:
            value = view.finding.measures[name]
            yield say(name), f"{digits(value)}/s" if name.endswith("_per_second") else measure(name, value)
    for name in ("order", "retries"):
        if name in view.finding.facts:
            yield say(name), view.finding.facts[name]
    if view.case is not None and view.during is not None and view.during.orphans:
        yield from _deleted(facts, view.case)


def _deleted(facts: Facts, case: Case) -> Iterator[tuple[str, str]]:
    seconds, said = reserved_seconds(facts)
    yield say("retention"), say("kept", kept=seconds, default=not said)
    yield say("deleted"), say("from", at=case.since + seconds)
