"""``kafka-topics.sh --describe`` (0.8 … 4.x) → SETTINGS of topics, EVENTS of kind ``partition-described``.

Sample lines::

    Topic: t  TopicId: 5bPS6_FGSAekOv5SqRCxcg  PartitionCount: 1  ReplicationFactor: 3  Configs: cleanup.policy=compact
        Topic: t  Partition: 0  Leader: 1  Replicas: 1,2,3  Isr: 1,2  Elr: N/A  LastKnownElr: N/A

The cells are parted by tabs. A leader ``none`` or ``-1`` means the partition is offline. Values among Configs may
hold commas.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mqlab.formats import console
from mqlab.formats.base import About, Data, Head, Items, Lines, Spec, regex
from mqlab.formats.values import real
from mqlab.sources import Role
from mqlab.tables import EVENTS, SETTINGS, Row

FORMAT = Spec("kafka-topics-describe", Role.COMMAND, (SETTINGS, EVENTS), "kafka")

_TOPIC = regex(
    r"^\s*Topic:\s*(?P<topic>\S+)\s+(?:TopicId:\s*\S+\s+)?PartitionCount:\s*(?P<partitions>\d+)"
    r"\s+ReplicationFactor:\s*(?P<replicas>\d+)(?:\s+Configs:\s*(?P<configs>.*?))?"
    r"(?:\s*MarkedForDeletion:\s*\w+)?\s*$"
)
_PARTITION = regex(
    r"^\s*Topic:\s*(?P<topic>\S+)\s+Partition:\s*(?P<queue>\d+)\s+Leader:\s*(?P<leader>\S+).*?"
    r"\s+Replicas:\s*(?P<replicas>[\d,]*)\s+Isr:\s*(?P<in_sync>[\d,]*)"
)
_NEXT_KEY = re.compile(r",(?=[a-z][a-z.]*=)")
_SAID = r"executing topic command|TopicCommand"


def recognise(head: Head) -> bool:
    """True for topic or partition lines of the tool."""
    found = any(_TOPIC.search(line) or _PARTITION.search(line) for line in console.plain_lines(head))
    return found or console.only_errors(head, _SAID, r"topics-describe|kafka-topics")


def parse(lines: Lines, about: About) -> Items:
    """Replication and configs of each topic; leader and in-sync replicas of each partition."""
    for one in console.shown(lines, about):
        if topic := _TOPIC.search(one.plain):
            yield Data(one.line, tuple(_settings(one, topic)))
        elif partition := _PARTITION.search(one.plain):
            yield Data(one.line, (_partition(one, partition),))
        else:
            yield console.remark(one)


def _settings(one: console.Shown, topic: re.Match[str]) -> Iterator[Row]:
    counts = [f"partitions={topic['partitions']}", f"replication.factor={topic['replicas']}"]
    for pair in [*counts, *_NEXT_KEY.split(topic["configs"] or "")]:
        key, told, value = pair.partition("=")
        if told:
            yield SETTINGS.row(at=one.at, scope="topic", owner=topic["topic"], key=key, value=value, origin="describe")


def _partition(one: console.Shown, partition: re.Match[str]) -> Row:
    """Its peer and value are the leader, none and -1 where it has none."""
    leader = partition["leader"]
    offline = leader in ("-1", "none")
    return EVENTS.row(
        at=one.at,
        system="kafka",
        kind="partition-described",
        topic=partition["topic"],
        queue=partition["queue"],
        peer="none" if offline else leader,
        reason=f"replicas {partition['replicas']} isr {partition['in_sync']}".rstrip() + ", no leader" * offline,
        value=-1.0 if offline else real(leader),
    )
