"""What the words of one line about a Kafka group say: who, what made the coordinator begin, and why a client left.

Texts of GroupCoordinator.scala 0.9-3.9, GroupMetadataManager.java 3.7-4.x and of client reasons (KIP-800).
"""

from __future__ import annotations

import re

from mqlab.facts import Episode
from mqlab.rebalances.rows import Trigger

_RANDOM = re.compile(r"-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$")
_MEMBER = re.compile(r"\S*[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_CLIENT_REASON = re.compile(r"client reason: (.*?)\.?$", re.DOTALL)
_STATIC = re.compile(
    r"(?:instance ?id |groupInstanceId=|[Ss]tatic member (?=Some\(|\S+ of group))(?:Some\()?([^\s(),;]+)"
)
_NOBODY = frozenset({"None", "null", "Optional.empty"})

POLL_TIMEOUT = "poll timeout"
CLOSED = ("being closed", "unsubscribed from all topics")
"""What a client says that leaves because its application wants to."""
FOLLOW_UP = "need to revoke partitions and re-join"
UNTOLD = frozenset({"", "not provided"})
"""Client reasons that are none: of clients before 3.2 and of librdkafka."""

_MOVED = re.compile(r"NotCoordinator|CoordinatorNotAvailable|CoordinatorLoad|NOT_COORDINATOR|COORDINATOR_")
_CHANGED = ("metadata has changed", "subscription has changed", "does not match the current subscription")
_BEGUN = (
    (re.compile(r"heartbeat expiration|session expired"), Trigger.HEARTBEAT_EXPIRY),
    (re.compile(r"selectedProtocol will change because static"), Trigger.STATIC_FENCED),
    (re.compile(r"\bLeaveGroup\b"), Trigger.LEAVE),
    (re.compile(r"Adding new (?:\w+ )?member|new member"), Trigger.JOIN),
)  # fmt: skip


def client_of(member_id: str | None) -> str | None:
    """Client id in a member id of the classic protocol, which is ``CLIENT-UUID``; None where it names none.

    Of a static member it is the group.instance.id that stands there (GroupCoordinator, KIP-345).
    """
    if member_id is None:
        return None
    cut = _RANDOM.sub("", member_id)
    return cut if cut and cut != member_id else None


def members_in(text: str | None) -> tuple[str, ...]:
    """Member ids in *text*, in their order."""
    return tuple(one.strip("(){},[]") for one in _MEMBER.findall(text or ""))


def client_reason(reason: str | None) -> str:
    """What the client itself said, without the coordinator's words; empty where it said nothing."""
    found = _CLIENT_REASON.search(reason or "")
    said = found[1].strip() if found else ""
    return "" if said in UNTOLD else said


def static_of(text: str | None) -> str | None:
    """The group.instance.id that *text* names."""
    for found in _STATIC.finditer(text or ""):
        if found[1] not in _NOBODY:
            return found[1]
    return None


def trigger_of(reason: str | None) -> Trigger:
    """What the words after ``reason:`` say; UNKNOWN for those that name a member that was there before and no more.

    Source: GroupCoordinator.prepareRebalance and its callers.
    """
    words = reason or ""
    said = client_reason(words) or words
    for begun, trigger in _BEGUN:
        if begun.search(words):
            told = POLL_TIMEOUT in said and trigger is Trigger.LEAVE
            return Trigger.POLL_TIMEOUT if told else trigger
    if FOLLOW_UP in said:
        return Trigger.FOLLOW_UP
    if any(word in said for word in _CHANGED):
        return Trigger.SUBSCRIPTION
    return Trigger.COORDINATOR_MOVE if _MOVED.search(said) else Trigger.UNKNOWN


def rejoined(reason: str | None) -> bool:
    """A member that was in the group joined again, without saying why: metadata, subscription or a follow-up."""
    return bool(re.search(r"Updating metadata for member|joining group during|re-joining group", reason or ""))


def member_of(line: Episode) -> str | None:
    """The member that *line* is about."""
    if line.member_id:
        return line.member_id
    found = members_in(line.reason)
    return found[0] if found else None


def timed_out(line: Episode) -> float:
    """When the time between two polls was up, of a line about that, in epoch seconds.

    Java's KIP-848 client says it a second time with the next poll, and by how much it was too late
    (ConsumerHeartbeatRequestManager.resetPollTimer); what librdkafka tells is from the moment itself.
    """
    late = 0.0 if line.value_max is None or "MAXPOLL" in line.first.text else line.value_max
    return (line.first_at or 0.0) - late


def number(line: Episode) -> int | None:
    """Generation, epoch or count that *line* tells."""
    return None if line.value_max is None else int(line.value_max)


def count_told(line: Episode) -> int | None:
    """Number of members that a line about a stable group tells (2.8 and later)."""
    words = line.reason or ""
    found = re.search(r"(\d+) members|^(\d+)$", words) or re.search(r"(?:with|has) (\d+) members", line.first.text)
    return int(next(part for part in found.groups() if part)) if found else None
