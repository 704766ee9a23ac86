"""Plug-ins of a team's own: tried, in force for as long as they are named, and never able to break a run."""

import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

import mqlab
from mqlab import plugins
from mqlab.cache import dependence
from mqlab.catalogue import INCIDENTS
from mqlab.cli import commands
from mqlab.commands import commands as known_commands
from mqlab.detectors import BUILT_IN, DETECTORS
from mqlab.errors import PluginError
from mqlab.formats.registry import BY_NAME
from mqlab.known_errors import known_errors, words
from mqlab.plugin_check import here
from mqlab.plugin_check.cases import check
from mqlab.plugin_faults import taken
from mqlab.verdict import diagnose

DOCS = Path(__file__).parents[1] / "docs" / "plugins.md"
EXAMPLE = Path(here.__file__).parent / "example"


@pytest.fixture(autouse=True)
def _without_plugins():
    yield
    plugins.use(())


@pytest.fixture
def relay(tmp_path):
    """A plug-in that may be changed: the example."""
    return Path(shutil.copytree(EXAMPLE, tmp_path / "relay"))


def changed(folder, file, before, after):
    text = (folder / file).read_text()
    assert before in text
    (folder / file).write_text(text.replace(before, after))


def wrong(folder):
    return {one.what: one.wrong for one in check(str(folder)) if one.wrong}


def diagnosed(folder, sample, tmp_path):
    taken([str(folder)])
    return diagnose(here.opened([EXAMPLE / "samples" / sample], tmp_path / "scratch"))


def test_the_example_that_the_docs_show_holds():
    assert wrong(EXAMPLE) == {}


def test_the_docs_show_the_example_as_it_is():
    shown = re.findall(r"```(?:python|toml)\n(.*?)```", DOCS.read_text(), re.DOTALL)
    files = [file.read_text() for file in EXAMPLE.rglob("*") if file.suffix in (".py", ".toml")]

    assert len(shown) >= 5
    assert [part for part in shown if not any(part in file for file in files)] == []


def test_listings_hold_what_plugins_add_and_let_it_go():
    taken([str(EXAMPLE)])

    assert {"outbox-stuck", "outbox-locked"} <= {rule.INCIDENT for rule in DETECTORS}
    assert BY_NAME["relay-log"].FORMAT.software == "relay"
    assert INCIDENTS["outbox-stuck"].commands == (known_commands()["relay-log"], known_commands()["relay-status"])
    assert INCIDENTS["outbox-locked"].mechanism == INCIDENTS["outbox-locked"].what
    assert "relay-outbox-locked" in known_errors()
    assert "outbox-holds" in words()

    plugins.use(())
    assert tuple(DETECTORS) == BUILT_IN
    assert "relay-log" not in BY_NAME
    assert not {"outbox-stuck", "relay-outbox-locked", "outbox-holds"} & {*INCIDENTS, *known_errors(), *words()}


@pytest.mark.parametrize(
    ("file", "before", "after", "told"),
    [
        ("formats/relay_log.py", "SIGNATURES = (", "SIGNATURES = ((", "relay_log.py, line 16 .*SyntaxError"),
        ("formats/relay_log.py", "FORMAT = Spec", "FORMATS = Spec", "relay_log.py .*it has no FORMAT = Spec"),
        ("formats/relay_log.py", '"relay-log"', '"kafka-broker-log"', "there is a format kafka-broker-log already"),
        ("formats/relay_log.py", "(?P<value>", "(?P<payments>", "outbox-holds names payments, which are not columns"),
        ("formats/relay_log.py", "def recognise", "def recognize", "it has no function recognise"),
        ("formats/relay_status.py", "(EVENTS,)", "(LEDGER,)", "relay_status.py, line 13 .*NameError"),
        ("detectors/outbox_stuck.py", '"outbox-stuck"', '"outbox"', "INCIDENT is 'outbox', which is not a class"),
        ("detectors/outbox_stuck.py", '"outbox-stuck"', '"slow-consumer"', "slow-consumer has a rule already"),
        ("detectors/outbox_stuck.py", "units import counted", "units import countet", "line 12 .*countet"),
        (
            "catalogue.toml",
            "title =",
            "tytle =",
            "catalogue.toml, line 3 .*tytle, which is not a field: did you mean title",
        ),
        ("catalogue.toml", '"relay-status"]', '"relay-state"]', "outbox-stuck fetches relay-state, which no commands"),
        ("catalogue.toml", "[outbox-locked]", "[disk-full]", "line 17 .*disk-full is a name of mqlab's own"),
        ("catalogue.toml", '"outbox-stuck"]', '"nothing"]', "outbox-locked may bring nothing, which is not a class"),
        ("known_errors.toml", "means =", "#", "known_errors.toml, line 3 .*relay-outbox-locked lacks means"),
        ("known_errors.toml", "begins = 'Outbox", "begins = '(Outbox", "a regex of relay-outbox-locked is none"),
        ("known_errors.toml", '"outbox-locked"', '"slow-consumer"', "slow-consumer .* is told by other evidence"),
        ("commands.toml", 'why = "What', "why = 3 #", "commands.toml, line 3 .*why of relay-log must be a text"),
        ("events.toml", "outbox-empty =", "outbox-empty = 3 #", "outbox-empty must be a text"),
        ("events.toml", "outbox-empty =", "outbox empty =", "events.toml .*it is not valid TOML: .*line 4"),
    ],
)
def test_a_broken_plugin_is_told_by_file_and_line(relay, file, before, after, told):
    changed(relay, file, before, after)

    with pytest.raises(PluginError, match=told):
        taken([str(relay)])
    assert plugins.in_force() == ()


@pytest.mark.parametrize("name", ["nowhere-at-all", "json", "a name; that is none"])
def test_what_is_no_plugin_is_said_in_a_sentence_with_64(name):
    done = CliRunner().invoke(commands, ["formats", "--plugins", name], standalone_mode=False)

    assert isinstance(done.exception, PluginError)
    assert done.exception.exit_code == 64
    assert str(done.exception).endswith("Correct it, or leave it out of --plugins.")


def test_plugins_come_from_the_option_or_else_the_environment(monkeypatch):
    monkeypatch.setenv(plugins.VARIABLE, f"{EXAMPLE}:other")

    assert plugins.named(()) == (str(EXAMPLE), "other")
    assert plugins.named(("mine",)) == ("mine",)


def test_a_package_that_python_finds_is_a_plugin(relay, monkeypatch):
    (relay / "__init__.py").write_text("raise RuntimeError('nothing is run that is not needed')\n")
    monkeypatch.syspath_prepend(str(relay.parent))

    assert plugins.read("relay").folder == str(relay)


def test_modules_of_a_plugin_may_share_code_of_their_own(relay):
    (relay / "shared.py").write_text("NAME = 'relay-log'\n")
    changed(
        relay,
        "formats/relay_log.py",
        'FORMAT = Spec(\n    "relay-log"',
        "from ..shared import NAME\nFORMAT = Spec(\n    NAME",
    )
    taken([str(relay)])

    assert "relay-log" in BY_NAME


def test_rows_depend_on_what_makes_them_and_on_no_rule(relay):
    def version():
        taken([str(relay)])
        return dependence.version(dependence.READING)

    first = version()
    assert first != dependence.own(dependence.READING, Path(mqlab.__file__).parent)

    changed(relay, "detectors/outbox_stuck.py", "LOOKS = 3", "LOOKS = 4")
    assert version() == first

    changed(relay, "formats/relay_log.py", "Outbox is empty", "Outbox is quite empty")
    assert version() != first


def test_a_rule_that_raises_is_a_class_that_was_not_checked(relay, tmp_path):
    changed(relay, "detectors/outbox_stuck.py", "    said = [", "    facts.nothing\n    said = [")
    (missing,) = [one for one in diagnosed(relay, "stuck.log", tmp_path).not_checked if one.incident == "outbox-stuck"]

    assert missing.missing[0].startswith("an answer of the plug-in's rule, which failed: AttributeError")
    assert "outbox_stuck.py, line 26" in missing.missing[0]


def test_a_finding_without_evidence_is_none(relay, tmp_path):
    changed(
        relay,
        "detectors/outbox_stuck.py",
        'evidence=(first.first.because("the outbox begins to grow"), last.last.because("it still grows"))',
        "evidence=()",
    )
    told = diagnosed(relay, "stuck.log", tmp_path)

    assert told.findings == ()
    assert "has no evidence" in "; ".join(what for one in told.not_checked for what in one.missing)


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ('float(row["holds"])', 'row["holds"]', "value of events must be double, not '0'"),
        ("yield Noise(line)", "pass", None),
        (
            "if row := _ROW",
            "if line.number > 2 and 1 / 0:\n            pass\n        elif row := _ROW",
            "ZeroDivisionError",
        ),
    ],
)
def test_a_format_that_fails_leaves_lines_that_are_not_understood_and_says_why(relay, tmp_path, before, after, told):
    changed(relay, "formats/relay_status.py", before, after)
    taken([str(relay)])
    sample = EXAMPLE / "samples" / "relayctl-status.20261122T100500Z.txt"
    (source,), _, facts = here.read([sample], tmp_path / "scratch")
    (seen,) = facts.coverage

    assert seen.lines == seen.data + seen.noise + seen.rejected == 3
    assert seen.rejected > 0
    assert (told or "") in (source.problem or "")
    assert bool(source.problem) == bool(told)


SPOILT = (
    ("samples/cases.toml", "payments = 5120", "payments = 5121"),
    ("samples/deploy.log", "Outbox is empty", "Outbox was quiet"),
    ("samples/cases.toml", "value = 9800, times = 1", "value = 9800, times = 2"),
    ("samples/cases.toml", 'found = "outbox-locked"', "# "),
    ("samples/cases.toml", 'format = "relay-status"', ""),
    ("detectors/outbox_stuck.py", "Quiet:", "Silent:"),
    ("catalogue.toml", 'verify = "The relay says', 'verify = "" # "'),
    ("known_errors.toml", 'look_alike = "2026', '# "'),
    ("known_errors.toml", "begins = 'Outbox is", "begins = '\\[SocketServer [^\\]]*\\]|Outbox was"),
    ("formats/relay_log.py", 'any(" relay-"', 'any(True or " relay-"'),
    ("formats/relay_log.py", 'or " Forwarded " in line', "or True"),
)


@pytest.fixture(scope="module")
def spoilt(tmp_path_factory):
    """What the check says of a plug-in in which much is wrong."""
    folder = Path(shutil.copytree(EXAMPLE, tmp_path_factory.mktemp("spoilt") / "relay"))
    for file, before, after in SPOILT:
        changed(folder, file, before, after)
    return wrong(folder)


@pytest.mark.parametrize(
    ("what", "told"),
    [
        ("case an outbox that only grows", "payments of outbox-stuck is 5120.0, not 5121"),
        ("case a deploy, after which it is empty", "outbox-stuck is found: relay-2 forwards nothing"),
        ("case relayctl status", "0 rows with table events, kind outbox-holds"),
        ("class outbox-locked has a case", 'none with found = "outbox-locked" in samples/cases.toml'),
        ("format relay-status has a case", 'none with format = "relay-status" in samples/cases.toml'),
        ("rule outbox-stuck says what it is", "its docstring lacks Quiet:"),
        ("class outbox-locked is described", "verify is empty"),
        ("known error relay-outbox-locked leaves its look-alike alone", "it has no look_alike"),
        ("known error relay-outbox-locked tells its sample", "the sample is no line that mqlab knows"),
        ("mqlab's own lines stay what they are", "error:relay-outbox-locked takes: [2026-"),
        ("format relay-log takes no file of another's", "it takes: "),
    ],
)
def test_the_check_names_what_is_wrong(spoilt, what, told):
    assert spoilt[what].startswith(told)


def test_a_new_plugin_holds_at_once_and_the_check_ends_with_1_for_one_that_does_not(tmp_path):
    def run(*words):
        return CliRunner().invoke(commands, ["plugin", *map(str, words)], standalone_mode=False)

    mine = tmp_path / "mine"
    assert run("new", mine).output.endswith(f"mqlab plugin check {mine}\n")
    assert "already exists" in str(run("new", mine).exception)

    done = run("check", mine)
    assert (done.return_value, done.output.splitlines()[-1][:4]) == (0, "All ")

    (mine / "samples" / "stuck.log").write_text("2026-11-22 10:00:01,002 INFO  relay-2 Forwarded 200 payments\n")
    done = run("check", mine)
    assert done.return_value == 1
    assert "WRONG  case an outbox that only grows: 0 rows with " in done.output


def test_sparks_workers_read_with_the_plugins_and_forget_them(spark, tmp_path):
    assert spark is not None
    sample = EXAMPLE / "samples" / "stuck.log"
    capture = mqlab.open_capture(sample, plugins=str(EXAMPLE), workspace=str(tmp_path))

    assert capture.diagnosis.verdict.incident == "outbox-stuck"
    assert capture.sizes()["events"] == 5

    plain = mqlab.open_capture(sample, workspace=str(tmp_path))
    assert plain.diagnosis.verdict.incident == "undetermined"
    assert plain.sizes()["events"] == 0
    assert capture.where(until="2026-11-22T10:01:40Z").diagnosis.verdict.incident == "outbox-stuck"
