"""How a recorded group shares its partitions, and what its coordinator is set to."""

from __future__ import annotations

import re

from mqlab.facts import Facts
from mqlab.models import clients
from mqlab.models.assignors import ASSIGNORS
from mqlab.models.group_protocol import CONSUMER
from mqlab.models.group_terms import Protocol
from mqlab.questions import configured

_CLASS = re.compile(r"([\w-]+?)(?:Assignor)?(?=[\],\s]|$)")
_NAMES = {"Range": "range", "RoundRobin": "roundrobin", "Sticky": "sticky", "CooperativeSticky": "cooperative-sticky"}
SERVER_HEARTBEAT, SERVER_SESSION = 5.0, 45.0
"""Their defaults, in seconds (KIP-848)."""


def protocol_of(facts: Facts, group: str, client: str, at: float) -> tuple[Protocol, str]:
    """Protocol and assignor, by what *client* printed at *at* and by what the coordinator does."""
    if any(e.group == group for e in facts.of_kind("group-epoch-bumped", "target-assigned")):
        return Protocol.CONSUMER, "uniform"
    value = configured.consumer_value(facts, client, "partition.assignment.strategy", at)
    named = [_NAMES.get(name, name) for name in _CLASS.findall(value.value)] if value else []
    known = [name for name in named if name in ASSIGNORS]
    assignor = known[0] if known else "range"
    return (Protocol.COOPERATIVE if assignor == "cooperative-sticky" else Protocol.EAGER), assignor


def initial_delay(facts: Facts) -> float:
    """group.initial.rebalance.delay.ms in seconds."""
    key = "group.initial.rebalance.delay.ms"
    version = configured.broker_version(facts)
    usual = clients.default(key, "broker", version) if version else "3000"
    return _seconds(facts, key, int(usual or 0) / 1000)


def server_times(facts: Facts) -> tuple[float, float]:
    """Heartbeat interval and session timeout of groups of the consumer protocol, in seconds: the broker's."""
    heartbeat = _seconds(facts, CONSUMER.heartbeat_setting, SERVER_HEARTBEAT)
    return heartbeat, _seconds(facts, CONSUMER.session_setting, SERVER_SESSION)


def _seconds(facts: Facts, key: str, usual: float) -> float:
    told = sorted(s.value for s in facts.settings if s.key == key and s.scope == "broker" and s.value.isdigit())
    return int(told[0]) / 1000 if told else usual
