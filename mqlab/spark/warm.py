"""A Spark server that stays warm on this machine.

PySpark's own management of such a server does the work: it listens on 127.0.0.1 only, and the token that it asks for
is in a file that only the user can read. That file, the server's log and its temporary files are in the folder
``session`` of the user's cache (or of ``$MQLAB_WORKSPACE``), whatever ``--workspace`` says. A server that was killed,
does not answer, or belongs to another Spark version counts as none. Nothing is sent to what only stands in its place:
see ``relay``.

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
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
from pyspark import __version__ as SPARK_VERSION
from pyspark.errors import PySparkException

from mqlab.cache import storage
from mqlab.cache.owner import objection
from mqlab.errors import WarmSessionError
from mqlab.spark import jvm, relay

if TYPE_CHECKING:
    from pyspark.sql.connect.client import DefaultChannelBuilder
    from pyspark.sql.connect.local_server import Discovery

_FILE = "server.json"
_TEMPORARY = "temporary"
_TOKEN = "SPARK_CONNECT_AUTHENTICATE_TOKEN"
_CLASS = "org.apache.spark.sql.connect.service.SparkConnectServer"
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
        """Where it listens."""
        return f"{relay.HERE}:{self.port}"

    def channel(self) -> DefaultChannelBuilder:
        """What a Connect client builds its channel with, by way of the relay.

        PySpark sends a token without TLS only to the name ``localhost``, which may be several addresses: it stays the
        name, but the address is one, and no proxy is asked.
        """
        from pyspark.sql.connect.client import DefaultChannelBuilder

        class ToRelay(DefaultChannelBuilder):
            @property
            def endpoint(self) -> str:
                return f"ipv4:{relay.HERE}:{self._port}"

        to = f"sc://localhost:{relay.port_to(self.pid, self.port)}/;token={self.token}"
        return ToRelay(to, [("grpc.enable_http_proxy", 0)])


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
    if because := objection(place):
        raise WarmSessionError(f"{place}: {because}")
    return place


def found(cache: Path) -> Server | None:
    """The server that was started last, if its process lives."""
    file = cache / "session" / _FILE
    try:
        known = json.loads(storage.get(file) or b"")
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
    _check_version()
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
                with jvm.for_scripts(place / _TEMPORARY), _private(place / _TEMPORARY), _whole(discovery):
                    ServerLauncher("local[*]", dict(settings), discovery).launch()
    except (PySparkException, OSError, subprocess.SubprocessError) as error:
        raise WarmSessionError(str(error).strip().split("\n")[0]) from error
    started = answering(cache)
    if started is None:
        raise WarmSessionError(f"it does not answer; its log is in {place / 'logs'}")
    return started, new


def stop(cache: Path) -> bool:
    """Whether a server ran; it has ended when this returns."""
    _check_version()
    with _discovery(folder(cache)) as discovery:
        return _end(discovery)


def _check_version() -> None:
    if find_spec("pyspark.sql.connect.local_server") is None:
        raise WarmSessionError(f"PySpark {SPARK_VERSION} has no Connect server: run pip install --upgrade pyspark")


def _discovery(place: Path) -> Discovery:
    from pyspark.sql.connect.local_server import Discovery

    (place / f"{_FILE}.lock").touch(mode=0o600)
    return Discovery(str(place / _FILE))


def _forget_nonsense(discovery: Discovery) -> None:
    """Remove a file that names no server, or that somebody else wrote: PySpark would believe it, or trip over it."""
    file = Path(discovery.directory) / _FILE
    try:
        known = json.loads(storage.get(file) or b"")
        fits = all(isinstance(known[key], str) for key in ("host", "token", "spark_version"))
        _ = int(known["port"]), int(known["pid"])
    except (ValueError, KeyError, TypeError):
        fits = False
    if not fits:
        storage.remove(file)


@contextmanager
def _private(temporary: Path) -> Iterator[None]:
    """Within it what is started writes for this user alone, its temporary files to the new folder *temporary*.

    It gets a token of its own: one in the environment is that of another server.
    """
    temporary.mkdir(mode=stat.S_IRWXU)
    before, token = os.umask(0o077), os.environ.pop(_TOKEN, None)
    try:
        yield
    finally:
        os.umask(before)
        if token is not None:
            os.environ[_TOKEN] = token


@contextmanager
def _whole(discovery: Discovery) -> Iterator[None]:
    """End a server whose start ends early: nobody would know of it."""
    try:
        yield
    except BaseException:
        begun = discovery.daemon_pid()
        if begun is not None and _resident(begun) is not None:
            os.kill(begun, signal.SIGKILL)
        raise


def _end(discovery: Discovery) -> bool:
    from pyspark.sql.connect.local_server import LocalConnectServer

    _forget_nonsense(discovery)
    server = LocalConnectServer(discovery)
    ended = bool(server.stop()) and server.pid is not None
    deadline = time.monotonic() + _ENDING
    while ended and _resident(server.pid or 0) is not None:
        if time.monotonic() > deadline:
            with suppress(ProcessLookupError):
                os.kill(server.pid or 0, signal.SIGKILL)
        time.sleep(0.1)
    storage.remove(Path(discovery.directory) / _TEMPORARY)
    return ended


def _resident(pid: int) -> int | None:
    """Bytes that process *pid* holds; None unless it is a Connect server that lives."""
    try:
        process = psutil.Process(pid)
        lives = process.status() != psutil.STATUS_ZOMBIE and _CLASS in process.cmdline()
        return int(process.memory_info().rss) if lives else None
    except psutil.Error:
        return None


def _answers(server: Server) -> bool:
    import grpc  # type: ignore[import-untyped]

    with server.channel().toChannel() as channel:
        try:
            grpc.channel_ready_future(channel).result(timeout=relay.PROOF)
        except grpc.FutureTimeoutError:
            return False
    return True
