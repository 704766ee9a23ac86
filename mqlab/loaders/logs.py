"""Kept lines → EVENTS: what a line says that a signature of ``signatures`` selects.

Kept lines are few, so their parts are taken out by a handful of general patterns that hold for every broker and client.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from mqlab.loaders import batch_lines, layouts, own_lines, parts
from mqlab.loaders.base import Signature
from mqlab.loaders.signatures import AFTER_ANYTHING, AT_A_START, HINTED, MESSAGE, SIGNATURES, SYSTEMS, holds
from mqlab.sql import group, one_of, quoted


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
        f"CASE WHEN alone THEN {own_lines.message('inner')} WHEN NOT apart THEN {group('inner', MESSAGE)} END "
        "AS message",
        f"NOT apart AND NOT alone AND inner RLIKE {quoted(HINTED)} AS hinted",
    )
    known = cut.selectExpr("*", f"{_signature()} AS signature")
    placed = known.selectExpr(
        "*",
        f"{_by_signature([quoted(s.kind) for s in SIGNATURES])} AS kind",
        f"{_by_signature([quoted(system) for system in SYSTEMS])} AS system",
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
    told = rows.where(holds("inner", 400, AT_A_START + one_of(words))).selectExpr(
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
    return f"({holds('inner', 400, AT_A_START + one_of(polls.words))} AND {_message(polls)} <> '')"


def _message(*signatures: Signature) -> str:
    begins = "|".join(s.begins for s in signatures)
    return group("inner", rf"(?:^|{AFTER_ANYTHING})((?:{begins})[^\n]*)")


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
