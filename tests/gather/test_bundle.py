"""A bundle is a folder that anybody may read at any moment."""

import errno
import io
import json
import pickle
import shutil
import stat
import tarfile

import pytest
import zstandard

from mqlab.gather import bundle as bundles
from mqlab.gather.bundle import Bundle, BundleError, IncompleteError, NotPackedError
from mqlab.gather.manifest import Manifest
from mqlab.gather.masking import NotTextError


def begun(path, **asked):
    return Bundle(path, Manifest("kafka", asked))


def told(folder):
    return json.loads((folder / "manifest.json").read_text())


def test_a_bundle_is_valid_before_anything_is_gathered(tmp_path):
    begun(tmp_path / "b", interval=5)
    assert (told(tmp_path / "b")["state"], told(tmp_path / "b")["asked"]) == ("running", {"interval": 5})
    assert stat.S_IMODE((tmp_path / "b").stat().st_mode) == 0o700


def test_nothing_is_left_but_files_and_the_manifest(tmp_path):
    bundle = begun(tmp_path / "b")
    bundle.write("kafka/topics-describe.txt", "Topic: t\n")
    assert bundle.close() == tmp_path / "b"
    assert sorted(str(p.relative_to(tmp_path / "b")) for p in (tmp_path / "b").rglob("*") if p.is_file()) == [
        "kafka/topics-describe.txt",
        "manifest.json",
    ]
    said = told(tmp_path / "b")
    assert (said["state"], said["files"], said["bytes"]) == ("complete", 1, 9)


def test_secrets_are_masked_in_texts_copies_and_the_manifest(tmp_path):
    bundle = begun(tmp_path / "b", config="sasl.password=hunter2")
    bundle.write("a.txt", "ssl.keystore.password=hunter2\n")
    bundle.copy("b.log", io.BytesIO(b"x\n" * 100_000 + b"password=hunter2\n\xff tail"))
    bundle.copy("c.log.zst", io.BytesIO(b"password=hunter2\n"))
    folder = bundle.close()
    packed = zstandard.ZstdDecompressor().stream_reader(io.BytesIO((folder / "c.log.zst").read_bytes())).read()
    whole = packed + b"".join(p.read_bytes() for p in (folder / "a.txt", folder / "b.log", folder / "manifest.json"))
    assert (whole.count(b"[masked]"), b"hunter2" in whole, b"\xff tail" in whole) == (4, False, True)


def test_a_name_stays_inside_the_bundle(tmp_path):
    bundle = begun(tmp_path / "b")
    bundle.write("/../../etc/a:b\n", "x")
    assert (tmp_path / "b/etc/a_b_").read_text() == "x"


@pytest.mark.parametrize("content", [b"\x1f\x8b" + b"x" * 600, b"a\0b"])
def test_what_is_no_text_is_refused_since_nobody_knows_its_secrets(tmp_path, content):
    bundle = begun(tmp_path / "b")
    with pytest.raises(NotTextError):
        bundle.copy("a", io.BytesIO(content))
    assert told(bundle.close())["files"] == 0


def test_a_bundle_that_was_interrupted_says_so(tmp_path):
    bundle = begun(tmp_path / "b")
    said = told(bundle.close("interrupted", "SIGTERM"))
    assert (said["state"], said["because"]) == ("interrupted", "SIGTERM")


def test_a_block_that_an_error_ends_is_a_bundle_too(tmp_path):
    with pytest.raises(KeyboardInterrupt), begun(tmp_path / "b"):
        raise KeyboardInterrupt
    assert (told(tmp_path / "b")["state"], told(tmp_path / "b")["because"]) == ("interrupted", "KeyboardInterrupt")
    assert [path.name for path in (tmp_path / "b").iterdir()] == ["manifest.json"]


@pytest.mark.parametrize("name", ["b.tar", "b.tar.gz", "b.TGZ", "b.tar.bz2", "b.tar.xz"])
def test_an_archive_is_written_in_the_format_of_its_name(tmp_path, name):
    bundle = begun(tmp_path / name)
    bundle.write("a.txt", "x")
    with tarfile.open(bundle.close()) as archive:
        assert sorted(one.name for one in archive if one.isfile()) == ["b/a.txt", "b/manifest.json"]
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", ["b.zip", "b.gz", "b.7z", "b.zst"])
def test_a_format_that_is_not_written_is_refused_before_anything_is_made(tmp_path, name):
    with pytest.raises(BundleError, match=r"or an archive that ends with .*\.tar\.zst"):
        begun(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_of_an_archives_stem_is_left_as_it_is(tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / "b/mine").touch()
    begun(tmp_path / "b.tar.zst").close()
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["b", "b.tar.zst", "mine"]


def test_a_path_that_is_too_long_is_one_sentence(tmp_path):
    with pytest.raises(BundleError, match="File name too long") as error:
        begun(tmp_path / "/".join(["x" * 100] * 50))
    assert len(str(error.value)) < 400


class Full:
    """A disk that takes so many bytes, and no more."""

    def __init__(self, monkeypatch, left):
        self.left, self.write = left, bundles._whole
        monkeypatch.setattr(bundles, "_whole", self)

    def __call__(self, file, piece):
        self.left -= len(piece)
        if self.left < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        self.write(file, piece)


def test_a_disk_that_is_full_leaves_a_bundle_that_says_so(tmp_path, monkeypatch):
    bundle = begun(tmp_path / "b")
    Full(monkeypatch, 5)
    bundle.write("a.txt", "whole")
    with pytest.raises(IncompleteError, match=r"b is incomplete: No space left on device\.") as error:
        bundle.write("b.txt", "x")
    assert str(pickle.loads(pickle.dumps(error.value))) == str(error.value)
    said = told(bundle.close("incomplete", error.value.because))
    assert (said["state"], said["because"], said["files"]) == ("incomplete", "No space left on device", 1)
    assert sorted(path.name for path in (tmp_path / "b").iterdir()) == ["a.txt", "manifest.json"]


def test_a_bundle_that_is_removed_meanwhile_is_one_sentence(tmp_path):
    bundle = begun(tmp_path / "b")
    shutil.rmtree(tmp_path / "b")
    for ended in (bundle.note, bundle.close):
        with pytest.raises(
            IncompleteError, match=r"b is incomplete: No such file or directory\. Somebody has removed it"
        ):
            ended()
    assert list(tmp_path.iterdir()) == []


def test_a_name_that_is_too_long_is_no_full_disk(tmp_path):
    with pytest.raises(OSError, match="File name too long"):
        begun(tmp_path / "b").write("x" * 300, "x")


def test_an_archive_that_cannot_be_written_leaves_its_folder(tmp_path, monkeypatch):
    bundle = begun(tmp_path / "b.tar.gz")
    bundle.write("a.txt", "x")

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(bundles.tarfile.TarFile, "add", full)
    with pytest.raises(NotPackedError, match=r"b\.tar\.gz\.gathering\.$"):
        bundle.close()
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.*")) == [
        "b.tar.gz.gathering",
        "b.tar.gz.gathering/a.txt",
        "b.tar.gz.gathering/manifest.json",
    ]


def test_an_archive_replaces_its_folder_when_it_is_complete(tmp_path):
    bundle = begun(tmp_path / "b.tar.zst")
    bundle.write("a.txt", "x")
    assert (tmp_path / "b.tar.zst.gathering/a.txt").exists()
    packed = bundle.close()
    with (
        zstandard.ZstdDecompressor().stream_reader(packed.open("rb")) as raw,
        tarfile.open(fileobj=raw, mode="r|") as t,
    ):
        assert sorted(m.name for m in t if m.isfile()) == ["b/a.txt", "b/manifest.json"]
    assert [p.name for p in tmp_path.iterdir()] == ["b.tar.zst"]


def test_what_is_there_is_never_written_over(tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / "b/mine").touch()
    with pytest.raises(BundleError, match="it already exists"):
        begun(tmp_path / "b")
    (tmp_path / "c.tar.zst").touch()
    with pytest.raises(BundleError, match="it already exists"):
        begun(tmp_path / "c.tar.zst")
