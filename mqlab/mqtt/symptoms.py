"""What is out of the ordinary in MQTT's material: bad ends of connections, copies, messages that are missing or wait.

Access rules and full queues leave no line at most brokers, so what is missing, waits or has no answer may be all that
is seen of them. Which classes account for it stands in the catalogue.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from mqlab import words
from mqlab.facts import Episode, Facts
from mqlab.memo import per_facts
from mqlab.mqtt import absences, connections, denials, flapping
from mqlab.mqtt import brokers as mqtt_brokers
from mqlab.mqtt.accounting import accounts
from mqlab.mqtt.brokers import LEAST, brokers
from mqlab.mqtt.copies import client_of, distinct, name_of, subscribers
from mqlab.mqtt.explained import ABSENT, explained, unheard
from mqlab.mqtt.sessions import BEGIN, END, offline_sessions
from mqlab.rows import Flow
from mqlab.words import Text
from mqlab.words.filling import Value

say = words.room("mqtt-symptoms")

SINGLE = dict.fromkeys(("connection-lost", "ping-unanswered", "session-takeover", "client-disconnected"), 3)
"""Events that any disturbance leaves, up to so many."""
NOTICED = frozenset({"connection-lost", "ping-unanswered", "client-disconnected"})
"""Events that clients print when a broker is restarted in good order."""
_BROKEN = frozenset({"keep-alive", "queue-killed", "frame-too-large", "protocol-error", "not-authorized", "kicked"})
"""Ends of connections that are no good-bye, no restart, and no other connection's doing."""
_ENDS = frozenset({"client-disconnected", "connection-lost"})
SHARE = 0.02
"""Share of a client's messages from which copies or gaps are more than one lost connection leaves: such costs at most
a window of 20 messages (max_inflight_messages), which are this share of a thousand."""
WINDOW = 20
"""Messages that a client has under way unacknowledged by default (paho and libmosquitto: max_inflight_messages)."""
_TOP = 0.9
"""Share of the most that a broker stored from which on it still stores it: a queue that is read falls further.
Judgement, no default behind it."""

Symptoms = Iterator[tuple[float | None, Text]]
"""Since when, where that is known, and what."""


def abnormal(facts: Facts, episode: Episode) -> bool:
    """False for a connection that ended in one of the ordinary ways, and for a kept session that is used again.

    A connection that the broker closed for a refusal is no trouble beside the refusal, which is; nor is one that an
    idle limit ended (``cut_off_when_idle``).
    """
    if episode.kind in _ENDS and denials.closes(facts, episode.client_id, episode.first_at):
        return False
    if episode.kind == "session-takeover":
        return episode not in connections.resumed(facts)
    if episode.kind == "connection-lost":
        return not flapping.is_by_limit(facts, episode)
    return episode.kind != "client-disconnected" or episode.reason in _BROKEN


def copies(facts: Facts) -> Symptoms:
    """Messages that came to a client more than once, without a flag that says why."""
    for ledger in subscribers(facts):
        if ledger.unflagged >= max(LEAST, SHARE * ledger.rows) and not denials.sent_again(facts, ledger.copied()[0].at):
            again = [f for f in facts.flows if dict(f.received).get(ledger.source, 0) > 1]
            at = max(ledger.copied()[0].at, min((f.first_at for f in again), default=0.0))
            twice, messages = sum(f.messages for f in again), distinct(facts, ledger.source)
            yield at, say("copies", at=at, again=twice, messages=messages, client=ledger.client)


def cut_off_when_idle(facts: Facts) -> Symptoms:
    """Idle limits that end connections; no class is about them."""
    for idle in flapping.idle(facts):
        yield (
            idle.since,
            say(
                "idle",
                at=idle.since,
                clients=[client.client_id for client in idle.clients],
                lasted=idle.clients[0].life,
                limit=f"{idle.limit.key} {idle.limit.value} ({idle.limit.source}:{idle.limit.line})",
                keep_alive=min((client.keep_alive for client in idle.clients if client.keep_alive), default=None),
            ),
        )


def missing(facts: Facts) -> Symptoms:
    """Messages that are lost, and counters of brokers that say so."""
    lost = [*_topics_lost(facts), *_missed(facts)] or [*_noted_by_nobody(facts)]
    for at, what in (*lost, *_dropping(facts), *_unanswered(facts), *_uncounted(facts)):
        yield at, say("at", at=at, what=what)


def _topics_lost(facts: Facts) -> Symptoms:
    """Messages that came to nobody: whole topics beside others that came."""
    for sender in sorted({f.sender for f in facts.topic_flows if f.sender is not None}):
        own = [f for f in facts.topic_flows if f.sender == sender and f.topic is not None]
        known = {f.topic for f in own if f.received or f.failed}
        silent = [f for f in own if f.topic not in known]
        count = sum(f.messages for f in silent)
        if count >= LEAST and any(f.received for f in own):
            topics, who = len({f.topic for f in silent}), name_of(facts, sender)
            yield min(f.first_at for f in silent), say("topics-lost", messages=count, topics=topics, sender=who)


def _missed(facts: Facts) -> Symptoms:
    """Parts of what a receiver should get."""
    lost = {a.name: set(a.lost).difference(unheard(facts, a)) for a in accounts(facts)}
    for funnel in explained(facts):
        rest = 0.0 if funnel.unknown else funnel.steps[-1].messages.low
        if rest >= max(LEAST, SHARE * funnel.published):
            away = sum(s.messages.likely for s in funnel.steps if s.name == ABSENT)
            there = round(funnel.published - away) if away else None
            values = {"missing": round(rest), "messages": funnel.published, "there": there}
            told = say("missed", receiver=funnel.receiver, **values)
            yield min((r.first_at for r in lost[funnel.receiver]), default=None), told


def absent(facts: Facts) -> Symptoms:
    """Parts of what a receiver should get that were published while it was not connected, and that nobody kept."""
    for account in (account for account in accounts(facts) if account.counted):
        rows = unheard(facts, account)
        many = sum(r.messages for r in rows)
        if many >= max(LEAST, SHARE * account.published):
            away = absences.spans(facts, account.clients, [(r.first_at, r.last_at) for r in rows])
            times = [say("absence", since=a.since, until=a.until, restarted=a.restarted) for a in away]
            gone = (f for own in _by_sender(facts).values() for f in own if not f.received)
            nobody = many <= sum(f.messages for f in gone if _is_absent(facts, f))
            at = min(r.first_at for r in rows)
            who = {"receiver": account.name, "times": times, "nobody": nobody}
            yield at, say("at", at=at, what=say("absent", missing=many, messages=account.published, **who))


def _is_absent(facts: Facts, flow: Flow) -> bool:
    """Published while no receiver with a ledger was connected that should have got such."""
    clients = _for_whom(facts).get(flow.sender)
    return bool(clients) and bool(absences.meanwhile(facts, clients or (), flow.first_at, flow.last_at))


@per_facts
def _for_whom(facts: Facts) -> Mapping[str | None, set[str]]:
    """Publisher's ledger → the clients with ledgers that should have got anything of it."""
    found: dict[str | None, set[str]] = defaultdict(set)
    for account in (account for account in accounts(facts) if account.counted):
        for sender in {row.sender for row in account.rows}:
            found[sender].update(account.clients)
    return found


def _noted_by_nobody(facts: Facts) -> Symptoms:
    """Where nothing tells who subscribed to what: messages in no ledger, before the last one that came."""
    for sender, flows in _by_sender(facts).items():
        own = [f for f in flows if not f.failed]
        end = max((f.last_at for f in own if f.received), default=0.0)
        gone = [f for f in own if not f.received and f.last_at < end and not _is_absent(facts, f)]
        yield from _part(facts, sender, gone, own, "in-no-ledger")


def _part(facts: Facts, sender: str, some: Sequence[Flow], own: Sequence[Flow], key: str, **values: Value) -> Symptoms:
    """A good part of a publisher's messages, of which the text *key* tells."""
    count, sent = sum(f.messages for f in some), sum(f.messages for f in own)
    if count >= max(LEAST, SHARE * sent):
        told = say(key, part=count, messages=sent, sender=name_of(facts, sender), **values)
        yield min(f.first_at for f in some), told


def _dropping(facts: Facts) -> Symptoms:
    """Counters of brokers that say that messages were dropped."""
    for series in facts.named("mqtt.publish_dropped", "mqtt.queue_full_dropped"):
        rose = mqtt_brokers.increase(series, BEGIN, END) or 0.0
        if rose >= LEAST:
            first, begin = series.points[0]
            at = next((at for at, value in series.points if value > begin), first)
            yield at, say("dropping", counter=series.original, by=round(rose))


def waiting(facts: Facts) -> Symptoms:
    """Brokers that store more and more to the end beside retained messages, and no session that is away is known."""
    for name in (broker.name for broker in brokers(facts)):
        stored = mqtt_brokers.gauge(facts, "mqtt.stored_messages", name)
        kept = mqtt_brokers.gauge(facts, "mqtt.retained_messages", name)
        if stored is None or kept is None:
            continue
        queued = [(at, value - (mqtt_brokers.value(kept, at) or kept.points[0][1])) for at, value in stored.points]
        most, last = max(count for _, count in queued), queued[-1][1]
        if last < max(LEAST, _TOP * most) or last - queued[0][1] < LEAST:
            continue
        half = next(at for at, count in queued if 2 * count >= last)
        if not any(s.broker in (name, None) and s.since <= half for s in offline_sessions(facts)):
            at = next(at for at, count in queued if count >= LEAST)
            yield at, say("waiting", at=at, messages=round(last), broker=name)


def _unanswered(facts: Facts) -> Symptoms:
    """Publishers of which a good part of the messages has no acknowledgement: they wait, or could not be sent.

    Where others came ever later, the way to the broker is too slow for them.
    """
    for sender, own in _by_sender(facts).items():
        took = max((p.most - p.least for p in facts.passages if p.sender == sender), default=0.0)
        late = round(took) if took >= LEAST else None
        yield from _part(facts, sender, [f for f in own if f.failed], own, "unanswered", late=late)


def _uncounted(facts: Facts) -> Symptoms:
    """The same for clients without a ledger, whose logs count what they published and what was acknowledged."""
    noted = {client_of(facts, sender) for sender in _by_sender(facts)}
    for sent in facts.named("app.published"):
        client = client_of(facts, sent.source)
        acked = [s for s in facts.named("app.acknowledged") if s.source == sent.source]
        if client in noted or len(acked) != 1:
            continue
        gaps = [(at, count - (mqtt_brokers.value(acked[0], at) or 0.0)) for at, count in sent.points]
        grows = len(gaps) > 2 and all(a[1] <= b[1] for a, b in pairwise(gaps))
        if grows and gaps[-1][1] >= max(WINDOW, SHARE * sent.points[-1][1]) and gaps[0][1] < gaps[-1][1]:
            who, part, every = client or sent.source, round(gaps[-1][1]), round(sent.points[-1][1])
            yield gaps[0][0], say("uncounted", part=part, messages=every, sender=who)


@per_facts
def _by_sender(facts: Facts) -> Mapping[str, list[Flow]]:
    found: dict[str, list[Flow]] = defaultdict(list)
    for flow in facts.flows:
        if flow.sender is not None:
            found[flow.sender].append(flow)
    return {sender: found[sender] for sender in sorted(found)}
