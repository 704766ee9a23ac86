"""Rows of Facts by subject: sources, groups, logs, and single messages; plain data.

A message is told apart by its key or id where ledgers note one, else by topic, partition and offset.
"""

from __future__ import annotations

from dataclasses import dataclass

from mqlab.findings import Evidence
from mqlab.sources import Role

GRID = 10.0
"""Seconds that one row stands for where rows are thinned by time: tallies, deliveries, batches, receipts."""
LAGS = ("group.lag", "rocketmq.group.diff", "rocketmq.group.lag_messages")
"""Series of what waits for a group, each sample of which tells something by itself."""


class Placed:
    """A row that stands at one line."""

    __slots__ = ()
    source: str
    line: int | None
    text: str

    @property
    def evidence(self) -> Evidence:
        """Where it stands."""
        return Evidence(self.source, self.line, self.text)


@dataclass(frozen=True, slots=True)
class Reject:
    """Lines or a file that no format understood."""

    source: str
    reason: str
    lines: int
    bytes: int
    sample: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Coverage:
    """What became of one source. ``lines`` = data + noise + rejected, always."""

    source: str
    format: str
    lines: int
    bytes: int
    data: int
    noise: int
    rejected: int
    zone: str
    """The zone its undated-zone lines were read in, as shown to the user, e.g. ``+08:00`` or ``UTC``."""
    zone_why: str
    first_at: float | None = None
    last_at: float | None = None
    problem: str | None = None
    software: str = ""
    """Whose files look so: kafka, rocketmq, mosquitto, …, ``mqtt`` for any client's; empty where anything's may."""
    role: Role = Role.UNKNOWN
    copy_of: str | None = None
    """The source that has ``copied`` of its lines, too, where these count."""
    copied: int = 0
    dateless: bool = False
    """Its lines show the time only."""


@dataclass(frozen=True, slots=True)
class Client(Placed):
    """One client as one snapshot saw it; row of CLIENTS."""

    at: float | None
    system: str
    group: str | None
    client_id: str | None
    peer: str | None
    """Address as the broker sees it, with the port where it is known: ``10.0.0.1:52130``."""
    subscription: str | None
    """``TOPIC:expression;TOPIC:expression``, sorted; None where the source does not say."""
    version: str | None
    source: str
    line: int | None
    text: str
    connected: str | None = None
    clean: str | None = None
    expiry: int | None = None
    queued: int | None = None
    dropped: int | None = None


@dataclass(frozen=True, slots=True)
class Assignment(Placed):
    """One queue held by one member at one moment; row of ASSIGNMENTS."""

    at: float | None
    group: str | None
    topic: str
    queue: str
    client_id: str | None
    member_id: str | None
    peer: str | None
    source: str
    line: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Tally:
    """How many messages of one queue somebody's ledger notes within ten seconds; LEDGER, thinned."""

    at: float
    """Begin of the ten seconds."""
    role: str
    """sent, acked, received, consumed or processed."""
    topic: str
    queue: str
    messages: int
    source: str
    line: int
    """The first of them."""

    @property
    def place(self) -> Evidence:
        """Where the first of them stands."""
        return Evidence(self.source, self.line, self.topic)


@dataclass(frozen=True, slots=True)
class Delivery:
    """How many messages, first handled within ten seconds, the same ledgers note; LEDGER, thinned."""

    at: float
    """Begin of the ten seconds."""
    topic: str
    queue: str
    sources: tuple[str, ...]
    """Ledgers that note the message, one as often as it does."""
    messages: int
    times: tuple[float, ...] = ()
    """When each of *sources* noted the first of the messages, the others of them within the same seconds; empty where
    that is as often as most messages of the queue."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Polls that an application says it worked off, from lines such as ``processed 500 records in 44.6 s``.

    A poll of a second or longer has a row of its own; shorter ones that end within ten seconds share one.
    """

    at: float
    """When the last of them was done: the moment of the line."""
    client_id: str | None
    group: str | None
    polls: int
    records: int
    seconds: float
    """Time that they took, in all."""
    longest_seconds: float
    longest_records: int
    """Records of the longest poll."""
    source: str
    line: int
    """The line of the longest poll."""
    text: str

    @property
    def evidence(self) -> Evidence:
        """Where the longest of them stands."""
        return Evidence(self.source, self.line, self.text)


@dataclass(frozen=True, slots=True)
class Shape:
    """One line shape of one source: numbers, ids and addresses masked."""

    source: str
    level: str | None
    shape: str
    lines: int
    bytes: int
    first_at: float | None
    last_at: float | None
    first_line: int
    sample: str = ""


@dataclass(frozen=True, slots=True)
class Minute:
    """What was written within one minute: dated lines, and bytes with the undated lines that continue them."""

    at: float
    lines: int
    bytes: int


@dataclass(frozen=True, slots=True)
class LineShape:
    """One of the few shapes of dated line that carry most bytes of a log, minute by minute.

    Lines that a signature selects are shapes here too. Bytes are those of the lines and of the undated lines that
    continue them, such as stack traces.
    """

    level: str | None
    shape: str
    first: Evidence
    """The first line of the shape; its text is empty where the file could not be read again."""
    first_at: float | None
    minutes: tuple[Minute, ...]

    @property
    def lines(self) -> int:
        """Dated lines."""
        return sum(m.lines for m in self.minutes)

    @property
    def bytes(self) -> int:
        """Bytes, continuations included."""
        return sum(m.bytes for m in self.minutes)


@dataclass(frozen=True, slots=True)
class Volume:
    """How one log grew, minute by minute; row of VOLUME, thinned."""

    source: str
    first_at: float | None
    """Moment of the first dated line; None where no line writes one."""
    minutes: tuple[Minute, ...]
    shapes: tuple[LineShape, ...] = ()
    """Those with the loudest minutes; none for a log too small to matter."""
    undated_bytes: int = 0
    """Bytes that belong to no minute."""
    before: Evidence | None = None
    """The line before the first line of the loudest shape."""

    @property
    def bytes(self) -> int:
        """All bytes of the log."""
        return self.undated_bytes + sum(m.bytes for m in self.minutes)


@dataclass(frozen=True, slots=True)
class Fate:
    """Messages of one partition, one after the other by offset, of which the same is told; LEDGER, thinned."""

    topic: str
    """Empty where nothing tells it."""
    queue: str
    """Empty where nothing tells it: messages that were sent and never acknowledged."""
    messages: int
    first_offset: int | None
    last_offset: int | None
    """Offsets where they were acknowledged; else where they are stored or were handled."""
    first_at: float | None
    last_at: float | None
    """When they were acknowledged; else sent, stored or handled for the first time."""
    sent: int
    """How often a ledger notes each of them as sent."""
    acked: int
    """How often as acknowledged."""
    failed: int
    """How often as refused or given up."""
    offsets: int
    """Places in the log at which each was acknowledged, stored or handled: 2 is stored twice."""
    overwritten: bool
    """Another message was acknowledged later at the same place: the log lost this one in between."""
    stored: tuple[str, ...]
    """Dumps that hold it, sorted, one as often as it does."""
    handled: tuple[str, ...]
    """Ledgers of consumers that note it, sorted, one as often as it does."""
    keyed: bool
    """Told apart by key; else by offset, so that a place that was given to two messages counts as one."""
    first: Evidence
    last: Evidence
    """Lines of the first and the last of them, of the stage that dates them."""


@dataclass(frozen=True, slots=True)
class Part:
    """What one ledger or dump tells of one partition."""

    source: str
    role: str
    """sent, acked, failed, stored, received, consumed, processed or committed."""
    told: str
    """What the role is known by: map, column, name (of the file), shape (of its rows) or format."""
    party: str | None
    group: str | None
    topic: str
    queue: str
    messages: int
    keys: int
    """Different keys among them, about; 0 where it notes none."""
    first_offset: int | None
    last_offset: int | None
    first_at: float | None
    last_at: float | None
    first: Evidence
    last: Evidence
    start: int | None = None
    """A dump's first offset, where it says so."""
    taken_at: float | None = None
    """When a dump was made, where that is known."""


def times(fate: Fate, own: frozenset[str]) -> int:
    """How often the ledgers *own* note each of its messages."""
    return sum(source in own for source in fate.handled)


def too_often(fate: Fate, own: frozenset[str]) -> int:
    """How many times too many the ledgers *own* note each of its messages.

    Each place in the log may be handled once; of two places of which the log lost the first, one counts.
    """
    return max(0, times(fate, own) - (1 if fate.overwritten else max(1, fate.offsets)))


def portion(begin: float, end: float, since: float, until: float) -> float:
    """Part of what happened evenly from *begin* to *end* that lies between *since* and *until*."""
    if since <= begin and end <= until:
        return 1.0
    common = min(until, end) - max(since, begin)
    return min(1.0, common / (end - begin)) if common > 0 else 0.0


@dataclass(frozen=True, slots=True)
class Flow:
    """Messages that one ledger notes as published one after the other, of which the same is told; LEDGER, thinned.

    Where ledgers change too often for that, the messages of ten seconds of which the same is told.
    """

    sender: str | None
    """Ledger of the publisher; None where only receivers note the messages."""
    party: str | None
    """Whose ledger that is."""
    messages: int
    failed: bool
    """The publisher noted that it could not send them, or got no answer."""
    qos: int | None
    """As published; else as first received."""
    received: tuple[tuple[str, int], ...]
    """Ledgers that note each of them as received, forwarded or consumed, sorted, and how often each does."""
    first_at: float
    last_at: float
    """When the first and the last of them were published; else received for the first time."""
    first_key: str
    last_key: str
    first: Evidence
    last: Evidence
    unanswered: bool = False
    """It noted no answer, and no failure either: what became of them is open."""


@dataclass(frozen=True, slots=True)
class TopicFlow:
    """The same by topic instead of time: all messages of one topic and publisher of which the same is told."""

    topic: str | None
    """As published; None for all topics that have no row of their own, because there are too many."""
    topics: int
    """How many topics: 1 but for the last."""
    sender: str | None
    party: str | None
    messages: int
    failed: bool
    qos: int | None
    received: tuple[tuple[str, int], ...]
    first_at: float
    last_at: float
    first: Evidence
    last: Evidence
    unanswered: bool = False


@dataclass(frozen=True, slots=True)
class Receipt:
    """What one ledger notes within ten seconds, of any role; LEDGER, thinned."""

    at: float
    """Begin of the ten seconds."""
    source: str
    role: str
    """sent, acked, failed, received, consumed or processed."""
    rows: int
    topics: int
    """Different topics among them."""
    dup: int
    """Rows with the DUP flag."""
    retained: int
    """Rows with the RETAIN flag."""
    again: int
    """Rows whose id this ledger had noted before."""
    again_seconds: float
    """The longest time since an id was first noted, among those; 0 where there are none."""
    line: int
    """The first of them."""
    again_line: int | None
    """The first of those that came again."""
    text: str = ""
    again_text: str = ""
    """What stands there."""
    file: str = ""
    """Where it stands, of a ledger that has several files."""
    retained_line: int | None = None
    """The first with the RETAIN flag."""
    retained_text: str = ""
    last_at: float | None = None
    """The time of the last of them; None where that is not known."""
    again_last_at: float | None = None
    """The same of those that came again."""

    @property
    def until(self) -> float:
        """When the last of them was noted, at the latest."""
        return self.at + GRID if self.last_at is None else self.last_at

    @property
    def again_until(self) -> float:
        """When the last of those that came again was noted, at the latest."""
        return self.until if self.again_last_at is None else self.again_last_at

    def first_retained(self, why: str) -> Evidence:
        """Where its first row with the RETAIN flag stands."""
        known = (self.retained_line, self.retained_text) if self.retained_line is not None else (self.line, self.text)
        return Evidence(self.file or self.source, *known, why)

    def first(self, why: str) -> Evidence:
        """Where its first row stands."""
        return Evidence(self.file or self.source, self.line, self.text, why)

    def repeated(self, why: str) -> Evidence | None:
        """Where the first row stands whose id came again."""
        place = self.file or self.source
        return None if self.again_line is None else Evidence(place, self.again_line, self.again_text, why)


@dataclass(frozen=True, slots=True)
class Passage:
    """How long messages took from one ledger to another one, by the clocks of both."""

    sender: str
    receiver: str
    messages: int
    least: float
    median: float
    most: float
    """Seconds; negative where the clocks differ."""
    at: float
    """When the message that took least was sent."""
