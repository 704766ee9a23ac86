"""A guest in a Spark session that somebody else made: the session is used, and stays as it was.

Material is read in a session beside it (``newSession``): on the same Spark, but with settings, views and files of its
own. What cannot be set for one session only, the Python that workers run, is put back when the reading ends. Tables are
DataFrames of the user's session itself and depend on none of its settings (``canonical``).
"""

from __future__ import annotations

import atexit
import os
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.utils import is_remote

from mqlab.errors import SessionError
from mqlab.spark import clusters
from mqlab.spark.session import OWN, heed_interrupts, package, tune

_FLAG = "SPARK_CONNECT_MODE_ENABLED"
"""The variable by which PySpark's functions know whether columns are for Spark Connect."""
_OF_WORKSPACE = ("MQLAB_WORKSPACE", "XDG_CACHE_HOME")
"""Variables that say where the workspace is."""


def host(given: SparkSession | None, master: str | None, remote: str | None) -> SparkSession | None:
    """The session to be a guest in: *given*, else the active one; None where mqlab made it, or where there is none.

    Raises:
        SessionError: *given* was stopped, or *master* or *remote* ask for another Spark.
    """
    found = active() if given is None else given
    if found is None or found in OWN:
        return None
    if given is not None and _is_stopped(given):
        raise SessionError(_place(given), "it was stopped; start a new one and open the capture again")
    if master or remote:
        raise SessionError(
            _place(found), "master or remote name another Spark; leave them out to use this one, or stop it first"
        )
    return found


@contextmanager
def beside(user: SparkSession) -> Iterator[Callable[[int], SparkSession]]:
    """What starts a session for so many bytes beside that of the *user*; it ends with the block.

    Raises:
        SessionError: the session of the user was stopped meanwhile, or its workers lack something.
    """
    made: list[SparkSession] = []
    with spoken_to(user), _told(user), ExitStack() as left:

        def start(size: int) -> SparkSession:
            if not made:
                made.append(new := _new(user, size))
                left.enter_context(_at_server(new) if _is_connect(user) else _in_context(new))
            return made[0]

        yield start


_ANSWERING: WeakKeyDictionary[SparkSession, SparkSession] = WeakKeyDictionary()


def answering(user: SparkSession, size: int) -> SparkSession:
    """The session beside that of the *user* in which questions are asked; it lives as long as the other."""
    if user not in _ANSWERING:
        _ANSWERING[user] = new = _new(user, size)
        if _is_connect(new):
            atexit.register(new.client.close)  # a channel that Python itself closes while it ends waits for ever
    return _ANSWERING[user]


@contextmanager
def spoken_to(session: SparkSession) -> Iterator[None]:
    """Within it PySpark's functions are for the kind of *session*, whichever kind this process uses elsewhere."""
    if _is_connect(session) == is_remote():
        yield
        return
    before = os.environ.pop(_FLAG, None)
    if before is None:
        os.environ[_FLAG] = "1"
    try:
        yield
    finally:
        os.environ.pop(_FLAG, None)
        if before is not None:
            os.environ[_FLAG] = before


def active() -> SparkSession | None:
    """The session of this thread, else of this process; of whichever kind.

    Raises:
        SessionError: its JVM ended, and PySpark cannot start another one in this process.
    """
    connect = sys.modules.get("pyspark.sql.connect.session")
    for kind in (SparkSession, connect.SparkSession if connect else SparkSession):
        try:
            found: SparkSession = kind.active()
        except PySparkException:
            continue
        except (Py4JError, ConnectionError) as error:
            raise SessionError("classic", "its JVM ended; restart this Python") from error
        if not _is_stopped(found):
            return found
    return None


def _is_connect(session: SparkSession) -> bool:
    return ".connect." in type(session).__module__


def _is_stopped(session: Any) -> bool:
    if _is_connect(session):
        return bool(session.is_stopped)
    context = session.sparkContext._jsc  # gone where it was stopped from Python
    try:
        return context is None or bool(context.sc().isStopped())
    except (Py4JError, ConnectionError):  # its JVM ended
        return True


def _place(session: Any) -> str:
    return f"sc://{session.client.host}" if _is_connect(session) else str(session.sparkContext.master)


def _new(user: SparkSession, size: int) -> SparkSession:
    if _is_connect(user):
        session = user.newSession()
    else:
        from pyspark.core.rdd import RDD

        to_df = RDD.toDF  # every classic session that is made takes it over
        session = user.newSession()
        RDD.toDF = to_df  # type: ignore[method-assign]
    tune(session, size)
    return session


@contextmanager
def _at_server(session: Any) -> Iterator[None]:
    """End *session* at its server after the block, with what it runs and the package that its workers were sent."""
    from pyspark.sql.connect.client.retries import DefaultPolicy

    try:
        with equipped(session):
            yield
    finally:
        session.client.set_retry_policies([DefaultPolicy(max_retries=2)])
        with suppress(Exception):  # the server may be gone
            session.client.release_session()
        session.client.close()


@contextmanager
def _in_context(session: Any) -> Iterator[None]:
    """Within it workers of the context of *session* have this package; what ends the block stops its jobs."""
    heed_interrupts()
    with equipped(session):
        try:
            yield
        except BaseException:
            with suppress(Exception):
                session.interruptAll()
            raise


@contextmanager
def equipped(session: Any) -> Iterator[None]:
    """What *session* is given within it to run on workers has this package, and on this machine the Python of here."""
    if _is_here(session):
        with _lent(context := session.sparkContext):
            context.pythonExec = sys.executable or context.pythonExec
            context.environment = context.environment | _of_here(context.environment)
            yield
        return
    session.addArtifacts(package(), pyfile=True)
    try:
        yield
    finally:
        if not _is_connect(session):
            session.sparkContext._python_includes.remove(Path(package()).name)
        _unlist()


@contextmanager
def _lent(context: Any) -> Iterator[None]:
    """Put back what *context* has workers run, and in which environment."""
    python, environment = context.pythonExec, context.environment
    try:
        yield
    finally:
        context.pythonExec, context.environment = python, environment


def _unlist() -> None:
    """Take the package that workers were sent off the path of this process, where PySpark puts it, too."""
    name = Path(package()).name
    sys.path[:] = [place for place in sys.path if Path(place).name != name]


def _is_here(session: Any) -> bool:
    return not _is_connect(session) and str(session.sparkContext.master).startswith("local")


def _of_here(environment: Mapping[str, str]) -> dict[str, str]:
    """What lets this Python find this package where it is not installed, and the workspace that is used here."""
    folder = str(Path(__file__).parents[2])
    known = {name: os.environ[name] for name in _OF_WORKSPACE if name in os.environ}
    if folder == sysconfig.get_path("purelib"):
        return known
    return known | {"PYTHONPATH": os.pathsep.join(filter(None, [environment.get("PYTHONPATH"), folder]))}


@contextmanager
def _told(user: SparkSession) -> Iterator[None]:
    """Turn what stops the *user*'s Spark into a sentence; on this machine the rest stays a bug of ours."""
    try:
        yield
    except (PySparkException, Py4JError, ConnectionError) as error:
        because = "it was stopped meanwhile" if _is_stopped(user) else clusters.lacking(str(error))
        if because is None and _is_here(user):
            raise
        raise SessionError(_place(user), because or clusters.because(error)) from error
