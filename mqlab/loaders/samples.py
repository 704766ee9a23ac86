"""What the metric formats share, as SQL text: numbers that may be NaN, label sets that may name a label twice."""

from __future__ import annotations

from mqlab.sql import quoted, replaced

_LABEL = r'([A-Za-z_][\w.-]*)="((?:[^"\\]|\\.)*)"'
_ESCAPED = r'\\(["\\])'


def finite(text: str) -> str:
    """The number; null for NaN, infinities and anything else."""
    number = f"try_cast({text} AS DOUBLE)"
    return f"CASE WHEN abs({number}) < double('Infinity') THEN {number} END"


def labels(text: str) -> str:
    r"""Map of ``topic="a",path="C:\\x"``; of a label named twice the first counts, as a map key must be unique."""
    names, words = (f"regexp_extract_all({text}, {quoted(_LABEL)}, {part})" for part in (1, 2))
    pair = f"named_struct('key', name_of, 'value', {replaced('word_of', _ESCAPED, '$1')})"
    return unique(f"zip_with({names}, {words}, (name_of, word_of) -> {pair})")


def unique(pairs: str) -> str:
    """Map of an array of structs (key, value); the first value of each key."""
    first = f"array_position(transform({pairs}, other -> other.key), entry.key) = place + 1"
    return f"map_from_entries(filter({pairs}, (entry, place) -> {first}))"


def instant(number: str) -> str:
    """Timestamp of epoch seconds or milliseconds, told apart by size."""
    value = f"try_cast({number} AS DOUBLE)"
    seconds = f"CASE WHEN abs({value}) > 1e11 THEN {value} / 1000 ELSE {value} END"
    return f"timestamp_micros(try_cast(round({seconds} * 1e6) AS BIGINT))"
