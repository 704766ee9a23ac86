"""A redacted copy holds no name, and mqlab says the same of it."""

import gzip
import io
import json
import stat
import tarfile
from pathlib import Path

import pytest
import zstandard
from click.testing import CliRunner

from mqlab.capture import open_capture
from mqlab.errors import MqlabError
from mqlab.gather.redact import Options, redact
from mqlab.gather.redact_command import redact as command
from mqlab.material import streams

SAMPLES = Path(__file__).parents[2] / "data" / "samples"
IDS = ("kafka-rebalance-03", "mqtt-takeover-01", "mqtt-kafka-01", "rocketmq-02")
JOINING = "till-7-0b0f0f10-aaaa-4bbb-8ccc-0123456789ab with group instance id None"
BROKER = (
    "[2026-11-21 11:44:26,458] INFO [GroupCoordinator 1]: Preparing to rebalance group billing in state "
    "PreparingRebalance with old generation 4 (__consumer_offsets-2) "
    f"(reason: Adding new member {JOINING}) (kafka.coordinator.group.GroupCoordinator)\n"
    "[2026-11-21 11:44:27,000] INFO [Log partition=acme.payments-3, dir=/data/kafka] Loading producer state (kafka)\n"
    '[2026-11-21 11:44:28,000] INFO connection from /10.60.1.16:52130 password="hunter22" as till-7 (kafka.network)\n'
)


def done(paths, folder, **chosen):
    options = Options(folder / "key", folder / "map.json", workspace=str(folder / "workspace"), **chosen)
    return redact([str(path) for path in paths], folder / "copy", options, lambda _: None)


def contents(folder):
    """Every file of *folder*, unpacked, with its path."""
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        with streams.opened(path) as stream:
            yield str(path.relative_to(folder)), stream.read()


@pytest.fixture
def small(tmp_path):
    """A folder with a log, a compressed one, and an archive."""
    folder = tmp_path / "bundle"
    (folder / "logs").mkdir(parents=True)
    (folder / "logs" / "server.log").write_text(BROKER)
    (folder / "logs" / "till-7.log.gz").write_bytes(gzip.compress(BROKER.encode()))
    with tarfile.open(folder / "old.tar.gz", "w:gz") as archive:
        member = tarfile.TarInfo("acme.payments/server.log")
        member.size = len(BROKER)
        archive.addfile(member, io.BytesIO(BROKER.encode()))
    (folder / "dump.bin").write_bytes(b"\0acme.payments")
    return folder


@pytest.mark.usefixtures("spark")
def test_names_go_from_every_byte_and_from_names_of_files(small, tmp_path):
    told = done([small], tmp_path)
    names = {name for known in told.pseudonyms.values() for name in known} | {"till", "payments", "acme"}
    assert {"billing", "till-7", "acme.payments", "10.60.1.16"} <= names
    written = dict(contents(tmp_path / "copy"))
    assert [(path, name) for path, data in written.items() for name in names
            if name.encode() in data or name in path] == []  # fmt: skip
    till, topic = told.pseudonyms["client"]["till-7"], told.pseudonyms["topic"]["acme.payments"]
    assert sorted(written) == sorted(["logs/server.log", f"logs/{till}.log.gz", f"old.tar.gz/{topic}/server.log"])
    assert len(set(written.values())) == 1
    assert b"hunter22" not in written["logs/server.log"]
    assert [one.name for one in told.left_out] == ["dump.bin"]
    assert (told.left, told.differs, told.unsure) == ({}, (), ())


@pytest.mark.usefixtures("spark")
def test_key_and_map_are_the_owners(small, tmp_path):
    first = done([small], tmp_path, check=False)
    for name in ("key", "map.json"):
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600
    kept = json.loads((tmp_path / "map.json").read_text())
    assert (kept["weeks"], kept["names"], len(kept["words"])) == (0, first.pseudonyms, first.replaced)
    again = redact([str(small)], tmp_path / "again", Options(tmp_path / "key", tmp_path / "map2", check=False,
                   workspace=str(tmp_path / "workspace")), lambda _: None)  # fmt: skip
    assert again.pseudonyms == first.pseudonyms
    assert list(contents(tmp_path / "again")) == list(contents(tmp_path / "copy"))


@pytest.mark.usefixtures("spark")
def test_an_archive_holds_the_same_and_tells_nobody(small, tmp_path):
    output = tmp_path / "shareable.tar.zst"
    code = CliRunner().invoke(
        command, [str(small), "-o", str(output), "--shift", "-3", "--no-check", "--workspace", str(tmp_path / "w")]
    )
    assert code.exit_code == 0, code.output
    assert "Keep to yourself" in code.output
    plain = zstandard.ZstdDecompressor().stream_reader(output.open("rb")).read()
    with tarfile.open(fileobj=io.BytesIO(plain)) as archive:
        members = archive.getmembers()
        log = archive.extractfile("logs/server.log").read()
    assert {(one.uname, one.gname, one.uid) for one in members} == {("", "", 0)}
    assert log.startswith(b"[2026-10-31 11:44:26,458]")
    assert {path.name for path in tmp_path.iterdir()} >= {"shareable.key", "shareable.map.json"}


def test_nothing_is_overwritten(small, tmp_path):
    (tmp_path / "copy").mkdir()
    with pytest.raises(MqlabError, match="already"):
        done([small], tmp_path)
    assert not (tmp_path / "map.json").exists()


@pytest.mark.slow
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("sample", IDS)
def test_mqlab_says_the_same_of_a_redacted_capture(sample, tmp_path):
    told = done([SAMPLES / sample], tmp_path, check=False)
    names = {name for known in told.pseudonyms.values() for name in known} - set(told.words)
    written = dict(contents(tmp_path / "copy"))
    assert [(path, name) for path, data in written.items() for name in sorted(names)
            if name.encode() in data or name in path] == []  # fmt: skip
    workspace = str(tmp_path / "workspace")
    before = open_capture(str(SAMPLES / sample), workspace=workspace).diagnosis
    after = open_capture(str(tmp_path / "copy"), workspace=workspace).diagnosis
    assert said(after) == said(before)


def said(diagnosis):
    """What a diagnosis says beside names; of two files that hold the same row, either may be cited."""
    return {
        "verdict": (diagnosis.verdict.incident, diagnosis.verdict.certainty),
        "findings": [
            (one.incident, one.severity, one.certainty, one.started_at, one.ended_at, dict(one.measures),
             [evidence.line for evidence in one.evidence])
            for one in diagnosis.findings
        ],
        "rejected": sorted(one.incident for one in diagnosis.rejected),
        "clear": diagnosis.clear,
        "not checked": [one.incident for one in diagnosis.not_checked],
        "lines": (diagnosis.material.data_lines, diagnosis.material.noise_lines, diagnosis.material.rejected_lines),
        "changes": len(diagnosis.changes),
    }  # fmt: skip
