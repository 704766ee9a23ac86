"""Where Spark runs when it is not here: which master or Connect server was chosen, and whether it answers.

Everything is asked before a session starts, with a deadline: Spark itself would try again for minutes.
"""

from __future__ import annotations

import os
import re
import socket
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from mqlab.errors import ClusterError, SessionError

_CONNECTING = 5.0
_READY = 20.0
_UNSEEN = re.compile(r"FileNotFoundException: (?:File )?(\S+)|FILE_NOT_EXIST\] Error reading file (\S+?)\.? ")
_MISSING = re.compile(r"No module named '([\w.]+)'|(\w+) >= [\d.]+ must be installed")
_VERSIONS = re.compile(r"different (?:minor )?version|PYTHON_VERSION_MISMATCH")
_DIED = re.compile(r'^Exception in thread "main" (?:[\w.$]+: )?(.+)$', re.MULTILINE)
_ENTRY = re.compile(r"^\s*(spark\.[\w.-]+)\s*[=:\s]\s*(.*?)\s*$")


def chosen(master: str | None, remote: str | None) -> tuple[str | None, str | None]:
    """The (master, remote) to use: what was asked for, else ``SPARK_REMOTE``, else ``spark.master`` of Spark's files.

    At most one of them is set; neither means a local session. A master that was asked for wins over ``SPARK_REMOTE``.
    """
    if remote:
        return None, remote
    if master:
        os.environ.pop("SPARK_REMOTE", None)
        return master, None
    remote = os.environ.get("SPARK_REMOTE")
    return (None, remote) if remote else (defaults().get("spark.master"), None)


def defaults() -> Mapping[str, str]:
    """What Spark's own ``spark-defaults.conf`` says, in ``SPARK_CONF_DIR`` or in ``conf`` below ``SPARK_HOME``."""
    home = os.environ.get("SPARK_HOME")
    folder = os.environ.get("SPARK_CONF_DIR") or (home and str(Path(home) / "conf"))
    file = Path(folder or os.devnull, "spark-defaults.conf")
    lines = file.read_text(encoding="utf-8", errors="replace").splitlines() if file.is_file() else []
    return {found[1]: found[2] for line in lines if (found := _ENTRY.match(line))}


def ensure_answers(address: str) -> None:
    """Return when the master or server at *address* answers; other kinds of master are left to Spark.

    Raises:
        ClusterError: it does not, or its address cannot be understood.
    """
    if address.startswith("sc://"):
        _ensure_connect(address)
    elif address.startswith("spark://"):
        _ensure_one(address, [_split(place) for place in address.removeprefix("spark://").split(",")])


def shown(address: str) -> str:
    """An address without the parameters behind it: a token is one of them."""
    return re.split(r"/?;", address, maxsplit=1)[0]


def first_line(error: BaseException) -> str:
    """What *error* says, in one line and without a full stop; of one from the JVM, what the JVM says."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    told = next((line for line in lines if line.startswith(": ")), lines[0])
    return told[:300].strip(".: ")


def cause(error: BaseException, log: Path | None) -> str:
    """Why no session started; where the JVM ended, what its *log* says about that."""
    if "JAVA_GATEWAY_EXITED" in str(error) and log and log.is_file():
        died = _DIED.search(log.read_text(encoding="utf-8", errors="replace"))
        return died[1][:300].rstrip(".") if died else f"Spark ended during its start; {log} says why"
    return first_line(error)


@contextmanager
def told(master: str | None, remote: str | None) -> Iterator[None]:
    """Turn what stops Spark while it works on a cluster into a sentence; on this machine it stays a bug of ours.

    Raises:
        ClusterError: the cluster failed, went away or cannot see a file.
        SessionError: workers on this machine lack something.
    """
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError, ConnectionError) as error:
        address = next((place for place in chosen(master, remote) if place), "local")
        if not address.startswith("local"):
            raise ClusterError(shown(address), because(error)) from error
        if missing := lacking(str(error)):
            raise SessionError(address, missing) from error
        raise


def lacking(said: str) -> str | None:
    """What workers lack of what reading needs, where that is what an error *said*."""
    if _VERSIONS.search(said):
        here = f"{sys.version_info.major}.{sys.version_info.minor}"
        return (
            f"its workers run another Python than {here}: set spark.pyspark.python, or PYSPARK_PYTHON where Spark "
            "starts, to one of that version"
        )
    missing = _MISSING.search(said)
    return f"its workers lack {missing[1] or missing[2]}: install it for the Python that they run" if missing else None


def because(error: BaseException) -> str:
    """Why Spark stopped, as far as *error* shows it."""
    if missing := lacking(str(error)):
        return missing
    unseen = _UNSEEN.search(str(error))
    if unseen is None:
        return first_line(error)
    file = (unseen[1] or unseen[2]).rstrip(".,:")
    return f"its workers do not see {file}; material and workspace must lie where all of them do"


def _ensure_one(address: str, places: Sequence[tuple[str, str]]) -> None:
    because = "it names no host and port"
    for host, port in places:
        if not (host and port.isdigit() and int(port) < 65536):
            continue
        try:
            socket.create_connection((host.strip("[]"), int(port)), timeout=_CONNECTING).close()
        except OSError as error:
            because = f"{host}:{port} does not answer ({error.strerror or first_line(error)})"
        else:
            return
    raise ClusterError(shown(address), because)


def _ensure_connect(remote: str) -> None:
    os.environ.setdefault("GRPC_VERBOSITY", "NONE")
    import grpc  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException
    from pyspark.sql.connect.client import DefaultChannelBuilder

    try:
        builder = DefaultChannelBuilder(remote)
    except PySparkException as error:
        raise ClusterError(shown(remote), first_line(error)) from error
    _ensure_one(remote, [_split(builder.endpoint)])
    with builder.toChannel() as channel:
        try:
            grpc.channel_ready_future(channel).result(timeout=_READY)
        except grpc.FutureTimeoutError:
            how = "with TLS, because of a token or use_ssl" if builder.secure else "without TLS"
            raise ClusterError(
                shown(remote), f"no Spark Connect server answers there within {_READY:.0f} s ({how})"
            ) from None


def _split(place: str) -> tuple[str, str]:
    host, _, port = place.rpartition(":")
    return host, port
