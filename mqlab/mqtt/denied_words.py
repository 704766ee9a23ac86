"""The findings about messages that access rules refuse: their words, numbers and places."""

from __future__ import annotations

from collections.abc import Sequence

from mqlab import units
from mqlab.facts import Facts
from mqlab.findings import Certainty, Evidence, Finding, Severity
from mqlab.models.mosquitto_acl import WRITE
from mqlab.mqtt import denials
from mqlab.mqtt.denials import Refused
from mqlab.mqtt.denied_told import PUBLISH, SUBSCRIBE, Told
from mqlab.questions.wording import moment

INCIDENT = "acl-silent-drop"
_SHOWN = 4
_MITIGATE = "Allow the topic and reload the rules; side effect: whoever the rule matches may use it."
_REMEDY = "Test rules against the topics in use, let publishers use MQTT 5 and read reason codes, log what is refused."


def of_rules(facts: Facts, subject: str, own: Sequence[Refused], certainty: Certainty) -> Finding:
    """What mosquitto's rules refuse one publisher or one receiver."""
    lost = sum(r.messages for r in own)
    writes = own[0].access == WRITE
    users = ", ".join(sorted({user for r in own for user in r.users}))
    first = min((f for r in own for f in r.flows), key=lambda f: f.first_at)
    last = max((f for r in own for f in r.flows), key=lambda f: f.last_at)
    sent = sum(
        f.messages for (sender, _), fs in denials.published(facts).items() for f in fs if sender == own[0].sender
    )
    what = "writing" if writes else "reading"
    where = "that arrived nowhere" if writes else f"that did not come to {subject}"
    seen = certainty is Certainty.PROVEN
    where += (
        ", all of these topics and no other ones." if seen else " by these rules; no ledger of a receiver shows it."
    )
    return Finding(
        id=f"{INCIDENT}:{subject}",
        incident=INCIDENT,
        severity=Severity.CRITICAL if certainty is Certainty.PROVEN else Severity.WARNING,
        certainty=certainty,
        subject=subject,
        started_at=moment(first.first_at),
        ended_at=moment(last.last_at),
        ongoing=False,
        statement=(
            f"No rule of the ACL file allows {what} {topics(own)} to user {users}, and mosquitto tells nobody: "
            f"the publisher noted success for {units.counted(lost, 'message')} {where}"
        ),
        measures={
            "lost_records": float(lost),
            "topics": float(len({r.topic for r in own})),
            "published_messages": float(sent),
        },
        evidence=_evidence(facts, own),
        mitigate=_MITIGATE,
        remedy=_REMEDY,
        verify="Received / published = 1 for each of these topics.",
        facts={"user": users, "topics": topics(own), "access": own[0].access},
    )


def topics(own: Sequence[Refused]) -> str:
    """The topics, the first few by name."""
    names = sorted({r.topic for r in own})
    return ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more topics" if len(names) > _SHOWN else "")


def _evidence(facts: Facts, own: Sequence[Refused]) -> tuple[Evidence, ...]:
    users = {user for r in own for user in r.users}
    why = "a rule of this user; none allows the topic"
    lines = [s for s in denials.lines(facts) if (s.owner or "anonymous") in users]
    rules = [Evidence(s.source, s.line, s.text, why) for s in lines[: 2 * _SHOWN]]
    conf = [Evidence(s.source, s.line, s.text, "the rules are in force") for s in facts.settings if s.key == "acl_file"]
    first = [r.flows[0].first for r in own[:_SHOWN]]
    lost = [Evidence(place.source, place.line, place.text, "published, and did not arrive") for place in first]
    return (*rules, *conf[:1], *lost)


def of_lines(one: Told, certainty: Certainty) -> Finding:
    """What lines say that one client was refused."""
    lost = one.nowhere or (one.count if one.kind == PUBLISH and not one.thrown_out else 0)
    topics = sorted({e.topic for e in one.lines if e.topic})
    shown = ", ".join(topics[:_SHOWN]) + (f" and {len(topics) - _SHOWN} more" if len(topics) > _SHOWN else "")
    what = "publishing to" if one.kind == PUBLISH else "subscribing to"
    moments = sorted(at for e in one.lines for at in (e.first_at, e.last_at) if at is not None)
    return Finding(
        id=f"{INCIDENT}:{one.client_id}",
        incident=INCIDENT,
        severity=Severity.CRITICAL if certainty is Certainty.PROVEN else Severity.WARNING,
        certainty=certainty,
        subject=one.client_id,
        started_at=moment(moments[0]) if moments else None,
        ended_at=moment(moments[-1]) if moments else None,
        ongoing=False,
        statement=(
            f"{one.client_id} was refused {what} {shown} {units.counted(one.count, 'time')} and {_then(one)}. "
            f"{_lost(one, lost)}."
        ),
        measures={"denied": float(one.count), "topics": float(len(topics))}
        | ({"lost_records": float(lost)} if lost else {})
        | ({"closed_connections": float(one.closed)} if one.thrown_out else {}),
        evidence=tuple(Evidence(e.first.source, e.first.line, e.first.text, "refused") for e in one.lines[:_SHOWN]),
        mitigate=_MITIGATE,
        remedy=_REMEDY,
        verify="No further refusals, and received / published = 1 for each topic.",
        facts={"topics": shown},
        explains=("reconnect-flaky-link",) if one.thrown_out else (),
    )


def _then(one: Told) -> str:
    """What the broker does with the connection."""
    if not one.thrown_out:
        return "stayed connected"
    again = ", and the client connected again to be refused again" if one.closed > 1 else ""
    closed = units.counted(one.closed, "connection")
    return f"the broker closed {closed} for it, which tells a client of MQTT 3.1.1 no reason{again}"


def _lost(one: Told, lost: int) -> str:
    if not lost:
        return "How many messages were lost with it is not told"
    if one.kind == SUBSCRIBE and not one.ledgers:
        return f"{units.counted(lost, 'message')} were published for it meanwhile"
    return f"{units.counted(lost, 'message')} were lost with it"
