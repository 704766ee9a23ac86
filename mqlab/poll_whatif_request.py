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


def _whole(value: float) -> bool:
    return value >= 1 and float(value).is_integer()


_NUMBERS: Mapping[str, tuple[Callable[[float], bool], str]] = {
    RECORDS: (_whole, "a whole number above zero"),
    INTERVAL: (lambda value: value > 0, "milliseconds above zero"),
    SESSION: (lambda value: value > 0, "milliseconds above zero"),
    HEARTBEAT: (lambda value: value > 0, "milliseconds above zero"),
    DELAY: (lambda value: value >= 0, "milliseconds, zero or more"),
    THREADS: (_whole, "a whole number: threads that share a poll where one works it off now"),
    MEMBERS: (_whole, "a whole number: processes of the group"),
    RECORD: (lambda value: value > 0, "milliseconds per record above zero"),
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
        if not is_pair or not value:
            raise BadChangeError(f"--set {pair} names no value: write it as max.poll.records=50.")
        if key in _WORDS:
            words[key] = _word(key, value)
        else:
            numbers[key] = _number(key, value)
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
    if not fits(value) or value == float("inf"):
        raise BadChangeError(f"--set {key} must be {what}, not {text}.")
    return value
