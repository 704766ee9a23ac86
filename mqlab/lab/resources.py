"""Ports and memory, looked at before anything is started."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Sequence
from pathlib import Path

import psutil

from mqlab import units
from mqlab.lab.errors import TooLittleError

LOOPBACK = "127.0.0.1"
_DISK = 2_000_000_000
"""Bytes that a scenario may write: logs of brokers, segments, a capture."""


def listening(port: int, host: str = LOOPBACK) -> bool:
    """Whether somebody answers at this port."""
    with socket.socket() as probe:
        probe.settimeout(0.5)
        return probe.connect_ex((host, port)) == 0


def check_ports(ports: Sequence[int]) -> None:
    """Make sure that these ports are free on loopback.

    Raises:
        TooLittleError: one is taken.
    """
    for port in ports:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((LOOPBACK, port))
            except OSError as error:
                raise TooLittleError(
                    f"Port {port} is in use ({error.strerror}): stop what listens there, or choose others with --ports."
                ) from error


def check_space(megabytes: float, folder: Path) -> None:
    """Make sure that so much memory is free, and the disk takes what brokers write.

    Raises:
        TooLittleError: it is not.
    """
    free = psutil.virtual_memory().available
    if free < megabytes * 1e6:
        raise TooLittleError(
            f"This needs {units.size(megabytes * 1e6)} of memory and {units.size(free)} are free: "
            "stop something, or choose a scenario with fewer brokers."
        )
    left = shutil.disk_usage(folder).free
    if left < _DISK:
        raise TooLittleError(
            f"{folder} has {units.size(left)} of free space, and the lab may need {units.size(_DISK)}: free some."
        )
