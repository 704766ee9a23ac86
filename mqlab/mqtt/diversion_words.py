"""What is told of a share group whose dead members get messages: the statement, the places, what is around it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mqlab import units
from mqlab.facts import Facts
from mqlab.findings import Evidence
from mqlab.mqtt import gauges, software
from mqlab.mqtt.diverted import Diversion
from mqlab.mqtt.sessions import BEGIN
from mqlab.mqtt.subscriptions import Subscription
from mqlab.questions.wording import clock, sample

_SHOWN = 4


def away_since(one: Diversion) -> float | None:
    """When the first member went away; None where it was away before the material."""
    begin = min((a for m in one.group.members for a, _ in m.away), default=BEGIN)
    return None if begin == BEGIN else begin


def statement(facts: Facts, one: Diversion) -> str:
    """Two or three sentences: who is away, what it gets, what is missing elsewhere."""
    last = one.phases[-1]
    who = ", ".join(sorted({client for p in one.phases for client in p.dead}))
    since = away_since(one)
    when = f"since {clock(since)}" if since is not None else "all the time"
    broker = software.software(facts, one.group.broker) or "the broker"
    text = (
        f"{who} is not connected {when}, but its session is still a member of the share group {one.group.name}: "
        f"{broker} deals {len(last.dead)} of {len(last.members)} messages of {one.group.filter} to sessions that "
        "nobody reads."
    )
    return f"{text} {_counted(one)}{_alone(one)}"


def _counted(one: Diversion) -> str:
    if one.missing is not None:
        sent, missing, law = (units.number(round(n)) for n in (one.published, one.missing.likely, one.expected.likely))
        text = (
            f"Of {sent} messages published meanwhile {missing} reached no living member, by their ids; "
            f"the rule says {law}."
        )
        return text if one.count is not None else f"{text} So some are missing for another reason, or a ledger is."
    if one.count is not None:
        spread = (one.count.high - one.count.low) / 2
        about = f" ± {units.number(round(spread))}" if spread >= 1 else ""
        return f"That makes {units.number(round(one.count.likely))}{about} messages."
    return "How many that were is not told."


def _alone(one: Diversion) -> str:
    seconds = sum(p.until - p.since for p in one.alone)
    return f" For {units.duration(seconds)} it was the only member and got all of them." if seconds >= 1 else ""


def told(facts: Facts, one: Diversion) -> Mapping[str, str]:
    """Short words for the screen."""
    last = one.phases[-1]
    living = sorted(set(last.members) - set(last.dead))
    found = {"away": ", ".join(last.dead), "connected": ", ".join(living) or "nobody"}
    if names := sorted({m.client_id for m in _successors(one)}):
        found["came after it"] = ", ".join(names)
    if behind := _downstream(facts, one):
        found["behind the members"] = behind
    return found


def _successors(one: Diversion) -> Iterator[Subscription]:
    """Members that subscribed first when one was away, from its address or in its log: an upgrade under a new id."""
    for dead in one.away:
        begin = min((a for a, _ in dead.away), default=BEGIN)
        places = {dead.evidence.source, dead.session.last.address if dead.session else None} - {None}
        for other in one.group.members:
            mine = {other.evidence.source, other.session.last.address if other.session else None}
            if other.client_id != dead.client_id and other.since >= begin and places & mine:
                yield other


def _downstream(facts: Facts, one: Diversion) -> str | None:
    """What other ledgers, such as that of a Kafka consumer, note of what the members noted."""
    own = {source for these in one.account.ledgers.values() for source in these}
    others = {source for f in facts.flows if own & dict(f.received).keys() for source, _ in f.received} - own
    words = []
    for source in sorted(others):
        given = sum(f.messages for f in facts.flows if f.sender and own & dict(f.received).keys())
        got = sum(
            f.messages for f in facts.flows if f.sender and own & dict(f.received).keys() and source in dict(f.received)
        )
        words.append(f"{source} notes {units.number(got)} of the {units.number(given)} that the members noted")
    return "; ".join(words) or None


def evidence(facts: Facts, one: Diversion) -> tuple[Evidence, ...]:
    """The dead members' lines, those of the living, the growth, the first message that went away."""
    return (*_dead(one), *_living(one), *_grown(facts, one), *_lost(one), *_limit(facts, one))


def _dead(one: Diversion) -> Iterator[Evidence]:
    dead = {client for p in one.phases for client in p.dead}
    for member in [m for m in one.group.members if m.client_id in dead][:_SHOWN]:
        last = member.session.last if member.session else None
        if last is not None and last.begin is not None:
            yield Evidence(last.begin.source, last.begin.line, last.begin.text, "connects with a persistent session")
        place = member.evidence
        yield Evidence(place.source, place.line, place.text, "is a member of the share group", place.pointer)
        if last is not None and last.end is not None:
            yield Evidence(last.end.source, last.end.line, last.end.text, "goes away and keeps its session")


def _living(one: Diversion) -> Iterator[Evidence]:
    living = set(one.phases[-1].members) - set(one.phases[-1].dead)
    for member in [m for m in one.group.members if m.client_id in living][:_SHOWN]:
        place = member.evidence
        yield Evidence(place.source, place.line, place.text, "a living member of the same group", place.pointer)


def _grown(facts: Facts, one: Diversion) -> Iterator[Evidence]:
    if one.grown is not None:
        rate = f"{units.digits(one.grown.per_second)}/s"
        yield sample(facts, one.grown.series, one.grown.until, f"stored messages grow by {rate}")
        lost = gauges.gauge(facts, "mqtt.publish_dropped", one.group.broker)
        if lost is not None:
            yield sample(facts, lost, one.grown.until, "messages that the broker dropped")


def _lost(one: Diversion) -> Iterator[Evidence]:
    since = min(p.since for p in one.phases)
    first = next((r for r in one.account.lost if r.last_at >= since), None) if one.missing is not None else None
    if first is not None:
        yield Evidence(first.first.source, first.first.line, first.first.text, "the first that no member noted")


def _limit(facts: Facts, one: Diversion) -> tuple[Evidence, ...]:
    return software.limit_told(facts, one.group.broker)
