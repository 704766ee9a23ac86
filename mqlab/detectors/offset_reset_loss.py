"""Kafka: a group had no valid committed offset, and auto.offset.reset took it past records that it had not read.

Fires: a consumer finds no committed offset, or one that the log refuses, goes to the end, and leaves out what was
acknowledged since the group's last position, since its members subscribed, or since the group id before it stopped.
Quiet: a first start with ``latest`` passes over what is older than the group; ``earliest`` reads again instead; an
offset that somebody set while the group had no members; what retention had deleted; a truncated log.
"""

from __future__ import annotations

from collections.abc import Iterator

from mqlab import words
from mqlab.delivery.losses import GroupLoss, by_groups, dense, places
from mqlab.delivery.offset_gaps import skips
from mqlab.delivery.positions import OffsetReset, Why, before, offset_resets, offsets
from mqlab.delivery.positions import moved_by_hand as moved
from mqlab.facts import Facts
from mqlab.findings import Certainty, Evidence, Finding, Result, Severity, finding
from mqlab.groups.backlog import waited
from mqlab.kafka.log_lines import homes
from mqlab.shared.configured import consumer_value
from mqlab.words import listed

INCIDENT = "offset-reset-loss"
SYSTEMS: tuple[str, ...] = ("kafka",)
say = words.room(INCIDENT)
_SHOWN = 3


def detect(facts: Facts) -> Result:
    """One finding for each group and topic."""
    if found := by_groups(facts, INCIDENT):
        return Result(tuple(_finding(facts, case) for case in found))
    reasons = [reason for place in places(facts) for reason in _harmless(facts, place)]
    return Result(rejected=listed(sorted(set(reasons))) or None)


def _harmless(facts: Facts, place: tuple[str, str, str]) -> Iterator[str]:
    """Jumps of a position by which nothing was lost in this way."""
    group, topic, _ = place
    known = offsets(facts, *place)
    yield from moved(facts, place)
    for skip in skips(facts, *place):
        if skip.why is Why.CONFIGURED:
            yield say("configured", group=group, topic=topic)
        if skip.why is Why.RETENTION:
            yield say("deleted", group=group, topic=topic)
    for reset in offset_resets(facts, known):
        stood = before(known.committed, reset.at)
        if reset.refused is not None and reset.target <= reset.refused:
            yield say("above", group=group, topic=topic)
        elif stood is not None and reset.target < stood.offset:
            yield say("rereads", group=group, topic=topic)


def _finding(facts: Facts, case: GroupLoss) -> Finding:
    # No consumer tells where it went on where only the ledger does.
    left_out = [skip for one in case.losses for skip in skips(facts, case.group, case.topic, one.queue)]
    at = [reset.at for reset in _resets(facts, case)] or [skip.at for skip in left_out if skip.why is Why.RESET]
    proven = all(dense(one) for one in case.losses)
    return finding(
        INCIDENT,
        case.subject,
        Certainty.PROVEN if proven else Certainty.LIKELY,
        (min(at, default=case.span[0]), max(at, default=case.span[1])),
        severity=Severity.CRITICAL,
        slots={"group": case.group, "where": case.where, "amount": case.amount, "at": min(at, default=None)},
        measures={
            "lost_records": case.records,
            "partitions": len(case.queues),
            **waited(facts, case.group, *case.span),
        },
        evidence=_evidence(facts, case),
        beside=("consumer-offline",),
        facts={"counted": listed(sorted({one.how for one in case.losses}))},
    )


def _resets(facts: Facts, case: GroupLoss) -> list[OffsetReset]:
    lost = {place for one in case.losses for place in one.evidence}
    known = [offsets(facts, case.group, case.topic, one.queue) for one in case.losses]
    return [reset for one in known for reset in offset_resets(facts, one) if lost.intersection(reset.places)]


def _evidence(facts: Facts, case: GroupLoss) -> Iterator[Evidence]:
    """The consumer's lines, the position before, the setting, and offsets that expired before that."""
    found = _resets(facts, case)
    for reset in found[:_SHOWN]:
        cause, went = reset.places
        yield cause.because(say("no-offset" if reset.refused is None else "refused"))
        yield went.because(say("went-on", offset=reset.target))
        client = reset.client or min(homes(facts, case.group).values(), default=None)
        value = consumer_value(facts, client, "auto.offset.reset", reset.at)
        if value is not None and value.setting is not None:
            yield value.setting.evidence.because(say("setting"))
    at = max((reset.at for reset in found), default=float("inf"))
    for one in case.losses[:_SHOWN]:
        mark = before(offsets(facts, case.group, case.topic, one.queue).committed, at)
        if mark is not None:
            yield mark.place.because(say("before"))
    removed = [e for e in facts.of_kind("offsets-removed") if (e.group, e.topic) == (case.group, case.topic)]
    yield from (e.first.because(say("removed")) for e in removed[:1])
    expired = [e for e in facts.of_kind("offsets-expired") if e.first_at is not None and e.first_at <= at]
    yield from (e.first.because(say("expired")) for e in expired[-1:])
