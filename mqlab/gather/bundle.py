"""A folder that is a valid bundle at any moment: each file is put in place at once, and so is each new manifest.

Where ``bundle.tar.zst`` is asked for, the folder ``bundle`` is packed when it is complete, and removed then.
"""

from __future__ import annotations

import os
import shutil
import tarfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import IO

import zstandard

from mqlab.errors import MqlabError
from mqlab.gather.manifest import NAME, Manifest, iso, now
from mqlab.gather.masking import masked_bytes
from mqlab.material.walking import PARTIAL
from mqlab.secrets import mask

_PACKED = ".tar.zst"
_ZSTD = zstandard.ZstdCompressor()
_CLOSE_AT = 0o700
"""What brokers say of hosts, clients and settings is nobody else's."""


class BundleError(MqlabError):
    """A bundle cannot be begun or written where it was asked for."""

    def __init__(self, path: Path, because: str) -> None:
        super().__init__(f"No bundle can be written to {path}: {because}. Give another place with -o.")


class Bundle:
    """A bundle while it is gathered; everything that is written goes through its masks."""

    def __init__(self, output: Path, manifest: Manifest) -> None:
        """Begin a bundle in the folder *output*, or the archive where it ends in ``.tar.zst``.

        Raises:
            BundleError: something is there already, or it cannot be written.
        """
        self.manifest = manifest
        self._packed = output if output.name.endswith(_PACKED) else None
        self.folder = output.with_name(output.name.removesuffix(_PACKED)) if self._packed else output
        taken = [path for path in (self._packed, self.folder) if path and path.exists()]
        if any(not path.is_dir() or any(path.iterdir()) for path in taken):
            raise BundleError(output, "there is something of that name already")
        try:
            self.partial.mkdir(parents=True)
            self.folder.chmod(_CLOSE_AT)
        except OSError as error:
            raise BundleError(output, error.strerror or str(error)) from error
        self.note()

    @property
    def partial(self) -> Path:
        """Where files lie until they are complete; nobody reads there."""
        return self.folder / PARTIAL

    def write(self, name: str, text: str) -> None:
        """Put a file of *text* at *name* (``kafka/topics-describe.txt``), its secrets masked."""
        self._put(name, (mask(text.encode("utf-8", "backslashreplace").decode()).encode(),))

    def copy(self, name: str, content: IO[bytes], modified: float | None = None) -> None:
        """Put what is in a stream of text at *name*, its secrets masked, as last *modified* then (epoch seconds).

        Raises:
            NotTextError: it is no text.
        """
        pieces = masked_bytes(content)
        path = self._put(name, _packed(pieces, _ZSTD.compressobj()) if name.endswith(".zst") else pieces)
        if modified is not None:
            os.utime(path, (modified, modified))

    def note(self) -> None:
        """Write the manifest as it is now."""
        partial = self.partial / NAME
        partial.write_text(self.manifest.text())
        partial.replace(self.folder / NAME)

    def count(self) -> None:
        """Count the files anew, after a process that wrote some has ended without telling."""
        written = [one for one in self.folder.rglob("*") if one.is_file() and self.partial not in one.parents]
        sizes = [one.stat().st_size for one in written if one.name != NAME]
        self.manifest.files, self.manifest.bytes = len(sizes), sum(sizes)

    def close(self, because: str | None = None) -> Path:
        """End the bundle, as interrupted where *because* says by what; where it lies then."""
        self.manifest.state, self.manifest.because = ("interrupted" if because else "complete"), because
        self.manifest.ended_at = iso(now())
        self.note()
        shutil.rmtree(self.partial)
        if self._packed is None:
            return self.folder
        partial = self._packed.with_name(f".{self._packed.name}.part")
        with (
            os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as raw,
            zstandard.ZstdCompressor(level=9).stream_writer(raw) as stream,
            tarfile.open(fileobj=stream, mode="w|") as archive,
        ):
            archive.add(self.folder, self.folder.name)
        partial.replace(self._packed)
        shutil.rmtree(self.folder)
        return self._packed

    def _put(self, name: str, pieces: Iterable[bytes]) -> Path:
        path, partial = self.folder / _safe(name), self.partial / "file"
        try:
            with partial.open("wb") as file:
                file.writelines(pieces)
        except BaseException:
            partial.unlink()
            raise
        path.parent.mkdir(parents=True, exist_ok=True)
        before = path.stat().st_size if path.exists() else None
        partial.replace(path)
        self.manifest.files += before is None
        self.manifest.bytes += path.stat().st_size - (before or 0)
        return path


def _packed(pieces: Iterable[bytes], pack: zstandard.ZstdCompressionObj) -> Iterable[bytes]:
    for piece in pieces:
        yield pack.compress(piece)
    yield pack.flush()


def _safe(name: str) -> PurePosixPath:
    """The name below the bundle's folder, without ways out of it and characters that no file system likes."""
    parts = ["".join("_" if sign in '\\:*?"<>|' or not sign.isprintable() else sign for sign in part)
             for part in PurePosixPath(name).parts]  # fmt: skip
    return PurePosixPath(*(part for part in parts if part not in ("/", "..", ".")))
