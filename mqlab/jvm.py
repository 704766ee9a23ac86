"""The driver's JVM of a local session, started directly: without Spark's scripts and the JVM of Spark's launcher.

``start_jvm`` returns at once, so that the JVM starts beside Python's imports and the recognition of files; the session
picks it up later. It ends with this process, however that ends, because its standard input does; Ctrl-C is not for it.

Nothing here imports PySpark.
"""

from __future__ import annotations

import atexit
import json
import os
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from mqlab import java, tuning
from mqlab.clusters import defaults
from mqlab.errors import JavaMissingError

_OPEN = """java.lang java.lang.invoke java.lang.reflect java.io java.net java.nio java.util java.util.concurrent
java.util.concurrent.atomic jdk.internal.ref sun.nio.ch sun.nio.cs sun.security.action sun.util.calendar"""
_SPARK = [
    "-XX:+IgnoreUnrecognizedVMOptions",
    *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPEN.split()),
    "--add-opens=java.security.jgss/sun.security.krb5=ALL-UNNAMED",
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Dio.netty.allocator.type=pooled",
    "-Dio.netty.handler.ssl.defaultEndpointVerificationAlgorithm=NONE",
    "--sun-misc-unsafe-memory-access=allow",
    "--enable-native-access=ALL-UNNAMED",
]
"""What Spark's launcher adds, but for a module that not every Java has and that only linear algebra uses."""

_GATEWAY = ("PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET")
_LOOK = 0.005
"""Seconds between two looks at whether it answers."""


@dataclass(slots=True)
class Jvm:
    """A JVM that starts, or runs."""

    process: subprocess.Popen[bytes]
    command: Path
    folder: Path
    """Where it says how to reach it."""
    owner: int = field(default_factory=os.getpid)

    def connection(self) -> tuple[int, str]:
        """Its port and the secret that it asks for; waits until it answers.

        Raises:
            JavaMissingError: it ended instead.
        """
        file = self.folder / "connection"
        try:
            while not file.exists():
                if self.process.poll() is not None:
                    raise JavaMissingError(f"{self.command} ended with {self.process.returncode} while it started")
                time.sleep(_LOOK)
            content = file.read_bytes()
        except BaseException:
            self.end()
            raise
        shutil.rmtree(self.folder, ignore_errors=True)
        port, length = struct.unpack_from(">ii", content)
        return port, content[8 : 8 + length].decode()

    def end(self) -> None:
        """End it at once, unless it is another process's."""
        if os.getpid() == self.owner:
            with suppress(ProcessLookupError):
                self.process.send_signal(signal.SIGKILL)
            self.process.wait()
            shutil.rmtree(self.folder, ignore_errors=True)


_pending: list[Jvm] = []
"""The JVM that no session uses yet, if any."""
_kept: list[Jvm] = []
"""The one that a session uses: its standard input stays open for as long as this process lives."""


def start_jvm(*, master: str | None = None, remote: str | None = None, log: Path | None = None) -> Jvm | None:
    """Start the JVM that the next session will use, and return at once.

    It prints into *log*. None where the session is not expected to need one: on a cluster, or with a warm server. A
    JVM that waits already is returned as it is.

    Raises:
        JavaMissingError: no usable Java is here.
    """
    if not (_kept or _pending) and _is_wanted(master, remote):
        start(flags(), log)
    return _pending[0] if _pending else None


def start(options: Sequence[str], log: Path | None) -> Jvm:
    """Start a JVM with these *options*, which waits for a session."""
    command = java.java().command
    folder = Path(tempfile.mkdtemp(prefix="mqlab-jvm-"))
    env = os.environ | {
        "_PYSPARK_DRIVER_CONN_INFO_PATH": str(folder / "connection"),
        "SPARK_CONNECT_MODE": "0",
        "SPARK_LOCAL_IP": os.environ.get("SPARK_LOCAL_IP", "127.0.0.1"),
        "PYSPARK_PYTHON": sys.executable,
        "POLARS_MAX_THREADS": "1",
    }
    given = shlex.split(os.environ.get("PYSPARK_SUBMIT_ARGS", "pyspark-shell"))
    words = [str(command), *options, "-cp", class_path(), "org.apache.spark.deploy.SparkSubmit", *given]
    out = os.open(log or os.devnull, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        process = subprocess.Popen(
            words, env=env, stdin=subprocess.PIPE, stdout=out, stderr=out, start_new_session=True
        )
    finally:
        os.close(out)
    _pending.append(Jvm(process, command, folder))
    atexit.register(discard)
    return _pending[0]


def flags(shared: Sequence[str] | None = None) -> list[str]:
    """Options of the JVM; what Spark's own file says about the driver wins.

    *shared* are those about class-data archives, without them the ones that use what is there.
    """
    given = defaults()
    memory, *tuned = tuning.JVM
    own = given.get("spark.driver.extraJavaOptions")
    limit = f"-Xmx{given['spark.driver.memory']}" if "spark.driver.memory" in given else memory
    use = java.sharing(java.java()) if shared is None else shared
    return [limit, *_SPARK, *(tuned if own is None else shlex.split(own)), *use]


def class_path() -> str:
    """The jars of Spark that are needed here, and what the user put before or behind them by Spark's own means.

    A class-data archive serves every JVM whose class path begins like this.
    """
    conf = os.environ.get("SPARK_CONF_DIR") or str(java.jars().parent / "conf")
    first = [defaults().get("spark.driver.extraClassPath"), conf, *map(str, java.loaded())]
    last = [os.environ.get(name) for name in ("HADOOP_CONF_DIR", "YARN_CONF_DIR", "SPARK_DIST_CLASSPATH")]
    return os.pathsep.join(part for part in [*first, *last] if part)


@contextmanager
def connecting(log: Path | None) -> Iterator[None]:
    """Within it PySpark uses the JVM that waits, or a new one; outside of it children must not find that one."""
    if _kept or any(name in os.environ for name in _GATEWAY):
        yield
        return
    if not _pending:
        start(flags(), log)
    port, secret = _pending[0].connection()
    _kept.append(_pending.pop())
    os.environ.update(zip(_GATEWAY, (str(port), secret), strict=True))
    try:
        yield
    finally:
        for name in _GATEWAY:
            os.environ.pop(name, None)


def discard() -> None:
    """End the JVM that no session uses."""
    while _pending:
        _pending.pop().end()


def leave() -> None:
    """End the JVM that a session used; this process can have no other."""
    for used in _kept:
        assert used.process.stdin
        used.process.stdin.close()
        used.process.wait()


def _is_wanted(master: str | None, remote: str | None) -> bool:
    place = remote or master or os.environ.get("SPARK_REMOTE") or defaults().get("spark.master", "local")
    return place.startswith("local") and "PYSPARK_GATEWAY_PORT" not in os.environ and not (master is None and _warm())


def _warm() -> bool:
    """Whether a warm server may be there; ``warm`` knows, but takes its time."""
    given = os.environ.get("MQLAB_WORKSPACE")
    folder = Path(given) if given and "://" not in given else java.cache()
    try:
        os.kill(int(json.loads((folder / "session" / "server.json").read_text(encoding="utf-8"))["pid"]), 0)
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return True
