"""A Kafka group drawn by hand: lines of its coordinator and of its clients as the loaders tell them, one a row.

``{a1}`` stands for the first member id of client ``a``, ``{a2}`` for its next one, ``{1}`` for an id
of the KIP-848 protocol, which names no client, ``{shop-0-1}`` for one of ``shop-0``.
"""

from __future__ import annotations

import re

from facts_builder import at, episode

from mqlab.facts import Episode
from mqlab.rows import Assignment

GROUP = "billing"
TOPIC = "invoices"
BROKER = "logs/server.log"
_MEMBER = re.compile(r"\{(?:([\w.-]*)-|([\w.-]*?))(\d+)\}")

_BROKER = {
    "preparing": ("rebalance-started", "Preparing to rebalance group {g} with old generation {n} (reason: {rest})"),
    "stable": ("rebalance-stabilized", "Stabilized group {g} generation {n} with {rest} members"),
    "assigned": ("rebalance-assigned", "Assignment received from leader for group {g} for generation {n}. {rest}"),
    "empty": ("group-emptied", "Group {g} with generation {n} is now empty (__consumer_offsets-1)"),
    "bumped": ("group-epoch-bumped", "[GroupId {g}] Bumped group epoch to {n} with metadata hash 1."),
    "target": ("target-assigned", "[GroupId {g}] Computed a new target assignment for epoch {n} with 'uniform'"),
    "loaded": ("group-loaded", "Loading group metadata for {g} with generation {n}"),
    "unloaded": ("group-unloaded", "Unloading group metadata for {g} with generation {n}"),
    "record": ("group-metadata", "key: group_metadata::group={g} payload: {{generationId: {n}}}"),
    "left": ("member-left", "Member {m} in group {g} has left, removing it from the group; client reason: {rest}"),
    "expired": ("member-expired", "Member {m} in group {g} has failed, removing it from the group"),
    "dropped": ("member-dropped", "Group {g} removed dynamic members who haven't joined: Set({m})"),
    "new": ("member-joined", "Dynamic member with unknown member id joins group {g}. Created a new member id {m}"),
    "replaced": ("static-member-replaced", "Static member Some({rest}) of group {g} rejoins, new member id {m}"),
}  # fmt: skip
_NUMBERED = frozenset({"preparing", "stable", "assigned", "empty", "bumped", "target", "loaded", "unloaded", "record"})

_CLIENT = {
    "settings": ("settings-printed", "ConsumerConfig values: "),
    "starting": ("app-started", "worker starting"),
    "stopping": ("app-stopping", "worker stopping"),
    "joining": ("join-started", "(Re-)joining group"),
    "rejoining": ("join-requested", "Request joining group due to: {rest}"),
    "joined": (
        "join-completed",
        "Successfully joined group with generation Generation{{generationId={n}, {m}, protocol='{rest}'}}",
    ),
    "synced": ("sync-completed", "Successfully synced group in generation Generation{{generationId={n}, {m}}}"),
    "got": ("partitions-assigned", "Adding newly assigned partitions: {rest}"),
    "revoked": ("partitions-revoked", "Revoke previously assigned partitions {rest}"),
    "lost": ("partitions-lost", "Lost previously assigned partitions {rest}"),
    "timeout": ("poll-timeout", "Member {m} sending LeaveGroup request due to consumer poll timeout has expired."),
    "maxpoll": ("poll-timeout", "MAXPOLL|{c}#consumer-1| Application maximum poll interval exceeded by {n}"),
    "overdue": ("poll-timeout", "Consumer poll timeout has expired, exceeded by {n} s. Will rejoin with member id {m}"),
    "leaving": ("leave-sent", "Member {m} sending LeaveGroup request to coordinator due to {rest}"),
    "failed": ("commit-failed", "CommitFailedException: Commit cannot be completed"),
    "closed": ("consumer-closed", "App info kafka.consumer for {c} unregistered"),
    "reset": ("generation-reset", "Resetting generation and member id due to: {rest}"),
    "exited": ("process-exit", "{c} exited with status {n}"),
    "committed": ("offset-set", "Setting offset for partition {rest} to the committed offset"),
}
_LISTS = frozenset({"got", "revoked", "lost"})
_UNSAID = frozenset({"settings", "starting", "stopping", "closed", "failed", "exited"})
"""Lines that name no group."""


def member(client: str, number: int = 1) -> str:
    """Member id of the client's so-and-so-many-th life; of no client one as KIP-848 makes them."""
    if not client:
        return f"j1VGU6MqTOSUYAlDFh{number:04d}"
    return f"{client}-{0:08d}-0000-4000-8000-{number:012d}"


def coordinator(text: str, *, group=GROUP, source=BROKER, hosts=None) -> tuple[Episode, ...]:
    """Lines of the coordinator's log: ``clock word [generation] the rest``; *hosts* are the addresses of clients.

    The words are ``preparing 0 reason``, ``stable 1 members``, ``assigned 1 members``, ``empty 2``, ``bumped 3``,
    ``record 3 members``, ``left {a1} client reason``, ``expired {a1}``, ``dropped {a1}``, ``new {a1}``,
    ``replaced {a2} instance``.
    """
    rows = []
    for line, (clock, word, rest) in enumerate(_rows(text), 1):
        kind, said = _BROKER[word]
        number, rest = rest.partition(" ")[::2] if word in _NUMBERED else (None, rest)
        ids, rest = _members(rest, keep=word == "preparing")
        one = ids[0] if ids else None
        host = (hosts or {}).get(one[:-37] if one else None)
        rows.append(
            episode(
                kind, clock, source, line=line, group=group, member_id=one, peer=host, reason=rest or None,
                left=None if number is None else int(number),
                text=said.format(g=group, n=number, m=one, rest=rest),
            )
        )  # fmt: skip
    return tuple(rows)


def client(name: str, text: str, *, group=GROUP, source=None, printed=True, unnamed=False) -> tuple[Episode, ...]:
    """Lines of a client's log: ``clock word …``; without *printed* its lines name no member id (before 2.7).

    The words are ``settings``, ``starting``, ``joining``, ``rejoining reason``, ``joined 1 {a1} protocol``,
    ``synced 1 {a1}``, ``got t-0, t-1``, ``revoked t-0``, ``lost t-0``, ``timeout {a1}``, ``leaving {a1} reason``,
    ``maxpoll 0.3`` of librdkafka, ``overdue 9.5 {1}`` with the next poll of a KIP-848 client, both in s,
    ``failed``, ``committed t-0 99``, ``stopping``, ``closed``, ``reset reason``, ``exited 1``.
    *unnamed* lines name no client either (before 1.0).
    """
    rows = []
    for line, (clock, word, rest) in enumerate(_rows(text), 1):
        kind, said = _CLIENT[word]
        number, rest = _number(word, rest)
        ids, rest = _members(rest, keep=False)
        place = re.fullmatch(r"(\S+)-(\d+)", rest) if word == "committed" else None
        rows.append(
            episode(
                kind, clock, source or f"clients/{name}.log", line=line, group=None if word in _UNSAID else group,
                client_id=None if unnamed or word in _UNSAID - {"closed"} else name,
                member_id=ids[0] if ids and printed else None,
                reason=None if place else rest or None, left=number,
                text=said.format(
                    c=name, g=group, n=number, m=ids[0] if ids else "", rest=rest or (word == "joined" and "range")
                ),
                topic=place[1] if place else None, queue=place[2] if place else None,
            )
        )  # fmt: skip
    return tuple(rows)


def held(when, *owners: tuple[str, str], topic=TOPIC, group=GROUP, source="clients/a.log") -> tuple[Assignment, ...]:
    """What one ``Finished assignment`` line gives to whom: (member, ``0 1 2``) pairs."""
    text = "Finished assignment for group at generation 1"
    return tuple(
        Assignment(at(when), group, topic, queue, None, _id(who), None, source, 9, text)
        for who, queues in owners
        for queue in queues.split()
    )


def _rows(text):
    for row in filter(str.strip, text.splitlines()):
        clock, word, *rest = row.split(None, 2)
        yield clock, word, " ".join(rest).strip()


def _number(word, rest):
    """The value of a line and what is left of it."""
    if word in ("joined", "synced", "exited", "maxpoll", "overdue"):
        number, _, rest = rest.partition(" ")
        return float(number), rest
    if word == "committed":
        place, _, offset = rest.partition(" ")
        return float(offset), place
    return (float(len(rest.split(", "))) if rest else 0.0) if word in _LISTS else None, rest


def _members(rest, *, keep):
    """Member ids drawn in *rest*, and *rest* with them in full or without them."""
    ids = [_drawn(found) for found in _MEMBER.finditer(rest)]
    return ids, _MEMBER.sub(lambda found: _drawn(found) if keep else "", rest).strip()


def _drawn(found):
    return member(found[1] or found[2], int(found[3]))


def _id(drawn):
    found = _MEMBER.fullmatch(drawn)
    return _drawn(found) if found else drawn
