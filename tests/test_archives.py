import gzip
import io
import lzma
import os
import stat
import tarfile
import zipfile

import pytest
import zstandard

from mqlab.errors import UnsafeArchiveError
from mqlab.material.archives import unpack


def tar(path, members, mode="w"):
    with tarfile.open(path, mode) as out:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.mtime = 1795263523
            if isinstance(content, bytes):
                info.size = len(content)
                out.addfile(info, io.BytesIO(content))
            else:
                info.type, info.linkname = content
                out.addfile(info)
    return path


def zipped(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for name, content in members.items():
            out.writestr(
                name if isinstance(name, zipfile.ZipInfo) else zipfile.ZipInfo(name, (2026, 11, 21, 12, 0, 0)), content
            )
    return path


def contents(unpacked):
    return {
        member.name: member.location.read_bytes() if member.location else member.problem for member in unpacked.members
    }


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_a_tar_is_unpacked_with_the_times_of_its_members(tmp_path, mode):
    unpacked = unpack(tar(tmp_path / "b.tar", {"./logs/a.log": b"a\n", "empty": b""}, mode), tmp_path / "out")

    assert contents(unpacked) == {"logs/a.log": b"a\n", "empty": b""}
    assert {member.modified for member in unpacked.members} == {1795263523}
    assert unpacked.problem is None


def test_a_tar_in_zstd_is_unpacked(tmp_path):
    plain = tar(tmp_path / "b.tar", {"a": b"a\n"})
    packed = tmp_path / "b.tar.zst"
    packed.write_bytes(zstandard.ZstdCompressor().compress(plain.read_bytes()))

    assert contents(unpack(packed, tmp_path / "out")) == {"a": b"a\n"}


def test_a_zip_is_unpacked_with_the_times_of_its_members(tmp_path):
    unpacked = unpack(zipped(tmp_path / "b.zip", {"logs\\a.log": b"a\n", "__MACOSX/._a": b"x"}), tmp_path / "out")

    assert contents(unpacked) == {"logs/a.log": b"a\n"}
    assert unpacked.members[0].modified == 1795262400


def test_members_that_point_outside_are_refused_and_the_others_unpacked(tmp_path):
    members = {
        "../evil": b"x",
        "/etc/evil": b"x",
        "ok": b"ok",
        "dev": (tarfile.CHRTYPE, ""),
        "link": (tarfile.SYMTYPE, "../../etc/passwd"),
        "hard": (tarfile.LNKTYPE, "/etc/passwd"),
    }
    found = contents(unpack(tar(tmp_path / "b.tar", members), tmp_path / "out"))

    assert found.pop("ok") == b"ok"
    assert found.keys() == {"../evil", "/etc/evil", "dev", "link", "hard"}
    assert all(isinstance(problem, str) for problem in found.values())
    assert len(list((tmp_path / "out").iterdir())) == 1


def test_a_zip_member_that_points_outside_is_refused(tmp_path):
    link = zipfile.ZipInfo("link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    found = contents(
        unpack(
            zipped(tmp_path / "b.zip", {"../evil": b"x", "C:/evil": b"x", link: b"/etc/passwd", "ok": b"ok"}),
            tmp_path / "out",
        )
    )

    assert found.pop("ok") == b"ok"
    assert all("evil" in name or "link" in problem for name, problem in found.items())


def test_links_within_the_archive_are_not_read_twice_but_hard_links_are_files(tmp_path):
    members = {"a": b"a", "soft": (tarfile.SYMTYPE, "a"), "hard": (tarfile.LNKTYPE, "a")}

    assert contents(unpack(tar(tmp_path / "b.tar", members), tmp_path / "out")) == {"a": b"a", "hard": b"a"}


def appended(archive, *members):
    with tarfile.open(archive, "a") as more:
        for name, content in members:
            info = tarfile.TarInfo(name)
            if isinstance(content, bytes):
                info.size = len(content)
            else:
                info.type, info.linkname = content
            more.addfile(info, io.BytesIO(content if isinstance(content, bytes) else b""))
    return archive


def test_members_of_one_name_are_all_read_with_numbers(tmp_path):
    archive = tar(tmp_path / "b.tar", {"a": b"old", "b": b"b"})
    appended(archive, ("a", b"new"), ("./a", b"newer"), ("x/.//b", b"c"), ("x/b", b"d"), ("A", b"e"))

    assert contents(unpack(archive, tmp_path / "out")) == {
        "a": b"old", "b": b"b", "a (2)": b"new", "a (3)": b"newer", "x/b": b"c", "x/b (2)": b"d", "A": b"e",
    }  # fmt: skip


def test_a_member_that_has_the_name_of_a_number_keeps_its_own(tmp_path):
    archive = tar(tmp_path / "b.tar", {"a": b"1", "a (2)": b"2"})
    appended(archive, ("a", b"3"), ("a (2)", b"4"), ("a", b"5"))

    assert contents(unpack(archive, tmp_path / "out")) == {
        "a": b"1", "a (2)": b"2", "a (3)": b"3", "a (2) (2)": b"4", "a (4)": b"5",
    }  # fmt: skip


def test_a_hard_link_is_the_last_member_of_that_name_before_it(tmp_path):
    archive = tar(tmp_path / "b.tar", {"a": b"old", "one": (tarfile.LNKTYPE, "./a")})
    appended(archive, ("a", b"new"), ("two", (tarfile.LNKTYPE, "a")))

    found = contents(unpack(archive, tmp_path / "out"))
    assert found == {"a": b"old", "one": b"old", "a (2)": b"new", "two": b"new"}


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_members_of_one_name_in_a_zip_are_all_read(tmp_path):
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as out:
        for name, content in (("a", b"1"), ("./a", b"2"), ("d//a", b"3"), ("d/a", b"4")):
            out.writestr(zipfile.ZipInfo(name), content)

    found = contents(unpack(tmp_path / "b.zip", tmp_path / "out"))
    assert found == {"a": b"1", "a (2)": b"2", "d/a": b"3", "d/a (2)": b"4"}


def test_an_encrypted_member_is_refused_with_the_reason(tmp_path):
    archive = zipped(tmp_path / "b.zip", {"a": b"a"})
    raw = bytearray(archive.read_bytes())
    raw[raw.index(b"PK\x01\x02") + 8] |= 1
    archive.write_bytes(raw)

    assert contents(unpack(archive, tmp_path / "out"))["a"].startswith("Encrypted")


def test_a_bomb_is_not_unpacked(tmp_path):
    with pytest.raises(UnsafeArchiveError, match="grows"):
        unpack(zipped(tmp_path / "b.zip", {"a": bytes(3_000_000)}), tmp_path / "out", total=1_000_000)


def test_a_bomb_among_readable_members_is_refused_alone(tmp_path):
    found = contents(
        unpack(
            tar(tmp_path / "b.tar.gz", {"a": b"a", "bomb": bytes(3_000_000)}, "w:gz"), tmp_path / "out", total=1_000_000
        )
    )

    assert found["a"] == b"a"
    assert "grows beyond" in found["bomb"]


def test_too_many_members_are_refused(tmp_path):
    with pytest.raises(UnsafeArchiveError, match="more than 2 members"):
        unpack(tar(tmp_path / "b.tar", {str(n): b"" for n in range(5)}), tmp_path / "out", members=2)


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, zstandard.ZstdCompressor().compress])
def test_what_stands_before_the_damage_is_kept(tmp_path, pack):
    plain = tar(tmp_path / "b.tar", {"a": b"first\n", "b": os.urandom(400_000), "c": b"never"}).read_bytes()
    packed = tmp_path / "cut"
    packed.write_bytes(pack(plain)[:200_000])
    unpacked = unpack(packed, tmp_path / "out")

    assert contents(unpacked)["a"] == b"first\n"
    assert "c" not in contents(unpacked)
    assert unpacked.problem or unpacked.members[-1].problem


def test_a_compressed_member_keeps_its_suffix(tmp_path):
    member = unpack(tar(tmp_path / "b.tar", {"a.log.gz": gzip.compress(b"a")}), tmp_path / "out").members[0]

    assert member.location.name.endswith(".gz")
