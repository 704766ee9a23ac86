r"""Regexes for Polars, whose engine is Rust's.

Samples::

    ^\d{10}\s    ^[0-9]{10}[\t-\r ]        its \d, \s, \w and \b would know all of Unicode
    \<a\>         <a>                    its \< and \> are ends of words
    (?:a.){0,500}  (?:a.)*              it needs no such bound, and would copy the group as often

It knows no lookaround and no back references.
"""

from __future__ import annotations

import re

_ASCII = {
    "d": "[0-9]", "D": "[^0-9]", "s": r"[\t-\r ]", "S": r"[^\t-\r ]", "w": "[0-9A-Za-z_]", "W": "[^0-9A-Za-z_]",
    "b": r"(?-u:\b)", "<": "<", ">": ">",
}  # fmt: skip
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_BOUND = "{0,500}"
"""What keeps Java from recursing too deep."""


def rust(pattern: str) -> str:
    """The *pattern* as Rust reads what Java and Python, with ``re.ASCII``, read in it."""
    return _ESCAPE.sub(lambda escape: _ASCII.get(escape[1], escape[0]), pattern).replace(_BOUND, "*")
