"""Signatures of all formats of dated lines, and the lines that they select: the scan keeps those, counts the others.

A line is looked at by a regex only where a word says that it may be one: comparing words is cheap.
"""

from __future__ import annotations

from collections.abc import Iterable

from mqlab.loaders import (
    application_log,
    emqx_log,
    hivemq_log,
    kafka_broker_log,
    kafka_client_log,
    librdkafka_log,
    mosquitto_log,
    paho_log,
    process_log,
    rabbitmq_log,
    rocketmq_broker_log,
    rocketmq_client_log,
    vernemq_log,
)
from mqlab.loaders.base import LogLoader, Signature
from mqlab.sql import any_of, one_of, quoted

LOG_LOADERS: tuple[LogLoader, ...] = (
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

SIGNATURES: tuple[Signature, ...] = tuple(s for loader in LOG_LOADERS for s in loader.SIGNATURES)
SYSTEMS = tuple(s.system or loader.SYSTEM for loader in LOG_LOADERS for s in loader.SIGNATURES)
"""System of each signature."""

FIRST = 12
"""Characters of a message by which a signature's first words are told."""
_FAR = 4000
"""Characters in which a word that may stand anywhere is looked for."""


def _beginnings(words: Iterable[str], length: int) -> str:
    """SQL literals: the first characters of *words*, also behind the blank that a component may leave."""
    return ", ".join(sorted({quoted(f"{blank}{word}"[:length]) for word in words for blank in ("", " ")}))


_ANYWHERE = tuple(s for s in SIGNATURES if not s.only)
_FIRST_WORDS = frozenset(w for s in _ANYWHERE if s.begins for w in s.words)
_ANY_WORDS = _beginnings(_FIRST_WORDS, 4)
_WORDS = _beginnings((w for w in _FIRST_WORDS if len(w) < FIRST), 4)
_LONG_WORDS = _beginnings((w for w in _FIRST_WORDS if len(w) >= FIRST), FIRST)
_BEGINS = "|".join(s.begins for s in _ANYWHERE if s.begins)
_CONTAINS = "|".join(s.contains for s in _ANYWHERE if s.contains)
HINTED = any_of((w[0], w[1:]) for s in _ANYWHERE if s.contains for w in s.words)
"""A word of the signatures that may stand anywhere in a line."""
AT_A_START = r"(?<![^ \]:])"
"""Where a message may begin."""
_AFTER_LEVEL = r"^(?:[A-Z]+ +)?(?:\[[^\]]*\]:? ?)*"
_LEVEL = r"(?:INFO|WARN(?:ING)?|ERROR|DEBUG|info|warn(?:ing)?|error|debug)"
_CLOCK = r"\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"
"""What Go's own logs put before a message, and everything that only dates its lines."""
_PROCESS = r"<\d[\d.]*>(?:@[\w:]+)?"
"""What Erlang's logs put before it, such as ``<0.4739.33>@vmq_mqtt_fsm:connected:442``."""
AFTER_ANYTHING = rf"(?:[\]:\-)]|{_LEVEL}(?: +[\w.-]+)?|{_CLOCK}|{_PROCESS}) +(?:\[[^\]]*\]:? ?)*"
"""What stands before a message that does not begin its line."""
MESSAGE = rf"(?:^|{AFTER_ANYTHING})((?:{_BEGINS})[^\n]*)"
"""The part of a line that begins as a signature begins."""
SETTING = r"^\s+([a-z][\w.-]+) = (.*)$"
"""A line of the settings block that Java clients and brokers print."""


def kept(line: str, severe: str, message: str, word: str) -> str:
    """SQL: true for a line that some signature selects.

    The arguments name columns: the line, whether its level is WARN or worse or absent, and the first ``FIRST`` and the
    first four characters of its message in the brokers' own layout (null in others).
    """
    begins = (
        f"CASE WHEN {word} IS NOT NULL THEN {_likely(message, word)} AND "
        f"substring({line}, 27, 400) RLIKE {quoted(f'{_AFTER_LEVEL}(?:{_BEGINS})')} "
        f"ELSE {holds(line, 400, AT_A_START + one_of(_FIRST_WORDS))} AND "
        f"substring({line}, 1, 400) RLIKE {quoted(f'{AFTER_ANYTHING}(?:{_BEGINS})')} END"
    )
    told = f"{holds(line, _FAR, HINTED)} AND {holds(line, _FAR, _CONTAINS)}"
    return f"(({begins}) OR ({severe} AND {told}))"


def _likely(message: str, word: str) -> str:
    """SQL: true for a message that begins with a word that a signature begins with, or with a second component."""
    exact = f"({word} IN ({_WORDS}) OR substring({message}, 1, {FIRST}) IN ({_LONG_WORDS}))"
    return f"(({word} IN ({_ANY_WORDS}) AND {exact}) OR startswith({message}, '['))"


def holds(line: str, length: int, pattern: str) -> str:
    """SQL: true where *pattern* is found in the first *length* characters of *line*."""
    return f"substring({line}, 1, {length}) RLIKE {quoted(pattern)}"
