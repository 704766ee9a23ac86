"""What became of messages on their way from an MQTT broker over a bridge to a log: how many are where, how known.

Where ledgers share ids every message is followed; else counters and offsets are compared. Where there is no bridge, the
way ends at the receivers of MQTT.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf

from mqlab import words
from mqlab.facts import Episode, Facts
from mqlab.findings import Evidence
from mqlab.memo import per_facts
from mqlab.models.mqtt import matches
from mqlab.mqtt import brokers, chain_stages, queue_drops
from mqlab.mqtt.accounting import settled
from mqlab.mqtt.chain_apart import BETWEEN, ROUNDED, apart, notes
from mqlab.mqtt.chain_counts import counted_chains
from mqlab.mqtt.chain_stages import Chain, Gap, Row, Rows, Step, Whereabouts, away, unseen
from mqlab.mqtt.copies import client_of
from mqlab.mqtt.sessions import END
from mqlab.mqtt.subscriptions import Subscription, subscriptions
from mqlab.shared.counters import increase
from mqlab.shared.wording import sample
from mqlab.words import Text

say = words.room("chain")

STORED, DROPPED = "mqtt.stored_messages", "mqtt.publish_dropped"


def whereabouts(facts: Facts, rows: Sequence[Row], takers: Sequence[str]) -> tuple[Gap, ...]:
    """Where the messages of *rows* are, which the broker acknowledged and none of the ledgers *takers* notes."""
    if not rows:
        return ()
    elsewhere, rows = apart(facts, rows, takers)
    clients = {client for source in takers if (client := client_of(facts, source))}
    waiting = away(facts, clients)
    since = min((subscription.away[-1][0] for subscription in waiting), default=END) - ROUNDED
    ended = max((r.until for r in facts.receipts if r.source in takers), default=END)
    queued = [row for row in rows if row.last_at >= since]
    before = [row for row in rows if row.last_at < since]
    late = [row for row in before if row.first_at > ended]
    found = _lost(facts, [row for row in before if row.first_at <= ended], takers)
    if queued:
        # Others that are there may have got some of it.
        gone = clients <= {subscription.client_id for subscription in waiting}
        unsure = 0 if gone else chain_stages.count(row for row in queued if row.first_at > ended)
        found = [
            *_queued(facts, queued, waiting, chain_stages.count(rows) if unseen(facts, takers) else unsure),
            *found,
        ]
    if late:
        names = chain_stages.names(facts, takers)
        how = say("after-end", ledgers=len(takers))
        found.append(chain_stages.gap(BETWEEN, Whereabouts.AFTER_END, late, how, ", ".join(names)))
    return (*found, *elsewhere)


def _queued(facts: Facts, rows: Sequence[Row], waiting: Sequence[Subscription], unsure: int) -> list[Gap]:
    """What was published since the clients have been away, and was not taken: it waits for them, or was thrown away."""
    begin = min(subscription.away[-1][0] for subscription in waiting)
    clients = sorted({subscription.client_id for subscription in waiting})
    many = chain_stages.count(rows)
    drops = _thrown(facts, begin, END, clients, many)
    if drops is not None and drops.low < drops.likely == many:
        drops = None  # a queue may be full of what still waits
    kept = many - (round(drops.likely) if drops else 0)
    stored = [s for s in facts.named(STORED) if s.points and s.points[0][0] <= begin < s.points[-1][0]]
    low, how = max(0, kept - unsure), say("queued")
    if stored:
        grown = round(sum(s.points[-1][1] - (brokers.value(s, begin) or 0.0) for s in stored))
        low = max(0, min(kept, grown))
        how = say("queued", stored=grown, at=max(s.points[-1][0] for s in stored))
    gone = [
        subscription.session.last.end
        for subscription in waiting
        if subscription.session is not None and subscription.session.last.end is not None
    ]
    places = (*dict.fromkeys((*gone, *_samples(facts, STORED, say("stored-line")))), *chain_stages.places(rows))
    queue = Gap(*BETWEEN, Whereabouts.QUEUED, ", ".join(clients), kept, low, many, how, *chain_stages.ends(rows),
                begin, places)  # fmt: skip
    return [queue, *_dropped(facts, drops, rows)]


@dataclass(frozen=True, slots=True)
class _Drops:
    """What brokers say that they threw away of *clients*: so many at least, about and at most."""

    low: float
    likely: float
    high: float
    lines: tuple[Episode, ...]
    """Of a full queue."""
    how: Text


def _thrown(facts: Facts, since: float, until: float, clients: Sequence[str], many: int) -> _Drops | None:
    """Of *many* messages that *clients* miss; None where nothing says that any was thrown away.

    The broker's counter is for all clients: it is theirs where no line names others only. Where lists or lines count
    each client's own, and differ from it, both bound the number; a full queue that nobody counts may have lost all.
    """
    full = facts.of_kind("session-queue-dropping")
    named = {e.client_id for e in full if e.client_id}
    lines = tuple(e for e in full if e.client_id in clients)
    rose = increase(facts.named(DROPPED), since, until) if not named or named & set(clients) else None
    counter = rose.value if rose is not None else 0.0
    own = sum(_own_count(facts, case) for case in queue_drops.queue_cases(facts) if case.client_id in clients)
    if counter:
        likely = min(float(many), counter)
        sure = likely if lines and len(named) == 1 else 0.0
        bounds = (min(sure, own), max(likely, own)) if own else (sure, likely)
        how = say("dropped-logged" if lines else "dropped-somewhere")
        return _Drops(min(many, bounds[0]), likely, min(many, bounds[1]), lines, how)
    if own:
        likely = min(float(many), own)
        return _Drops(likely, likely, likely, lines, say("dropped-here"))
    if lines:
        # A counter that was read once, or rose before: it has counted all drops since the broker's start.
        stands = sum(series.points[-1][1] for series in facts.named(DROPPED) if series.points)
        most = min(float(many), stands or inf)
        how = say("dropped-stands", dropped=round(stands)) if stands else say("dropped-uncounted")
        return _Drops(min(most, len(lines)), most, most, lines, how)
    return None


def _own_count(facts: Facts, case: queue_drops.QueueCase) -> float:
    """What the last list or the broker's lines count for this client alone; 0 where neither does."""
    listed = float(case.row.dropped or 0) if case.row is not None else 0.0
    return listed or queue_drops.by_lines(facts, case) or 0.0


def _dropped(facts: Facts, drops: _Drops | None, rows: Sequence[Row]) -> list[Gap]:
    if drops is None:
        return []
    places = (*(e.first for e in drops.lines[:2]), *_samples(facts, DROPPED, say("dropped-line")))
    who = ", ".join(sorted({e.client_id for e in drops.lines if e.client_id}))
    low, likely, high = round(drops.low), round(drops.likely), round(drops.high)
    return [Gap(*BETWEEN, Whereabouts.DROPPED, who, likely, low, high, drops.how, *chain_stages.ends(rows),
                evidence=places)]  # fmt: skip


def _samples(facts: Facts, name: str, why: str) -> list[Evidence]:
    """The last sample of each series of that name."""
    return [sample(facts, s, s.points[-1][0], why) for s in facts.named(name) if s.points]


def _lost(facts: Facts, rows: Sequence[Row], takers: Sequence[str]) -> list[Gap]:
    """Messages for which no session waits: as many as the broker counts as thrown away, and the others."""
    first, last = chain_stages.ends(rows)
    if first is None or last is None:
        return []
    own, others = chain_stages.names(facts, takers), unseen(facts, takers)
    many = chain_stages.count(rows)
    exposed = _exposed(facts, rows, own)
    since = min((row.first_at for row in exposed), default=first)
    drops = _thrown(facts, since, last, own, chain_stages.count(exposed)) if exposed else None
    rest = many - (round(drops.likely) if drops else 0)
    stored = [say("store", stored=round(s.points[-1][1])) for s in facts.named(STORED) if s.points]
    how = say("nowhere", stored=stored, others=others)
    where, who = (Whereabouts.SHARED, others) if others else (Whereabouts.UNKNOWN, own)
    left = chain_stages.gap(BETWEEN, where, rows, how, ", ".join(who))
    sure = many - chain_stages.count(exposed) if drops else rest
    left = replace(left, messages=rest, low=0 if others else sure, high=many - round(drops.low) if drops else rest)
    return [*_dropped(facts, drops, exposed), *([left] if rest else [])]


def _exposed(facts: Facts, rows: Sequence[Row], clients: Sequence[str]) -> list[Row]:
    """Those of *rows* that a queue of *clients* may have dropped: others came before it can have dropped any."""
    calm = [queue_drops.calm(facts, case) for case in queue_drops.queue_cases(facts) if case.client_id in clients]
    if not calm:
        return list(rows)
    return [row for row in rows if not all(any(a <= row.first_at and row.last_at <= b for a, b in own) for own in calm)]


_SEND = "send-failed"
_REFUSED = ("record-too-large", "record-expired", _SEND, "record-failed")
_TAKEN = (Step.TAKEN, Step.HANDLED)


def whereabouts_in_log(
    facts: Facts, rows: Sequence[Row], topic: str, reader: tuple[str, Sequence[str]], bridge: Sequence[str]
) -> tuple[Gap, ...]:
    """Where the messages of *rows* are, which *bridge* took and none of the ledgers of *reader* notes."""
    who, ledgers = reader
    left = chain_stages.count(rows)
    found = []
    for where, named, (many, how, places) in (
        (Whereabouts.PENDING, who, _pending(facts, topic, ledgers)),
        (Whereabouts.REFUSED, "", _refused(facts, bridge)),
    ):
        some = min(left, many)
        if some:
            low = some if some == many else 0
            found.append(Gap(*_TAKEN, where, named, some, low, some, how, *chain_stages.ends(rows),
                             evidence=(*places, *chain_stages.places(rows))))  # fmt: skip
        left -= some
    if left:
        unknown = chain_stages.gap(_TAKEN, Whereabouts.UNKNOWN, rows, say("not-in-log", who=who), who)
        found.append(replace(unknown, messages=left, low=left, high=left))
    return tuple(found)


def _pending(facts: Facts, topic: str, ledgers: Sequence[str]) -> tuple[int, str, list[Evidence]]:
    """Records behind the last one of each partition that the ledgers note."""
    handled: dict[str, int] = {}
    for part in facts.parts:
        if part.source in ledgers and part.topic == topic and part.queue and part.last_offset is not None:
            handled[part.queue] = max(handled.get(part.queue, -1), part.last_offset)
    positions = [p for p in facts.positions if p.topic == topic and p.queue in handled and p.end is not None]
    ends = {p.queue: p for p in sorted(positions, key=lambda p: (p.end or 0, p.source, p.line or 0))}
    many = sum(max(0, (ends[queue].end or 0) - handled[queue] - 1) for queue in ends)
    places = [p.evidence.because("") for p in (ends[queue] for queue in handled if queue in ends)]
    return many, say("pending"), places


def _refused(facts: Facts, bridge: Sequence[str]) -> tuple[int, str, list[Evidence]]:
    """Records that the processes of the bridge say they could not store: lines, else their own counters of failures."""
    clients = set(chain_stages.names(facts, bridge))
    logs = {e.source for e in facts.of_kind(*chain_stages.MQTT_CLIENT) if e.client_id in clients}
    lines = [e for e in facts.of_kind(*_REFUSED) if e.client_id in clients or e.source in logs]
    counters = [s for s in facts.named("app.failed") if s.source in logs]
    counted = increase(counters, -inf, inf)
    by_kind = Counter(dict.fromkeys(_REFUSED, 0))
    for one in lines:
        by_kind[one.kind] += one.count
    # An application tells of a failed send in a line of its own above the error: both are about one record.
    from_lines = max(by_kind[_SEND], sum(by_kind.values()) - by_kind[_SEND])
    from_counters = round(counted.value) if counted else 0
    return max(from_lines, from_counters), say("refused-by-log"), [e.first for e in lines[:2]]


@per_facts
def chains(facts: Facts) -> tuple[Chain, ...]:
    """One for each topic of a log whose readers handle what was published to MQTT; by topic."""
    far = chain_stages.log_ledgers(facts)
    topics = {far[source] for flow in facts.flows for source, _ in flow.received if source in far}
    found = [_chain(facts, topic) for topic in sorted(topics)]
    return tuple(found) if found else counted_chains(facts)


@per_facts
def within_mqtt(facts: Facts) -> Chain | None:
    """The way from publishers to receivers of MQTT; None where no publisher's ledger notes ids.

    Receivers that share messages have a stage together, others one each.
    """
    if not any(flow.sender for flow in facts.flows):
        return None
    far = set(chain_stages.log_ledgers(facts))
    rows = tuple(_without(row, far) for row in facts.flows)
    stages = list(chain_stages.stages(facts, rows, (), {}))
    gaps = list(chain_stages.refused(settled(facts, facts.flows)))
    for takers in chain_stages.sharing(rows):
        own = tuple(_without(row, far) for row in _bridged(facts, takers, ()))
        stages.append(chain_stages.taken(facts, own, takers))
        gaps += whereabouts(facts, chain_stages.missing(settled(facts, own), takers), takers)
    beside = notes(facts, rows, rows, chain_stages.receivers(rows))
    return Chain(None, None, (), "ids", tuple(stages), tuple(gaps), beside)


@per_facts
def ways(facts: Facts) -> tuple[Chain, ...]:
    """Every chain, and the way within MQTT where some receiver has no part in a chain; none of a time cut out."""
    if not facts.whole:
        return ()
    over = chains(facts)
    inside = within_mqtt(facts)
    known = {share.place for chain in over for stage in chain.stages for share in stage.shares}
    places = {share.place for stage in inside.stages for share in stage.shares} if inside else set()
    return (*over, inside) if inside and (not over or places - known) else over


def _chain(facts: Facts, topic: str) -> Chain:
    readers = chain_stages.readers(facts, topic)
    far = [source for own in readers.values() for source in own]
    bridge = chain_stages.bridges(facts, facts.flows, far)
    rows = _bridged(facts, bridge, far)
    stages = chain_stages.stages(facts, rows, bridge, readers)
    system = "rocketmq" if any("/" in t.queue for t in facts.tallies if t.topic == topic) else "kafka"
    gaps = _gaps_of_chain(facts, rows, topic, bridge, readers)
    beside = notes(facts, rows, facts.flows, (*bridge, *far))
    return Chain(system, topic, chain_stages.names(facts, bridge), "ids", stages, gaps, beside)


def _bridged(facts: Facts, bridge: Sequence[str], far: Sequence[str]) -> tuple[Row, ...]:
    """Messages that are the bridge's to take: of topics that match its filters, else of topics of which it took any."""
    ids = {client for source in bridge if (client := client_of(facts, source))}
    filters = {subscription.filter for subscription in subscriptions(facts) if subscription.client_id in ids}
    rows = facts.topic_flows
    known = {row.topic for row in rows if chain_stages.noted(row, (*bridge, *far))}
    own = {
        row.topic for row in rows
        if row.topic is None or row.topic in known or any(matches(name, row.topic) for name in filters)
    }  # fmt: skip
    if all(row.topic in own for row in facts.topic_flows):
        return facts.flows
    return tuple(row for row in facts.topic_flows if row.topic in own)


def _gaps_of_chain(
    facts: Facts, rows: Rows, topic: str, bridge: Sequence[str], readers: Mapping[str, Sequence[str]]
) -> tuple[Gap, ...]:
    far = [source for own in readers.values() for source in own]
    takers = (*bridge, *far)
    rows = settled(facts, rows)
    found = [*chain_stages.refused(rows)]
    found += whereabouts(facts, chain_stages.missing(rows, takers), bridge or far)
    for reader in readers.items() if bridge else ():
        unread = [r for r in chain_stages.missing(rows, reader[1]) if chain_stages.noted(r, takers)]
        found += whereabouts_in_log(facts, unread, topic, reader, bridge)
    return tuple(found)


def _without(row: Row, ledgers: set[str]) -> Row:
    return replace(row, received=tuple((source, n) for source, n in row.received if source not in ledgers))
