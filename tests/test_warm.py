"""The warm session: one server, on loopback, with a token; what it answers is what a run of its own answers."""

import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from mqlab import capture
from mqlab.spark import session, warm

CAPTURE = Path(__file__).parents[1] / "data" / "samples" / "kafka-amp-05"


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    folder = tmp_path_factory.mktemp("warm")
    yield folder
    warm.stop(folder)


@pytest.fixture(scope="module")
def run(cache):
    """Run the command line in a process of its own with this cache; gives (exit code, output, errors)."""

    def running(*arguments, **environment):
        done = subprocess.run(
            [sys.executable, "-m", "mqlab.cli", *map(str, arguments)],
            env=os.environ | {"MQLAB_WORKSPACE": str(cache)} | environment,
            capture_output=True,
            timeout=300,
            check=False,
        )
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    return running


@pytest.fixture(scope="module")
def server(cache, run):
    code, out, err = run("session", "start")
    assert (code, err) == (0, "")
    assert out.startswith("started: pid ")
    return warm.answering(cache)


def listeners(pid):
    """Addresses on which the process listens."""
    known = psutil.Process(pid).net_connections("tcp")
    return {one.laddr.ip.removeprefix("::ffff:") for one in known if one.status == psutil.CONN_LISTEN}


@pytest.mark.parametrize("text", ["{", "[]", "null", '{"pid": 1, "port": 2}', '{"pid": "x", "port": 2, "token": 3}'])
def test_a_file_that_names_no_server_counts_as_none(tmp_path, text):
    (warm.folder(tmp_path) / "server.json").write_text(text)

    assert warm.found(tmp_path) is None
    assert not warm.stop(tmp_path)


def test_without_a_server_there_is_nothing_to_show_or_stop(tmp_path):
    assert warm.found(tmp_path) is None
    assert warm.answering(tmp_path) is None
    assert warm.stop(tmp_path) is False


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "{}", '{"pid": "x", "port": 1, "token": "t", "spark_version": "4"}']
)
def test_a_file_that_says_nothing_useful_counts_as_no_server(tmp_path, content):
    (warm.folder(tmp_path) / "server.json").write_text(content)

    assert warm.found(tmp_path) is None


def test_another_process_with_the_number_of_a_server_is_none(tmp_path):
    known = {"pid": os.getpid(), "port": 1, "token": "t", "spark_version": "4.3.0"}
    (warm.folder(tmp_path) / "server.json").write_text(json.dumps(known))

    assert warm.found(tmp_path) is None


@pytest.mark.slow
def test_starting_twice_is_harmless(run, server):
    assert run("session", "start") == (0, f"already running: pid {server.pid}, 127.0.0.1:{server.port}\n", "")


@pytest.mark.slow
def test_the_status_names_process_address_and_memory_but_not_the_token(run, server):
    code, out, _ = run("session", "status")

    shown = dict(line.split(maxsplit=1) for line in out.splitlines())
    assert code == 0
    assert shown["pid"] == str(server.pid)
    assert shown["address"] == f"127.0.0.1:{server.port}"
    assert shown["state"] == "answers"
    assert float(shown["memory"].split()[0]) > 100
    assert server.token not in out


@pytest.mark.slow
def test_only_this_user_and_this_machine_can_reach_it(cache, server):
    folder = cache / "session"

    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "server.json").stat().st_mode) == 0o600
    assert listeners(server.pid) == {"127.0.0.1"}
    others = stat.S_IRWXG | stat.S_IRWXO
    assert {path.name for path in folder.rglob("*") if path.lstat().st_mode & others} == set()
    assert (
        server.token
        not in subprocess.run(
            ["ps", "-ww", "-p", str(server.pid), "-o", "command="], capture_output=True, text=True, check=True
        ).stdout
    )


@pytest.mark.slow
@pytest.mark.usefixtures("server")
def test_a_triage_uses_it_by_itself_and_says_the_same(run, tmp_path):
    used = run("triage", CAPTURE, "--format", "json", "--workspace", tmp_path / "one")
    own = run("triage", CAPTURE, "--format", "json", "--workspace", tmp_path / "two", "--master", "local[*]")

    assert used == own
    assert used[0] == 0
    assert not (tmp_path / "one" / "jvm.log").exists()
    assert (tmp_path / "two" / "jvm.log").exists()


@pytest.mark.slow
def test_one_that_does_not_answer_is_left_alone_and_can_be_stopped_once_it_does(cache, run, server, tmp_path):
    os.kill(server.pid, signal.SIGSTOP)
    code, out, _ = run("session", "status")
    assert code == 1
    assert "does not answer" in out

    code, _, err = run("triage", CAPTURE, "--workspace", tmp_path)
    assert (code, err) == (0, "")
    assert (tmp_path / "jvm.log").exists()

    os.kill(server.pid, signal.SIGCONT)
    assert run("session", "stop") == (0, "stopped\n", "")
    assert run("session", "stop") == (0, "no warm session is running\n", "")
    assert warm.found(cache) is None


def test_a_session_of_this_process_is_used_and_no_warm_one(spark, monkeypatch, tmp_path):
    monkeypatch.setattr(warm, "answering", lambda _: pytest.fail("the warm session was asked for"))

    assert capture.open_capture(CAPTURE, workspace=str(tmp_path)).spark() is spark


class OnServer:
    """A session on a warm server that may be gone."""

    def __init__(self, gone):
        self.client, self.gone = SimpleNamespace(token="t"), gone

    def range(self, _):
        return self

    def collect(self):
        if self.gone:
            raise ConnectionError("Job cancelled because SparkContext was shut down")


@pytest.mark.parametrize(
    ("gone", "used", "stopped"), [(True, {"t"}, True), (False, {"t"}, False), (True, {"of somebody else"}, False)]
)
def test_a_warm_server_that_answers_no_more_is_given_up(monkeypatch, gone, used, stopped):
    monkeypatch.setattr(session, "_STOPPED", given_up := set())
    monkeypatch.setattr(session, "_USED", used)
    monkeypatch.setattr(session, "is_remote", lambda: True)
    monkeypatch.setattr(session.SparkSession, "getActiveSession", lambda: OnServer(gone))

    assert session.was_stopped() is stopped
    assert given_up == ({"t"} if stopped else set())


@pytest.mark.parametrize(("given", "stopped", "tried"), [("logs", True, 2), ("logs", False, 1), ("-", True, 1)])
def test_what_a_stopped_server_was_asked_is_asked_once_more_where_it_can_be_read_again(
    monkeypatch, given, stopped, tried
):
    told, desk = [], SimpleNamespace(progress=lambda _: None)

    def read(paths, _):
        told.append(paths)
        raise ConnectionError

    monkeypatch.setattr(capture.reading, "read", read)
    monkeypatch.setattr(capture, "was_stopped", lambda: stopped)
    with pytest.raises(ConnectionError):
        capture._read([given], desk)
    assert len(told) == tried
