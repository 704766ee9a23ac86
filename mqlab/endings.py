"""How the command line ends: with one sentence, one exit code, and nothing left behind.

A signal is an exception where the main thread is, so that every ``with`` and ``finally`` tidies up, as after Ctrl-C.
Where that takes longer than ``GRACE``, and at the second signal, the process is ended from a thread: its children
first, then what was registered for its exit.

Nothing here imports more than the standard library, so that a signal is minded from the first milliseconds on.
"""

from __future__ import annotations

import atexit
import logging
import os
import select
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import NoReturn

from mqlab.errors import LibraryError, LimitError, MqlabError, NoFolderError
from mqlab.stopping import SENTENCES, at_stop, handlers
from mqlab.terminal import guard, safe

USAGE, INTERNAL = 64, 70
GRACE = 8.0
"""Seconds to tidy up in after a signal: less than the ten after which ``docker stop`` kills."""
_LOST = 0
"""In place of a signal's number: it was raised where nothing can be raised."""
_MOMENT = 0.05
"""Seconds until it is raised again."""
_PARTING = 2.0
"""Seconds that children get to end in: Spark's JVM takes 0.3 to remove its folders."""
_LAST = 4.0
"""Seconds for all that, and for what is registered for the exit, where the main thread does not hear."""


class Stopped(BaseException):
    """A signal asked this process to end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class Interrupted(Stopped, KeyboardInterrupt):
    """Ctrl-C did."""


class Watch:
    """Minds the signals that end the process."""

    def __init__(self) -> None:
        self.number: int | None = None
        """The signal that came, if any."""
        self.hurries = True
        """Whether tidying up has an end; what gathers or runs brokers ends in its own time."""
        self._heard, self._come = -1, -1

    def begin(self) -> None:
        """Mind them from now on; one that is ignored, as below ``nohup``, stays so."""
        self._heard, self._come = os.pipe()
        os.set_blocking(self._come, False)
        signal.set_wakeup_fd(self._come, warn_on_full_buffer=False)
        handlers.add(self._raise)
        for number in SENTENCES:
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._raise)
        sys.unraisablehook = self._raise_again
        threading.Thread(target=self._wait, name="endings", daemon=True).start()

    def _raise(self, number: int, _: FrameType | None) -> None:
        if self.number is None:
            self.number = number
            logging.disable()  # Py4J logs a traceback of Ctrl-C
            raise (Interrupted if number == signal.SIGINT else Stopped)(number)

    def _raise_again(self, lost: sys.UnraisableHookArgs) -> None:
        """Once more what came while an object was removed, where nothing can be raised."""
        if isinstance(lost.exc_value, Stopped):
            os.write(self._come, bytes([_LOST]))
        else:
            sys.__unraisablehook__(lost)

    def _wait(self) -> None:
        first = self._next(None) or signal.SIGTERM
        until = time.monotonic() + GRACE if self.hurries else None
        time.sleep(_MOMENT)
        if self.number is None:  # a handler of a library, such as that of Polars, has what waits go on waiting
            signal.siginterrupt(first, True)
            self._wake(first)
        while self._next(until) == _LOST:
            time.sleep(_MOMENT)
            self.number = None
            self._wake(first)
        _end_at_once(first)

    def _wake(self, number: int) -> None:
        signal.pthread_kill(threading.main_thread().ident or 0, number)
        self._next(None)  # this one

    def _next(self, until: float | None) -> int | None:
        """The next signal of ours; None where none comes until then."""
        while select.select([self._heard], [], [], until and max(0.0, until - time.monotonic()))[0]:
            number = os.read(self._heard, 1)[0]
            if number in SENTENCES or number == _LOST:
                return number
        return None


watch = Watch()
"""That of this process."""


def process(run: Callable[[], int]) -> NoReturn:
    """Be the process that *run* is all of: mind signals and streams, and end with its exit code."""
    try:
        guard()
        watch.begin()
        _in_a_folder()
        code = run()
    except BaseException as error:
        code = told(error)
    with suppress(Exception):
        sys.stdout.flush()
    if code == 0 and watch.number is None:
        _stop()
        sys.exit(0)
    _leave(code)


def _in_a_folder() -> None:
    try:
        Path.cwd()
    except FileNotFoundError as error:
        raise NoFolderError from error


def told(error: BaseException) -> int:
    """Say why a run ends with *error*; its exit code."""
    stopped = watch.number or _interrupt(error)
    if stopped:
        return _say(SENTENCES[signal.Signals(stopped)], 128 + stopped)
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else int(bool(error.code))
    if isinstance(error, BrokenPipeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    known = error if isinstance(error, MqlabError) else LimitError.behind(error) or LibraryError.behind(error)
    if known:
        return _say(str(known), known.exit_code)
    return _misused(error) or _bug(error)


def _interrupt(error: BaseException) -> int | None:
    """The signal where *error* is Ctrl-C, another that a capture takes for it, or what click makes of one."""
    import click

    if not isinstance(error, KeyboardInterrupt | click.Abort):
        return None
    return getattr(error.__cause__ or error, "number", signal.SIGINT)


def _misused(error: BaseException) -> int | None:
    import click

    if not isinstance(error, click.ClickException):
        return None
    error.show()
    return USAGE


def _bug(error: BaseException) -> int:
    with suppress(OSError):
        sys.stderr.write("".join(traceback.format_exception(error)))
    return _say("this is a bug in mqlab; please report the lines above.", INTERNAL)


def _say(sentence: str, code: int) -> int:
    with suppress(OSError):
        sys.stderr.write(f"mqlab: {safe(sentence)}\n")
        sys.stderr.flush()
    return code


def _leave(code: int) -> NoReturn:
    """End without waiting for threads: what they wait for is gone."""
    _stop(_end_children, atexit._run_exitfuncs)
    os._exit(code)


def _stop(*more: Callable[[], None]) -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # Spark's threads complain when their JVM goes
    for end in (*at_stop, *more):
        with suppress(Exception):  # nothing that goes wrong here is news to anybody
            end()


def _end_at_once(number: int) -> NoReturn:
    last = threading.Timer(_LAST, os._exit, (128 + number,))
    last.daemon = True
    last.start()
    os.write(2, f"mqlab: {SENTENCES[signal.Signals(number)]}\n".encode())
    _leave(128 + number)


def _end_children() -> None:
    """End all processes that this one started; those that tidy up get a moment for it."""
    import psutil

    every = psutil.Process().children(recursive=True)
    for end in (psutil.Process.terminate, psutil.Process.kill):
        for child in every:
            with suppress(psutil.Error):
                end(child)
        _, every = psutil.wait_procs(every, timeout=_PARTING)
