"""Become a command that dies with its parent: ``python leash.py PARENT COMMAND…``.

Run by its path and with nothing but the standard library, so that it costs some milliseconds. Linux sends the signal
when the parent goes, whatever it died of (``prctl(2)``, PR_SET_PDEATHSIG); it survives ``execve``. Elsewhere a process
that was left over is found by the next lab in the same folder.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Ask for the signal, make sure that the parent was still there, and become the command."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != int(sys.argv[1]):
        sys.exit(1)
    os.execvp(sys.argv[2], sys.argv[2:])


if __name__ == "__main__":
    main()
