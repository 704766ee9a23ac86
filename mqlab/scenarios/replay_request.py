"""What is asked of a replay, settings of a consumer group that would have been others, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from mqlab.errors import MqlabError
from mqlab.models.assignment import ASSIGNORS
from mqlab.models.draining import Interval
from mqlab.models.group_terms import GroupProtocol

RECORDS, INTERVAL, SESSION = "max.poll.records", "max.poll.interval.ms", "session.timeout.ms"
HEARTBEAT, DELAY = "heartbeat.interval.ms", "group.initial.rebalance.delay.ms"
ASSIGNOR, PROTOCOL = "partition.assignment.strategy", "group.protocol"
THREADS, MEMBERS, RECORD = "threads", "members", "record.ms"


class BadChangeError(MqlabError):
    """A setting is none that a replay knows, or its value makes no sense."""


@dataclass(frozen=True, slots=True)
class Changes:
    """Settings by key, as they are asked for; empty for a replay of what was."""

    numbers: Mapping[str, float] = field(default_factory=dict)
    """Times in milliseconds, as Kafka's settings have them."""
    words: Mapping[str, str] = field(default_factory=dict)

    @property
    def told(self) -> str:
        """``max.poll.records=50, threads=4``."""
        numbers = {key: f"{value:g}" if value < 1e6 else f"{value:.0f}" for key, value in self.numbers.items()}
        return ", ".join(f"{key}={value}" for key, value in {**numbers, **self.words}.items())

    def protocol(self) -> GroupProtocol | None:
        """The protocol that follows from what is asked for; None where nothing is."""
        if self.words.get(PROTOCOL) == "consumer":
            return GroupProtocol.CONSUMER
        if ASSIGNOR in self.words:
            return GroupProtocol.COOPERATIVE if self.words[ASSIGNOR] == "cooperative-sticky" else GroupProtocol.EAGER
        return GroupProtocol.EAGER if PROTOCOL in self.words else None


MOST, MANY, DAY = 2**31 - 1, 1000, 86_400_000.0
"""The largest number that Kafka's settings take (ConfigDef.Type.INT); threads and members that a replay can follow;
milliseconds."""
SMALLEST = 0.001
"""Milliseconds per record: a microsecond."""


def _whole(value: float, most: float = MOST) -> bool:
    return 1 <= value <= most and float(value).is_integer()


_NUMBERS: Mapping[str, tuple[Callable[[float], bool], str]] = {
    RECORDS: (_whole, f"a whole number above zero, up to {MOST}"),
    INTERVAL: (_whole, f"whole milliseconds above zero, up to {MOST}"),
    SESSION: (_whole, f"whole milliseconds above zero, up to {MOST}"),
    HEARTBEAT: (_whole, f"whole milliseconds above zero, up to {MOST}"),
    DELAY: (lambda value: value == 0 or _whole(value), f"whole milliseconds, zero or more, up to {MOST}"),
    THREADS: (
        lambda value: _whole(value, MANY),
        f"a whole number up to {MANY}: threads that share a poll where one works it off now",
    ),
    MEMBERS: (lambda value: _whole(value, MANY), f"a whole number up to {MANY}: processes of the group"),
    RECORD: (lambda value: SMALLEST <= value <= DAY, f"milliseconds per record, from {SMALLEST} to a day"),
}
_WORDS: Mapping[str, tuple[str, ...]] = {ASSIGNOR: tuple(ASSIGNORS), PROTOCOL: ("classic", "consumer")}
KEYS = (*_NUMBERS, *_WORDS)


def changes(pairs: Iterable[str]) -> Changes:
    """``KEY=VALUE`` each.

    Raises:
        BadChangeError: no such setting, or no such value.
    """
    numbers: dict[str, float] = {}
    words: dict[str, str] = {}
    for pair in pairs:
        key, is_pair, value = (part.strip() for part in pair.partition("="))
        if not (key and is_pair and value):
            raise BadChangeError(f"--set {pair} is no setting with a value: write it as max.poll.records=50.")
        if key in words or key in numbers:
            raise BadChangeError(f"--set {key} is given twice: give it once.")
        if key in _WORDS:
            words[key] = _word(key, value)
        else:
            numbers[key] = _number(key, value)
    if words.get(PROTOCOL) == "consumer" and ASSIGNOR in words:
        raise BadChangeError(f"{ASSIGNOR} cannot be set with {PROTOCOL}=consumer: the broker assigns (KIP-848).")
    return Changes(numbers, words)


def _word(key: str, value: str) -> str:
    if value not in _WORDS[key]:
        raise BadChangeError(f"--set {key} must be one of {', '.join(_WORDS[key])}, not {value}.")
    return value


def _number(key: str, text: str) -> float:
    if key not in _NUMBERS:
        raise BadChangeError(
            f"--set {key} cannot be replayed. What can be set: {', '.join(KEYS)}. Settings of producers and topics are "
            "not: the replay takes what came in as recorded."
        )
    fits, what = _NUMBERS[key]
    try:
        value = float(text.replace("_", ""))
    except ValueError:
        value = float("nan")
    if not fits(value):
        raise BadChangeError(f"--set {key} must be {what}, not {text}.")
    return value


@dataclass(frozen=True, slots=True)
class Told:
    """What simulations of one setting say, with bounds."""

    rebalances: Interval
    longest_poll_seconds: Interval
    late_share: Interval
    """Of the polls that took the poll interval or longer."""
    final_lag: Interval
    repeated: Interval
    """Records that were handed out more than once."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """What really happened; None where the material does not tell."""

    rebalances: int | None
    longest_poll_seconds: float | None
    late_share: float | None
    """Of the polls that applications tell of."""
    final_lag: float | None
    """None where offsets were not listed near the end."""
    peak_lag: float
    repeated: int | None
    """Records that were handled before a rebalance and handed out again after it."""


@dataclass(frozen=True, slots=True)
class Fit:
    """Whether a poll fits into the interval, and whether the group is as fast as what comes in."""

    records: int
    threads: int
    record_seconds: float
    poll_seconds: float
    interval_seconds: float
    largest_safe_records: int | None
    """That an average poll works off in time; None where not even one record fits."""
    advised_records: int | None
    """The same with half of the time kept free, for polls that take longer than the average."""
    capacity_per_second: float
    """Of all members while they were there, each with its own time per record."""
    arriving_per_second: float

    @property
    def feasible(self) -> bool:
        """An average poll comes in time."""
        return self.poll_seconds < self.interval_seconds


@dataclass(frozen=True, slots=True)
class ReplayAnswer:
    """What the replay says; moments as epoch seconds."""

    group: str
    changes: str
    """``max.poll.records=50``; empty for a replay of what was."""
    since: float
    until: float
    incident: bool
    """The time was cut to an incident: from the first late poll to the first change."""
    recorded: Recorded
    before: Told
    """The replay of what was."""
    error_share: float
    """By which it is off, of the record."""
    agrees: bool
    after: Told | None
    """None without changes, and where the replay of what was has nothing in common with the record."""
    fit_before: Fit
    fit_after: Fit
    assumed: tuple[str, ...]
