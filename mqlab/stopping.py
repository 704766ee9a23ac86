"""What signals mean to this process before much of it is imported, and while something must not be torn apart."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

SENTENCES = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated", signal.SIGHUP: "the terminal was closed"}
"""The signals that end a run, and what it says then."""

at_stop: list[Callable[[], None]] = []
"""What ends with the command line, before all children are killed."""


def end_on_signals() -> None:
    """End at once with one sentence: nothing has begun yet."""
    for number in SENTENCES:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _end)


def _end(number: int, _: FrameType | None) -> None:
    os.write(2, f"mqlab: {SENTENCES[signal.Signals(number)]}\n".encode())
    os._exit(128 + number)


handlers: set[object] = {_end}
"""The handlers of the command line, which ends its JVM itself, however far that is."""


def is_ours(number: int) -> bool:
    """Whether the command line minds the signal; in a notebook Python or Spark does."""
    return signal.getsignal(number) in handlers


@contextmanager
def held() -> Iterator[None]:
    """Hold Ctrl-C back, but for the command line: a module of which half is imported stays broken."""
    try:
        before = signal.getsignal(signal.SIGINT)
        pressed: list[int] = []
        if not is_ours(signal.SIGINT):
            signal.signal(signal.SIGINT, lambda number, _: pressed.append(number))
    except ValueError:  # signals are the main thread's
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if pressed:
        raise KeyboardInterrupt
