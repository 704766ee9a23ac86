"""The command line as people and scripts meet it: exit codes, one sentence on errors, results on standard output."""

import io
import json
import os
import signal
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest

from mqlab import __version__, capture, cli, jsonout, report
from mqlab.spark import jvm, session
from mqlab.verbs import material

SAMPLES = Path(__file__).parents[1] / "data" / "samples"
LEADING = str(SAMPLES / "kafka-amp-17")
BENIGN = str(SAMPLES / "kafka-amp-05")
WARNING = str(SAMPLES / "kafka-amp-07")


@pytest.fixture(scope="module")
def workspace(spark, tmp_path_factory):
    assert spark is not None
    return tmp_path_factory.mktemp("workspace")


@pytest.fixture
def run(monkeypatch, capfdbinary, workspace):
    """Run the command line inside this process; gives (exit code, output, errors)."""

    def running(*arguments):
        monkeypatch.setenv("MQLAB_WORKSPACE", str(workspace))
        monkeypatch.setattr(sys, "argv", ["mqlab", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        out, err = capfdbinary.readouterr()
        return ended.value.code, out.decode(), err.decode()

    return running


def test_the_version_is_printed(run):
    assert run("--version") == (0, f"mqlab, version {__version__}\n", "")


def test_formats_are_listed_and_incidents_of_which_each_has_a_rule(run):
    code, out, _ = run("formats")
    assert code == 0
    assert "prometheus-json" in out

    code, out, _ = run("incidents", "--format", "json")
    assert code == 0
    assert {one["incident"] for one in json.loads(out)["incidents"] if one["has_rule"]} >= {"batch-split-loop"}
    assert [one["incident"] for one in json.loads(out)["incidents"] if not one["has_rule"]] == []


def test_a_class_is_explained(run):
    code, out, _ = run("explain", "batch-split-loop")

    assert code == 0
    assert "batch-split-loop" in out


@pytest.mark.parametrize("system", ["kafka", "rocketmq", "mqtt"])
def test_a_checklist_names_commands(run, system):
    code, out, _ = run("checklist", system)

    assert code == 0
    assert len(out.splitlines()) > 5


@pytest.mark.parametrize(
    "arguments",
    [
        ("explain", "no-such-class"),
        ("triage",),
        ("triage", "nowhere-at-all"),
        ("triage", LEADING, "--tz", "Mars/Olympus"),
        ("triage", LEADING, "--log-tz", "*.log=Mars/Olympus"),
        ("triage", LEADING, "--since", "yesterday"),
        ("triage", LEADING, "--until", "12:00"),
        ("triage", LEADING, "--since", "2026-11-21T12:20:00Z", "--until", "2026-11-21T12:10:00Z"),
        ("triage", LEADING, "--format", "xml"),
        ("triage", LEADING, "--no-such-option"),
        ("triage", LEADING, "--workspace", "/proc/nowhere"),
        ("checklist", "rabbitmq"),
        ("demo", "--sample", "no-such-sample"),
        ("demo", "-o", "."),
        ("no-such-verb",),
    ],
)
def test_bad_usage_ends_with_64_and_a_sentence(run, arguments):
    code, out, err = run(*arguments)

    assert (code, out) == (64, "")
    assert err.strip()
    assert "Traceback" not in err


@pytest.mark.slow
def test_an_unknown_finding_names_those_that_are_known(run):
    code, _, err = run("show", "F9", BENIGN)

    assert code == 64
    assert "fan-out:brokers" in err


@pytest.mark.parametrize(("error", "code"), [(RuntimeError("boom"), 70), (KeyboardInterrupt(), 130)])
def test_a_bug_ends_with_70_and_an_interruption_with_130(run, monkeypatch, error, code):
    def broken(*_, **__):
        raise error

    monkeypatch.setattr(capture, "open_capture", broken)
    ended, out, err = run("triage", LEADING)

    assert (ended, out) == (code, "")
    assert ("Traceback" in err) == (code == 70)


def test_an_interruption_waits_until_the_jvm_answers():
    """A JVM that is left while it starts never ends."""
    before, done = signal.getsignal(signal.SIGINT), []

    def starting():
        with session._uninterrupted():
            os.kill(os.getpid(), signal.SIGINT)
            done.append("started")

    with pytest.raises(KeyboardInterrupt):
        starting()
    assert done == ["started"]
    assert signal.getsignal(signal.SIGINT) is before


def test_doctor_says_what_is_there(run):
    code, out, _ = run("doctor")

    assert code == 0
    assert {line.split()[0] for line in out.splitlines()} == {"java", "memory", "cache"}
    assert run("doctor", "--quiet") == (0, "", "")


def test_doctor_without_any_java_says_how_to_get_it(run, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert f"java    {jvm.bundled()} (" in run("doctor")[1]

    monkeypatch.setattr(jvm, "bundled", lambda: None)
    code, out, err = run("doctor")

    assert (code, out) == (64, "")
    assert len(err.strip().splitlines()) == 1
    assert all(word in err for word in ("Debian", "macOS", "conda"))


@pytest.mark.slow
@pytest.mark.parametrize(("sample", "code"), [(BENIGN, 0), (WARNING, 1), (LEADING, 2)])
def test_the_exit_code_tells_the_severity_only_when_asked(run, sample, code):
    assert run("triage", sample, "--exit-code")[0] == code
    assert run("triage", sample)[0] == 0


@pytest.mark.slow
def test_triage_prints_one_screen_and_nothing_else(run):
    _, out, err = run("triage", LEADING)

    assert out.startswith("CRITICAL  batch-split-loop  PROVEN ")
    assert "\x1b" not in out
    assert err == ""
    assert max(map(len, out.splitlines())) <= 118
    assert len(out.splitlines()) <= 40


@pytest.mark.slow
def test_triage_writes_to_a_file(run, tmp_path):
    target = tmp_path / "out.txt"

    assert run("triage", LEADING, "-o", target) == (0, "", "")
    assert target.read_text() == run("triage", LEADING)[1]
    code, _, err = run("triage", LEADING, "-o", tmp_path / "no" / "such" / "folder.txt")
    assert code == 64
    assert "Traceback" not in err


@pytest.mark.slow
def test_why_names_what_was_not_checked(run):
    _, out, _ = run("triage", LEADING, "--why")

    assert "not checked, missing" in out


@pytest.mark.slow
def test_show_prints_the_lines_around_the_evidence(run):
    code, out, _ = run("show", "F1", LEADING, "--lines", "2")

    assert code == 0
    assert "clients/bridge.log:83" in out
    assert "  >     83  2026-11-21 12:20:44,201 WARN" in out
    assert "        85  " in out
    assert run("show", "batch-split-loop", LEADING, "--lines", "2")[1] == out


STRING, NUMBER, BOOLEAN, LIST = str, (int, float), bool, list
MAYBE = (str, type(None))
FINDING = {
    "id": STRING, "incident": STRING, "severity": STRING, "certainty": STRING, "subject": STRING, "started_at": MAYBE,
    "ended_at": MAYBE, "ongoing": BOOLEAN, "over": BOOLEAN, "measures": dict, "evidence": LIST, "explains": LIST,
    "statement": STRING, "mitigate": STRING, "remedy": STRING, "verify": STRING,
}  # fmt: skip
MATERIAL = {
    "files": int, "bytes": int, "lines": int, "data_lines": int, "noise_lines": int, "rejected_lines": int,
    "unrecognised": LIST, "window": LIST, "time_zones": dict, "copies": dict,
}  # fmt: skip


def fits(value, shape):
    return set(value) == set(shape) and all(isinstance(value[key], kind) for key, kind in shape.items())


@pytest.mark.slow
@pytest.mark.parametrize("sample", [BENIGN, WARNING, LEADING])
def test_the_json_has_all_keys_and_types_of_its_schema(run, sample):
    found = json.loads(run("triage", sample, "--format", "json")[1])

    assert set(found) == {
        "schema", "version", "material", "verdict", "findings", "rejected", "clear", "not_checked", "changes",
    }  # fmt: skip
    assert (found["schema"], found["version"]) == (jsonout.SCHEMA, __version__)
    assert fits(found["material"], MATERIAL)
    verdict = {"incident": str, "certainty": MAYBE, "statement": str, "also": LIST, "hypotheses": LIST}
    assert fits(found["verdict"], verdict)
    assert [f["id"] for f in found["findings"] if not fits(f, FINDING)] == []
    assert all(isinstance(v, NUMBER) for f in found["findings"] for v in f["measures"].values())
    assert all({"source", "line", "text"} <= set(e) <= {"source", "line", "text", "pointer"}
               for f in found["findings"] for e in f["evidence"])  # fmt: skip
    assert all(f["severity"] in ("notice", "warning", "critical") for f in found["findings"])
    assert all(f["certainty"] in ("possible", "likely", "proven") for f in found["findings"])
    assert all(fits(r, {"incident": str, "because": str}) for r in found["rejected"])
    assert all(fits(n, {"incident": str, "missing": LIST, "fetch": LIST}) for n in found["not_checked"])
    assert all(set(c) == {"at", "what", "from", "to", "source", "line"} for c in found["changes"])
    assert set(found["verdict"]["also"]) <= {f["id"] for f in found["findings"]}
    assert datetime.fromisoformat(found["material"]["window"][0]) < datetime.fromisoformat(
        found["material"]["window"][1]
    )


@pytest.mark.slow
def test_since_and_until_narrow_what_is_looked_at(run):
    before = json.loads(run("triage", LEADING, "--format", "json", "--until", "2026-11-21T12:20:00Z")[1])
    after = json.loads(run("triage", LEADING, "--format", "json", "--since", "2026-11-21T13:23:30+01:00")[1])

    assert {f["incident"] for f in before["findings"] if f["severity"] != "notice"} == set()
    assert {f["incident"] for f in after["findings"] if f["severity"] != "notice"} == {"oversize-record-rejected"}


@pytest.mark.slow
def test_commands_that_lead_on_look_at_the_same(run):
    _, out, _ = run("triage", LEADING, "--since", "2026-11-21T12:23:00Z", "--log-tz", "*.log=UTC")
    assert f"mqlab show F1 {LEADING} --since 2026-11-21T12:23:00Z --log-tz '*.log=UTC'" in out


def test_the_zone_of_logs_and_the_zone_shown_are_options(run):
    log = f"{LEADING}/clients/bridge.log"
    tokyo = json.loads(run("triage", log, "--format", "json", "--log-tz", "*.log=Asia/Tokyo")[1])
    shown = run("triage", log, "--tz", "+08:00")[1]

    assert tokyo["material"]["time_zones"] == {"bridge.log": "Asia/Tokyo: given by --log-tz"}
    assert tokyo["findings"][0]["started_at"] == "2026-11-21T03:20:44.201Z"
    assert "20:20:44" in shown
    assert "12:20:44 first" not in shown


@pytest.mark.slow
def test_the_demo_shows_a_sample_and_writes_its_report_after_one_reading(run, tmp_path, monkeypatch):
    opened, read = [], capture.open_capture
    monkeypatch.setattr(
        capture, "open_capture", lambda *given, **chosen: opened.append(given) or read(*given, **chosen)
    )
    monkeypatch.setattr(report, "run", lambda *_: ())  # notebooks are tried elsewhere
    monkeypatch.chdir(tmp_path)
    code, out, err = run("demo")

    assert (code, err, opened) == (0, "", [(LEADING,)])
    said = out.removeprefix(run("triage", LEADING)[1])
    assert said.startswith(
        "\nThe report is mqlab-demo.html: open it in a browser. Its findings are also in mqlab-demo.findings.json."
    )
    assert {path.name for path in tmp_path.iterdir()} == {"mqlab-demo.html", "mqlab-demo.findings.json"}
    assert "batch-split-loop" in Path("mqlab-demo.html").read_text()
    assert run("demo")[0] == 0


@pytest.mark.parametrize("name", ["mqlab-demo.html", "mqlab-demo.findings.json"])
def test_the_demo_writes_over_nothing_that_mqlab_did_not_write(run, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    Path(name).write_text("mine")

    said = f"mqlab: {name} was not written by mqlab and stays as it is: choose another place with -o.\n"
    assert run("demo") == (64, "", said)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [(name, "mine")]


def test_options_of_notebooks_are_plain_strings():
    options = capture.Options(since="2026-11-21T12:00:00", log_tz=["UTC", "a/*=Asia/Tokyo", ("b", "+08:00")])

    assert options.zones() == (("*", "UTC"), ("a/*", "Asia/Tokyo"), ("b", "+08:00"))


@pytest.mark.slow
def test_a_reader_that_goes_away_is_no_error(workspace):
    """A process of its own, on what the workspace already holds: no Spark is started."""
    environment = os.environ | {"MQLAB_WORKSPACE": str(workspace)}
    command = f"{sys.executable} -m mqlab.cli triage {LEADING} --why | head -1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], env=environment, capture_output=True, text=True, check=False)

    assert done.stdout.splitlines()[0].startswith("CRITICAL")
    assert done.stdout.splitlines()[1] == "0"
    assert done.stderr == ""


def test_importing_the_command_line_starts_nothing():
    code = "import sys, mqlab.cli; print(sorted(m for m in ('pyspark', 'pandas', 'plotly') if m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"


def test_output_that_is_no_text_is_escaped(monkeypatch):
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", out)
    material.deliver("factor 15.1× \udcff\n", None)

    assert out.buffer.getvalue() == "factor 15.1× \\udcff\n".encode()
