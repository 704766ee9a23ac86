"""No secret of the material leaves it: not on the screen, not in JSON, not in evidence, not in the workspace."""

import gzip
import io
import json
import stat
import tarfile
from dataclasses import asdict
from pathlib import Path

import pyarrow.parquet
import pytest
from secret_forms import forms
from test_secrets import SEEDED

from mqlab import jsonout, screen
from mqlab.capture import open_capture
from mqlab.material.context import shown
from mqlab.tables import EVENTS, SETTINGS

pytestmark = pytest.mark.slow

SAMPLE = Path(__file__).parents[1] / "data" / "samples" / "kafka-amp-17"
ONE_LINE = [text for text in SEEDED if "\n" not in text]
ALONE = ("my own", "remote_password ", "password_file ")
"""Kinds that only a line of their own gives away."""


def value(number, where):
    return f"s3cr3tVal{where}{number:03d}q7"


def seeded(where, *, alone=False):
    """Each kind of secret, with a value of its own; *alone* where each is a line."""
    kinds = [text for text in ONE_LINE if alone or not any(mark in text for mark in ALONE)]
    return [text.replace("{}", value(n, where)).replace("{{", "{").replace("}}", "}") for n, text in enumerate(kinds)]


def client_log():
    """A real client's log with secrets in warnings, in stack traces and in the settings that it prints."""
    lines = (SAMPLE / "clients" / "bridge.log").read_text().splitlines()
    head = "2026-11-21 12:20:50,000 {} [main] net.fleetworks.bridge.BridgeMain - "
    warned = [head.format("WARN ") + text for text in seeded("warn")]
    failed = [head.format("ERROR") + f"send to t failed, source=a payload=1 bytes: {text}" for text in seeded("fail")]
    traced = [f"Caused by: java.lang.IllegalStateException: {text}" for text in seeded("trace")]
    split = [f"{lines[82]} {text}" for text in seeded("split")]
    return "\n".join(
        [
            *lines[:20],
            *(f"\t{text}" for text in seeded("block", alone=True) if "synonyms" not in text),
            *lines[20:],
            *warned,
            *failed,
            *traced,
            *split,
        ]
    )


def metrics():
    """A JSON document whose labels hold secrets."""
    series = [
        {"metric": {"__name__": "up", "instance": f"h-{n}:1", "note": text}, "values": [[1795263520 + n, "0"]]}
        for n, text in enumerate(seeded("label"))
    ]
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": series}})


def refused():
    return json.dumps({"status": "error", "errorType": "bad_data", "error": " ".join(seeded("answer"))})


def of_forms(where):
    """All forms of secrets in one text."""
    return "\n\n".join(form.text for form in forms(where))


PLANTED = [
    value for where in ("properties", "yml", "txt", "log", "docker") for one in forms(where) for value in one.planted
]


@pytest.fixture(scope="module")
def kept(spark, tmp_path_factory):
    """(workspace, capture) of material with a secret in every place that is read."""
    assert spark is not None
    folder, workspace = tmp_path_factory.mktemp("material"), tmp_path_factory.mktemp("workspace")
    described = (SAMPLE / "configs" / "topic-configs-describe.txt").read_text()
    envelope = [
        json.dumps({"log": f"{t}\n", "stream": "stdout", "time": "2026-11-21T12:20:50Z"}) for t in seeded("docker")
    ]
    contents = {
        "clients/bridge.log": client_log(),
        "configs/producer.properties": "\n".join(
            ["bootstrap.servers=b:9092", "acks=all", *seeded("properties", alone=True)]
        ),
        "configs/topic-configs-describe.txt": described
        + "\n".join(f"  {text}" for text in seeded("describe", alone=True)),
        "metrics/up.json": metrics(),
        "metrics/refused.json": refused(),
        "notes.txt": "\n".join(["what we did", *seeded("notes", alone=True)]),
        "unknown.conf": "\n".join(seeded("conf", alone=True)),
        "docker.log": "\n".join(envelope),
        "configs/forms.properties": "acks=all\nlinger.ms=5\n" + of_forms("properties"),
        "configs/forms.yml": of_forms("yml"),
        "forms.txt": of_forms("txt"),
        "forms.log": client_log() + "\n" + of_forms("log"),
        "forms-docker.log": "\n".join(
            json.dumps({"log": f"{line}\n", "stream": "stdout", "time": "2026-11-21T12:20:50Z"})
            for line in (client_log() + "\n" + of_forms("docker")).split("\n")
        ),
        "incident.yml": "title: Outage\nimpact: somebody pasted password=s3cr3tValnotes\n",
        "svc.json": json.dumps({str(n): text for n, text in enumerate(seeded("json"))}),
        "half.json": metrics().replace("label", "half")[:-40],
    }
    for name, content in contents.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content)
    with tarfile.open(folder / "bundle.tar.gz", "w:gz") as archive:
        data = client_log().replace("s3cr3tVal", "s3cr3tValPacked").encode()
        info = tarfile.TarInfo("logs/packed.log")
        info.size = len(data)
        archive.addfile(info, io.BytesIO(data))
    (folder / "cut.log.gz").write_bytes(gzip.compress(client_log().encode())[:-200])
    return workspace, open_capture(folder, workspace=str(workspace))


def leaked(text):
    """What of the secrets *text* holds, with some of what stands around."""
    found, start = [], 0
    while (start := text.find("s3cr3tVal", start)) >= 0:
        found.append(text[max(0, start - 60) : start + 40])
        start += 9
    return found + [value for value in PLANTED if value in text]


def test_screen_and_json_hold_no_secret(kept):
    _, capture = kept

    assert leaked(screen.screen(capture.diagnosis, ["x"], why=True)) == []
    assert leaked(jsonout.dumps(capture.diagnosis)) == []


def test_facts_and_tables_hold_no_secret(kept):
    _, capture = kept

    assert leaked(json.dumps(asdict(capture.facts), default=str, ensure_ascii=False)) == []
    assert leaked(repr(capture.table(EVENTS).collect())) == []
    assert leaked(repr(capture.table(SETTINGS).collect())) == []


def test_evidence_with_context_holds_no_secret(kept):
    _, capture = kept
    with capture.readable() as sources:
        text = "".join(shown(finding, sources, 400) for finding in capture.diagnosis.findings)

    assert "[masked]" in text
    assert leaked(text) == []


def test_the_workspace_holds_no_secret(kept):
    workspace, capture = kept
    found, parquet = {}, 0
    for file in workspace.rglob("*"):
        if not file.is_file() or file.suffix == ".jsa" or file.is_symlink():
            continue
        content = file.read_bytes()
        text = (gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content).decode("utf-8", "replace")
        if file.suffix == ".parquet":
            parquet += 1
            text += repr(pyarrow.parquet.read_table(file).to_pylist())
        if leaked(text):
            found[str(file)] = leaked(text)[:9]

    assert parquet > 0
    assert found == {}
    assert capture.diagnosis.material.files >= 11


def test_nothing_unpacked_stays_and_nobody_else_may_look(kept):
    workspace, capture = kept
    entries = [p for p in workspace.iterdir() if p.is_dir()]

    assert any(s.path == "bundle.tar.gz!/logs/packed.log" for s in capture.sources)
    assert [p.name for p in workspace.rglob("*") if p.name in ("unpacked", "stdin")] == []
    assert {stat.S_IMODE(p.stat().st_mode) for p in entries} == {0o700}
