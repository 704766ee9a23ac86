"""Versions of Apache Kafka, comparable, whoever packaged them.

Confluent counts its own releases; the table is its published one, "Confluent Platform and Apache Kafka
Compatibility" (docs.confluent.io, versions-interoperability).
"""

from __future__ import annotations

import re
from functools import total_ordering
from typing import NamedTuple

_VERSION = re.compile(r"v?(\d+)\.(\d+)(?:\.(\d+))?(?:\.(\d+))?(?P<rest>[-.+_].*)?$", re.IGNORECASE)
_CONFLUENT = re.compile(r"-(ccs|ce|cp)", re.IGNORECASE)
_PRE_RELEASE = re.compile(r"[-.](rc|alpha|beta|snapshot)", re.IGNORECASE)

CONFLUENT_TO_APACHE: dict[tuple[int, int], tuple[int, ...]] = {
    (2, 0): (0, 9, 0),
    (3, 0): (0, 10, 0),
    (3, 1): (0, 10, 1),
    (3, 2): (0, 10, 2),
    (3, 3): (0, 11, 0),
    (4, 0): (1, 0),
    (4, 1): (1, 1),
    **{(5, minor): (2, minor) for minor in range(6)},
    (6, 0): (2, 6),
    (6, 1): (2, 7),
    (6, 2): (2, 8),
    **{(7, minor): (3, minor) for minor in range(10)},
    (8, 0): (4, 0),
    (8, 1): (4, 1),
}
"""Confluent Platform (major, minor) to the Apache Kafka release it is built from."""

_FIRST_OWN_MAJOR = 5
"""From this major on a bare number can only be Confluent's: Apache Kafka has not reached it."""


class _Order(NamedTuple):
    numbers: tuple[int, ...]
    released: bool


@total_ordering
class Version:
    """An Apache Kafka version; a pre-release sorts before its release."""

    __slots__ = ("_order",)

    def __init__(self, *numbers: int, released: bool = True) -> None:
        self._order = _Order((*numbers, 0, 0, 0, 0)[:4], released)

    @classmethod
    def parse(cls, text: str | None) -> Version | None:
        """Read what a client or broker prints; None where it is no version.

        Confluent's numbers become Apache's. The patch number stays Confluent's own: 5.3.1-ccs is read as 2.3.1.
        """
        match = _VERSION.match((text or "").strip())
        if match is None:
            return None
        numbers = tuple(int(number) for number in match.group(1, 2, 3, 4) if number is not None)
        rest = match["rest"] or ""
        if _CONFLUENT.match(rest) or numbers[0] >= _FIRST_OWN_MAJOR:
            numbers = (*CONFLUENT_TO_APACHE.get((numbers[0], numbers[1]), numbers[:2]), *numbers[2:])
        return cls(*numbers, released=_PRE_RELEASE.match(rest) is None)

    def __lt__(self, other: Version) -> bool:
        return self._order < other._order

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Version) and self._order == other._order

    def __hash__(self) -> int:
        return hash(self._order)

    def __str__(self) -> str:
        numbers = self._order.numbers if self._order.numbers[0] == 0 else self._order.numbers[:3]
        return ".".join(map(str, numbers)) + ("" if self._order.released else "-rc")

    def __repr__(self) -> str:
        return f"Version({self})"
