"""Runs that are killed at any moment, and runs at once: the workspace is none the worse for it."""

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from workspace_material import copied

import mqlab
from mqlab import jsonout
from mqlab.cache import reading, workspace
from mqlab.capture import open_capture

PATIENCE = 300
"""Seconds to wait for what a process does next, on however slow a machine."""
HELD = f"""
import time
from mqlab.cache import entries
from mqlab.cli import main
entries.store = lambda *_: time.sleep({PATIENCE})
main()
"""


@pytest.fixture
def started(tmp_path):
    """Start ``mqlab triage`` on a small material as a process group of its own, *held* before its entry is written."""
    copied(tmp_path / "m")
    running = []
    environment = os.environ | {"PYTHONPATH": str(Path(mqlab.__file__).parents[1])}

    def start(*, held=False):
        program = ["-c", HELD] if held else ["-m", "mqlab.cli"]
        command = [sys.executable, *program, "triage", "m", "--format", "json", "--workspace", "w"]
        running.append(
            subprocess.Popen(
                command, cwd=tmp_path, env=environment, process_group=0, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
        )
        return running[-1]

    yield start
    for process in running:
        kill(process)


def kill(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    process.communicate()


def seen(process, condition):
    """Wait until *condition* holds, and say whether it did before the process ended."""
    until = time.monotonic() + PATIENCE
    while not condition() and process.poll() is None and time.monotonic() < until:
        time.sleep(0.01)
    return process.poll() is None


def untouched(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return jsonout.dumps(open_capture("m", workspace=str(tmp_path / "untouched")).diagnosis)


@pytest.mark.slow
def test_runs_killed_on_their_way_leave_nothing_that_the_next_one_takes_for_a_result(
    spark, started, tmp_path, monkeypatch
):
    assert spark is not None
    cache, killed = tmp_path / "w", []
    moments = {
        "files are gathered": lambda: any(cache.glob("preparing-*/*")),
        "rows are written": lambda: any(cache.glob("scan-*/rows/*/*.parquet")),
        "the index is written": lambda: any(cache.glob("scan-*/index.json")),
    }
    for moment, reached in moments.items():
        process = started(held=True)
        if seen(process, reached):
            killed.append(moment)
        kill(process)
        entries = list(cache.glob("material-*"))
    whole = [batch.parent for batch in cache.glob("scan-*/index.json")]
    out, errors = started().communicate(timeout=PATIENCE)

    assert (killed, entries) == (list(moments), [])
    assert (errors, out.decode()) == (b"", untouched(tmp_path, monkeypatch))
    assert len(whole) == 1
    assert [folder.name for folder in cache.glob("scan-*")] == [whole[0].name]
    assert [left.name for left in (*cache.glob("preparing-*"), *cache.glob("using-*"))] == []


@pytest.mark.slow
def test_two_runs_at_once_say_the_same_as_one_alone(spark, started, tmp_path, monkeypatch):
    assert spark is not None
    results = [process.communicate(timeout=PATIENCE) for process in (started(), started())]

    assert results == [(untouched(tmp_path, monkeypatch).encode(), b"")] * 2
    assert len(list((tmp_path / "w").glob("material-*"))) == 1


def test_what_a_dead_process_left_goes_and_what_a_living_one_uses_stays(tmp_path):
    names = [tmp_path / f"{kind}-{workspace._host()}-{process}-abc" for process in (999_999_999, os.getpid())
             for kind in ("preparing", "using")]  # fmt: skip
    for folder in names:
        folder.mkdir()
        (folder / "scan-1").write_text("password=x")
    with workspace.scratch(tmp_path) as fresh:
        reading.tidy(tmp_path)
        assert [folder.exists() for folder in (*names, fresh)] == [False, False, True, True, True]
        assert stat.S_IMODE(fresh.stat().st_mode) == 0o700
    assert not fresh.exists()


@pytest.mark.parametrize("holds", [True, False])
def test_a_batch_that_somebody_is_writing_is_left_alone(tmp_path, holds):
    (tmp_path / "scan-1" / "rows").mkdir(parents=True)
    hold = workspace.Hold(tmp_path)
    if holds:
        hold.add("scan-1")
    reading.tidy(tmp_path)
    there = (tmp_path / "scan-1").exists()
    hold.release()
    reading.tidy(tmp_path)

    assert (there, (tmp_path / "scan-1").exists()) == (holds, False)
