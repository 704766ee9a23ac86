"""The case of a bridge-loop: the way on which messages come back, and the counts that show that they do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mqlab.facts import Facts
from mqlab.findings import Certainty
from mqlab.memo import per_facts
from mqlab.mqtt import bridges, circles
from mqlab.mqtt.bridges import Closed
from mqlab.mqtt.circles import EPISODE, ROUNDS, Circling, Republisher, Taken


@dataclass(frozen=True, slots=True)
class Case:
    """Messages that go round, or might."""

    way: Closed | Republisher | None
    circling: tuple[Circling, ...]
    taken: tuple[Taken, ...]
    since: float | None
    until: float | None
    ongoing: bool
    certainty: Certainty | None
    """None: a way without anything that came round on it."""

    @property
    def subject(self) -> str:
        """Both brokers, or the client that republishes, or the receiver that sees it."""
        if isinstance(self.way, Closed):
            return " <-> ".join(self.way.brokers)
        return self.way.client if self.way is not None else self.circling[0].receiver.client


@per_facts
def cases(facts: Facts) -> tuple[Case, ...]:
    """One case for each way on which messages can come back; one more for messages that come round on none of them."""
    round_trips = circles.circling(facts)
    ways: list[Closed | Republisher] = [*bridges.closed(facts), *circles.republishers(facts)]
    found = [_case(facts, way, round_trips) for way in ways]
    if not ways and round_trips:
        found.append(_case(facts, None, round_trips))
    return tuple(found)


def _case(facts: Facts, way: Closed | Republisher | None, round_trips: tuple[Circling, ...]) -> Case:
    opened = way.since if isinstance(way, Closed) else None
    own = tuple(c for c in round_trips if opened is None or c.until > opened)
    counted = tuple(t for t in circles.taken(facts, opened) if _at(way, t))
    first = min((c.since for c in own), default=None)
    until = max((c.until for c in own), default=None) or max((t.series.points[-1][0] for t in counted), default=None)
    end = max((c.receiver.receipts[-1].at for c in own), default=None)
    ongoing = until is None or end is None or until >= end
    certainty = _certainty(way, own, counted)
    return Case(way, own, counted, opened if opened is not None else first, until, ongoing, certainty)


def _at(way: Closed | Republisher | None, taken: Taken) -> bool:
    return not isinstance(way, Closed) or taken.broker in way.brokers


def _certainty(
    way: Closed | Republisher | None, own: tuple[Circling, ...], counted: tuple[Taken, ...]
) -> Certainty | None:
    known = isinstance(way, Republisher) or (isinstance(way, Closed) and way.topics is not None)
    if own and way is not None and not _contradicted(counted):
        return Certainty.PROVEN if known else Certainty.LIKELY
    swollen = _swollen(counted)
    if own and swollen:
        return Certainty.LIKELY
    if isinstance(way, Closed) and swollen and all(t.grew for t in counted) and len(counted) > 1:
        counts = all(t.factor is not None for t in counted)
        return Certainty.PROVEN if known and counts else Certainty.LIKELY
    return None


def _swollen(counted: tuple[Taken, ...]) -> bool:
    """Every broker whose counter is known takes in several times what is published, or what it did before."""
    return bool(counted) and all(t.factor >= ROUNDS if t.factor is not None else bool(t.grew) for t in counted)


def _contradicted(counted: tuple[Taken, ...]) -> bool:
    """Some broker takes in what is published and no more: nothing comes back to it.

    mosquitto counts no messages of QoS 2 and none with the RETAIN flag (``packet__read``): less tells nothing.
    """
    return any(t.factor is not None and 0.5 < t.factor < ROUNDS / 2 for t in counted)


def told_by_bridges(facts: Facts) -> Iterator[str]:
    """Words about ways on which nothing came back."""
    for case in cases(facts):
        if case.certainty is None and isinstance(case.way, Closed):
            topics = f" for {case.way.topics}" if case.way.topics is not None else ""
            yield f"two bridges between {case.subject}{topics}, but no id came more than {ROUNDS - 1} times"


def seconds(case: Case) -> float:
    """How long it lasted, at least the time that one receipt spans."""
    return max(EPISODE, (case.until or 0.0) - (case.since or 0.0)) if case.since and case.until else EPISODE
