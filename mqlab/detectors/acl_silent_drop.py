"""MQTT: an access rule refuses publishes or deliveries, and the client does not notice, or not why.

Fires: mosquitto's rules refuse topics that are published, and exactly these arrive nowhere while others do (proven), or
no ledger of a receiver is there (likely); lines say that publishes or subscriptions were refused (likely), and ids or a
counter agree (proven). Some brokers close the connection for it: with MQTT 3.1.1 the client sees no reason, connects
again and is refused again, which is told as such.
Quiet: refused topics that arrive (the file is not in force), publishers that were told, topics that nobody subscribed
to, full queues, ``$SYS``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from mqlab import words
from mqlab.facts import Facts
from mqlab.findings import CLEAR, Certainty, Evidence, Finding, Result, finding
from mqlab.models.mosquitto import WRITE
from mqlab.mqtt import denials
from mqlab.mqtt.accounting import accounts
from mqlab.mqtt.brokers import LEAST
from mqlab.mqtt.copies import name_of
from mqlab.mqtt.denials import PUBLISH, SUBSCRIBE, Denied, Refused
from mqlab.words import listed

INCIDENT = "acl-silent-drop"
SYSTEMS: tuple[str, ...] = ("mqtt",)
say = words.room(INCIDENT)

_SHOWN = 4


def detect(facts: Facts) -> Result:
    """One finding for what each publisher is refused, and for what each receiver is."""
    by_rules, by_lines = _by_rules(facts), [_by_lines(facts, one) for one in denials.denied(facts)]
    subjects = {f.subject for f in by_rules.findings}
    found = (*by_rules.findings, *(f for r in by_lines for f in r.findings if f.subject not in subjects))
    if found:
        return Result(found)
    because = listed(r.rejected for r in (by_rules, *by_lines) if r.rejected)
    return Result(rejected=because) if because else by_rules


def _by_rules(facts: Facts) -> Result:
    every = [r for r in denials.refused(facts) if r.messages]
    if not every:
        unseen = [r for r in denials.unseen(facts) if r.messages]
        return Result(_findings(facts, unseen, Certainty.LIKELY)) if unseen else _without(facts)
    mended = (denials.before_reload(facts, r) for r in every if r.arrived)
    gone = [*(r for r in every if not r.arrived), *(r for r in mended if r is not None)]
    if not gone:
        return Result(rejected=say("arrive", names=_topics(every)))
    if not _others_arrive(facts, every) or not all(_others_came(facts, r) for r in gone):
        return Result(missing=(say("no-allowed"),))
    return Result(_findings(facts, gone, Certainty.PROVEN))


def _findings(facts: Facts, own: Sequence[Refused], certainty: Certainty) -> tuple[Finding, ...]:
    by_subject: dict[str, list[Refused]] = defaultdict(list)
    for one in own:
        by_subject[one.receiver or name_of(facts, one.sender)].append(one)
    return tuple(_of_rules(facts, subject, these, certainty) for subject, these in sorted(by_subject.items()))


def _without(facts: Facts) -> Result:
    """Nothing is refused: clear where rules or whole ledgers show it."""
    if before := [r for r in denials.until_reload(facts) if _others_came(facts, r)]:
        told = {"names": _topics(before), "at": before[0].reloaded}
        lost = sum(r.messages for r in before)
        return Result(missing=(say("no-file-before", **told),), seen=say("until-reload", messages=lost, **told))
    unheard = denials.unheard(facts)
    if unheard:
        return Result(missing=(say("no-receivers", clients=unheard),), seen=say("wanted", clients=unheard))
    if (denials.rules(facts) and denials.published(facts)) or _complete(facts):
        return CLEAR
    if denials.rules(facts):
        return Result(missing=(say("no-topics"),))
    if any(s.key == "acl_file" for s in facts.settings):
        return Result(missing=(say("no-file"),))
    configured = any(s.scope == "broker" for s in facts.settings)
    return CLEAR if configured else Result(missing=(say("no-configuration"),))


def _complete(facts: Facts) -> bool:
    """Something of each topic of each publisher arrived, all but the last ones did, and nobody misses what others got.

    Rules refuse whole topics.
    """
    known = denials.published(facts)
    every = all(any(f.received for f in own) for own in known.values())
    left = sum(f.messages for own in known.values() for f in own if not f.received)
    missing = [a.missing().likely for a in accounts(facts) if a.counted]
    return bool(known) and every and left < LEAST and all(many < LEAST for many in missing)


def _others_arrive(facts: Facts, every: Sequence[Refused]) -> bool:
    """Messages of topics that no rule refuses arrive, or such that it refuses to one receiver come to another one."""
    refused = {(r.sender, r.topic) for r in every}
    allowed = [f for key, own in denials.published(facts).items() if key not in refused for f in own]
    elsewhere = (set(dict(f.received)) - r.ledgers for r in every if r.access != WRITE for f in r.flows)
    return any(f.received for f in allowed) or any(elsewhere)


def _others_came(facts: Facts, refusal: Refused) -> bool:
    """Whoever would have these messages got others before the rules were loaded again, where they were."""
    if refusal.reloaded is None:
        return True
    others = (f for (_, topic), own in denials.published(facts).items() if topic != refusal.topic for f in own)
    return any(refusal.ledgers & dict(f.received).keys() and f.first_at < refusal.reloaded for f in others)


def _by_lines(facts: Facts, denied: Denied) -> Result:
    name = denied.client_id
    if denied.kind == PUBLISH and not denied.closed and denied.failed >= max(1, denied.messages):
        return Result(rejected=say("noted", client=name))
    if denied.messages and not denied.nowhere:
        return Result(rejected=say("arrived", client=name))
    proven = denied.agrees or (denied.kind == PUBLISH and denials.counter_agrees(facts, denied))
    return Result((_of_lines(denied, Certainty.PROVEN if proven else Certainty.LIKELY),))


def _of_rules(facts: Facts, subject: str, own: Sequence[Refused], certainty: Certainty) -> Finding:
    """What mosquitto's rules refuse one publisher or one receiver."""
    users = sorted({user for r in own for user in r.users})
    lost = sum(r.messages for r in own)
    sent = sum(
        f.messages for (sender, _), fs in denials.published(facts).items() for f in fs if sender == own[0].sender
    )
    return finding(
        INCIDENT,
        subject,
        certainty,
        (min(f.first_at for r in own for f in r.flows), max(f.last_at for r in own for f in r.flows)),
        slots={
            "users": users,
            "names": _topics(own),
            "writes": own[0].access == WRITE,
            "reloaded": own[0].reloaded,
            "proven": certainty is Certainty.PROVEN,
        },
        measures={
            "lost_records": lost,
            "topics": len({r.topic for r in own}),
            "published_messages": sent,
        },
        evidence=_evidence(facts, own),
        facts={"user": ", ".join(users), "topics": say("topics", names=_topics(own)), "access": own[0].access},
    )


def _topics(own: Sequence[Refused]) -> list[str]:
    return sorted({r.topic for r in own})


def _evidence(facts: Facts, own: Sequence[Refused]) -> Iterator[Evidence]:
    users = {user for r in own for user in r.users}
    rules = [s for s in denials.lines(facts) if (s.owner or "anonymous") in users]
    yield from (s.evidence.because(say("rule")) for s in rules[: 2 * _SHOWN])
    yield from [s.evidence.because(say("in-force")) for s in facts.settings if s.key == "acl_file"][:1]
    yield from (r.flows[0].first.because(say("published")) for r in own[:_SHOWN])


def _of_lines(denied: Denied, certainty: Certainty) -> Finding:
    """What lines say that one client was refused."""
    topics = sorted({e.topic for e in denied.lines if e.topic})
    moments = sorted(at for e in denied.lines for at in (e.first_at, e.last_at) if at is not None)
    return finding(
        INCIDENT,
        denied.client_id,
        certainty,
        (moments[0], moments[-1]) if moments else (None, None),
        slots={
            "names": topics or None,
            "publishes": denied.kind == PUBLISH,
            "looped": denied.closed > 1,
            "unread": denied.kind == SUBSCRIBE and not denied.ledgers,
        },
        measures={
            "denied": denied.count,
            "topics": len(topics),
            "lost_records": denied.nowhere or None,
            "closed_connections": denied.closed or None,
        },
        evidence=tuple(e.first.because(say("refused")) for e in denied.lines[:_SHOWN]),
        explains=("reconnect-flaky-link",) if denied.closed else (),
        facts={"topics": say("topics", names=topics)},
    )
