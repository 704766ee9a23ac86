"""What begins before Python has imported the rest: the JVM and the session, unless the workspace has the answer.

Importing what reads and diagnoses takes as long as Spark's start; both go on side by side, so the JVM comes first.
"""

from __future__ import annotations

import errno
import resource
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from mqlab.cache import workspace
from mqlab.errors import LimitError, MqlabError
from mqlab.material import small
from mqlab.spark import jvm

_ADDRESSES = 4_000_000_000
"""Bytes of addresses that Python and Java reserve; they use a quarter (docs/scale.md). With less, one of them fails."""
_FILES = 1024
"""Open files that Java may need: Spark alone has 300 jars."""
_begun: list[Future[object]] = []


def begin(paths: Sequence[str], chosen: Mapping[str, Any]) -> None:
    """Start Spark for *paths* with the options *chosen*; what fails here fails again where it is waited for.

    Raises:
        LimitError: this process may use less memory, or open fewer files, than Python and Java need.
    """
    _check_limits()
    if small.may_be(paths):
        return
    with suppress(MqlabError):
        cache = workspace.cache_folder(chosen.get("workspace"))
        local = workspace.local_folder(cache)
        if not jvm.start_jvm(master=chosen.get("master"), remote=chosen.get("remote"), log=local / "jvm.log"):
            return
        if not chosen.get("ledger") and _is_known(paths, cache):
            jvm.discard()
            return
        from mqlab.spark.session import spark_session

        pool = ThreadPoolExecutor(1)
        _begun.append(pool.submit(spark_session, master=chosen.get("master"), cache=local))
        pool.shutdown(wait=False)


def is_begun() -> bool:
    """Whether a session was begun that nobody waited for yet: this process has no other."""
    return bool(_begun)


def _check_limits() -> None:
    """Use as many open files as are allowed, and see that these and the memory are enough."""
    files, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= most < _FILES:
        raise LimitError.of(errno.EMFILE)
    if 0 <= files < _FILES:
        resource.setrlimit(resource.RLIMIT_NOFILE, (_FILES, most))
    if 0 <= resource.getrlimit(resource.RLIMIT_AS)[0] < _ADDRESSES:
        raise LimitError.of(errno.ENOMEM)


def wait() -> None:
    """Return when the session that was begun is there, or has failed."""
    while _begun:
        with suppress(Exception):
            _begun[-1].result()
        _begun.pop()


def _is_known(paths: Sequence[str], cache: Any) -> bool:
    """Whether an earlier run keeps what it read of *paths*; files elsewhere are not looked at."""
    from mqlab.cache import dependence, entries
    from mqlab.ledgers.mapping import NO_MAP
    from mqlab.material import remote as filesystems

    if any(map(filesystems.is_uri, paths)):
        return False
    file = entries.place(cache, paths, dependence.version(dependence.THINNING) + NO_MAP.version)
    known = entries.state(paths) if file.exists() else None
    return known is not None and entries.load(file, known) is not None
