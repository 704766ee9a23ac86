"""However a run of the command line ends: one sentence, one exit code, and nothing of it left."""

import errno
import importlib
import logging
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import psutil
import pytest

import mqlab
from mqlab import endings
from mqlab.errors import LibraryError, LimitError, MqlabError
from mqlab.gather import schedule

BUSY = """
import subprocess, sys, tempfile, time
from mqlab.endings import process

def run():
    with tempfile.TemporaryDirectory(dir=".", prefix="work-"):
        child = subprocess.Popen(["sleep", "1000"], start_new_session=True)
        print(child.pid, flush=True)
        {wait}
process(run)
"""
WAITS = {
    "in a with": "time.sleep(1000)",
    "where an object is removed": (
        "Lost = type('Lost', (), {'__del__': lambda self: (print('in', flush=True), time.sleep(1))})\n"
        "        Lost()\n"
        "        time.sleep(1000)"
    ),
    "where nothing hears": (
        "import contextlib\n"
        "        while True:\n"
        "            with contextlib.suppress(BaseException):\n"
        "                time.sleep(1000)"
    ),
}
RESTARTED = """
import os, signal, threading
from mqlab.endings import process

def run():
    signal.siginterrupt(signal.SIGTERM, False)
    threading.Timer(0.3, print, ["waits"], {"flush": True}).start()
    try:
        os.read(os.pipe()[0], 1)
    finally:
        print("tidied", flush=True)
process(run)
"""
SENTENCES = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated", signal.SIGHUP: "the terminal was closed"}


def hear_all():
    """Below ``nohup`` one signal is ignored, and stays so."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture
def started(tmp_path):
    """Start a Python program in a folder of its own, or the command line with words."""
    running = []

    def start(*words, program=None, **how):
        environment = os.environ | {"PYTHONPATH": str(Path(mqlab.__file__).parents[1]), "TMPDIR": str(tmp_path)}
        command = [sys.executable, *(["-c", program] if program else ["-m", "mqlab", *map(str, words)])]
        told = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "cwd": tmp_path, "env": environment} | how
        running.append(subprocess.Popen(command, text=True, preexec_fn=hear_all, **told))
        return running[-1]

    yield start
    for process in running:
        if process.poll() is None:
            for each in (*psutil.Process(process.pid).children(recursive=True), process):
                each.kill()
        process.communicate()


def ended(process, tmp_path, child):
    """Exit code and errors of *process*, whether its child lives, and what it left."""
    _, errors = process.communicate(timeout=60)
    return process.returncode, errors, psutil.pid_exists(child), [p.name for p in tmp_path.iterdir()]


@pytest.mark.parametrize("number", SENTENCES)
@pytest.mark.parametrize("wait", ["in a with", "where an object is removed"])
def test_a_signal_ends_a_run_with_one_sentence_and_leaves_nothing(started, tmp_path, wait, number):
    process = started(program=BUSY.format(wait=WAITS[wait]))
    child = int(process.stdout.readline())
    if wait != "in a with":
        process.stdout.readline()
    process.send_signal(number)

    assert ended(process, tmp_path, child) == (128 + number, f"mqlab: {SENTENCES[number]}\n", False, [])


def test_a_signal_reaches_what_waits_again_after_the_handler_of_a_library(started):
    process = started(program=RESTARTED)
    process.stdout.readline()
    process.send_signal(signal.SIGTERM)

    assert (process.communicate(timeout=60), process.returncode) == (("tidied\n", "mqlab: terminated\n"), 143)


def test_a_second_signal_ends_at_once_what_does_not_hear_the_first(started, tmp_path):
    process = started(program=BUSY.format(wait=WAITS["where nothing hears"]))
    child = int(process.stdout.readline())
    process.send_signal(signal.SIGTERM)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)

    assert ended(process, tmp_path, child) == (143, "mqlab: terminated\n", False, [])


def test_a_signal_that_is_ignored_stays_ignored(started):
    program = "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)" + BUSY.format(wait=WAITS["in a with"])
    process = started(program=program)
    process.stdout.readline()
    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGTERM)

    assert (process.wait(60), process.stderr.read()) == (143, "mqlab: terminated\n")


def test_the_command_line_hears_signals_while_it_is_imported(started, tmp_path):
    process = started(
        program="import sys; sys.argv[1:] = ['triage', '.']; import mqlab.__main__ as m; print(1, flush=True); m.main()"
    )
    process.stdout.readline()
    time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=60)

    assert (process.returncode, errors, list(tmp_path.iterdir())) == (143, "mqlab: terminated\n", [])


@pytest.mark.parametrize(
    ("shell", "code", "errors"),
    [
        ("explain fan-out >&-", 64, "mqlab: Standard output is closed: give a file with -o, or leave it open.\n"),
        ("incidents >/dev/full", 64, "mqlab: Standard output cannot be written: No space left on device. Choose"),
        ("explain nothing <&- 2>&-", 64, ""),
        ("incidents | true", 0, ""),
        ("explain $(printf 'a\\033[2Jb')", 64, "mqlab: 'a\\x1b[2Jb' is neither a class of incident"),
        ("incidents --format $(printf 'a\\033[2Jb\\342\\200\\256')", 64, "Usage:"),
    ],
    ids=["closed", "full", "stderr", "pipe", "name", "usage"],
)
def test_streams_and_words_of_any_kind_give_one_sentence(tmp_path, shell, code, errors):
    environment = os.environ | {"PYTHONPATH": str(Path(mqlab.__file__).parents[1])}
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m mqlab {shell}"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )

    assert (done.returncode, done.stderr[: len(errors)]) == (code, errors)
    assert all(line.isprintable() for line in done.stderr.split("\n"))
    assert "Traceback" not in done.stderr


def test_a_folder_that_was_removed_is_one_sentence(started, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    program = "import os; os.rmdir(os.getcwd())\nfrom mqlab.__main__ import main\nmain()"
    process = started(program=program, cwd=gone)
    _, errors = process.communicate(timeout=60)

    assert (process.returncode, errors) == (
        64, "mqlab: The current folder was removed: change to another one and start again.\n",
    )  # fmt: skip


def chained(outer, inner):
    try:
        try:
            raise inner
        except type(inner) as error:
            raise outer from error
    except type(outer) as error:
        return error


@pytest.mark.parametrize(
    ("error", "begin"),
    [
        (OSError(errno.ENOSPC, "x", "/a/b"), "There is no space left for '/a/b': free some"),
        (OSError(errno.EMFILE, "x"), "Too many files are open at once: allow more"),
        (OSError(errno.ENAMETOOLONG, "x", "p" * 5000), f"A path is longer than this system allows for '{'p' * 100} …'"),
        (MemoryError(), "There is not enough memory: mqlab needs about 1 GB"),
        (RuntimeError("can't start new thread"), "No more processes or threads may be started"),
        (chained(ValueError("job aborted"), OSError(errno.EDQUOT, "x")), "There is no space left: free some"),
        (RuntimeError("java.io.IOException: No space left on device"), "There is no space left: free some"),
        (ImportError("libx.so: failed to map segment from shared object"), "There is not enough memory"),
    ],
)
def test_a_limit_of_the_machine_is_no_bug_wherever_it_is_met(error, begin):
    limit = LimitError.behind(error)

    assert isinstance(limit, MqlabError)
    assert str(limit).startswith(begin)


@pytest.mark.parametrize(
    "error",
    [
        KeyError("x"),
        OSError(errno.ENOENT, "x"),
        RuntimeError("too many partitions"),
        BlockingIOError(errno.EAGAIN, "write could not complete without blocking"),
        OSError(errno.EBADF, "Bad file descriptor"),
    ],
)
def test_what_is_about_no_limit_stays_a_bug(error):
    assert LimitError.behind(error) is None


def test_a_library_that_does_not_fit_is_a_sentence_and_no_bug(tmp_path, monkeypatch, capsys):
    (tmp_path / "pickyarrow.py").write_text("raise ImportError('pickyarrow requires NumPy 2.0 or newer, found 1.26.4')")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ImportError) as raised:
        importlib.import_module("pickyarrow")

    assert endings.told(raised.value) == 64
    assert capsys.readouterr().err == (
        "mqlab: A library that mqlab needs cannot be used: pickyarrow requires NumPy 2.0 or newer, found 1.26.4. "
        "Install mqlab in a new environment, so that pip chooses versions that fit together, or install the version "
        "that is named.\n"
    )


def test_what_mqlab_cannot_import_of_itself_stays_a_bug():
    with pytest.raises(ImportError) as raised:
        importlib.import_module("mqlab.nowhere")

    assert LibraryError.behind(raised.value) is None


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("through", [lambda stop: stop, lambda stop: chained(click.Abort(), stop)])
def test_a_signal_before_a_capture_gathers_is_called_by_its_own_name(number, through, capsys, monkeypatch):
    monkeypatch.setattr(endings.watch, "number", None)

    assert endings.told(through(schedule.Stopped(number))) == 128 + number
    assert capsys.readouterr().err == f"mqlab: {SENTENCES[number]}\n"


def test_what_libraries_log_of_a_signal_reaches_nobody(monkeypatch):
    monkeypatch.setattr(logging.root.manager, "disable", logging.NOTSET)

    with pytest.raises(KeyboardInterrupt):
        endings.Watch()._raise(signal.SIGINT, None)
    assert not logging.getLogger().isEnabledFor(logging.CRITICAL)
