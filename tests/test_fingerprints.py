"""A file is known by its content: a new name changes nothing, one more line does."""

import gzip
import io
import os
import tarfile

import pytest

from mqlab.formats.registry import FORMATS
from mqlab.intake import gather
from mqlab.material.names import ENDS

LINE = b"[2026-11-21 12:20:44,201] INFO [GroupCoordinator 1]: Stabilized group a (kafka.coordinator.group)\n"
AT = 1_795_263_523


@pytest.fixture
def known(tmp_path):
    """(path, key) of every source in a folder."""

    def keys(folder, scratch="scratch"):
        return {s.path: s.key for s in gather([str(folder)], tmp_path / scratch, FORMATS)}

    return keys


def write(path, content, at=AT):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    os.utime(path, (at, at))
    return path


def test_a_rotated_log_keeps_its_key_and_its_link(tmp_path, known):
    file = write(tmp_path / "m" / "server.log", LINE * 3)
    before, links = known(tmp_path / "m"), [s.link for s in gather([str(file)], tmp_path / "one", FORMATS)]
    rotated = file.rename(tmp_path / "m" / "server.log.2026-11-21-12")

    assert list(known(tmp_path / "m").values()) == list(before.values())
    assert [s.link for s in gather([str(rotated)], tmp_path / "two", FORMATS)] == links


def test_a_table_keeps_its_identity_under_a_new_name_though_its_link_holds_the_name(tmp_path):
    file = write(tmp_path / "m" / "get-offsets.20261121T122044Z.txt", b"orders:0:17\norders:1:18\n")
    (before,) = gather([str(file)], tmp_path / "one", FORMATS)
    (after,) = gather([str(file.rename(tmp_path / "m" / "get-offsets.txt"))], tmp_path / "two", FORMATS)

    assert before.identity == after.identity
    assert before.link != after.link


@pytest.mark.parametrize(
    ("content", "at"),
    [
        (LINE * 4, AT),
        (LINE * 3, AT + 1),
        (LINE * 2 + LINE.replace(b" a ", b" b "), AT),
        (LINE.replace(b" a ", b" b ") + LINE * 2, AT),
    ],
    ids=["grown", "later", "another end", "another beginning"],
)
def test_other_content_is_another_key(tmp_path, known, content, at):
    write(tmp_path / "m" / "server.log", LINE * 3)
    before = known(tmp_path / "m")
    write(tmp_path / "m" / "server.log", content, at)

    assert known(tmp_path / "m") != before


def test_a_change_in_the_middle_shows_in_the_time_alone(tmp_path, known):
    start, end = b"x" * ENDS, b"y" * ENDS
    write(tmp_path / "m" / "a", start + b"1" + end)
    before = known(tmp_path / "m")
    write(tmp_path / "m" / "a", start + b"2" + end)
    same = known(tmp_path / "m")
    write(tmp_path / "m" / "a", start + b"2" + end, AT + 1)

    assert same == before != known(tmp_path / "m")


def test_copies_have_keys_of_their_own_whoever_is_seen_first(tmp_path, known):
    for name in ("a/server.log", "b/server.log", "c/server.log"):
        write(tmp_path / "m" / name, LINE * 3)
    found = known(tmp_path / "m")

    assert len(set(found.values())) == 3
    assert known(tmp_path / "m", "again") == found


def test_members_of_a_repacked_archive_are_known_again(tmp_path, known):
    def pack(target, members):
        target.parent.mkdir(exist_ok=True)
        with tarfile.open(target, "w:gz") as archive:
            for name, content in members.items():
                info = tarfile.TarInfo(name)
                info.size, info.mtime = len(content), AT
                archive.addfile(info, io.BytesIO(content))

    members = {"a.log": LINE, "b.log.gz": gzip.compress(LINE * 2, mtime=0)}
    pack(tmp_path / "m" / "old.tar.gz", members)
    before = known(tmp_path / "m", "one")
    (tmp_path / "m" / "old.tar.gz").unlink()
    pack(tmp_path / "m" / "new.tgz", {"more.log": LINE * 3, **members})
    after = known(tmp_path / "m", "two")

    assert {k.replace("old.tar.gz", "new.tgz"): v for k, v in before.items()}.items() <= after.items()
    assert len(set(after.values())) == 3


def test_what_a_link_leads_to_is_what_counts(tmp_path):
    target = write(tmp_path / "there" / "server.log", LINE)
    (tmp_path / "current.log").symlink_to(target)
    (before,) = gather([str(tmp_path / "current.log")], tmp_path / "one", FORMATS)
    write(target, LINE * 2)
    (after,) = gather([str(tmp_path / "current.log")], tmp_path / "two", FORMATS)

    assert before.key != after.key
