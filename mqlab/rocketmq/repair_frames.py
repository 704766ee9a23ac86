"""What a shared client id costs, how it came about and how it is repaired, as tables for the notebook."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from shlex import quote

import pandas as pd

from mqlab.catalogue import INCIDENTS
from mqlab.facts import Facts
from mqlab.groups.queues import spread
from mqlab.models.client_ids import EXPLICIT_NAME, parse, risks
from mqlab.rocketmq.duplicate_case import Case
from mqlab.rocketmq.duplicate_costs import reserved_seconds
from mqlab.rocketmq.group_frames import table
from mqlab.rocketmq.group_view import GroupView
from mqlab.units import digits, duration, measure, stamp

_COSTS = {
    "lag_growth_per_second": "what waits grows by",
    "orphans_produced_per_second": "produced to queues that nobody reads",
    "pending_records": "messages that waited at its end",
    "peak_lag": "most that ever waited",
    "duplicated_records": "deliveries that were repeats, by the ledgers",
    "duplicated_records_estimated": "deliveries that were repeats, if every process handled all of its own",
}
_NOTHING = "—"
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
