"""A source: one file of the material, as intake found it."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from enum import StrEnum
from os import SEEK_END
from pathlib import Path


class Reading(StrEnum):
    """How the lines of a source are read."""

    LOG = "L"
    """Dated lines: signatures become events, the rest is counted by minute, level and shape."""
    TABLE = "T"
    """Every line is data: command outputs, properties, text metrics, CSV."""
    DOCUMENT = "D"
    """One JSON document, read whole."""
    COUNT = "C"
    """Counted only: nobody recognised it, or nothing in it is used yet."""


class Role(StrEnum):
    """What a source is to who wrote it."""

    BROKER_LOG = "log of a broker"
    CLIENT_LOG = "log of a client"
    """What a client library writes, alone or among the lines of its application."""
    APPLICATION_LOG = "log of an application"
    LOG = "log"
    """Of anything else: proxies, JVMs, processes."""
    COMMAND = "output of a command"
    CONFIGURATION = "configuration"
    METRICS = "metrics"
    LEDGER = "ledger"
    STORE = "file of a broker's own"
    UNKNOWN = "unknown"

    @property
    def is_log(self) -> bool:
        """Somebody wrote it line by line, as things happened."""
        return self in (Role.BROKER_LOG, Role.CLIENT_LOG, Role.APPLICATION_LOG, Role.LOG)


class Envelope(StrEnum):
    """What a collector wrapped around each line."""

    NONE = "n"
    DOCKER = "d"
    """Docker json-file: ``{"log":"…\\n","stream":"stdout","time":"…Z"}``."""
    CRI = "c"
    """containerd and CRI-O: ``2024-05-01T10:00:00.123456789Z stdout F line``."""
    KUBECTL = "k"
    """``kubectl logs --prefix [--timestamps]``: ``[pod/x/kafka] line``."""
    COMPOSE = "o"
    """docker compose: ``kafka-1  | line``."""
    SYSLOG = "s"
    """journald and syslog: ``Nov 21 12:00:00 host unit[12]: line``."""
    STRUCTURED = "j"
    """One JSON object a line with message, level and time (ECS, logstash, Loki and Kibana exports)."""


CHANGED = "It changed while it was read: what was added since is not in here, and the next run reads it again."
"""The problem of a file that goes on growing."""
COPY = "copy"
"""The format of what another source has word for word."""
_NUMBERED = re.compile(r" \(\d+\)$")
"""What a member of an archive has behind its name where an earlier one has that name."""
_IN_EVERY_FOLDER = ("leader-epoch-checkpoint",)
"""Files of a broker whose folder says what they are about."""


@dataclass(frozen=True, slots=True)
class Source:
    """One file of the material.

    ``path`` is what evidence cites: relative to the argument, ``bundle.tar.gz!/logs/server.log`` inside archives,
    ``-`` for standard input. ``location`` is where the bytes can be read now.
    """

    key: str
    """16 hex digits for the content: the same for a file that was only renamed, another one for each copy."""
    path: str
    location: str
    format: str
    """A format's name, or ``unrecognised``, ``binary``, ``empty``, ``unreadable``, ``copy``."""
    reading: Reading
    envelope: Envelope
    size: int
    """Bytes on disk (compressed, where it is)."""
    modified: float | None
    """Modification time as epoch seconds; an archive member's own; None where unknown."""
    snapshot_at: float | None = None
    """Moment of a snapshot taken from the name, epoch seconds."""
    day: str | None = None
    """ISO date of headings that show an hour alone."""
    zone_written: bool = False
    """The lines carry their own zone (or epoch times)."""
    zone_rule: str | None = None
    """Offset such as ``+08:00`` that the layout of the lines fixes wherever they are written."""
    problem: str | None = None
    """Why the file, or its end, could not be read."""
    layout: str | None = None
    """How the rows of a ledger stand, as JSON (``ledgers.layout``); of a log, which lines are rows of one."""
    packed: bool = False
    """It is compressed, so that it can be read from the beginning only."""
    part: str | None = None
    """Where the lines of one thing in it lie, made whole (``material.wholes``); None where it is read as it lies."""
    origin: str | None = None
    """The file on disk that it was taken from, such as the archive around it; None where nobody but us has it."""
    copy_of: str | None = None
    """The path of the source that is read in its place, as a whole or from ``until`` on: it has the same lines."""
    until: int | None = None
    """Of a log: bytes that it has alone; those that follow stand in another one, too."""
    copied: int = 0
    """Lines that follow then."""

    @property
    def name(self) -> str:
        """Base name, without the folders of an archive and the number of one of its members."""
        return _NUMBERED.sub("", self.path.rsplit("!/", 1)[-1].rsplit("/", 1)[-1])

    @property
    def told_name(self) -> str:
        """The name, behind that of its folder where every partition has a file of that name."""
        folder = self.path.rsplit("!/", 1)[-1].rpartition("/")[0].rpartition("/")[2]
        return f"{folder}.{self.name}" if folder and self.name in _IN_EVERY_FOLDER else self.name

    @property
    def has_content(self) -> bool:
        """There is something to read."""
        return self.format not in ("empty", "unreadable", COPY)

    @property
    def identity(self) -> str:
        """What its rows depend on, beside code, name and moment: reading, envelope, content and layout."""
        own = f"{self.reading.value}{self.envelope.value}{self.key}"
        own += "" if self.until is None else f"-{self.until}"
        own += f"-{self.day}" if self.day else ""
        return f"{own}-{hashlib.sha256(self.layout.encode()).hexdigest()[:8]}" if self.layout else own

    @property
    def link(self) -> str:
        """What its rows are known by: all that they depend on beside the code.

        Identity and format, and for a table the moment of its snapshot in milliseconds (or ``-``) and its base name,
        with its folder's where only that tells, e.g.
        ``Tn5be1f3a0c7d9e264.kafka-get-offsets.1795263590000.get-offsets.orders.txt``.
        """
        moment, name = "-", self.reading.name.lower()
        if self.reading is Reading.TABLE:
            moment = "-" if self.snapshot_at is None else str(round(self.snapshot_at * 1000))
            name = re.sub(r"[^A-Za-z0-9._-]", "_", self.told_name)[:180]
        return f"{self.identity}.{self.format}.{moment}.{name}"

    @property
    def unpacked(self) -> int:
        """Bytes without compression: for .gz what its last four bytes say (RFC 1952), never less than on disk.

        Those on disk, too, where the file is gone.
        """
        if not self.location.endswith(".gz") or self.size < 18:
            return self.size
        try:
            with Path(self.location).open("rb") as file:
                file.seek(-4, SEEK_END)
                return max(self.size, int.from_bytes(file.read(4), "little"))
        except OSError:
            return self.size
