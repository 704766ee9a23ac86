"""Files of clients that are numbered as their ids are: ``w1/got.tsv`` and ``forwarded-1.csv`` of ``fan-worker-1``.

Services that are started several times keep their files in folders, or under names, that tell only their numbers.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

LEAST = 2
"""Numbers from which it is no chance that files and ids have the same ones."""
_NUMBER = re.compile(r"(?<!\d)\d{1,4}(?!\d)")
"""A longer one is a date or a process."""


def owners(sources: Iterable[str], clients: Iterable[str]) -> Mapping[str, str]:
    """Source → client id, for sources and ids that are alike but for a number each, and have the same numbers.

    Nothing for sources that fit ids of several kinds.
    """
    kinds = _alike((client, client) for client in set(clients))
    found: dict[str, str] = {}
    for numbers in _alike((_without_ending(source), source) for source in set(sources)).values():
        fitting = [own for own in kinds.values() if own.keys() == numbers.keys()]
        if len(numbers) >= LEAST and len(fitting) == 1:
            found |= {source: fitting[0][number] for number, source in numbers.items()}
    return dict(sorted(found.items()))


def _without_ending(source: str) -> str:
    folder, slash, name = source.rpartition("/")
    return folder + slash + name.partition(".")[0]


def _alike(names: Iterable[tuple[str, str]]) -> Mapping[str, Mapping[int, str]]:
    """Kind of name, with ``#`` for its last number → number → what has that name; without kinds that count double."""
    found: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for name, whole in sorted(names):
        numbers = list(_NUMBER.finditer(name))
        if numbers:
            last = numbers[-1]
            found[f"{name[: last.start()]}#{name[last.end() :]}"].append((int(last[0]), whole))
    return {kind: dict(own) for kind, own in found.items() if len(dict(own)) == len(own)}
