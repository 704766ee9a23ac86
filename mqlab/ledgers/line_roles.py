"""What a line says was done with a message: by its verb, else by the name of its file.

Sample lines and what they tell::

    acked orders-0@33                                acked
    Message delivered to orders [0] @ 33             acked: only an acknowledgement tells where a record was put
    sent SMS17 to carrier (orders-0@33)              processed: who sends a message on has read it there
    could not send topic=orders id=17                nothing
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from mqlab.ledgers.statements import Piece
from mqlab.ledgers.verbs import HARMLESS, INTO, NEGATIVE, PUT, ROLE_OF, words

_VERBS = frozenset(ROLE_OF) | PUT
_BETWEEN = frozenset({"topic", "partition", "kafka", "broker", "the", "offset", "at", "queue", "cluster"})
_NEGATIVE, _HARMLESS = re.compile(NEGATIVE), re.compile(HARMLESS)

Told = tuple[str | None, str | None]
"""A role and what it is known by; two times None where nothing tells it."""


def denies(text: str) -> bool:
    """Whether a text says that something was not done, or not in the ordinary way."""
    return _NEGATIVE.search(_HARMLESS.sub(" ", text)) is not None


def role(said: Sequence[Piece], named: str | None, *, placed: bool, produces: bool) -> Told | None:
    """The role that a statement tells, and what it is known by; None where it denies what its verb says.

    *named* is the role in the file's name, *placed* whether the statement names a place, *produces* whether the log is
    that of a process that only produces.
    """
    verb = next(((n, w) for n, p in enumerate(said) if not p.pattern for w in words(p.text) if w in _VERBS), None)
    by_name: Told = (named, "name" if named else None)
    own = ROLE_OF.get(verb[1]) if verb else None
    if denies(" ".join(piece.text for piece in said if not piece.pattern)) and own != "failed":
        return None
    if verb is None:
        return by_name
    if placed and verb[1] in PUT and (by_place := _by_place(said[verb[0] :], own, named, produces)):
        return by_place
    return (own, "verb") if own else by_name


def _by_place(said: Sequence[Piece], own: str | None, named: str | None, produces: bool) -> Told | None:
    """The role of a verb of putting, where the place that stands with it tells it."""
    goal = _goal(said)
    if goal == "place" or (own == "sent" and goal is None and produces):
        return "acked", "shape"
    if own == "sent" and goal == "other":
        return "processed", "shape"
    return ("acked", "name") if own == "sent" and named == "acked" else None


def _goal(said: Sequence[Piece]) -> str | None:
    """What a verb, the first of the pieces, says something was put into: ``place``, ``other``; None without a word."""
    into = next((n for n, p in enumerate(said) if not p.pattern and INTO & set(words(p.text))), None)
    if into is None:
        return None
    for piece in said[into + 1 :]:
        if piece.pattern:
            return "place" if piece.name in ("topic", "partition") else "other"
        if set(words(piece.text)) - _BETWEEN:
            return "other"
    return "other"
