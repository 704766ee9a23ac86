"""Where Spark runs when it is not here: which master or Connect server was chosen, and whether it answers.

Everything is asked before a session starts, with a deadline: Spark itself would try again for minutes.
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path

from mqlab.errors import ClusterError

_CONNECTING = 5.0
_READY = 20.0
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
    """What *error* says, in one line and without a full stop."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[0] if lines else type(error).__name__)[:300].rstrip(".:")


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
