"""Messages that a receiver did not note and that are no loss of it, or of which a finding says how they were lost.

Others of its share group took them, it was not subscribed or not connected when they were published, or its ledger
begins behind them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from mqlab import words
from mqlab.facts import Facts
from mqlab.findings import Finding
from mqlab.models.mqtt import shared
from mqlab.mqtt import absences, chain_stages
from mqlab.mqtt.accounting import settled
from mqlab.mqtt.chain_stages import Chain, Gap, Row, Rows, Step, Whereabouts
from mqlab.mqtt.copies import client_of
from mqlab.mqtt.sessions import sessions
from mqlab.mqtt.subscriptions import Subscription, subscriptions

say = words.room("chain")

ROUNDED = 1.0
"""Seconds: brokers print whole ones, so that a client may be away that much earlier than its line says."""
_SHOWN = 4
"""Lines about absences."""
_OF_CONNECTIONS = frozenset({"client-id-takeover", "rate-limit-flapping", "reconnect-flaky-link", "reconnect-storm"})
"""Classes that count what was lost while connections were down: absences tell of the same messages."""
BETWEEN = (Step.ACKNOWLEDGED, Step.TAKEN)


def apart(facts: Facts, rows: Sequence[Row], takers: Sequence[str]) -> tuple[list[Gap], list[Row]]:
    """Those of *rows*, which none of the ledgers *takers* notes, that are no loss of theirs, and the others."""
    names = ", ".join(chain_stages.names(facts, takers))
    begin = _first_noted(facts, takers)
    spans = _subscribed(facts, takers)
    came = None if spans else _first_session(facts, takers)
    partners = _partners(facts, rows, takers)
    found, left = _absent(facts, rows, takers)
    kinds: tuple[tuple[Whereabouts, str, str, Callable[[Row], bool]], ...] = (
        (Whereabouts.SHARED, ", ".join(chain_stages.names(facts, partners)), "shared",
         lambda row: chain_stages.noted(row, partners) > 0),
        (Whereabouts.UNSUBSCRIBED, names, "unsubscribed",
         lambda row: _too_early(row, came) or (bool(spans) and all(_outside(row, one) for one in spans))),
        (Whereabouts.BEFORE_BEGIN, names, "before-begin",
         lambda row: not spans and begin is not None and row.last_at < begin),
    )  # fmt: skip
    for where, who, how, fits in kinds:
        own = [row for row in left if fits(row)]
        left = [row for row in left if not fits(row)]
        found += [chain_stages.gap(BETWEEN, where, own, say(how), who)] if own else []
    return found, left


def _absent(facts: Facts, rows: Sequence[Row], takers: Sequence[str]) -> tuple[list[Gap], list[Row]]:
    """Those that were published while nobody was connected who keeps or shares *takers*, without a kept session."""
    clients = {client_of(facts, source) or "" for source in takers} | _members(facts, takers)
    missed = {row for row in rows if absences.meanwhile(facts, clients, row.first_at, row.last_at)}
    own = [row for row in rows if row in missed]
    if not own:
        return [], list(rows)
    away = absences.spans(facts, clients, [(row.first_at, row.last_at) for row in own])
    how = say("absent", times=[say("absence", since=a.since, until=a.until, restarted=a.restarted) for a in away])
    gap = chain_stages.gap(BETWEEN, Whereabouts.ABSENT, own, how, ", ".join(chain_stages.names(facts, takers)))
    places = tuple(place for absence in away for place in absence.evidence)[:_SHOWN]
    return [replace(gap, evidence=(*places, *gap.evidence))], [row for row in rows if row not in missed]


def _first_noted(facts: Facts, takers: Sequence[str]) -> float | None:
    return min((flow.first_at for flow in facts.flows if chain_stages.noted(flow, takers)), default=None)


def _subscribed(facts: Facts, takers: Sequence[str]) -> Sequence[Subscription]:
    """The subscriptions of those who keep *takers*; none where those of some are not known."""
    clients = {client_of(facts, source) for source in takers}
    own = [s for s in subscriptions(facts) if s.client_id in clients]
    return own if clients == {s.client_id for s in own} else ()


def _first_session(facts: Facts, takers: Sequence[str]) -> float | None:
    """When the first of those who keep *takers* connected for the first time, each without a session from before."""
    clients = {client_of(facts, source) for source in takers}
    own = [session for session in sessions(facts) if session.client_id in clients]
    firsts = {session.client_id: session for session in reversed(own)}
    clean = all(session.connections[0].persistent is False for session in firsts.values())
    known = clients == set(firsts) and clean and all(s.broker is not None for s in own)
    return min((session.since for session in own), default=None) if known else None


def _too_early(row: Row, came: float | None) -> bool:
    return came is not None and row.last_at <= came + ROUNDED


def _outside(row: Row, one: Subscription) -> bool:
    return row.last_at <= one.since + ROUNDED or row.first_at >= one.until


def _members(facts: Facts, takers: Sequence[str]) -> set[str]:
    """Clients of the share groups of those who keep *takers*."""
    every = [s for s in subscriptions(facts) if shared(s.filter)[0] is not None]
    clients = {client_of(facts, source) for source in takers}
    groups = {s.filter for s in every if s.client_id in clients}
    return {s.client_id for s in every if s.filter in groups}


def _partners(facts: Facts, rows: Iterable[Row], takers: Sequence[str]) -> Sequence[str]:
    """Other receivers' ledgers of clients that share messages with those who keep *takers*."""
    members = _members(facts, takers)
    others = {source for row in rows for source, _ in row.received} - set(takers)
    return sorted(source for source in others if client_of(facts, source) in members)


def explained(chains: Sequence[Chain], findings: Sequence[Finding]) -> tuple[Chain, ...]:
    """*chains* with what *findings* about MQTT count as lost, where it is not known where it is.

    Only where it is all missing at one place, and nothing is counted as thrown away, which may be the same messages.
    """
    return tuple(_explained(chain, findings) for chain in chains)


def _explained(chain: Chain, findings: Sequence[Finding]) -> Chain:
    open_ = [gap for gap in chain.gaps if gap.where is Whereabouts.UNKNOWN and gap.before is Step.TAKEN]
    if len(open_) != 1 or any(gap.where is Whereabouts.DROPPED for gap in chain.gaps):
        return chain
    (gap,) = open_
    others = {stage.who for stage in chain.stages if stage.step is Step.TAKEN} - {gap.who}
    absent = any(gap.where is Whereabouts.ABSENT for gap in chain.gaps)
    counting = [f for f in findings if not (absent and f.incident in _OF_CONNECTIONS)]
    own = [f for f in counting if f.measures.get("lost_records") and f.subject not in others]
    many = round(sum(f.measures["lost_records"] for f in own))
    if not 0 < many <= gap.messages:
        return chain
    classes = sorted({f.incident for f in own})
    gone = replace(gap, where=Whereabouts.LOST, who=", ".join(classes), messages=many, low=many, high=many,
                   how=say("counted-by", classes=classes))  # fmt: skip
    rest = gap.messages - many
    left = [replace(gap, messages=rest, low=max(0, gap.low - many), high=gap.high - many)] if rest else []
    gaps = (*(one for one in chain.gaps if one is not gap), gone, *left)
    return replace(chain, gaps=gaps)


def notes(facts: Facts, rows: Rows, every: Rows, takers: Sequence[str]) -> tuple[str, ...]:
    """What the stages leave out: messages that only receivers note, and topics of which nobody took any.

    And what brokers received without telling their publishers in time.
    """
    beside = sum(row.messages for row in rows if row.sender is None and chain_stages.noted(row, takers))
    late = min(beside, _late(facts, takers))
    other = chain_stages.count(r for r in every if r.sender) - chain_stages.count(r for r in rows if r.sender)
    proven = chain_stages.count(r for r, now in zip(rows, settled(facts, rows), strict=True) if r.failed != now.failed)
    told = {"late": late, "beside": beside - late, "elsewhere": other, "settled": proven}
    return tuple(say(key, messages=many) for key, many in told.items() if many)


def _late(facts: Facts, takers: Sequence[str]) -> int:
    """Messages that only *takers* note, on topics of which all publishers' ledgers had ended before."""
    ended: dict[str, float] = {}
    publishers = defaultdict(set)
    for row in facts.topic_flows:
        if row.sender is not None:
            ended[row.sender] = max(ended.get(row.sender, row.last_at), row.last_at)
            publishers[row.topic].add(row.sender)
    beside = [row for row in facts.topic_flows if row.sender is None and row.topic and chain_stages.noted(row, takers)]
    known = [row for row in beside if row.topic in publishers]
    return sum(row.messages for row in known if row.first_at > max(ended[s] for s in publishers[row.topic]))
