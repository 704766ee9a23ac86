"""The wheel holds all that mqlab needs without a clone, the source archive all that the rest is made from."""

import io
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest

from mqlab.spark.session import package
from mqlab.training.exercise import exercises

ROOT = Path(__file__).parent.parent
SAMPLES = ROOT / "data" / "samples"


def built(source, kind, folder):
    """What hatchling makes of the sources in *source*."""
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", folder], cwd=source, check=True)
    return next(folder.iterdir())


def files(folder, place):
    """Contents of the files below *folder*, by their path below *place*."""
    every = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {f"{place}/{path.relative_to(folder).as_posix()}": path.read_bytes() for path in every}


@pytest.fixture(scope="module")
def wheel_file(tmp_path_factory):
    """The wheel of this checkout."""
    return built(ROOT, "wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def wheel(wheel_file):
    """What the wheel holds, by name."""
    with zipfile.ZipFile(wheel_file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """The source archive of this checkout, unpacked."""
    archive = built(ROOT, "sdist", tmp_path_factory.mktemp("sdist"))
    place = tmp_path_factory.mktemp("sources")
    with tarfile.open(archive) as packed:
        packed.extractall(place)
    return next(place.iterdir())


def test_the_wheel_holds_every_file_of_the_package(wheel):
    own = files(ROOT / "mqlab", "mqlab")
    assert {name: wheel.get(name) for name in own} == own


def test_its_notebooks_and_samples_are_those_of_the_repository(wheel):
    samples = sorted({name.split("/")[2] for name in wheel if name.startswith("mqlab/samples/")})
    notebooks = files(ROOT / "notebooks", "mqlab/notebooks")
    expected = {name: held for name, held in notebooks.items() if name.endswith(".ipynb") and "/." not in name}
    expected |= files(ROOT / "data" / "captured", "mqlab/captured")
    for sample in samples:
        expected |= files(SAMPLES / sample, f"mqlab/samples/{sample}")

    assert samples == ["kafka-amp-17", "mqtt-takeover-01"]
    places = ("mqlab/notebooks/", "mqlab/captured/", "mqlab/samples/")
    assert {name: held for name, held in wheel.items() if name.startswith(places)} == expected


def unpacked(archive):
    with tarfile.open(fileobj=io.BytesIO(archive)) as members:
        return {member.name: members.extractfile(member).read() for member in members}


def test_it_holds_the_capture_of_every_exercise_and_no_other(wheel):
    held = {name.removeprefix("mqlab/samples/").partition("/")[0] for name in wheel if "/samples/" in name}
    packed = {Path(name).name.partition(".")[0]: name for name in wheel if name.startswith("mqlab/training/material/")}
    captures = [unpacked(wheel[name]) for name in packed.values()]
    others = [path for path in SAMPLES.iterdir() if path.is_dir() and path.name not in held]

    assert set(packed) < {one.fingerprint for one in exercises()}
    assert len(packed) == len(exercises()) - 2
    assert sorted(map(sorted, captures)) == sorted(
        sorted(name.partition("/")[2] for name in files(path, path.name)) for path in others
    )
    assert {content for capture in captures for content in capture.values()} == {
        content for path in others for content in files(path, "").values()
    }


def test_its_metadata_names_licences_people_and_extras(wheel):
    about = next(name for name in wheel if name.endswith(".dist-info/METADATA"))
    told = message_from_bytes(wheel[about])

    assert (told["License-Expression"], told["Author"]) == ("Apache-2.0", "The mqlab authors")
    assert told.get_all("License-File") == ["LICENSE", "NOTICE"]
    assert "Typing :: Typed" in told.get_all("Classifier")
    assert told.get_all("Provides-Extra") == [
        "all", "bench", "capture", "dev", "java", "lab", "notebooks", "test", "training",
    ]  # fmt: skip


def test_the_wheel_that_is_made_of_the_source_archive_is_the_same(wheel_file, sources, tmp_path):
    assert built(sources, "wheel", tmp_path).read_bytes() == wheel_file.read_bytes()


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="only a clone knows what belongs to the project")
def test_the_source_archive_holds_every_file_of_the_project(sources):
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    held = {path.relative_to(sources).as_posix() for path in sources.rglob("*") if path.is_file()}
    assert set(filter(None, listed.split("\0"))) - held == set()


def test_workers_are_sent_the_code_that_reads_and_no_material():
    with zipfile.ZipFile(package()) as archive:
        names = set(archive.namelist())

    assert {"mqlab/kernel/job.py", "mqlab/tables.py", "mqlab/catalogue.toml"} <= names
    assert [n for n in names if {"notebooks", "samples", "training", "__pycache__"} & set(Path(n).parts)] == []
