"""Programs that are run here, so that none of them, and nothing that they start, outlives the capture."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

FAILED = (OSError, subprocess.SubprocessError, ValueError)
"""What a program raises that is not there, fails or does not end."""
_PARTING = 5.0
"""Seconds in which a program that was asked to end may tidy up."""


def ran(
    command: Sequence[str],
    patience: float,
    into: IO[bytes] | None = None,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """What a command printed, where that does not go *into* a file, and its exit code.

    Raises:
        OSError, SubprocessError: it is not there, or does not end within *patience* seconds.
    """
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=into or subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder,
        env=environment, process_group=0,
    ) as process:  # fmt: skip
        try:
            printed, said = process.communicate(timeout=patience)
        except BaseException:
            end(process, signal.SIGKILL)
            raise
    return subprocess.CompletedProcess(command, process.returncode, printed or b"", said)


def end(process: subprocess.Popen[bytes], number: signal.Signals = signal.SIGTERM) -> None:
    """End a process that leads its group, and all others in it: a script would leave its Java behind."""
    for each in (number, signal.SIGKILL):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, each)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_PARTING)
