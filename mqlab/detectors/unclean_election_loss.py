"""No in-sync replica was left and one that lacked records was elected: what it lacked is gone from the log.

Fires: an unclean election, told by a controller or by the in-sync set before it, and a log that goes back: acknowledged
ids are gone, or the old leader's log or the high watermark had been further. Proven where the election and the numbers
are both in the material. Which acks the producers asked for does not matter.
Quiet: clean elections, also of eligible replicas (KIP-966); an unclean one of a replica that had everything; topics
that were made again. Where unknown lines speak of such an election it is not checked.
"""

from __future__ import annotations

import re

from mqlab import words
from mqlab.delivery import advised, durability, loss_mechanisms
from mqlab.delivery.loss_mechanisms import UNCLEAN
from mqlab.delivery.losses import TopicLoss, by_topics, evidence, measures
from mqlab.facts import Facts
from mqlab.findings import Evidence, Finding, Result, Severity, finding
from mqlab.words.filling import Value

INCIDENT = UNCLEAN
SYSTEMS: tuple[str, ...] = ("kafka",)
say = words.room(INCIDENT)
_SHOWN = 3
_SPOKEN = re.compile(r"\bunclean(?:ly)?\b(?!\.leader)[^=]{0,40}\belect|\belect\w*\b[^=]{0,40}\bunclean", re.IGNORECASE)
"""How any software words an unclean election; the setting's name tells of none."""


def detect(facts: Facts) -> Result:
    """One finding a topic."""
    if found := by_topics(facts, INCIDENT):
        return Result(tuple(_finding(facts, one) for one in found))
    if missing := loss_mechanisms.open_questions(facts, INCIDENT):
        return Result(missing=missing)
    because = loss_mechanisms.disproved(facts, INCIDENT)
    if not because and (spoken := [s for s in facts.shapes if _SPOKEN.search(s.shape)]):
        places = tuple(Evidence(s.source, s.first_line, s.sample or s.shape) for s in spoken[:_SHOWN])
        return Result(missing=(say("no-ends"),), seen=say("spoken"), evidence=places)
    return Result(rejected=because or None)


def _finding(facts: Facts, one: TopicLoss) -> Finding:
    allowed = durability.in_force(facts, one.topic, "unclean.leader.election.enable")
    chosen = allowed.evidence if allowed is not None and allowed.value == "true" else None
    return finding(
        INCIDENT,
        one.topic,
        one.certainty,
        (one.span[0], one.span[1]),
        severity=Severity.CRITICAL,
        slots={
            "records": one.records,
            **_election(one),
            "change": advised.durable(facts, one.topic),
            "off": allowed is not None and allowed.value == "false",
        },
        measures=measures(facts, one),
        evidence=(*([chosen] if chosen else ()), *evidence(facts, one)),
        explains=("reprocess-duplicates", "offset-reset-loss"),
        beside=("session-timeout",),
        moments=[(one.handover.after.at, say("took-over"))] if one.handover else (),
        facts={"who": say("who", topic=one.topic, partitions=one.queues)},
    )


def _election(loss: TopicLoss) -> dict[str, Value]:
    """Who was elected, where and when; nothing where no change of leader is known."""
    one = loss.handover
    if one is None:
        return {}
    return {"leader": one.after.leader, "queue": one.after.queue, "offset": one.to_offset, "at": one.after.at}
