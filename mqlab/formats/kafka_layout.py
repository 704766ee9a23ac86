r"""How Kafka's brokers and clients lay out all their lines: who writes, and how a partition is named.

Samples::

    [Consumer clientId=c-1, groupId=g] Successfully joined group …               client c-1, group g
    INFO [kafka-producer-network-thread | p] Sender - …                          client p
    %4|1729766123.421|MAXPOLL|c-1#consumer-1| [thrd:main]: …                     client c-1
    [GroupCoordinator id=1 topic=__consumer_offsets partition=4] [GroupId g] …   node 1, partition __consumer_offsets-4
    [Partition t-0 broker=1] Shrinking ISR from 1,2,3 to 1. …                    partition t-0, node 1
"""

from __future__ import annotations

PARTITION = r"(?:\[|TopicPartition\(topic=')?(?P<topic>[\w.-]+)(?:[-,]|', partition=)(?P<queue>\d+)[\])]?"
"""``topic-number``, ``[topic,number]`` of brokers before 0.11, ``TopicPartition(topic='topic', partition=number)``."""
END = r"(?:\s+\([\w.$]+\))?\s*$"
"""What ends a broker's line: the logger's name."""
LAYOUT = (
    r"\bclientId=(?P<client_id>[^,\]\s]+)|\bgroupId=(?P<group>[\w.-]*[\w-])|\[Group(?:Id)?[ =](?P<group2>[\w.-]*[\w-])"
    r"|kafka-producer-network-thread \| (?P<client_id2>[^\],]+)|[|\[](?P<client_id3>[^\s|\[\]#]+)#(?:\w+-)?\d+[|\]]"
    r"|(?:\[(?:\w+ )+id=|\b(?:nodeId|brokerId|replicaId|broker)=|\[(?:GroupCoordinator|Controller) |\b[Bb]roker )"
    r"(?P<node>\d+)"
    rf"|\[(?:\w+ )?[Pp]artition[= ]{PARTITION}\b|\btopic='?(?P<topic2>[\w.-]+)'?,? partition=(?P<queue2>\d+)"
)
"""Each of its finds counts."""
