"""Texts and files without their secrets, before anything of them is written into a bundle."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

import polars as pl

from mqlab.material.streams import BLOCK, blocks, kind_of
from mqlab.secrets import Spanning, mask_all

_LONGEST = 16 << 20
"""Bytes after which a line without an end is cut."""


class NotTextError(ValueError):
    """The content is no text, so that nobody can say what is secret in it."""


def masked_bytes(content: IO[bytes]) -> Iterator[bytes]:
    """What is in a stream in pieces of whole lines, its secrets masked; other bytes than UTF-8 stay as they are.

    Raises:
        NotTextError: an archive, or other bytes that no log or setting holds.
    """
    rest, begun, spanning = b"", False, Spanning()
    for block in blocks(content):
        if not begun:
            _check(block)
            begun = True
        whole, end, tail = (rest + block).rpartition(b"\n")
        if end or len(tail) > _LONGEST:
            yield _masked(whole + end if end else tail, spanning)
        rest = tail if end or len(tail) <= _LONGEST else b""
    if rest:
        yield _masked(rest, spanning)


def _check(start: bytes) -> None:
    kind = kind_of(start[:512])
    if kind:
        raise NotTextError(f"a {kind} archive is not opened: unpack it, and give the folder")
    if b"\0" in start[:BLOCK]:
        raise NotTextError("it is not a text file")


def _masked(lines: bytes, spanning: Spanning) -> bytes:
    codec = "utf-8"
    try:
        text = lines.decode()
    except UnicodeDecodeError:  # Latin-1 gives every byte back as it was
        codec = "latin-1"
        text = lines.decode(codec)
    end = "\n" if text.endswith("\n") else ""
    parts = pl.Series(text.removesuffix("\n").split("\n"), dtype=pl.String)
    return ("\n".join(mask_all(spanning.masked(parts))) + end).encode(codec)
