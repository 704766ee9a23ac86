"""Files of clients that are numbered as their ids are: ``w1/got.tsv`` and ``forwarded-1.csv`` of ``fan-worker-1``.

Services that are started several times keep their files in folders, or under names, that tell only their numbers; the
folder of others is the first or the last word of their id: ``office/in.csv`` of ``office-view``.
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


def in_folders(sources: Iterable[str], clients: Iterable[str]) -> Mapping[str, str]:
    """Source → client id, where its folder is a word at an end of one id alone, and no other source is there."""
    by_folder: dict[str, list[str]] = defaultdict(list)
    for source in sorted(set(sources)):
        by_folder[source.rpartition("/")[0].rpartition("/")[2]].append(source)
    found: dict[str, str] = {}
    for folder, own in by_folder.items():
        fitting = [client for client in sorted(set(clients)) if folder and _ends_with(client, folder)]
        if len(own) == 1 and len(fitting) == 1:
            found[own[0]] = fitting[0]
    return {source: client for source, client in found.items() if list(found.values()).count(client) == 1}


def _ends_with(client: str, word: str) -> bool:
    parts = re.split(r"[-_.]", client)
    return word in (client, parts[0], parts[-1])


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
