"""Brokers and clients from Maven: fetched once into the lab's folder, with what the lab compiles against them."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tomllib
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from xml.etree import ElementTree as Xml

from mqlab.lab.errors import LabError, MissingToolError
from mqlab.units import by_number

_DONE = "complete"
_SOURCES = Path(__file__).with_name("java")
_POM = "http://maven.apache.org/POM/4.0.0"
"""The name space of a pom: a name, nothing is fetched from there."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """What one Maven resolution gave."""

    name: str
    folder: Path

    @property
    def class_path(self) -> str:
        """All jars."""
        return f"{self.folder / 'lib'}/*"

    def jar(self, prefix: str) -> Path:
        """The one jar whose name begins so."""
        return next(iter(sorted((self.folder / "lib").glob(f"{prefix}*.jar"))))


def known() -> dict[str, tuple[tuple[str, ...], int]]:
    """(Maven coordinates, Java release that its classes run on) by name."""
    table = tomllib.loads(files("mqlab.lab").joinpath("distributions.toml").read_text("utf-8"))
    return {name: (tuple(entry["artifacts"]), entry["release"]) for name, entry in table.items()}


def tool(name: str, needed_for: str, get: str) -> str:
    """Path of a program.

    Raises:
        MissingToolError: it is not installed.
    """
    places = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin", "/usr/local/sbin"])
    found = shutil.which(name, path=places)
    if found is None:
        raise MissingToolError(name, needed_for, get)
    return found


def java() -> str:
    """Path of the JVM that runs brokers."""
    home = os.environ.get("JAVA_HOME")
    if home and (Path(home) / "bin" / "java").exists():
        return str(Path(home) / "bin" / "java")
    return tool("java", "brokers that run on Java", "install a JDK 17, on Debian `apt install openjdk-17-jdk-headless`")


def fetched(name: str, dist: Path) -> Distribution:
    """The distribution, resolved by Maven at first use.

    Raises:
        MissingToolError: no Maven here.
        LabError: Maven cannot resolve it.
    """
    if name not in known():
        raise LabError(f"There is no distribution {name}. Known: {', '.join(sorted(known(), key=by_number))}.")
    folder = dist / name
    if not (folder / _DONE).exists():
        command = tool("mvn", name, "install Maven, on Debian `apt install maven`")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "pom.xml").write_text(pom(name))
        words = ["-B", "-q", "dependency:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory=lib"]
        done = subprocess.run([command, *words], cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            first = next((line for line in done.stdout.splitlines() if "ERROR" in line), "no reason given")
            raise LabError(f"Maven cannot fetch {name}: {first.strip()[:300]}")
        (folder / _DONE).touch()
    return Distribution(name, folder)


def pom(name: str) -> str:
    """The pom that names this distribution's artifacts."""
    root = Xml.Element("project", xmlns=_POM)
    for tag, text in (("modelVersion", "4.0.0"), ("groupId", "lab"), ("artifactId", name), ("version", "1")):
        Xml.SubElement(root, tag).text = text
    every = Xml.SubElement(root, "dependencies")
    for artifact in known()[name][0]:
        one = Xml.SubElement(every, "dependency")
        for tag, text in zip(("groupId", "artifactId", "version"), artifact.split(":"), strict=True):
            Xml.SubElement(one, tag).text = text
    return Xml.tostring(root, encoding="unicode")


def compiled(main: str, against: Distribution) -> Path:
    """Folder with the classes of the lab's own ``java/MAIN.java``, compiled against *against* at first use.

    Raises:
        MissingToolError: no JDK here.
        LabError: it does not compile.
    """
    source = _SOURCES / f"{main}.java"
    stamp = hashlib.sha256(source.read_bytes()).hexdigest()[:12]
    classes = against.folder / "classes" / f"{main}-{stamp}"
    if not (classes / f"{main}.class").exists():
        command = tool("javac", "loads that run on Java", "install a JDK 17, not only a runtime")
        classes.mkdir(parents=True, exist_ok=True)
        release = ["--release", str(known()[against.name][1]), "-Xlint:-options"]
        words = [command, *release, "-cp", against.class_path, "-d", str(classes), str(source)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            raise LabError(f"{source.name} does not compile against {against.name}: {done.stderr.strip()[:300]}")
    return classes
