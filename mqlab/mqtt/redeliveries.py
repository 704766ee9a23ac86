"""Clients to which messages were sent again: unacknowledged ones at each connect, retained ones at each subscribe.

A subscribe makes the broker send every retained message that matches (MQTT 3.1.1 §3.3.1.3; MQTT 5 §3.3.1.3, unless
retain handling says no). A session that comes back gets what it had not acknowledged, with the DUP flag (§4.4), which
is the in-flight window at most. MQTT 5 §4.4 allows resending at a reconnect only, and so do mosquitto since 1.5
(``retry_interval`` has no effect), HiveMQ and RabbitMQ with MQTT 3.1.1; EMQX and VerneMQ resend by a timer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from mqlab import words
from mqlab.facts import Episode, Facts, Series
from mqlab.findings import Evidence
from mqlab.memo import per_facts
from mqlab.mqtt import accounting, brokers
from mqlab.mqtt.connections import Connection, by_client, by_own_log
from mqlab.mqtt.copies import Receiver, client_of, copies_by_topic, subscribers, worst
from mqlab.rows import GRID, Receipt
from mqlab.units import Interval, between
from mqlab.words import Text

say = words.room("redeliveries")

STORM = 3
"""Connects with messages again, or copies of one message, from which it goes on and on: a first connect, a release and
its way back make two."""
MORE = 1.5
"""How much more than before brokers may take in where they send more: each connect and acknowledgement counts.
Judgement, no default behind it: with QoS 1 an acknowledgement answers each message that went out again."""
MUCH = 0.1
"""Part of what a client gets from which messages again are more than what a lost connection costs. Judgement, no
default behind it: such costs a window (``_DEFAULT_WINDOW``) at most, a tenth of two hundred messages."""
WINDOW = ("max_inflight_messages", "mqtt.max_inflight", "zone.external.max_inflight")
"""Settings of mosquitto and EMQX 5 and 4 for what may be under way to a client unacknowledged."""
_TOGETHER = 1.0
"""Seconds in which several filters are one subscription: one log tells of them, in whole seconds it may be."""
_DEFAULT_WINDOW = 20
"""mosquitto.conf(5): max_inflight_messages."""
_ENDS = frozenset({"normal", "taken-over", "keep-alive", "closed"})
"""Ends of a client's connections that say something of the cause."""
_AT_RECONNECT = frozenset({"mosquitto", "hivemq", "rabbitmq"})
_BY_TIMER = ("0.", "1.0", "1.1", "1.2", "1.3", "1.4")
"""Versions of mosquitto with a timer."""


def cause(facts: Facts, client: str) -> Text | None:
    """What the most frequent end of a client's connections says of the cause, and its own log where it left itself."""
    end = usual_end(facts, client)
    return say("cause", end=_left(facts, client) or end) if end in _ENDS else None


def _left(facts: Facts, client: str) -> str | None:
    """``restarted`` where its log tells of a stop each time that it left, ``reconnects`` where one process goes on."""
    own = by_own_log(facts).get(client, ())
    left = [c.until for c in own if c.ended == "normal" and c.until is not None]
    if not left or len(left) < sum(c.ended == "normal" for c in _of_client(facts, client)):
        return None
    lines = [e for e in facts.of_kind("app-stopping", "connection-made") if e.source in {c.source for c in own}]
    stops = [e.first_at for e in lines if e.kind == "app-stopping" and e.first_at is not None]
    if all(any(abs(stop - at) <= brokers.EDGE for stop in stops) for at in left):
        return "restarted"
    later = [e.value_min for e in lines if e.kind == "connection-made"][1:]
    return "reconnects" if not stops and later and all(number and number > 1 for number in later) else None


@per_facts
def _of_client(facts: Facts, client: str) -> tuple[Connection, ...]:
    """The connections of a client whose begin is known, by begin."""
    own = [c for (_, name), every in by_client(facts).items() if name == client for c in every if c.since is not None]
    return tuple(sorted(own, key=lambda c: (c.since or 0.0, c.source)))


def _connected(facts: Facts, client: str) -> tuple[float, ...]:
    return tuple(c.since for c in _of_client(facts, client) if c.since is not None)


@per_facts
def _subscribed(facts: Facts, client: str) -> tuple[float, ...]:
    """When a client subscribed: as lines tell, or when it connected where fewer lines tell of it."""
    lines = facts.of_kind("client-subscribed")
    own = [e for e in lines if e.client_id == client]
    own = own or [e for e in lines if e.client_id is None and client_of(facts, e.source) == client]
    moments: list[float] = []
    for at in sorted(e.first_at for e in own if e.first_at is not None):
        if not moments or at - moments[-1] > _TOGETHER:
            moments.append(at)
    connects = _connected(facts, client)
    return tuple(moments) if len(moments) >= len(connects) else connects


def usual_end(facts: Facts, client: str) -> str | None:
    """How most connections of a client ended; None where no line says."""
    ends = Counter(c.ended for c in _of_client(facts, client) if c.ended)
    return min(ends, key=lambda end: (-ends[end], end)) if ends else None


def evidence(facts: Facts, client: str, shown: int) -> tuple[Evidence, ...]:
    """The lines that begin and end the first *shown* connections of a client, as far as they are known."""
    own = _of_client(facts, client)[:shown]
    begins = [c.begin.because(say("begin")) for c in own if c.begin is not None]
    ends = [c.end.because(say("ends")) for c in own if c.end is not None]
    return tuple(sorted((*begins, *ends), key=lambda place: (place.source, place.line or 0)))


@per_facts
def never(facts: Facts) -> bool:
    """Brokers that resend at a reconnect only tell of connections, and nobody came often to a session that is kept."""
    seen = [own for (broker, _), own in by_client(facts).items() if broker is not None]
    often = any(sum(c.count for c in own) >= STORM and any(c.persistent is not False for c in own) for own in seen)
    return bool(seen) and not often and all(_at_reconnect(facts, b.name) for b in brokers.brokers(facts))


def _at_reconnect(facts: Facts, broker: str) -> bool:
    product, version = brokers.software(facts, broker), brokers.version(facts, broker) or ""
    return product in _AT_RECONNECT and not (product == "mosquitto" and version.startswith(_BY_TIMER))


@dataclass(frozen=True, slots=True)
class Again:
    """Messages that one client got with the DUP flag: the broker sent them before, whether or not they had arrived."""

    client: str
    dup: int
    rows: int
    """All that it got in that time."""
    connects: int
    """After which some came again."""
    copies: int
    """Of the message that came most often, where a ledger tells; else 0."""
    since: float
    until: float
    ongoing: bool
    receiver: Receiver | None
    lines: tuple[Episode, ...]
    """Lines of a trace that send them, where there is no ledger."""

    @property
    def storm(self) -> bool:
        """They come again and again, and are a good part of what it gets."""
        return max(self.connects, self.copies) >= STORM and self.dup >= MUCH * self.rows


@per_facts
def again(facts: Facts) -> tuple[Again, ...]:
    """All clients that got messages with the DUP flag, by name."""
    found = [resent for ledger in subscribers(facts) if (resent := _by_ledger(facts, ledger)) is not None]
    known = {resent.client for resent in found}
    found += [_by_trace(facts, client) for client in accounting.went_out(facts, "dup") if client not in known]
    return tuple(sorted(found, key=lambda resent: resent.client))


def window(facts: Facts) -> int:
    """Messages that may be under way to a client: as the broker is told, else mosquitto's default; 0 is no limit."""
    limits = [s.value for s in facts.settings if s.key in WINDOW and s.value.isdigit()]
    return int(limits[-1]) if limits else _DEFAULT_WINDOW


def redelivery_fits(facts: Facts, resent: Again) -> bool:
    """No more came again than connects × window; one connect may lie before the material."""
    allowed = window(facts)
    return resent.connects >= STORM and (not allowed or resent.dup <= (resent.connects + 1) * allowed)


def _by_ledger(facts: Facts, ledger: Receiver) -> Again | None:
    """Connects count in the ten seconds of messages that came again, or in those before."""
    flagged = [r for r in ledger.receipts if r.dup]
    if not flagged:
        return None
    since, until = flagged[0].at, flagged[-1].at + GRID
    rows = sum(r.rows for r in ledger.receipts if since <= r.at < until)
    moments = _connected(facts, ledger.client)
    connects = sum(any(r.at - GRID <= at < r.at + GRID for r in flagged) for at in moments)
    pace = max((b.at - a.at for a, b in pairwise(flagged)), default=0.0)
    going = ledger.receipts[-1].at - flagged[-1].at <= pace + GRID
    copies = worst(facts, ledger.source)[0]
    return Again(ledger.client, ledger.dup, rows, connects, copies, since, until, going, ledger, ())


def _traced(facts: Facts, client: str) -> list[Episode]:
    """What a trace shows that went to a client, but for the broker's own statistics."""
    return [e for e in facts.of_kind("publish-sent") if e.client_id == client and not (e.topic or "$").startswith("$")]


def _by_trace(facts: Facts, client: str) -> Again:
    lines = _traced(facts, client)
    flagged = [e for e in lines if "dup" in (e.reason or "").split(" ")]
    spans = [(e.first_at or 0.0, e.last_at or e.first_at or 0.0) for e in flagged]
    since, until = min(begin for begin, _ in spans), max(end for _, end in spans)
    rows = sum(e.count for e in lines if since <= (e.first_at or 0.0) <= until)
    moments = _connected(facts, client)
    connects = sum(any(begin - GRID <= at <= end for begin, end in spans) for at in moments)
    going = max(e.last_at or 0.0 for e in lines) - until <= GRID
    dup = sum(e.count for e in flagged)
    return Again(client, dup, rows, connects, 0, since, until, going, None, tuple(flagged))


@dataclass(frozen=True, slots=True)
class Replayed:
    """Retained messages that one client got after its first subscribe."""

    client: str
    subscribes: int
    """After the first one."""
    retained: int
    """Retained messages that it got since the second one."""
    live: Interval
    """Other messages that it got since then: a ledger is counted by ten seconds, of which the first began before."""
    topics: int | None
    """Retained topics of its filters; None where nothing tells."""
    since: float
    until: float
    ongoing: bool
    receiver: Receiver | None
    counted: str
    """ledger, trace or counter."""

    @property
    def fits(self) -> bool:
        """Retained topics × subscribes are the rows, within one replay."""
        return bool(self.topics) and abs(self.retained - (self.topics or 0) * self.subscribes) <= (self.topics or 0)

    @property
    def storm(self) -> bool:
        """It subscribed again and again, and most of what it got was replayed."""
        return self.subscribes >= STORM and self.retained > self.live.likely


@per_facts
def replayed(facts: Facts) -> tuple[Replayed, ...]:
    """All clients that subscribed more than once and got retained messages, by name."""
    found = [replay for ledger in subscribers(facts) if (replay := _replays_by_ledger(facts, ledger)) is not None]
    known = {replay.client for replay in found}
    traced = [c for c in accounting.went_out(facts, "retained") if c not in known]
    found += [replay for client in traced if (replay := _replays_by_trace(facts, client)) is not None]
    if not found and not subscribers(facts):
        found += [replay for replay in (_by_counter(facts),) if replay is not None]
    return tuple(sorted(found, key=lambda replay: replay.client))


def never_seen_to_subscribe(facts: Facts) -> tuple[str, ...]:
    """Receivers that got retained messages more than once, and of which nothing tells when they subscribed."""
    again = [ledger for ledger in subscribers(facts) if ledger.retained and ledger.again]
    return tuple(ledger.client for ledger in again if not _subscribed(facts, ledger.client))


def replays_not_told(facts: Facts) -> tuple[str, ...]:
    """Clients that subscribed again and again, and of which nothing tells what came to them."""
    noted = {ledger.client for ledger in subscribers(facts)} | {e.client_id for e in facts.of_kind("publish-sent")}
    if facts.named("mqtt.publish_sent"):
        return ()
    told = {e.client_id or client_of(facts, e.source) for e in facts.of_kind("client-connected", "client-subscribed")}
    clients = sorted(client for client in told if client)
    return tuple(c for c in clients if c not in noted and len(_subscribed(facts, c)) > STORM)


def _replays_by_ledger(facts: Facts, ledger: Receiver) -> Replayed | None:
    moments = _subscribed(facts, ledger.client)
    own = [r for r in ledger.receipts if len(moments) > 1 and r.at + GRID > moments[1]]
    flagged = [r for r in own if r.retained]
    if not flagged:
        return None
    subscribes, retained = len(moments) - 1, sum(r.retained for r in own)
    # Retained topics are those of the ledger, or as many as the broker says that it keeps; whichever agrees better.
    counts = [len(copies_by_topic(facts, ledger.source))]
    counts += [round(s.points[-1][1]) for s in facts.named("mqtt.retained_messages") if s.points]
    topics = min((t for t in counts if t), key=lambda t: (abs(retained - t * subscribes), t), default=None)
    return Replayed(
        ledger.client, subscribes, retained, _live(own, moments[1]), topics, moments[1],
        max(moments[-1], flagged[-1].at), _goes_on(moments, _noted_until(facts, ledger)), ledger, "ledger",
    )  # fmt: skip


def _noted_until(facts: Facts, ledger: Receiver) -> float:
    """When a ledger surely noted something still: ten seconds begin then, or a message that it has was published."""
    published = [f.last_at for f in facts.flows if ledger.source in dict(f.received)]
    return max([ledger.receipts[-1].at, *published])


def _live(own: Sequence[Receipt], since: float) -> Interval:
    """Messages that were not retained, of ten seconds that end after *since*: from then on, as evenly as they came."""
    first = sum(r.rows - r.retained for r in own if r.at < since)
    after = sum(r.rows - r.retained for r in own if r.at >= since)
    begun = min(r.at for r in own)
    return Interval(after, after + round(first * (begun + GRID - since) / GRID), after + first)


def _goes_on(moments: tuple[float, ...], end: float) -> bool:
    """The next subscribe is not overdue at the end: no time between two was longer, since the second one."""
    waits = [later - one for one, later in pairwise(moments)]
    return end - moments[-1] <= max(waits[1:] or waits) + brokers.WHOLE_SECONDS


def _replays_by_trace(facts: Facts, client: str) -> Replayed | None:
    moments = _subscribed(facts, client)
    late = [e for e in _traced(facts, client) if len(moments) > 1 and (e.first_at or 0.0) >= moments[1]]
    flagged = [e for e in late if "retained" in (e.reason or "")]
    if not flagged:
        return None
    retained = sum(e.count for e in flagged)
    until = max(e.last_at or e.first_at or 0.0 for e in flagged)
    end = max((e.last_at or 0.0 for e in facts.of_kind("publish-sent", "publish-received")), default=until)
    return Replayed(
        client, len(moments) - 1, retained, between(sum(e.count for e in late) - retained, ()),
        len(accounting.went_out(facts, "retained")[client]), moments[1], until, _goes_on(moments, end), None, "trace",
    )  # fmt: skip


def _by_counter(facts: Facts) -> Replayed | None:
    """The one client that came back again and again, where a broker sends more by what it keeps for each time."""
    clients = {e.client_id for e in facts.of_kind("client-connected") if e.client_id}
    often = [c for c in sorted(clients) if len(_subscribed(facts, c)) > STORM]
    kept = [s.points[-1][1] for s in facts.named("mqtt.retained_messages") if s.points]
    sent = facts.named("mqtt.publish_sent")
    if len(often) != 1 or len(sent) != 1 or len(kept) != 1:
        return None
    moments = _subscribed(facts, often[0])
    more = _more(sent[0], moments) if _as_before(facts, moments) else None
    subscribes = len(moments) - 1
    if more is None or not kept[0] / 2 <= more[0] / subscribes <= kept[0]:
        return None
    return Replayed(
        often[0], subscribes, round(more[0]), between(round(more[1]), ()), None, moments[1], moments[-1],
        _goes_on(moments, sent[0].points[-1][0]), None, "counter",
    )  # fmt: skip


def _paces(series: Series, at: float) -> tuple[float, float, float] | None:
    """Messages a second before and since *at*, and seconds since."""
    first, last = series.points[0][0], series.points[-1][0]
    before, since = brokers.pace(series, first, at), brokers.pace(series, at, last)
    return None if before is None or since is None else (before, since, last - at)


def _more(sent: Series, moments: tuple[float, ...]) -> tuple[float, float] | None:
    """What was sent since the second subscribe beyond the pace before it, and what that pace makes."""
    paces = _paces(sent, moments[1])
    return None if paces is None else ((paces[1] - paces[0]) * paces[2], paces[0] * paces[2])


def _as_before(facts: Facts, moments: tuple[float, ...]) -> bool:
    """Brokers take in no more than before; connects and acknowledgements are in the counter, too."""
    paces = [_paces(series, moments[1]) for series in facts.named("mqtt.messages_received")]
    return all(pace is not None and pace[1] <= MORE * pace[0] for pace in paces)
