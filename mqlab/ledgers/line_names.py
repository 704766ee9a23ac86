"""What the values in lines of one shape are called, also those that no name stands before.

Sample statements, with what the value without a name is taken for::

    paid <PO-17> (topic=payouts partition=1 offset=33)           id
    published <plant/1/temp> qos=1                               topic
    processed orders-0@33 in <812> ms                            took
    handled partition=<orders-0> offset=33                       topic_partition
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from mqlab.ledgers.statements import Piece
from mqlab.ledgers.verbs import words

_MEASURE = re.compile(r"\d+(?:\.\d+)?(?:ms|s|us|ns|m|h|[kKmM]?i?[bB])?")
_BEFORE_ID = frozenset({"key", "id", "message", "record", "order", "event", "msg"})
_BEFORE_MEASURE = frozenset({
    *("in", "took", "after", "within", "attempt", "try", "retry", "size", "of", "version", "port", "thread", "for"),
})  # fmt: skip
_PARTITION = re.compile(r"(?i)partition|tp|topic_?partition")
_PLACED = re.compile(r".+-\d{1,6}")


def names(said: Sequence[Piece], cells: Sequence[Sequence[str]]) -> list[str]:
    """A name for each value of a statement; *cells* are the values of several, a list for each value."""
    values = [n for n, piece in enumerate(said) if piece.pattern]
    placed = next((n for n in values if said[n].name.rpartition(".")[2].lower() == "offset"), len(said))
    return [_name(said, n, column, behind=n > placed) for n, column in zip(values, cells, strict=True)]


def _name(said: Sequence[Piece], n: int, column: Sequence[str], *, behind: bool) -> str:
    own = said[n].name.rpartition(".")[2]
    if own:
        placed = _PARTITION.fullmatch(own) and all(map(_PLACED.fullmatch, column))
        return "topic_partition" if placed else own
    if all("/" in cell for cell in column):
        return "topic"
    before = set(words(" ".join(piece.text for piece in said[max(0, n - 3) : n] if not piece.pattern))[-1:])
    if behind and not before & _BEFORE_ID:
        return "took"
    return "took" if _are_measures(column, before) else "id"


def _are_measures(column: Sequence[str], before: set[str]) -> bool:
    """Whether these are numbers with a unit, or behind a word that a measure follows."""
    if not all(map(_MEASURE.fullmatch, column)):
        return False
    return bool(before & _BEFORE_MEASURE) or not all(cell.isdigit() for cell in column)
