"""Columns of the ownership matrix: a queue each, or, where there are too many, queues that fare alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from mqlab.groups.queues import spread
from mqlab.rocketmq.holdings import Panel, Share, place

_MOST = 64


@dataclass(frozen=True, slots=True)
class Column:
    """Queues that have the same owners in every panel."""

    topic: str
    queues: tuple[str, ...]

    @property
    def name(self) -> str:
        """Unique: ``ORDERS broker-a 0-3``."""
        return f"{self.topic} {spread(self.queues)}"

    @property
    def short(self) -> str:
        """Without topic and broker: ``0-3``."""
        return spread(f"/{place(queue)[1]}" for queue in self.queues)

    @property
    def head(self) -> str:
        """What stands below columns of one topic and broker."""
        return f"{self.topic} on {place(self.queues[0])[0] or 'its broker'}"

    def shares(self, panel: Panel) -> tuple[Share, ...]:
        """What *panel* says of these queues."""
        return tuple(s for s in panel.shares if s.topic == self.topic and s.queue in self.queues)


def columns(panels: Sequence[Panel]) -> tuple[Column, ...]:
    """The queues of the first panel; all panels know the same."""
    keys = [(s.topic, s.queue) for s in panels[0].shares]
    if len(keys) <= _MOST:
        return tuple(Column(topic, (queue,)) for topic, queue in keys)
    numbered = list(enumerate(keys))
    alike = groupby(numbered, key=lambda one: (one[1][0], place(one[1][1])[0], _fate(panels, one[0])))
    return tuple(Column(told[0], tuple(queue for _, (_, queue) in found)) for told, found in alike)


def _fate(panels: Sequence[Panel], number: int) -> tuple[tuple[tuple[str, ...], bool], ...]:
    """Owners of the queue in each panel, and whether its offset stood still."""
    shares = [panel.shares[number] for panel in panels]
    return tuple((s.owners, s.pace is not None and s.pace.frozen) for s in shares)
