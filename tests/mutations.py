"""Samples damaged on purpose, and what must hold of whatever is said about them.

A mutation is drawn from a sample, a seed and a number, so that each can be drawn again. Only what it changed is read
anew; what else a sample holds is read once.
"""

from __future__ import annotations

import json
import re
import shutil
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from gzip import compress, decompress
from os import utime
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from traceback import format_exception
from unittest.mock import patch

import pyarrow as pa

from mqlab import intake, jsonout, screen
from mqlab.assemble import assemble
from mqlab.assembly.rows import Gathered
from mqlab.cache import entries
from mqlab.diagnosis import Withdrawn
from mqlab.errors import NothingReadableError
from mqlab.findings import Severity
from mqlab.formats.registry import FORMATS
from mqlab.kernel.splits import splits
from mqlab.material import pasted, quoting, recognition
from mqlab.plugin_check import here
from mqlab.tables import LEDGER
from mqlab.verdict import diagnose

SAMPLES = Path(__file__).parents[1] / "data" / "samples"
TRUTH = Path(__file__).parent / "truth"
NAMES = sorted(path.name for path in SAMPLES.iterdir() if path.is_dir())
CALM = {"healthy", "fan-out", "rolling-restart", "replication-traffic", "catch-up-read", "replica-catch-up"}
"""Verdicts that say nothing is wrong."""

_CLEAN = {"is_clean": lru_cache(4000)(pasted.is_clean)}
_KNOWN = {name: lru_cache(4000)(getattr(recognition, name)) for name in ("recognise", "noting")}
"""What is asked of the beginning of every file, and so of each beginning only once."""

_GZIP = b"\x1f\x8b"

Files = dict[str, bytes | None]
"""New content by path; None for a file that is taken away."""


def flipped(files: Mapping[str, bytes], draw: Random) -> Files:
    """Some bytes become others, in up to three files."""
    return {name: _flipped(files[name], draw) for name in _some(files, draw)}


def _flipped(content: bytes, draw: Random) -> bytes:
    data = bytearray(content)
    for _ in range(draw.choice((1, 5, 50, 1 + len(data) // 100))):
        data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    return bytes(data)


def cut(files: Mapping[str, bytes], draw: Random) -> Files:
    """Lines are missing: some here and there, or all from one on for a while; in up to three files."""
    return {name: _cut(files[name], draw) for name in _some(files, draw)}


def _cut(content: bytes, draw: Random) -> bytes:
    if content.startswith(_GZIP):
        return _repacked(content, lambda lines: _cut(lines, draw))
    lines = content.splitlines(keepends=True)
    if not lines or draw.random() < 0.5:
        share = draw.choice((0.01, 0.1, 0.5))
        return b"".join(line for line in lines if draw.random() > share)
    first = draw.randrange(len(lines))
    return b"".join(lines[:first] + lines[first + draw.randint(1, len(lines)) :])


def _repacked(content: bytes, change: Callable[[bytes], bytes]) -> bytes:
    """Changed as its content is; as it is where another mutation has damaged it."""
    try:
        return compress(change(decompress(content)), mtime=0)
    except (OSError, EOFError, zlib.error):
        return content


def _text(content: bytes | None) -> str:
    """What is written in a file, as far as it can be read; nothing where it is gone."""
    with suppress(OSError, EOFError, zlib.error):
        content = decompress(content) if content and content.startswith(_GZIP) else content
    return (content or b"").decode(errors="replace")


def truncated(files: Mapping[str, bytes], draw: Random) -> Files:
    """Up to three files end early, as on a disk that ran full."""
    return {name: files[name][: draw.randrange(len(files[name]))] for name in _some(files, draw)}


def shifted(files: Mapping[str, bytes], draw: Random) -> Files:
    """One file, or all of a folder, was written by a clock that is off, or in another zone."""
    quarters = draw.choice((1, 4, 8, 32, 48)) * draw.choice((-1, 1))
    by = draw.choice((timedelta(minutes=15 * quarters), timedelta(seconds=draw.randint(-600, 600))))
    chosen = draw.choice(sorted(files))
    folder = chosen.rpartition("/")[0]
    whole = draw.random() < 0.5
    return {
        name: _shifted(content, by)
        for name, content in files.items()
        if name == chosen or (whole and folder and name.startswith(f"{folder}/"))
    }


_WRITTEN = re.compile(rb"(\d{4})-(\d\d)-(\d\d)([T ])(\d\d):(\d\d):(\d\d)")
_EPOCH = re.compile(rb"(?<![\d.])(17\d{8})((?:\d{3}|\.\d+)?)(?!\d)")


def _shifted(content: bytes, by: timedelta) -> bytes:
    if content.startswith(_GZIP):
        return _repacked(content, lambda lines: _shifted(lines, by))

    def written(found: re.Match[bytes]) -> bytes:
        year, month, day, between, hour, minute, second = found.groups()
        try:
            then = datetime(*map(int, (year, month, day, hour, minute, second))) + by  # noqa: DTZ001
        except ValueError:
            return found[0]
        return then.strftime(f"%Y-%m-%d{between.decode()}%H:%M:%S").encode()

    def epoch(found: re.Match[bytes]) -> bytes:
        return b"%d%s" % (int(found[1]) + by.total_seconds(), found[2])

    return _EPOCH.sub(epoch, _WRITTEN.sub(written, content))


def taken(files: Mapping[str, bytes], draw: Random) -> Files:
    """Files were not gathered: some, most, or all of a folder but for one."""
    share = draw.choice((0.1, 0.5, 0.9, 0.97))
    if draw.random() < 0.5:
        lost: Files = {name: None for name in files if draw.random() < share}
    else:
        folders = sorted({name.rpartition("/")[0] for name in files})
        gone = {folder for folder in folders if draw.random() < share}
        lost = {name: None for name in files if name.rpartition("/")[0] in gone}
    return lost if len(lost) < len(files) else dict.fromkeys(sorted(files)[1:])


KINDS: Mapping[str, Callable[[Mapping[str, bytes], Random], Files]] = {
    "flipped": flipped, "cut": cut, "truncated": truncated, "shifted": shifted, "taken": taken,
}  # fmt: skip


def _some(files: Mapping[str, bytes], draw: Random) -> Sequence[str]:
    """One to three files; large ones, which tell most, as often as all others."""
    full = sorted(name for name, content in files.items() if content)
    large = sorted(full, key=lambda name: -len(files[name]))[:8]
    return [draw.choice(draw.choice((full, large))) for _ in range(draw.randint(1, 3))]


@dataclass(frozen=True)
class Violation:
    """What was said and must not be."""

    rule: str
    what: str


@dataclass(frozen=True)
class Answer:
    """What mqlab says of some files."""

    loud: frozenset[str]
    """Classes with a finding at warning or above."""
    found: frozenset[str]
    verdict: str
    withdrawn: tuple[Withdrawn, ...] = ()
    """What mqlab took back itself: a mistake all the same."""


class Sample:
    """One sample in a folder of its own, where it is mutated and made whole again."""

    def __init__(self, name: str, folder: Path) -> None:
        """*folder* is where it may write."""
        self.name = name
        self.truth = json.loads((TRUTH / f"{name}.truth.json").read_text())
        self.material = folder / name
        shutil.copytree(SAMPLES / name, self.material)
        paths = sorted(path for path in self.material.rglob("*") if path.is_file())
        self.files = {str(path.relative_to(self.material)): path.read_bytes() for path in paths}
        self._times = {name: (self.material / name).stat().st_mtime_ns for name in self.files}
        self._read: dict[str, tuple[list[tuple[str, str]], object]] = {}
        self.whole = self.said({})

    def mutation(self, seed: int, number: int) -> tuple[str, Files]:
        """Mutation *number* of this *seed*: its kinds, and the content that becomes another."""
        draw = Random(f"{self.name} {seed} {number}")
        kinds = [list(KINDS)[number % len(KINDS)], *draw.sample(list(KINDS), draw.choice((0, 0, 0, 1)))]
        changed: Files = {}
        for kind in kinds:
            left = {name: now for name in self.files if (now := changed.get(name, self.files[name])) is not None}
            changed |= KINDS[kind](left, draw)
        return "+".join(dict.fromkeys(kinds)), changed

    def violations(self, changed: Files) -> Iterator[Violation]:
        """What is said of the sample with this content *changed*, and must not be."""
        try:
            answer = self.said(changed)
        except NothingReadableError:
            return
        except Exception as error:
            yield Violation("exception", "".join(format_exception(error)[-4:]).strip())
            return
        for one in answer.withdrawn:
            yield Violation(f"withdrawn by {one.rule}", f"{one.claim} {one.what}: {one.because}")
        allowed = {self.truth["class"], *(self.truth.get("also_true") or ())}
        allowed |= self.whole.found - set(self.truth["must_not_blame"])
        for other in sorted(answer.loud - allowed):
            yield Violation("flipped", f"{other}, where it is {self.truth['class']}")
        if answer.verdict in self.truth["must_not_blame"]:
            yield Violation("flipped", f"verdict {answer.verdict}, where it is {self.truth['class']}")
        if not self.truth["benign"] and answer.verdict in CALM and self.evidence_left(changed):
            yield Violation("calm", f"{answer.verdict} over {self.truth['class']}")

    def evidence_left(self, changed: Files) -> bool:
        """Whether each file that the truth cites still holds what proves the incident."""
        now = self.files | changed
        cited = [(now.get(item["file"], now.get(f"{item['file']}.gz")), item) for item in self.truth["evidence"]]
        return all(item["contains"] in _text(content) for content, item in cited)

    def said(self, changed: Files) -> Answer:
        """What is said of the sample with this content *changed*; it is shown on the way."""
        for name, content in changed.items():
            self._write(name, content)
        try:
            diagnosis = diagnose(self._facts(changed))
        finally:
            for name in changed:
                self._write(name, self.files[name])
        screen.screen(diagnosis, [self.name], why=True)
        jsonout.dumps(diagnosis)
        loud = frozenset(f.incident for f in diagnosis.findings if f.severity > Severity.NOTICE)
        found = frozenset(f.incident for f in diagnosis.findings)
        return Answer(loud, found, diagnosis.verdict.incident, diagnosis.withdrawn)

    def _write(self, name: str, content: bytes | None) -> None:
        file = self.material / name
        if content is None:
            file.unlink()
            return
        file.write_bytes(content)
        utime(file, ns=(self._times[name], self._times[name]))

    def _facts(self, changed: Files):
        """As ``here.opened``, but that sources which are as they were are not read again."""
        with TemporaryDirectory(dir=self.material.parent) as scratch:
            with patch.multiple(intake, **_KNOWN), patch.multiple(pasted, **_CLEAN):
                sources = intake.gather([str(self.material)], Path(scratch), FORMATS)
            rows = [self._rows(source, kept=source.path not in changed) for source in sources]
            ledgers = [table for _, table in rows if table is not None]
            found = [fact for told, _ in rows for fact in told]
            found += here.followed({LEDGER: pa.concat_tables(ledgers)} if ledgers else {}, sources)
            sources = entries.checked(sources, found)
            return assemble(Gathered.of([*found, *quoting.first_lines(found, sources)], sources))

    def _rows(self, source, *, kept: bool):
        """What a source tells, and its rows of a ledger; remembered where it is *kept*."""
        if kept and source.link in self._read:
            return self._read[source.link]
        tables = here.written(*splits([source]))
        rows = here.told(tables), tables.get(LEDGER)
        if kept:
            self._read[source.link] = rows
        return rows
