"""Results in files: as a whole or not at all, and never over a file of the material."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from mqlab.errors import CannotWriteError, ForeignFileError, OwnMaterialError

_OURS = (b"mqlab", b"Skia/PDF")
"""What stands in the first part of the pages and findings that mqlab writes, and of a PDF that Chromium prints."""
_PAGES = (".html", ".htm", ".pdf", ".json")
_MARKDOWN, _OUR_MARKDOWN = (".md", ".markdown"), re.compile(rb"\(mqlab \d[^)\n]*\)")
"""Markdown is what people write themselves, about mqlab too: ours names its version so."""
_START = 64 << 10


@contextmanager
def whole(target: Path) -> Iterator[Path]:
    """A file to write, which takes the place of *target* when the block ends well; pipes and devices as they are.

    Raises:
        CannotWriteError: there is no room or no right to write it.
    """
    try:
        real = target.resolve()
        if real.exists() and not (real.is_file() and os.access(real.parent, os.W_OK)):
            yield target
            return
        with tempfile.TemporaryDirectory(prefix=".mqlab-", dir=real.parent) as beside:
            new = Path(beside, "new")
            new.touch()
            if real.exists():
                new.chmod(real.stat().st_mode)
            yield new
            if real.exists() and not os.access(real, os.W_OK):
                raise PermissionError(f"{target} is read-only")
            new.replace(real)
    except OSError as error:
        raise CannotWriteError(str(target), error) from error


def write(target: Path, text: str) -> None:
    """Write *text* to *target*; what UTF-8 lacks is escaped.

    Raises:
        CannotWriteError: there is no room or no right to write it.
    """
    with whole(target) as new:
        new.write_text(text, encoding="utf-8", errors="backslashreplace")


def refuse_material(output: Path, paths: Iterable[str]) -> None:
    """See, before any work, that nothing at *output* is of the material; what mqlab wrote there may be written anew.

    Raises:
        OwnMaterialError: it is a file of the material, or its findings would take the place of one.
    """
    given = [Path(path).resolve() for path in paths]
    for written in (output, findings_beside(output)):
        target = written.resolve()
        if target.is_file() and not _is_ours(target) and any(_holds(one, target) for one in given):
            raise OwnMaterialError(str(written))


def refuse_foreign(*outputs: Path) -> None:
    """See, before any work, that what lies at *outputs* is nothing but what mqlab wrote; an empty file is nobody's.

    Raises:
        ForeignFileError: it is somebody else's.
    """
    for target in outputs:
        if target.is_file() and target.stat().st_size and not _is_ours(target):
            raise ForeignFileError(str(target))


def findings_beside(out: Path) -> Path:
    """Where the findings of the report *out* lie: two reports in one folder keep their own."""
    return out.with_name(f"{out.stem}.findings.json")


def _holds(given: Path, target: Path) -> bool:
    return given in (target, *target.parents) or (given.is_file() and given.samefile(target))


def _is_ours(file: Path) -> bool:
    with file.open("rb") as raw:
        start, ending = raw.read(_START), file.suffix.lower()
    if ending in _MARKDOWN:
        return _OUR_MARKDOWN.search(start) is not None
    return ending in _PAGES and any(word in start for word in _OURS)


def is_markdown(out: Path) -> bool:
    """Whether *out* is to be Markdown."""
    return out.suffix.lower() in _MARKDOWN
