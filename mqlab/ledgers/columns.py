"""What the columns of a ledger are, by their names and by what stands in them.

Sample rows::

    1795262756811,orders,0,0,2
    2,0,0,1795262666225

The moment is the column in which every cell is one. An offset rises within its partition, one by one as far as
nothing is left out; a key may rise too, but has gaps there. A topic is a word that comes again and again.

Sample rows::

    ts,reading_id,meter,partition,offset
    2026-11-22T03:54:16.581Z,17,dev-0,2,0
    2026-11-22T03:54:16.582Z,18,dev-19,2,1

Many words name a message (an order, a ticket, a payout), and a ledger may note a device or a customer beside it. The
column that tells messages apart is the one whose cells differ from message to message.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations

from mqlab.ledgers.layout import ROLES, field_of, role_in, role_of
from mqlab.ledgers.words import MOMENT

_NUMBER = re.compile(r"\d{1,18}")
_TOPIC = re.compile(r"[\w.%|~$/-]{1,249}")
_STATUS = re.compile(
    r"(?i)(?:send_)?ok|ack(?:ed)?|success|(?:failed|failure|fail)\b.*|error\b.*|true|false|.*exception.*|none"
)
_RISING = 0.9
"""Share of a partition's rows in which an offset must rise: a leader that lost its tail sets it back once."""
ENOUGH = 3
"""Rows from which columns are told by what is in them: two steps, so that one that rises by chance is not enough."""

Columns = dict[str, str]


def places(rows: Sequence[Sequence[str]]) -> tuple[Columns, str] | None:
    """Places of the fields and the role that this shape tells; None where no column is a moment."""
    columns = [list(cells) for cells in zip(*rows, strict=True)]
    moments = [n for n, cells in enumerate(columns) if all(MOMENT.fullmatch(cell) for cell in cells)]
    if not moments or len(columns) < 2:
        return None
    time = moments[0]
    if _is_newest_first(columns[time]):
        columns = [cells[::-1] for cells in columns]
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


def _is_newest_first(moments: Sequence[str]) -> bool:
    steps = [(earlier < later) - (earlier > later) for earlier, later in pairwise(moments)]
    return sum(steps) < 0


def rising_pair(columns: Sequence[Sequence[str]], free: Sequence[int], topic: Sequence[str]) -> tuple[int, int] | None:
    """Partition and offset among the *free* columns by what stands in them alone: offsets that rise one by one."""
    numbers = [n for n in free if all(_NUMBER.fullmatch(cell) for cell in columns[n])]
    pair = _pair(columns, numbers, topic)
    if pair is None or len(columns[pair[0]]) < ENOUGH:
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
        if 2 * len(partitions) > max(len(columns[queue]), ENOUGH) or max(map(int, partitions)) > 99_999:
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


DIFFERENT = 0.9
"""Different cells for each message from which a column tells messages apart, of which a tenth may be noted twice, as
after a restart. What a device or a customer is called comes again: with two messages of each it is half."""
_SCOPE = ("role", "topic", "group", "party")
_STAGES = re.compile(r"(?i)kind|state|type|status")
"""Names of columns that may hold roles, but other things too."""
_ANSWERED = re.compile(r"(?i)answered")
"""A moment that only a broker's answer makes one of an acknowledgement: people answer, too."""
_FIRST_WORD = re.compile(r"(?i)([a-z]+)(?:_|$)")
ID = re.compile(r"(?i:(?:^|.*[_ .-])(?:id|key|number|num|nr|no|uuid|guid))|.*[a-z0-9](?:I[dD]|Key|Number|No|Nr)")
NO_KEY = re.compile(
    r"(?i)(?:.*_)?(?:size|len|length|count|total|rate|lag|latency|delay|duration|elapsed|took|epoch|attempts?|retr(?:y|ies)|"
    r"qos|tags?|hosts?|threads?|pid|packet_?id|mid|payload|value|body|text|amount|price|ms|us|ns|seconds|kb|mb|percent)"
)
"""Measures and the like, which may differ in every row, and numbers of packets, which only one connection knows."""
_DATED = re.compile(r"(?:1\d{9}|20\d\d-\d\d-\d\d).*")
_DECIMAL = re.compile(r"-?\d+\.\d+(?:[eE][+-]?\d+)?")
_NUMERIC = re.compile(r"-?\d+(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Named:
    """Numbers of the columns by field, and the role with what it is known by."""

    columns: Mapping[str, int]
    role: str | None = None
    told: str | None = None
    dated: bool = False
    """What the name of a time stands over looks like one."""
    by_file: bool = False
    """The role stands in the file's name."""
    answered: bool = False
    """Rows hold more than one moment."""
    sure: bool = False
    """Rows of this kind are messages: each has a moment and a place, or an id and a known role."""


def named(names: Sequence[str], rows: Sequence[Sequence[str]], file: str) -> Named:
    """What the columns *names* over *rows* are in a file of this name; rows have a cell for each name, maybe empty."""
    cells = [[row[n] for row in rows] for n in range(len(names))]
    found: dict[str, int] = {}
    for n, name in enumerate(names):
        if known := field_of(name):
            found.setdefault(known, n)
    dates = [n for n, column in enumerate(cells) if all_match(MOMENT, column) and all(column)]
    moments = [
        n for n, column in enumerate(cells) if field_of(names[n]) == "time" and all_match(MOMENT, column)
    ] or dates
    found |= _place(cells, found, moments) or _offset(cells, found, moments)
    role, told = _role(names, moments or [n for n in [found.get("time")] if n is not None], file)
    found |= _stages(names, cells, found, role)
    if found.get("status") == found.get("role"):
        found.pop("status", None)
    if moments:
        found["time"] = next((n for n in moments if _role_of_time(names[n]) == role), moments[0])
    key = _key(names, cells, found)
    if key is not None:
        found["key"] = key
    staged = "role" in found and all(map(role_of, filter(None, cells[found["role"]])))
    placed = {"queue", "offset"} <= found.keys() or ("place" in found and "offset" in found)
    if not placed and role_in(file) is None and any(_ANSWERED.fullmatch(names[n]) for n in moments):
        role, told = None, None
    apart = placed or _is_told_apart(names, cells, found)
    dated = any(
        field_of(name) == "time" and all_match(_DATED, column) for name, column in zip(names, cells, strict=True)
    )
    asked = len(dates) > 1 and {"status", "queue"} <= found.keys()
    sure = bool(moments) and (role is not None or staged or placed or asked) and apart
    return Named(found, role, told, dated, role_in(file) is not None, len(dates) > 1, sure)


def _place(cells: Sequence[Sequence[str]], found: Mapping[str, int], moments: Sequence[int]) -> dict[str, int]:
    """Partition and offset by what stands in columns whose names say nothing."""
    if not moments or {"queue", "offset", "place"} & found.keys():
        return {}
    free = [n for n in range(len(cells)) if n not in found.values() and n not in moments]
    topic = cells[found["topic"]] if "topic" in found else [""] * len(cells[0])
    pair = rising_pair(cells, free, topic)
    return {"queue": pair[0], "offset": pair[1]} if pair else {}


def _offset(cells: Sequence[Sequence[str]], found: Mapping[str, int], moments: Sequence[int]) -> dict[str, int]:
    """The offset beside a partition with a name: numbers that rise within it, wherever there is a partition at all.

    They rise one by one, or within their partition alone: a key rises from row to row.
    """
    if not moments or "queue" not in found or {"offset", "place"} & found.keys():
        return {}
    placed = [n for n, queue in enumerate(cells[found["queue"]]) if queue]
    own = [[column[n] for n in placed] for column in cells]
    topic = own[found["topic"]] if "topic" in found else [""] * len(placed)
    for n, column in enumerate(own):
        if n in {*found.values(), *moments} or not all(map(_NUMBER.fullmatch, column)):
            continue
        rising, even = _steps(own[found["queue"]], column, topic)
        steps = len(placed) - len(set(zip(topic, own[found["queue"]], strict=True)))
        over_all, _ = _steps([""] * len(placed), column, topic)
        if steps >= ENOUGH and rising >= _RISING and (2 * even > steps or over_all < _RISING):
            return {"offset": n}
    return {}


def _role(names: Sequence[str], times: Sequence[int], file: str) -> tuple[str | None, str | None]:
    """The role by the file's name, else by the name of a moment (``acked_at``).

    A producer may call the moment of an acknowledgement ``committed_at``: the file's name knows better.
    """
    by_file = role_in(file)
    by_time = next((role for n in times if (role := _role_of_time(names[n]))), None)
    if by_file:
        return by_file, "column" if by_file == by_time else "name"
    return by_time, "column" if by_time else None


def _role_of_time(name: str) -> str | None:
    word = _FIRST_WORD.match(name)
    return role_of(word[1]) if word else None


def _stages(
    names: Sequence[str], cells: Sequence[Sequence[str]], found: Mapping[str, int], role: str | None
) -> dict[str, int]:
    """A column of roles that goes by a common name, such as ``state``; a status only where no role is known."""
    if "role" in found:
        return {}
    for n, name in enumerate(names):
        words = {cell.lower() for cell in cells[n] if cell}
        if words and words <= set(ROLES) and _STAGES.fullmatch(name) and (role is None or found.get("status") != n):
            return {"role": n}
    return {}


def _key(names: Sequence[str], cells: Sequence[Sequence[str]], found: Mapping[str, int]) -> int | None:
    """The column that tells messages apart, of those that nothing else is known of."""
    taken = {n for field, n in found.items() if field != "key"}
    free = [
        n for n, name in enumerate(names)
        if n not in taken and field_of(name) in (None, "key") and not NO_KEY.fullmatch(name)
        and not all_match(MOMENT, cells[n]) and not all_match(_DECIMAL, cells[n])
    ]  # fmt: skip
    return key_of(names, cells, found, free)


def key_of(
    names: Sequence[str], cells: Sequence[Sequence[str]], found: Mapping[str, int], free: Sequence[int]
) -> int | None:
    """The column of the *free* ones whose cells differ from message to message.

    That with a known name comes first, then one that ends like an id, then the leftmost.
    """
    likely = [n for n in free if _differs(n, cells, found)]
    return min(likely, key=lambda n: (field_of(names[n]) != "key", not ID.fullmatch(names[n]), n), default=None)


def _differs(n: int, cells: Sequence[Sequence[str]], found: Mapping[str, int]) -> bool:
    """Whether the cells differ from message to message, within each role and topic; a place is one message."""
    scopes = [cells[found[field]] for field in _SCOPE if field in found and found[field] != n]
    queue, offset = (cells[found[field]] if field in found else [] for field in ("queue", "offset"))
    keys: dict[tuple[str, ...], set[str]] = defaultdict(set)
    messages: dict[tuple[str, ...], set[object]] = defaultdict(set)
    for row, cell in enumerate(cells[n]):
        scope = tuple(column[row] for column in scopes)
        keys[scope].update({cell} - {""})
        place = (queue[row], offset[row]) if queue and offset and queue[row] and offset[row] else row
        messages[scope].add(place)
    different = sum(map(len, keys.values()))
    return different > 0 and different >= DIFFERENT * sum(map(len, messages.values()))


def _is_told_apart(names: Sequence[str], cells: Sequence[Sequence[str]], found: Mapping[str, int]) -> bool:
    """Whether keys tell the messages apart; numbers without a name of an id may be measures."""
    key = found.get("key")
    if key is None:
        return False
    return ID.fullmatch(names[key]) is not None or not all_match(_NUMERIC, cells[key])


def all_match(pattern: re.Pattern[str], column: Sequence[str]) -> bool:
    """Whether there are cells, and each that is not empty is of this kind."""
    filled = [cell for cell in column if cell]
    return bool(filled) and all(pattern.fullmatch(cell) for cell in filled)
