"""A page as PDF, printed by a Chromium of this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from mqlab.errors import MqlabError
from mqlab.writing import whole

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
_SECONDS = 120
_DRAWING = 10_000
"""Milliseconds of the page's own time in which its figures are drawn."""


class NoBrowserError(MqlabError):
    """Nothing on this machine prints a page, or it failed."""


def wanted(out: Path) -> bool:
    """Whether *out* is to be a PDF."""
    return out.suffix.lower() == ".pdf"


def check(out: Path) -> None:
    """See that *out* can be printed, before any work is done.

    Raises:
        NoBrowserError: it is a PDF, and there is no Chromium.
    """
    if wanted(out):
        browser()


def browser() -> str:
    """The Chromium of this machine.

    Raises:
        NoBrowserError: there is none.
    """
    found = next((path for name in _NAMES if (path := shutil.which(name))), None)
    if found is None:
        raise NoBrowserError(
            "A PDF needs Chromium or Chrome, and there is none in PATH: install one, or write .html and print it "
            "from any browser."
        )
    return found


def print_page(page: str, out: Path) -> None:
    """Print the HTML *page* to the PDF *out*, on A4; beside it, since a Chromium in a snap sees no other folder.

    Raises:
        NoBrowserError: there is no Chromium, it took too long, or it printed nothing.
        CannotWriteError: there is no room or no right to write it.
    """
    sandbox = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    beside = out.parent.absolute()
    with whole(out) as new, tempfile.TemporaryDirectory(prefix=".mqlab-", dir=beside) as scratch:
        source, printed = Path(scratch) / "page.html", Path(scratch) / "page.pdf"
        source.write_text(page, encoding="utf-8", errors="replace")
        command = [
            browser(), "--headless", *sandbox, "--disable-gpu", "--no-first-run", f"--user-data-dir={scratch}/profile",
            "--no-pdf-header-footer", f"--virtual-time-budget={_DRAWING}", f"--print-to-pdf={printed}", source.as_uri(),
        ]  # fmt: skip
        try:
            subprocess.run(command, check=True, capture_output=True, timeout=_SECONDS)
        except subprocess.TimeoutExpired as error:
            raise NoBrowserError(f"{command[0]} did not print the page within {_SECONDS} s.") from error
        except (OSError, subprocess.CalledProcessError) as error:
            said = (getattr(error, "stderr", None) or b"").decode("utf-8", "replace").strip().splitlines()
            raise NoBrowserError(f"{command[0]} could not print the page: {said[-1] if said else error}.") from error
        if not printed.is_file():
            raise NoBrowserError(f"{command[0]} printed nothing.")
        shutil.copyfile(printed, new)
