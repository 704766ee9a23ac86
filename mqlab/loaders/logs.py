"""Dated lines → EVENTS: which lines are kept by the scan, and what a kept line says.

The scan keeps a line when a signature selects it; the rest is only counted. Kept lines are few, so their parts are
taken out afterwards by a handful of general patterns that hold for every broker and client.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce

from pyspark.sql import DataFrame

from mqlab.loaders import (
    application_log,
    batch_lines,
    emqx_log,
    hivemq_log,
    kafka_broker_log,
    kafka_client_log,
    layouts,
    librdkafka_log,
    mosquitto_log,
    own_lines,
    paho_log,
    parts,
    process_log,
    rabbitmq_log,
    rocketmq_broker_log,
    rocketmq_client_log,
    vernemq_log,
)
from mqlab.loaders.base import LogLoader, Signature
from mqlab.sql import any_of, group, one_of, quoted

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
_SYSTEMS = tuple(s.system or loader.SYSTEM for loader in LOG_LOADERS for s in loader.SIGNATURES)
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
_HINTED = any_of((w[0], w[1:]) for s in _ANYWHERE if s.contains for w in s.words)
_AT_A_START = r"(?<![^ \]:])"
_AFTER_LEVEL = r"^(?:[A-Z]+ +)?(?:\[[^\]]*\]:? ?)*"
_LEVEL = r"(?:INFO|WARN(?:ING)?|ERROR|DEBUG)"
_CLOCK = r"\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"
"""What Go's own logs put before a message, and everything that only dates its lines."""
_PROCESS = r"<\d[\d.]*>(?:@[\w:]+)?"
"""What Erlang's logs put before it, such as ``<0.4739.33>@vmq_mqtt_fsm:connected:442``."""
_AFTER_ANYTHING = rf"(?:[\]:\-)]|{_LEVEL}(?: +[\w.-]+)?|{_CLOCK}|{_PROCESS}) +(?:\[[^\]]*\]:? ?)*"
_MESSAGE = rf"(?:^|{_AFTER_ANYTHING})((?:{_BEGINS})[^\n]*)"
"""The part of a line that begins as a signature begins."""
SETTING = r"^\s+([a-z][\w.-]+) = (.*)$"
"""A line of the settings block that Java clients and brokers print."""


def kept(line: str, severe: str, message: str, word: str) -> str:
    """SQL: true for a line that some signature selects.

    The arguments name columns: the line, whether its level is WARN or worse or absent, and the first ``FIRST`` and the
    first four characters of its message in the brokers' own layout (null in others). A line is looked at by a regex
    only where a word says that it may be one: comparing words is cheap.
    """
    begins = (
        f"CASE WHEN {word} IS NOT NULL THEN {_likely(message, word)} AND "
        f"substring({line}, 27, 400) RLIKE {quoted(f'{_AFTER_LEVEL}(?:{_BEGINS})')} "
        f"ELSE {_holds(line, 400, _AT_A_START + one_of(_FIRST_WORDS))} AND "
        f"substring({line}, 1, 400) RLIKE {quoted(f'{_AFTER_ANYTHING}(?:{_BEGINS})')} END"
    )
    told = f"{_holds(line, _FAR, _HINTED)} AND {_holds(line, _FAR, _CONTAINS)}"
    return f"(({begins}) OR ({severe} AND {told}))"


def _likely(message: str, word: str) -> str:
    """SQL: true for a message that begins with a word that a signature begins with, or with a second component."""
    exact = f"({word} IN ({_WORDS}) OR substring({message}, 1, {FIRST}) IN ({_LONG_WORDS}))"
    return f"(({word} IN ({_ANY_WORDS}) AND {exact}) OR startswith({message}, '['))"


def _holds(line: str, length: int, pattern: str) -> str:
    return f"substring({line}, 1, {length}) RLIKE {quoted(pattern)}"


def events(rows: DataFrame) -> DataFrame:
    """EVENTS with the moment still on the line's own clock.

    *rows* has source, line, lines, text, inner (the line without its envelope) and ``at`` (the envelope's clock, UTC,
    which dates a line that has none of its own); the result adds ``wall`` (timestamp) and ``offset`` (seconds east of
    UTC where the line writes it) to the columns of EVENTS. An exception that repeats what its own header line says,
    or a ``Caused by`` of a record already counted, is no second event. Lines of polls that were worked off, of which
    there may be very many, are no events; they date the undated lines behind them.
    """
    window = "OVER (PARTITION BY source ORDER BY line)"
    numbered = rows.selectExpr("*", f"{_is_apart()} AS apart").selectExpr(
        "source", "line", "lines", "text", "inner", "at", "apart",
        f"{layouts.wall('inner')} AS own", f"{layouts.offset('inner')} AS written",
        f"{own_lines.is_own('source', 'inner')} AS alone",
    )  # fmt: skip
    cut = numbered.selectExpr(
        "*",
        f"CASE WHEN alone THEN {own_lines.message('inner')} WHEN NOT apart THEN {group('inner', _MESSAGE)} END "
        "AS message",
        f"NOT apart AND NOT alone AND inner RLIKE {quoted(_HINTED)} AS hinted",
    )
    known = cut.selectExpr("*", f"{_signature()} AS signature")
    placed = known.selectExpr(
        "*",
        f"{_by_signature([quoted(s.kind) for s in SIGNATURES])} AS kind",
        f"{_by_signature([quoted(system) for system in _SYSTEMS])} AS system",
    ).selectExpr(
        "*",
        f"coalesce(own, at, last(own, true) {window}) AS wall",
        "CASE WHEN own IS NULL AND at IS NOT NULL THEN 0 ELSE written END AS offset",
        f"lag(kind) {window} AS before",
        f"line - lag(line) {window} AS gap",
    )
    allowed = "CASE WHEN inner LIKE 'Caused by%' THEN 100 ELSE 1 END"
    repeated = f"coalesce(own IS NULL AND NOT alone AND before = kind AND gap <= {allowed}, false)"
    told = [f"{expression} AS `{name}`" for name, expression in _told().items()]
    return placed.where(f"NOT apart AND NOT {repeated}").selectExpr(
        "source", "line", "lines", "text", "wall", "offset", "kind", "system", *told
    )


def beginning(rows: DataFrame, kind: str) -> DataFrame:
    """The rows whose message begins as a line of *kind* does, with ``message``, ``wall`` and ``offset``.

    For lines with a moment of their own that become rows of another table than EVENTS: what makes events of all lines
    is costly, and is done once.
    """
    signatures = tuple(s for s in SIGNATURES if s.kind == kind)
    words = [word for s in signatures for word in s.words]
    told = rows.where(_holds("inner", 400, _AT_A_START + one_of(words))).selectExpr(
        "*",
        f"{_message(*signatures)} AS message",
        f"{layouts.wall('inner')} AS own", f"{layouts.offset('inner')} AS written",
    )  # fmt: skip
    return told.where("message <> ''").selectExpr(
        "source", "line", "lines", "text", "message",
        "coalesce(own, at) AS wall", "CASE WHEN own IS NULL AND at IS NOT NULL THEN 0 ELSE written END AS offset",
    )  # fmt: skip


def _is_apart() -> str:
    """SQL: true for a line of polls."""
    polls = next(s for s in SIGNATURES if s.kind == batch_lines.KIND)
    return f"({_holds('inner', 400, _AT_A_START + one_of(polls.words))} AND {_message(polls)} <> '')"


def _message(*signatures: Signature) -> str:
    begins = "|".join(s.begins for s in signatures)
    return group("inner", rf"(?:^|{_AFTER_ANYTHING})((?:{begins})[^\n]*)")


def _told() -> dict[str, str]:
    value = _by_signature([_number(s) for s in SIGNATURES])
    reason = _by_signature([_reason(s) for s in SIGNATURES])
    return parts.columns("inner") | {
        "reason": f"nullif(trim({reason}), '')",
        "value": value,
    }


def _number(signature: Signature) -> str | None:
    """SQL: the number that belongs to the event, in the unit of its kind."""
    if signature.counted:
        entries = f"filter(split({group('inner', signature.counted)}, ','), e -> trim(e) <> '')"
        return f"CAST(size({entries}) AS DOUBLE)"
    if not signature.value:
        return None
    number = f"try_cast({group('inner', signature.value)} AS DOUBLE)"
    scaled = number if signature.scale == 1 else f"{number} * {signature.scale}D"
    return f"{scaled} + {signature.base}D" if signature.base else scaled


def _reason(signature: Signature) -> str | None:
    if signature.told:
        return quoted(signature.told)
    return parts.one_of("inner", signature.reason) if signature.reason else None


def _signature() -> str:
    """SQL: number of the first signature found in the line."""
    cases = [f"WHEN {_fits(s)} THEN {number}" for number, s in enumerate(SIGNATURES)]
    return f"CASE {' '.join(cases)} END"


def _by_signature(expressions: Sequence[str | None]) -> str:
    cases = [f"WHEN {number} THEN {e}" for number, e in enumerate(expressions) if e is not None]
    return f"CASE signature {' '.join(cases)} END"


def _fits(signature: Signature) -> str:
    if signature.only:
        return f"alone AND {own_lines.fits('message', signature)}"
    if signature.begins:
        return f"NOT alone AND message RLIKE {quoted(f'^(?:{signature.begins})')}"
    return f"hinted AND inner RLIKE {quoted(signature.contains)}"


def union(frames: Sequence[DataFrame]) -> DataFrame:
    """All rows of *frames* (at least one), by name, missing columns as null."""
    return reduce(lambda one, two: one.unionByName(two, allowMissingColumns=True), frames)
