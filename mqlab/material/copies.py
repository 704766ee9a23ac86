"""Copies: what was gathered twice is read once, whatever it is called and however it is compressed.

Whether lines end as on Windows is no difference. Equal bytes alone make no copy: the output of a command that did not
change is another observation at another moment, and two brokers may have the same settings. Files of the same bytes
are one thing where

* nobody else can have written them: a log or ledger with many moments, samples that name their instance, or many
  samples with their moments under one name;
* they have the same place: the same path but for what copying and packing add to names, and the same moment in it;
* they have the same place below two folders that share something that nobody else can have written, and of which
  nothing of that kind differs.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import combinations

from mqlab.ledgers.layout import TELLING_ROWS, Holder, party_in
from mqlab.material import remote, streams
from mqlab.material.names import copied_name, digest, rotated_name
from mqlab.sources import COPY, Envelope, Reading, Source

MOMENTS = 10
"""Different moments in the first 64 KB from which two processes do not write the same bytes. Judgement, no default
behind it: a start of mosquitto prints some eight lines within one second."""
SAMPLES = 4096
"""Bytes from which samples of two hosts are not the same. Judgement: a hundred lines, of which some are load."""
_MOMENT = re.compile(rb"\d\d:\d\d:\d\d(?:[.,]\d{1,9})?|(?<![\d.])1[5-9]\d{8}(?:\.?\d{3,9})?(?!\d)")
_FRACTION = re.compile(rb"(?:\d\d:\d\d:\d\d[.,]|1[5-9]\d{8}\.?)0*[1-9]\d*")
_INSTANCE = re.compile(rb'"?instance"?\s?[:=]')
_ARCHIVE = re.compile(r"(?i)\.(?:zip|tgz|tbz2?|txz|tar(?:\.\w+)?)$")
_COPIES = frozenset({"copy", "copies", "bak", "backup", "backups", "old", "orig", "副本", "备份", "拷贝"})
"""Folders that hold nothing but copies of what lies beside them."""


@dataclass(frozen=True, slots=True)
class Beginning:
    """What is kept of the first bytes of a file until all files are known."""

    digest: str
    """Whatever ends its lines; of a file that is larger, of the first half, which is the same for both line ends."""
    is_whole: bool
    ends_in_cr: bool
    """Its first line ends as on Windows: the same text has another size elsewhere."""
    has_moments: bool
    names_instance: bool

    @classmethod
    def of(cls, start: bytes, most: int) -> Beginning:
        """From the first bytes of the content, *most* at most."""
        is_whole, plain = len(start) < most, start.replace(b"\r\n", b"\n")
        told = plain if is_whole else plain[: most // 2]
        ends_in_cr = start.partition(b"\n")[0].endswith(b"\r")
        return cls(digest(told), is_whole, ends_in_cr, has_moments(start), _INSTANCE.search(start) is not None)


def read_once(sources: Sequence[Source], beginnings: Mapping[str, Beginning]) -> list[Source]:
    """*sources*, in which copies are of the format ``copy`` and say of what.

    Args:
        sources: sorted; the parts of a paste have one path.
        beginnings: by path; only files that have one may be copies.
    """
    files = {s.path: s for s in reversed(sources) if s.path in beginnings and s.has_content}
    alike = [{path: files[path] for path in paths} for paths in _identical(files, beginnings)]
    if not alike:
        return list(sources)
    several = {path for one in alike for path in one}
    told = {path: s for path, s in files.items() if path in several or s.reading is Reading.LOG}
    owned = {path: owner for path, s in told.items() if (owner := _owner(s, beginnings[path])) is not None}
    copies: dict[str, str] = {}
    for same in _grouped(alike, owned):
        kept = min(same, key=lambda path: _rank(files[path]))
        copies |= {path: kept for path in same if path != kept}
    first = {s.path: s.key for s in reversed(sources)}
    return [
        _copy(s, copies[s.path]) if s.path in copies else s
        for s in sources
        if s.path not in copies or s.key == first[s.path]
    ]


def _copy(source: Source, kept: str) -> Source:
    key = digest(source.path.encode("utf-8", "surrogatepass"))
    return replace(
        source, key=key, format=COPY, reading=Reading.COUNT, envelope=Envelope.NONE, problem=None, layout=None,
        part=None, copy_of=kept,
    )  # fmt: skip


def _identical(files: Mapping[str, Source], beginnings: Mapping[str, Beginning]) -> Iterator[list[str]]:
    """Paths of files with the same content; only where their first bytes are the same are they read further."""
    by_start: dict[tuple[str, bool], list[str]] = defaultdict(list)
    for path in sorted(files):
        by_start[beginnings[path].digest, beginnings[path].is_whole].append(path)
    for (_, is_whole), paths in sorted(by_start.items()):
        if len(paths) < 2:
            continue
        if is_whole:
            yield paths
            continue
        by_content: dict[str, list[str]] = defaultdict(list)
        is_mixed = len({beginnings[path].ends_in_cr for path in paths}) > 1
        for path in paths if is_mixed else _of_one_size([files[path] for path in paths]):
            if content := _content(files[path]):
                by_content[content].append(path)
        yield from (same for same in by_content.values() if len(same) > 1)


def _of_one_size(sources: Sequence[Source]) -> list[str]:
    """Paths of those that may have the size of another one: what is compressed need not tell its own."""
    sizes: dict[int | None, list[str]] = defaultdict(list)
    for source in sources:
        sizes[None if source.packed else source.size].append(source.path)
    return [path for size, paths in sizes.items() for path in paths if len(paths) > 1 or None in sizes]


def _content(source: Source) -> str | None:
    """A digest of all of its content, decompressed, whatever ends its lines; None where its end cannot be read."""
    found, meter, held = sha256(), streams.Meter(source.size, total=1 << 40, ratio=1000), b""
    try:
        with remote.opened(source.location) as stream:
            for block in streams.blocks(stream):
                meter.add(len(block))
                text = held + block
                held = b"\r" if text.endswith(b"\r") else b""
                found.update(text.removesuffix(b"\r").replace(b"\r\n", b"\n"))
    except streams.BROKEN:
        return None
    found.update(held)
    return found.hexdigest()


def has_moments(content: bytes) -> bool:
    """Whether lines of a log with so many moments can be of one process only."""
    return len(set(_MOMENT.findall(content))) >= MOMENTS


def _owner(source: Source, start: Beginning) -> str | None:
    """Whose content it must be, as one word for all logs; None where somebody else may have the same.

    Two processes may note the same messages within the same seconds, and a name may tell whose ledger, or of which
    broker samples are.
    """
    if not start.has_moments:
        return None
    if source.layout and source.reading is not Reading.LOG:
        return f"ledger of {json.loads(source.layout)['party']}" if _notes_many_moments(source) else None
    if source.reading is Reading.LOG or start.names_instance:
        return "anybody"
    return f"samples in {copied_name(source.name)}" if source.size >= SAMPLES else None


def _notes_many_moments(source: Source) -> bool:
    """Whether it notes enough moments that are finer than a second; it is read until it does."""
    found: set[bytes] = set()
    try:
        with remote.opened(source.location) as stream:
            for block in streams.blocks(stream):
                found |= {moment for moment in _MOMENT.findall(block) if _FRACTION.fullmatch(moment)}
                if len(found) >= TELLING_ROWS:
                    return True
    except streams.BROKEN:
        return False
    return False


def _grouped(alike: Sequence[Mapping[str, Source]], owned: Mapping[str, str]) -> Iterator[list[str]]:
    """Paths of files that are one thing, two at least, from *alike* ones of the same content."""
    found = [_Joined(files) for files in alike]
    for one in found:
        one.join(((owned[path],) for path in one.files if path in owned), [p for p in one.files if p in owned])
        one.join((_place(source) for source in one.files.values()), list(one.files))
    content = {path: number for number, files in enumerate(alike) for path in files}
    roots = {pair for one in found for same in one.groups() for pair in _roots(same) if _is_tree(pair, content, owned)}
    for one in found:
        one.join_below(roots)
        yield from one.groups()


class _Joined:
    """Files of the same content, of which some are joined."""

    def __init__(self, files: Mapping[str, Source]) -> None:
        self.files = files
        self._first = {path: path for path in files}

    def join(self, keys: Iterable[object], paths: Sequence[str]) -> None:
        """Join those of *paths* that have the same of *keys*."""
        known: dict[object, str] = {}
        for key, path in zip(keys, paths, strict=True):
            self._one(known.setdefault(key, path), path)

    def join_below(self, roots: Iterable[tuple[str, str]]) -> None:
        """Join files with the same place below both folders of one of *roots*, and the same moment in their names."""
        for one, other in sorted(roots):
            for path, source in self.files.items():
                twin = self.files.get(other + path.removeprefix(one)) if path.startswith(one) else None
                if twin and twin.snapshot_at == source.snapshot_at:
                    self._one(path, twin.path)

    def groups(self) -> Iterator[list[str]]:
        """Paths that are joined, two at least."""
        found: dict[str, list[str]] = defaultdict(list)
        for path in self.files:
            found[self._root(path)].append(path)
        yield from (paths for paths in found.values() if len(paths) > 1)

    def _one(self, path: str, other: str) -> None:
        self._first[self._root(other)] = self._root(path)

    def _root(self, path: str) -> str:
        while self._first[path] != path:
            path = self._first[path]
        return path


def _place(source: Source) -> tuple[object, ...]:
    """Where it lies, without what copying and packing add; and its moment, where its name tells one.

    ``cap.tar.gz!/cap/a.txt``, ``cap.zip!/a.txt``, ``cap/a.txt.bak`` and ``backup/cap/a (1).txt`` have one place.
    """
    *archives, inner = source.path.split("!/")
    parts: list[str] = []
    for archive in archives:
        *above, name = archive.split("/")
        parts += [*above, _ARCHIVE.sub("", name)]
    *folders, name = inner.split("/")
    if parts and folders and copied_name(folders[0]) == copied_name(parts[-1]):
        parts.pop()
    plain = [copied_name(part) for part in (*parts, *folders) if part.lower() not in _COPIES]
    return (*plain, copied_name(name), source.snapshot_at)


def holders(sources: Sequence[Source]) -> dict[str, Holder]:
    """Whose the ledgers among *sources* are, by their links; those that are preferred come first."""
    return {source.link: _holder(source) for source in sorted(sources, key=_rank) if source.layout}


def _holder(source: Source) -> Holder:
    party, name = json.loads(source.layout or "{}")["party"], copied_name(source.name)
    return Holder(rotated_place(source), party if party != party_in(name) else party_in(rotated_name(name)))


def rotated_place(source: Source) -> str:
    """Where it lies, without what rotation, copying and packing add: the same for all files of one log."""
    *folders, name, _ = _place(source)
    return "/".join(map(str, (*folders, rotated_name(str(name)))))


def _roots(same: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The folders of each two of *same* that hold them under the same names, and end in a slash or are empty."""
    for one, other in combinations(sorted(same)[:_TREES], 2):
        ends = zip(reversed(re.split(r"(?<=/)", one)), reversed(re.split(r"(?<=/)", other)), strict=False)
        shared = 0
        for a, b in ends:
            if a != b:
                break
            shared += len(a)
        if shared:
            yield one[:-shared], other[:-shared]


_TREES = 20
"""Copies of one file that are looked at for folders that are copies: a bound of time."""


def _is_tree(roots: tuple[str, str], content: Mapping[str, int], owned: Mapping[str, str]) -> bool:
    """Whether what nobody else can have written lies below both folders, and under each name the same."""
    one, other = roots
    twins = [(path, other + path.removeprefix(one)) for path in owned if path.startswith(one)]
    both = [(path, twin) for path, twin in twins if twin in owned and path != twin]
    return bool(both) and all(path in content and content[path] == content.get(twin) for path, twin in both)


def _rank(source: Source) -> tuple[object, ...]:
    """Which of several copies is read: one that is whole, tells its moment, lies on disk, is no copy by its name.

    Of others the earliest, since copying leaves the moment of the copy.
    """
    parts = source.path.split("/")
    return (
        source.problem is not None,
        source.snapshot_at is None,
        source.path.count("!/"),
        sum(copied_name(part) != part or part.lower() in _COPIES for part in parts),
        source.packed,
        round(source.modified or 1e12),
        len(parts),
        len(source.path),
        source.path,
    )
