"""Who sets the times after which a silent member is expelled, by the protocol of the group.

Source: KIP-62 (classic); KIP-848 and ``GroupCoordinatorConfig`` (consumer, since 4.0).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rules:
    """Settings of one protocol."""

    settings_of: str
    """Where both are set: consumer or broker."""
    session_setting: str
    """What limits a silence of heartbeats."""
    heartbeat_setting: str


CLASSIC = Rules("consumer", "session.timeout.ms", "heartbeat.interval.ms")
CONSUMER = Rules("broker", "group.consumer.session.timeout.ms", "group.consumer.heartbeat.interval.ms")


def rules(protocol: str | None) -> Rules:
    """Rules of a value of group.protocol; the classic ones where nothing is set."""
    return CONSUMER if (protocol or "").lower() == "consumer" else CLASSIC
