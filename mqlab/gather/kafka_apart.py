"""Sampling of Kafka in a process of its own, which is started anew when the client library has ended it.

librdkafka ends its process where the coordinator of a group goes while it is asked (its issues 3663 and 4605, seen with
2.16): the very moment for which somebody gathers.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path

from mqlab.gather.bundle import Bundle
from mqlab.gather.kafka import Cluster, connected
from mqlab.gather.kafka_sampling import Sampling
from mqlab.gather.schedule import Tick, Wanted

_ERRORS = "client.err"
"""What the library says last, while files are gathered."""


class Apart:
    """Asks a cluster at every tick, as ``Sampling`` does."""

    def __init__(self, reached: Mapping[str, str], wanted: Wanted, bundle: Bundle) -> None:
        """Nothing is started yet; *reached* is what ``client_config`` says."""
        self._reached, self._wanted, self._bundle = dict(reached), wanted, bundle
        self._process: SpawnProcess | None = None
        self._line: Connection | None = None

    def __call__(self, tick: Tick) -> None:
        """Ask everything once; that the library ended the process is noted, and the next tick begins anew."""
        line = self._line or self._started()
        try:
            line.send((tick, self._bundle.manifest))
            self._bundle.manifest.become(line.recv())
        except (EOFError, OSError):
            self.end()
            said = self._errors.read_text("utf-8", "replace").strip().split("\n")[-1]
            reason = "the client library ended; it was started anew" + (f" ({said})" if said else "")
            self._bundle.manifest.failed("cluster and topics", reason)
            self._bundle.count()
        except BaseException:
            self.end()
            raise
        if tick.last:
            self.end()

    def end(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
        if self._line is not None:
            self._line.close()
        self._process = self._line = None

    @property
    def _errors(self) -> Path:
        return self._bundle.partial / _ERRORS

    def _started(self) -> Connection:
        context = get_context("spawn")
        self._line, theirs = context.Pipe()
        told = (theirs, self._reached, self._wanted, self._bundle, self._errors)
        self._process = context.Process(target=_serve, args=told, daemon=True)
        self._process.start()
        theirs.close()
        return self._line


def _serve(line: Connection, reached: Mapping[str, str], wanted: Wanted, bundle: Bundle, errors: Path) -> None:
    """Sample at every tick that comes in, until the other side has gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes of a terminal
    os.dup2(os.open(errors, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 2)
    sampling = Sampling(Cluster(connected(reached, bundle.manifest), wanted, bundle.manifest), bundle)
    while True:
        try:
            tick, manifest = line.recv()
        except EOFError:
            return
        bundle.manifest.become(manifest)
        sampling(tick)
        line.send(bundle.manifest)
