"""The only place that builds a Spark session.

On a cluster or a Connect server everything is left to its own configuration, except what results depend on, and except
that small material gets few partitions; its workers are sent this package.
"""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import sys
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from types import FrameType

from pyspark.core.context import SparkContext
from pyspark.sql import SparkSession
from pyspark.sql.utils import is_remote

from mqlab.cache.workspace import local_folder
from mqlab.errors import ClusterError
from mqlab.spark import jvm, warm
from mqlab.spark.clusters import cause, chosen, defaults, ensure_answers, shown
from mqlab.stopping import is_ours


def spark_session(
    *,
    size: int = 0,
    master: str | None = None,
    remote: str | None = None,
    cache: Path | None = None,
    extra: Mapping[str, str] | None = None,
) -> SparkSession:
    """A session for *size* bytes of material: Connect, a cluster, or local on all cores; *extra* settings win.

    A local one uses the JVM that ``jvm.start_jvm`` started, if any; for any other that JVM ends.

    Raises:
        JavaMissingError: Spark's driver was to run here and no usable Java is here.
        ClusterError: the master or server does not answer.
    """
    local = (master or "local").startswith("local") and "spark.master" not in ({} if master else defaults())
    master, remote = chosen(master, remote)
    builder = SparkSession.builder.appName("mqlab")
    if local and not (master or remote or extra):
        warmed = warm.answering(local_folder())
        if warmed and warmed.token not in _STOPPED and _is_free_for(warmed):
            jvm.discard()
            _USED.add(warmed.token)
            return _client(builder.remote(warmed.address), size)
        _leave_connect()
    if remote:
        jvm.discard()
        return _elsewhere(builder.remote(remote), size, remote, None)
    given = defaults()
    tuned = {key: value for key, value in jvm.local(size).items() if key not in given} if local else {}
    for key, value in {**tuned, **jvm.SQL, **(extra or {})}.items():
        builder = builder.config(key, value)
    if cache:
        cache.mkdir(parents=True, exist_ok=True)
    log = cache / "jvm.log" if cache else None
    builder = builder.master(master or "local[*]")
    return _here(builder, log) if local else _on_cluster(builder, size, master or "", log)


def _here(builder: SparkSession.Builder, log: Path | None) -> SparkSession:
    """A session whose JVM is on this machine; its workers run the Python that runs here."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    if SparkContext._gateway:
        jvm.discard()
        return builder.getOrCreate()
    with _uninterrupted(), jvm.connecting(log):
        return builder.getOrCreate()


def _on_cluster(builder: SparkSession.Builder, size: int, address: str, log: Path | None) -> SparkSession:
    """A session on a cluster; Spark's own scripts start its driver, as they know what is configured."""
    jvm.discard()
    os.environ.setdefault("SPARK_LAUNCHER_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    with _uninterrupted(), jvm.for_scripts(), _jvm_messages(log):
        return _elsewhere(builder, size, address, log)


def _is_free_for(server: warm.Server) -> bool:
    """True where this process holds no other session than one on *server*; one on its predecessor ends."""
    held = SparkSession.getActiveSession()
    if held is None or not is_remote():
        return held is None
    if held.client.token != server.token:
        held.stop()
    return True


_USED: set[str | None] = set()
"""Tokens of the warm servers that this process had a session on."""
_STOPPED: set[str | None] = set()
"""Those of them that were stopped meanwhile."""


def was_stopped() -> bool:
    """Whether this process has a session on a warm server that does not work any more; the next one is its own."""
    held = SparkSession.getActiveSession()
    if held is None or not is_remote() or held.client.token not in _USED:
        return False
    try:
        held.range(1).collect()
    except Exception:  # a stopped context, a closed channel, an unknown session: it cannot answer, whatever it says
        _STOPPED.add(held.client.token)
        return True
    return False


def _leave_connect() -> None:
    """End a session on a warm server that is gone, so that this process can have one of its own."""
    held = SparkSession.getActiveSession()
    if held and is_remote():
        with suppress(Exception):  # it tells the server, which may be gone
            held.stop()
    os.environ.pop("SPARK_CONNECT_MODE_ENABLED", None)


def _client(builder: SparkSession.Builder, size: int) -> SparkSession:
    """A session on the warm server; should that one be killed, it gives up after some seconds."""
    from pyspark.sql.connect.client.retries import DefaultPolicy

    warnings.filterwarnings("ignore", message=r"\[RETRIES_EXCEEDED\]")
    session = builder.config(map={**jvm.SQL, **jvm.sized(size)}).getOrCreate()
    session.client.set_retry_policies([DefaultPolicy(max_retries=4)])
    return session


def _elsewhere(builder: SparkSession.Builder, size: int, address: str, log: Path | None) -> SparkSession:
    """A session on a cluster or a Connect server."""
    ensure_answers(address)
    try:
        session = builder.getOrCreate()
    except Exception as error:
        raise ClusterError(shown(address), cause(error, log)) from error
    session.addArtifacts(_package(), pyfile=True)
    few = size < jvm.LARGE and session.conf.get(jvm.PARTITIONS) == jvm.UNCONFIGURED
    for key, value in {**jvm.SQL, **(jvm.few(size) if few else {})}.items():
        session.conf.set(key, value)
    return session


@cache
def _package() -> str:
    """This package as an archive, which workers may fetch for as long as this process lives."""
    folder = Path(mkdtemp(prefix="mqlab-package-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    own = Path(__file__).parents[1]
    return shutil.make_archive(str(folder / "mqlab"), "zip", own.parent, own.name)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Hold Ctrl-C back until the JVM answers: one that is left while it starts never ends."""
    if threading.current_thread() is not threading.main_thread() or is_ours(signal.SIGINT):
        yield
        return
    pressed: list[int] = []

    def hold(number: int, _: FrameType | None) -> None:
        pressed.append(number)

    before = signal.signal(signal.SIGINT, hold)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is hold:  # a session that starts puts a handler of its own in place
            signal.signal(signal.SIGINT, before)
    if pressed:
        raise KeyboardInterrupt


@contextmanager
def _jvm_messages(file: Path | None) -> Iterator[None]:
    """Send what the JVM prints, then and later, to a file in the cache: the user's screen and pipe are for results."""
    sys.stdout.flush()
    sys.stderr.flush()
    kept = {number: os.dup(number) for number in (1, 2)}
    log = os.open(file or os.devnull, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    for number in kept:
        os.dup2(log, number)
    try:
        yield
    finally:
        for number, original in kept.items():
            os.dup2(original, number)
            os.close(original)
        os.close(log)
