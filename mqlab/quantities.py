"""Amounts as people write them on a command line: ``20ms``, ``48h``, ``300M``, ``4KiB``."""

from __future__ import annotations

import re
from collections.abc import Mapping

from mqlab.errors import MqlabError

SECONDS: Mapping[str, float] = {"ms": 0.001, "s": 1, "min": 60, "m": 60, "h": 3600, "d": 86400}
COUNT: Mapping[str, float] = {"": 1, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9}
BYTES: Mapping[str, float] = {
    "": 1, "B": 1, "kB": 1e3, "KB": 1e3, "k": 1e3, "MB": 1e6, "M": 1e6, "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3,
    "GB": 1e9,
}  # fmt: skip
_AMOUNT = re.compile(r"(\d[\d,_]*(?:\.\d+)?|\.\d+)\s*([A-Za-z]*)(?:/s)?")


class BadQuantityError(MqlabError):
    """An amount cannot be read or makes no sense."""


def amount(option: str, text: str, units: Mapping[str, float]) -> float:
    """*text* in the base unit of *units*.

    Raises:
        BadQuantityError: it is no amount, or its unit is missing or another kind's.
    """
    found = _AMOUNT.fullmatch(text.strip())
    if found is None or found[2] not in units:
        example = "20ms, 30s, 5min or 48h" if units is SECONDS else "5000, 4k or 300M"
        raise BadQuantityError(f"{option} {text!r} cannot be read: write it as {example}.")
    return float(re.sub("[,_]", "", found[1])) * units[found[2]]
