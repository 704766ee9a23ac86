"""``mqlab compare`` and ``mqlab history``: from folders and archives to a screen, JSON and a page."""

import json
import shutil
import sys
import tarfile
from pathlib import Path

import pytest

from mqlab import cli

SAMPLES = Path(__file__).parents[1] / "data" / "samples"
DENIED, HEALTHY = "mqtt-acl-01", "mqtt-overlap-03"


@pytest.fixture
def run(monkeypatch, capfdbinary, spark, tmp_path):
    """Run the command line inside this process; gives (exit code, output, errors)."""
    assert spark is not None

    def running(*arguments):
        monkeypatch.setenv("MQLAB_WORKSPACE", str(tmp_path / "workspace"))
        monkeypatch.setattr(sys, "argv", ["mqlab", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        out, err = capfdbinary.readouterr()
        return ended.value.code, out.decode(), err.decode()

    return running


@pytest.mark.slow
def test_incidents_of_a_folder_are_listed_and_two_of_them_compared(run, tmp_path):
    team = tmp_path / "team"
    shutil.copytree(SAMPLES / DENIED, team / "denied")
    (team / "denied" / "incident.yml").write_text("title: Agent B is silent\ndetected: 2026-11-21T11:45:00Z\n")
    with tarfile.open(team / "quiet.tar.gz", "w:gz") as archive:
        archive.add(SAMPLES / HEALTHY, "quiet")
    (team / "empty").mkdir()

    code, out, err = run("history", team)
    assert (code, err) == (0, "")
    assert "3 entries: 1 with an incident, 1 healthy, 1 that could not be read." in out
    assert "Agent B is silent" in out

    code, out, _ = run("compare", team / "denied", team / "quiet.tar.gz", "--format", "json")
    told = json.loads(out)
    assert (code, told["answer"]["kind"]) == (0, "not seen in B, which proves no repair")
    assert told["a"]["name"] == "Agent B is silent"

    code, out, _ = run("compare", team / "denied", team / "denied", "-o", tmp_path / "same.html")
    assert code == 0
    assert "no difference" in out
    assert (tmp_path / "same.html").read_text().startswith("<!DOCTYPE html>")


def test_a_folder_in_which_nothing_is_readable_ends_with_64_and_a_sentence(run, tmp_path):
    (tmp_path / "team" / "empty").mkdir(parents=True)

    code, out, err = run("history", tmp_path / "team")
    assert (code, out) == (64, "")
    assert err.startswith("mqlab: Nothing readable in")
