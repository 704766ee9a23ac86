"""Who and what a kept line is about: patterns that hold for every line of one system.

Sample lines and what is taken from them::

    Got error produce response … on topic-partition orders-3, …    topic orders, queue 3
    new consumer connected, group: billing … [channel=[id: 0x3349a3c6, L:/10.0.0.1:10911 - R:/10.0.4.17:58570],
    clientId=10.0.4.17@9, …                                        group billing, client 10.0.4.17@9, its address
    … pullRequest=PullRequest [… [topic=ORDERS, brokerName=broker-a, queueId=8] …   queue broker-a/8
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from mqlab.formats import mqtt_names
from mqlab.formats.mosquitto_lines import PREFIX, SENTENCES
from mqlab.formats.signatures import searched


@dataclass(frozen=True, slots=True)
class Parts:
    """Regexes for the parts of a line.

    Of a pattern's groups the first that holds something counts; the groups of ``queue`` are joined by a slash.
    An empty pattern finds nothing.
    """

    node: str = ""
    group: str = ""
    topic: tuple[str, ...] = ()
    """Tried one after the other."""
    queue: str = ""
    client_id: str | tuple[str, ...] = ""
    member_id: str = ""
    peer: str = ""


_PARTITION = (
    r"(?:(?:\b[Pp]artition|(?<!metadata )(?<!kafka\.consumer )(?<!kafka\.producer )\bfor|Leader|Follower"
    r"|Truncating|(?:Truncating|for) log) |\bpartition=)"
)
_RECORDS = (
    "{topic}-{queue}(?:@| at offset | offset[ =])[0-9]",
    r"topic ?[=:] ?'?{topic}'?,? partition ?[=:] ?{queue}\b",
    r"{topic} ?\[{queue}\](?:: offset reset| ?@ ?[0-9])",
)
"""How applications and clients other than Java's name a record, or the partition that it is in."""
_BRACKETED = r"(?:[Pp]artition|for) \[{topic},{queue}\]"
"""How brokers before 0.11 name a partition."""
_PLACES = (rf"{_PARTITION}{{topic}}-{{queue}}\b", _BRACKETED, *_RECORDS)
_WORD = r"(?<![\w.-])"
"""Where a word begins: tried at each of its letters, a long one would take its length squared."""
_OTHER_WORDS = (
    "already|and|at|because|began|by|cannot|could|due|epoch|failed|for|from|generation|has|id|in|instance|is|management"
    "|members?|membership|metadata|on|partition|protocol|request|since|state|through|to|using|was|will|with"
)
_NO_NAME = (
    rf"(?!(?:{_OTHER_WORDS})(?![\w.-]))(?!rebalance in progress)(?!coordinator (?:\S+:\d|for partition|lookup|is ))"
)
_MEMBER = r"[^\s,'=()\[\]]+-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[\w-]{22}(?![\w-])"


def _places(topic: str, queue: str) -> str:
    return "|".join(place.replace("{topic}", topic).replace("{queue}", queue) for place in _PLACES)


KAFKA = Parts(
    node=r"(?:[Bb]roker ?[iI]?d?[= ]|Controller (?:id=)?|replicaId=|KafkaServer id=|nodeId=|BrokerServer id="
    r"|GroupCoordinator (?:id=)?)(\d+)",
    group=rf"(?:groupId=|GroupId[ =]|\b[Gg]roup (?:metadata for )?{_NO_NAME})([\w.-]*[\w-])",
    topic=(_places(rf"{_WORD}([\w.-]+)", r"\d+"), r"(?:topics/|Updating topic |send to |topic )([\w.-]+)"),
    queue=_places(rf"{_WORD}[\w.-]+", r"(\d+)"),
    client_id=r"clientId=([^,\]\s]+)|kafka-producer-network-thread \| ([^\],]+)|[|\[]([^\s|\[\]#]+)#(?:\w+-)?\d+[|\]]"
    r"|App info kafka\.\w+ for (\S+) unregistered",
    member_id=rf"(?:[Mm]ember(?:[ .-]id:?)?|[Ll]eader|with id) ({_MEMBER})|(?:[mM]emberId='?|Set\(|for \()({_MEMBER})",
    peer=r"clientHost=/?([^,)\s]+)|(?:/|from )(\d{1,3}(?:\.\d{1,3}){3})(?::\d+)?",
)
"""Brokers and clients of Kafka, supervisors, applications."""

_NAME = r"([%|\w-]+)"
_NOT_IN_A_SET = r"(?<!\[)(?<!\], )(?<!\] )"
_ADDRESS = (
    r"(\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?|\[[0-9A-Fa-f:.%]+\](?::\d+)?|[0-9A-Fa-f]*:[0-9A-Fa-f:]+(?:%\w+)?(?::\d+)?)"
)

ROCKETMQ = Parts(
    node=r"The broker\[([^,\]]+),",
    group=r"(?:[Gg]roup(?:Name|Id)?(?:: |=)|a (?:consumer|producer)\[|remove consumer group, |the consumer ?\[|"
    rf"doRebalance, |this consumer, |[Ll]ock(?:ed)? Failed, (?!Group)|key=[^@,\s]+@){_NAME}",
    topic=(rf"(?:topic[=:] ?|remove topic |key=){_NAME}", rf"(?<![%|\w-]){_NAME} Rebalance changed"),
    queue=rf"{_NOT_IN_A_SET}MessageQueue \[topic=[^,]*, brokerName=([^,\]]+), queueId=(\d+)\]|"
    r"queueId=(\d+)(?:,|\s*$)",
    client_id=r"(?:clientId=|Cli(?:ent|net)ID: ?|The consumerId: |(?<!Other)(?<!Old)ClientId: |current client id=|"
    r"ConsumerId=)([^,\]\s]+)",
    peer=r"(?:R:(?:[\w.-]*/)?|clientHost=/?|notification\[|clientIp=/?|started by /?|brokerAddr=|channel=/?|"
    rf"consumer: /?|broker\[[^,\]]+, ){_ADDRESS}",
)
"""Brokers, name servers and clients of RocketMQ; an address keeps its port, for that tells processes apart."""

_PUBLISH = r"(?:Sending PUBLISH to|(?:Received|Denied) PUBLISH from)"
_FLAGS = r"\(d\d, q\d, r\d, m\d+, '"
_MOSQUITTO = rf"^(?:{PREFIX})?"
_NO_SENTENCE = rf"(?!{SENTENCES})"

MOSQUITTO = Parts(
    topic=(
        rf"{_MOSQUITTO}{_PUBLISH} .+? {_FLAGS}(.*)', \.\.\. \(\d+ bytes\)\)\s*$",
        rf"^{PREFIX}{_NO_SENTENCE}"
        r".+ (?:[012]|128|135) (\S.*?)\s*$",
    ),
    client_id=(
        rf"{_MOSQUITTO}(?:{_PUBLISH} (.+?) {_FLAGS}"
        r"|New (?:client|bridge) connected from \S+ as (.+?) \((?:p\d+, )?c[01], k\d+(?:, u'.*')?\)\.?\s*$"
        r"|Client (.+) \[\S+\] disconnected(?:\.|: .*\.)\s*$"
        r"|Client (.+) been disconnected by administrative action\.\s*$"
        r"|Client (.+) (?:already connected, closing old connection|has exceeded timeout, disconnecting"
        r"|closed its connection|disconnected(?:| by .*|, .*|: .*| due to .*))\.\s*$"
        r"|Socket error on client (?!<unknown>,)(.+), disconnecting\.\s*$|Bad socket read/write on client (.+): [^:]+$"
        r"|Expiring (?:persistent )?client (.+) due to timeout\.\s*$"
        r"|Outgoing messages are being dropped for client (.+)\.\s*$|Received UNSUBSCRIBE from (.+?)\s*$"
        r"|Connecting bridge (?:\(step 1\) )?(.+) \(\S+:\d+\)\s*$)",
        rf"^{PREFIX}{_NO_SENTENCE}"
        r"(.+) (?:[012]|128|135) \S",
    ),
    member_id=rf"{_MOSQUITTO}New (?:client|bridge) connected from .*?, k\d+, u'(.*)'\)\.?\s*$",
    peer=rf"{_MOSQUITTO}(?:New (?:client|bridge) connected from (\S+) as "
    r"|Client .+ \[((?!\(null\):0\])\S+)\] disconnected[.:])",
)
"""Mosquitto; names of clients may hold anything, so what stands around them tells where they end."""

MQTT = Parts(
    group="|".join(mqtt_names.GROUPS),
    topic=mqtt_names.TOPICS,
    client_id=mqtt_names.CLIENT_IDS,
    member_id="|".join(mqtt_names.MEMBER_IDS),
    peer="|".join(mqtt_names.PEERS),
)
"""Other brokers of MQTT, and its clients; a member's id is its user, a group one of shared subscriptions."""

BY_SYSTEM: Mapping[str, Parts] = {"kafka": KAFKA, "os": KAFKA, "rocketmq": ROCKETMQ, "mqtt": MQTT}
"""Patterns by the SYSTEM of a format."""
_DOTS = str.maketrans("./*", "/.+")
"""A topic as AMQP writes it, and as MQTT does."""


def parts(line: str, system: str, *, own: bool) -> dict[str, str | None]:
    """Each part of *line* by its name in EVENTS; None where it names none.

    *own* is true for a line that mosquitto wrote into its own file.
    """
    known = MOSQUITTO if own else BY_SYSTEM[system]
    found = {name: _part(line, getattr(known, name), name) for name in Parts.__slots__}
    if system == "mqtt" and not own and found["topic"] and searched(mqtt_names.DOTTED, line):
        found["topic"] = found["topic"].translate(_DOTS)
    return found


def one_of(line: str, pattern: str) -> str | None:
    """The first group of *pattern* that holds something in *line*."""
    found = searched(pattern, line)
    return next((text for part in found.groups() if part and (text := part.strip(" "))), None) if found else None


def _part(line: str, pattern: str | tuple[str, ...], name: str) -> str | None:
    if not pattern:
        return None
    if isinstance(pattern, tuple):
        return next((text for one in pattern if (text := one_of(line, one))), None)
    if name != "queue":
        return one_of(line, pattern)
    found = searched(pattern, line)
    return "/".join(part for part in found.groups() if part) or None if found else None
