"""Sampling of Kafka in a process of its own, which is started anew when the client library has ended it.

librdkafka ends its process where the coordinator of a group goes while it is asked (its issues 3663 and 4605, seen with
2.16): the very moment for which somebody gathers. And only the end of its process keeps it from repeating a login that
was refused.
"""

from __future__ import annotations

import math
import os
import signal
from collections.abc import Mapping
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path
from threading import Lock
from time import monotonic, sleep

from mqlab.errors import MqlabError
from mqlab.gather.bundle import Bundle
from mqlab.gather.kafka import Cluster
from mqlab.gather.kafka_client import BETWEEN_TRIES, Client, Entrance
from mqlab.gather.kafka_sampling import Sampling
from mqlab.gather.manifest import Manifest
from mqlab.gather.schedule import RefusedError, Tick, Wanted

_ERRORS = "client.err"
"""What the library says last, while files are gathered."""


class Apart:
    """Asks a cluster at every tick, as ``Sampling`` does."""

    def __init__(self, reached: Mapping[str, str], wanted: Wanted, bundle: Bundle) -> None:
        """Nothing is started yet; *reached* is what ``client_config`` says."""
        self._reached, self._wanted, self._bundle = dict(reached), wanted, bundle
        self._process: SpawnProcess | None = None
        self._line: Connection | None = None
        self._ended = -math.inf

    def __call__(self, tick: Tick) -> None:
        """Ask everything once; that the library ended the process is noted, and the next tick begins anew.

        Raises:
            RefusedError: a login was refused, now or since the last tick.
            IncompleteError: the bundle cannot be written any more.
        """
        try:
            line = self._line or self._started()
        except OSError as error:
            self._bundle.manifest.failed("cluster and topics", f"no process can be started: {error.strerror}")
            return
        try:
            if not line.poll():
                line.send((tick, self._bundle.manifest))
            answer: Manifest | MqlabError = line.recv()
        except (EOFError, OSError):
            self._noted()
            return
        except BaseException:
            self.close()
            raise
        if isinstance(answer, MqlabError):
            self.close()
            self._bundle.count()
            raise answer
        self._bundle.manifest.become(answer)
        if tick.last:
            self.close()

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._ended = monotonic()
        if self._line is not None:
            self._line.close()
        self._process = self._line = None

    def _noted(self) -> None:
        self.close()
        said = self._errors.read_text("utf-8", "replace").strip().split("\n")[-1] if self._errors.exists() else ""
        reason = "the client library ended; it was started anew" + (f" ({said})" if said else "")
        self._bundle.manifest.failed("cluster and topics", reason)
        self._bundle.count()

    @property
    def _errors(self) -> Path:
        return self._bundle.partial / _ERRORS

    def _started(self) -> Connection:
        sleep(max(0.0, self._ended + BETWEEN_TRIES - monotonic()))  # a new process connects anew
        context = get_context("spawn")
        line, theirs = context.Pipe()
        told = (theirs, self._reached, self._wanted, self._bundle, self._errors)
        process = context.Process(target=_serve, args=told, daemon=True)
        with theirs:
            process.start()
        self._process, self._line = process, line
        return line


class _Answers:
    """What is sent back; a refusal comes from another thread than all else, and is the last."""

    def __init__(self, line: Connection) -> None:
        self._line, self._lock = line, Lock()

    def send(self, answer: Manifest | MqlabError) -> None:
        with self._lock:
            self._line.send(answer)

    def refused(self, because: str) -> None:
        """Say so and end the process, before the library tries again."""
        with self._lock:
            self._line.send(RefusedError(because))
            os._exit(0)


def _serve(line: Connection, reached: Mapping[str, str], wanted: Wanted, bundle: Bundle, errors: Path) -> None:
    """Sample at every tick that comes in, until the other side has gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes of a terminal
    os.dup2(os.open(errors, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 2)
    answers = _Answers(line)
    entrance = Entrance(reached, answers.refused)
    client: Client | None = None
    sampling: Sampling | None = None
    while True:
        try:
            tick, manifest = line.recv()
        except EOFError:
            return
        bundle.manifest.become(manifest)
        try:
            if client is None and (client := entrance.client(manifest)):
                sampling = Sampling(Cluster(client.admin, wanted, bundle.manifest), bundle)
            if client and sampling:
                sampling(tick)
                client.tell(bundle.manifest)
        except MqlabError as error:
            answers.send(error)
            return
        answers.send(bundle.manifest)
