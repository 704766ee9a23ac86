"""What became of messages on their way from an MQTT broker over a bridge to a log: how many are where, how known.

Where ledgers share ids every message is followed; else counters and offsets are compared. Where there is no bridge, the
way ends at the receivers of MQTT.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf

from mqlab import words
from mqlab.facts import Episode, Facts, Series
from mqlab.findings import Evidence
from mqlab.memo import per_facts
from mqlab.models.mqtt import matches
from mqlab.mqtt import brokers, chain_stages, queue_drops
from mqlab.mqtt.accounting import settled
from mqlab.mqtt.brokers import SKEW, broker_of
from mqlab.mqtt.chain_apart import BETWEEN, ROUNDED, apart, notes
from mqlab.mqtt.chain_counts import counted_chains
from mqlab.mqtt.chain_stages import Chain, Gap, Row, Rows, Step, Whereabouts, away, unseen
from mqlab.mqtt.copies import client_of
from mqlab.mqtt.sessions import END, bridges, sessions
from mqlab.mqtt.subscriptions import Subscription, subscriptions
from mqlab.rows import TopicFlow
from mqlab.shared.counters import increase
from mqlab.shared.wording import sample
from mqlab.words import Text

say = words.room("chain")

FOR_NOBODY = "for-nobody"
"""The note that says how many were published on topics that are no receiver's."""
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
            *_queued(facts, queued, waiting, takers, chain_stages.count(rows) if unseen(facts, takers) else unsure),
            *found,
        ]
    if late:
        names = chain_stages.names(facts, takers)
        how = say("after-end", ledgers=len(takers))
        found.append(chain_stages.gap(BETWEEN, Whereabouts.AFTER_END, late, how, ", ".join(names)))
    return (*found, *elsewhere)


def _queued(
    facts: Facts, rows: Sequence[Row], waiting: Sequence[Subscription], takers: Sequence[str], unsure: int
) -> list[Gap]:
    """What was published since the clients have been away, and was not taken: it waits for them, or was thrown away."""
    begin = min(subscription.away[-1][0] for subscription in waiting)
    clients = sorted({subscription.client_id for subscription in waiting})
    many = chain_stages.count(rows)
    drops = _thrown(facts, begin, END, clients, many)
    if drops is not None and drops.low < drops.likely == many:
        drops = None  # a queue may be full of what still waits
    kept = many - (round(drops.likely) if drops else 0)
    stored = [s for s in _told(facts, STORED, clients) if s.points[0][0] <= begin < s.points[-1][0]]
    who = ", ".join(chain_stages.names(facts, takers))
    low, how = max(0, kept - unsure), say("queued", who=who)
    if stored:
        grown = round(sum(s.points[-1][1] - (brokers.value(s, begin) or 0.0) for s in stored))
        low = max(0, min(kept, grown))
        how = say("queued", who=who, stored=grown, at=max(s.points[-1][0] for s in stored))
    gone = [end for one in waiting if one.session is not None and (end := one.session.last.end) is not None]
    places = (*dict.fromkeys((*gone, *_samples(facts, STORED, clients))), *chain_stages.places(rows))
    queue = Gap(*BETWEEN, Whereabouts.QUEUED, ", ".join(clients), kept, low, many, how, *chain_stages.ends(rows),
                begin, places)  # fmt: skip
    return [queue, *_dropped(facts, drops, rows, clients)]


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
    series = _told(facts, DROPPED, clients)
    rose = increase(series, since, until) if not named or named & set(clients) else None
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
        stands = sum(one.points[0][1] + _steps(one) for one in series)
        most = min(float(many), stands or inf)
        how = say("dropped-stands", dropped=round(stands)) if stands else say("dropped-uncounted")
        here = sum(e.first_at is None or since - SKEW <= e.first_at <= until + SKEW for e in lines)
        return _Drops(min(most, here), most, most, lines, how)
    return None


def _own_count(facts: Facts, case: queue_drops.QueueCase) -> float:
    """What the last list or the broker's lines count for this client alone; 0 where neither does."""
    listed = float(case.row.dropped or 0) if case.row is not None else 0.0
    return listed or queue_drops.by_lines(facts, case) or 0.0


def _dropped(facts: Facts, drops: _Drops | None, rows: Sequence[Row], clients: Sequence[str]) -> list[Gap]:
    if drops is None:
        return []
    places = (*(e.first for e in drops.lines[:2]), *_samples(facts, DROPPED, clients))
    who = ", ".join(sorted({e.client_id for e in drops.lines if e.client_id}))
    low, likely, high = round(drops.low), round(drops.likely), round(drops.high)
    return [Gap(*BETWEEN, Whereabouts.DROPPED, who, likely, low, high, drops.how, *chain_stages.ends(rows),
                evidence=places)]  # fmt: skip


def _steps(series: Series) -> float:
    """How much a counter rose; what it shows after a fall it has counted since a new start."""
    return sum(now - before if now >= before else now for (_, before), (_, now) in pairwise(series.points))


def _told(facts: Facts, name: str, clients: Sequence[str]) -> list[Series]:
    """The series of that name, of the brokers at which *clients* have sessions, or of any where nothing tells these."""
    own = {session.broker for session in sessions(facts) if session.client_id in clients}
    told = ((s, brokers.broker_of(facts, s.source)) for s in facts.named(name) if s.points)
    return [series for series, broker in told if not own or None in (*own, broker) or broker in own]


def _samples(facts: Facts, name: str, clients: Sequence[str]) -> list[Evidence]:
    """The last sample of each series of that name."""
    why = say("stored-line" if name == STORED else "dropped-line")
    return [sample(facts, s, s.points[-1][0], why) for s in _told(facts, name, clients)]


def _lost(facts: Facts, rows: Sequence[Row], takers: Sequence[str]) -> list[Gap]:
    """Messages for which no session waits: as many as the broker counts as thrown away, and the others."""
    first, last = chain_stages.ends(rows)
    if first is None or last is None:
        return []
    own, others = chain_stages.names(facts, takers), unseen(facts, takers)
    many = chain_stages.count(rows)
    queues = (*own, *_on_the_way(facts, rows, own))
    exposed = _exposed(facts, rows, queues)
    since = min((row.first_at for row in exposed), default=first)
    drops = _thrown(facts, since, last, queues, chain_stages.count(exposed)) if exposed else None
    rest = many - (round(drops.likely) if drops else 0)
    several = len({series.source for series in facts.named(STORED)}) > 1
    stored = [
        say(
            "store", stored=round(s.points[-1][1]), broker=(broker_of(facts, s.source) or s.source) if several else None
        )
        for s in _told(facts, STORED, own)
    ]
    how = say("nowhere", who=", ".join(own), stored=stored, others=others)
    where, who = (Whereabouts.SHARED, others) if others else (Whereabouts.UNKNOWN, own)
    left = chain_stages.gap(BETWEEN, where, rows, how, ", ".join(who))
    sure = many - chain_stages.count(exposed) if drops else rest
    left = replace(left, messages=rest, low=0 if others else sure, high=many - round(drops.low) if drops else rest)
    return [*_dropped(facts, drops, exposed, queues), *([left] if rest else [])]


def _on_the_way(facts: Facts, rows: Sequence[Row], clients: Sequence[str]) -> list[str]:
    """The bridges of the brokers to which *rows* were published, where *clients* are at others."""
    publishers = {client_of(facts, sender) for sender in {row.sender for row in rows} if sender is not None}
    here, there = (
        {session.broker for session in sessions(facts) if session.client_id in names} for names in (publishers, clients)
    )
    return [client for broker, client in bridges(facts) if broker in here - there]


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
    """Records behind the last one of each partition that the ledgers note, as far as the log or producers tell."""
    handled: dict[str, int] = {}
    for part in facts.parts:
        if part.source in ledgers and part.topic == topic and part.queue and part.last_offset is not None:
            handled[part.queue] = max(handled.get(part.queue, -1), part.last_offset)
    positions = [p for p in facts.positions if p.topic == topic and p.queue in handled and p.end is not None]
    ends = {p.queue: p for p in sorted(positions, key=lambda p: (p.end or 0, p.source, p.line or 0))}
    found = {queue: (p.end or 0, p.evidence.because("")) for queue, p in ends.items()}
    acks = chain_stages.acknowledging(facts, topic)
    for part in (part for part in facts.parts if part.source in acks and part.queue in handled):
        if part.last_offset is not None and part.last_offset >= found.get(part.queue, (0, part.last))[0]:
            found[part.queue] = (part.last_offset + 1, part.last.because(""))
    many = sum(max(0, end - handled[queue] - 1) for queue, (end, _) in found.items())
    return many, say("pending"), [found[queue][1] for queue in handled if queue in found]


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
    far = chain_stages.elsewhere(facts)
    rows = tuple(chain_stages.without(row, far) for row in facts.flows)
    stages = list(chain_stages.stages(facts, rows, (), {}))
    gaps = list(chain_stages.refused(settled(facts, facts.flows)))
    for takers in chain_stages.sharing(rows):
        own = tuple(chain_stages.without(row, far) for row in _bridged(facts, takers, ()))
        if not chain_stages.count(r for r in own if r.sender):
            continue
        stages.append(chain_stages.taken(facts, own, takers))
        gaps += whereabouts(facts, chain_stages.missing(settled(facts, own), takers), takers)
    beside = notes(facts, rows, rows, chain_stages.receivers(rows))
    return Chain(None, None, (), "ids", tuple(stages), tuple(gaps), (*beside, *_for_nobody(facts, rows)))


def _for_nobody(facts: Facts, rows: Sequence[Row]) -> list[Text]:
    """How many messages were published on topics that are no receiver's."""
    groups = chain_stages.sharing(rows)
    theirs = {row.topic for takers in groups for row in _on_own_topics(facts, takers, ())}
    left = chain_stages.count(r for r in facts.topic_flows if r.sender and r.topic not in theirs)
    return [say(FOR_NOBODY, messages=left)] if groups and left else []


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
    acks = chain_stages.acknowledging(facts, topic)
    taken = [chain_stages.without(row, chain_stages.acknowledging(facts)) for row in facts.flows]
    bridge = chain_stages.bridges(facts, taken, far) or chain_stages.bridges(facts, facts.flows, far)
    rows = _bridged(facts, bridge, (*far, *acks))
    stages = chain_stages.stages(facts, rows, bridge, readers, acks)
    system = "rocketmq" if any("/" in t.queue for t in facts.tallies if t.topic == topic) else "kafka"
    gaps = _gaps_of_chain(facts, rows, topic, bridge, readers)
    beside = notes(facts, rows, facts.flows, (*bridge, *far, *acks))
    return Chain(system, topic, chain_stages.names(facts, bridge), "ids", stages, gaps, beside)


def _bridged(facts: Facts, bridge: Sequence[str], far: Sequence[str]) -> tuple[Row, ...]:
    """Messages that are the bridge's to take; by time where that is all of them, else by topic."""
    own = _on_own_topics(facts, bridge, far)
    return facts.flows if len(own) == len(facts.topic_flows) else own


def _on_own_topics(facts: Facts, bridge: Sequence[str], far: Sequence[str]) -> tuple[TopicFlow, ...]:
    """Messages of topics that match the filters of the *bridge*, or of which it took any."""
    ids = {client for source in bridge if (client := client_of(facts, source))}
    filters = {subscription.filter for subscription in subscriptions(facts) if subscription.client_id in ids}
    rows = facts.topic_flows
    known = {row.topic for row in rows if chain_stages.noted(row, (*bridge, *far))}
    own = {row.topic for row in rows if row.topic and any(matches(name, row.topic) for name in filters)} | known
    return tuple(row for row in rows if row.topic in own)


def _gaps_of_chain(
    facts: Facts, rows: Rows, topic: str, bridge: Sequence[str], readers: Mapping[str, Sequence[str]]
) -> tuple[Gap, ...]:
    far = [source for own in readers.values() for source in own]
    takers = (*bridge, *far, *chain_stages.acknowledging(facts, topic))
    rows = settled(facts, rows)
    found = [*chain_stages.refused(rows)]
    found += whereabouts(facts, chain_stages.missing(rows, takers), bridge or far)
    for reader in readers.items() if bridge else ():
        unread = [r for r in chain_stages.missing(rows, reader[1]) if chain_stages.noted(r, takers)]
        found += whereabouts_in_log(facts, unread, topic, reader, bridge)
    return tuple(found)
