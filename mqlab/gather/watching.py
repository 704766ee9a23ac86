"""`--watch`: the bundle is diagnosed again and again while it grows, and a verdict that is new is told.

The diagnosis is a process of its own, so that nothing that it does delays a sampling or ends a capture.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryFile
from types import TracebackType
from typing import IO, Any, Self

from mqlab.gather.bundle import Bundle
from mqlab.gather.manifest import iso, now
from mqlab.gather.programs import end
from mqlab.gather.schedule import Tick


@dataclass(slots=True)
class Watch:
    """Asked last at every tick: tells what a diagnosis that has ended says, and begins the next one."""

    bundle: Bundle
    tell: Callable[[str], None]
    process: subprocess.Popen[bytes] | None = None
    printed: IO[bytes] = field(default_factory=TemporaryFile)
    said: str | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()
        self.printed.close()

    def __call__(self, tick: Tick) -> None:  # noqa: ARG002 - whatever tick it is
        """Tell what a diagnosis that has ended says, and begin the next one."""
        self._ended()
        if self.process is None and self.bundle.manifest.files:
            self._begin(self.bundle.folder)

    def conclude(self, place: Path) -> None:
        """Wait for the verdict of the whole bundle, which lies at *place*."""
        self._end()
        self._begin(place)
        if self.process:
            self.process.wait()
        self._ended()

    def _end(self) -> None:
        if self.process and self.process.poll() is None:
            end(self.process)

    def _begin(self, place: Path) -> None:
        command = [sys.executable, "-P", "-m", "mqlab.cli", "triage", str(place), "--format", "json"]
        self.printed.seek(0)
        self.printed.truncate()
        # A session of its own: Ctrl-C is for the capture, which ends the diagnosis itself.
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=self.printed, stderr=subprocess.DEVNULL, start_new_session=True
        )

    def _ended(self) -> None:
        if self.process is None or self.process.poll() is None:
            return
        self.process = None
        self.printed.seek(0)
        try:
            said = verdict(json.loads(self.printed.read()))
        except ValueError:
            said = "no verdict: the diagnosis failed, `mqlab triage` on the bundle says why"
        if said != self.said:
            self.said = said
            with suppress(OSError):  # nobody reads it any more, and the capture goes on
                self.tell(f"{iso(now())} {said}")


def verdict(diagnosis: Mapping[str, Any]) -> str:
    """What a diagnosis says first, and how many findings it has beside it."""
    first = diagnosis["verdict"]
    certainty = f" ({first['certainty']})" if first.get("certainty") else ""
    others = [one["id"] for one in diagnosis["findings"] if one["incident"] != first["incident"]]
    also = f"; also {', '.join(others)}" if others else ""
    return f"{first['incident']}{certainty}: {first['statement']}{also}"
