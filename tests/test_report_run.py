"""From a real capture to the page: Spark, notebooks and all."""

import json
from pathlib import Path

import pytest

from mqlab.capture import open_capture
from mqlab.report import render

SAMPLES = Path(__file__).parents[1] / "data" / "samples"
SAMPLE = SAMPLES / "kafka-amp-17"


@pytest.mark.slow
def test_the_report_of_a_sample_holds_what_its_notebooks_show(tmp_path):
    capture = open_capture(str(SAMPLE), workspace=str(tmp_path / "workspace"))

    page = render(capture, tmp_path / "report.html").read_text(encoding="utf-8")

    assert " stopped</h3>" not in page
    assert [
        title for title in ("When did traffic change?", "Where did the bytes come from?") if title not in page
    ] == []
    assert page.count('class="chart"') >= 7
    assert len(page.encode()) < 8_000_000
    assert json.loads((tmp_path / "report.findings.json").read_text())["verdict"]["incident"] == "batch-split-loop"


@pytest.mark.slow
def test_the_report_of_a_shared_client_id_shows_who_held_which_queue(tmp_path):
    capture = open_capture(str(SAMPLES / "rocketmq-dup-01"), workspace=str(tmp_path / "workspace"))

    page = render(capture, tmp_path / "report.html").read_text(encoding="utf-8")

    titles = (
        "Who was in the group, and with which client id?", "Who owns which queue?", "Where is the backlog?",
        "What if each process had its own client id?", "What did it cost?", "How long does the backlog take to drain?",
    )  # fmt: skip
    assert " stopped</h3>" not in page
    assert [title for title in titles if title not in page] == []
    assert "stood still; " in page
    assert len(page.encode()) < 8_000_000


@pytest.mark.slow
def test_the_report_of_late_polls_shows_members_triggers_and_what_would_have_been_enough(tmp_path):
    capture = open_capture(str(SAMPLES / "kafka-rebalance-01"), workspace=str(tmp_path / "workspace"))

    page = render(capture, tmp_path / "report.html").read_text(encoding="utf-8")

    titles = (
        "Who was in the group when, and how did each member leave?", "What triggered each rebalance?",
        "How long did polls take, and how long may they take?", "Which settings would have been enough?",
        "What if the settings had been different?", "How large is the lag, and how old?",
        "What did the rebalances cost?",
    )  # fmt: skip
    assert " stopped</h3>" not in page
    assert [title for title in titles if title not in page] == []
    assert "inferred: it rejoined after a poll timeout" in page
    assert len(page.encode()) < 8_000_000


@pytest.mark.slow
@pytest.mark.parametrize("sample", ["rocketmq-04", "kafka-amp-05"])
def test_the_notebook_about_queues_is_of_use_without_a_shared_id(tmp_path, sample):
    capture = open_capture(str(SAMPLES / sample), workspace=str(tmp_path / "workspace"))

    page = render(capture, tmp_path / "report.html", notebooks=["02_duplicate_client_ids"]).read_text(encoding="utf-8")

    assert " stopped</h3>" not in page
    assert "<h3>What if each process had its own client id?" not in page
    assert ("<h3>Who owns which queue?" in page) == sample.startswith("rocketmq")
    if not sample.startswith("rocketmq"):
        assert "no RocketMQ consumer group in this material" in page
