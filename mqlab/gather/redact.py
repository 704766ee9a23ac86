"""`mqlab redact`: a copy of a material without names, secrets and payloads, of which mqlab says the same.

The names come from mqlab's own tables and from what lines say by key; they are replaced in every byte of every file
and in the files' names. The map from names to pseudonyms is for the owner alone.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path

from mqlab.cache import workspace
from mqlab.capture import Capture, open_capture
from mqlab.diagnosis import Diagnosis
from mqlab.facts import span
from mqlab.gather import redact_names
from mqlab.gather.redact_material import LeftOut, Target, TargetError, Text, masked, texts
from mqlab.gather.redact_moments import Shift
from mqlab.gather.redact_names import Names
from mqlab.gather.redact_pseudonyms import Pseudonyms
from mqlab.gather.redact_rewriting import Rewriter, whole_lines, without_payloads
from mqlab.gather.redact_words import own_words
from mqlab.material import streams

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


@dataclass(frozen=True, slots=True)
class Redaction:
    """What came of it."""

    output: Path
    pseudonyms: dict[str, dict[str, str]]
    """By kind."""
    words: tuple[str, ...]
    """Names that are words of the software, too: renamed only where a name is expected."""
    left_out: tuple[LeftOut, ...]
    left: dict[str, int]
    """Names that the output still holds, and how often."""
    differs: tuple[str, ...]
    """What mqlab says otherwise of the output."""


def redact(paths: Sequence[str], output: Path, options: Options, tell: Callable[[str], None]) -> Redaction:
    """Write a copy of what is behind *paths* without its names to *output*, a folder or a ``.tar.zst``.

    Raises:
        MqlabError: nothing readable, or the output, the key or the map cannot be written.
    """
    key = _key(options.key)
    if options.map.exists():
        raise TargetError(options.map, "there is something of that name already")
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
    found, refused = _readable(texts(job.paths, job.scratch / "in"), job.scratch)
    job.tell("looking for names")
    own = own_words({coverage.format for coverage in capture.facts.coverage})
    names = _names(capture, found, own)
    drawn = Pseudonyms(job.key, chain.from_iterable(names.values()), own).of
    shift = Shift(job.options.weeks, *_window(capture))
    for bold in (True, False) if job.options.check and not own.isdisjoint(drawn) else (False,):
        target.clear()
        rewriter = Rewriter(drawn, own, bold)
        job.tell("writing")
        _write(found, target, rewriter, shift)
        job.tell("looking for names that are left")
        left = _left(target.folder, rewriter)
        differs = _differs(capture.diagnosis, job.opened([str(target.folder)]).diagnosis) if job.options.check else ()
        if not differs:
            break
    pseudonyms = {kind: {name: drawn[name] for name in sorted(names[kind])} for kind in sorted(names)}
    told = {"weeks": job.options.weeks, "names": pseudonyms}
    _private(job.options.map, json.dumps(told, ensure_ascii=False, indent=1) + "\n")
    return Redaction(target.finish(), pseudonyms, tuple(sorted(rewriter.placed)), tuple(refused), left, differs)


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


def _readable(found: Iterable[Text | LeftOut], scratch: Path) -> tuple[list[Text], list[LeftOut]]:
    """The files that are text, without their secrets, and those that are left out."""
    told = [
        masked(one, scratch / f"text-{number}") if isinstance(one, Text) else one for number, one in enumerate(found)
    ]
    return [one for one in told if isinstance(one, Text)], [one for one in told if isinstance(one, LeftOut)]


def _names(capture: Capture, found: Sequence[Text], own: Collection[str]) -> Names:
    """The names that tables hold and lines say."""
    names = redact_names.of_capture(capture)
    said: dict[str, set[str]] = defaultdict(set)
    for kind, name in chain.from_iterable(redact_names.in_text(text) for one in found for text in _read(one)):
        said[kind].add(name)
    for kind, told in said.items():
        names[kind] |= {name for name in told if name not in own}
    if pattern := redact_names.below(names["topic"]):
        names["topic"] |= {topic for one in found for text in _read(one) for topic in pattern.findall(text)}
    return redact_names.settled(names, own)


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
        rewritten = (shift(rewriter.rewritten(without_payloads(piece))) for piece in _pieces(text.file))
        target.put(_renamed(text.name, rewriter, shift), rewritten, text.packed, at)


def _renamed(name: str, rewriter: Rewriter, shift: Shift) -> str:
    return shift(rewriter.path(name).encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")


def _left(folder: Path, rewriter: Rewriter) -> dict[str, int]:
    """Names that still stand in the files of *folder*, and how often."""
    counts: Counter[str] = Counter()
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        counts.update(rewriter.left(str(file.relative_to(folder)).encode("utf-8", "surrogateescape")))
        with streams.opened(file) as stream:
            for piece in whole_lines(iter(partial(stream.read, _SCANNED), b"")):
                counts.update(rewriter.left(piece))
    return dict(sorted(counts.items()))


def _differs(before: Diagnosis, after: Diagnosis) -> tuple[str, ...]:
    """What mqlab says otherwise: verdict, findings, their certainty and numbers."""
    return tuple(f"{what}: {one} became {two}" for what, one, two in _compared(before, after) if one != two)


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
