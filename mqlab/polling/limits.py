"""What the clients of a Kafka group were allowed between two polls.

A limit is what a process printed then, else what a line of the broker or of the client itself tells of it, else a
file, else the default of its version.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from mqlab.facts import Facts, Setting
from mqlab.findings import Evidence
from mqlab.memo import per_facts
from mqlab.models import polling
from mqlab.models.group_protocol import rules
from mqlab.questions import configured

INTERVAL = "max.poll.interval.ms"
SESSION = "session.timeout.ms"

_EXCEEDED = re.compile(r"\((\d+) ?ms\) exceeded")
_METADATA = re.compile(r"clientId=([^,)]*).*?sessionTimeoutMs=(\d+), rebalanceTimeoutMs=(\d+)")
_MEMBERS = ("member-left", "member-expired", "rebalance-started")
"""Lines of the broker that may print what a member was set to (MemberMetadata)."""


@dataclass(frozen=True, slots=True)
class Limit:
    """How long a client may do something, and where that is told."""

    key: str
    seconds: float
    evidence: Evidence | None
    """None for a default."""


def poll_limit(facts: Facts, client_id: str, at: float | None) -> Limit | None:
    """Time that may pass between two polls of *client_id* at *at*: the poll interval, or the session timeout of 0.10.0.

    A rebalance timeout that the broker prints is the client's poll interval (ConsumerCoordinator, since 0.10.1).
    """
    key = polling.which_timeout(configured.version_of(facts, client_id, at)) or INTERVAL
    return _limit(facts, client_id, key, at)


def session_limit(facts: Facts, client_id: str, at: float | None) -> Limit | None:
    """Time after which the coordinator expels *client_id* when it hears nothing; the broker's own in KIP-848 groups."""
    protocol = configured.consumer_value(facts, client_id, "group.protocol", at)
    known = rules(protocol.value if protocol else None)
    own = [s for s in facts.settings if s.key == known.session_setting and s.value.isdigit()]
    if known.settings_of == "broker" and own:
        return Limit(SESSION, int(own[-1].value) / 1000, own[-1].evidence)
    return _limit(facts, client_id, SESSION, at)


def interval(facts: Facts, client_id: str, at: float | None) -> float | None:
    """``poll_limit`` in seconds; None where nothing tells it."""
    found = poll_limit(facts, client_id, at)
    return found.seconds if found else None


def poll_records(facts: Facts, client_id: str, at: float | None) -> int | None:
    """What max.poll.records was for *client_id* at *at*.

    None where a later process printed another value than that of before: polls were larger then.
    """
    value = configured.consumer_value(facts, client_id, "max.poll.records", at)
    told = value.number if value else None
    printed = value.setting if value else None
    if told is None or printed is None or at is None or (printed.at or 0.0) <= at:
        return told
    own = [b for b in facts.batches if b.source == printed.source or b.client_id == client_id]
    return None if any(b.at <= (printed.at or 0.0) and b.longest_records > told for b in own) else told


def _limit(facts: Facts, client_id: str, key: str, at: float | None) -> Limit | None:
    value = configured.consumer_value(facts, client_id, key, at)
    setting = value.setting if value else None
    if value is not None and value.number is not None and setting is not None and setting.origin == "printed":
        return Limit(key, value.number / 1000, setting.evidence)
    told = _told(facts).get((client_id, key))
    if told is not None:
        return told
    if value is None or value.number is None:
        return None
    return Limit(key, value.number / 1000, setting.evidence if setting else None)


@per_facts
def _told(facts: Facts) -> Mapping[tuple[str, str], Limit]:
    """Limits by (client id, key) that lines about members tell first; what a client says of itself counts more."""
    found: dict[tuple[str, str], Limit] = {}
    for episode in facts.of_kind("poll-timeout", *_MEMBERS):
        exceeded = _EXCEEDED.search(episode.first.text)
        if exceeded and episode.client_id:
            found.setdefault((episode.client_id, INTERVAL), Limit(INTERVAL, int(exceeded[1]) / 1000, episode.first))
        for client, session, rebalance in _METADATA.findall(episode.first.text):
            found.setdefault((client, SESSION), Limit(SESSION, int(session) / 1000, episode.first))
            found.setdefault((client, INTERVAL), Limit(INTERVAL, int(rebalance) / 1000, episode.first))
    return found


def settings_of(facts: Facts, client_id: str, key: str) -> tuple[Setting, ...]:
    """What *client_id* printed for *key*, by time."""
    own = [s for s in facts.settings if s.key == key and s.owner == client_id and s.origin == "printed"]
    return tuple(sorted(own, key=lambda s: (s.at or 0.0, s.source, s.line or 0)))
