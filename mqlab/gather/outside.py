"""Logs that others keep, fetched through their own programs: ``kubectl logs`` and ``journalctl``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from tempfile import TemporaryFile
from typing import IO

from mqlab.gather.bundle import Bundle
from mqlab.gather.manifest import iso
from mqlab.gather.programs import FAILED, ran
from mqlab.gather.schedule import Tick

READS = (("kubectl", "get", "pods"), ("kubectl", "logs"), ("journalctl",))
"""How every command begins that is run here; none of them changes anything."""
_PATIENCE = 300.0
"""Seconds after which a command is ended."""


@dataclass(slots=True)
class Pods:
    """Logs of pods, of the containers before their last restart too; at the first tick and at the last."""

    bundle: Bundle
    where: str
    """``namespace`` or ``namespace/selector``: ``kafka/strimzi.io/kind=Kafka``."""
    since: float
    """Epoch seconds."""

    def __call__(self, tick: Tick) -> None:
        """Fetch the logs of every pod."""
        if not (tick.first or tick.last):
            return
        namespace, _, selector = self.where.partition("/")
        chosen = ("--selector", selector) if selector else ()
        names: list[str] = []
        with self.bundle.manifest.asking(f"pods {self.where}", *FAILED):
            listed = ("kubectl", "get", "pods", "--namespace", namespace, *chosen, "--output", "name")
            names = _run(listed).decode("utf-8", "replace").split()
        for name in names:
            self._logs(namespace, name.removeprefix("pod/"), tick)

    def _logs(self, namespace: str, pod: str, tick: Tick) -> None:
        asked = ("kubectl", "logs", pod, "--namespace", namespace, "--all-containers", "--prefix", "--timestamps",
                 "--since-time", iso(datetime.fromtimestamp(self.since, UTC)))  # fmt: skip
        with self.bundle.manifest.asking(f"logs of pods {self.where}", *FAILED):
            _copied(self.bundle, f"kubernetes/{namespace}/{pod}.log", asked)
        if tick.first:  # kubectl fails where no container of the pod was restarted
            try:
                _copied(self.bundle, f"kubernetes/{namespace}/{pod}.previous.log", (*asked, "--previous"))
            except FAILED:
                return


@dataclass(slots=True)
class Journal:
    """The journal of one unit; at the first tick and at the last."""

    bundle: Bundle
    unit: str
    since: float
    """Epoch seconds."""

    def __call__(self, tick: Tick) -> None:
        """Fetch it from *since* on."""
        if not (tick.first or tick.last):
            return
        asked = ("journalctl", "--unit", self.unit, "--since", f"@{int(self.since)}", "--output", "short-iso-precise",
                 "--utc", "--no-pager", "--quiet")  # fmt: skip
        with self.bundle.manifest.asking(f"journal of {self.unit}", *FAILED):
            _copied(self.bundle, f"journal/{self.unit}.log", asked)


def _run(command: Sequence[str], into: IO[bytes] | None = None) -> bytes:
    """What a command prints, where it does not go *into* a file.

    Raises:
        OSError, SubprocessError, ValueError: it is not there, fails, or does not end.
    """
    if not any(tuple(command[: len(begin)]) == begin for begin in READS):
        raise ValueError(f"{command} is not run like that here")
    done = ran(command, _PATIENCE, into)
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").split("\n")
        raise ValueError(next((line for line in reversed(said) if line.strip()), f"exit code {done.returncode}"))
    return done.stdout


def _copied(bundle: Bundle, name: str, command: Sequence[str]) -> None:
    """Put what a command prints into the bundle; a log may be large, so that it never stands in memory."""
    with TemporaryFile(dir=bundle.partial) as printed:
        _run(command, printed)
        printed.seek(0)
        if printed.read(1):
            printed.seek(0)
            bundle.copy(name, printed)
