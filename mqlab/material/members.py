"""Members of an archive, written under numbers into a folder of our own, as far as the limits allow."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from mqlab.errors import UnsafeArchiveError, WorkspaceError
from mqlab.material import streams

DAMAGED_MEMBER: tuple[type[Exception], ...] = (
    zipfile.BadZipFile, NotImplementedError, RuntimeError, *streams.BROKEN
)  # fmt: skip
"""What reading a damaged or encrypted member raises."""


@dataclass(frozen=True, slots=True)
class Member:
    """One file of an archive: where it was unpacked to, or why it was not."""

    name: str
    location: Path | None
    modified: float | None
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Unpacked:
    """The members of an archive, refused ones too, and what is wrong with the archive itself."""

    members: tuple[Member, ...]
    problem: str | None = None


@dataclass(slots=True)
class Unpacking:
    """Where members go, what was found so far, and what may still be written."""

    into: Path
    meter: streams.Meter
    most: int
    """Members that the archive may have."""
    found: dict[str, Member] = field(default_factory=dict)
    spent: str | None = None
    """Why no more is written; the members that follow are listed only."""
    count: int = 0

    def add(self, name: str, modified: float | None, content: IO[bytes], size: int) -> None:
        """Write one member; one that is damaged is kept as far as it goes."""
        if self.spent:
            return self.refuse(name, self.spent)
        location = self.into / f"{self.count:06d}{_suffix(name)}"
        before = self.meter.bytes
        try:
            self._copy(content, location)
            short = self.meter.bytes - before < size
            self.found[name] = Member(name, location, modified, "It is cut short in the archive." if short else None)
        except streams.GrowthError as error:
            location.unlink()
            self.spent = f"Not unpacked: {error}."
            self.refuse(name, self.spent)
        except DAMAGED_MEMBER as error:
            self.found[name] = Member(name, location, modified, f"Damaged in the archive: {error}.")
        return None

    def refuse(self, name: str, because: str) -> None:
        """List a member that is not unpacked."""
        self.found[name] = Member(name, None, None, because)

    def check(self, archive: str) -> None:
        """Count one more member; raise UnsafeArchiveError when there are too many."""
        self.count += 1
        if self.count > self.most:
            raise UnsafeArchiveError(archive, f"it has more than {self.most:,} members")

    def _copy(self, content: IO[bytes], location: Path) -> None:
        with location.open("wb") as out:
            for block in streams.blocks(content):
                self.meter.add(len(block))
                self._write(out, block)

    def _write(self, out: IO[bytes], block: bytes) -> None:
        try:
            out.write(block)
        except OSError as error:
            raise WorkspaceError(str(self.into), str(error)) from error


def _suffix(name: str) -> str:
    return next((suffix for suffix in (".gz", ".bz2") if name.endswith(suffix)), "")
