"""A bundle is a folder that anybody may read at any moment."""

import io
import json
import stat
import tarfile

import pytest
import zstandard

from mqlab.gather.bundle import Bundle, BundleError
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
    assert told(bundle.close("Ctrl-C"))["state"] == "interrupted"


def test_an_archive_replaces_its_folder_when_it_is_complete(tmp_path):
    bundle = begun(tmp_path / "b.tar.zst")
    bundle.write("a.txt", "x")
    assert (tmp_path / "b/a.txt").exists()
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
    with pytest.raises(BundleError, match="something of that name"):
        begun(tmp_path / "b")
    with pytest.raises(BundleError, match="something of that name"):
        begun(tmp_path / "b.tar.zst")
