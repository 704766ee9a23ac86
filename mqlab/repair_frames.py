"""What a shared client id costs, how it came about and how it is repaired, as tables for the notebook."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from mqlab.catalogue import INCIDENTS
from mqlab.duplicate_case import Case
from mqlab.duplicate_costs import reserved_seconds
from mqlab.facts import Facts
from mqlab.findings import Finding
from mqlab.group_frames import table
from mqlab.group_view import GroupView
from mqlab.models.client_ids import layout, parse, risks
from mqlab.units import digits, duration, measure, stamp

_COSTS = (
    "lag_growth_per_second", "orphans_produced_per_second", "pending_records", "peak_lag", "duplicated_records",
    "duplicated_records_estimated",
)  # fmt: skip
_NOTHING = "—"
_MOST = 40
"""Stays whose ids are shown, those of shared ids first."""


def costs(facts: Facts, view: GroupView) -> pd.DataFrame:
    """What the finding counted, and when the broker deletes what nobody read; empty without a finding."""
    rows = [{"what": name, "how much": value} for name, value in _costs(facts, view)]
    return table(rows, ("what", "how much"))


def repeats(view: GroupView) -> pd.DataFrame:
    """How often a message of each queue was handled, by the applications' own ledgers; empty without them."""
    owners = {(s.topic, s.queue): len(s.owners) for s in view.during.shares} if view.during else {}
    known = view.case.copies if view.case else {}
    rows = [
        {
            "queue": queue,
            "topic": topic,
            "owners": owners.get((topic, queue), _NOTHING),
            "each message was handled": f"{digits(times)} times",
        }
        for topic, counted in known.items()
        for queue, times in sorted(counted.by_queue.items(), key=lambda one: (-one[1], one[0]))
    ]
    return table(rows, ("queue", "topic", "owners", "each message was handled"))


def identities(facts: Facts, view: GroupView) -> pd.DataFrame:
    """What each client id is made of, and how another process can come to the same one."""
    rows = []
    versions = {c.client_id: c.version for c in facts.clients if c.group == view.group and c.version}
    for client in dict.fromkeys(s.member.client_id for s in sorted(view.stays, key=lambda s: not s.shared)[:_MOST]):
        read, version = parse(client), versions.get(client)
        found = risks(read, version) if read else ()
        rows.append(
            {
                "client id": client,
                "address": read.ip if read else _NOTHING,
                "instance": read.instance if read else _NOTHING,
                "client version": version or _NOTHING,
                "built as": layout(version) or _NOTHING,
                "another process can have it, for": "; ".join(one.because for one in found) or "no reason known",
                "so": "; or ".join(dict.fromkeys(one.repair for one in found[:1])) or _NOTHING,
            }
        )
    columns = (
        "client id",
        "address",
        "instance",
        "client version",
        "built as",
        "another process can have it, for",
        "so",
    )
    return table(rows, columns)


def repair(finding: Finding | None) -> pd.DataFrame:
    """What to do now, for good, and how to see that it worked, with the commands that show it."""
    if finding is None:
        return table([], ("step", "what"))
    rows = [("do now", finding.mitigate), ("for good", finding.remedy), ("see that it worked", finding.verify)]
    own = [command for command in INCIDENTS[finding.incident].commands if command.system in ("rocketmq", "any")]
    rows += [("command", command.run) for command in own if "{file}" not in command.run]
    return table([{"step": step, "what": what} for step, what in rows if what], ("step", "what"))


def _costs(facts: Facts, view: GroupView) -> Iterator[tuple[str, str]]:
    if view.finding is None:
        return
    for name in _COSTS:
        if name in view.finding.measures:
            value = measure(name, view.finding.measures[name])
            words = name.removesuffix("_per_second").replace("_", " ")
            yield words, f"{value}/s" if name.endswith("_per_second") else value
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
