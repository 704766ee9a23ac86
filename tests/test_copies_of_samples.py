"""Captures of real brokers that were gathered twice, as a whole or in parts that overlap, give the same answer."""

import gzip
import shutil
import tarfile
from pathlib import Path

import pytest
from plain_reading import opened

from mqlab.capture import open_capture
from mqlab.verdict import diagnose

SAMPLES = Path(__file__).parents[1] / "data" / "samples"

pytestmark = pytest.mark.slow


@pytest.fixture
def told(tmp_path):
    """What is said of some paths: the verdict, each finding with its certainty and numbers, every class."""

    def telling(*paths):
        return answer(diagnose(opened(paths, tmp_path / f"scratch-{paths[0].name}-{len(paths)}")))

    return telling


def answer(diagnosis):
    findings = {f.id: (f.severity, f.certainty, f.started_at, f.ended_at, f.measures) for f in diagnosis.findings}
    others = [{r.incident for r in diagnosis.rejected}, diagnosis.clear, {n.incident for n in diagnosis.not_checked}]
    return diagnosis.verdict.incident, findings, others


def beside(sample, tmp_path):
    """The sample as a folder, and as an archive of another name."""
    folder, archive = tmp_path / sample, tmp_path / "upload.tar.gz"
    shutil.copytree(SAMPLES / sample, folder)
    with tarfile.open(archive, "w:gz", compresslevel=1) as packed:
        packed.add(folder, arcname=".")
    return folder, archive


@pytest.mark.parametrize("sample", ["kafka-delivery-03", "kafka-rebalance-04", "mqtt-queue-drop-02", "rocketmq-06"])
def test_a_folder_beside_its_archive_tells_what_it_tells_alone(told, tmp_path, sample):
    folder, archive = beside(sample, tmp_path)
    assert told(folder, archive) == told(folder)


def rotated(sample, folder, begin):
    """The sample, each of its ledgers in two files, of which the later one begins with row *begin* of ten."""
    shutil.copytree(SAMPLES / sample, folder)
    for file in sorted(folder.rglob("*.csv.gz")):
        header, *rows = gzip.decompress(file.read_bytes()).splitlines(keepends=True)
        file.with_suffix("").write_bytes(header + b"".join(rows[len(rows) * begin // 10 :]))
        file.with_suffix(".1").write_bytes(header + b"".join(rows[: len(rows) * 6 // 10]))
        file.unlink()
    return folder


def test_ledgers_that_overlap_as_rotated_tell_what_whole_ones_do(told, tmp_path):
    sample = "kafka-rebalance-04"
    assert told(rotated(sample, tmp_path / "rotated", begin=4)) == told(SAMPLES / sample)


def test_copies_are_left_out_within_spark_too(spark, tmp_path):
    assert spark is not None
    paths = [str(path) for path in beside("mqtt-queue-drop-02", tmp_path)]
    alone, both = (open_capture(given, workspace=str(tmp_path / "ws")).diagnosis for given in (paths[:1], paths))
    assert answer(both) == answer(alone)
    assert len(both.material.copies) == alone.material.files
    assert both.material.lines == 2 * alone.material.lines
    assert both.material.noise_lines == alone.material.noise_lines + alone.material.lines
