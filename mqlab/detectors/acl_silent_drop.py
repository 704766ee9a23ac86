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
from collections.abc import Sequence

from mqlab.detectors.base import CLEAR, Result
from mqlab.facts import Facts
from mqlab.findings import Certainty, Finding
from mqlab.models.mosquitto_acl import WRITE
from mqlab.mqtt import denials, subscriptions
from mqlab.mqtt.accounting import LEAST, accounts
from mqlab.mqtt.denials import PUBLISH, Refused, Told, of_lines, of_rules, topics

INCIDENT = "acl-silent-drop"
SYSTEMS: tuple[str, ...] = ("mqtt",)


def detect(facts: Facts) -> Result:
    """One finding for what each publisher is refused, and for what each receiver is."""
    by_rules, told = _of_rules(facts), [_of_lines(facts, one) for one in denials.denied(facts)]
    named = {f.subject for f in by_rules.findings}
    found = (*by_rules.findings, *(f for r in told for f in r.findings if f.subject not in named))
    if found:
        return Result(found)
    because = "; ".join(r.rejected for r in (by_rules, *told) if r.rejected)
    if because:
        return Result(rejected=because)
    return by_rules


def _of_rules(facts: Facts) -> Result:
    every = [r for r in denials.refused(facts) if r.messages]
    if not every:
        unseen = [r for r in denials.unseen(facts) if r.messages]
        return Result(_findings(facts, unseen, Certainty.LIKELY)) if unseen else _without(facts)
    gone = [r for r in every if not r.arrived]
    if not gone:
        return Result(rejected=f"{topics(every)}: rules refuse them, but their messages arrive")
    others = _arriving(facts, every)
    if not others:
        return Result(missing=("topics that the rules allow, with messages that arrive",))
    return Result(_findings(facts, gone, Certainty.PROVEN))


def _findings(facts: Facts, own: Sequence[Refused], certainty: Certainty) -> tuple[Finding, ...]:
    by_subject: dict[str, list[Refused]] = defaultdict(list)
    for one in own:
        by_subject[one.receiver or subscriptions.name_of(facts, one.sender)].append(one)
    return tuple(of_rules(facts, subject, these, certainty) for subject, these in sorted(by_subject.items()))


def _without(facts: Facts) -> Result:
    """Nothing is refused: clear where rules or whole ledgers show it."""
    unheard = denials.unheard(facts)
    if unheard:
        return Result(missing=(f"what came to {', '.join(unheard)}, which the rules refuse topics that it wants",))
    if denials.rules(facts) and denials.published(facts):
        return CLEAR
    if _complete(facts):
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


def _arriving(facts: Facts, every: Sequence[Refused]) -> int:
    """Messages of topics that no rule refuses, and that arrived."""
    refused = {(r.sender, r.topic) for r in every}
    flows = [f for key, own in denials.published(facts).items() if key not in refused for f in own]
    own = {(r.sender, r.topic): r for r in every if r.access != WRITE}
    beside = [f for r in own.values() for f in r.flows if set(dict(f.received)) - r.ledgers]
    return sum(f.messages for f in (*flows, *beside) if f.received)


def _of_lines(facts: Facts, one: Told) -> Result:
    name = one.client_id
    if one.kind == PUBLISH and not one.thrown_out and one.failed >= max(1, one.messages):
        return Result(rejected=f"{name} noted that its publishes failed: it was told")
    if one.messages and not one.nowhere:
        return Result(rejected=f"what {name} was refused arrived all the same")
    proven = one.agrees or (one.kind == PUBLISH and denials.counter_agrees(facts, one))
    return Result((of_lines(one, Certainty.PROVEN if proven else Certainty.LIKELY),))
