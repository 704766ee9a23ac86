"""What the lines about replicas say, taken from the part of them that episodes keep as their ``reason``.

Sample reasons::

    5 from offset 100 with high watermark 98 ISR [1,2] addingReplicas [] … Previous leader epoch was 4.
    5 from offset 100 with partition epoch 6, high watermark 98, ISR [1,2], adding replicas [] …
    LeaderAndIsr(leader=3, leaderEpoch=2, isr=List(3, 1), zkVersion=2)
    (Leader:-1,ISR:3,LeaderEpoch:3,ZkVersion:3,ControllerEpoch:2)
    isr: [3] -> [1], leader: 3 -> 1, leaderEpoch: 2 -> 3, partitionEpoch: 5 -> 6
    1,2,3 to 1
    replicas=1,2,3 isr=1,2
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_EPOCH = re.compile(r"^\s*(?:leader\s+)?(?:epoch\s+)?(\d+)\b", re.IGNORECASE)
_WATERMARK = re.compile(r"high watermark (\d+)")
_STARTED_ISR = re.compile(r"\bISR \[([\d,\s]*)\]")
_ELECTED_EPOCH = re.compile(r"leaderEpoch[=:]\s*(?:\d+ -> )?(\d+)", re.IGNORECASE)
_ISR_LIST = re.compile(r"isr=\w*\(?\[?([\d,\s]*)", re.IGNORECASE)
_ISR_PLAIN = re.compile(r"\bISR:([\d,]*)")
_ISR_CHANGE = re.compile(r"\bisr: \[([\d,\s]*)\] -> \[([\d,\s]*)\]")
_ELIGIBLE = re.compile(r"\belr: \[([\d,\s]*)\]", re.IGNORECASE)
_TOLD_ISR = re.compile(r"\bisr[= ]\[?([\d,]*)", re.IGNORECASE)

Replicas = tuple[str, ...]
"""Ids of brokers."""


@dataclass(frozen=True, slots=True)
class Started:
    """What a broker says when it becomes leader or follower of a partition; None where its version does not."""

    epoch: int | None
    high_watermark: int | None
    isr: Replicas | None


@dataclass(frozen=True, slots=True)
class Elected:
    """What a controller says about a partition's leader; None where the line does not."""

    epoch: int | None
    before: Replicas | None
    """In sync before the election."""
    isr: Replicas | None
    """In sync after it."""
    eligible: Replicas = ()
    """Out of sync before, and known to have everything that was committed (KIP-966)."""


def started(reason: str | None) -> Started:
    """The rest of a ``starts at leader epoch`` line."""
    text = reason or ""
    epoch, watermark, isr = _EPOCH.search(text), _WATERMARK.search(text), _STARTED_ISR.search(text)
    return Started(
        int(epoch[1]) if epoch else None, int(watermark[1]) if watermark else None, replicas(isr[1]) if isr else None
    )


def elected(reason: str | None) -> Elected:
    """The state that a controller of either kind writes."""
    text = reason or ""
    epoch, changed = _ELECTED_EPOCH.search(text), _ISR_CHANGE.search(text)
    number = int(epoch[1]) if epoch else None
    if changed:
        eligible = _ELIGIBLE.search(text)
        return Elected(number, replicas(changed[1]), replicas(changed[2]), replicas(eligible[1]) if eligible else ())
    told = _ISR_LIST.search(text) or _ISR_PLAIN.search(text)
    return Elected(number, None, replicas(told[1].rstrip(",")) if told else None)


def in_sync(kind: str, reason: str | None) -> Replicas | None:
    """The in-sync set after a line about it, or that a description shows."""
    text = reason or ""
    if kind == "isr-shrunk":
        return replicas(text.rpartition(" to ")[2]) if " to " in text else None
    if kind == "isr-updated":
        return replicas(text) or None
    told = _TOLD_ISR.search(text)
    return replicas(told[1]) if told else None


def replicas(text: str) -> Replicas:
    """Ids in ``3, 2,1``, as they stand."""
    return tuple(re.findall(r"\d+", text))
