"""Signs that a consumer of Kafka committed offsets before the records were handled.

Automatic commit takes what the last poll returned for done (ConsumerCoordinator.maybeAutoCommitOffsetsAsync): true for
a loop in one thread, wrong once records are handed to a queue or to other threads, and close() commits all of it.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate

from mqlab.delivery_groups.offsets import Mark, offsets
from mqlab.delivery_groups.stints import Stint
from mqlab.facts import Episode, Facts, Setting
from mqlab.kafka.ledgers import noting
from mqlab.polling.lines import client_of
from mqlab.questions.configured import consumer_value

_BUCKET = 10.0
"""Seconds that one row of tallies spans."""


@dataclass(frozen=True, slots=True)
class Early:
    """What shows it in one stint; None where nothing does."""

    auto: Setting | None
    """enable.auto.commit=true, as somebody set or printed it."""
    waiting: Episode | None
    """The last line about records that were handed to a queue and still wait there."""
    ahead: Mark | None
    """A commit beyond everything that was handled until then."""

    @property
    def seen(self) -> bool:
        """Something shows it."""
        return bool(self.auto or self.waiting or self.ahead)


def early(facts: Facts, place: tuple[str, str, str], stint: Stint) -> Early:
    """Signs in *stint*; *place* is a group, a topic and a partition."""
    value = consumer_value(facts, stint.client or None, "enable.auto.commit", stint.since)
    told = value.setting if value is not None and value.value == "true" else None
    return Early(told, _waiting(facts, place[0], stint), _ahead(facts, place, stint))


def _waiting(facts: Facts, group: str, stint: Stint) -> Episode | None:
    """It is asked for the time until the process stopped."""
    until = stint.until if stint.until is not None else float("inf")
    told = [
        e for e in facts.of_kind("handed-over")
        if e.first_at is not None and stint.since <= e.first_at <= until
        and client_of(facts, group, e) in (stint.client, None if not stint.client else stint.client)
    ]  # fmt: skip
    last = max(told, key=lambda e: (e.last_at or 0.0, e.source, e.first.line or 0), default=None)
    return last if last is not None and (last.value_max or 0.0) > 0 else None


def _ahead(facts: Facts, place: tuple[str, str, str], stint: Stint) -> Mark | None:
    """The commit that was furthest ahead of the rows of ledgers, those of the same ten seconds included."""
    group, topic, queue = place
    own = noting(facts, group, topic)
    rows = sorted(
        (t.at, t.messages) for t in facts.tallies
        if t.source in own and (t.topic, t.queue) == (topic, queue) and t.at + _BUCKET > stint.since
    )  # fmt: skip
    moments, handled = [at for at, _ in rows], [0, *accumulate(many for _, many in rows)]
    until = stint.until if stint.until is not None else float("inf")
    inside = [m for m in offsets(facts, *place).committed if stint.since <= m.at <= until - _BUCKET]
    lead = [(m.offset - stint.low - handled[bisect_right(moments, m.at)], m) for m in inside]
    best = max(lead, key=lambda pair: (pair[0], -pair[1].at), default=None)
    return best[1] if best is not None and best[0] > 0 and own else None
