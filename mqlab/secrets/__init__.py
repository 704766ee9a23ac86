"""What must never enter a table, a JSON document or a report: one notion of a secret for all that mqlab writes.

``keys`` says which names are secret, ``shapes`` which tokens give themselves away, ``rules`` what a line shows,
``nested`` what brackets and ``spanning`` what several lines hold together. Every mask is ``[masked]``; a masked text
keeps its number of lines, and masking it once more changes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial

import polars as pl

from mqlab.secrets import nested, rules, spanning
from mqlab.secrets.keys import MASK

__all__ = ["MASK", "Spanning", "mask", "mask_all", "mask_spanning", "within"]

_ABOVE = 200
"""Lines of one piece of a file that are looked at once more with those of the next."""


def mask(text: str) -> str:
    """The text with every secret in it replaced by ``[masked]``; a file's, where it has several lines."""
    if "\n" not in text:
        return _lines([text])[0] if rules.is_likely(text) else text
    return "\n".join(mask_all(mask_spanning(pl.Series(text.split("\n"), dtype=pl.String))))


def mask_all(texts: pl.Series) -> pl.Series:
    """*texts* with every secret in them masked, each as if it stood alone."""
    places = rules.likely(texts)
    if not places:
        return texts
    some = texts.gather(places).to_list()
    if any("\n" in text for text in some):
        return texts.clone().scatter(places, [mask(text) for text in some])
    return texts.clone().scatter(places, _lines(some))


def mask_spanning(lines: pl.Series) -> pl.Series:
    """Neighbouring *lines* of a file, of which those are masked that hold part of a secret of several lines."""
    return spanning.masked(lines)


def within(lines: pl.Series, inner: pl.Series, hidden: pl.Series) -> pl.Series:
    """*lines* in whose *inner* parts, what an envelope holds, some became *hidden*."""
    places = (inner != hidden).arg_true()
    some = zip(lines.gather(places), inner.gather(places), hidden.gather(places), strict=True)
    return lines.clone().scatter(places, [_replaced(*one) for one in some])


def _replaced(line: str, old: str, new: str) -> str:
    """*line* with *new* instead of *old*, as it stands or as JSON writes it; *new* alone where it does not show."""
    for written in (str, _in_json, partial(_in_json, plain=True)):
        if old and written(old) in line:
            return line.replace(written(old), written(new))
    return new


def _in_json(text: str, *, plain: bool = False) -> str:
    return json.dumps(text, ensure_ascii=plain)[1:-1]


class Spanning:
    """Masks what goes over lines in a file that comes in pieces, one after the other."""

    def __init__(self) -> None:
        self._above = pl.Series([], dtype=pl.String)

    def masked(self, lines: pl.Series) -> pl.Series:
        """The next *lines*; the same object where nothing in them changes."""
        every = pl.concat([self._above, lines]) if len(self._above) else lines
        found = mask_spanning(every)
        changed = found is not every
        first, self._above = len(self._above), pl.Series(every.tail(_ABOVE).to_list(), dtype=pl.String)
        return found.slice(first) if changed else lines


def _lines(texts: Sequence[str]) -> list[str]:
    """Each of *texts*, which are a line each, without its secrets."""
    return rules.within_lines([nested.secrets_of_kubernetes(nested.lists_and_objects(text)) for text in texts])
