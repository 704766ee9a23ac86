"""What stands beside the splits of a producer: crashes, the trigger, the lines that prove the loop."""

from __future__ import annotations

from collections.abc import Sequence

from mqlab import units
from mqlab.facts import Episode, Facts
from mqlab.findings import Evidence
from mqlab.questions import actors, traffic
from mqlab.questions.configured import Value
from mqlab.questions.wording import clock

AFTER_CRASH = 15.0
"""Seconds after the last split within which an exit belongs to it."""
QUIET = 60.0
"""Seconds without a split after which the loop has ended, where the log goes on."""


def crashes(facts: Facts, client: str, splits: Sequence[Episode]) -> tuple[Episode, ...]:
    """Abnormal exits within or right after the splits; those without a moment where memory ran out."""
    first, last = splits[0].first_at, max(s.last_at or 0 for s in splits)
    if first is None:
        return ()
    exits = [
        e
        for e in _of_process(facts, client, splits)
        if e.value_max and e.first_at is not None and first <= e.first_at <= last + AFTER_CRASH
    ]
    if exits:
        return tuple(exits)
    sources = {s.source for s in splits}
    memory = facts.of_kind("out-of-memory")
    near = [e for e in memory if e.first_at is not None and first <= e.first_at <= last + AFTER_CRASH]
    undated = [e for e in memory if e.first_at is None]
    return tuple(e for e in near if e.source in sources or len({m.source for m in memory}) == 1) or tuple(undated)


def _of_process(facts: Facts, client: str, splits: Sequence[Episode]) -> list[Episode]:
    """Exits of the process behind *client*: all of them where the material watches one process only."""
    exits = list(facts.of_kind("process-exit"))
    if len({e.reason for e in exits}) <= 1:
        return exits
    names = {client, *(actors.base_name(s.source) for s in splits)}
    return [e for e in exits if e.reason and any(e.reason in name or name in e.reason for name in names)]


def ongoing(facts: Facts, splits: Sequence[Episode], ended: float | None) -> bool:
    """True where the material ends while the splits go on."""
    if ended is None:
        return False
    sources = {s.source for s in splits}
    later = [c.last_at for c in facts.coverage if c.source in sources and c.last_at is not None]
    dated = [e.last_at for e in facts.episodes if e.source in sources and e.last_at is not None]
    return max([*later, *dated], default=ended) < ended + QUIET


def trigger(facts: Facts, splits: Sequence[Episode], started: float | None) -> str | None:
    """What happened right before the first split: an oversize record came in."""
    first = splits[0].first_at
    if first is None or started is None:
        return None
    sources = {s.source for s in splits}
    for one in facts.of_kind("record-too-large"):
        near = one.first_at is not None and started - 1 <= one.first_at <= first
        if one.source in sources and near and one.value_max:
            size, place = units.size(one.value_max), f"{one.source}:{one.first.line}"
            return f"{clock(one.first_at)} first payload of {size}  {place}"
    return None


def lines(
    facts: Facts,
    splits: Sequence[Episode],
    batch_size: Value | None,
    limit: Value | None,
    ends: Sequence[Episode],
) -> tuple[Evidence, ...]:
    """The lines that prove the loop: first and last split, the settings, the ends."""
    last = max(splits, key=lambda s: (s.last_at or 0, s.last.line or 0))
    found = [
        _why(splits[0].first, "first split: attempts left stay the same"),
        _why(last.last, "last split: the same number of attempts left"),
    ]
    for value, why in ((batch_size, "batches may grow to this size"), (limit, "the broker takes no larger batch")):
        if value is not None and value.setting is not None:
            found.append(_why(value.setting.evidence, why))
    found += [_why(end.first, "the process ended") for end in ends]
    memory = facts.of_kind("out-of-memory") if any(e.kind == "process-exit" for e in ends) else ()
    found += [_why(m.first, "why the process ended") for m in memory]
    stuck = [e for e in facts.of_kind("producer-stuck", "record-expired") if e.source == splits[0].source]
    found += [_why(e.first, "how the loop ended for these records") for e in stuck[:2]]
    return tuple(found)


def _why(evidence: Evidence, why: str) -> Evidence:
    return Evidence(evidence.source, evidence.line, evidence.text, why, evidence.pointer)


def begins_within(facts: Facts, splits: Sequence[Episode]) -> bool:
    """True where the log has nothing from before the splits: it starts in the middle of them."""
    first, source = splits[0].first_at, splits[0].source
    if first is None:
        return False
    times = [e.first_at for e in facts.episodes if e.source == source and e.kind != "batch-split"]
    times += [s.at for s in facts.settings if s.source == source]
    times += [c.first_at + QUIET for c in facts.coverage if c.source == source and c.first_at is not None]
    return all(at is None or at >= first for at in times)


def started_at(
    facts: Facts, host: str | None, splits: Sequence[Episode]
) -> tuple[float | None, traffic.ChangePoint | None]:
    """When it began: the trigger in the log if the traffic of *host* rose with it, else the first split.

    The change point of the traffic is known to one scrape; an event inside it is known to the line. Where the log
    starts in the middle of the loop the traffic alone says when it began.
    """
    first = splits[0].first_at
    if first is None or host is None:
        return first, None
    change = traffic.onset(traffic.summed(traffic.card(facts, host, "transmit")), first)
    if change is None:
        return first, None
    if begins_within(facts, splits) and change.before < first:
        return change.after, change
    if first - change.after > 2 * QUIET:
        return first, None
    sources = {s.source for s in splits}
    events = [
        e.first_at
        for e in facts.of_kind("record-too-large")
        if e.source in sources and e.first_at is not None and change.after <= e.first_at <= first
    ]
    return min([first, *events]), change
