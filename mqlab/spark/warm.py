"""A Spark server that stays warm on this machine.

PySpark's own management of such a server does the work: it listens on loopback only, and the token that it asks for
is in a file that only the user can read. That file and the server's log are in the folder ``session`` of the user's
cache, whatever ``--workspace`` says. A server that was killed, does not answer, or belongs to another Spark version
counts as none.

PySpark's module is imported late: that takes most of a second.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark import __version__ as SPARK_VERSION
from pyspark.errors import PySparkException

from mqlab.errors import WarmSessionError
from mqlab.spark import jvm

if TYPE_CHECKING:
    from pyspark.sql.connect.local_server import Discovery

_FILE = "server.json"
_CLASS = "org.apache.spark.sql.connect.service.SparkConnectServer"
_ANSWER = 3.0
"""Seconds in which a server answers when it lives."""
_ENDING = 10.0
"""Seconds that a server gets to end by itself."""


@dataclass(frozen=True, slots=True)
class Server:
    """A server whose process lives."""

    pid: int
    port: int
    token: str
    spark_version: str
    since: float
    """Epoch seconds."""
    resident: int
    """Bytes of memory that the process holds."""

    @property
    def address(self) -> str:
        """What a Connect client is given: with a token only the name ``localhost`` works without TLS."""
        return f"sc://localhost:{self.port}/;token={self.token}"


def folder(cache: Path) -> Path:
    """The folder below *cache* that belongs to the warm session.

    Raises:
        WarmSessionError: it cannot be made, or belongs to somebody else.
    """
    place = cache / "session"
    try:
        place.mkdir(parents=True, exist_ok=True, mode=stat.S_IRWXU)
        place.chmod(stat.S_IRWXU)
    except OSError as error:
        raise WarmSessionError(f"{place}: {error.strerror or error}") from error
    return place


def found(cache: Path) -> Server | None:
    """The server that was started last, if its process lives."""
    file = cache / "session" / _FILE
    try:
        known = json.loads(file.read_text(encoding="utf-8"))
        pid, port, token, version = int(known["pid"]), int(known["port"]), known["token"], known["spark_version"]
        since = file.stat().st_mtime
    except (OSError, ValueError, KeyError, TypeError):
        return None
    resident = _resident(pid)
    return None if resident is None else Server(pid, port, token, version, since, resident)


def answering(cache: Path) -> Server | None:
    """The server, if this version of Spark can use it and it answers in time."""
    server = found(cache)
    return server if server and server.spark_version == SPARK_VERSION and _answers(server) else None


def start(cache: Path, settings: Mapping[str, str]) -> tuple[Server, bool]:
    """The server that runs, and whether it was started now, with *settings*; one that is of no use is replaced.

    Raises:
        WarmSessionError: it does not start.
        JavaMissingError: no usable Java is here.
    """
    from pyspark.sql.connect.local_server import ServerLauncher

    place = folder(cache)
    missing = [tool for tool in ("bash", "nohup", "ps") if not shutil.which(tool)]
    if missing:
        raise WarmSessionError(f"the command {missing[0]} is missing")
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    try:
        with _discovery(place) as discovery:
            new = answering(cache) is None
            if new:
                _end(discovery)
                with jvm.for_scripts():
                    ServerLauncher("local[*]", dict(settings), discovery).launch()
    except (PySparkException, OSError, subprocess.SubprocessError) as error:
        raise WarmSessionError(str(error).strip().split("\n")[0]) from error
    started = answering(cache)
    if started is None:
        raise WarmSessionError(f"it does not answer; its log is in {place / 'logs'}")
    return started, new


def stop(cache: Path) -> bool:
    """Whether a server ran; it has ended when this returns."""
    with _discovery(folder(cache)) as discovery:
        return _end(discovery)


def _discovery(place: Path) -> Discovery:
    from pyspark.sql.connect.local_server import Discovery

    return Discovery(str(place / _FILE))


def _end(discovery: Discovery) -> bool:
    from pyspark.sql.connect.local_server import LocalConnectServer

    server = LocalConnectServer(discovery)
    if not server.stop() or server.pid is None:
        return False
    deadline = time.monotonic() + _ENDING
    while _resident(server.pid) is not None:
        if time.monotonic() > deadline:
            with suppress(ProcessLookupError):
                os.kill(server.pid, signal.SIGKILL)
        time.sleep(0.1)
    return True


def _resident(pid: int) -> int | None:
    """Bytes that process *pid* holds; None unless it is a Connect server that lives."""
    try:
        shown = subprocess.run(
            ["ps", "-ww", "-p", str(pid), "-o", "stat=,rss=,command="], capture_output=True, text=True, timeout=5
        ).stdout.split(maxsplit=2)
    except (OSError, subprocess.SubprocessError):
        return None
    if len(shown) < 3 or shown[0].startswith("Z") or _CLASS not in shown[2]:
        return None
    return int(shown[1]) * 1024


def _answers(server: Server) -> bool:
    import grpc  # type: ignore[import-untyped]

    with grpc.insecure_channel(f"localhost:{server.port}") as channel:
        try:
            grpc.channel_ready_future(channel).result(timeout=_ANSWER)
        except grpc.FutureTimeoutError:
            return False
    return True
