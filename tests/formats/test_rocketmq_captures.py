"""Every command output and store file of the RocketMQ captures is understood to the last line."""

import gzip
from pathlib import Path

import pytest

from mqlab.formats import rocketmq_admin, rocketmq_store
from mqlab.formats.base import About, Head, Line, Reject

CAPTURES = sorted((Path(__file__).parents[2] / "data" / "samples").glob("rocketmq-*"))
FOLDERS = ("clients", "offsets", "metrics", "configs")
OTHERS = (".csv.gz", ".conf", ".properties")


def read(file):
    content = file.read_bytes()
    return (gzip.decompress(content) if file.suffix == ".gz" else content).decode()


def written(text):
    return [Line(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]


@pytest.mark.parametrize("capture", CAPTURES, ids=lambda capture: capture.name)
def test_every_file_is_of_one_format_which_rejects_no_line(capture):
    files = [file for folder in FOLDERS for file in sorted((capture / folder).rglob("*")) if file.is_file()]
    assert files
    for file in files:
        text = read(file)
        found = [form for form in (rocketmq_admin, rocketmq_store) if form.recognise(Head(file.name, text, len(text)))]
        assert len(found) == (0 if file.name.endswith(OTHERS) else 1), file
        items = [item for form in found for item in form.parse(written(text), About(file.name))]
        assert [item for item in items if isinstance(item, Reject)] == [], file
