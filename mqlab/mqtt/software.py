"""What software an MQTT broker is, by its version and settings: how large its queues are and how it deals shares."""

from __future__ import annotations

from collections.abc import Mapping

from mqlab.facts import Facts, Setting
from mqlab.findings import Evidence
from mqlab.memo import per_facts
from mqlab.models import queue_limits
from mqlab.models.session_queue import Queue
from mqlab.models.share_dispatch import Strategy, strategy
from mqlab.models.versions import Version
from mqlab.mqtt.brokers import broker_of, brokers

KNOWN = ("mosquitto", "emqx", "hivemq", "rabbitmq", "vernemq", "aws")
_STRATEGIES = ("broker.shared_subscription_strategy", "mqtt.shared_subscription_strategy")
_EXPIRIES = (
    "persistent_client_expiration", "mqtt.session_expiry_interval", "zone.external.session_expiry_interval",
)  # fmt: skip
_UNITS = {"s": 1.0, "h": 3600.0, "d": 86_400.0, "w": 7 * 86_400.0, "m": 30 * 86_400.0, "y": 365 * 86_400.0}
_LIMITS = frozenset({"max_queued_messages", "max_queued_bytes", "max_queue_size", "max-queue-size"})


@per_facts
def software(facts: Facts, broker: str | None) -> str | None:
    """The product that *broker* is: by the format of its logs, settings or lists; None where nothing tells."""
    own = {s for b in brokers(facts) if broker in (None, b.name) for s in b.sources}
    forms = {c.source: c.format for c in facts.coverage}
    near = sorted(forms[s] for s in own if s in forms)
    every = [*near, *(form for source, form in sorted(forms.items()) if broker_of(facts, source) in (broker, None))]
    return next((name for form in every for name in KNOWN if form.startswith(name)), None)


@per_facts
def version(facts: Facts, broker: str | None) -> str | None:
    """What it printed at its last start."""
    lines = [e for e in facts.of_kind("broker-starting") if e.system == "mqtt" and _about(facts, e.source, broker)]
    return lines[-1].reason if lines else None


def _about(facts: Facts, source: str, broker: str | None) -> bool:
    return broker is None or broker_of(facts, source) in (broker, None)


@per_facts
def settings(facts: Facts, broker: str | None) -> Mapping[str, str]:
    """Its settings outside of bridges, by key; of a key that stands several times the last one."""
    return {s.key: s.value for s in _own(facts, broker)}


def _own(facts: Facts, broker: str | None) -> list[Setting]:
    return [s for s in facts.settings if s.scope == "broker" and s.owner is None and _about(facts, s.source, broker)]


@per_facts
def queue(facts: Facts, broker: str | None) -> Queue | None:
    """The queue of each of its sessions; None where its software is not known, or where bytes limit it."""
    told = settings(facts, broker)
    if told.get("max_queued_bytes", "0") not in ("0", ""):
        return None
    return queue_limits.queue(software(facts, broker) or "", Version.parse(version(facts, broker)), told)


def limit_told(facts: Facts, broker: str | None) -> tuple[Evidence, ...]:
    """The lines that set the limit of its queues."""
    own = [s for s in _own(facts, broker) if s.key in _LIMITS or s.key.endswith("max_mqueue_len")]
    return tuple(Evidence(s.source, s.line, s.text, "the limit of each session's queue") for s in own[-1:])


def expiry(facts: Facts, broker: str | None) -> float | None:
    """Seconds after which it gives up a session whose client is away; None where it never does.

    mosquitto writes ``persistent_client_expiration 14d`` (h, d, w, m, y), EMQX ``session_expiry_interval = 2h``.
    """
    told = settings(facts, broker)
    value = next((told[key].strip() for key in _EXPIRIES if key in told), "")
    if not value[:-1].isdigit() or value[-1:] not in _UNITS:
        return float(value) if value.isdigit() else None
    return float(value[:-1]) * _UNITS[value[-1]]


@per_facts
def dispatch(facts: Facts, broker: str | None) -> Strategy | None:
    """How it deals the messages of a share group; None where that is not known.

    EMQX deals at random in 4.x and in turn in 5.x, unless it is told otherwise.
    """
    told = settings(facts, broker)
    named = next((strategy(told[key]) for key in _STRATEGIES if key in told), None)
    if named is not None:
        return named
    product, release = software(facts, broker), Version.parse(version(facts, broker))
    if product == "emqx" and release is not None:
        return Strategy.RANDOM if release < Version(5, 0) else Strategy.ROUND_ROBIN
    return {"mosquitto": Strategy.TURNS, "hivemq": Strategy.QUEUE}.get(product or "")
