"""Whatever is given: a verdict with fewer claims, or one clear sentence; never a stack trace."""

import gzip
import io
import json
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from mqlab import jsonout, screen
from mqlab.capture import open_capture
from mqlab.errors import MqlabError, NoSuchPathError, NothingReadableError, UnsafeArchiveError
from mqlab.tables import EVENTS

SAMPLE = Path(__file__).parents[1] / "data" / "samples" / "kafka-amp-17"
LOG = (SAMPLE / "clients" / "bridge.log").read_bytes()
SHORT = b"".join(LOG.splitlines(keepends=True)[60:120])
NAMES = (
    b"<script>alert(1)</script>.log".replace(b"/", b"_"),
    b"new\nline.log",
    b"\x1b[31mred.log",
    b"_hidden.log",
    b".dotted.log",
    b"[a]*{b}?.log",
    b"with space & $HOME.log",
    "ünïcode-日本.log".encode(),
    b"not-utf8-\xff.log",
    b"percent%41%2e.log",
    b"back\\slash.log",
    b"quote'\".log",
)


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    return tmp_path_factory.mktemp("workspace")


@pytest.fixture(scope="module")
def opening(spark, workspace):
    """Open paths in the session of the tests, and show them in both forms on the way."""
    assert spark is not None

    def opened(*paths, **options):
        given = [str(p) for p in paths]
        capture = open_capture(given, workspace=str(workspace, **options))
        text = screen.screen(capture.diagnosis, given, why=True)
        assert all(line.isprintable() for line in text.split("\n"))
        assert json.loads(jsonout.dumps(capture.diagnosis))["schema"] == "mqlab.diagnosis/2"
        return capture

    return opened


def tar(target, members):
    with tarfile.open(target, "w:gz") as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size, info.mtime = len(data), 1795263520
            archive.addfile(info, io.BytesIO(data))
    return target


def zipped(target, members):
    with zipfile.ZipFile(target, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return target


@pytest.fixture(scope="module")
def messy(opening, tmp_path_factory):
    """One folder with everything that can be wrong, beside one good log."""
    folder = tmp_path_factory.mktemp("messy")
    (folder / "logs").mkdir()
    (folder / "logs" / "bridge.log").write_bytes(LOG)
    for number, name in enumerate(NAMES):
        Path(os.fsdecode(os.fsencode(folder) + b"/" + name)).write_bytes(SHORT + b"# %d\n" % number)
    packed = gzip.compress(LOG)
    (folder / "cut.log.gz").write_bytes(packed[: len(packed) // 2])
    (folder / "no-gzip.log.gz").write_bytes(SHORT + b"# plain\n")
    metric = (SAMPLE / "metrics" / "up.json").read_bytes()
    (folder / "half.json").write_bytes(metric[: len(metric) // 2])
    (folder / "blob.bin").write_bytes(bytes(range(256)) * 40)
    (folder / "empty.txt").write_bytes(b"")
    (folder / "gone.log").symlink_to(folder / "nowhere.log")
    (folder / "loop").symlink_to(folder)
    os.mkfifo(folder / "pipe.log")
    (folder / "get-offsets.orders.20261332T256199Z.txt").write_text("orders:0:12\norders:1:7\n")
    zipped(folder / "evil.zip", {"../evil.log": SHORT, "good.log": SHORT + b"# good\n"})
    (folder / "cut.zip").write_bytes((folder / "evil.zip").read_bytes()[:900])
    inner = tar(folder / "inner.tar.gz", {"deep/x.log": SHORT + b"# deep\n"}).read_bytes()
    (folder / "inner.tar.gz").unlink()
    zipped(folder / "outer.zip", {"inner.tar.gz": inner})
    tar(folder / "bundle.tar.gz", {"logs/server.log": (SAMPLE / "logs" / "server.log").read_bytes()})
    return folder, opening(folder)


@pytest.mark.slow
def test_the_good_log_in_a_mess_still_tells_its_story(messy):
    _, capture = messy

    assert capture.diagnosis.verdict.incident == "batch-split-loop"


def test_every_file_of_a_mess_is_listed_once(messy):
    _, capture = messy
    listed = [c.source for c in capture.facts.coverage]

    assert len(listed) == len(set(listed))
    assert {"cut.log.gz", "half.json", "blob.bin", "empty.txt", "gone.log", "pipe.log"} <= set(listed)
    assert {"evil.zip!/good.log", "outer.zip!/inner.tar.gz!/deep/x.log", "bundle.tar.gz!/logs/server.log"} <= set(
        listed
    )


def test_hostile_names_are_read_like_any_other(messy):
    _, capture = messy
    sixty_one = [c.source for c in capture.facts.coverage if c.lines == 61]

    assert len(sixty_one) == len(NAMES) + 3  # with no-gzip.log.gz, good.log and x.log
    assert any("<script>" in name for name in sixty_one)


def test_what_cannot_be_read_is_named_with_its_reason(messy):
    _, capture = messy
    problems = {c.source: c.problem for c in capture.facts.coverage if c.problem}

    assert {"cut.log.gz", "gone.log", "pipe.log", "evil.zip!/../evil.log"} <= set(problems)
    assert all(not problem.startswith("Traceback") for problem in problems.values())
    assert any(source in gap for gap in capture.diagnosis.gaps for source in problems)


def test_a_member_that_points_outside_is_not_written_there(messy, workspace):
    folder, _ = messy

    assert not (folder.parent / "evil.log").exists()
    assert not list(workspace.rglob("evil.log"))


def test_lines_before_the_cut_of_a_gz_count(messy):
    _, capture = messy
    coverage = {c.source: c for c in capture.facts.coverage}

    assert 0 < coverage["cut.log.gz"].lines < LOG.count(b"\n")
    assert coverage["cut.log.gz"].lines == coverage["cut.log.gz"].data + coverage["cut.log.gz"].noise


def test_a_moment_that_does_not_exist_is_none(messy):
    _, capture = messy

    assert all(p.at is None or p.source != "get-offsets.orders.20261332T256199Z.txt" for p in capture.facts.positions)


def test_evidence_shows_lines_of_archive_members(opening, tmp_path):
    from mqlab.material.context import shown

    bundle = tar(tmp_path / "bundle.tar.gz", {"clients/bridge.log": LOG})
    capture = opening(bundle)
    finding = capture.diagnosis.findings[0]
    with capture.readable() as sources:
        text = shown(finding, sources, 1)

    assert {e.source for e in finding.evidence} == {"bundle.tar.gz!/clients/bridge.log"}
    assert "bundle.tar.gz!/clients/bridge.log:83" in text
    assert "  >     83  2026-11-21 12:20:44,201 WARN" in text
    assert "        84  " in text


@pytest.mark.parametrize(
    ("name", "content"),
    [("empty.log", b""), ("gone.log.gz", gzip.compress(LOG, mtime=0)[:12]), ("bad.zip", b"PK\x03\x04" + b"\0" * 40)],
    ids=("empty", "cut gz", "no zip"),
)
def test_nothing_readable_is_one_sentence(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)

    with pytest.raises(NothingReadableError) as caught:
        open_capture(str(tmp_path / name), workspace=str(tmp_path / "ws"))
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 64


def test_an_empty_folder_and_a_missing_path_are_one_sentence(tmp_path):
    (tmp_path / "empty").mkdir()
    workspace = str(tmp_path / "ws")

    with pytest.raises(NothingReadableError):
        open_capture(str(tmp_path / "empty"), workspace=workspace)
    with pytest.raises(NoSuchPathError):
        open_capture(str(tmp_path / "nowhere"), workspace=workspace)


def test_an_archive_that_only_points_outside_is_one_sentence(tmp_path):
    evil = zipped(tmp_path / "evil.zip", {"../../evil.log": SHORT})

    with pytest.raises(MqlabError) as caught:
        open_capture(str(evil), workspace=str(tmp_path / "ws"))
    assert isinstance(caught.value, NothingReadableError | UnsafeArchiveError)
    assert not (tmp_path.parent / "evil.log").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_file_is_one_sentence(tmp_path):
    (tmp_path / "locked.log").write_bytes(SHORT)
    (tmp_path / "locked.log").chmod(0)

    with pytest.raises(NothingReadableError):
        open_capture(str(tmp_path), workspace=str(tmp_path / "ws"))


def test_a_failed_opening_leaves_nothing_in_the_workspace(tmp_path):
    (tmp_path / "empty.log").write_bytes(b"")
    with pytest.raises(NothingReadableError):
        open_capture(str(tmp_path / "empty.log"), workspace=str(tmp_path / "ws"))

    assert [p.name for p in (tmp_path / "ws").iterdir() if p.is_dir()] == []


@pytest.mark.slow
@pytest.mark.parametrize("part", ["metrics", "logs", "configs"])
def test_taking_material_away_names_no_other_culprit(opening, part):
    capture = opening(SAMPLE / part)
    diagnosis = capture.diagnosis

    assert diagnosis.verdict.incident in ("batch-split-loop", "oversize-record-rejected", "undetermined")
    assert diagnosis.not_checked


@pytest.mark.slow
def test_binary_alone_is_a_verdict_without_claims(opening, tmp_path):
    (tmp_path / "core.dump").write_bytes(os.urandom(1 << 16))
    capture = opening(tmp_path / "core.dump")

    assert capture.diagnosis.verdict.incident == "undetermined"
    assert capture.diagnosis.findings == ()
    assert capture.diagnosis.material.unrecognised == ("core.dump",)


@pytest.mark.slow
def test_a_line_of_50_megabytes_is_one_line(opening, tmp_path):
    head = SHORT[: SHORT.rindex(b"\n") + 1]
    (tmp_path / "long.log").write_bytes(head + b"2026-11-21 12:20:44,201 WARN  [x] a.B - " + b"y " * 25_000_000 + b"\n")
    capture = opening(tmp_path / "long.log")

    assert capture.diagnosis.material.lines == head.count(b"\n") + 1
    assert capture.diagnosis.material.bytes == (tmp_path / "long.log").stat().st_size


@pytest.mark.slow
def test_folders_of_one_name_and_a_file_given_twice_keep_apart(opening, tmp_path):
    for rack, extra in (("a", b""), ("b", b"2026-11-21 12:30:00,000 INFO  [x] a.B - end\n")):
        (tmp_path / rack / "logs").mkdir(parents=True)
        (tmp_path / rack / "logs" / "bridge.log").write_bytes(LOG + extra)
    first, second = tmp_path / "a" / "logs", tmp_path / "b" / "logs"
    one = opening(first, second, first / "bridge.log")
    other = opening(second, first / "bridge.log", first)

    assert [c.source for c in one.facts.coverage] == ["a/logs/bridge.log", "b/logs/bridge.log"]
    assert one.diagnosis.material.lines == 2 * LOG.count(b"\n") + 1
    assert len({c.source for c in other.facts.coverage}) == 2


@pytest.mark.slow
def test_the_order_of_arguments_changes_nothing(opening):
    parts = [SAMPLE / "clients", SAMPLE / "configs", SAMPLE / "metrics", SAMPLE / "logs" / "server.log"]
    there, back = opening(*parts), opening(*reversed(parts))

    assert jsonout.dumps(there.diagnosis) == jsonout.dumps(back.diagnosis)


@pytest.mark.slow
def test_zone_of_the_machine_cores_and_pipes_change_nothing(opening, tmp_path):
    """One process of its own: another TZ, two cores, standard input, results in a file."""
    given, out = SAMPLE / "clients", tmp_path / "out.json"
    expected = jsonout.dumps(opening(given).diagnosis)
    environment = os.environ | {"TZ": "Asia/Tokyo", "LC_ALL": "C", "MQLAB_WORKSPACE": str(tmp_path / "ws")}
    command = [sys.executable, "-m", "mqlab.cli", "triage", str(given), "--master", "local[2]", "--format", "json"]
    done = subprocess.run([*command, "-o", str(out)], env=environment, capture_output=True, check=False)

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert out.read_text() == expected


@pytest.mark.slow
def test_standard_input_is_cited_as_a_dash_and_leaves_nothing_behind(opening, workspace, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(LOG)))
    capture = opening("-")

    assert {e.source for f in capture.diagnosis.findings for e in f.evidence} == {"-"}
    assert not [file for file in workspace.rglob("*") if file.name == "stdin"]
    assert capture.table(EVENTS).count() > 586
