"""Lines in which a broker's group coordinator tells of the lives of consumer groups, 0.9 to 4.x, KIP-848 too.

Sample lines::

    [GroupCoordinator 1]: Preparing to rebalance group g in state PreparingRebalance with old generation 4
    (__consumer_offsets-2) (reason: removing member c-1-… on heartbeat expiration) (kafka.coordinator.group.…)
    [GroupCoordinator id=1 topic=__consumer_offsets partition=4] [GroupId g] Member j1VG… fenced from the group because
    the member session expired.. (org.apache.kafka.coordinator.group.GroupMetadataManager)

Texts are those of GroupCoordinator.scala (to 3.9) and GroupMetadataManager.java (3.7 on).
"""

from __future__ import annotations

from mqlab.formats.base import Signature

_END = r"\.?(?: \([\w.$]+\))?(?: \[[^\]]*\])?\s*$"
"""What ends a line: the logger's name, and the thread where a layout adds it."""
_GENERATION = r"(?:.*? generation (?P<value>-?\d+))?"
_ID = r"(?:[^\s,'=()\[\]]+-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[\w-]{22}(?![\w-]))"
_MEMBER = (
    rf"(?:[Mm]ember(?:[ .-]id:?)?|with id|\bfor) \(?(?P<member_id>{_ID})|\b(?:memberId=|Set\()(?P<member_id2>{_ID})"
)
"""A member that a line names by the way."""

SIGNATURES: tuple[Signature, ...] = (
    Signature(
        "rebalance-started",
        begins=rf"Preparing to re(?:balance|stabilize) group (?P<group>\S+){_GENERATION}"
        rf"(?:.*?\(reason: (?P<reason>.*?)\){_END})?",
        also=_MEMBER,
    ),
    Signature(
        "rebalance-stabilized",
        begins=rf"Stabilized group (?P<group>\S+){_GENERATION}(?:.*? with (?P<reason>\d+) members)?",
    ),
    Signature(
        "rebalance-assigned",
        begins=r"Assignment received from leader (?:(?P<member_id>\S+) )?for group (?P<group>\S+)"
        rf"{_GENERATION}(?:.*? has (?P<reason>\d+) members)?",
    ),
    Signature(
        "group-emptied",
        begins=r"Group (?P<group>.+?) (?:with )?generation (?P<value>-?\d+) is (?:now empty|dead and removed)",
    ),
    Signature("member-expired", begins=r"Member (?P<member_id>.+) in group (?P<group>.+) has failed"),
    Signature(
        "member-expired",
        begins=r"Member (?P<member_id>.+) fenced from the group because (?P<reason>the member session expired)",
    ),
    Signature(
        "member-dropped",
        begins=r"Group (?P<group>.+) removed (?:dynamic )?members who haven't joined"
        r"(?:: \w*[(\[]?(?P<entries>(?P<reason>[^)\]]*)))?",
        also=_MEMBER,
    ),
    Signature(
        "member-dropped",
        begins=r"Pending (?:dynamic )?[Mm]ember (?:with id )?(?P<entries>(?P<member_id>\S+))"
        rf"(?: in group (?P<group>\S+))?.* has been removed (?P<reason>.*?)\.*{_END}",
    ),
    Signature(
        "member-dropped",
        begins=rf"Member (?P<entries>(?P<member_id>\S+)).* fenced from the group because (?P<reason>.*?)\.*{_END}",
    ),
    Signature(
        "member-left",
        begins=r"(?:Dynamic |Static )?[Mm]ember(?: MemberMetadata\(memberId=(?P<member_id>[^,)]+).*?\)\)?"
        r"|\[.*?member\.id (?P<member_id2>\S+)\]| (?P<member_id3>\S+).*?)(?: in group (?P<group>\S+))?"
        rf" (?:has |temporarily )?left[ ,](?:group (?P<group2>\S+) through)?"
        rf"(?:.*?client reason: (?P<reason>.*?){_END})?",
        rare=r" left[ ,]",
        also=r"clientId=(?P<client_id>[^,)\s]+), clientHost=/?(?P<peer>[^,)\s]+)",
    ),
    Signature(
        "static-member-replaced",
        begins=r"Static member (?:Some\()?(?P<reason>[^\s()]+)\)? (?:of group (?P<group>\S+) )?"
        r"with unknown member id rejoins(?:.*?new member id (?P<member_id>[^\s,]+))?",
    ),
    Signature(
        "static-member-replaced",
        begins=r"Static member with groupInstanceId=(?P<reason>\S+) and unknown member id joins"
        r"(?: group (?P<group>\S+))?",
        also=_MEMBER,
    ),
    Signature(
        "static-member-fenced",
        begins=r"Request memberId=(?P<member_id>\S+) for static member with groupInstanceId=(?P<reason>\S+)"
        r" is fenced by",
    ),
    Signature(
        "static-member-fenced",
        contains=r"identified as a known static member (?P<reason>[^\s,]+), but not matching",
        also=_MEMBER,
    ),
    Signature(
        "member-joined",
        begins=r"(?:Dynamic [Mm]ember with unknown member id joins group (?P<group>\S+)"
        r"|Pending dynamic member with id (?P<member_id>.+) joins group (?P<group2>\S+))"
        r"(?: in (?P<reason>\w+) state)?",
        also=_MEMBER,
    ),
    Signature(
        "member-joined",
        begins=r"(?:Static )?[Mm]ember (?P<member_id>\S+).* joins the consumer group"
        r"(?: using the (?P<reason>\w+) protocol)?",
    ),
    Signature("member-joined", begins=r"Adding new static member .+ to group (?P<group>\S+)", also=_MEMBER),
    Signature("group-epoch-bumped", begins=r"Bumped group epoch to (?P<value>\d+)"),
    Signature(
        "target-assigned",
        begins=r"Computed (?:a )?new target assignment for epoch (?P<value>\d+)"
        r"(?:.*? with '(?P<reason>[^']+)' assignor)?",
    ),
    Signature(
        "group-loaded",
        begins=rf"(?:Loading group metadata for (?P<group>\S+) with|Loaded (?:classic|consumer) group (?P<group2>\S+))"
        rf"{_GENERATION}",
    ),
    Signature("group-unloaded", begins=rf"Unloading group metadata for{_GENERATION}"),
    Signature("coordinator-elected", begins=r"Elected as the group coordinator for partition (?P<value>\d+)"),
    Signature("coordinator-resigned", begins=r"Resigned as the group coordinator for partition (?P<value>\d+)"),
    Signature(
        "offsets-expired",
        begins=r"Removed (?P<value>[1-9]\d*) expired offsets",
        rare=r"(?:[1-9]|[0-9]0) expired offsets",
    ),
)
"""Lines about groups, in the order in which they are tried."""
