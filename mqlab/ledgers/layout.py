"""Where each fact of a message stands in a ledger: the columns of a CSV, the names in JSON objects.

A layout is found once, in the beginning of a file, and goes with its source to the kernel, which cuts each line by it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import NamedTuple

FIELDS = ("time", "topic", "broker", "queue", "offset", "key", "message", "status", "dup", "again", "group", "party",
          "bytes", "role", "place", "qos", "retained")  # fmt: skip
"""Facts of a message, in the order of a layout's columns."""
_NAMED_ROLES = (
    "sent|acked|failed|received|consumed|processed|committed|handled|produced|published|delivered|done|seen"
    "|created|answered"
)
MOMENT = (
    r"(?:ts|time|timestamp|date|datetime|at|when)(?:_ms|_utc)?|[a-z]\w*_(?:utc|ms|at|ts|time)|@timestamp"
    rf"|{_NAMED_ROLES}"
)
NAMES = {
    "topic": "(?:kafka_)?topic|topic_?name", "broker": "broker|broker_?name",
    "queue": "queue_?id|queue|(?:kafka_)?partition|partition_?id|part",
    "offset": r"queue_?offset|(?:kafka_)?offset(?:_or_\w+)?|record_?offset|pos|position", "place": "topic_?partition",
    "key": "key|id|msg_?key|message_?key|record_?key|message_?id|event_?id|order_?id|uuid|seq",
    "message": "msg_?id", "status": "status|result|reason|error|outcome", "dup": "dup|duplicate",
    "again": "reconsume|reconsume_?times", "group": "group|group_?id|consumer_?group",
    "party": "client|client_?id|instance", "bytes": "bytes|size", "role": "role|event|action|stage",
    "qos": "qos", "retained": "retain(?:ed)?", "time": MOMENT,
}  # fmt: skip
"""Names that a column or a member of an object may have, without regard to case."""
ROLES = ("sent", "acked", "failed", "received", "consumed", "processed", "committed")
WORDS = {
    "published": "sent", "produced": "sent", "produce": "sent", "send": "sent", "sending": "sent",
    "acknowledged": "acked", "ack": "acked", "confirmed": "acked", "forwarded": "received", "delivered": "received",
    "receive": "received", "read": "received", "polled": "received", "consume": "consumed", "handled": "processed",
    "process": "processed", "commit": "committed", "acks": "acked", "done": "processed", "handed": "processed",
    "failures": "failed", "errors": "failed", "rejected": "failed", "pub": "sent", "publish": "sent", "tx": "sent",
    "out": "sent", "sub": "received", "rx": "received", "in": "received", "seen": "received", "got": "received",
    "recv": "received", "puback": "acked", "answered": "acked", "stored": "processed", "saved": "processed",
    "written": "processed", "inserted": "processed", "persisted": "processed", "indexed": "processed",
    "outbox": "sent",
}  # fmt: skip
"""Other words for roles."""
_IN_A_NAME = "|".join((
    r"(?:sent|handed)[-_.]to[-_.](?!kafka|broker|mq|rocketmq|topic)[\w.-]+", *ROLES, "published", "produced",
    "forwarded", "delivered", "seen", "acknowledged", "acks", "handled", "done", "failures", "errors", "rejected",
    "stored", "saved", "written", "inserted", "persisted", "indexed", "outbox",
))  # fmt: skip
"""Words for roles in names of files. What is sent on *to* somebody else has been processed."""
_ENDING = re.compile(r"(?i)\.(?:csv|tsv|txt|json|jsonl|ndjson|log)(?:\..*)?$")
_ROLE = re.compile(rf"(?i)(?:^|[-_.])({_IN_A_NAME})(?=[-_.]|$)")
_PARTY = re.compile(rf"(?i)^(?:(.+?)[-_.])??(?:{_IN_A_NAME})(?:[-_.](.+?))?$")


TELLING_ROWS = 100
"""Rows with moments finer than a second from which equal ones are of one ledger. Two receivers on one host may note a
message within the same millisecond nine times of ten, so a hundred times in a row hardly ever."""


class Holder(NamedTuple):
    """Whose ledger a file is."""

    place: str
    """The same for files that are one ledger: rotated, copied, packed."""
    party: str | None
    """By its name or the user's map; None where that does not tell."""


@dataclass(frozen=True, slots=True)
class LineShape:
    """How to read lines of a log that are rows of a ledger."""

    pattern: str
    """Regex that such a line begins with (``line_columns.pattern``), or that is found in it (map)."""
    groups: Mapping[str, int]
    """Group of the regex by field."""
    role: str | None
    told: str | None
    """What the role is known by, as in ``Layout``, or ``verb``."""
    fixed: Mapping[str, str] = field(default_factory=dict)
    """What holds for every row, by field."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How to read the rows of one ledger."""

    columns: Mapping[str, str] = field(default_factory=dict)
    """Number of the column from 0, or name in an object (``data.offset``), by field."""
    separator: str = ","
    """Empty where each line is a JSON object."""
    role: str | None = None
    told: str | None = None
    """What the role is known by: map, column, name or shape."""
    party: str | None = None
    group: str | None = None
    topic: str | None = None
    """Topic of rows that note none."""
    mqtt: bool = False
    """Its messages are those of MQTT."""
    answered: bool = False
    """Its rows note a second moment, as who waits for an answer does."""
    lines: tuple[LineShape, ...] = ()
    """Of a log: lines that are rows, each of the first shape that it fits; the only column is the role."""

    def text(self) -> str:
        """As one line, for the source to carry."""
        known = {**asdict(self), "columns": [self.columns.get(name) for name in FIELDS]}
        return json.dumps(known, ensure_ascii=True)


def is_mqtt(columns: Mapping[str, object], topics: Iterable[str]) -> bool:
    """Whether a ledger with these *columns* and *topics* is about messages of MQTT.

    Only MQTT knows QoS and RETAIN flags, and levels of topics: no topic of Kafka or RocketMQ holds a slash.
    """
    return "qos" in columns or "retained" in columns or any("/" in topic for topic in topics)


def role_of(word: str) -> str | None:
    """The role that a word such as ``published`` stands for."""
    lower = word.lower()
    return lower if lower in ROLES else WORDS.get(lower)


def role_in(name: str) -> str | None:
    """The role that the name of a file tells, such as ``sink-received.csv``."""
    found = _ROLE.search(_ENDING.sub("", name))
    if not found:
        return None
    return role_of(found[1]) or "processed"


def party_in(name: str) -> str | None:
    """Whose ledger it is by its name: ``sink`` of ``sink-received.csv``, ``shop`` of ``shop.orders.csv``."""
    bare = _ENDING.sub("", name)
    found = _PARTY.match(bare)
    if found:
        return (found[1] or "") + (found[2] or "") or None
    first, dot, _ = bare.partition(".")
    return first if dot and first else None


def field_of(name: str) -> str | None:
    """The field that a column of this name holds."""
    bare = name.strip().strip('"#\ufeff ').strip()
    return next((key for key, pattern in NAMES.items() if re.fullmatch(pattern, bare, re.IGNORECASE)), None)


def named_columns(names: Mapping[str, str]) -> dict[str, str]:
    """Places of the fields from places by name; a name that comes before another one wins."""
    found: dict[str, str] = {}
    for name, place in names.items():
        if known := field_of(name):
            found.setdefault(known, place)
    return found
