"""Settings of a recorded group that would have been others: what can be asked for, and the course with them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from mqlab.errors import MqlabError
from mqlab.models.assignment import ASSIGNORS
from mqlab.models.group_course import Course, GroupProtocol, Member, Settings, classic, with_settings
from mqlab.scenarios.replay_inputs import SERVER_HEARTBEAT, SERVER_SESSION
from mqlab.scenarios.replay_paces import steady

RECORDS, INTERVAL, SESSION = "max.poll.records", "max.poll.interval.ms", "session.timeout.ms"
HEARTBEAT, DELAY = "heartbeat.interval.ms", "group.initial.rebalance.delay.ms"
ASSIGNOR, PROTOCOL = "partition.assignment.strategy", "group.protocol"
THREADS, MEMBERS, RECORD = "threads", "members", "record.ms"


class BadChangeError(MqlabError):
    """A setting is none that a replay knows, or its value makes no sense."""


@dataclass(frozen=True, slots=True)
class Changes:
    """Settings by key, as they are asked for; empty for a replay of what was. As text ``max.poll.records=50``."""

    numbers: Mapping[str, float] = field(default_factory=dict)
    """Times in milliseconds, as Kafka's settings have them."""
    words: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        numbers = {key: f"{value:g}" if value < 1e6 else f"{value:.0f}" for key, value in self.numbers.items()}
        return ", ".join(f"{key}={value}" for key, value in {**numbers, **self.words}.items())


MOST = 2**31 - 1
"""The largest number that Kafka's settings take (ConfigDef.Type.INT)."""
MANY = 1000
"""Threads and members that a replay can follow: the time it takes grows with them."""
SMALLEST, DAY = 0.001, 86_400_000.0
"""Milliseconds per record: from a microsecond to a day."""


def _whole(value: float, most: float = MOST) -> bool:
    return 1 <= value <= most and float(value).is_integer()


_MILLISECONDS = (_whole, f"whole milliseconds above zero, up to {MOST}")
_NUMBERS: Mapping[str, tuple[Callable[[float], bool], str]] = {
    RECORDS: (_whole, f"a whole number above zero, up to {MOST}"),
    INTERVAL: _MILLISECONDS,
    SESSION: _MILLISECONDS,
    HEARTBEAT: _MILLISECONDS,
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
            raise BadChangeError(f"--set {pair} has no value: write it as max.poll.records=50.")
        if key in words or key in numbers:
            raise BadChangeError(f"--set {key} is given twice: give it once.")
        if key not in _WORDS:
            numbers[key] = _number(key, value)
        elif value in _WORDS[key]:
            words[key] = value
        else:
            raise BadChangeError(f"--set {key} must be one of {', '.join(_WORDS[key])}, not {value}.")
    if words.get(PROTOCOL) == "consumer" and ASSIGNOR in words:
        raise BadChangeError(f"{ASSIGNOR} cannot be set with {PROTOCOL}=consumer: the broker assigns (KIP-848).")
    return Changes(numbers, words)


def _number(key: str, text: str) -> float:
    if key not in _NUMBERS:
        raise BadChangeError(
            f"--set {key} cannot be replayed. What can be set: {', '.join(KEYS)}. Settings of producers "
            "and topics cannot: a replay uses the recorded inflow."
        )
    fits, what = _NUMBERS[key]
    try:
        value = float(text.replace("_", ""))
    except ValueError:
        value = float("nan")
    if not fits(value):
        raise BadChangeError(f"--set {key} must be {what}, not {text}.")
    return value


_SETTINGS = {RECORDS: "records", THREADS: "threads", INTERVAL: "interval", SESSION: "session", HEARTBEAT: "heartbeat"}
"""Settings of a member by what can be asked for; times of the course are in seconds."""


def changed(course: Course, asked: Changes) -> Course:
    """*course* as it would have been with what is asked for; what is asked for and was so changes nothing.

    Raises:
        BadChangeError: clients do not start with such settings.
    """
    numbers = asked.numbers
    settings = {
        name: int(numbers[key]) if key in (RECORDS, THREADS) else numbers[key] / 1000
        for key, name in _SETTINGS.items()
        if key in numbers
    }
    if SESSION in numbers and all(member.settings.heartbeat == 0 for member in course.members):
        settings["interval"] = settings["session"]
    protocol, assignor = _protocol(course, asked)
    if (protocol is GroupProtocol.CONSUMER) != (course.protocol is GroupProtocol.CONSUMER):
        served = protocol is GroupProtocol.CONSUMER
        usual = (SERVER_HEARTBEAT, SERVER_SESSION) if served else (Settings().heartbeat, Settings().session)
        settings = {"heartbeat": usual[0], "session": usual[1], **settings}
    other = with_settings(course, settings)
    if {SESSION, HEARTBEAT} & set(numbers) and any(m.settings.heartbeat >= m.settings.session for m in other.members):
        raise BadChangeError(  # the constructor of Heartbeat refuses it
            "heartbeat.interval.ms must be below session.timeout.ms, or clients do not start: set both."
        )
    members, pace = other.members, other.pace
    if MEMBERS in numbers:
        members = _so_many(members, int(numbers[MEMBERS]))
    if RECORD in numbers:
        pace, members = (
            steady(numbers[RECORD] / 1000).common,
            tuple(replace(member, pace=None, busy=None) for member in members),
        )
    delay = numbers[DELAY] / 1000 if DELAY in numbers else course.delay
    return replace(other, members=members, pace=pace, protocol=protocol, assignor=assignor, delay=delay)


def _protocol(course: Course, asked: Changes) -> tuple[GroupProtocol, str]:
    """Protocol and assignor: one follows from the other, and both from a ``group.protocol`` that is asked for."""
    served = course.protocol is GroupProtocol.CONSUMER
    if asked.words.get(PROTOCOL) == "consumer" or (served and not asked.words):
        return GroupProtocol.CONSUMER, "uniform"
    assignor = asked.words.get(ASSIGNOR, "range" if served else course.assignor)
    return classic(assignor), assignor


def _so_many(members: tuple[Member, ...], count: int) -> tuple[Member, ...]:
    """The lives of the first *count* names; where there are fewer, copies of the last name's, each with its own id.

    Two static members with one group.instance.id would take the place of each other without end.
    """
    names = sorted({member.name for member in members})
    kept = tuple(member for member in members if member.name in names[:count])
    last = [member for member in members if member.name == names[-1]]
    added = range(1, count - len(names) + 1)
    copies = (replace(each, name=f"{each.name}~{number:04d}", instance=None) for number in added for each in last)
    return (*kept, *copies)
