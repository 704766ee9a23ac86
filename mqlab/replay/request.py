"""What is asked of a replay: settings of a consumer group that would have been others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from mqlab.errors import MqlabError
from mqlab.models.assignors import ASSIGNORS
from mqlab.models.group_terms import Protocol

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

    def protocol(self) -> Protocol | None:
        """The protocol that follows from what is asked for; None where nothing is."""
        if self.words.get(PROTOCOL) == "consumer":
            return Protocol.CONSUMER
        if ASSIGNOR in self.words:
            return Protocol.COOPERATIVE if self.words[ASSIGNOR] == "cooperative-sticky" else Protocol.EAGER
        return Protocol.EAGER if PROTOCOL in self.words else None


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
