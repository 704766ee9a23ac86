"""What the two protocols of consumer groups do when a member is late, silent or slow to hand over.

Source: KIP-62, KIP-345 and ``GroupCoordinator`` (classic); KIP-848 and ``GroupMetadataManager`` (consumer, since 4.0).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rules:
    """Who keeps which time, and what is done when it is over."""

    session_setting: str
    """What limits a silence of heartbeats."""
    heartbeat_setting: str
    settings_of: str
    """Where both are set: consumer or broker."""
    late_poll: str
    """What a client does whose application did not poll in time."""
    late_poll_static: str
    """The same of a member with a group.instance.id."""
    same_member_id: bool
    """Whether it comes again under the same member id."""
    rebalance_timeout: str
    """When max.poll.interval.ms limits a rebalance, too."""
    stops_everybody: bool
    """Whether all members wait for the slowest one."""


CLASSIC = Rules(
    session_setting="session.timeout.ms",
    heartbeat_setting="heartbeat.interval.ms",
    settings_of="consumer",
    late_poll="sends LeaveGroup",
    late_poll_static="stops its heartbeats: the broker expels it after the session timeout",
    same_member_id=False,
    rebalance_timeout="in every rebalance: the coordinator waits so long for members to join",
    stops_everybody=True,
)
CONSUMER = Rules(
    session_setting="group.consumer.session.timeout.ms",
    heartbeat_setting="group.consumer.heartbeat.interval.ms",
    settings_of="broker",
    late_poll="sends a heartbeat with epoch -1",
    late_poll_static="sends a heartbeat with epoch -2",
    same_member_id=True,
    rebalance_timeout="only for a member that must give partitions back",
    stops_everybody=False,
)


def rules(protocol: str | None) -> Rules:
    """Rules of a value of group.protocol; the classic ones where nothing is set."""
    return CONSUMER if (protocol or "").lower() == "consumer" else CLASSIC
