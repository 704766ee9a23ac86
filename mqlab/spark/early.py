"""What begins before Python has imported the rest: the JVM and the session, unless the workspace has the answer.

Importing what reads and diagnoses takes as long as Spark's start; both go on side by side, so the JVM comes first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from mqlab.cache import workspace
from mqlab.errors import MqlabError
from mqlab.spark import jvm

_begun: list[Future[object]] = []


def begin(paths: Sequence[str], chosen: Mapping[str, Any]) -> None:
    """Start Spark for *paths* with the options *chosen*; what fails here fails again where it is waited for."""
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
