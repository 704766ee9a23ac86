"""What stands in columns of ledgers about messages of MQTT: topics with levels, ids, words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from mqlab.ledgers.named import all_match

Cells = Sequence[Sequence[str]]

LEVELS = re.compile(r"[^\s+#/:?][^\s+#:?]{0,2000}/[^\s+#:?]*")
"""A topic with levels; neither a path from the root nor an address of the web."""
LEVEL = re.compile(r"[012]")
"""A QoS."""
MANY = 20
"""Different cells from which it is asked whether new ones go on to appear."""
_CELL = re.compile(r"[^\s()\[\]{}'\"]*")
_ID = re.compile(r"[\w.:-]{1,80}")


def are_ids(cells: Sequence[str]) -> bool:
    """Whether the cells are ids that hold letters, and no texts."""
    return all_match(_ID, cells) and any(map(str.isalpha, cells[0]))


def are_words(cells: Cells, moments: Sequence[int]) -> bool:
    """Whether nothing but moments holds blanks or brackets: a line of a log does, cut at its commas."""
    return all(all_match(_CELL, column) for n, column in enumerate(cells) if n not in moments)


def are_topics(cells: Sequence[str]) -> bool:
    """Whether the cells are few different topics, as no paths of files are, and none of the broker itself."""
    return 2 * len(set(cells)) <= max(len(cells), 2) and not any(cell.startswith("$SYS") for cell in cells)


def go_on(cells: Sequence[str]) -> bool:
    """Whether new cells appear to the end, as ids do however often each comes; devices are soon all known."""
    first = {cell: n for n, cell in reversed(list(enumerate(cells)))}
    late = [n for n in first.values() if 4 * n >= 3 * len(cells)]
    return are_ids(cells) and len(first) >= MANY and len(late) > 1
