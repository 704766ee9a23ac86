"""What the settings of consumers may lose or repeat: automatic commits, and where to begin without a valid offset.

Sources: ConsumerCoordinator (auto-commit takes the positions that polls reached, close() all of them), ConsumerConfig
(auto.offset.reset = latest by default), ``models.commits``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from mqlab.delivery_risks.rates import of_consumer, of_topics
from mqlab.delivery_risks.rows import Risk
from mqlab.facts import Episode, Facts
from mqlab.findings import Evidence
from mqlab.groups.queues import Points, lag
from mqlab.kafka import groups
from mqlab.memo import per_facts
from mqlab.polling.lines import client_of
from mqlab.questions import configured
from mqlab.questions.configured import Value
from mqlab.units import brief, number


def consumer_risks(facts: Facts) -> Iterator[Risk]:
    """Rows of every consumer that the material names with its settings, by name."""
    for owner in sorted({s.owner for s in facts.settings if s.scope == "consumer" and s.owner}):
        group = group_of(facts, owner)
        auto = _of(facts, owner, "enable.auto.commit")
        if auto is not None and auto.value == "true":
            yield _auto(facts, owner, group, auto)
        yield from _reset(facts, owner, group)


@per_facts
def group_of(facts: Facts, owner: str) -> str | None:
    """The group of a consumer, by its settings, else by the lines that name both."""
    named = [s.value for s in facts.settings if s.scope == "consumer" and (s.key, s.owner) == ("group.id", owner)]
    lines = (e.group for e in facts.episodes if e.client_id == owner and e.group)
    return next(iter(sorted(named)), None) or next(lines, None)


def _auto(facts: Facts, owner: str, group: str | None, auto: Value) -> Risk:
    waiting = _waiting(facts, owner, group)
    if waiting:
        most = round(waiting[0].value_max or 0)
        return Risk(
            "enable.auto.commit", f"consumer {owner}", _said(auto),
            "commits what was polled, though other threads work it off",
            "records that wait in the process are lost when it stops, in good order most of all",
            "commit-before-process-loss", round(median(e.value_max or 0.0 for e in waiting)), 0, most,
            f"{number(most)} records waited at the most by its own lines, half of the lines tell of fewer than the "
            "likely number",
            (*_places(auto), waiting[0].first),
        )  # fmt: skip
    every = _of(facts, owner, "auto.commit.interval.ms")
    seconds = (every.number if every is not None and every.number is not None else 5000) / 1000
    poll, rate = _of(facts, owner, "max.poll.records"), of_consumer(facts, owner, group)
    more = poll.number if poll is not None and poll.number else 500
    return Risk(
        "enable.auto.commit", f"consumer {owner}", _said(auto), f"commits every {brief(seconds)}, within poll()",
        "records since the last commit are handled again after a crash; those handed to other threads are lost",
        "reprocess-duplicates", rate.within(seconds / 2) if rate else None, 0,
        rate.within(seconds) + more if rate else None,
        f"{rate.told} × {brief(seconds)}, and a poll of {number(more)}; half an interval on average"
        if rate else "no rate is known",
        _places(auto, every),
    )  # fmt: skip


def _waiting(facts: Facts, owner: str, group: str | None) -> Sequence[Episode]:
    """The lines of *owner* about records that wait in a queue of its process, the fullest first."""
    lines = [e for e in facts.of_kind("handed-over") if client_of(facts, group or "", e) == owner]
    return sorted((e for e in lines if e.value_max), key=lambda e: (-(e.value_max or 0.0), e.first_at or 0.0))


def _reset(facts: Facts, owner: str, group: str | None) -> Iterator[Risk]:
    value = _of(facts, owner, "auto.offset.reset")
    if value is None or value.value != "latest":
        return
    known = _positions(facts, group)
    told = _said(value)
    if known:
        behind = sum(lag(points[-1]) for points in known)
        yield Risk(
            "auto.offset.reset", f"consumer {owner}", told, "the group has offsets: it matters once they are gone",
            "records that wait are skipped if the offsets expire or fall out of the log", "offset-reset-loss",
            None, 0, behind, f"lag of {group} as last seen, and what comes in until it reads again", _places(value),
        )  # fmt: skip
        return
    rate = of_topics(facts, _topics(facts, group))
    yield Risk(
        "auto.offset.reset", f"consumer {owner}", told, "partitions without a committed offset begin at their end",
        "records from before its first position are skipped", "offset-reset-loss", None, 0, None,
        f"{rate.told} until its first position" if rate else "no rate is known", _places(value),
    )  # fmt: skip


def _positions(facts: Facts, group: str | None) -> Sequence[Points]:
    by_topic: Mapping[tuple[str, str], Mapping[str, Points]] = groups.topics(facts)
    return [points for (name, _), queues in by_topic.items() if name == group for points in queues.values()]


def _topics(facts: Facts, group: str | None) -> Sequence[str]:
    held = {a.topic for a in facts.assignments if a.group == group}
    return sorted(held | {p.topic for p in facts.positions if p.group == group}) if group else ()


def _of(facts: Facts, owner: str, key: str) -> Value | None:
    return configured.consumer_value(facts, owner, key, float("inf"))


def _said(value: Value) -> str:
    return value.value if value.setting is not None else f"{value.value} (default)"


def _places(*values: Value | None) -> tuple[Evidence, ...]:
    return tuple(dict.fromkeys(v.setting.evidence for v in values if v is not None and v.setting is not None))
