"""`mqlab redact`: a copy of a material in which only words of the software, numbers and moments are as they were.

Names come from mqlab's own tables and from what lines say by key; these and all other words that are not the software's
are replaced in every byte of every file and in the files' names. What each became is for the owner alone.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path

from mqlab.cache import workspace
from mqlab.capture import Capture, open_capture
from mqlab.diagnosis import Diagnosis
from mqlab.facts import span
from mqlab.gather import redact_names
from mqlab.gather.redact_check import Doubts, Search
from mqlab.gather.redact_images import TOKEN, Images, addresses, is_worth_a_look, small
from mqlab.gather.redact_material import LeftOut, Target, TargetError, Text, cleaned, texts
from mqlab.gather.redact_moments import Shift
from mqlab.gather.redact_names import Names, in_text
from mqlab.gather.redact_payloads import without_payloads
from mqlab.gather.redact_pseudonyms import Pseudonyms, tokens
from mqlab.gather.redact_rewriting import Rewriter, whole_lines
from mqlab.gather.redact_words import MASKS, STRUCTURE, own_words
from mqlab.material import streams
from mqlab.rows import Coverage

_CLOSE = 0o600
_KEY_BYTES = 32
_SCANNED = 1 << 20


@dataclass(frozen=True, slots=True)
class Options:
    """What the user chose."""

    key: Path
    """The owner's key; made where there is none."""
    map: Path
    """Where the map from names to pseudonyms goes."""
    weeks: int = 0
    """By how many weeks moments are shifted."""
    workspace: str | None = None
    master: str | None = None
    check: bool = True
    """Whether the result is diagnosed and compared."""
    keep_payload: bool = False
    """Whether what messages carried stays, but for names and secrets."""


@dataclass(frozen=True, slots=True)
class Redaction:
    """What came of it."""

    output: Path
    pseudonyms: dict[str, dict[str, str]]
    """By kind."""
    replaced: int
    """How many different words gave way, those of names among them."""
    words: tuple[str, ...]
    """Names that are words of the software, too: replaced only where a name is expected."""
    unsure: tuple[str, ...]
    """Words of the software that may be somebody's name, most frequent first."""
    left_out: tuple[LeftOut, ...]
    left: dict[str, int]
    """What the output still holds, and how often."""
    differs: tuple[str, ...]
    """What mqlab says otherwise of the output."""


def redact(paths: Sequence[str], output: Path, options: Options, tell: Callable[[str], None]) -> Redaction:
    """Write a copy of what is behind *paths* without its names to *output*, a folder or a ``.tar.zst``.

    Raises:
        MqlabError: nothing readable, or the output, the key or the map cannot be written.
    """
    key = _key(options.key)
    if options.map.exists():
        raise TargetError(options.map, "it already exists")
    target = Target(output)
    try:
        with workspace.scratch() as scratch:
            return _redacted(_Job(tuple(paths), options, key, scratch, tell), target)
    finally:
        shutil.rmtree(target.folder, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class _Job:
    """What one run goes by."""

    paths: tuple[str, ...]
    options: Options
    key: bytes
    scratch: Path
    tell: Callable[[str], None]

    def opened(self, paths: Sequence[str]) -> Capture:
        chosen = self.options
        return open_capture(paths, workspace=chosen.workspace, master=chosen.master, progress=self.tell)


def _redacted(job: _Job, target: Target) -> Redaction:
    capture = job.opened(job.paths)
    found, refused = _readable(job)
    job.tell("looking for names")
    plan = _planned(job, capture, found)
    job.tell("writing")
    _write(found, target, plan.rewriter, Shift(job.options.weeks, *_window(capture)))
    differs = _differs(capture, job.opened([str(target.folder)])) if job.options.check else ()
    job.tell("looking for what is left")
    renamed = {
        kind: {name: plan.rewriter.name(name) for name in sorted(plan.names[kind])} for kind in sorted(plan.names)
    }
    search, doubts = _searched(target.folder, plan, renamed)
    told = {"weeks": job.options.weeks, "names": renamed, "words": dict(sorted(plan.images.items()))}
    _private(job.options.map, json.dumps(told, indent=1) + "\n")
    return Redaction(
        target.finish(), renamed, len(plan.images), tuple(sorted(plan.rewriter.placed)), tuple(doubts.told()),
        tuple(refused), dict(sorted(search.found.items())), differs,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is to become of names and other words."""

    names: Names
    images: dict[str, str]
    core: frozenset[str]
    rewriter: Rewriter


def _planned(job: _Job, capture: Capture, found: Sequence[Text]) -> _Plan:
    own = own_words({coverage.format for coverage in capture.facts.coverage})
    core = STRUCTURE.union(MASKS, map(small, own))
    said = _Said.of(found)
    names = _names(capture, found, said, own)
    numbers = names.pop("number", set())
    drawn = Pseudonyms(job.key, chain.from_iterable(names.values()), own)
    images = Images(job.key, drawn, {*said.tokens, *drawn.tokens}, numbers, core).of
    return _Plan(names, images, core, Rewriter(images, drawn, core))


@dataclass(frozen=True, slots=True)
class _Said:
    """What the bytes of a material say."""

    tokens: set[str]
    names: set[tuple[str, str]]
    """With their kinds."""

    @staticmethod
    def of(found: Sequence[Text]) -> _Said:
        """What the files *found* say in their lines and by their own names."""
        tokens: set[bytes] = set()
        names: set[tuple[str, str]] = set()
        for text in found:
            for piece in chain((text.name.encode("utf-8", "surrogateescape"),), _pieces(text.file)):
                tokens |= {token for token in {*TOKEN.findall(piece)} - tokens if is_worth_a_look(token)}
                names.update(in_text(piece.decode("utf-8", "surrogateescape")))
        return _Said({token.decode("utf-8", "surrogateescape") for token in tokens}, names)


def _key(path: Path) -> bytes:
    try:
        if not path.exists():
            _private(path, secrets.token_hex(_KEY_BYTES) + "\n")
        return path.read_bytes().strip()
    except OSError as error:
        raise TargetError(path, error.strerror or str(error)) from error


def _private(path: Path, text: str) -> None:
    """Write *text* to a new file that only its owner may read."""
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _CLOSE), "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise TargetError(path, error.strerror or str(error)) from error


def _readable(job: _Job) -> tuple[list[Text], list[LeftOut]]:
    """The files that are text, without their secrets and payloads, and those that are left out."""
    without = (lambda pieces: pieces) if job.options.keep_payload else without_payloads
    told = [
        cleaned(one, job.scratch / f"text-{number}", without) if isinstance(one, Text) else one
        for number, one in enumerate(texts(job.paths, job.scratch / "in"))
    ]
    return [one for one in told if isinstance(one, Text)], [one for one in told if isinstance(one, LeftOut)]


def _names(capture: Capture, found: Sequence[Text], said: _Said, own: Collection[str]) -> Names:
    """The names that tables hold and lines say."""
    names = redact_names.of_capture(capture)
    for kind, name in said.names:
        if name not in own:
            names[kind].add(name)
    names["address"].update(addresses(said.tokens))
    if pattern := redact_names.below(names["topic"]):
        names["topic"] |= {topic for one in found for text in _read(one) for topic in pattern.findall(text)}
    return redact_names.settled(names)


def _read(text: Text) -> Iterator[str]:
    """What is in *text* in pieces of whole lines."""
    yield from (piece.decode("utf-8", "surrogateescape") for piece in _pieces(text.file))


def _pieces(file: Path) -> Iterator[bytes]:
    with file.open("rb") as stream:
        yield from whole_lines(iter(partial(stream.read, _SCANNED), b""))


def _window(capture: Capture) -> tuple[float | None, float | None]:
    return span(at for c in capture.facts.coverage for at in (c.first_at, c.last_at))


def _write(found: Sequence[Text], target: Target, rewriter: Rewriter, shift: Shift) -> None:
    for text in found:
        at = None if text.modified is None else text.modified + shift.seconds
        rewritten = (shift(rewriter.rewritten(piece)) for piece in _pieces(text.file))
        target.put(_renamed(text.name, rewriter, shift), rewritten, text.packed, at)


def _renamed(name: str, rewriter: Rewriter, shift: Shift) -> str:
    return shift(rewriter.path(name).encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")


def _searched(folder: Path, plan: _Plan, renamed: dict[str, dict[str, str]]) -> tuple[Search, Doubts]:
    """What is left in the files of *folder* and in their names, and what may be."""
    changed = {name: other for told in renamed.values() for name, other in told.items() if name != other}
    shown = {*plan.images.values(), *changed.values(), *chain.from_iterable(map(tokens, changed.values()))}
    search, doubts = Search(plan.images, changed, shown), Doubts(shown, plan.core)
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = str(file.relative_to(folder)).encode("utf-8", "surrogateescape")
        with streams.opened(file) as stream:
            for piece in chain((name,), whole_lines(iter(partial(stream.read, _SCANNED), b""))):
                search.look(piece)
                doubts.look(piece)
    return search, doubts


def _differs(before: Capture, after: Capture) -> tuple[str, ...]:
    """What mqlab says otherwise of the copy, and which files it reads otherwise."""
    told = [
        f"{what}: {one} became {two}" for what, one, two in _compared(before.diagnosis, after.diagnosis) if one != two
    ]
    read = Counter(map(_reading, before.facts.coverage))
    read.subtract(map(_reading, after.facts.coverage))
    because = [
        f"{_shown(reading)} only in the {'material' if n > 0 else 'copy'}" for reading, n in sorted(read.items()) if n
    ]
    return tuple(told + because) if told else ()


def _reading(source: Coverage) -> tuple[str, int, int, int]:
    return source.format, source.data, source.noise, source.rejected


def _shown(reading: tuple[str, int, int, int]) -> str:
    kind, data, noise, rejected = reading
    return f"a file read as {kind} with {data} lines of data, {noise} of noise, {rejected} rejected,"


def _compared(before: Diagnosis, after: Diagnosis) -> Iterator[tuple[str, object, object]]:
    yield "verdict", before.verdict.incident, after.verdict.incident
    yield "certainty", before.verdict.certainty, after.verdict.certainty
    for what in ("findings", "rejected", "clear", "not_checked"):
        one, two = (sorted(map(_summary, getattr(each, what))) for each in (before, after))
        yield what, one, two


def _summary(told: object) -> str:
    """What a part of a diagnosis says beside names and moments."""
    if isinstance(told, str):
        return told
    measures = sorted(getattr(told, "measures", {}).items())
    marks = [str(getattr(told, name)) for name in ("incident", "severity", "certainty") if hasattr(told, name)]
    return " ".join([*marks, *(f"{name}={value:.6g}" for name, value in measures)])
