"""From a real capture to the page: Spark, notebooks and all."""

import json
from pathlib import Path

import pytest

from mqlab.analysis import Options, open_capture
from mqlab.report import render

SAMPLE = Path(__file__).parents[1] / "data" / "samples" / "kafka-amp-17"


@pytest.mark.slow
def test_the_report_of_a_sample_holds_what_its_notebooks_show(tmp_path):
    capture = open_capture(str(SAMPLE), options=Options(workspace=str(tmp_path / "workspace")))

    page = render(capture, tmp_path / "report.html").read_text(encoding="utf-8")

    assert " stopped</h2>" not in page
    assert [title for title in ("What happened when?", "Where did the bytes come from?") if title not in page] == []
    assert page.count('class="chart"') >= 7
    assert len(page.encode()) < 8_000_000
    assert json.loads((tmp_path / "findings.json").read_text())["verdict"]["incident"] == "batch-split-loop"
