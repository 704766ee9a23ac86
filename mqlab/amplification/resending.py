"""Counters and bytes of a producer that sends batches again: how many, what share, what that cost on the wire."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mqlab.facts import Episode, Facts
from mqlab.findings import Stage, TrafficLedger
from mqlab.models import clients
from mqlab.questions import actors, configured, traffic
from mqlab.questions.wording import clock, instant

_PRECONDITIONS = ("enable.idempotence", "acks", "retries", "max.in.flight.requests.per.connection")


@dataclass(frozen=True, slots=True)
class Resending:
    """One client's retries between two moments; None where no counter says."""

    first: float | None
    last: float | None
    lines: int
    again: float | None
    """Records sent again."""
    sends: float | None
    """All transmissions of records."""
    failed: float
    idempotent: bool | None
    attempts: tuple[int, ...]
    """Numbers of attempts left that were printed, falling."""

    @property
    def share(self) -> float | None:
        """Share of repeats among all transmissions."""
        return self.again / self.sends if self.sends and self.again is not None else None

    @property
    def transmissions(self) -> float | None:
        """Transmissions a record."""
        return self.sends / (self.sends - self.again) if self.sends and self.again and self.sends > self.again else None


def of_client(facts: Facts, client: str, episodes: Sequence[Episode]) -> Resending:
    """What *episodes* of retries and the counters of *client* say."""
    first = episodes[0].first_at
    last = max((e.last_at for e in episodes if e.last_at is not None), default=None)
    left = {round(v) for e in episodes for v in (e.value_min, e.value_max) if v is not None}
    errors = counted(facts, client, "producer.record_errors", first, last)
    expired = sum(e.count for e in facts.of_kind("record-expired") if actors.client_of(facts, e) == client)
    return Resending(
        first,
        last,
        sum(e.count for e in episodes),
        counted(facts, client, "producer.record_retries", first, last),
        counted(facts, client, "producer.record_sends", first, last),
        errors if errors is not None else float(expired),
        idempotent(facts, client, first),
        tuple(sorted(left, reverse=True)),
    )


def counted(facts: Facts, client: str, name: str, first: float | None, last: float | None) -> float | None:
    """Increase of the counter *name* of *client*; None where it does not cover the time."""
    own = [s for s in facts.named(name) if s.labels.get("client_id") == client]
    if not own or first is None or last is None:
        return None
    found = traffic.increase(own, first, last, traffic.first_scrape(facts, own[0]))
    return found.value if found else None


def idempotent(facts: Facts, client: str, at: float | None) -> bool | None:
    """Whether the broker would drop second copies, as far as settings of *client* are known."""
    known = {k: v.value for k in _PRECONDITIONS if (v := configured.producer_value(facts, client, k, at)) and v.setting}
    return clients.idempotence(known, configured.version_of(facts, client, at)) if known else None


def ledger(facts: Facts, client: str, found: Resending) -> TrafficLedger | None:
    """Bytes in to bytes out of the producer's host; None without its card and the share of repeats."""
    host, share = actors.host_of(facts, client), found.share
    if host is None or found.first is None or found.last is None or share is None:
        return None
    card = traffic.ratio(facts, host, found.first, found.last)
    if card is None:
        return None
    own = counted(facts, client, "producer.outgoing_bytes", found.first, found.last)
    base = own if own is not None else card.bytes_out
    once, again = round(base * (1 - share)), round(base * share)
    rest = round(card.bytes_out) - once - again
    stages = (
        Stage("accepted", "first transmissions", once, round(once * 0.9), round(once * 1.1), "sends less retries"),
        Stage("retries", "transmitted again", again, round(again * 0.8), round(again * 1.2), "share x outgoing bytes"),
        Stage("unexplained", "UNEXPLAINED (framing, other traffic)", rest, rest, rest, "rest"),
    )
    how = f"network card of {host}, {clock(card.since)} to {clock(card.until)} UTC"
    since, until = instant(card.since), instant(card.until)
    return TrafficLedger(host, how, since, until, round(card.bytes_in), round(card.bytes_out), stages)
