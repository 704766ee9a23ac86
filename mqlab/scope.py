"""Which systems the material is of, which rules understand them, and whether what they saw suffices for health."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import inf

from mqlab import words
from mqlab.catalogue import INCIDENTS
from mqlab.detectors import BUILT_IN, DETECTORS, Detector, foreign
from mqlab.facts import Facts
from mqlab.findings import CLEAR, Result
from mqlab.memo import per_facts
from mqlab.mqtt.brokers import KNOWN
from mqlab.plugins import Named
from mqlab.rows import Coverage
from mqlab.shared import actors
from mqlab.shared.reach import LONG
from mqlab.sources import Role
from mqlab.units import is_dateless
from mqlab.words import Text

SYSTEMS = {"kafka": "Kafka", "rocketmq": "RocketMQ", "mqtt": "MQTT"}
say = words.room("scope")
_BEYOND = frozenset({("scope", "material"), ("scope", "no-rule"), ("scope", "no-rule-on")})
LEAST = 10
"""Lines of logs that mosquitto, which says least, prints as it starts and a client comes: fewer are an excerpt."""
WATCHED = 60.0
"""Seconds within which what hangs is told of: requests time out after 30 s (request.timeout.ms), members that are
silent after 45 s (session.timeout.ms), connections after a keep-alive of 60 s (MQTT clients' default)."""
_OF_PRODUCERS = (
    "producer.record_sends",
    "producer.record_errors",
    "producer.record_retries",
    "producer.outgoing_bytes",
)
PART = 0.01
"""Share of all lines from which it matters."""
RULES: Mapping[str, frozenset[str]] = Named(lambda: {d.INCIDENT: frozenset(d.SYSTEMS) for d in DETECTORS})
"""Systems that the rule of each class understands."""
_OWN_RULES = frozenset().union(*(d.SYSTEMS for d in BUILT_IN if len(d.SYSTEMS) < len(SYSTEMS)))
"""Systems for which there are rules of their own."""
_SYSTEM = {name: name for name in SYSTEMS} | dict.fromkeys(KNOWN, "mqtt")
"""System that a product belongs to."""
_OWN = "mqlab"
"""The software whose files tell of what a capture asked for, and not of a broker or client."""
_OF_ANYTHING = frozenset(
    {
        *("send-failed", "out-of-memory", "sender-error", "tool-error", "app-started", "app-stopping"),
        *("app-counters", "batch-processed", "handed-over", "call-failed"),
    }
)
"""Events that lines of any system's client may make."""


def asked(detector: Detector, facts: Facts, present: frozenset[str]) -> Result:
    """What the rule says; nothing where there is no material that it understands.

    A rule that found nothing calls its class clear only where material of a role that would show it was read, more
    than an excerpt and over a time in which it would have shown.
    """
    known = present & frozenset(detector.SYSTEMS) or (len(detector.SYSTEMS) == len(SYSTEMS) and logs(facts))
    if not known:
        understood = [SYSTEMS[name] for name in SYSTEMS if name in detector.SYSTEMS]
        return Result(missing=(say("material", systems=understood),))
    result = detector.detect(facts)
    if result != CLEAR:
        return result
    if not _shown(facts, detector, present):
        return Result(missing=INCIDENTS[detector.INCIDENT].needs)
    if _foreign(facts, detector):
        return Result(missing=(say("unseen"),))
    little = _little(facts)
    return Result(missing=(little,), silent=True) if little else CLEAR


def out_of_scope(missing: str) -> bool:
    """Whether this is *missing* since no rule reads the material that there is."""
    return isinstance(missing, Text) and (missing.room, missing.key) in _BEYOND


def _shown(facts: Facts, detector: Detector, present: frozenset[str]) -> bool:
    """There is material that would show the class, were it there: of a role of its own, and of no other software."""
    wanted = INCIDENTS[detector.INCIDENT].shown_by
    own = [c for c in facts.coverage if not c.software or _SYSTEM.get(c.software) in detector.SYSTEMS]
    roles = {c.role.name.lower().replace("_", "-") for c in own if c.data + c.noise > 0}
    there = roles | ({"positions"} if facts.positions else set())
    there |= {"consumer"} if _consumers_told(facts) else set()
    there |= {"producer"} if actors.producers_told(facts) or facts.named(*_OF_PRODUCERS) else set()
    return not wanted or bool(present.intersection(detector.SYSTEMS) and there.intersection(wanted))


@per_facts
def _consumers_told(facts: Facts) -> bool:
    """Some consumer's log or position is in the material: a log names its group."""
    named = any(e.group for e in facts.episodes) or any(s.scope == "consumer" for s in facts.settings)
    return named or bool(facts.positions or facts.assignments)


@per_facts
def _little(facts: Facts) -> str:
    """What is missing where so little was read that nothing is known to be absent; empty where it is enough."""
    understood = [c for c in facts.coverage if c.role is not Role.UNKNOWN]
    in_logs = sum(c.data + c.noise for c in understood if c.role.is_log)
    if sum(c.data + c.noise for c in understood) < LONG or in_logs < LEAST:
        return say("excerpt")
    return "" if _covered(facts) >= WATCHED else say("moment")


def _covered(facts: Facts) -> float:
    """Seconds that the material covers at least."""
    begins = [c.first_at for c in facts.coverage if c.first_at is not None]
    ends = [c.last_at for c in facts.coverage if c.last_at is not None]
    moments = [at for e in facts.episodes for at in (e.first_at, e.last_at) if at is not None]
    moments += [s.points[n][0] for s in facts.series if s.points and not is_dateless(s.points[0][0]) for n in (0, -1)]
    moments += [p.at for p in facts.positions if p.at is not None] + [t.at for t in facts.tallies]
    since, until = min([*begins, *moments], default=0.0), max([*ends, *moments], default=0.0)
    return until - since


def _foreign(facts: Facts, detector: Detector) -> bool:
    """The only logs are of other software, which may speak their protocol and prints what the rule cannot see."""
    if len(detector.SYSTEMS) == len(SYSTEMS):
        return False
    wrote = {c.software for c in facts.coverage if c.role.is_log and c.software}
    return bool(wrote - set(_SYSTEM)) and not any(_SYSTEM.get(name) in detector.SYSTEMS for name in wrote)


def unread(facts: Facts) -> tuple[Coverage, ...]:
    """Long files in no format that mqlab knows: a log or a ledger in there could show trouble, most lines first."""
    lines = sum(c.lines for c in facts.coverage)
    many = [c for c in facts.coverage if c.format == "unrecognised" and c.lines >= max(LONG, PART * lines)]
    return tuple(sorted(many, key=lambda c: (-c.lines, c.source)))


def damaged(facts: Facts) -> tuple[str, ...]:
    """Files whose end is missing or damaged: what would show trouble may stand in there."""
    return tuple(source for source, lines in facts.unread.items() if lines == inf)


def enough(facts: Facts, results: dict[str, Result]) -> bool:
    """Health needs a log that could show trouble, and every class that has a rule for the systems checked.

    A rule calls clear what cannot have happened by its mechanism. And no long file that nobody understands, and none
    that was not read whole. Classes of plug-ins are about software that need not be here; but their rules must not
    have failed.
    """
    if unread(facts) or damaged(facts):
        return False
    present = systems(facts)
    own = {rule.INCIDENT: frozenset(rule.SYSTEMS) for rule in BUILT_IN}
    asked_for = [slug for slug, ours in own.items() if ours & present and not INCIDENTS[slug].needs_ledger]
    checked = not any(results[slug].missing for slug in asked_for) and not any(map(foreign.failed, results.values()))
    return logs(facts) and checked and bool(present) and present <= _OWN_RULES


def broker_products(facts: Facts) -> frozenset[str]:
    """Products of MQTT brokers that the material shows."""
    return frozenset(c.software for c in facts.coverage if c.software in KNOWN)


def systems(facts: Facts) -> frozenset[str]:
    """Systems that the material is of."""
    products = {c.source: c.software for c in facts.coverage if c.software}  # a paste has parts that nobody wrote
    told = {_SYSTEM[c.software] for c in facts.coverage if c.software in _SYSTEM}
    told |= {name for name in ("rocketmq", "mqtt") if any(s.name.startswith(f"{name}.") for s in facts.series)}
    if any(s.name.startswith(("broker.", "producer.", "consumer.", "group.", "topic.")) for s in facts.series):
        told.add("kafka")
    others = [s for s in facts.settings if products.get(s.source) != "rocketmq"]
    if any(s.scope in ("producer", "consumer", "topic") for s in others):
        told.add("kafka")
    if facts.flows or facts.receipts:
        told.add("mqtt")
    told |= {e.system for e in facts.episodes if e.kind not in _OF_ANYTHING and e.system in SYSTEMS}
    if told:
        return frozenset(told)
    # Ledgers alone: RocketMQ's queues are told with their broker, Kafka's partitions are numbers.
    queues = {t.queue for t in facts.tallies if "/" in t.queue or t.queue.isdigit()}
    return frozenset("rocketmq" if "/" in queue else "kafka" for queue in queues)


def read(facts: Facts) -> str:
    """Which software the material is of, in one sentence; empty where no format was recognised."""
    named = kinds(facts)
    return say("read", kinds=named) if named else ""


def kinds(facts: Facts) -> list[str]:
    """What the material is, such as the log of a broker, and of which software, the most frequent first."""
    known = Counter((c.software, c.role) for c in facts.coverage if c.role is not Role.UNKNOWN)
    named = {role for software, role in known if software}
    named |= {Role.LOG} if any(role.is_log for _, role in known if role is not Role.LOG) else set()
    return [
        say("kind", role=role, product=software or None)
        for (software, role), _ in known.most_common()
        if software or role not in named
    ]


def ungathered(facts: Facts) -> str:
    """What a capture asked for in vain, in one sentence; empty where it says of nothing that it failed."""
    manifests = {c.source for c in facts.coverage if c.software == _OWN}
    failed = [e.reason for e in facts.of_kind("tool-error") if e.source in manifests and e.reason]
    if not failed:
        return ""
    return say("not-all" if anything(facts) else "nothing", reasons=[reason.rstrip(".") for reason in failed])


def anything(facts: Facts) -> bool:
    """There is something in the material that was understood, and not only what a capture says of itself."""
    return any(c.data + c.noise > 0 and c.role is not Role.UNKNOWN and c.software != _OWN for c in facts.coverage)


def logs(facts: Facts) -> bool:
    """There is a log in the material, and something in it."""
    return any(c.data + c.noise > 0 and c.role.is_log for c in facts.coverage)
