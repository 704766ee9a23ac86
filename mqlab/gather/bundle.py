"""A folder that is a valid bundle at any moment: each file is put in place at once, and so is each new manifest.

Where an archive is asked for, a folder beside it is packed when it is complete, and removed then.
"""

from __future__ import annotations

import errno
import os
import shutil
import tarfile
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import IO, Self

import zstandard

from mqlab.errors import MqlabError
from mqlab.gather.manifest import NAME, Manifest, iso, now
from mqlab.gather.masking import masked_bytes
from mqlab.material.walking import PARTIAL
from mqlab.secrets import mask

_ZST = ".tar.zst"
_ARCHIVES = {
    ".tar": "w|", ".tar.gz": "w|gz", ".tgz": "w|gz", ".tar.bz2": "w|bz2", ".tar.xz": "w|xz", _ZST: "w|",
}  # fmt: skip
"""How archives are written, by what their names end in."""
_OTHER = (".zip", ".7z", ".rar", ".gz", ".bz2", ".xz", ".zst")
"""Names that promise what is not written."""
_GATHERING = ".gathering"
"""What the folder of an archive is called beside it, while it is gathered."""
_ZSTD = zstandard.ZstdCompressor()
_CLOSE_AT = 0o700
"""What brokers say of hosts, clients and settings is nobody else's."""
_RESERVE = 1 << 18
"""Bytes kept free for the last manifest, which grows to some 100 kB: a full disk must not keep it from being true."""
_LONGEST_SHOWN = 200
"""Characters of a path that a sentence shows."""


class BundleError(MqlabError):
    """A bundle cannot be begun where it was asked for."""

    def __init__(self, path: Path, because: str) -> None:
        super().__init__(f"No bundle can be written to {_shown(path)}: {because}. Give another place with -o.")


class IncompleteError(MqlabError):
    """A bundle cannot be written any more; what was gathered until then is a valid one."""

    def __init__(self, folder: Path, because: str) -> None:
        left = "It holds what was gathered until then." if folder.exists() else "Somebody has removed it."
        super().__init__(f"{_shown(folder)} is incomplete: {because}. {left}")
        self.folder, self.because = folder, because

    def __reduce__(self) -> tuple[type[IncompleteError], tuple[Path, str]]:
        """As it is sent from one process to another."""
        return IncompleteError, (self.folder, self.because)


class NotPackedError(MqlabError):
    """All is gathered, and the archive cannot be written."""

    def __init__(self, packed: Path, folder: Path, because: str) -> None:
        super().__init__(f"{_shown(packed)} cannot be written: {because}. The files are in {_shown(folder)}.")


class Bundle:
    """A bundle while it is gathered; everything that is written goes through its masks.

    As a block it is closed at its end, whatever ends it.
    """

    def __init__(self, output: Path, manifest: Manifest) -> None:
        """Begin a bundle in the folder *output*, or for the archive where its name is that of one.

        Raises:
            BundleError: something is there already, or it cannot be written.
        """
        self.manifest = manifest
        self._packed = output if _ending(output) else None
        self.folder = output.with_name(f"{output.name}{_GATHERING}") if self._packed else output
        self._closed = False
        try:
            taken = [path for path in (self._packed, self.folder) if path and path.exists()]
            if any(not path.is_dir() or any(path.iterdir()) for path in taken):
                raise BundleError(taken[-1], "it already exists")
            self._begin(made=not self.folder.exists())
        except OSError as error:
            raise BundleError(output, error.strerror or str(error)) from error
        except IncompleteError as error:
            raise BundleError(output, error.because) from error

    def _begin(self, made: bool) -> None:
        try:
            self.partial.mkdir(parents=True)
            self.folder.chmod(_CLOSE_AT)
            (self.partial / "reserve").write_bytes(os.urandom(_RESERVE))
            self.note()
        except BaseException:
            shutil.rmtree(self.folder if made else self.partial, ignore_errors=True)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._closed:
            self.close("interrupted", str(error) or (kind.__name__ if kind else None))

    @property
    def partial(self) -> Path:
        """Where files lie until they are complete; nobody reads there."""
        return self.folder / PARTIAL

    def write(self, name: str, text: str) -> None:
        """Put a file of *text* at *name* (``kafka/topics-describe.txt``), its secrets masked.

        Raises:
            IncompleteError: nothing can be written any more.
        """
        self._put(name, (mask(text.encode("utf-8", "backslashreplace").decode()).encode(),))

    def copy(self, name: str, content: IO[bytes], modified: float | None = None) -> None:
        """Put what is in a stream of text at *name*, its secrets masked, as last *modified* then (epoch seconds).

        Raises:
            NotTextError: it is no text.
            IncompleteError: nothing can be written any more.
        """
        pieces = masked_bytes(content)
        path = self._put(name, _packed(pieces, _ZSTD.compressobj()) if name.endswith(".zst") else pieces)
        if modified is not None:
            os.utime(path, (modified, modified))

    def note(self) -> None:
        """Write the manifest as it is now.

        Raises:
            IncompleteError: nothing can be written any more.
        """
        partial = self.partial / NAME
        with self._writing():
            partial.write_text(self.manifest.text())
            partial.replace(self.folder / NAME)

    def count(self) -> None:
        """Count the files anew, after a process that wrote some has ended without telling."""
        written = [one for one in self.folder.rglob("*") if one.is_file() and self.partial not in one.parents]
        sizes = [one.stat().st_size for one in written if one.name != NAME]
        self.manifest.files, self.manifest.bytes = len(sizes), sum(sizes)

    def close(self, state: str = "complete", because: str | None = None) -> Path:
        """End the bundle in a *state*, for which *because* is the reason; where it lies then.

        Raises:
            IncompleteError: the last manifest cannot be written.
            NotPackedError: the archive cannot be written, and the folder stays.
        """
        self._closed = True
        self.manifest.state, self.manifest.because = state, because
        self.manifest.ended_at = iso(now())
        (self.partial / "reserve").unlink(missing_ok=True)
        self.note()
        shutil.rmtree(self.partial, ignore_errors=True)
        if self._packed is None:
            return self.folder
        self._pack(self._packed)
        shutil.rmtree(self.folder, ignore_errors=True)
        return self._packed

    def _pack(self, packed: Path) -> None:
        partial, end = packed.with_name(f".{packed.name}.part"), _ending(packed)
        try:
            with ExitStack() as stack:
                file = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
                raw: IO[bytes] = stack.enter_context(os.fdopen(file, "wb"))
                if end == _ZST:
                    raw = stack.enter_context(zstandard.ZstdCompressor(level=9).stream_writer(raw))
                archive = stack.enter_context(tarfile.open(fileobj=raw, mode=_ARCHIVES[end]))  # type: ignore[call-overload]
                archive.add(self.folder, packed.name[: -len(end)] or self.folder.name)
            partial.replace(packed)
        except OSError as error:
            raise NotPackedError(packed, self.folder, error.strerror or str(error)) from error
        finally:
            with suppress(OSError):
                partial.unlink()

    def _put(self, name: str, pieces: Iterable[bytes]) -> Path:
        path, partial = self.folder / _safe(name), self.partial / "file"
        try:
            with self._writing():
                file = partial.open("wb", buffering=0)
            with file:
                for piece in pieces:
                    with self._writing():
                        _whole(file, piece)
            with self._writing():
                path.parent.mkdir(parents=True, exist_ok=True)
                before = path.stat().st_size if path.exists() else None
                partial.replace(path)
        except BaseException:
            with suppress(OSError):
                partial.unlink()
            raise
        self.manifest.files += before is None
        self.manifest.bytes += path.stat().st_size - (before or 0)
        return path

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """What the disk refuses ends the bundle; a name that is too long is a fault of its own file only."""
        try:
            yield
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:
                raise
            raise IncompleteError(self.folder, error.strerror or str(error)) from error


def _whole(file: IO[bytes], piece: bytes) -> None:
    left = memoryview(piece)
    while left:
        left = left[file.write(left) :]


def _packed(pieces: Iterable[bytes], pack: zstandard.ZstdCompressionObj) -> Iterable[bytes]:
    for piece in pieces:
        yield pack.compress(piece)
    yield pack.flush()


def _ending(output: Path) -> str:
    """What the name of an archive ends in; empty where it is that of a folder.

    Raises:
        BundleError: it is that of something that is not written.
    """
    end = next((end for end in sorted(_ARCHIVES, key=len, reverse=True) if output.name.lower().endswith(end)), "")
    if not end and output.name.lower().endswith(_OTHER):
        raise BundleError(output, f"give a folder, or an archive that ends with {', '.join(_ARCHIVES)}")
    return end


def _safe(name: str) -> PurePosixPath:
    """The name below the bundle's folder, without ways out of it and characters that no file system likes."""
    parts = ["".join("_" if sign in '\\:*?"<>|' or not sign.isprintable() else sign for sign in part)
             for part in PurePosixPath(name).parts]  # fmt: skip
    return PurePosixPath(*(part for part in parts if part not in ("/", "..", ".")))


def _shown(path: Path) -> str:
    text = str(path)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"
