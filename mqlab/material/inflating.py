"""UTF-16 files made readable: as UTF-8, in the scratch folder."""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import IO

from mqlab.errors import WorkspaceError
from mqlab.material import streams

_LIMITS = {"total": 1 << 40, "ratio": 1000}


def transcoded(file: Path, target: Path) -> str | None:
    """Write *file*, decompressed where it is compressed, as UTF-8 to *target*; what is wrong with its content.

    Raises:
        GrowthError: the content grows beyond what a log can.
        WorkspaceError: *target* cannot be written.
    """
    decoder = codecs.getincrementaldecoder("utf-16")("replace")
    meter = streams.Meter(file.stat().st_size, **_LIMITS)
    try:
        with target.open("wb") as out, streams.opened(file) as stream:
            for block in streams.blocks(stream):
                meter.add(len(block))
                _write(out, decoder.decode(block).encode(), target)
    except streams.GrowthError:
        raise
    except streams.BROKEN as error:
        return f"Its end is missing or damaged ({error}); {meter.bytes:,} bytes before that were read."
    return None


def _write(out: IO[bytes], data: bytes, target: Path) -> None:
    try:
        out.write(data)
    except OSError as error:
        raise WorkspaceError(str(target), str(error)) from error
