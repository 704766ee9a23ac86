"""The way of messages from an MQTT broker over a bridge to a log such as Kafka's, stage by stage, where ids are known.

A *stage* is a place that messages reach one after the other: published, acknowledged, taken by the bridge, stored,
handled. A *gap* is what reached one stage and not the next, and where it is. A bridge is known by ledgers that say that
they forward, by the ids that it shares with what the log's consumers handled, or as a client that connects to MQTT and
produces to the log in one process.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import combinations

from mqlab import words
from mqlab.facts import Facts, span
from mqlab.findings import Evidence
from mqlab.memo import per_facts
from mqlab.models.mqtt import shared
from mqlab.mqtt.copies import RECEIVING, SENDING, client_of, name_of
from mqlab.mqtt.sessions import END
from mqlab.mqtt.subscriptions import Subscription, receiving_ledgers, subscriptions
from mqlab.rows import Flow, TopicFlow
from mqlab.shared.actors import base_name

say = words.room("chain")


class Step(Enum):
    """Stages in their order."""

    PUBLISHED = "published"
    ACKNOWLEDGED = "acknowledged"
    """By the MQTT broker; QoS 0 has no acknowledgement and counts where the publisher noted no failure."""
    TAKEN = "taken"
    """Noted by a process of the bridge; by any receiver where there is no bridge."""
    STORED = "stored"
    HANDLED = "handled"


class Whereabouts(Enum):
    """Where messages are that did not reach the next stage."""

    REFUSED = "refused"
    """Whoever sent them noted that it failed."""
    UNANSWERED = "unanswered"
    """Their publisher noted neither an acknowledgement nor a failure."""
    QUEUED = "queued"
    """In the queue that the MQTT broker keeps for a session whose client is away."""
    DROPPED = "dropped"
    """The MQTT broker counted them as thrown away."""
    PENDING = "pending"
    """In the log, not yet read."""
    AFTER_END = "after the end"
    """They came after the last thing that the next ledger notes."""
    BEFORE_BEGIN = "before the begin"
    """They came before the first thing that the next ledger notes."""
    UNSUBSCRIBED = "not subscribed"
    """The receiver had no subscription when they were published: they are no loss of its."""
    ABSENT = "not connected"
    """The receiver had no connection when they were published, and no session that keeps messages without one."""
    SHARED = "shared"
    """Another member of the receiver's share group has them, or may have them where it keeps no ledger."""
    LOST = "lost"
    """A finding counts them as lost."""
    UNKNOWN = "unknown"


GONE = (Whereabouts.DROPPED, Whereabouts.LOST, Whereabouts.ABSENT)
"""Where they are that will reach nobody any more for whom they were meant."""


@dataclass(frozen=True, slots=True)
class Share:
    """What one process or ledger had of a stage."""

    who: str
    messages: int
    place: str
    """Its ledger or log."""


@dataclass(frozen=True, slots=True)
class Stage:
    """How many messages reached one stage; None where the material does not say."""

    step: Step
    who: str
    """Topic, group or client ids; empty where nobody in particular."""
    messages: int | None
    low: int | None
    high: int | None
    """Interval in which the number lies; both are ``messages`` where it was counted."""
    how: str
    """How it is known, in a few words."""
    since: float | None = None
    until: float | None = None
    again: int = 0
    """Copies beyond the first that were noted here."""
    shares: tuple[Share, ...] = ()
    evidence: tuple[Evidence, ...] = ()

    @property
    def exact(self) -> bool:
        """Counted, not bounded."""
        return self.messages is not None and self.low == self.messages == self.high


@dataclass(frozen=True, slots=True)
class Gap:
    """Messages that reached one stage and not the next one."""

    after: Step
    """The last stage that they reached."""
    before: Step
    where: Whereabouts
    who: str
    """Client id, group or ledger; empty where nothing names one."""
    messages: int
    low: int
    high: int
    how: str
    since: float | None = None
    until: float | None = None
    """When the first and the last of them were published."""
    away_since: float | None = None
    """Since when the client of the queue has been away."""
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True)
class Chain:
    """One way from publishers to those who handle their messages."""

    system: str | None
    """Of the log behind the bridge: kafka or rocketmq; None where messages stay with MQTT."""
    topic: str | None
    """Of that log."""
    bridge: tuple[str, ...]
    """Client ids of its processes, else their ledgers; sorted; empty where nothing tells which receiver it is."""
    by: str
    """``ids``: the same messages are followed; ``counts``: only how many."""
    stages: tuple[Stage, ...]
    gaps: tuple[Gap, ...]
    notes: tuple[str, ...] = ()
    """What has to be known to read the numbers, one sentence each."""

    def stage(self, step: Step) -> Stage | None:
        """The first stage of this kind."""
        return next((stage for stage in self.stages if stage.step is step), None)


FORWARDED = re.compile(r"(?i)(?:^|[^a-z])forwarded(?![a-z])")
"""A ledger whose name says that what it notes was handed on (formats of ledgers: published, received, forwarded)."""
MQTT_CLIENT = ("client-configured", "connection-made")
"""Events of which MQTT clients' own logs tell."""
_PRODUCING = ("record-too-large", "record-expired", "send-failed", "produce-retry", "request-timeout", "batch-split")

Row = Flow | TopicFlow
Rows = Sequence[Row]


@per_facts
def log_ledgers(facts: Facts) -> Mapping[str, str]:
    """Ledgers of those who read a log, and its topic: their rows have a partition or queue, which MQTT has not."""
    found = {p.source: p.topic for p in facts.parts if p.role in RECEIVING and p.topic and p.queue}
    found |= {t.source: t.topic for t in facts.tallies if t.role in RECEIVING and t.topic and t.queue}
    return dict(sorted(found.items()))


def acknowledging(facts: Facts, topic: str | None = None) -> tuple[str, ...]:
    """Ledgers of what a log, or *topic* of it, acknowledged to its producers: their rows have a place in it."""
    own = [p for p in facts.parts if p.role in SENDING and topic in (None, p.topic)]
    return tuple(sorted({p.source for p in own if p.queue and p.last_offset is not None}))


def elsewhere(facts: Facts) -> frozenset[str]:
    """Ledgers that are about a log, and further ones of clients of MQTT that note what they received in another."""
    kept = receiving_ledgers(facts)
    noted = {source: client_of(facts, source) for source in receivers(facts.flows)}
    further = {source for source, client in noted.items() if client in kept and source not in kept[client or ""]}
    return frozenset({*log_ledgers(facts), *acknowledging(facts), *further})


def without(row: Row, ledgers: Collection[str]) -> Row:
    """*row* as if there were none of *ledgers*."""
    return replace(row, received=tuple((source, n) for source, n in row.received if source not in ledgers))


def readers(facts: Facts, topic: str) -> Mapping[str, tuple[str, ...]]:
    """Ledgers of the readers of *topic* by group, else by whose ledger it is, else by its name."""
    parts = {p.source: p.group or p.party for p in facts.parts if p.topic == topic}
    found: dict[str, list[str]] = defaultdict(list)
    for source in (source for source, of in log_ledgers(facts).items() if of == topic):
        found[parts.get(source) or base_name(source)].append(source)
    return {who: tuple(sources) for who, sources in sorted(found.items())}


def bridges(facts: Facts, rows: Rows, readers: Iterable[str]) -> tuple[str, ...]:
    """Ledgers of the bridge among the receivers of *rows* whose messages *readers* of the log note, too.

    Those that say so, or a client's that is a producer, unless they feed another topic only; else the only receivers
    that share no message with each other; of receivers that do, the only one that has everything that the log has.
    Empty where that does not tell.
    """
    far, logs = set(readers), set(log_ledgers(facts))
    behind = [{source for source, _ in row.received} for row in rows]
    passed = [here - logs for here in behind if here & far]
    found = sorted({source for here in passed for source in here})
    elsewhere = {source for here in behind if here & (logs - far) for source in here} - set(found)
    forwarding = [source for source in sorted({s for here in behind for s in here} - logs - elsewhere)
            if FORWARDED.search(base_name(source)) or client_of(facts, source) in producers(facts)]  # fmt: skip
    if forwarding:
        return tuple(forwarding)
    if not any({a, b} <= here for here in passed for a, b in combinations(found, 2)):
        return tuple(found)
    whole = [source for source in found if all(source in here for here in passed)]
    return (whole[0],) if len(whole) == 1 else ()


def sharing(rows: Rows) -> tuple[tuple[str, ...], ...]:
    """Ledgers of receivers in sets of which no two note the same message, as members of a share group do; by name."""
    together = {pair for row in rows for pair in combinations([source for source, _ in row.received], 2)}
    found: list[list[str]] = []
    for source in receivers(rows):
        own = next((s for s in found if not any((other, source) in together for other in s)), None)
        if own is None:
            found.append([source])
        else:
            own.append(source)
    return tuple(tuple(own) for own in found)


@per_facts
def producers(facts: Facts) -> frozenset[str]:
    """MQTT client ids of processes that are producers of a log, too: same id, or one log that tells of both."""
    events = facts.of_kind(*_PRODUCING)
    own = {s.owner for s in facts.settings if s.scope == "producer"} | {e.client_id for e in events}
    logs = {s.source for s in facts.settings if s.scope == "producer" and s.origin == "printed"}
    logs |= {e.source for e in events}
    clients = facts.of_kind(*MQTT_CLIENT)
    return frozenset(e.client_id for e in clients if e.client_id and (e.client_id in own or e.source in logs))


def names(facts: Facts, ledgers: Iterable[str]) -> tuple[str, ...]:
    """Client ids of ledgers, else what the ledgers are called; sorted."""
    return tuple(sorted({name_of(facts, source) for source in ledgers}))


BY_IDS = say("ids")
_ACKED = "acked"
"""Role of a ledger that notes what a broker acknowledged, and not what was sent besides."""


def stages(
    facts: Facts, rows: Rows, bridge: Sequence[str], readers: Mapping[str, Sequence[str]], acks: Sequence[str] = ()
) -> tuple[Stage, ...]:
    """Published, acknowledged, taken, stored and handled of the messages that a publisher's ledger notes.

    Ledgers that note acknowledgements alone tell no more than these of what was published.

    A message that was handled had been stored, and so had one that the log acknowledged in a ledger of *acks*; another
    that the bridge took may be.
    """
    sent = [row for row in rows if row.sender is not None]
    good = [row for row in sent if not row.failed]
    promised = [row for row in good if row.qos != 0]
    without = count(good) - count(promised)
    how = say("acknowledged", without=without) if without else BY_IDS
    shares = tuple(
        _share(source, [r for r in sent if r.sender == source]) for source in sorted({r.sender or "" for r in sent})
    )
    answers = {r.source for r in facts.receipts if r.role == _ACKED}
    found = [_stage(Step.PUBLISHED, "", sent, BY_IDS), _stage(Step.ACKNOWLEDGED, "", promised, how)]
    if sent and len(promised) == len(sent) and all(row.sender in answers for row in sent):
        del found[0]
    found[0] = replace(found[0], shares=shares)
    if bridge:
        found.append(taken(facts, sent, bridge))
    if readers:
        far = [source for own in readers.values() for source in own]
        found.append(_stored(sent, bridge, (*far, *acks), acked=bool(acks)))
        found += [_noted(facts, Step.HANDLED, who, sent, own) for who, own in readers.items()]
    return tuple(found)


def _share(source: str, own: Rows) -> Share:
    return Share(next((r.party for r in own if r.party), None) or source, count(own), source)


def taken(facts: Facts, rows: Rows, takers: Sequence[str]) -> Stage:
    """What the ledgers *takers* note of the messages of publishers."""
    return _noted(facts, Step.TAKEN, ", ".join(names(facts, takers)), [r for r in rows if r.sender is not None], takers)


def receivers(rows: Rows) -> tuple[str, ...]:
    """Every ledger of a receiver, sorted."""
    return tuple(sorted({source for row in rows for source, _ in row.received}))


def count(rows: Iterable[Row]) -> int:
    """Messages of all of them."""
    return sum(row.messages for row in rows)


def noted(row: Row, ledgers: Iterable[str]) -> int:
    """How often these ledgers note each message of *row*."""
    own = set(ledgers)
    return sum(times for source, times in row.received if source in own)


def _noted(facts: Facts, step: Step, who: str, sent: Rows, ledgers: Sequence[str]) -> Stage:
    here = [row for row in sent if noted(row, ledgers)]
    again = sum((noted(row, ledgers) - 1) * row.messages for row in here)
    own = {source: count(r for r in here if noted(r, [source])) for source in ledgers}
    shares = tuple(Share(name_of(facts, source), many, source) for source, many in own.items())
    return replace(_stage(step, who, here, BY_IDS), shares=shares, again=again)


def _stored(sent: Rows, bridge: Sequence[str], far: Sequence[str], *, acked: bool) -> Stage:
    there = [row for row in sent if noted(row, far)]
    high = count(row for row in sent if not bridge or noted(row, far) or noted(row, bridge))
    how = say("stored", more=bool(bridge) and high > count(there), acked=acked)
    return replace(_stage(Step.STORED, "", there, how), high=high)


def _stage(step: Step, who: str, rows: Rows, how: str) -> Stage:
    many = count(rows)
    return Stage(step, who, many, many, many, how, *ends(rows), evidence=places(rows))


def ends(rows: Rows) -> tuple[float | None, float | None]:
    """When the first and the last message of *rows* was published."""
    return span(at for row in rows for at in (row.first_at, row.last_at))


def places(rows: Rows) -> tuple[Evidence, ...]:
    """Where the first and the last of them are noted."""
    if not rows:
        return ()
    first = min(rows, key=lambda row: (row.first_at, row.first.source, row.first.line or 0))
    last = max(rows, key=lambda row: (row.last_at, row.last.source, row.last.line or 0))
    return tuple(dict.fromkeys((first.first, last.last)))


def refused(rows: Rows) -> tuple[Gap, ...]:
    """Messages of which the publisher noted a failure, or no acknowledgement, and that nobody received."""
    found = []
    for where, key in ((Whereabouts.REFUSED, "refused"), (Whereabouts.UNANSWERED, "unanswered")):
        failed = [row for row in rows if row.failed and row.unanswered == (where is Whereabouts.UNANSWERED)]
        gone = [row for row in failed if row.sender is not None and not row.received]
        how = say(key, arrived=count(row for row in failed if row.received))
        if gone:
            found.append(gap((Step.PUBLISHED, Step.ACKNOWLEDGED), where, gone, how))
    return tuple(found)


def gap(between: tuple[Step, Step], where: Whereabouts, rows: Rows, how: str, who: str = "") -> Gap:
    """All messages of *rows*, counted."""
    many = count(rows)
    return Gap(*between, where, who, many, many, many, how, *ends(rows), evidence=places(rows))


def missing(rows: Rows, nexts: Sequence[str]) -> tuple[Row, ...]:
    """Acknowledged messages of publishers that none of the ledgers *nexts* notes."""
    return tuple(r for r in rows if r.sender is not None and not r.failed and not noted(r, nexts))


def away(facts: Facts, clients: Collection[str]) -> tuple[Subscription, ...]:
    """Kept subscriptions whose client is away at the end, of *clients* or of the share groups that they are in."""
    every = subscriptions(facts)
    groups = {group for s in every if s.client_id in clients and (group := shared(s.filter))[0] is not None}
    kept = (s for s in every if s.away and s.away[-1][1] == END and s.session and s.session.persistent)
    return tuple(s for s in kept if s.client_id in clients or shared(s.filter) in groups)


def unseen(facts: Facts, takers: Sequence[str]) -> tuple[str, ...]:
    """Clients that share the messages of the ledgers *takers* and have no ledger: what they got is not told."""
    every = subscriptions(facts)
    own = {client for source in takers if (client := client_of(facts, source))}
    groups = {s.filter for s in every if s.client_id in own and shared(s.filter)[0] is not None}
    known = {client_of(facts, source) for source in receivers(facts.flows)} | {s.client_id for s in away(facts, own)}
    return tuple(sorted({s.client_id for s in every if s.filter in groups} - own - known))
