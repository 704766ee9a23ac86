"""Other users of the machine: they get no token, no way into Spark, and mqlab trusts nothing that they left behind."""

import copy
import json
import os
import socket
import stat
import struct
import subprocess
import sys
from types import SimpleNamespace

import psutil
import pytest

from mqlab.cache import owner, storage, workspace
from mqlab.errors import WarmSessionError, WorkspaceError
from mqlab.spark import jvm, relay, session, warm

NOBODY = 65534
SECOND_USER = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user")
LISTENING = """
import os, socket, sys
os.setuid(int(sys.argv[2]))
listener = socket.socket(); listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(("127.0.0.1", int(sys.argv[1]))); listener.listen()
print(listener.getsockname()[1], flush=True)
connection, _ = listener.accept()
connection.settimeout(20)
try:
    got = connection.recv(99)
    connection.sendall(got)
except OSError as error:
    got = repr(error).encode()
print(got.decode(), flush=True)
"""


@pytest.fixture
def listening():
    """Start a process that listens for one connection, sends back what it gets and prints it; gives it and its port."""
    started = []

    def start(port=0, uid=None):
        words = [sys.executable, "-c", LISTENING, str(port), str(os.geteuid() if uid is None else uid)]
        started.append(subprocess.Popen(words, stdout=subprocess.PIPE, text=True))
        return started[-1], int(started[-1].stdout.readline())

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    monkeypatch.setattr(relay, "PROOF", 0.3)
    monkeypatch.setattr(relay, "port_to", relay.port_to.__wrapped__)


def answer(port, sent=b"token"):
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        try:
            connection.sendall(sent)
            return connection.recv(99)
        except ConnectionError:
            return b""


def test_what_is_sent_reaches_the_process_that_is_meant_and_comes_back(listening):
    server, port = listening()

    assert answer(relay.port_to(server.pid, port)) == b"token"
    assert server.stdout.readline() == "token\n"


@pytest.mark.parametrize("uid", [None, pytest.param(NOBODY, marks=SECOND_USER)])
def test_whoever_took_the_port_of_a_server_gets_nothing(listening, uid):
    server, port = listening()
    way = relay.port_to(server.pid, port)
    server.kill()
    server.wait()
    impostor, _ = listening(port, uid)

    assert answer(way) == b""
    assert impostor.stdout.readline() == "\n"


@pytest.mark.parametrize("uid", [None, pytest.param(NOBODY, marks=SECOND_USER)])
def test_whoever_listens_where_a_server_that_lives_does_not_gets_nothing(listening, uid):
    server, _ = listening()
    impostor, port = listening(uid=uid)

    assert answer(relay.port_to(server.pid, port)) == b""
    assert impostor.stdout.readline() == "\n"


@SECOND_USER
def test_a_process_of_another_user_is_no_server_even_where_its_number_is_written_down(listening):
    impostor, port = listening(uid=NOBODY)

    assert answer(relay.port_to(impostor.pid, port)) == b""
    assert impostor.stdout.readline() == "\n"


def test_a_channel_of_spark_connect_takes_that_way_and_no_other(listening):
    server, _ = listening()
    impostor, port = listening()
    known = warm.Server(server.pid, port, "token", "4.3.0", 0.0, 0)
    channel = copy.deepcopy(known.channel())

    assert channel.endpoint.startswith("ipv4:127.0.0.1:")
    assert channel.endpoint != f"ipv4:127.0.0.1:{port}"
    assert channel.token == "token"
    assert not warm._answers(known)
    assert impostor.stdout.readline() == "\n"


def test_nobody_else_may_use_the_way_to_the_server(listening):
    server, port = listening()
    way = relay.port_to(server.pid, port)
    asking = f"import socket; c = socket.create_connection(('127.0.0.1', {way})); c.sendall(b'x'); print(c.recv(9))"
    other = subprocess.run([sys.executable, "-c", asking], capture_output=True, text=True, check=False)

    assert "b'x'" not in other.stdout
    assert server.poll() is None


def test_no_port_of_spark_takes_a_java_object_from_whoever_does_not_know_its_secret(spark):
    (driver,) = psutil.Process(jvm._kept[0].process.pid).children()
    gateway = spark.sparkContext._gateway.gateway_parameters.port
    listening = {one.laddr.port for one in driver.net_connections("tcp") if one.status == psutil.CONN_LISTEN}
    manager = b"HeartbeatReceiver"
    call = b"\0\1" + struct.pack(">H9siH", 9, b"127.0.0.1", 1, len(manager)) + manager + b"\xac\xed\0\5sr\0\x01X"
    said = []
    for port in listening - {gateway}:
        with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
            connection.sendall(struct.pack(">qBqI", 21 + len(call), 3, 1, len(call)) + call)
            said.append(connection.recv(1 << 16))

    assert ["Expected SaslMessage" in answer.decode("latin-1") for answer in said] == [True, True]


def test_sparks_own_file_cannot_open_a_spark_that_runs_here_to_others(monkeypatch, tmp_path):
    given = {"spark.authenticate": "false", "spark.driver.bindAddress": "0.0.0.0", "spark.ui.enabled": "true"}
    monkeypatch.setattr(session, "defaults", lambda: given)
    monkeypatch.setattr(session, "_here", lambda builder, _: builder._options)
    monkeypatch.setattr(session, "_ours", lambda made: made)

    assert session.spark_session(master="local[1]", cache=tmp_path).items() >= jvm.CLOSED.items()


@pytest.fixture
def planted(tmp_path):
    """A folder with these mode bits, of this user or of another one."""

    def make(mode=0o700, uid=None, name="planted"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "file").write_text("{}")
        folder.chmod(mode)
        if uid is not None:
            os.chown(folder, uid, uid)
        return folder

    return make


def refused(folder):
    with pytest.raises(WorkspaceError) as error:
        workspace.cache_folder(str(folder))
    assert error.value.exit_code == 64
    return str(error.value)


@SECOND_USER
def test_a_workspace_of_another_user_is_refused_also_behind_a_link_and_as_a_uri(planted, tmp_path):
    folder = planted(mode=0o777, uid=NOBODY)
    link = tmp_path / "link"
    link.symlink_to(folder)
    whole = (
        f"The workspace {folder} cannot be used: it belongs to nobody, and mqlab trusts only what belongs to root. "
        "Give another one with --workspace or MQLAB_WORKSPACE."
    )

    assert refused(folder) == whole
    assert "it belongs to nobody" in refused(link)
    assert "it belongs to nobody" in refused(f"file://{folder}")


@SECOND_USER
def test_a_link_of_another_user_is_refused_wherever_it_leads(planted, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(planted())
    os.chown(link, NOBODY, NOBODY, follow_symlinks=False)

    assert "it belongs to nobody" in refused(link)


def test_a_workspace_made_by_another_user_is_refused(planted, monkeypatch):
    folder = planted()
    monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 12_345)

    assert "and mqlab trusts only what belongs to" in refused(folder)


@pytest.mark.parametrize("mode", [0o777, 0o702, 0o1777])
def test_a_workspace_into_which_everybody_may_write_is_refused(planted, mode):
    assert "other users can write there (`chmod go-w` takes that from them)" in refused(planted(mode))


@pytest.mark.parametrize(
    ("members", "name", "fits"),
    [([], "me", True), (["me"], "me", True), (["me", "you"], "me", False), ([], "users", False)],
)
def test_a_group_may_write_into_a_workspace_only_where_it_is_the_users_alone(planted, monkeypatch, members, name, fits):
    monkeypatch.setattr(owner.pwd, "getpwuid", lambda _: SimpleNamespace(pw_name="me"))
    monkeypatch.setattr(owner.grp, "getgrgid", lambda _: SimpleNamespace(gr_name=name, gr_mem=members))
    folder = planted(0o770)

    assert (owner.objection(folder) is None) == fits
    assert owner.is_trusted(folder / "file") == fits


@pytest.mark.parametrize("mode", [0o700, 0o755, 0o750])
def test_a_workspace_that_others_may_read_is_taken(planted, mode):
    assert workspace.cache_folder(str(planted(mode))).name == "planted"


@SECOND_USER
def test_what_another_user_left_in_the_cache_is_neither_read_nor_run(planted, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    planted(name="mqlab")
    archives = jvm.archives(jvm.java())
    for file in archives:
        file.write_bytes(b"planted")
    assert jvm.sharing(jvm.java())

    os.chown(archives[-1], NOBODY, NOBODY)
    assert jvm.sharing(jvm.java()) == []
    assert storage.get(archives[-1]) is None
    assert not owner.is_trusted(archives[-1])


def test_a_link_in_the_workspace_is_not_followed(planted, tmp_path):
    folder = planted()
    (tmp_path / "elsewhere").write_text("{}")
    (folder / "entry").symlink_to(tmp_path / "elsewhere")

    assert (storage.get(folder / "file"), storage.get(folder / "entry")) == (b"{}", None)


@SECOND_USER
def test_another_user_sees_nothing_of_a_workspace(tmp_path):
    made = workspace.cache_folder(str(tmp_path / "made"))
    with workspace.scratch(made) as scratch:
        modes = [stat.S_IMODE(folder.stat().st_mode) for folder in (made, scratch, workspace.temporary(made))]

    assert modes == [0o700] * 3
    assert subprocess.run(["ls", made], user=NOBODY, capture_output=True, check=False).returncode != 0


@SECOND_USER
def test_a_session_folder_of_another_user_is_refused(planted, tmp_path):
    planted(uid=NOBODY, name="session")

    with pytest.raises(WarmSessionError, match="it belongs to nobody"):
        warm.stop(tmp_path)


@SECOND_USER
def test_a_server_that_another_user_wrote_down_is_not_stopped(planted, tmp_path):
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)", warm._CLASS]) as other:
        file = planted(name="session") / "server.json"
        known = {"host": "127.0.0.1", "port": 1, "pid": other.pid, "token": "x", "spark_version": warm.SPARK_VERSION}
        file.write_text(json.dumps(known))
        os.chown(file, NOBODY, NOBODY)

        assert not warm.stop(tmp_path)
        assert other.poll() is None
        assert not file.exists()
        other.kill()
