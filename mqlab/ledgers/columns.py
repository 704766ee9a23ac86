"""What the columns of a ledger without a header are, by what stands in them.

Sample rows::

    1795262756811,orders,0,0,2
    2,0,0,1795262666225

The moment is the column in which every cell is one. An offset rises within its partition, one by one as far as
nothing is left out; a key may rise too, but has gaps there. A topic is a word that comes again and again.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise, permutations

from mqlab.ledgers.moments import MOMENT

_NUMBER = re.compile(r"\d{1,18}")
_TOPIC = re.compile(r"[\w.%|~$/-]{1,249}")
_STATUS = re.compile(
    r"(?i)(?:send_)?ok|ack(?:ed)?|success|(?:failed|failure|fail)\b.*|error\b.*|true|false|.*exception.*|none"
)
_RISING = 0.9
"""Share of a partition's rows in which an offset must rise: a leader that lost its tail sets it back once."""
_ENOUGH = 3
"""Rows from which columns are told by what is in them."""

Columns = dict[str, str]


def places(rows: Sequence[Sequence[str]]) -> tuple[Columns, str] | None:
    """Places of the fields and the role that this shape tells; None where no column is a moment."""
    columns = [list(cells) for cells in zip(*rows, strict=True)]
    moments = [n for n, cells in enumerate(columns) if all(MOMENT.fullmatch(cell) for cell in cells)]
    if not moments or len(columns) < 2:
        return None
    time = moments[0]
    rest = [n for n in range(len(columns)) if n not in moments]
    numbers = [n for n in rest if all(_NUMBER.fullmatch(cell) for cell in columns[n])]
    found = {"time": str(time), **_words(columns, [n for n in rest if n not in numbers])}
    topic = columns[int(found["topic"])] if "topic" in found else [""] * len(rows)
    pair = _pair(columns, numbers, topic)
    if pair:
        found |= {"queue": str(pair[0]), "offset": str(pair[1])}
    left = [n for n in numbers if n not in (pair or ())]
    if left and "key" not in found:
        found["key"] = str(left[0])
    if not pair:
        return found, "sent"
    return found, "processed" if time == 0 else "acked"


def rising_pair(columns: Sequence[Sequence[str]], free: Sequence[int], topic: Sequence[str]) -> tuple[int, int] | None:
    """Partition and offset among the *free* columns by what stands in them alone: offsets that rise one by one."""
    numbers = [n for n in free if all(_NUMBER.fullmatch(cell) for cell in columns[n])]
    pair = _pair(columns, numbers, topic)
    if pair is None or len(columns[pair[0]]) < _ENOUGH:
        return None
    steps = len(columns[pair[0]]) - len(set(zip(topic, columns[pair[0]], strict=True)))
    return pair if 2 * _steps(columns[pair[0]], columns[pair[1]], topic)[1] > steps else None


def _words(columns: Sequence[Sequence[str]], numbers: Sequence[int]) -> Columns:
    """Topic, status and key among columns that are no numbers."""
    found: Columns = {}
    for n in sorted(numbers, key=lambda n: (len(set(columns[n])), n)):
        different = len(set(columns[n]))
        if all(_STATUS.fullmatch(cell) for cell in columns[n] if cell):
            found.setdefault("status", str(n))
        elif "topic" not in found and 2 * different <= max(len(columns[n]), 2) and _are_topics(columns[n]):
            found["topic"] = str(n)
        else:
            found.setdefault("key", str(n))
    return found


def _are_topics(cells: Sequence[str]) -> bool:
    return all(_TOPIC.fullmatch(cell) for cell in cells)


def _pair(columns: Sequence[Sequence[str]], numbers: Sequence[int], topic: Sequence[str]) -> tuple[int, int] | None:
    """Partition and offset: the pair of columns in which the one rises most evenly within the other.

    Where several do, the offset stands right behind its partition, and both beside the moment: a key stands at the
    other end.
    """
    at_end = numbers[-1] < len(columns) - 1 if numbers else False
    scored = []
    for queue, offset in permutations(numbers, 2):
        partitions = set(columns[queue])
        if 2 * len(partitions) > max(len(columns[queue]), _ENOUGH) or max(map(int, partitions)) > 99_999:
            continue
        rising, even = _steps(columns[queue], columns[offset], topic)
        if rising >= _RISING:
            scored.append((-even, offset != queue + 1, -queue if at_end else queue, queue, offset))
    return min(scored)[3:] if scored else None


def _steps(queues: Sequence[str], offsets: Sequence[str], topic: Sequence[str]) -> tuple[float, int]:
    """Share of the partitions' steps in which the offset rises, and in how many it rises by one."""
    own: dict[tuple[str, str], list[int]] = defaultdict(list)
    for name, queue, offset in zip(topic, queues, offsets, strict=True):
        own[name, queue].append(int(offset))
    steps = [later - earlier for line in own.values() for earlier, later in pairwise(line)]
    if not steps:
        return 1.0, 0
    return sum(step > 0 for step in steps) / len(steps), sum(step == 1 for step in steps)
