"""Which systems the material is of, which rules understand them, and whether what they saw suffices for health."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mqlab.detectors import DETECTORS
from mqlab.detectors.base import Detector, Result
from mqlab.facts import Facts
from mqlab.mqtt import circles, overlaps, queue_growth, redeliveries, sessions
from mqlab.rows import Coverage

SYSTEMS = {"kafka": "Kafka", "rocketmq": "RocketMQ", "mqtt": "MQTT"}
NO_RULE = "this version has no rule for it"
UNSEEN = 2
"""Classes that may be unchecked in health."""
LONG = 100
"""Lines from which a file that nobody understands is more than somebody's notes or a configuration."""
PART = 0.01
"""Share of all lines from which it matters."""
_CONSEQUENCES = frozenset({"reprocess-duplicates", "commit-before-process-loss"})
"""Classes that need an application's ledger; what brings them about is checked without one."""
_CAUSES: Mapping[str, Callable[[Facts], bool]] = {
    "overlapping-subscription": lambda facts: any(True for _ in overlaps.overlapping(facts)),
    "redelivery-storm": sessions.kept_often,
    "retained-replay-storm": lambda facts: bool(redeliveries.uncounted(facts)),
    "acl-silent-drop": lambda facts: any(s.key == "acl_file" for s in facts.settings),
    "bridge-loop": lambda facts: bool(circles.closed(facts)),
    "session-queue-growth": lambda facts: bool(queue_growth.growths(facts)),
}
"""Classes that need messages or a trace, and what brings them about: it tells where they may hide without one."""
RULES = {d.INCIDENT: frozenset(d.SYSTEMS) for d in DETECTORS}
"""Systems that the rule of each class understands."""
_OWN_RULES = frozenset().union(*(ours for ours in RULES.values() if len(ours) < len(SYSTEMS)))
"""Systems for which there are rules of their own."""
_MQTT = ("mosquitto-", "mqtt-", "emqx-", "hivemq-", "rabbitmq-", "vernemq-", "aws-iot-")
"""How the names of formats begin that only MQTT's brokers and clients write."""
_OF_ANYTHING = frozenset({"send-failed", "out-of-memory", "sender-error", "tool-error"})
"""Events that lines of any system's client may make."""


def asked(detector: Detector, facts: Facts, present: frozenset[str]) -> Result:
    """What the rule says; nothing where there is no material that it understands."""
    known = present & frozenset(detector.SYSTEMS) or (len(detector.SYSTEMS) == len(SYSTEMS) and logs(facts))
    if known:
        return detector.detect(facts)
    understood = " or ".join(SYSTEMS[name] for name in SYSTEMS if name in detector.SYSTEMS)
    return Result(missing=(f"material of {understood}",))


def unread(facts: Facts) -> tuple[Coverage, ...]:
    """Long files in no format that mqlab knows: a log or a ledger in there could show trouble, most lines first."""
    lines = sum(c.lines for c in facts.coverage)
    many = [c for c in facts.coverage if c.format == "unrecognised" and c.lines >= max(LONG, PART * lines)]
    return tuple(sorted(many, key=lambda c: (-c.lines, c.source)))


def enough(facts: Facts, results: dict[str, Result]) -> bool:
    """Health needs a log that could show trouble, and nearly all classes that have a rule for the systems checked.

    Among those that were not, none whose cause is seen; and no long file that nobody understands.
    """
    if unread(facts):
        return False
    present = systems(facts)
    asked_for = [slug for slug, ours in RULES.items() if ours & present and slug not in _CONSEQUENCES]
    unseen = sum(bool(results[slug].missing) for slug in asked_for)
    hidden = any(results[slug].missing and there(facts) for slug, there in _CAUSES.items() if slug in asked_for)
    return logs(facts) and unseen <= UNSEEN and not hidden and bool(present) and present <= _OWN_RULES


def systems(facts: Facts) -> frozenset[str]:
    """Systems that the material is of."""
    formats = {c.source: c.format for c in facts.coverage}
    told = {name for name in ("kafka", "rocketmq") for form in formats.values() if name in form}
    told |= {"mqtt" for form in formats.values() if form.startswith(_MQTT)}
    told |= {name for name in ("rocketmq", "mqtt") if any(s.name.startswith(f"{name}.") for s in facts.series)}
    if any(s.name.startswith(("broker.", "producer.", "consumer.")) for s in facts.series):
        told.add("kafka")
    others = [s for s in facts.settings if not formats.get(s.source, "").startswith("rocketmq")]
    if any(s.scope in ("producer", "consumer", "topic") for s in others):
        told.add("kafka")
    own = [e for e in facts.episodes if e.kind not in _OF_ANYTHING]
    return frozenset(told | {e.system for e in own if e.system in SYSTEMS})


def logs(facts: Facts) -> bool:
    """There is a log in the material, and something in it."""
    return any(c.data + c.noise > 0 and c.format.endswith("-log") for c in facts.coverage)
