"""What is gathered beside a broker's own answers."""

import gzip
import json
import os
import threading
import time
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest
import zstandard

from mqlab.gather import prometheus
from mqlab.gather.bundle import Bundle
from mqlab.gather.files import Files
from mqlab.gather.manifest import Manifest
from mqlab.gather.outside import Journal, Pods
from mqlab.gather.prometheus import Prometheus, Scrapes
from mqlab.gather.schedule import Tick

AT = datetime(2026, 11, 22, 10, 0, tzinfo=UTC)
ONLY = Tick(AT, True, True)
BYTES_IN = "kafka_server_brokertopicmetrics_bytesin_total"


@pytest.fixture
def bundle(tmp_path):
    return Bundle(tmp_path / "b", Manifest("kafka", {}))


def gathered(bundle):
    """Names and texts of the files of a bundle, and its manifest."""
    files = (p for p in bundle.folder.rglob("*") if p.is_file() and bundle.partial not in p.parents)
    texts = {str(p.relative_to(bundle.folder)): p for p in files}
    texts.pop("manifest.json")
    bundle.note()
    return {name: path.read_bytes() for name, path in texts.items()}, json.loads(
        (bundle.folder / "manifest.json").read_text()
    )


def failures(bundle):
    return [one["because"] for one in gathered(bundle)[1]["questions"] if one["failed"]]


class Answers(BaseHTTPRequestHandler):
    """Prometheus and an exporter; what they are asked is kept."""

    def do_GET(self):
        self.server.asked.append((self.path, self.headers.get("Authorization")))
        path = urlsplit(self.path).path
        if path == "/api/v1/label/__name__/values":
            text = json.dumps({"status": "success", "data": ["up", BYTES_IN, "go_goroutines"]})
        elif path == "/api/v1/query_range":
            text = json.dumps({"status": "success", "data": {"resultType": "matrix", "result": []}})
        elif path == "/metrics":
            text = "up 1\n"
        else:
            return self.send_error(404)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(text.encode())
        return None

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        server.asked = []
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def address(server, user=""):
    return f"http://{user}127.0.0.1:{server.server_port}"


def test_of_prometheus_the_series_are_fetched_that_mqlab_knows(bundle, server):
    Prometheus(bundle, address(server), time.time() - 3600, match='cluster="east"', token="t0k3n")(ONLY)
    files, _ = gathered(bundle)
    assert sorted(name.split(".")[0] for name in files) == [f"metrics/{BYTES_IN}", "metrics/up"]
    queries = [parse_qs(urlsplit(path).query) for path, _ in server.asked]
    assert queries[0]["match[]"] == ['{cluster="east"}']
    assert queries[1]["query"] == ['up{cluster="east"}']
    assert {authorization for _, authorization in server.asked} == {"Bearer t0k3n"}
    assert failures(bundle) == []


def test_a_long_window_is_asked_for_in_larger_steps(bundle, server):
    Prometheus(bundle, address(server), time.time() - 30 * 86400)(ONLY)
    assert parse_qs(urlsplit(server.asked[-1][0]).query)["step"] == ["260"]


def test_pages_show_the_moment_at_which_they_were_read_and_tell_the_clock(bundle, server, monkeypatch):
    scrapes = Scrapes(bundle, [f"{address(server, 'u:p@')}/metrics", f"{address(server)}/gone"])
    for at, tick in ((AT, Tick(AT, True, False)), (AT.replace(second=10), Tick(AT.replace(second=4), False, True))):
        monkeypatch.setattr(prometheus, "now", lambda at=at: at)
        scrapes(tick)
    files, said = gathered(bundle)
    host = f"127.0.0.1-{server.server_port}"
    assert files == {f"metrics/{host}.20261122T1000{n}0Z.prom": b"up 1\n" for n in (0, 1)}
    (clock,) = said["clocks"]
    low, high = clock["ahead_seconds"]
    assert low < 0.5
    assert high > -0.5
    assert low <= high
    assert server.asked[0][1] == "Basic dTpw"
    assert "u:p" not in json.dumps(said)
    assert failures(bundle) == ["HTTP 404 Not Found"]


@pytest.fixture
def logs(tmp_path):
    """A folder with a log, an old one, a compressed one, a pipe, and what is no text; the newest is the first."""
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "server.log").write_bytes(b"password=hunter2\n" + b"0123456789abcdef\n" * 60)
    (folder / "server.log.1.gz").write_bytes(gzip.compress(b"secret=hunter2\nolder\n"))
    (folder / "old.log").write_bytes(b"old\n")
    (folder / "store").write_bytes(b"\0" * 9)
    (folder / "all.tar").write_bytes(b"\0" * 257 + b"ustar" + b"\0" * 300)
    os.mkfifo(folder / "pipe")
    for age, name in enumerate(("server.log", "server.log.1.gz", "store", "all.tar")):
        os.utime(folder / name, (AT.timestamp() - age, AT.timestamp() - age))
    os.utime(folder / "old.log", (0, 0))
    return folder


def test_files_of_the_window_are_copied_without_their_secrets(bundle, logs):
    Files(bundle, [str(logs)], AT.timestamp() - 60, 1 << 20)(ONLY)
    files, said = gathered(bundle)
    (reasons,) = [one["reasons"] for one in said["questions"]]
    inside = f"files{logs}"
    assert sorted(files) == [f"{inside}/server.log", f"{inside}/server.log.1.zst"]
    assert files[f"{inside}/server.log"].startswith(b"password=[masked]\n0123")
    unpacked = zstandard.ZstdDecompressor().decompressobj().decompress(files[f"{inside}/server.log.1.zst"])
    assert unpacked == b"secret=[masked]\nolder\n"
    assert (bundle.folder / inside / "server.log").stat().st_mtime == AT.timestamp()
    assert reasons == [
        f"{logs}/store: it is not a text file",
        f"{logs}/all.tar: a tar archive is not opened: unpack it, and give the folder",
    ]


def test_of_a_log_that_is_too_large_the_end_is_copied_in_whole_lines(bundle, logs):
    Files(bundle, [str(logs / "server.log*")], AT.timestamp() - 60, 100)(ONLY)
    files, _ = gathered(bundle)
    assert files == {f"files{logs}/server.log": b"0123456789abcdef\n" * 5}
    assert failures(bundle) == [f"{logs}/server.log.1.gz: no room for it within 100 B"]


def test_what_grew_meanwhile_is_copied_again(bundle, logs):
    files = Files(bundle, [str(logs / "server.log")], 0, 1 << 20)
    files(Tick(AT, True, False))
    with (logs / "server.log").open("a") as log:
        log.write("more\n")
    files(Tick(AT, False, True))
    (text,) = gathered(bundle)[0].values()
    assert text.endswith(b"more\n")
    assert gathered(bundle)[1]["files"] == 1


def test_what_is_not_there_is_told(bundle):
    Files(bundle, ["/no/such/*.log"], 0, 100)(ONLY)
    assert failures(bundle) == ["there is no such file"]


@pytest.fixture
def programs(tmp_path, monkeypatch):
    """A ``kubectl`` and a ``journalctl`` that note how they are called."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "kubectl").write_text(
        f'#!/bin/sh\necho "kubectl $*" >> {tmp_path}/called\n'
        'case "$*" in *previous*) echo "Error: previous terminated container not found" >&2; exit 1;;\n'
        "get*) echo pod/kafka-0; echo pod/kafka-1;;\n"
        '*kafka-1*) echo "Error: forbidden" >&2; exit 1;;\n'
        "*) echo '[pod/kafka-0/kafka] 2026-11-22T10:00:00.000000000Z password=hunter2';;\nesac\n"
    )
    (folder / "journalctl").write_text(
        f'#!/bin/sh\necho "journalctl $*" >> {tmp_path}/called\necho "2026-11-22T10:00:00.000000+0000 h kafka[1]: up"\n'
    )
    for program in folder.iterdir():
        program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=os.pathsep)
    return tmp_path / "called"


def test_logs_of_pods_are_fetched_by_kubectl(bundle, programs):
    Pods(bundle, "east/app=kafka", AT.timestamp())(ONLY)
    files, _ = gathered(bundle)
    assert files == {
        "kubernetes/east/kafka-0.log": b"[pod/kafka-0/kafka] 2026-11-22T10:00:00.000000000Z password=[masked]\n"
    }
    assert failures(bundle) == ["Error: forbidden"]
    assert programs.read_text().split("\n")[:2] == [
        "kubectl get pods --namespace east --selector app=kafka --output name",
        "kubectl logs kafka-0 --namespace east --all-containers --prefix --timestamps "
        "--since-time 2026-11-22T10:00:00.000Z",
    ]


def test_a_journal_is_fetched_by_journalctl(bundle, programs):
    Journal(bundle, "kafka", AT.timestamp())(ONLY)
    assert gathered(bundle)[0] == {"journal/kafka.log": b"2026-11-22T10:00:00.000000+0000 h kafka[1]: up\n"}
    assert programs.read_text() == (
        f"journalctl --unit kafka --since @{int(AT.timestamp())} --output short-iso-precise --utc --no-pager --quiet\n"
    )
