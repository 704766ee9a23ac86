"""What mqlab wrote beside the material is no material."""

import json

import pytest

from mqlab import report
from mqlab.bundled import filled, notebooks
from mqlab.formats import mqlab_output
from mqlab.formats.base import Head, Line, Noise

SCREEN = """\
CRITICAL  session-timeout  PROVEN        group billing
c-1 was expelled: "removing member c-1 on heartbeat expiration".
STATUS   ended 12:23:16
COVERED  2 files, 4.3 kB, 19 lines = 16 data + 3 noise + 0 rejected; 0 unrecognised
         CLEAR 51 | no RocketMQ material
CLOCKS   UTC: 2 logs
NEXT     mqlab report . -o report.html
         mqlab show F1 .     exit code 2 with --exit-code
"""
LOG = "[2024-05-01 12:18:43,427] ERROR Uncaught exception (kafka.server.KafkaApis)\n"


def is_known(text: str) -> bool:
    return mqlab_output.recognise(Head("anything", text, len(text)))


def page() -> str:
    return report._FIRST.read_text(encoding="utf-8").replace("POLICY", "default-src 'none'") + "<html lang='en'>"


def opened() -> str:
    notebook = json.loads((notebooks() / "00_triage.ipynb").read_bytes())
    filled(notebook, {"paths": ["."]})
    return json.dumps(notebook, indent=1)


@pytest.mark.parametrize("schema", ["diagnosis/2", "comparison/1", "audit/1", "history/1"])
def test_its_json_is_known(schema):
    assert is_known(json.dumps({"schema": f"mqlab.{schema}", "version": "0.1.0"}, indent=2))


@pytest.mark.parametrize("text", [page(), SCREEN, SCREEN.rstrip("\n")], ids=["report", "screen", "screen without end"])
def test_what_a_person_reads_is_known(text):
    assert is_known(text)


def test_a_notebook_that_was_opened_is_known():
    assert is_known(opened())


@pytest.mark.parametrize(
    "text",
    [
        '{"schema": "mqlab.capture/1", "system": "kafka"}',
        '{"schema": "other.diagnosis/2"}',
        '<!DOCTYPE html>\n<meta charset="utf-8">\n<meta name="generator" content="Confluence">',
        '{"cells": [{"source": "import pandas"}], "nbformat": 4}',
        SCREEN + LOG,
        LOG + SCREEN,
        f"said by mqlab.open_capture('.'):\n{LOG}",
    ],
    ids=["capture", "other tool", "other page", "other notebook", "log below", "log above", "log that names it"],
)
def test_what_others_wrote_is_not(text):
    assert not is_known(text)


def test_no_line_of_it_is_data():
    lines = [Line(1, "CRITICAL  session-timeout"), Line(3, LOG)]
    assert list(mqlab_output.parse(iter(lines), None)) == [Noise(line) for line in lines]
