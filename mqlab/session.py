"""The Spark session: the only place that builds one.

Local sessions are tuned to the size of the material. Small material gets the C1 compiler and the serial collector,
which start faster; large material gets the JVM's own choice. A class-data archive, made once into the cache, saves
about two seconds a start. On a cluster or a Connect server everything is left to its own configuration, except what
results depend on, and except that small material gets few partitions.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from pyspark.sql import SparkSession
from pyspark.sql.utils import is_remote

from mqlab import warm
from mqlab.cache.workspace import local_folder
from mqlab.clusters import cause, chosen, defaults, ensure_answers, shown
from mqlab.errors import ClusterError, JavaMissingError

TINY = 32 * 1024 * 1024
"""Bytes of material up to which one partition is faster than spreading the work."""
LARGE = 256 * 1024 * 1024
"""Bytes of material from which the optimising compiler and a parallel collector pay off."""

_INTERPRETED = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
"""On small material compiling the generated code takes longer than running without it."""

_GENERATED = {"spark.sql.codegen.wholeStage": "true", "spark.sql.codegen.factoryMode": "FALLBACK"}

_JVM = ["-Dlog4j2.level=OFF", "-XX:-UsePerfData"]
_QUICK = ["-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"]
_COMPILED = ["-XX:+UseParallelGC", "-XX:-DontCompileHugeMethods"]
"""The scan's generated methods are longer than what the JVM compiles by itself."""

_SETTLED = 3.0
"""Seconds after its last write from which a class-data archive counts as whole."""

_PARTITIONS = "spark.sql.shuffle.partitions"
_UNCONFIGURED = "200"
"""Spark's own number of shuffle partitions: nobody chose it."""

_SQL = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.files.ignoreCorruptFiles": "true",
    "spark.sql.legacy.timeParserPolicy": "CORRECTED",
    "spark.sql.icu.caseMappings.enabled": "false",
}
"""What results depend on; the tables that Unicode's own rules for letters need would cost a second on first use."""

_HERE = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.log.level": "OFF",
    "spark.python.sql.dataFrameDebugging.enabled": "false",
}


@contextmanager
def generating(spark: SparkSession) -> Iterator[None]:
    """Within it Spark generates code: work on every row of many pays for the compiling, however small the material."""
    before = {name: spark.conf.get(name) for name in _GENERATED}
    try:
        for name, value in _GENERATED.items():
            spark.conf.set(name, value)
        yield
    finally:
        for name, usual in before.items():
            spark.conf.set(name, usual or _GENERATED[name])


def java() -> str:
    """Path of a Java 17 or newer.

    Raises:
        JavaMissingError: none was found, or it is too old.
    """
    home = os.environ.get("JAVA_HOME")
    command = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if not command or not Path(command).exists():
        raise JavaMissingError("none was found")
    shown = subprocess.run([command, "-version"], capture_output=True, text=True, check=False).stderr
    found = re.search(r'version "(?:1\.)?(\d+)', shown)
    if not found or int(found[1]) < 17:
        raise JavaMissingError(f"found {found[1] if found else 'one that does not answer'}")
    return command


def spark_session(
    *,
    size: int = 0,
    master: str | None = None,
    remote: str | None = None,
    cache: Path | None = None,
    extra: Mapping[str, str] | None = None,
) -> SparkSession:
    """A session for *size* bytes of material: Connect, a cluster, or local on all cores; *extra* settings win.

    Raises:
        JavaMissingError: Spark's driver was to run here and no usable Java is here.
        ClusterError: the master or server does not answer.
    """
    local = (master or "local").startswith("local") and "spark.master" not in ({} if master else defaults())
    master, remote = chosen(master, remote)
    builder = SparkSession.builder.appName("mqlab")
    if local and not (master or remote or extra) and (size < LARGE or is_remote()):
        warmed = warm.answering(local_folder())
        if warmed and _is_free_for(warmed):
            return _client(builder.remote(warmed.address), size)
        _leave_connect()
    if remote:
        return _elsewhere(builder.remote(remote), size, remote, None)
    java()
    given = defaults()
    tuned = {key: value for key, value in _local(size, cache).items() if key not in given} if local else {}
    for key, value in {**tuned, **_SQL, **(extra or {})}.items():
        builder = builder.config(key, value)
    if cache:
        cache.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("SPARK_LAUNCHER_OPTS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    if local:
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = builder.master(master or "local[*]")
    log = cache / "jvm.log" if cache else None
    with _uninterrupted(), _jvm_messages(log):
        return builder.getOrCreate() if local else _elsewhere(builder, size, master or "", log)


def _is_free_for(server: warm.Server) -> bool:
    """True where this process holds no other session than one on *server*; one on its predecessor ends."""
    held = SparkSession.getActiveSession()
    if held is None or not is_remote():
        return held is None
    if held.client.token != server.token:
        held.stop()
    return True


def _leave_connect() -> None:
    """End a session on a warm server that is gone, so that this process can have one of its own."""
    held = SparkSession.getActiveSession()
    if held and is_remote():
        held.stop()
    os.environ.pop("SPARK_CONNECT_MODE_ENABLED", None)


def _client(builder: SparkSession.Builder, size: int) -> SparkSession:
    """A session on the warm server; should that one be killed, it gives up after some seconds."""
    from pyspark.sql.connect.client.retries import DefaultPolicy

    session = builder.config(map={**_SQL, **_sized(size)}).getOrCreate()
    session.client.set_retry_policies([DefaultPolicy(max_retries=4)])
    return session


def _elsewhere(builder: SparkSession.Builder, size: int, address: str, log: Path | None) -> SparkSession:
    """A session on a cluster or a Connect server."""
    ensure_answers(address)
    try:
        session = builder.getOrCreate()
    except Exception as error:
        raise ClusterError(shown(address), cause(error, log)) from error
    few = size < LARGE and session.conf.get(_PARTITIONS) == _UNCONFIGURED
    for key, value in {**_SQL, **(_few(size) if few else {})}.items():
        session.conf.set(key, value)
    return session


def _few(size: int) -> Mapping[str, str]:
    """Settings for small material: as many partitions as pay off, and no generated code."""
    return {_PARTITIONS: "1" if size < TINY else "2", "spark.sql.files.openCostInBytes": "65536", **_INTERPRETED}


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Hold Ctrl-C back until the JVM answers: one that is left while it starts never ends."""
    if threading.current_thread() is not threading.main_thread():
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


def server(cache: Path) -> Mapping[str, str]:
    """Settings of a warm server; those that depend on the material come with each session."""
    made = cache / "classes-small.jsa"
    flags = [*_JVM, *_QUICK, *(_classes(made) if made.exists() else [])]
    return {**_HERE, **_SQL, "spark.sql.warehouse.dir": str(cache / "session"), **_machine("1g", flags)}


def _local(size: int, cache: Path | None) -> Mapping[str, str]:
    if size < LARGE:
        machine = _machine("1g", [*_JVM, *_QUICK, *(_classes(cache / "classes-small.jsa") if cache else [])])
    else:
        machine = _machine("2g", [*_JVM, *_COMPILED, *(_classes(cache / "classes-large.jsa") if cache else [])])
    return {**_HERE, **_sized(size), **machine, "spark.default.parallelism": _sized(size)[_PARTITIONS]}


def _machine(memory: str, flags: Sequence[str]) -> Mapping[str, str]:
    return {"spark.driver.memory": memory, "spark.driver.extraJavaOptions": " ".join(flags)}


def _sized(size: int) -> Mapping[str, str]:
    """What a session needs for *size* bytes on this machine, as far as it can be set while Spark runs."""
    partitions = str(max(1 if size < TINY else 2, min(64, size // LARGE)))
    return {
        _PARTITIONS: partitions,
        "spark.sql.leafNodeDefaultParallelism": partitions,
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.sources.parallelPartitionDiscovery.threshold": "100000",
        "spark.sql.files.openCostInBytes": "65536" if size < LARGE else "4194304",
        "spark.sql.files.maxPartitionBytes": "67108864",
        "spark.sql.lightweightPlanChangeValidation": "false",
        **(_INTERPRETED if size < LARGE else _GENERATED),
    }


def _classes(archive: Path) -> list[str]:
    """Flags that use a class-data archive, or make it when the process ends where there is none."""
    _adopt(archive)
    flag = f"SharedArchiveFile={archive}" if archive.exists() else f"ArchiveClassesAtExit={archive}.{os.getpid()}"
    return [f"'-XX:{flag}'", "-Xshare:auto", "-Xlog:disable", "-Xlog:all=off"]


def _adopt(archive: Path) -> None:
    """Take over the class-data archive that an earlier process wrote, once that process has ended."""
    for made in sorted(archive.parent.glob(archive.name + ".*")):
        if Path(f"/proc/{made.suffix[1:]}").exists():
            continue
        if archive.exists():
            made.unlink()
        elif time.time() - made.stat().st_mtime >= _SETTLED:
            made.replace(archive)
