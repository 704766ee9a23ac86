"""Every command output, store file and ledger of the RocketMQ captures is understood to the last line."""

from pathlib import Path

import pytest

from mqlab import intake, scan
from mqlab.loaders import LOADERS
from mqlab.sources import Reading

CAPTURES = Path(__file__).parents[2] / "data" / "samples"
FOLDERS = sorted(
    str(f) for f in CAPTURES.glob("rocketmq-*/*") if f.name in ("clients", "offsets", "metrics", "configs")
)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    return intake.gather(FOLDERS, tmp_path_factory.mktemp("scratch"), LOADERS)


def test_every_file_is_recognised(sources):
    wanted = {"rocketmq-admin", "rocketmq-store", "ledger-csv", "properties"}
    assert {s.path: s.format for s in sources if s.format not in wanted} == {}


def test_no_line_is_rejected(spark, sources, tmp_path):
    intake.link_sources(sources, tmp_path)
    scan.scan(spark, tmp_path, sources, tmp_path / "out")
    rows = scan.tagged(spark, tmp_path / "out").where("tag = 'row'")
    loaders = [loader for loader in LOADERS if loader.READING is Reading.TABLE]
    cases = " ".join(f"WHEN '{loader.FORMAT}' THEN {loader.line_class('text')}" for loader in loaders)
    classed = rows.selectExpr("file", "line", "text", f"CASE split_part(file, '.', 2) {cases} END AS class")
    assert [tuple(row) for row in classed.where("class IS NULL").limit(5).collect()] == []
