# ruff: noqa: E501 - lines of supervisors stay in one piece
"""What supervisors, systemd and container runtimes say of processes."""

import pytest
from log_lines import kept, picked, read

from mqlab.formats import process_log
from mqlab.formats.base import Head

SUPERVISOR = "2026-11-21 23:48:08,387 "
# line, kind, value, reason
LINES = (
    (f"{SUPERVISOR}INFO spawned: 'thumb-3' with pid 9650", "process-started", None, "thumb-3"),
    (f"{SUPERVISOR}INFO exited: thumb-3 (exit status 1; not expected)", "process-exit", 1.0, "thumb-3"),
    (f"{SUPERVISOR}WARN exited: thumb-3 (exit status 1; not expected)", "process-exit", 1.0, "thumb-3"),
    (f"{SUPERVISOR}INFO exited: thumb-3 (exit status 0; expected)", "process-exit", 0.0, "thumb-3"),
    (f"{SUPERVISOR}INFO exited: thumb-3 (terminated by SIGKILL; not expected)", "process-exit", None, "thumb-3"),
    (f"{SUPERVISOR}INFO stopped: thumbs:thumb_00 (exit status 143)", "process-exit", 143.0, "thumb_00"),
    (f"{SUPERVISOR}INFO gave up: thumb-3 entered FATAL state, too many start retries too quickly",
     "process-given-up", None, "thumb-3"),
    ("Nov 22 00:23:42 Started dedup-3.service - Acme dedup-3.", "process-started", None, "dedup-3"),
    ("Nov 22 00:24:29 dedup-1.service: Main process exited, code=exited, status=1/FAILURE", "process-exit", 1.0, "dedup-1"),
    ("Nov 22 00:24:29 dedup-1.service: Main process exited, code=killed, status=15/TERM", "process-exit", 143.0, "dedup-1"),
    ("2026-11-21T12:21:28Z started bridge (start #1)", "process-started", None, "bridge"),
    ("2026-11-21T12:21:28Z bridge exited with status 3, restarting in 5 s", "process-exit", 3.0, "bridge"),
)  # fmt: skip
OTHERS = (
    f"{SUPERVISOR}INFO success: thumb-3 entered RUNNING state, process has stayed up for > than 1 seconds (startsecs)",
    f"{SUPERVISOR}INFO waiting for thumb-3 to stop",
    "Nov 22 00:24:30 dedup-1.service: Scheduled restart job, restart counter is at 1.",
)


def test_each_line_says_which_process_ended_how_or_began():
    _, events = read([line for line, *_ in LINES], process_log.FORMAT.name)
    assert picked(events, "kind value reason") == [tuple(expected) for _, *expected in LINES]


def test_they_are_kept_and_nothing_else():
    lines = [*(line for line, *_ in LINES), *OTHERS]
    assert kept(lines, process_log.FORMAT.name) == [True] * len(LINES) + [False] * len(OTHERS)


@pytest.mark.parametrize("lines", [LINES[:7], LINES[7:10], LINES[10:]], ids=["supervisord", "systemd", "a loop"])
def test_a_log_of_processes_is_recognised(lines):
    text = "\n".join(line for line, *_ in lines)
    assert process_log.recognise(Head("x.log", text, len(text)))


def test_a_log_of_an_application_that_starts_is_none():
    text = "\n".join([f"{SUPERVISOR}INFO worker starting", f"{SUPERVISOR}INFO processed 9 records in 0.1 s"])
    assert not process_log.recognise(Head("x.log", text, len(text)))
