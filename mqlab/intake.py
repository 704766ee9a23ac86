"""Intake: from paths to sources. Files are found, archives unpacked, formats recognised; nothing is changed.

Whatever has to be written goes into the scratch folder. A file that cannot be read is a source with a problem, never
an error, as long as another one can.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from mqlab.errors import NothingReadableError, UnsafeArchiveError
from mqlab.formats.base import Format
from mqlab.ledgers.log_shapes import once
from mqlab.ledgers.mapping import NO_MAP, LedgerMap
from mqlab.material import archives, copies, days, encodings, overlaps, pasted, remote, streams, wholes
from mqlab.material.names import ENDS, digest, fingerprint, moment_in, told_apart
from mqlab.material.recognition import HEAD, Recognised, mapped, mapped_lines, noting, recognise
from mqlab.material.walking import Item, fetched, items, no_file, shown
from mqlab.sources import Envelope, Reading, Source

_DEEPEST = 2
_NO_ARCHIVES = (".jar", ".war", ".ear", ".docx", ".xlsx", ".pptx", ".odt", ".ods", ".whl", ".apk")
_UNREAD = ("unreadable", "empty")
_TRANSCODED = 64 << 20
"""Bytes of a file in an encoding of single letters that is written anew; of a larger one these are replaced."""
_AT_ONCE = 16
"""Remote files that are looked at side by side: each of them is a wait for the network."""


def gather(paths: Sequence[str], scratch: Path, formats: Sequence[Format], ledgers: LedgerMap = NO_MAP) -> list[Source]:
    """Every file behind *paths* as a source, by path.

    Args:
        paths: files, folders, globs, archives, or ``-`` for standard input.
        scratch: a folder of our own for what must be unpacked.
        formats: asked one after the other whether a file is theirs.
        ledgers: files that the user says are ledgers; no format is asked about them.

    Raises:
        NoSuchPathError: a path that does not exist.
        NothingReadableError: not one file could be read.
        UnsafeArchiveError: the only thing given is an archive that must not be unpacked.
    """
    scratch.mkdir(parents=True, exist_ok=True)
    desk = _Desk(scratch, tuple(formats), ledgers)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        found = list(items(paths, scratch))
        looked = zip(found, pool.map(desk.in_place, found), strict=True)
        sources = [source for item, there in looked for source in ([there] if there else desk.take(item))]
    if all(source.format in _UNREAD for source in sources):
        if desk.unsafe:
            raise desk.unsafe
        because = next((s.problem.rstrip(".") for s in sources if s.problem), "there is no file with content")
        raise NothingReadableError([shown(path) for path in paths], because)
    ordered = days.dated(sorted(sources, key=lambda s: (s.path, s.location)))
    sources = copies.read_once(ordered, desk.beginnings)
    return told_apart(once(overlaps.cut(sources, scratch)))


@dataclass(slots=True)
class _Desk:
    """Where items are opened; remembers how much may still be unpacked."""

    scratch: Path
    formats: tuple[Format, ...]
    ledgers: LedgerMap
    beginnings: dict[str, copies.Beginning] = field(default_factory=dict)
    """Of what may be a copy, by path."""
    budget: int = 20 << 30
    unsafe: UnsafeArchiveError | None = None

    def in_place(self, item: Item) -> Source | None:
        """The source in a remote file that is read where it lies; None for all others."""
        if not item.remote:
            return None
        head = self.scratch / f"head-{self._target(item).name}"
        try:
            raw = remote.read(item.remote.uri, HEAD)
            if not raw or not remote.in_place(raw):
                return None
            head.write_bytes(raw)
            start, _ = _start(head)
            if not start or encodings.told(start) or _is_archive(item, start):
                return None
            end = remote.read(item.remote.uri, ENDS, end=True) if item.remote.size > len(raw) else raw
            key = digest(repr((item.remote.size, item.modified)).encode(), raw, end)
        except OSError:
            return None
        finally:
            head.unlink(missing_ok=True)
        known = self._recognised(item, start, item.remote.size)
        found = _source(item, item.file, known, None)
        packed = streams.kind_of(raw[:512]) is not None
        self.beginnings[item.path] = copies.Beginning.of(start, HEAD)
        return replace(found, location=item.remote.uri, size=item.remote.size, key=key, packed=packed)

    def take(self, item: Item) -> Iterator[Source]:
        """The sources in one item: itself, or the members of an archive."""
        if item.remote:
            item = fetched(item, item.remote)
        if problem := item.problem or no_file(item.file):
            yield _source(item, item.file, Recognised("unreadable"), problem)
            return
        try:
            start, problem = _start(item.file)
            if _is_archive(item, start):
                yield from self._members(item)
            else:
                yield from self._settled(item, start, problem)
        except OSError as error:
            yield _source(item, item.file, Recognised("unreadable"), f"{error.strerror or error}.")

    def _recognised(self, item: Item, start: bytes, size: int) -> Recognised:
        if entries := self.ledgers.patterns(item.path):
            return mapped_lines(start, item.name, size, entries, self.formats)
        entry = self.ledgers.entry(item.path)
        if entry:
            return mapped(start, item.name, size, entry)
        return noting(recognise(start, item.name, size, self.formats), start, item.name)

    def _settled(self, item: Item, start: bytes, problem: str | None) -> Iterator[Source]:
        if not start:
            yield _source(item, item.file, Recognised("unreadable" if problem else "empty"), problem)
            return
        location, packed = item.file, _is_packed(item.file)
        codec = encodings.told(start)
        if codec and (codec.startswith("utf-16") or item.file.stat().st_size <= _TRANSCODED):
            location, packed = self._target(item), False
            try:
                problem = streams.transcoded(item.file, location, codec)
            except streams.GrowthError as error:
                yield _source(item, item.file, Recognised("unreadable"), f"Not unpacked: {error}.")
                return
            start, _ = _start(location)
        key = fingerprint(item.file, item.modified)
        known = self._recognised(item, start, item.file.stat().st_size)
        source = replace(_source(item, location, known, problem), key=key, packed=packed)
        self.beginnings[item.path] = copies.Beginning.of(start, HEAD)
        yield from self._parts(source, start) or [source]

    def _parts(self, source: Source, start: bytes) -> list[Source]:
        """The things that stand in a file which somebody copied together; nothing where it is one thing."""
        known = Recognised(source.format, source.reading, source.envelope)
        if self.ledgers.entry(source.path) or self.ledgers.patterns(source.path):
            return []
        if pasted.is_clean(start, source.unpacked, known):
            return []
        if len(start) >= HEAD and not pasted.parts(start, source.name, self.formats, source.format):
            return []
        try:
            with streams.opened(Path(source.location)) as stream:
                data = stream.read(pasted.LARGEST + 1)
        except streams.BROKEN:
            return []
        found = pasted.parts(data, source.name, self.formats, source.format) if len(data) <= pasted.LARGEST else []
        return [self._part(source, part) for part in found]

    def _part(self, source: Source, part: pasted.Part) -> Source:
        lines = wholes.written(part.wholes)
        key = digest(source.key.encode(), lines)
        place = self.scratch / f"part-{key}"
        place.write_bytes(lines)
        return replace(
            source, key=key, format=part.known.format, reading=part.known.reading, envelope=Envelope.NONE,
            zone_written=part.known.zone_written, zone_rule=part.known.zone_rule, layout=part.known.layout,
            packed=False, part=str(place.absolute()),
        )  # fmt: skip

    def _members(self, item: Item) -> Iterator[Source]:
        if item.depth >= _DEEPEST:
            yield _source(item, item.file, Recognised("unreadable"), "An archive too deep within archives, not opened.")
            return
        try:
            unpacked = archives.unpack(item.file, self._target(item), total=self.budget)
        except UnsafeArchiveError as error:
            self.unsafe = error
            yield _source(item, item.file, Recognised("unreadable"), str(error))
            return
        for member in unpacked.members:
            inner = Item(
                shown(f"{item.path}!/{member.name}"),
                member.location or item.file,
                member.modified,
                item.depth + 1,
                origin=item.origin,
            )
            if member.location is None:
                yield _source(inner, item.file, Recognised("unreadable"), member.problem)
            else:
                self.budget -= member.location.stat().st_size
                yield from (replace(s, problem=s.problem or member.problem) for s in self.take(inner))
        if unpacked.problem or not unpacked.members:
            yield _source(item, item.file, Recognised("unreadable"), unpacked.problem or "The archive holds no file.")

    def _target(self, item: Item) -> Path:
        return self.scratch / hashlib.sha256(item.path.encode("utf-8", "surrogatepass")).hexdigest()[:20]


def _start(file: Path) -> tuple[bytes, str | None]:
    """The first bytes of the content, as far as they can be read, and why there are none."""
    start = b""
    try:
        with streams.opened(file) as stream:
            while len(start) < HEAD and (block := stream.read(HEAD - len(start))):
                start += block
    except PermissionError:
        raise
    except streams.BROKEN as error:
        return start, None if start else f"It cannot be read: {error}."
    return start, None


def _is_packed(file: Path) -> bool:
    with file.open("rb") as raw:
        return streams.kind_of(raw.read(512)) is not None


def _is_archive(item: Item, start: bytes) -> bool:
    kind = streams.kind_of(start[:512])
    return kind == "tar" or (kind == "zip" and not item.name.lower().endswith(_NO_ARCHIVES))


def _source(item: Item, location: Path, known: Recognised, problem: str | None) -> Source:
    taken = moment_in(item.name) or moment_in(PurePosixPath(item.path).parent.name)
    return Source(
        key=digest(item.path.encode("utf-8", "surrogatepass")),
        path=item.path,
        location=str(location.absolute()),
        format=known.format,
        reading=known.reading,
        envelope=known.envelope if known.reading is not Reading.DOCUMENT else Envelope.NONE,
        size=_size(item.file),
        modified=item.modified,
        snapshot_at=taken.at if taken else None,
        zone_written=known.zone_written,
        zone_rule=known.zone_rule,
        problem=problem,
        layout=known.layout,
        origin=item.origin,
    )


def _size(file: Path) -> int:
    try:
        return file.lstat().st_size
    except OSError:
        return 0
