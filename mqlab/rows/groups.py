"""Rows of Facts about consumer groups: who is connected, who holds which queue, who handled which messages."""

from __future__ import annotations

from dataclasses import dataclass

from mqlab.findings import Evidence


@dataclass(frozen=True, slots=True)
class Client:
    """One client as one snapshot saw it; row of CLIENTS."""

    at: float | None
    system: str
    group: str | None
    client_id: str | None
    peer: str | None
    """Address as the broker sees it, with the port where it is known: ``10.0.0.1:52130``."""
    subscription: str | None
    """``TOPIC:expression;TOPIC:expression``, sorted; None where the source does not say."""
    version: str | None
    source: str
    line: int | None
    text: str
    connected: str | None = None
    clean: str | None = None
    expiry: int | None = None
    queued: int | None = None
    dropped: int | None = None

    @property
    def evidence(self) -> Evidence:
        """Where it stands."""
        return Evidence(self.source, self.line, self.text)


@dataclass(frozen=True, slots=True)
class Assignment:
    """One queue held by one member at one moment; row of ASSIGNMENTS."""

    at: float | None
    group: str | None
    topic: str
    queue: str
    client_id: str | None
    member_id: str | None
    peer: str | None
    source: str
    line: int | None
    text: str

    @property
    def evidence(self) -> Evidence:
        """Where it stands."""
        return Evidence(self.source, self.line, self.text)


@dataclass(frozen=True, slots=True)
class Tally:
    """How many messages of one queue somebody's ledger notes within ten seconds; LEDGER, thinned."""

    at: float
    """Begin of the ten seconds."""
    role: str
    """sent, acked, received, consumed or processed."""
    topic: str
    queue: str
    messages: int
    source: str
    line: int
    """The first of them."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """How many messages, first handled within ten seconds, the same ledgers note; LEDGER, thinned."""

    at: float
    """Begin of the ten seconds."""
    topic: str
    queue: str
    sources: tuple[str, ...]
    """Ledgers that note the message, one as often as it does."""
    messages: int


@dataclass(frozen=True, slots=True)
class Batch:
    """Polls that an application says it worked off, from lines such as ``processed 500 records in 44.6 s``.

    A poll of a second or longer has a row of its own; shorter ones that end within ten seconds share one.
    """

    at: float
    """When the last of them was done: the moment of the line."""
    client_id: str | None
    group: str | None
    polls: int
    records: int
    seconds: float
    """Time that they took, in all."""
    longest_seconds: float
    longest_records: int
    """Records of the longest poll."""
    source: str
    line: int
    """The line of the longest poll."""
    text: str

    @property
    def evidence(self) -> Evidence:
        """Where the longest of them stands."""
        return Evidence(self.source, self.line, self.text)
