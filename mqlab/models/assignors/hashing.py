"""The order in which Java walks a ``HashMap``: the assignors iterate over maps, so it decides who gets what.

``java.util.HashMap`` keeps entries in a table whose size is a power of two, at least 16 and never more than three
quarters full. It walks the table from the first bin, and each bin in the order of insertion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from typing import TypeVar

_Key = TypeVar("_Key")

_LOAD_FACTOR = 0.75
_SMALLEST_TABLE = 16
_WORD = 0xFFFFFFFF


def utf16(text: str) -> bytes:
    """Return the key by which ``String.compareTo`` orders *text*."""
    return text.encode("utf-16-be", "surrogatepass")


def string_hash(text: str) -> int:
    """Return ``String.hashCode`` of *text* as an unsigned number of 32 bits."""
    units = memoryview(text.encode("utf-16-le", "surrogatepass")).cast("H")
    return reduce(lambda total, unit: (31 * total + unit) & _WORD, units, 0)


def partition_hash(partition: tuple[str, int]) -> int:
    """Return ``TopicPartition.hashCode`` of *partition* as an unsigned number of 32 bits."""
    topic, number = partition
    return (31 * (31 + number) + string_hash(topic)) & _WORD


def walk(inserted: Iterable[_Key], hash_of: Callable[[_Key], int], sized_for: int | None = None) -> list[_Key]:
    """Return distinct keys in the order in which a ``HashMap`` that got them in this order hands them out.

    *sized_for* is the number of keys that the table had to hold, where that is not how many there are: tables do not
    shrink.
    """
    keys = list(dict.fromkeys(inserted))
    bins = _table_size(len(keys) if sized_for is None else sized_for)
    return sorted(keys, key=lambda key: _spread(hash_of(key)) & (bins - 1))


def walk_computed(asked: Sequence[_Key], hash_of: Callable[[_Key], int]) -> list[_Key]:
    """Return distinct keys in the order of a ``HashMap`` for which ``computeIfAbsent`` was *asked*, key after key.

    That puts a new key before those in its bin, and enlarges the table only when it is asked the next time.
    """
    newest_first = reversed(dict.fromkeys(asked))
    return walk(newest_first, hash_of, len(set(asked[:-1])))


def _table_size(entries: int) -> int:
    size = _SMALLEST_TABLE
    while entries > size * _LOAD_FACTOR:
        size *= 2
    return size


def _spread(code: int) -> int:
    return code ^ (code >> 16)
