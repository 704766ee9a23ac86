"""Lines in which a broker's group coordinator tells of the lives of consumer groups, 0.9 to 4.x, KIP-848 too.

Sample lines::

    [GroupCoordinator 1]: Preparing to rebalance group g in state PreparingRebalance with old generation 4
    (__consumer_offsets-2) (reason: removing member c-1-… on heartbeat expiration) (kafka.coordinator.group.…)
    [GroupCoordinator id=1 topic=__consumer_offsets partition=4] [GroupId g] Member j1VG… fenced from the group because
    the member session expired.. (org.apache.kafka.coordinator.group.GroupMetadataManager)

Texts are those of GroupCoordinator.scala (to 3.9) and GroupMetadataManager.java (3.7 on).
"""

from __future__ import annotations

from mqlab.loaders.base import Signature

_END = r"\.?(?: \([\w.$]+\))?(?: \[[^\]]*\])?\s*$"
"""What ends a line: the logger's name, and the thread where a layout adds it."""
_GENERATION = r" generation (-?\d+)"

SIGNATURES: tuple[Signature, ...] = (
    Signature(
        "rebalance-started",
        begins=r"Preparing to re(?:balance|stabilize) group",
        words=("Preparing",),
        value=_GENERATION,
        reason=rf"\(reason: (.*?)\){_END}",
    ),
    Signature(
        "rebalance-stabilized",
        begins=r"Stabilized group",
        words=("Stabilized",),
        value=_GENERATION,
        reason=r"with (\d+) members",
    ),
    Signature(
        "rebalance-assigned",
        begins=r"Assignment received from leader",
        words=("Assignment received",),
        value=_GENERATION,
        reason=r"has (\d+) members",
    ),
    Signature(
        "group-emptied",
        begins=r"Group .+ generation \d+ is (?:now empty|dead and removed)",
        words=("Group",),
        value=_GENERATION,
    ),
    Signature("member-expired", begins=r"Member .+ in group .+ has failed", words=("Member",)),
    Signature(
        "member-expired",
        begins=r"Member .+ fenced from the group because the member session expired",
        words=("Member",),
        reason=rf"because (.*?)\.*{_END}",
    ),
    Signature(
        "member-dropped",
        begins=r"Group .+ removed (?:dynamic )?members who haven't joined",
        words=("Group",),
        counted=r"haven't joined: \w*[(\[]?([^)\]]*)",
        reason=r"haven't joined: \w*[(\[]?([^)\]]*)",
    ),
    Signature(
        "member-dropped",
        begins=r"(?:Pending (?:dynamic )?[Mm]ember .+ has been removed|Member .+ fenced from the group because)",
        words=("Pending", "Member"),
        counted=r"[Mm]ember(?: with id)? (\S+)",
        reason=rf"(?:has been removed|because) (.*?)\.*{_END}",
    ),
    Signature(
        "member-left",
        begins=r"(?:Dynamic |Static )?[Mm]ember(?: .+|\[.*?\]| MemberMetadata\(.*?\)\)?)(?: in group .+)?"
        r" (?:has |temporarily )?left[ ,]",
        words=("Member", "Dynamic", "Static member", "Static Member"),
        reason=rf"client reason: (.*?){_END}",
    ),
    Signature(
        "static-member-replaced",
        begins=r"Static member (?:\S+ (?:of group \S+ )?with unknown member id rejoins"
        r"|with groupInstanceId=\S+ and unknown member id joins)",
        words=("Static member",),
        reason=r"groupInstanceId=(\S+)|Static member (?:Some\()?([^\s()]+)",
    ),
    Signature(
        "static-member-fenced",
        begins=r"Request memberId=\S+ for static member with groupInstanceId=\S+ is fenced by",
        words=("Request memberId",),
        reason=r"groupInstanceId=(\S+)",
    ),
    Signature(
        "static-member-fenced",
        contains=r"identified as a known static member \S+, but not matching",
        words=("known static member",),
        reason=r"known static member ([^\s,]+)",
    ),
    Signature(
        "member-joined",
        begins=r"(?:Dynamic [Mm]ember with unknown member id joins group|Pending dynamic member with id .+ joins group"
        r"|(?:Static )?[Mm]ember .+ joins the consumer group|Adding new static member .+ to group)",
        words=("Dynamic", "Pending", "Member", "Static member", "Adding new static"),
        reason=r" in (\w+) state| using the (\w+) protocol",
    ),
    Signature(
        "group-epoch-bumped",
        begins=r"Bumped group epoch to \d+",
        words=("Bumped group epoch",),
        value=r"epoch to (\d+)",
    ),
    Signature(
        "target-assigned",
        begins=r"Computed (?:a )?new target assignment for epoch \d+",
        words=("Computed",),
        value=r"for epoch (\d+)",
        reason=r"with '([^']+)' assignor",
    ),
    Signature(
        "group-loaded",
        begins=r"(?:Loading group metadata for \S+ with|Loaded (?:classic|consumer) group )",
        words=("Loading group metadata", "Loaded classic group", "Loaded consumer group"),
        value=_GENERATION,
    ),
    Signature(
        "group-unloaded",
        begins=r"Unloading group metadata for ",
        words=("Unloading group metadata",),
        value=_GENERATION,
    ),
    Signature(
        "coordinator-elected",
        begins=r"Elected as the group coordinator for partition",
        words=("Elected as the group",),
        value=r"for partition (\d+)",
    ),
    Signature(
        "coordinator-resigned",
        begins=r"Resigned as the group coordinator for partition",
        words=("Resigned as the group",),
        value=r"for partition (\d+)",
    ),
    Signature(
        "offsets-expired",
        begins=r"Removed [1-9]\d* expired offsets",
        words=("Removed",),
        value=r"Removed (\d+) expired",
    ),
)
"""Lines about groups, in the order in which they are tried."""
