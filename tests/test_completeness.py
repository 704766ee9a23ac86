"""What was passed over is seen: what stopped a reader, and bytes counted against bytes on disk."""

import json

import pytest

from mqlab.cache import entries
from mqlab.sources import Envelope, Reading, Source


def _source(file, **more):
    known = {
        "key": "0" * 16, "path": file.name, "location": str(file), "format": "application-log",
        "reading": Reading.LOG, "envelope": Envelope.NONE, "size": file.stat().st_size, "modified": 0.0,
    }  # fmt: skip
    return Source(**known | more)


def _rows(source, *counts):
    return [("coverage", json.dumps({"source": source.link, "bytes": n})) for n in counts]


@pytest.fixture
def log(tmp_path):
    file = tmp_path / "app.log"
    file.write_bytes(b"x" * 99 + b"\n")
    return file


@pytest.mark.parametrize("counts", [(100,), (60, 40), (101,), (97,)])
def test_a_file_that_was_read_whole_has_no_problem(log, counts):
    source = _source(log)
    assert entries.checked([source], _rows(source, *counts)) == [source]


@pytest.mark.parametrize("counts", [(), (40,), (50, 46)])
def test_a_file_that_was_not_read_whole_says_how_much_of_it_was(log, counts):
    source = _source(log)
    (found,) = entries.checked([source], _rows(source, *counts))
    told = f"Only {sum(counts)} of its 100 bytes could be read: check that every worker may read it."
    assert found.problem == told


def test_a_problem_that_is_known_stays(log):
    source = _source(log, problem="Its end is missing.")
    assert entries.checked([source], []) == [source]


def test_compressed_files_have_no_size_to_compare(log):
    source = _source(log, packed=True)
    assert entries.checked([source], []) == [source]


@pytest.mark.parametrize("packed", [False, True])
def test_what_stopped_a_reader_is_the_problem(log, packed):
    source, damage = _source(log, packed=packed), "Its end is missing or damaged; 40 bytes before that were read."
    rows = [("coverage", json.dumps({"source": source.link, "bytes": 40, "damage": damage}))]
    (found,) = entries.checked([source], rows)
    assert found.problem == damage
