"""Lines of a log that may be about one message each, as statements of one shape.

Sample lines that surely are not::

    … [Consumer clientId=payer, groupId=payer] Resetting offset for partition payouts-1 to position …
    … committed payouts-1@35
    … processed 500 records up to payouts-1@35
    … paid PO-19 (topic=payouts partition=1 offset=35) failed
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from mqlab.ledgers import line_roles
from mqlab.ledgers.statements import Piece, is_dated, pieces, statement
from mqlab.ledgers.verbs import NOT_ONE, NOT_ONE_NAMES, PAYLOADS, PUT, ROLE_OF, words

NEAR = 1000
"""Characters of a line by which shapes are told."""
_HINTS = frozenset({*ROLE_OF, *PUT, "offset"})
"""Words of which one stands in every line that may be of a ledger, but for those with a place as ``orders-0@33``."""
_AT = re.compile(r"\d ?@ ?\d")
_LIBRARY = re.compile(
    r"org\.apache\.|\bo\.a\.k\.|rdkafka|\b(?:clientId|groupId)=|\[(?:Consumer|Producer|AdminClient) "
    r"|\[(?:Broker|Controller|QuorumController|RaftManager|GroupCoordinator|Log|UnifiedLog)\b|\((?:kafka|state\.change)\.\w"
    r"|\b(?:PUBLISH|PUBACK|PUBREC|PUBREL|PUBCOMP|SUBSCRIBE|CONNECT)\b"
)
_PAYLOAD = re.compile(f"(?i){PAYLOADS}")


Groups = Mapping[tuple[object, bool], list[list[Piece]]]
"""Statements by shape, and by whether something dates their lines."""


def may_note(text: str) -> bool:
    """Whether a text holds a word that lines of ledgers hold; comparing words is cheap."""
    return not _HINTS.isdisjoint(words(text)) or _AT.search(text) is not None


def groups(lines: Iterable[str], *, clocked: bool) -> Groups:
    """The statements that may be about one message; *clocked* is whether a collector dates each line."""
    found: dict[tuple[object, bool], list[list[Piece]]] = defaultdict(list)
    near = (line[:NEAR] for line in lines)
    for line in (line for line in near if may_note(line) and not _LIBRARY.search(line)):
        if said := _about_one(pieces(statement(line))):
            found[tuple(piece.key for piece in said), clocked or is_dated(line)].append(said)
    return found


def unlike(lines: Sequence[str]) -> bool:
    """Whether most *lines* are surely not about one message each, or deny what they say."""
    return 2 * sum(_is_unlike(line[:NEAR]) for line in lines) > len(lines)


def _is_unlike(line: str) -> bool:
    said = None if _LIBRARY.search(line) else _about_one(pieces(statement(line)))
    return said is None or line_roles.role(said, None, placed=False, produces=False) is None


def _about_one(said: list[Piece]) -> list[Piece] | None:
    """The pieces up to the last value before a payload; None where the line is surely not about one message."""
    end = next((n for n, p in enumerate(said) if _PAYLOAD.fullmatch(p.name.rpartition(".")[2])), len(said))
    last = max((n for n, piece in enumerate(said[:end]) if piece.pattern), default=None)
    if last is None:
        return None
    literal = " ".join(piece.text for piece in said[:end] if not piece.pattern)
    if NOT_ONE & set(words(literal)) or any(NOT_ONE_NAMES.fullmatch(piece.name) for piece in said[:end]):
        return None
    return None if line_roles.denies("".join(piece.text for piece in said[last + 1 : end])) else said[: last + 1]
