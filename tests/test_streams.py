"""Compressed files and archives that are cut, damaged or followed by something else are read as far as they go."""

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from mqlab.formats.registry import FORMATS
from mqlab.intake import gather
from mqlab.material import archives, streams

TEXT = b"".join(
    b"2026-11-21 12:20:%02d,%03d WARN [producer-%d] of %d\n" % (n % 60, n % 997, n % 7, n * n * 7919 % 999_983)
    for n in range(1500)
)
PACKED = {
    "gz": gzip.compress(TEXT, mtime=0),
    "bz2": bz2.compress(TEXT),
    "xz": lzma.compress(TEXT),
    "zst": zstandard.ZstdCompressor().compress(TEXT),
}
FLIPPED = {kind: data[: len(data) // 2] + bytes([data[len(data) // 2] ^ 0x55]) + data[len(data) // 2 + 1 :]
           for kind, data in PACKED.items()}  # fmt: skip
READ = {
    "in blocks": lambda stream: streams.blocks(stream),
    "by lines": lambda stream: iter(stream.readline, b""),
    "by bytes": lambda stream: iter(lambda: stream.read(7001), b""),
}


def read(data, way="in blocks"):
    """What comes out of *data*, and what is wrong with it."""
    parts = []
    with TemporaryDirectory() as folder:
        file = Path(folder, "x")
        file.write_bytes(data)
        try:
            with streams.opened(file) as stream:
                for part in READ[way](stream):
                    parts.append(part)
        except streams.BROKEN as error:
            return b"".join(parts), str(error)
    return b"".join(parts), None


@pytest.mark.parametrize("way", READ)
@pytest.mark.parametrize("kind", PACKED)
def test_what_is_behind_a_compressed_file_is_another_member_padding_or_said(kind, way):
    one = PACKED[kind]
    behind = "bytes after its end do not belong to it and were left out"

    assert read(one, way) == (TEXT, None)
    assert read(one + one, way) == (TEXT + TEXT, None)
    assert read(one + bytes(3000), way) == (TEXT, None)
    assert read(one + one + b"a line\n" * 100, way) == (TEXT + TEXT, f"700 {behind}")
    assert read(one + bytes(3000) + b"x", way) == (TEXT, f"3,001 {behind}")


@pytest.mark.parametrize("way", READ)
@pytest.mark.parametrize("kind", PACKED)
def test_a_second_member_that_is_cut_is_read_up_to_there(kind, way):
    found, wrong = read(PACKED[kind] + PACKED[kind][:5000], way)

    assert wrong == "it is cut short"
    assert found == (TEXT + TEXT)[: len(found)]
    assert len(found) >= len(TEXT)


@given(st.sampled_from(["gz", "xz"]), st.floats(0.2, 1))
def test_of_a_small_file_that_is_cut_its_share_is_read(kind, share):
    data = PACKED[kind]
    found, wrong = read(data[: int(len(data) * share)])

    assert wrong == (None if share == 1 else "it is cut short")
    assert found == TEXT[: len(found)]
    assert len(found) > len(TEXT) * (share - 0.1)


@given(st.sampled_from(list(PACKED)), st.integers(20, 5000), st.integers(1, 255))
def test_a_byte_that_is_another_never_costs_what_stands_before_it(kind, place, other):
    data = bytearray(PACKED["gz"] if kind == "gz" else PACKED[kind])
    data[place] ^= other
    found, _ = read(PACKED[kind] + bytes(data))

    assert found[: len(TEXT)] == TEXT


@pytest.mark.parametrize("kind", ["gz", "xz"])
def test_what_stands_before_damage_is_read_to_the_byte(kind):
    found, wrong = read(FLIPPED[kind])
    sound, _ = read(PACKED[kind][: len(PACKED[kind]) // 2])

    assert wrong
    assert found.startswith(sound[:-100])


MEMBERS = {"a.log": TEXT[:20_000], "logs/b.log": TEXT * 2, "c.log": TEXT[:9_000]}


def tar(pack=bytes):
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for name, data in MEMBERS.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return pack(made.getvalue())


def zipped(method=zipfile.ZIP_DEFLATED, *, streamed=False):
    made = io.BytesIO()
    target = type("Pipe", (io.RawIOBase,), {"writable": lambda _: True, "write": lambda _, data: made.write(data)})()
    with zipfile.ZipFile(target if streamed else made, "w", method) as archive:
        for name, data in MEMBERS.items():
            archive.writestr(name, data)
    return made.getvalue()


ARCHIVES = {
    "tar": tar(),
    "tar.gz": tar(lambda data: gzip.compress(data, mtime=0)),
    "tar.xz": tar(lzma.compress),
    "zip": zipped(),
    "streamed zip": zipped(streamed=True),
    "stored zip": zipped(zipfile.ZIP_STORED),
}


def unpacked(data, folder):
    """Bytes of each member that was unpacked, whether they are its first ones, what is wrong with it and with all."""
    file = folder / "archive"
    file.write_bytes(data)
    found = archives.unpack(file, folder / "into")
    members = {one.name: (one.location.read_bytes() if one.location else b"", one.problem) for one in found.members}
    assert all(MEMBERS[name].startswith(content) for name, (content, _) in members.items())
    return {name: (len(content), problem) for name, (content, problem) in members.items()}, found.problem


@pytest.mark.parametrize("kind", ARCHIVES)
def test_an_archive_that_is_cut_gives_its_first_members_and_the_begin_of_the_one_that_is_cut(tmp_path, kind):
    data = ARCHIVES[kind]
    members, problem = unpacked(data[: len(data) // 2], tmp_path)
    first, (length, cut) = members["a.log"], members["logs/b.log"]

    assert (list(members), first) == (["a.log", "logs/b.log"], (20_000, None))
    assert 20_000 < length < len(TEXT) * 2
    assert cut == "Damaged in the archive: it is cut short."
    assert "what stands before" in problem


@pytest.mark.parametrize("kind", [kind for kind in ARCHIVES if "zip" in kind])
def test_a_zip_without_its_list_of_members_is_read(tmp_path, kind):
    members, problem = unpacked(ARCHIVES[kind][:-60], tmp_path)

    assert members == {name: (len(data), None) for name, data in MEMBERS.items()}
    assert problem == "The end of the archive is missing; what stands before it was read."


@pytest.mark.parametrize(("kind", "behind"), [("tar", 300), ("tar.gz", 300), ("tar.xz", 300)])
def test_bytes_behind_a_tar_are_counted(tmp_path, kind, behind):
    members, problem = unpacked(ARCHIVES[kind] + b"xyz" * 100, tmp_path)

    assert members == {name: (len(data), None) for name, data in MEMBERS.items()}
    assert f"{behind} bytes after" in problem


def test_a_second_tar_behind_the_first_is_said(tmp_path):
    assert unpacked(tar() + tar(), tmp_path)[1] == f"{len(tar()):,} bytes after the end of the archive were left out."


@pytest.mark.parametrize("kind", ["gz", "xz"])
def test_a_small_file_that_is_cut_or_followed_by_something_is_a_source(tmp_path, kind):
    (tmp_path / f"cut.log.{kind}").write_bytes(PACKED[kind][:4000])
    (tmp_path / f"more.log.{kind}").write_bytes(PACKED[kind] + b"\nsomething else\n")
    found = gather([str(tmp_path)], tmp_path / "scratch", FORMATS)

    assert [(one.format == "unreadable", one.problem) for one in found] == [(False, None)] * 2
