r"""Words that a regex cannot do without: every text that it fits holds at least one of them.

A table of hundreds of signatures is looked for in one pass over the bytes by such words (one automaton), and only a
line that holds one is tried with the regexes that the word belongs to::

    Group .+ generation \d+ is (?:now empty|dead and removed)      " is now empty", " is dead and removed"

The words are worked out from the parsed regex, so that nobody writes them beside it: of all places that each match
must pass, the one is taken whose shortest word is longest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from re import _constants as op  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

_MOST = 600
"""Alternatives of one place; more of them are not worth it."""
_CLASS = 10
"""Characters of a class that are tried one by one."""
_LONGEST = 40

Words = frozenset[str]


def factors(pattern: str) -> Words:
    """The words of which each text that *pattern* fits holds one; empty where there are none."""
    words = best(_places(parser.parse(pattern)))
    return frozenset(word for word in words if not any(other in word for other in words - {word}))


def best(places: Iterator[Words]) -> Words:
    """The place whose shortest word is longest; of equals the one with fewest."""
    return max(places, key=lambda words: (min(map(len, words)), -len(words), sorted(words)), default=frozenset())


def _places(items: Sequence[Any]) -> Iterator[Words]:
    """For each place that a match of *items* must pass, what may stand there."""
    run: Words = frozenset({""})
    for item in items:
        exact = _exact(item)
        if exact is not None and len(run) * len(exact) <= _MOST:
            run = frozenset((one + two)[:_LONGEST] for one in run for two in exact)
            continue
        yield from _ended(run)
        run = exact if exact is not None else frozenset({""})
        if exact is None:
            yield from _within(item)
    yield from _ended(run)


def _ended(run: Words) -> Iterator[Words]:
    if all(run):
        yield run


def _exact(item: Any) -> Words | None:
    """All texts that *item* may be; None where they are many or not known."""
    kind, told = item
    match kind:
        case op.LITERAL:
            return frozenset({chr(told)})
        case op.AT | op.ASSERT | op.ASSERT_NOT:
            return frozenset({""})
        case op.IN:
            return _of_class(told)
        case op.SUBPATTERN:
            return None if told[1] & re.IGNORECASE else _all_of(told[3])
        case op.BRANCH:
            branches = [_all_of(branch) for branch in told[1]]
            return _few(frozenset().union(*[b for b in branches if b is not None])) if None not in branches else None
        case op.MAX_REPEAT | op.MIN_REPEAT | op.POSSESSIVE_REPEAT:
            least, most, inner = told
            once = _all_of(inner) if (least, most) in ((1, 1), (0, 1)) else None
            return None if once is None else _few(once | {""} if least == 0 else once)
        case _:
            return None


def _all_of(items: Sequence[Any]) -> Words | None:
    """All texts that a sequence may be."""
    texts: Words = frozenset({""})
    for item in items:
        exact = _exact(item)
        if exact is None or len(texts) * len(exact) > _MOST:
            return None
        texts = frozenset(one + two for one in texts for two in exact)
    return texts


def _of_class(members: Sequence[Any]) -> Words | None:
    letters: set[str] = set()
    for kind, told in members:
        if kind is op.LITERAL:
            letters.add(chr(told))
        elif kind is op.RANGE and told[1] - told[0] < _CLASS:
            letters.update(map(chr, range(told[0], told[1] + 1)))
        else:
            return None
    return frozenset(letters) if len(letters) <= _CLASS else None


def _few(words: Words) -> Words | None:
    return words if len(words) <= _MOST else None


def _within(item: Any) -> Iterator[Words]:
    """The places inside of an item that is not exact."""
    kind, told = item
    match kind:
        case op.SUBPATTERN if not told[1] & re.IGNORECASE:
            yield from _places(told[3])
        case op.MAX_REPEAT | op.MIN_REPEAT | op.POSSESSIVE_REPEAT if told[0] > 0:
            yield from _places(told[2])
        case op.BRANCH:
            branches = [best(_places(branch)) for branch in told[1]]
            if all(branches):
                yield frozenset().union(*branches)
