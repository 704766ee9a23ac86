"""Tables about one RocketMQ group for the notebook.

Who was there, who held what, what waited, what it cost, how client ids came about and how they are repaired.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby
from shlex import quote

import pandas as pd

from mqlab.catalogue import INCIDENTS
from mqlab.facts import Facts
from mqlab.frames import where
from mqlab.models.client_ids import EXPLICIT_NAME, parse, risks
from mqlab.models.queue_allocation import Capacity, owned
from mqlab.rocketmq.eras import Panel, Share
from mqlab.rocketmq.shared_client_ids import Case, reserved_seconds
from mqlab.shared.queues import place, spread
from mqlab.shared.table import table
from mqlab.units import clock, digits, duration, measure, number, percent, stamp
from mqlab.views.queue_lags import QueueLag, queue_lags
from mqlab.views.rocketmq_group import GroupView

_NOTHING = "—"


def overview(facts: Facts, view: GroupView) -> pd.DataFrame:
    """What is looked at, in a few lines; with or without a shared id."""
    return table(
        [{"question": asked, "answer": told} for asked, told in _overview(facts, view)], ("question", "answer")
    )


def people(view: GroupView) -> pd.DataFrame:
    """One row per process and stay: its id, where it is, when it came and went, and whether its id was its own."""
    rows = [
        {
            "client id": stay.member.client_id,
            "address": stay.member.place,
            "came": clock(stay.since),
            "went": clock(stay.until),
            "id is": "shared" if stay.shared else "its own",
            "first seen in": where(stay.member.evidence),
        }
        for stay in sorted(view.stays, key=lambda s: (s.since, s.member.client_id, s.member.place))
    ]
    return table(rows, ("client id", "address", "came", "went", "id is", "first seen in"))


def shares(panels: Sequence[Panel]) -> pd.DataFrame:
    """Queues that fare alike: who owns them by the rule, how many processes say so, and what their offsets did."""
    rows = [
        {
            "when": panel.title or f"{clock(panel.era.since)} to {clock(panel.era.seen)}",
            "topic": alike[0].topic,
            "queues": spread(s.queue for s in alike),
            "owners": len(alike[0].owners),
            "who": _who(alike[0]),
            "say so": _said(alike[0]),
            "offsets": _offsets(alike),
        }
        for panel in panels
        for alike in _alike(panel)
    ]
    return table(rows, ("when", "topic", "queues", "owners", "who", "say so", "offsets"))


def waiting(facts: Facts, view: GroupView) -> pd.DataFrame:
    """Queues by what became of them: how many messages wait, and how fast they came while the group was as drawn."""
    paces = {(s.topic, s.queue): s.pace for s in view.during.shares} if view.during else {}
    rows = []
    for (kind, topic), told in groupby(sorted(queue_lags(facts, view), key=_kind), key=_kind):
        found = list(told)
        known = [p for f in found if (p := paces.get((topic, f.queue))) is not None and p.seconds]
        rows.append(
            {
                "queues": spread(f.queue for f in found),
                "topic": topic,
                "fate": kind,
                "come in": f"{digits(sum(p.produced / p.seconds for p in known))}/s" if known else _NOTHING,
                "are read": f"{digits(sum(p.consumed / p.seconds for p in known))}/s" if known else _NOTHING,
                "highest lag of one": number(max(f.peak for f in found)),
                "waiting at the end": number(sum(f.points[-1][1] for f in found)),
            }
        )
    columns = ("queues", "topic", "fate", "come in", "are read", "highest lag of one", "waiting at the end")
    return table(rows, columns)


def capacity(view: GroupView) -> pd.DataFrame:
    """How much of the work is of use, as it was and had each process an id of its own; empty where each has one."""
    if view.during is None or view.unique is None:
        return table([], ("topic",))
    rows: list[dict[str, object]] = []
    for one in view.terms:
        queues = [(one.topic, *place(queue)) for queue in one.queues]
        if view.during.by_rule:
            found = owned(one.strategy, view.during.era.ids, queues, absent=one.absent)
            rows.append(_capacity(one.topic, "as it was", found.capacity))
            rows.append(_capacity(one.topic, "had each process an id of its own", found.unique_capacity))
    return table(rows, ("topic", "ids", "queues with an owner", "processes", "do useful work", "work done once"))


def _overview(facts: Facts, view: GroupView) -> Iterator[tuple[str, str]]:
    if view.group is None:
        yield "group", "this material names no consumer group of RocketMQ"
        return
    yield "group", view.group
    yield "topics", ", ".join(t.topic for t in view.terms) or "none that the material names"
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
    return f"{sum(share.said.get(c, 0) for c in asked)} of {sum(asked.values())}" if asked else _NOTHING


def _offsets(alike: Sequence[Share]) -> str:
    seen = [s.pace for s in alike if s.pace is not None and s.pace.produced > 0]
    if not seen:
        return _NOTHING
    came, read = sum(p.produced for p in seen), sum(p.consumed for p in seen)
    return f"moved by {number(read)}, {number(came)} came in" if read else f"stand still, {number(came)} came in"


def _kind(lag: QueueLag) -> tuple[str, str]:
    return lag.kind, lag.topic


def _capacity(topic: str, ids: str, found: Capacity) -> dict[str, object]:
    return {
        "topic": topic,
        "ids": ids,
        "queues with an owner": f"{found.served} of {found.queues} ({percent(found.served_share)})",
        "processes": found.processes,
        "do useful work": f"as {digits(found.useful_processes)} processes",
        "work done once": percent(found.distinct_share),
    }


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
    rows = [{"what": name, "how much": value} for name, value in _costs(facts, view)]
    return table(rows, ("what", "how much"))


def repeats(view: GroupView) -> pd.DataFrame:
    """How often a message of the queues was handled, by the applications' own ledgers; empty without them.

    Queues without an owner are left out: of them only the few messages before the last process came were handled.
    """
    owners = {(s.topic, s.queue): len(s.owners) for s in view.during.shares} if view.during else {}
    alike: dict[tuple[str, int, str], list[str]] = defaultdict(list)
    for topic, counted in (view.case.copies if view.case else {}).items():
        for queue, times in counted.by_queue.items():
            if owners.get((topic, queue)):
                alike[topic, owners[topic, queue], digits(times)].append(queue)
    rows = [
        {"queues": spread(queues), "topic": topic, "owners": count, "each message was handled": f"{times} times"}
        for (topic, count, times), queues in sorted(alike.items(), key=lambda one: (one[0][0], -one[0][1], one[0][2]))
    ]
    return table(rows, ("queues", "topic", "owners", "each message was handled"))


def identities(facts: Facts, view: GroupView) -> pd.DataFrame:
    """What the client ids are made of, and how another process can come to the same one; those of shared ids first."""
    versions = {c.client_id: c.version for c in facts.clients if c.group == view.group and c.version}
    alike: dict[tuple[str, str, str, str], list[str]] = defaultdict(list)
    for stay in sorted(view.stays, key=lambda s: not s.shared):
        known = alike[_anatomy(stay.member.client_id, versions.get(stay.member.client_id))]
        if stay.member.client_id not in known:
            known.append(stay.member.client_id)
    rows = [
        {
            "client id": ", ".join(ids[:_MOST]) + (f" and {len(ids) - _MOST} more" if len(ids) > _MOST else ""),
            "made of": made,
            "client version": version,
            "another process can have the same, because": because,
            "so": repaired,
        }
        for (made, version, because, repaired), ids in alike.items()
    ]
    return table(rows, ("client id", "made of", "client version", "another process can have the same, because", "so"))


def repair(view: GroupView) -> pd.DataFrame:
    """What to do now, for good, and how to see that it worked, with the commands that show it; empty without need."""
    finding = view.finding
    if finding is None or view.group is None:
        return table([], ("step", "what"))
    rows = [("do now", finding.mitigate), ("for good", finding.remedy), ("see that it worked", finding.verify)]
    own = [command for command in INCIDENTS[finding.incident].commands if command.system == "rocketmq"]
    group = quote(view.group)
    rows += [("command", c.run.replace('"$GROUP"', group)) for c in own if "{file}" not in c.run]
    return table([{"step": step, "what": what} for step, what in rows if what], ("step", "what"))


def _anatomy(client: str, version: str | None) -> tuple[str, str, str, str]:
    """Parts, version, risks and repair."""
    read = parse(client)
    if read is None:
        return "something else than address and instance", version or _NOTHING, _NOTHING, _NOTHING
    number = ", nanosecond number" if read.nano is not None else ""
    found = risks(read, version)
    chosen = read.pid is None or EXPLICIT_NAME in found
    named = "configured instance name" if chosen else f"process id{number}"
    because = "; ".join(one.because for one in found) or "no reason known: the number differs in each process"
    unit = ", unit" if read.unit else ""
    return f"address, {named}{unit}", version or _NOTHING, because, found[0].repair if found else _NOTHING


def _costs(facts: Facts, view: GroupView) -> Iterator[tuple[str, str]]:
    if view.finding is None:
        return
    for name, words in _COSTS.items():
        if name in view.finding.measures:
            value = view.finding.measures[name]
            yield words, f"{digits(value)}/s" if name.endswith("_per_second") else measure(name, value)
    for name in ("order", "retries"):
        if name in view.finding.facts:
            yield name, view.finding.facts[name]
    if view.case is not None and view.during is not None and view.during.orphans:
        yield from _deleted(facts, view.case)


def _deleted(facts: Facts, case: Case) -> Iterator[tuple[str, str]]:
    seconds, said = reserved_seconds(facts)
    kept = f"{duration(seconds)}, {'as configured' if said else 'the default of the broker'}"
    yield "messages are kept for", kept
    yield "the first that nobody read is deleted from", f"{stamp(case.since + seconds)} UTC on"
