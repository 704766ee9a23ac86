"""Signatures of all formats of dated lines, and which of them a line is.

A signature is one regex, whose named groups are what its lines say::

    Signature(
        "member-expired",
        begins=r"Member (?P<member_id>.+) in group (?P<group>.+) has failed",
    )

A line is looked at by a regex only where it holds a word that the regex cannot do without (``factors``). Words are
looked for in one pass over all lines, however many signatures there are; of a line that holds some, only the
signatures that these belong to are tried. What the groups of the one that selects it hold becomes columns of EVENTS
(``log_events``): who and what stands before all messages of a log, the format's ``LAYOUT`` tells for all of them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from mqlab.factors import factors
from mqlab.formats import (
    application_log,
    emqx_log,
    foreign,
    hivemq_log,
    kafka_broker_log,
    kafka_client_log,
    known_errors,
    librdkafka_log,
    mosquitto_log,
    paho_log,
    process_log,
    rabbitmq_log,
    rocketmq_broker_log,
    rocketmq_client_log,
    vernemq_log,
)
from mqlab.formats.base import LogFormat, Signature, Spec, regex
from mqlab.plugins import Listed, remembered

LOG_FORMATS: tuple[LogFormat, ...] = (
    rocketmq_broker_log,
    rocketmq_client_log,
    kafka_client_log,
    kafka_broker_log,
    librdkafka_log,
    mosquitto_log,
    emqx_log,
    hivemq_log,
    rabbitmq_log,
    vernemq_log,
    paho_log,
    process_log,
    application_log,
)
"""Formats of dated lines, in the order in which they are tried."""

BUILT_IN: tuple[Signature, ...] = tuple(s for form in LOG_FORMATS for s in form.SIGNATURES)
"""Those of the formats of this version."""


def _formats() -> tuple[tuple[Spec, tuple[Signature, ...]], ...]:
    own = [(form.FORMAT, form.SIGNATURES) for form in LOG_FORMATS]
    return (
        *own,
        (known_errors.SPEC, known_errors.signatures()),
        *((f.FORMAT, f.SIGNATURES) for f in foreign.formats()),
    )


SIGNATURES: Sequence[Signature] = Listed(lambda: tuple(s for _, signatures in _formats() for s in signatures))
"""Those, known errors, and those of plug-ins' formats: a line that mqlab knows stays what it is."""
ORIGINS: Sequence[Spec] = Listed(lambda: tuple(spec for spec, signatures in _formats() for _ in signatures))
"""What the format of each signature is."""


def is_error(number: int) -> bool:
    """Whether the signature of this *number* is a known error."""
    return ORIGINS[number] is known_errors.SPEC


FAR = 4000
"""Characters in which a word that may stand anywhere is looked for."""
_EARLY = 400
"""Characters in which a message begins; within twice as many it shows what it is."""
HEADER = 26
"""Characters before the level in the brokers' own layout."""
_LEVEL = r"(?:INFO|WARN(?:ING)?|ERROR|DEBUG|info|warn(?:ing)?|error|debug)"
_CLOCK = r"\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"
"""What Go's own logs put before a message, and everything that only dates its lines."""
_PROCESS = r"<\d[\d.]*>(?:@[\w:]+)?"
"""What Erlang's logs put before it, such as ``<0.4739.33>@vmq_mqtt_fsm:connected:442``."""
_COMPONENTS = r"(?:\[[^\]]*\]:? ?)*"
BEFORE = rf"(?:[\]:\-)]|{_LEVEL}(?: +[\w.-]+)?|{_CLOCK}|{_PROCESS}) +{_COMPONENTS}"
"""What stands before a message that does not begin its line."""
AFTER_LEVEL = rf"(?:[A-Z]+ +)?{_COMPONENTS}"
"""What stands before a message in the brokers' own layout, from the level on."""


class Found(NamedTuple):
    """A line that a signature selects."""

    number: int
    """Place in ``SIGNATURES``."""
    start: int
    """Where in the line its words begin."""


class Words(NamedTuple):
    """Words by which lines are told that some signature may select, and the numbers of these signatures."""

    begins: Mapping[str, tuple[int, ...]]
    """Of signatures that a message begins with."""
    contains: Mapping[str, tuple[int, ...]]
    """Of those that may stand anywhere in a line that complains."""


@remembered
def words() -> Words:
    """The words of all signatures that hold in every log."""
    anywhere = [(n, s) for n, s in enumerate(SIGNATURES) if not s.only]
    return Words(
        _by_word((n, s.rare or s.begins) for n, s in anywhere if s.begins),
        _by_word((n, s.rare or s.contains) for n, s in anywhere if s.contains),
    )


def _by_word(patterns: Iterable[tuple[int, str]]) -> Mapping[str, tuple[int, ...]]:
    found: dict[str, list[int]] = defaultdict(list)
    for number, pattern in patterns:
        for word in factors(pattern):
            found[word].append(number)
    return {word: tuple(numbers) for word, numbers in sorted(found.items())}


def select(line: str, numbers: Iterable[int], *, severe: bool, is_plain: bool) -> Found | None:
    """The first of the signatures *numbers* that selects *line*.

    Args:
        line: without its envelope.
        numbers: those that it holds a word of.
        severe: its level is WARN or worse, or it has none and is no frame of a stack.
        is_plain: it is in the brokers' own layout, so that its message has one place.
    """
    near, early = line[:FAR], line[: 2 * _EARLY]
    begun: dict[int, int] = {}
    told: dict[int, int] = {}
    for number in sorted(set(numbers)):
        signature = SIGNATURES[number]
        if any(part and not compiled(part).search(near) for part in (signature.rare, signature.needs)):
            continue
        if signature.begins:
            if found := _begun(early, signature.begins, is_plain=is_plain):
                begun[number] = found.start("message")
        elif found := compiled(signature.contains).search(near):
            told[number] = found.start()
    if not (begun or (severe and told)):
        return None
    first = min(begun.values(), default=0)
    chosen = min({n for n, start in begun.items() if start == first} | told.keys())
    return Found(chosen, begun[chosen] if chosen in begun else told[chosen])


def _begun(line: str, pattern: str, *, is_plain: bool) -> re.Match[str] | None:
    if is_plain:
        return _begins_plain(pattern).match(line, HEADER)
    found = _begins(pattern).search(line)
    return found if found and 0 < found.start("message") <= _EARLY else None


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """The regex *pattern*, compiled once and when it is needed."""
    return regex(pattern)


@cache
def _begins(pattern: str) -> re.Pattern[str]:
    return regex(rf"(?:^|{BEFORE})(?P<message>(?:{pattern})[^\n]*)")


@cache
def _begins_plain(pattern: str) -> re.Pattern[str]:
    return regex(rf"{AFTER_LEVEL}(?P<message>(?:{pattern})[^\n]*)")
