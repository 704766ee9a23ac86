"""The lab's folder: what is left of a killed lab, and what it never touches."""

import os
import signal
import socket
import subprocess
import sys
import textwrap
from pathlib import Path

import psutil
import pytest

from mqlab.lab.errors import BusyError, LabError, TooLittleError
from mqlab.lab.home import Entry, Home
from mqlab.lab.processes import Command, Processes
from mqlab.lab.resources import check_ports, check_space, listening

SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]
ROOT = Path(__file__).parents[2]


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path / "lab")


def ended(pid):
    try:
        process = psutil.Process(pid)
        process.wait(10)
    except psutil.NoSuchProcess:
        return True
    except psutil.TimeoutExpired:
        return process.status() == psutil.STATUS_ZOMBIE
    return True


def test_what_a_lab_starts_it_stops(home):
    processes = Processes(home.made())
    pid = processes.start(Command("worker", SLEEP, home.work, home.work / "out")).pid
    assert [(entry.name, entry.alive) for entry in home.entries()] == [("worker", True)]
    processes.close()
    assert ended(pid)
    assert home.entries() == []


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells children that their parent died")
def test_children_die_with_a_lab_that_is_killed(home):
    code = f"""
        from pathlib import Path
        from mqlab.lab.home import Home
        from mqlab.lab.processes import Command, Processes
        home = Home(Path({str(home.root)!r})).made()
        child = Processes(home).start(Command("worker", {SLEEP!r}, home.work, home.work / "out"))
        print(child.pid, flush=True)
        import time; time.sleep(600)
    """
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    lab = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, text=True, env=env)
    pid = int(lab.stdout.readline())
    lab.send_signal(signal.SIGKILL)
    lab.wait()
    assert ended(pid)


def test_the_next_lab_ends_what_a_killed_one_left_and_nothing_else(home):
    left, other = (subprocess.Popen(SLEEP) for _ in range(2))
    try:
        home.made().note("left", left.pid, "sleep")
        home.note("other", other.pid, "sleep")
        lines = home.journal.read_text().splitlines()
        another_start = lines[1].replace(f'"started": {psutil.Process(other.pid).create_time()}', '"started": 1.0')
        home.journal.write_text(f'{lines[0]}\n{another_start}\n{{"name": "cut')
        with home.held() as swept:
            assert [entry.name for entry in swept] == ["left"]
        assert ended(left.pid)
        assert other.poll() is None
    finally:
        for process in (left, other):
            process.kill()
            process.wait()


def test_a_number_that_another_process_has_now_is_not_alive():
    assert not Entry("broker", os.getpid(), 1.0, "java").alive


def test_a_folder_that_is_held_is_not_held_twice(home):
    with home.held(), pytest.raises(BusyError, match=f"process {os.getpid()}"), Home(home.root).held():
        pass


def test_only_a_folder_of_a_lab_is_used_and_destroyed(tmp_path):
    (tmp_path / "mine").write_text("!")
    with pytest.raises(LabError, match="contains other files"):
        Home(tmp_path).made()
    with pytest.raises(LabError, match="nothing was removed"):
        Home(tmp_path).destroy()
    assert (tmp_path / "mine").exists()


def test_destroying_tells_how_much_that_was(home):
    (home.made().root / "jar").write_bytes(b"x" * 1000)
    assert home.destroy() >= 1000
    assert not home.root.exists()


def test_a_taken_port_is_named():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert listening(port)
        with pytest.raises(TooLittleError, match=f"Port {port} is in use"):
            check_ports([port])


def test_too_little_memory_is_told_before_anything_starts(tmp_path):
    with pytest.raises(TooLittleError, match=r"of memory and .* are free"):
        check_space(1e9, tmp_path)
