"""Sources on other file systems: read where they lie, cited as local ones are; file:// stands for all of them."""

import bz2
import gc
import gzip
import os
import shutil
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

from mqlab import intake, jsonout
from mqlab.cache import reading, storage, workspace
from mqlab.capture import open_capture
from mqlab.errors import NoSuchPathError, RemoteError, WorkspaceError
from mqlab.formats.registry import FORMATS
from mqlab.kernel.splits import splits
from mqlab.material import remote, walking
from mqlab.material.remote_path import RemotePath
from mqlab.spark import guest
from mqlab.tables import EVENTS

SAMPLE = Path(__file__).parents[1] / "data" / "samples" / "kafka-amp-17"
LINE = "[2026-11-21 12:00:{:02d},000] INFO [GroupCoordinator 1]: Line {} (kafka.coordinator.group.GroupCoordinator)\n"
ODD = (
    *("a b.log", "50%.log", "x+y.log", "日志.log", "[1].log", "{a,b}.log", "star*.log", "wie#so?.log", "c;d=e&f.log"),
    *("_hidden.log", ".dotted.log", "copy._COPYING_", "k=v/in.log", "_tmp/in.log", "sp\u00a0ace.log", "log.zst"),
)


DAY = 86_400


def text(seed, lines=40):
    return "".join(LINE.format(n % 60, f"{seed} {n}") for n in range(lines))


@pytest.fixture
def odd(tmp_path):
    """A folder of files whose names mean something to globs, URIs or Spark's listing."""
    for number, name in enumerate(ODD):
        file = tmp_path / "odd" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text(number, 10 + number))
    return tmp_path / "odd"


def diagnosed(path, tmp_path, name):
    capture = open_capture(path, workspace=str(tmp_path / name))
    return capture, jsonout.dumps(capture.diagnosis)


def test_a_uri_is_told_from_a_path():
    uris = (
        "s3a://bucket/incident/",
        "hdfs://nn/x",
        "hdfs:///x",
        "file:///data/x",
        "abfss://c@a.dfs.core.windows.net/x",
    )
    assert all(remote.is_uri(uri) for uri in uris)
    assert not any(remote.is_uri(path) for path in ("/data/x", "C:\\logs", "a:b", "logs/*.log", "-", "x//y", "://"))


def test_a_folder_is_found_with_the_paths_a_local_one_has(tmp_path):
    folder = tmp_path / "m"
    shutil.copytree(SAMPLE, folder)
    (folder / ".git").mkdir()
    for name in (".git/config", ".DS_Store", "incident.yml"):
        (folder / name).write_text("title: x\n")
    local = [found.path for found in walking.walk([str(folder)], tmp_path / "s")]
    assert local
    for uri in (f"file://{folder}", f"file://{folder}/"):
        assert sorted(found.path for found in walking.walk([uri], tmp_path / "s")) == sorted(local)


def test_labels_tell_several_arguments_apart_wherever_they_are(tmp_path):
    for name in ("a/logs/x.log", "b/logs/x.log"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text(text(1))
    given = [str(tmp_path / "a" / "logs"), f"file://{tmp_path}/b/logs"]
    assert [found.path for found in walking.walk(given, tmp_path / "s")] == ["a/logs/x.log", "b/logs/x.log"]


def test_one_file_given_by_its_path_and_by_its_uri_counts_once(tmp_path):
    (tmp_path / "x.log").write_text(text(1))
    assert len(walking.walk([str(tmp_path / "x.log"), f"file://{tmp_path}/x.log"], tmp_path / "s")) == 1


@pytest.mark.parametrize(
    "pattern", ["*.log", "*/*.log", "**/*.log", "logs", "l*", "logs/[ab].log", "?ogs/a.log", "logs/a.log"]
)
def test_a_glob_means_the_same_here_and_elsewhere(tmp_path, pattern):
    for name in ("top.log", "logs/a.log", "logs/b.log", "logs/deep/c.log", "other/a.log", "logs/a.txt"):
        (tmp_path / "m" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "m" / name).write_text(text(1))
    local = walking.walk([f"{tmp_path}/m/{pattern}"], tmp_path / "s")
    elsewhere = walking.walk([f"file://{tmp_path}/m/{pattern}"], tmp_path / "s")
    assert sorted(found.path for found in elsewhere) == sorted(found.path for found in local)


@pytest.mark.parametrize("name", ["nothing", "nothing/*.log", "m/*.txt"])
def test_what_does_not_exist_is_said(tmp_path, name):
    (tmp_path / "m").mkdir()
    with pytest.raises(NoSuchPathError, match="There is no 'file://"):
        walking.walk([f"file://{tmp_path}/{name}"], tmp_path / "s")


@pytest.mark.parametrize("uri", ["gopher://host/x", "hdfs://127.0.0.1:9/x"])
def test_a_file_system_that_cannot_be_reached_is_one_sentence(tmp_path, uri):
    with pytest.raises(RemoteError, match=r"cannot be read: .*\. Check the address") as raised:
        walking.walk([uri], tmp_path)
    assert "\n" not in str(raised.value)
    assert raised.value.exit_code == 64


def test_a_missing_libhdfs_is_named():
    assert "set JAVA_HOME and HADOOP_HOME" in remote.said(OSError("Unable to load libjvm\ndlopen(/usr/lib"))


def test_files_stay_where_they_are_but_for_archives_and_what_must_be_transcoded(tmp_path):
    folder = tmp_path / "m"
    folder.mkdir()
    (folder / "plain.log").write_text(text(1))
    (folder / "packed.log.gz").write_bytes(gzip.compress(text(2).encode()))
    (folder / "packed.log.bz2").write_bytes(bz2.compress(text(3).encode()))
    (folder / "misnamed.log").write_bytes(gzip.compress(text(4).encode()))
    (folder / "plain.gz").write_text(text(5))
    (folder / "wide.log").write_bytes(text(6).encode("utf-16"))
    (folder / "wide.log.gz").write_bytes(gzip.compress(text(7).encode("utf-16")))
    (folder / "empty.log").write_bytes(b"")
    with tarfile.open(folder / "logs.tgz", "w:gz") as tar:
        tar.add(folder / "plain.log", "inside.log")
    here = intake.gather([str(folder)], tmp_path / "here", FORMATS)
    there = intake.gather([f"file://{folder}"], tmp_path / "there", FORMATS)
    placed = {source.path for source in there if remote.is_uri(source.location)}
    assert placed == {"plain.log", "packed.log.gz", "packed.log.bz2", "misnamed.log", "plain.gz"}
    told = [replace(source, location="", origin="") for source in there]
    assert told == [replace(source, location="", origin="") for source in here]
    assert {source.origin for source in there} == {f"file://{source.origin}" for source in here}


def test_the_diagnosis_is_the_same_byte_for_byte(spark, tmp_path):
    assert spark is not None
    _, here = diagnosed(SAMPLE, tmp_path, "here")
    capture, there = diagnosed(f"file://{SAMPLE}", tmp_path, "there")
    assert there == here
    assert capture.diagnosis.findings
    _, again = diagnosed(f"file://{SAMPLE}", tmp_path, "there")
    assert again == here


def test_every_line_is_counted_whatever_the_name_of_its_file(spark, tmp_path, odd):
    assert spark is not None
    capture, there = diagnosed(f"file://{odd}", tmp_path, "there")
    assert {c.source: c.lines for c in capture.facts.coverage} == {name: 10 + n for n, name in enumerate(ODD)}
    assert there == diagnosed(odd, tmp_path, "here")[1]


def test_local_and_remote_sources_are_read_side_by_side(spark, tmp_path, odd):
    assert spark is not None
    (tmp_path / "local").mkdir()
    (tmp_path / "local" / "x.log").write_text(text(1, 33))
    paths = [str(tmp_path / "local"), f"file://{odd}"]
    capture, _ = diagnosed(paths, tmp_path, "w")
    lines = {c.source: c.lines for c in capture.facts.coverage}
    assert lines == {"local/x.log": 33} | {f"odd/{name}": 10 + n for n, name in enumerate(ODD)}


def test_what_changes_elsewhere_is_read_again(spark, tmp_path):
    assert spark is not None
    folder = tmp_path / "m"
    folder.mkdir()
    for name in ("a.log", "b.log"):
        (folder / name).write_text(text(name))
        os.utime(folder / name, (1_700_000_000, 1_700_000_000))
    before, _ = diagnosed(f"file://{folder}", tmp_path, "w")
    with (folder / "a.log").open("a") as file:
        file.write(text("more", 7))
    after, _ = diagnosed(f"file://{folder}", tmp_path, "w")
    assert [{c.source: c.lines for c in seen.facts.coverage} for seen in (before, after)] == [
        {"a.log": 40, "b.log": 40},
        {"a.log": 47, "b.log": 40},
    ]


def test_a_workspace_elsewhere_is_used_again(spark, tmp_path, monkeypatch):
    assert spark is not None
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    there = f"file://{tmp_path}/there/deep"
    first = open_capture(SAMPLE, workspace=there)
    kept = sorted(path.name for path in (tmp_path / "there" / "deep").iterdir())
    assert [name.split("-")[0] for name in kept] == ["material", "scan", "using"]
    monkeypatch.setattr(guest, "tune", None)
    second = open_capture(SAMPLE, workspace=there)
    assert jsonout.dumps(second.diagnosis) == jsonout.dumps(first.diagnosis)
    monkeypatch.undo()
    assert jsonout.dumps(first.diagnosis) == diagnosed(SAMPLE, tmp_path, "here")[1]
    assert first.table(EVENTS).count() > 0
    del first, second
    gc.collect()
    assert sorted(path.name for path in (tmp_path / "there" / "deep").iterdir()) == kept[:2]


def test_a_workspace_elsewhere_reads_only_what_is_new(spark, tmp_path, monkeypatch):
    assert spark is not None
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "a.log").write_text(text("a"))
    workspace = f"file://{tmp_path}/there"
    open_capture(tmp_path / "m", workspace=workspace)
    asked = []
    monkeypatch.setattr(reading, "splits", lambda sources: (asked.extend(sources), splits(sources))[1])
    (tmp_path / "m" / "b.log").write_text(text("b", 7))
    capture = open_capture(tmp_path / "m", workspace=workspace)
    assert [source.path for source in asked] == ["b.log"]
    assert {c.source: c.lines for c in capture.facts.coverage} == {"a.log": 40, "b.log": 7}


def test_what_nobody_uses_goes_from_a_workspace_elsewhere(tmp_path):
    cache = RemotePath(f"file://{tmp_path}/w")
    for name in ("preparing-host-1-x", "scan-aa"):
        (tmp_path / "w" / name / "rows").mkdir(parents=True)
    reading.tidy(cache)
    assert [path.name for path in (tmp_path / "w").iterdir()] == ["preparing-host-1-x"]


def test_a_workspace_that_cannot_be_reached_is_one_sentence():
    with pytest.raises(WorkspaceError, match=r"hdfs://127\.0\.0\.1:9/w cannot be used"):
        workspace.cache_folder("hdfs://127.0.0.1:9/w")


def test_a_path_elsewhere_does_what_a_path_here_does(tmp_path):
    folder = RemotePath(f"file://{tmp_path}/w")
    assert str(folder) == f"file://{tmp_path}/w"
    assert str(RemotePath("s3a://bucket/w") / "x" / "y") == "s3a://bucket/w/x/y"
    assert not (folder / "x").exists()
    folder.mkdir()
    (folder / "x").write_bytes(b"one")
    (folder / "y").touch()
    storage.put(folder / "x", b"two", by_way_of=folder / "z")
    assert (storage.get(folder / "x"), storage.get(folder / "y"), storage.get(folder / "z")) == (b"two", b"", None)
    assert sorted(path.name for path in folder.glob("[xz]*")) == ["x"]
    assert (storage.age(folder / "x") or 0) < DAY
    assert storage.age(folder / "z") is None
    assert sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) == 3
    storage.remove(folder / "x")
    storage.remove(folder)
    assert not (tmp_path / "w").exists()
    storage.remove(folder)
