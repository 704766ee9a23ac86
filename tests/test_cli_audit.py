"""``mqlab audit`` as people meet it: the screen, the JSON, the exit code."""

import json
import sys
from datetime import UTC
from types import SimpleNamespace

import pytest
from audit_builder import FAILOVER, SETTINGS_ONLY

from mqlab import cli
from mqlab.delivery import audit
from mqlab.facts import Facts
from mqlab.screens.audit import audit_screen
from mqlab.verdict import diagnose
from mqlab.views.audit_json import dumps, nothing


@pytest.fixture
def run(monkeypatch, capfdbinary):
    """Run the command line inside this process on drawn audits; gives (exit code, output)."""

    def running(*arguments, found=(FAILOVER,)):
        monkeypatch.setattr(
            cli, "opened", lambda **_: (SimpleNamespace(facts=Facts(), diagnosis=diagnose(Facts())), UTC)
        )
        monkeypatch.setattr(audit, "audits", lambda _: found)
        monkeypatch.setattr(sys, "argv", ["mqlab", "audit", "some.log", *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        return ended.value.code, capfdbinary.readouterr()[0].decode()

    return running


def test_the_screen_is_printed_without_colours_in_a_pipe(run):
    assert run() == (0, audit_screen((FAILOVER,)))


def test_json_is_asked_for_by_its_format(run):
    code, out = run("--format", "json")
    assert (code, out) == (0, dumps((FAILOVER,)))


def test_the_result_can_go_to_a_file(run, tmp_path):
    assert run("-o", str(tmp_path / "audit.txt")) == (0, "")
    assert (tmp_path / "audit.txt").read_text(encoding="utf-8") == audit_screen((FAILOVER,))


@pytest.mark.parametrize(("found", "code"), [((FAILOVER,), 2), ((SETTINGS_ONLY,), 1), ((), 1)])
def test_the_exit_code_is_asked_for(run, found, code):
    assert run("--exit-code", found=found)[0] == code


def test_material_of_something_else_says_so_in_text_and_json(run):
    because = nothing(Facts())
    assert run(found=()) == (0, f"{because}\n")
    assert json.loads(run("--format", "json", found=())[1]) == {
        "schema": "mqlab.audit/1",
        "topics": [],
        "because": because,
        "risks": [],
    }
