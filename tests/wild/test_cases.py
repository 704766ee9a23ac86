"""What people paste is named: each case of the ``*.toml`` here gives its true class, and accuses nobody else."""

import tomllib
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from plain_reading import opened

from mqlab.findings import Severity
from mqlab.verdict import diagnose

CASES = {
    f"{path.stem}/{name}": case
    for path in sorted(Path(__file__).parent.glob("*.toml"))
    for name, case in tomllib.loads(path.read_text()).items()
}


@cache
def diagnosed(name):
    """The diagnosis of one paste; read once for all that is asked of it."""
    with TemporaryDirectory() as folder:
        paste = Path(folder) / CASES[name]["file"]
        paste.write_text(CASES[name]["text"])
        return diagnose(opened([paste], Path(folder) / "scratch"))


def met_first(name):
    """The classes that a reader meets first: the verdict's, all findings and the first two hypotheses."""
    told = diagnosed(name)
    hypotheses = [h.incident for h in told.verdict.hypotheses[:2]]
    return {told.verdict.incident, *(f.incident for f in told.findings), *hypotheses}


def case(name):
    """The case for a test; what is `missed` is expected to be, and why is told."""
    why = CASES[name].get("missed")
    return pytest.param(name, marks=pytest.mark.xfail(reason=why) if why else ())


@pytest.mark.parametrize("name", list(map(case, CASES)))
def test_the_true_class_is_a_finding_or_among_the_first_two_hypotheses(name):
    assert CASES[name]["truth"] in met_first(name)


@pytest.mark.parametrize("name", CASES)
def test_nothing_else_is_found_at_warning_or_above(name):
    loud = {finding.incident for finding in diagnosed(name).findings if finding.severity > Severity.NOTICE}

    assert loud <= {CASES[name]["truth"], *CASES[name].get("also", ())}


def everything_said(name):
    """Sentences of findings and hypotheses."""
    told = diagnosed(name)
    found = [text for f in told.findings for text in (f.statement, f.mitigate, f.remedy) if text]
    return " ".join([*found, *(text for h in told.verdict.hypotheses for text in h.explains)])


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if {"says", "hides"} & case.keys()])
def test_what_matters_is_said_and_what_misleads_is_not(name):
    said = everything_said(name)

    assert [words for words in CASES[name].get("says", ()) if words not in said] == []
    assert [words for words in CASES[name].get("hides", ()) if words in said] == []
