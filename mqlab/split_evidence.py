"""What stands beside the splits of a producer: crashes, the trigger, the lines that prove the loop."""

from __future__ import annotations

from collections.abc import Sequence

from mqlab import traffic, units
from mqlab.configured import Value
from mqlab.facts import Episode, Facts
from mqlab.findings import Evidence
from mqlab.wording import clock

AFTER_CRASH = 15.0
"""Seconds after the last split within which an exit belongs to it."""
QUIET = 60.0
"""Seconds without a split after which the loop has ended, where the log goes on."""


def crashes(facts: Facts, splits: Sequence[Episode]) -> tuple[Episode, ...]:
    """Abnormal exits within or right after the splits; those without a moment where memory ran out."""
    first, last = splits[0].first_at, max(s.last_at or 0 for s in splits)
    if first is None:
        return ()
    exits = [
        e
        for e in facts.of_kind("process-exit")
        if e.value_max and e.first_at is not None and first <= e.first_at <= last + AFTER_CRASH
    ]
    if exits:
        return tuple(exits)
    memory = [e for e in facts.of_kind("out-of-memory") if e.first_at is None or first <= e.first_at <= last + AFTER_CRASH]
    return tuple(memory)


def ongoing(facts: Facts, splits: Sequence[Episode], ended: float | None) -> bool:
    """True where the material ends while the splits go on."""
    if ended is None:
        return False
    sources = {s.source for s in splits}
    later = [c.last_at for c in facts.coverage if c.source in sources and c.last_at is not None]
    dated = [e.last_at for e in facts.episodes if e.source in sources and e.last_at is not None]
    return max([*later, *dated], default=ended) < ended + QUIET


def trigger(facts: Facts, splits: Sequence[Episode], started: float | None) -> str | None:
    """What happened right before the first split: an oversize record, or a burst coming in."""
    first = splits[0].first_at
    if first is None or started is None:
        return None
    sources = {s.source for s in splits}
    for episode in facts.of_kind("record-too-large"):
        near = episode.first_at is not None and started - 1 <= episode.first_at <= first
        if episode.source in sources and near and episode.value_max:
            return f"{clock(episode.first_at)} first payload of {units.size(episode.value_max)}  {episode.source}:{episode.first.line}"
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


def started_at(facts: Facts, host: str | None, splits: Sequence[Episode]) -> tuple[float | None, traffic.ChangePoint | None]:
    """When it began: the trigger in the log if the traffic of *host* rose with it, else the first split.

    The change point of the traffic is known to one scrape; an event inside it is known to the line.
    """
    first = splits[0].first_at
    if first is None or host is None:
        return first, None
    change = traffic.onset(traffic.summed(traffic.card(facts, host, "transmit")), first)
    if change is None or first - change.after > 2 * QUIET:
        return first, None
    sources = {s.source for s in splits}
    events = [
        e.first_at
        for e in facts.of_kind("record-too-large")
        if e.source in sources and e.first_at is not None and change.after <= e.first_at <= first
    ]
    return min([first, *events]), change
