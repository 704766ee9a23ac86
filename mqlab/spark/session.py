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
from types import FrameType
from typing import cast
from weakref import WeakSet

from pyspark.core.context import SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.utils import is_remote

from mqlab.cache.workspace import local_folder, temporary
from mqlab.errors import ClusterError
from mqlab.spark import jvm, warm
from mqlab.spark.clusters import cause, chosen, defaults, ensure_answers, shown
from mqlab.stopping import is_ours

_NOT_SENT = ("__pycache__", "notebooks", "samples", "training")
"""What workers need nothing of."""
OWN: WeakSet[SparkSession] = WeakSet()
"""The sessions that mqlab made; all others are somebody else's, and left as they are (``guest``)."""
_LENT = (
    "PYSPARK_PYTHON", "SPARK_LOCAL_IP", "SPARK_REMOTE", "SPARK_LAUNCHER_OPTS", "GRPC_VERBOSITY",
    "SPARK_AUTH_SOCKET_TIMEOUT", "SPARK_BUFFER_SIZE",
)  # fmt: skip
"""Variables that mqlab or PySpark set while a session starts, and that nothing needs afterwards."""


@contextmanager
def _lent() -> Iterator[None]:
    """Put variables of the environment back when a session has started."""
    before = {name: os.environ.get(name) for name in _LENT}
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


@_lent()
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
            return _ours(_client(warmed, size))
        _leave_connect()
    if remote:
        jvm.discard()
        return _ours(_elsewhere(builder.remote(remote), size, remote, None))
    given = defaults()
    tuned = {key: value for key, value in jvm.local(size, cache).items() if key not in given} if local else {}
    closed = jvm.CLOSED if local else {}
    for key, value in {**tuned, **jvm.SQL, **(extra or {}), **closed}.items():
        builder = builder.config(key, value)
    if cache:
        cache.mkdir(parents=True, exist_ok=True)
    log = cache / "jvm.log" if cache else None
    builder = builder.master(master or "local[*]")
    return _ours(_here(builder, log) if local else _on_cluster(builder, size, master or "", log))


def _ours(session: SparkSession) -> SparkSession:
    OWN.add(session)
    return session


@contextmanager
def at_work() -> Iterator[None]:
    """While sessions of mqlab's own work: an interrupt stops their jobs, a warm server that ends is no warning.

    Nor is that PySpark does not know pandas 3 yet: mqlab gives Spark no pandas.
    """
    with warnings.catch_warnings():
        for message in (r"\[RETRIES_EXCEEDED\]", "PySpark does not yet fully support pandas"):
            warnings.filterwarnings("ignore", message=message)
        try:
            yield
        except KeyboardInterrupt:
            for session in list(OWN):
                with suppress(Exception):  # it may have been stopped
                    session.interruptAll()
            raise


def _here(builder: SparkSession.Builder, log: Path | None) -> SparkSession:
    """A session whose JVM is on this machine; its workers run the Python that runs here."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    with _uninterrupted():
        if SparkContext._gateway:
            jvm.discard()
            return builder.getOrCreate()
        with jvm.connecting(log):
            return builder.getOrCreate()


def _on_cluster(builder: SparkSession.Builder, size: int, address: str, log: Path | None) -> SparkSession:
    """A session on a cluster; Spark's own scripts start its driver, as they know what is configured."""
    jvm.discard()
    atexit.register(shutil.rmtree, folder := temporary(log.parent if log else None), ignore_errors=True)
    with _uninterrupted(), jvm.for_scripts(folder), _jvm_messages(log):
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


def _client(server: warm.Server, size: int) -> SparkSession:
    """A session on the warm server; should that one be killed, it gives up after some seconds."""
    from pyspark.sql.connect.client.retries import DefaultPolicy
    from pyspark.sql.connect.session import SparkSession as ConnectSession

    os.environ["SPARK_CONNECT_MODE_ENABLED"] = "1"  # as PySpark does where it builds the channel itself
    builder = ConnectSession.builder.channelBuilder(server.channel()).appName("mqlab")
    session = builder.config(map={**jvm.SQL, **jvm.sized(size)}).getOrCreate()
    session.client.set_retry_policies([DefaultPolicy(max_retries=4)])
    return cast(SparkSession, session)


def _elsewhere(builder: SparkSession.Builder, size: int, address: str, log: Path | None) -> SparkSession:
    """A session on a cluster or a Connect server."""
    ensure_answers(address)
    try:
        session = builder.getOrCreate()
    except Exception as error:
        raise ClusterError(shown(address), cause(error, log)) from error
    session.addArtifacts(package(), pyfile=True)
    tune(session, size)
    _set_if_allowed(session, jvm.SHOWN)
    return session


def _set_if_allowed(session: SparkSession, settings: Mapping[str, str]) -> None:
    """A server need not let everybody set what no answer depends on."""
    for key, value in settings.items():
        with suppress(PySparkException):
            session.conf.set(key, value)


def tune(session: SparkSession, size: int) -> None:
    """Set what answers depend on, and for small material few partitions unless somebody chose their number.

    Raises:
        PySparkException: a server does not let us set what answers depend on.
    """
    few = size < jvm.LARGE and session.conf.get(jvm.PARTITIONS) == jvm.UNCONFIGURED
    for key, value in jvm.SQL.items():
        session.conf.set(key, value)
    _set_if_allowed(session, jvm.few(size) if few else {})


@cache
def package() -> str:
    """This package as an archive, which workers may fetch for as long as this process lives; what they read with."""
    folder = temporary()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    own = Path(__file__).parents[1]
    shutil.copytree(own, folder / "sent" / own.name, ignore=shutil.ignore_patterns(*_NOT_SENT))
    return shutil.make_archive(str(folder / folder.name), "zip", folder / "sent")


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Hold Ctrl-C back until the JVM answers: one that is left while it starts never ends.

    What Ctrl-C does is the same again afterwards, although a context puts a handler of its own in place.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    pressed: list[int] = []

    def hold(number: int, _: FrameType | None) -> None:
        pressed.append(number)

    before = signal.getsignal(signal.SIGINT)
    if not is_ours(signal.SIGINT):  # the command line ends its JVM itself, however far that is
        signal.signal(signal.SIGINT, hold)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed:
        raise KeyboardInterrupt


def heed_interrupts() -> None:
    """Let Ctrl-C end a wait for the JVM at once: since Polars was imported, the system takes such waits up again."""
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is threading.main_thread() and handler is not None:
        signal.signal(signal.SIGINT, handler)


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
