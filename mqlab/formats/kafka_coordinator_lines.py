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
_GENERATION = r" generation (-?\d+)"

SIGNATURES: tuple[Signature, ...] = (
    Signature(
        "rebalance-started",
        begins=r"Preparing to re(?:balance|stabilize) group",
        value=_GENERATION,
        reason=rf"\(reason: (.*?)\){_END}",
    ),
    Signature("rebalance-stabilized", begins=r"Stabilized group", value=_GENERATION, reason=r"with (\d+) members"),
    Signature(
        "rebalance-assigned", begins=r"Assignment received from leader", value=_GENERATION, reason=r"has (\d+) members"
    ),
    Signature("group-emptied", begins=r"Group .+ generation \d+ is (?:now empty|dead and removed)", value=_GENERATION),
    Signature("member-expired", begins=r"Member .+ in group .+ has failed"),
    Signature(
        "member-expired",
        begins=r"Member .+ fenced from the group because the member session expired",
        reason=rf"because (.*?)\.*{_END}",
    ),
    Signature(
        "member-dropped",
        begins=r"Group .+ removed (?:dynamic )?members who haven't joined",
        counted=r"haven't joined: \w*[(\[]?([^)\]]*)",
        reason=r"haven't joined: \w*[(\[]?([^)\]]*)",
    ),
    Signature(
        "member-dropped",
        begins=r"(?:Pending (?:dynamic )?[Mm]ember .+ has been removed|Member .+ fenced from the group because)",
        counted=r"[Mm]ember(?: with id)? (\S+)",
        reason=rf"(?:has been removed|because) (.*?)\.*{_END}",
    ),
    Signature(
        "member-left",
        begins=r"(?:Dynamic |Static )?[Mm]ember(?: .+|\[.*?\]| MemberMetadata\(.*?\)\)?)(?: in group .+)?"
        r" (?:has |temporarily )?left[ ,]",
        rare=r" left[ ,]",
        reason=rf"client reason: (.*?){_END}",
    ),
    Signature(
        "static-member-replaced",
        begins=r"Static member (?:\S+ (?:of group \S+ )?with unknown member id rejoins"
        r"|with groupInstanceId=\S+ and unknown member id joins)",
        reason=r"groupInstanceId=(\S+)|Static member (?:Some\()?([^\s()]+)",
    ),
    Signature(
        "static-member-fenced",
        begins=r"Request memberId=\S+ for static member with groupInstanceId=\S+ is fenced by",
        reason=r"groupInstanceId=(\S+)",
    ),
    Signature(
        "static-member-fenced",
        contains=r"identified as a known static member \S+, but not matching",
        reason=r"known static member ([^\s,]+)",
    ),
    Signature(
        "member-joined",
        begins=r"(?:Dynamic [Mm]ember with unknown member id joins group|Pending dynamic member with id .+ joins group"
        r"|(?:Static )?[Mm]ember .+ joins the consumer group|Adding new static member .+ to group)",
        reason=r" in (\w+) state| using the (\w+) protocol",
    ),
    Signature("group-epoch-bumped", begins=r"Bumped group epoch to \d+", value=r"epoch to (\d+)"),
    Signature(
        "target-assigned",
        begins=r"Computed (?:a )?new target assignment for epoch \d+",
        value=r"for epoch (\d+)",
        reason=r"with '([^']+)' assignor",
    ),
    Signature(
        "group-loaded",
        begins=r"(?:Loading group metadata for \S+ with|Loaded (?:classic|consumer) group )",
        value=_GENERATION,
    ),
    Signature("group-unloaded", begins=r"Unloading group metadata for ", value=_GENERATION),
    Signature(
        "coordinator-elected", begins=r"Elected as the group coordinator for partition", value=r"for partition (\d+)"
    ),
    Signature(
        "coordinator-resigned", begins=r"Resigned as the group coordinator for partition", value=r"for partition (\d+)"
    ),
    Signature(
        "offsets-expired",
        begins=r"Removed [1-9]\d* expired offsets",
        rare=r"(?:[1-9]|[0-9]0) expired offsets",
        value=r"Removed (\d+) expired",
    ),
)
"""Lines about groups, in the order in which they are tried."""
