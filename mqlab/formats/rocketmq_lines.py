r"""What ``mqadmin`` prints, line by line: the shapes of its rows, and which table or section each line stands in.

A header's names begin with ``#`` and may hold one space, so a header is cut at ``#``; rows are cut at white space and
never by position, since rows and headers are not equally wide. The group of a table is, in this order, what its own
cells say, ``consumerGroup``, the retry topic ``%RETRY%<group>``, the command above it, and the file's name
``consumerProgress-<group>…``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from mqlab.formats import console
from mqlab.formats.base import About, regex

_MOMENT = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:,\d+)?"
_VERSION = r"(?P<version>V\d\w*|HIGHER_VERSION)"
_NUMBER = r"-?\d+(?:\.\d+)?(?:E-?\d+)?"


def _titled(titles: Iterable[str]) -> str:
    """Regex of a header with one of these *titles*; behind ``!!!`` where it sticks to a message."""
    return rf"(?:^\s*|!!!)(?:{'|'.join(titles)})"


_TITLES = {
    "queues": r"#Topic\s+(?:#Group\s+)?#Broker Name\s+#QID\s+#Broker Offset",
    "offsets": r"#Topic\s+#Broker Name\s+#QID\s+#Consumer Offset",
    "topic": r"#Broker Name\s+#QID\s+#Min Offset",
    "details": r"#Topic\s+#Broker Name\s+#QID\s+#ProcessQueueInfo",
    "speeds": r"#Topic\s+#Pull RT",
    "groups": r"#Group\s+#Count",
    "connections": r"#ClientId\s+#ClientAddr",
    "subscriptions": r"#Topic\s+#SubExpression",
    "running": r"#Index\s+#ClientId",
    "stats": r"#Topic\s+#Consumer Group\s+#Accumulation",
    "clusters": r"#Cluster Name\s+#Broker Name\s+#BID",
    "totals": r"#Cluster Name\s+#Broker Name\s+#In",
    "routes": r"#ClusterName\s+#BrokerName\s+#BrokerAddrs",
    "resets": r"#brokerName\s+#queueId\s+#offset",
}
"""Header of each table, by what its rows are about."""
_KIND = regex("|".join(f"(?P<{name}>{title})" for name, title in _TITLES.items()))
SECTION = regex(r"^\s*#(?P<section>(?:Consumer|User Consume) [\w& ]+?)#\s*$")
"""``#Consumer Properties#`` and the other parts of what one consumer says about itself."""
PROPERTIES = regex(r"^\s*#Consumer Properties#")
HEADER = regex(_titled(_TITLES.values()))
_WITHIN = ("subscriptions", "offsets", "details", "speeds")
"""Tables that stand inside an answer and do not begin one."""
_STARTS = regex(
    rf"{PROPERTIES.pattern}|^=+\s*(?:Master|Slave|NameServer)"
    rf"|{_titled(title for name, title in _TITLES.items() if name not in _WITHIN)}"
)

QUEUE = regex(
    r"^\s*\S+(?:\s+\S+){0,2}\s+\d+(?:\s+-?\d+){1,2}(?:\s+(?!\d{4}-)[\w.:%-]+|\s+N/A)?(?:\s+-?\d+){0,2}"
    rf"(?:\s+(?:N/A|{_MOMENT}))?\s*$"
)
"""One queue: its topic (and group), broker, number and offsets."""
DETAIL = regex(r"^\s*(?P<topic>\S+)\s+(?P<broker>\S+)\s+(?P<number>\d+)\s+(?:Pop)?ProcessQueueInfo \[")
SPEED = regex(
    rf"^\s*(?P<topic>\S+)\s+(?P<pull_rt_ms>{_NUMBER})\s+(?P<pull_tps>{_NUMBER})\s+(?P<consume_rt_ms>{_NUMBER})"
    rf"\s+(?P<consume_ok_tps>{_NUMBER})\s+(?P<consume_failed_tps>{_NUMBER})\s+\d+\s*$"
)
SUBSCRIBED = regex(r"^\d{3} Topic: (?P<topic>\S+)\s+ClassFilter: \S+\s+SubExpression: (?P<expression>.*)$")
MEMBERS = regex(
    rf"^\s*(?P<group>\S+)\s+(?P<count>\d+)\s+(?P<version>OFFLINE|V\d\w*|HIGHER_VERSION)"
    rf"(?:\s+(?P<type>[A-Z]\w*)\s+(?P<model>[A-Z]\w*))?\s+(?P<tps>{_NUMBER})\s+(?P<diff>-?\d+)\s*$"
)
_WORDS = r"\S+(?:\s+\S+)*?"
_PEER = rf"(?P<client>{_WORDS})\s+/?(?P<peer>\S+:\d+)\s+[A-Z_]+\s+{_VERSION}\s*$"
CONNECTION = regex(rf"^\s*(?!\d{{4}}\s){_PEER}")
PRODUCER = regex(rf"^\s*\d{{4}}\s+{_PEER}")
SUBSCRIPTION = regex(
    r"^\s*(?P<topic>[%|\w-]+)\s+(?=\S)(?P<expression>\*|[\w-]+(?:\s*\|\|\s*[\w-]+)*"
    r"|(?=.*(?:[=<>]|\b(?i:IN|IS|BETWEEN|NOT)\b)).*)$"
)
RUNNING = regex(rf"^\s*\d+\s+(?P<client>{_WORDS})\s+{_VERSION}\s+(?P<millis>\d+)/\S.*$")
STATS = regex(
    rf"^\s*(?P<topic>\S+)\s+(?P<group>\S+)\s+(?P<diff>-?\d+)\s+(?P<in_tps>{_NUMBER})\s+(?P<out_tps>{_NUMBER})"
    r"\s+(?P<in_24h>-?\d+)\s+(?P<out_24h>-?\d+)\s*$"
)
UNREAD = regex(rf"^\s*(?P<topic>\S+)\s+-?\d+\s+(?P<in_tps>{_NUMBER})\s+(?P<in_24h>-?\d+)\s+NO_CONSUMER\s*$")
CLUSTER = regex(
    r"^\s*(?P<cluster>\S+)\s+(?P<broker>\S+)\s+\d+\s+(?P<address>\S+:\d+)\s+(?:(?P<version>\w+)\s+)?"
    rf"(?P<in_tps>{_NUMBER})\([^)]*\)\s+(?P<out_tps>{_NUMBER})\([^)]*\)(?P<rest>.*)$"
)
ROUTE = regex(
    r"^\s*\S+\s+(?P<broker>\S+)\s+\{.*\}\s+(?P<readQueueNums>\d+)\s+(?P<writeQueueNums>\d+)\s+(?P<perm>\S+)\s*$"
)
PAIR = regex(r"^(?:(?P<address>\S+)\s+)?(?P<key>[A-Za-z_][\w./-]*?)\s*:(?: (?P<value>.*))?$")
BROKER_PAIR = regex(r"^(?P<key>[A-Za-z][\w.]*)\s*=(?:\s{2}(?P<value>.*))?$")
"""``getBrokerConfig`` parts key and value by two spaces on either side."""
SERVER = regex(r"^=+\s*(?:Master|Slave|NameServer): *(?P<broker>\S+?)\s*=+\s*$")
FOOTER = regex(
    r"^\s*(?P<key>Consume TPS|Diff Total|Consume Diff Total|Consume Inflight Total|Topic Put TPS): *"
    rf"(?P<number>{_NUMBER})\s*$"
)
MODEL = regex(r"^\s*(?P<key>ConsumeType|MessageModel|ConsumeFromWhere): *(?P<value>\w+)\s*$")
STUCK = regex(
    r"^\s*(?P<client>\S.*?) MessageQueue \[topic=(?P<topic>[^,\]]+), brokerName=(?P<broker>[^,\]]+), "
    r"queueId=(?P<number>\d+)\] "
    r"(?:can't lock for a while, |can't consume for a while, maybe blocked, |unlock )(?P<value>\d+)"
)
MISMATCH = regex(r"^\s*WARN: Different subscription in the same group of consumer")
CONFIRMED = regex(r"^\s*(?P<what>Topic|SubscriptionGroup)Config ?[\[{](?P<fields>.*)[\]}]\s*$")
REMARK = regex(
    r"^Below is subscription:|^\s*Same subscription in the same group of consumer|^\s*Rebalance OK|^\s*Total:"
    r"|^\s*(?:create|update|delete|set|wipe|clean)\b.*\bsuccess|^(?:start|rollback) .*offset by specified"
    r"|\bTID: \d+ STATE: [A-Z_]+|^\S.*\s[\w.$]+\((?:[\w$]+(?:\.\w+)?:-?\d+|Native Method|Unknown Source)\)\s*$"
)
"""Titles, conclusions and stacks; that "Rebalance OK" says nothing, since the tool prints it always."""


def _option(names: str, about: str) -> re.Pattern[str]:
    """What a command line of ``mqadmin`` says behind one of the *names* of an option."""
    return regex(rf"\bmqadmin\b.*\s(?:{names})[ =]+['\"]?(?P<{about}>[^\s'\"]+)")


TOPIC = _option("-t|--topic", "topic")
_COMMAND = (TOPIC, _option("-i|--clientId", "client"), _option("-b|--brokerAddr", "broker"), SERVER)
"""What a command or the title above its answer says it is about."""
_RETRY = regex(r"(?:^\s*|^\d{3} Topic: )%RETRY%(?P<group>[\w|-]+)")
_OWN = regex(r"^(?P<key>consumerGroup|clientIP|instanceName|unitName)\s*: (?P<value>\S+)\s*$")
_CLIENT = regex(r"^(?P<ip>\d+(?:\.\d+){3})[@_](?P<instance>.+?)(?:[#_](?P<nano>\d{10,19}))?(?:\.txt|\.gz|\.bz2)*$")
"""A client id as a file's name, whose ``@`` and ``#`` may have become ``_`` on the way."""


class Place(NamedTuple):
    """A line, and where it stands."""

    plain: str
    at: int | None
    kind: str | None
    """Of the table or section above."""
    header: Sequence[str]
    """Of the table above."""
    section: str | None
    """Of a consumer's own words."""
    group: str | None
    topic: str | None
    client: str | None
    broker: str | None
    subscription: str | None
    """Of all topics that the answer lists, ``TOPIC:expression;TOPIC:expression``, sorted, without retry topics."""

    @property
    def cells(self) -> Mapping[str, str]:
        """The words of a row by the names of their columns."""
        return dict(zip(self.header, self.plain.split(), strict=False))


@dataclass
class _Answer:
    """What one answer of ``mqadmin`` says, whichever of its lines says it."""

    own: dict[str, str] = field(default_factory=dict)
    retried: str | None = None
    """The shortest retry topic's group."""
    subscribed: set[str] = field(default_factory=set)

    def hear(self, line: str, kind: str | None) -> None:
        """Note what a line of the answer tells of all of it."""
        if own := _OWN.search(line):
            self.own[own["key"]] = max(own["value"], self.own.get(own["key"], ""))
        if retried := _RETRY.search(line):
            told = (self.retried, retried["group"]) if self.retried else (retried["group"],)
            self.retried = min(told, key=lambda name: (len(name), name))
        shape = {"subscriptions": SUBSCRIPTION, "Consumer Subscription": SUBSCRIBED}.get(kind or "")
        listed = shape.search(line) if shape else None
        if listed and not listed["topic"].startswith("%RETRY%"):
            self.subscribed.add(f"{listed['topic']}:{listed['expression']}")

    def group(self, said: str | None) -> str | None:
        """The group that it is about; *said* is what the command or the file's name says."""
        retried = self.retried
        # A retry topic of POP ends in the topic that it belongs to, and nothing parts that from the group.
        if said and retried and f"{retried}_".startswith(f"{said}_"):
            retried = said
        return self.own.get("consumerGroup") or retried or said

    @cached_property
    def subscription(self) -> str | None:
        """All that it lists, once all of it is heard."""
        return ";".join(sorted(self.subscribed)) or None

    @property
    def client(self) -> str | None:
        """The id of a consumer that tells its address and its instance."""
        parts = [self.own[key] for key in ("clientIP", "instanceName", "unitName") if key in self.own]
        return "@".join(parts) if {"clientIP", "instanceName"} <= self.own.keys() else None


class _Standing(NamedTuple):
    """What stands above a line, before all of its answer is heard."""

    shown: console.Shown
    kind: str | None
    header: Sequence[str]
    section: str | None
    answer: _Answer
    told: Mapping[str, str]


def placed(lines: Sequence[console.Shown], about: About) -> Iterator[tuple[console.Shown, Place]]:
    """*lines* with where each stands."""
    group = console.named_after(console.CONSUMERS, about)
    topic = console.named_after("topic[-_]?(?:status|route)", about)
    broker = console.named_after("(?:get[-_]?)?broker[-_]?(?:status|config)", about)
    client = _client_in(about.name)
    for one in list(_standing(lines)):
        answer = one.answer
        yield (
            one.shown,
            Place(
                plain=one.shown.plain.rstrip(),
                at=one.shown.at,
                kind=one.kind,
                header=one.header,
                section=one.section,
                group=answer.group(one.shown.named or group),
                topic=one.told.get("topic", topic),
                client=one.told.get("client") or answer.client or client,
                broker=one.told.get("broker", broker),
                subscription=answer.subscription,
            ),
        )


def _standing(lines: Iterable[console.Shown]) -> Iterator[_Standing]:
    kind = section = None
    header: Sequence[str] = ()
    answer = _Answer()
    told: dict[str, str] = {}
    for one in lines:
        plain = one.plain.rstrip()
        if title := _KIND.search(plain):
            kind, header = title.lastgroup, re.split(r"\s*#", plain.partition("#")[2])
        if part := SECTION.search(plain):
            section = kind = part["section"]
        if _STARTS.search(plain):
            answer = _Answer()
        answer.hear(plain, kind)
        for said in filter(None, (shape.search(plain) for shape in _COMMAND)):
            told = told | said.groupdict()
        yield _Standing(one, kind, header, section, answer, told)


def _client_in(name: str) -> str | None:
    found = _CLIENT.search(name)
    if not found:
        return None
    nano = f"#{found['nano']}" if found["nano"] else ""
    return f"{found['ip']}@{found['instance']}{nano}"
