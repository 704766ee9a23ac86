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

from mqlab import units
from mqlab.facts import Facts
from mqlab.findings import CLEAR, Certainty, Evidence, Finding, Result, finding
from mqlab.models.mosquitto import WRITE
from mqlab.mqtt import denials
from mqlab.mqtt.accounting import accounts
from mqlab.mqtt.brokers import LEAST
from mqlab.mqtt.copies import name_of
from mqlab.mqtt.denials import PUBLISH, SUBSCRIBE, Denied, Refused
from mqlab.shared.wording import few

INCIDENT = "acl-silent-drop"
SYSTEMS: tuple[str, ...] = ("mqtt",)

_SHOWN = 4
_MITIGATE = "Allow the topic and reload the rules; side effect: whoever the rule matches may use it."
_REMEDY = "Test rules against the topics in use, let publishers use MQTT 5 and read reason codes, log what is refused."


def detect(facts: Facts) -> Result:
    """One finding for what each publisher is refused, and for what each receiver is."""
    by_rules, by_lines = _by_rules(facts), [_by_lines(facts, one) for one in denials.denied(facts)]
    subjects = {f.subject for f in by_rules.findings}
    found = (*by_rules.findings, *(f for r in by_lines for f in r.findings if f.subject not in subjects))
    if found:
        return Result(found)
    because = "; ".join(r.rejected for r in (by_rules, *by_lines) if r.rejected)
    return Result(rejected=because) if because else by_rules


def _by_rules(facts: Facts) -> Result:
    every = [r for r in denials.refused(facts) if r.messages]
    if not every:
        unseen = [r for r in denials.unseen(facts) if r.messages]
        return Result(_findings(facts, unseen, Certainty.LIKELY)) if unseen else _without(facts)
    gone = [r for r in every if not r.arrived]
    if not gone:
        return Result(rejected=f"{_topics(every)}: rules refuse them, but their messages arrive")
    if not _others_arrive(facts, every):
        return Result(missing=("topics that the rules allow, with messages that arrive",))
    return Result(_findings(facts, gone, Certainty.PROVEN))


def _findings(facts: Facts, own: Sequence[Refused], certainty: Certainty) -> tuple[Finding, ...]:
    by_subject: dict[str, list[Refused]] = defaultdict(list)
    for one in own:
        by_subject[one.receiver or name_of(facts, one.sender)].append(one)
    return tuple(_of_rules(facts, subject, these, certainty) for subject, these in sorted(by_subject.items()))


def _without(facts: Facts) -> Result:
    """Nothing is refused: clear where rules or whole ledgers show it."""
    unheard = denials.unheard(facts)
    if unheard:
        refused = "the rules refuse topics that it wants"
        who = ", ".join(unheard)
        return Result(missing=(f"what came to {who}, which {refused}",), seen=f"{refused}: {who}")
    if (denials.rules(facts) and denials.published(facts)) or _complete(facts):
        return CLEAR
    if denials.rules(facts):
        return Result(missing=("topics published and received, with ids",))
    if any(s.key == "acl_file" for s in facts.settings):
        return Result(missing=("the ACL file, and topics published and received",))
    configured = any(s.scope == "broker" for s in facts.settings)
    return CLEAR if configured else Result(missing=("the ACL file or the broker's configuration",))


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


def _by_lines(facts: Facts, denied: Denied) -> Result:
    name = denied.client_id
    if denied.kind == PUBLISH and not denied.closed and denied.failed >= max(1, denied.messages):
        return Result(rejected=f"{name} noted that its publishes failed: it was told")
    if denied.messages and not denied.nowhere:
        return Result(rejected=f"what {name} was refused arrived all the same")
    proven = denied.agrees or (denied.kind == PUBLISH and denials.counter_agrees(facts, denied))
    return Result((_of_lines(denied, Certainty.PROVEN if proven else Certainty.LIKELY),))


def _of_rules(facts: Facts, subject: str, own: Sequence[Refused], certainty: Certainty) -> Finding:
    """What mosquitto's rules refuse one publisher or one receiver."""
    writes, users = own[0].access == WRITE, ", ".join(sorted({user for r in own for user in r.users}))
    lost = sum(r.messages for r in own)
    sent = sum(
        f.messages for (sender, _), fs in denials.published(facts).items() for f in fs if sender == own[0].sender
    )
    where = "that arrived nowhere" if writes else f"that did not come to {subject}"
    seen = (
        ". Exactly these topics are missing." if certainty is Certainty.PROVEN
        else ", by these rules; no receiver's ledger confirms it."
    )  # fmt: skip
    return finding(
        INCIDENT,
        subject,
        certainty,
        (min(f.first_at for r in own for f in r.flows), max(f.last_at for r in own for f in r.flows)),
        statement=(
            f"No rule of the ACL file lets user {users} {'write to' if writes else 'read'} {_topics(own)}, and "
            f"mosquitto tells nobody: the publisher saw success for {units.counted(lost, 'message')} {where}{seen}"
        ),
        measures={
            "lost_records": lost,
            "topics": len({r.topic for r in own}),
            "published_messages": sent,
        },
        evidence=_evidence(facts, own),
        mitigate=_MITIGATE,
        remedy=_REMEDY,
        verify="Received / published = 1 for each of these topics.",
        facts={"user": users, "topics": _topics(own), "access": own[0].access},
    )


def _topics(own: Sequence[Refused]) -> str:
    return few(sorted({r.topic for r in own}), _SHOWN)


def _evidence(facts: Facts, own: Sequence[Refused]) -> Iterator[Evidence]:
    users = {user for r in own for user in r.users}
    rules = [s for s in denials.lines(facts) if (s.owner or "anonymous") in users]
    yield from (s.evidence.because("a rule of this user; none allows the topic") for s in rules[: 2 * _SHOWN])
    yield from [s.evidence.because("the rules are in force") for s in facts.settings if s.key == "acl_file"][:1]
    yield from (r.flows[0].first.because("published, and did not arrive") for r in own[:_SHOWN])


def _of_lines(denied: Denied, certainty: Certainty) -> Finding:
    """What lines say that one client was refused."""
    lost = denied.nowhere or (denied.count if denied.kind == PUBLISH and not denied.closed else 0)
    topics = sorted({e.topic for e in denied.lines if e.topic})
    shown = few(topics, _SHOWN)
    what = "publishing to" if denied.kind == PUBLISH else "subscribing to"
    moments = sorted(at for e in denied.lines for at in (e.first_at, e.last_at) if at is not None)
    return finding(
        INCIDENT,
        denied.client_id,
        certainty,
        (moments[0], moments[-1]) if moments else (None, None),
        statement=(
            f"{denied.client_id} was refused {what} {shown} {units.counted(denied.count, 'time')} and {_then(denied)}. "
            f"{_lost(denied, lost)}."
        ),
        measures={
            "denied": denied.count,
            "topics": len(topics),
            "lost_records": lost or None,
            "closed_connections": denied.closed or None,
        },
        evidence=tuple(e.first.because("refused") for e in denied.lines[:_SHOWN]),
        explains=("reconnect-flaky-link",) if denied.closed else (),
        mitigate=_MITIGATE,
        remedy=_REMEDY,
        verify="No further refusals, and received / published = 1 for each topic.",
        facts={"topics": shown},
    )


def _then(denied: Denied) -> str:
    """What the broker does with the connection."""
    if not denied.closed:
        return "stayed connected"
    again = ", and the client connected again to be refused again" if denied.closed > 1 else ""
    closed = units.counted(denied.closed, "connection")
    return f"the broker closed {closed} for it, which tells a client of MQTT 3.1.1 no reason{again}"


def _lost(denied: Denied, lost: int) -> str:
    if not lost:
        return "Nothing says how many messages were lost"
    if denied.kind == SUBSCRIBE and not denied.ledgers:
        return f"{units.counted(lost, 'message')} were published for it meanwhile"
    return f"{units.counted(lost, 'message')} were lost with it"
