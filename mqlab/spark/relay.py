"""The way to the warm server: a port of this process whose bytes reach that server and nobody else.

A channel of gRPC connects again whenever it must, and sends the token to whoever listens by then: another user may have
taken the port of a server that died. So the channel ends at a port of this process, which stays ours until the process
has ended, and before a byte goes on the server proves itself: its process, which is this user's, holds the other end of
that very connection. The kernel says so, through psutil, on Linux and macOS.
"""

from __future__ import annotations

import os
import socket
import time
from contextlib import suppress
from functools import cache
from threading import Thread
from typing import Any

import psutil

HERE = "127.0.0.1"
PROOF = 3.0
"""Seconds in which a server that lives accepts a connection; a process that is stopped never does."""
_LOOK = 0.02
"""Seconds between two looks at whether it has."""
_BLOCK = 1 << 18
"""Bytes that are passed on at once."""


@cache
def port_to(pid: int, port: int) -> int:
    """The port of this process, on loopback, that leads to *port* of process *pid* of this user."""
    listener = socket.socket()
    listener.bind((HERE, 0))
    listener.listen()
    os.dup(listener.fileno())  # so that the port is ours until the kernel ends this process, not until Python does
    Thread(target=_serve, args=(listener, pid, port), daemon=True).start()
    return int(listener.getsockname()[1])


def has_end(pid: int, own: tuple[str, int], other: tuple[str, int]) -> bool:
    """Whether process *pid* of this user holds the end *own* of a TCP connection with *other*."""
    try:
        process = psutil.Process(pid)
        return set(process.uids()) == {os.geteuid()} and any(
            _address(known.laddr) == own and _address(known.raddr) == other for known in process.net_connections("tcp")
        )
    except psutil.Error:
        return False


def _address(known: Any) -> tuple[str, int] | None:
    """Address and port; Java's sockets are of IPv6 and say so."""
    return (known.ip.removeprefix("::ffff:"), known.port) if known else None


def _serve(listener: socket.socket, pid: int, port: int) -> None:
    while True:
        near, _ = listener.accept()
        Thread(target=_carry, args=(near, pid, port), daemon=True).start()


def _carry(near: socket.socket, pid: int, port: int) -> None:
    """Pass on what comes through *near*, where this process is at its other end, once the server has proved itself."""
    with near, socket.socket() as far, suppress(OSError):
        if not has_end(os.getpid(), near.getpeername(), near.getsockname()):
            return
        far.connect((HERE, port))
        if not _is_proved(far, pid):
            return
        for end in (near, far):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        Thread(target=_copy, args=(near, far), daemon=True).start()
        _copy(far, near)


def _is_proved(far: socket.socket, pid: int) -> bool:
    deadline = time.monotonic() + PROOF
    while not has_end(pid, far.getpeername(), far.getsockname()):
        if time.monotonic() > deadline or not psutil.pid_exists(pid):
            return False
        time.sleep(_LOOK)
    return True


def _copy(source: socket.socket, sink: socket.socket) -> None:
    """Pass bytes on until one side ends, then end both."""
    with suppress(OSError):
        while data := source.recv(_BLOCK):
            sink.sendall(data)
    for end in (source, sink):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
