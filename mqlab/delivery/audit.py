"""The delivery audit: for each topic what became of its messages, what was lost or doubled, or why it cannot be said.

Nothing is called complete unless every acknowledged message is accounted for: handled, stored, or pending in a log that
did not go back.
"""

from __future__ import annotations

from collections.abc import Sequence

from mqlab.delivery import missing as audit_missing
from mqlab.delivery import statement
from mqlab.delivery.rows import Audit, Doubled, GroupRow, Loss, Outcome, Side
from mqlab.delivery_groups import audit
from mqlab.delivery_log import audit as log_audit
from mqlab.delivery_log.cases import cases, read_before, topics, unanswered
from mqlab.facts import Facts
from mqlab.kafka import groups as kafka_groups
from mqlab.memo import per_facts


@per_facts
def audits(facts: Facts) -> tuple[Audit, ...]:
    """One for each topic of which single messages are told, whose log went back, or of which a group lost some."""
    told = {f.topic for f in facts.fates} | {p.topic for p in facts.parts}
    read = {topic for _, topic in kafka_groups.topics(facts) if not topic.startswith("__")}
    return tuple(
        _audit(facts, topic)
        for topic in sorted({*topics(facts), *read})
        if topic in told or _went_back(facts, topic) or audit.group_losses(facts, topic)
    )


def _went_back(facts: Facts, topic: str) -> bool:
    """The log went back, by more than what was in flight when a leader handed over in good order."""
    return bool(cases(facts, topic) or unanswered(facts, topic))


def _audit(facts: Facts, topic: str) -> Audit:
    log, groups = log_audit.log_rows(facts, topic), audit.group_rows(facts, topic)
    losses = (*log_audit.log_losses(facts, topic), *audit.group_losses(facts, topic))
    doubled = (*log_audit.log_doubled(facts, topic), *audit.group_doubled(facts, topic))
    missing = audit_missing.missing(facts, log, groups, losses)
    open_ = bool(audit_missing.of_log(facts, log, losses))
    outcome = _outcome(groups, losses, doubled, open_)
    said = statement.statement(outcome, log, groups, losses, doubled, read_before(facts, topic))
    return Audit(topic, outcome, said, log, groups, losses, doubled, missing)


def _outcome(groups: Sequence[GroupRow], losses: Sequence[Loss], doubled: Sequence[Doubled], open_: bool) -> Outcome:
    """*open_*: the material leaves open whether the log lost something."""
    lost = any(loss.most for loss in losses if loss.side is not Side.PRODUCER)
    twice = any(one.records for one in doubled)
    if lost:
        return Outcome.LOST_AND_DOUBLED if twice else Outcome.LOST
    if twice:
        return Outcome.DOUBLED
    if open_:
        return Outcome.UNKNOWN
    told = all(row.handled is not None and not row.unknown for row in groups)
    return Outcome.COMPLETE if told else Outcome.IN_LOG
