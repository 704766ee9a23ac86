"""The way of messages over a bridge in words: how many reached each stage, and where the others are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, tzinfo
from itertools import groupby

from mqlab.bridging.rows import Chain, Gap, Stage, Step, Whereabouts
from mqlab.delivery.words import NOT_TOLD, bounded
from mqlab.units import number

LOST, WAITING, UNKNOWN, COMPLETE = "lost", "waiting", "cannot say", "nothing lost"
_SYSTEMS = {"kafka": "Kafka", "rocketmq": "RocketMQ"}


def outcome(chain: Chain) -> str:
    """``LOST`` where messages were thrown away, ``UNKNOWN`` where nothing tells where some are, else what is left."""
    sure = [g for g in chain.gaps if g.where is Whereabouts.DROPPED and g.low]
    open_ = (Whereabouts.UNKNOWN, Whereabouts.DROPPED, Whereabouts.AFTER_END)
    if sure:
        return LOST
    if any(g.where in open_ or (g.where is Whereabouts.REFUSED and g.before is Step.HANDLED) for g in chain.gaps):
        return UNKNOWN
    if any(g.where in (Whereabouts.QUEUED, Whereabouts.PENDING) for g in chain.gaps):
        return WAITING
    return COMPLETE if chain.by == "ids" else UNKNOWN


def title(chain: Chain) -> str:
    """From where to where."""
    return f"MQTT -> {log(chain)}" if chain.system else "MQTT"


def log(chain: Chain) -> str:
    """The log behind the bridge: ``Kafka orders``."""
    return f"{_SYSTEMS.get(chain.system or '', chain.system or '')} {chain.topic or ''}".strip()


def sentence(chain: Chain, tz: tzinfo = UTC, most: int = 4) -> str:
    """All stages, then what is missing and where: ``published 7,120 -> bridge 5,640 -> …; 1,480 in the queue of …``."""
    path = " -> ".join(", ".join(_stage(chain, stage) for stage in together) for together in _stages(chain))
    told = [missing(gap, tz) for gap in chain.gaps[:most]]
    if len(chain.gaps) > most:
        told.append(f"{number(len(chain.gaps) - most)} more (mqlab audit)")
    return "; ".join((path, *told)) + ("" if chain.by == "ids" else " (by counts, not by ids)")


def _stages(chain: Chain) -> Iterator[list[Stage]]:
    """Stages that stand beside each other, such as several readers; without an acknowledgement that tells nothing."""
    sent = chain.stage(Step.PUBLISHED)
    for step, own in groupby(chain.stages, key=lambda stage: stage.step):
        together = list(own)
        if not (step is Step.ACKNOWLEDGED and sent and together[0].messages == sent.messages):
            yield together


def _stage(chain: Chain, stage: Stage) -> str:
    return f"{name(chain, stage)} {amount(stage)}" + (f" (+ {number(stage.again)} copies)" if stage.again else "")


def name(chain: Chain, stage: Stage) -> str:
    """Who that stage is."""
    if stage.step is Step.TAKEN:
        return "bridge" if chain.system else stage.who
    if stage.step is Step.STORED:
        return log(chain)
    return stage.who if stage.step is Step.HANDLED else stage.step.value


def amount(stage: Stage) -> str:
    """How many, with the interval where they were not counted; of QoS 0 nobody acknowledges anything."""
    if stage.messages is None or stage.low is None or stage.high is None:
        return NOT_TOLD
    if stage.step is Step.ACKNOWLEDGED:
        return number(stage.messages)
    return bounded(stage.messages, stage.low, stage.high)


def missing(gap: Gap, tz: tzinfo = UTC) -> str:
    """How many are missing at one step, and where they are."""
    many = number(gap.messages)
    if gap.where is Whereabouts.QUEUED:
        since = _since(gap, tz)
        least = f"; the broker's store shows {number(gap.low)} of them" if gap.low < gap.messages else ""
        return f"{many} in the queue of {gap.who} (offline since {since}{least})"
    if gap.where is Whereabouts.DROPPED:
        of = f" from the queue of {gap.who}" if gap.who else ""
        return f"{bounded(gap.messages, gap.low, gap.high)} thrown away by the MQTT broker{of}"
    if gap.where is Whereabouts.REFUSED:
        return f"{many} failed at their publishers" if gap.before is Step.ACKNOWLEDGED else f"{many} refused by the log"
    if gap.where is Whereabouts.PENDING:
        return f"{many} pending for {gap.who}"
    if gap.where is Whereabouts.AFTER_END:
        return f"{many} on their way when the ledgers end"
    by = f" {gap.before.value} by {gap.who}" if gap.who else f" {gap.before.value}"
    return f"{bounded(gap.messages, gap.low, gap.high)} not{by}, where they are is NOT KNOWN"


def _since(gap: Gap, tz: tzinfo) -> str:
    return "an unknown time" if gap.away_since is None else f"{datetime.fromtimestamp(gap.away_since, tz):%H:%M:%S}"


def worst(chains: Sequence[Chain]) -> list[Chain]:
    """Those with losses first."""
    order = (LOST, UNKNOWN, WAITING, COMPLETE)
    return sorted(chains, key=lambda chain: (order.index(outcome(chain)), chain.topic or ""))
