"""The journal of one attempt: what the learner did, a JSON line each, appended and on the disk before he sees a reply.

It is his submission. A process that is killed loses nothing that was answered; a last line cut short by a full disk or
a crash is left out and the next entry begins on a line of its own.
"""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

NAME = "submission.jsonl"


class Journal:
    """The entries of one file, oldest first."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def entries(self) -> list[dict[str, Any]]:
        """All whole entries, each with its ``kind`` and when it was made (``at``, UTC)."""
        raw = self.path.read_bytes() if self.path.is_file() else b""
        return [entry for entry in map(_read, raw.split(b"\n")) if entry]

    def append(self, kind: str, **fields: Any) -> None:
        """One more entry; it is on the disk when this returns."""
        entry = {"kind": kind, "at": datetime.now(UTC).isoformat(timespec="seconds"), **fields}
        with self.path.open("ab") as file:
            broken = file.tell() and not _ends_whole(self.path)
            file.write(b"\n" * broken + json.dumps(entry, ensure_ascii=False).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())


def _ends_whole(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


def _read(line: bytes) -> dict[str, Any] | None:
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    return entry if isinstance(entry, dict) and "kind" in entry else None
