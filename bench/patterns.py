"""mqlab's signatures for the rivals: words that tell a candidate, and three expressions that decide."""

from __future__ import annotations

from typing import TypedDict

from mqlab.formats.signatures import AFTER_LEVEL, BEFORE, SIGNATURES, words
from mqlab.formats.values import rust


class Patterns(TypedDict):
    """What selects a line, as mqlab applies it."""

    begins: str
    """For a dated line behind its stamp."""
    elsewhere: str
    """For a line without one."""
    contains: str
    """For lines at WARN or worse or without a level."""
    begins_words: list[str]
    """A line that ``begins`` or ``elsewhere`` selects holds one of them."""
    contains_words: list[str]


def signature_patterns() -> Patterns:
    r"""The signatures that hold in every log, as Google's engine reads them too: its ``\d`` is ASCII as mqlab's is.

    Signatures that hold in files of one format alone are left out: the bench's log is none of those. No ``begins`` or
    ``contains`` looks around; the table would have to stay so, or the rivals could not read it.
    """
    anywhere = [s for s in SIGNATURES if not s.only]
    begins = "|".join(s.unnamed for s in anywhere if s.begins)
    known = words()
    return {
        "begins": rf"^{AFTER_LEVEL}(?:{begins})",
        "elsewhere": rf"{BEFORE}(?:{begins})",
        "contains": "|".join(s.unnamed for s in anywhere if s.contains),
        "begins_words": list(known.begins),
        "contains_words": list(known.contains),
    }


def for_rust(given: Patterns) -> Patterns:
    """The same for Polars, whose engine would look for the digits and letters of all languages."""
    return {
        **given,
        "begins": rust(given["begins"]),
        "elsewhere": rust(given["elsewhere"]),
        "contains": rust(given["contains"]),
    }
