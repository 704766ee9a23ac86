"""A client of Kafka that is entered gently: one login is tried first, and one that is refused is never tried again.

librdkafka takes no refusal as final, and tells of one only where it is polled, so that a thread of its own does that.
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from queue import Empty, SimpleQueue
from time import monotonic, sleep
from typing import Any

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient

from mqlab.gather.client_config import BETWEEN_TRIES_MS
from mqlab.gather.manifest import Manifest
from mqlab.gather.schedule import RefusedError

TIMEOUT = 10.0
"""Seconds for an answer; a broker that is lost costs one of these a question."""
BETWEEN_TRIES = BETWEEN_TRIES_MS / 1000
"""Seconds between two clients, each of which connects anew."""
_POLL = 0.05
"""Seconds in which a refusal is seen: a broker answers a wrong password after a tenth of a second at the earliest."""
_MOST_TURNED_AWAY = 3
"""Rounds after which brokers that close every connection are left alone: one that restarts is back by then, and old
ones refuse a login like that, or one with the wrong ``security.protocol``."""
_Properties = dict[str, Any]
_FINAL = (KafkaError._AUTHENTICATION, KafkaError._SSL)
"""Errors after which another try can only be refused again: passwords, tokens, tickets; certificates of either side."""
_ALERT = re.compile(r"SSL alert number (?:4\d|51|7[01]|1\d\d)\b|certificate verify failed", re.ASCII)
"""The same as TLS says it: all alerts about certificates, versions and ciphers. librdkafka calls it a lost connection
where it says so again, and where the broker refuses a certificate under TLS 1.3."""
_CLOSED = (
    "the brokers close every connection, as they do where a login is missing or security.protocol is wrong; "
    "the cluster is not asked again"
)
_PLACE = re.compile(r"(?:\w+://)?(?P<broker>[^\s/]+)/\S+: (?P<said>.*?)(?: \(after .*)?", re.DOTALL)
"""How librdkafka begins and ends what it says of a connection."""


def reason(error: KafkaException) -> str:
    """What went wrong, in librdkafka's words."""
    return str(error.args[0].str()).rstrip(".")


def check(reached: Mapping[str, str]) -> None:
    """Have librdkafka look at the properties, without a connection.

    Raises:
        KafkaException: it does not take them.
    """
    offline: _Properties = {key: value for key, value in reached.items() if key != "bootstrap.servers"}
    if "sasl.oauthbearer.method" in offline:
        offline["sasl.oauthbearer.method"] = "default"  # a token is fetched as soon as a client is made
    AdminClient(offline, logger=logging.Logger("mqlab.gather.kafka", logging.CRITICAL))


class Client:
    """A client that connects as soon as it is made; *refused* is told, from a thread, of a login that is refused."""

    def __init__(self, reached: Mapping[str, str], refused: Callable[[str], None]) -> None:
        self._refused, self._complaints = refused, _Complaints()
        self._down, self._over = threading.Event(), threading.Event()
        logger = logging.Logger("mqlab.gather.kafka")
        logger.addHandler(self._complaints)
        properties: _Properties = {**reached, "error_cb": self._failed}
        self.admin = AdminClient(properties, logger=logger)
        self._thread = threading.Thread(target=self._poll, args=(self.admin,), daemon=True)
        self._thread.start()

    def answers(self) -> bool:
        """Whether the broker to begin with does."""
        asked = self.admin.describe_cluster(request_timeout=TIMEOUT)
        until = monotonic() + TIMEOUT
        while not asked.done() and not self._down.is_set() and monotonic() < until:
            sleep(_POLL)
        return asked.done() and asked.exception() is None

    def tell(self, manifest: Manifest) -> bool:
        """Note what it has complained of since; whether a broker closed a connection in place of an answer."""
        closed = False
        for level, said in self._complaints.taken():
            closed |= "Disconnected" in said
            if level >= logging.WARNING:
                manifest.failed("connections", said)
        return closed

    def leave(self) -> None:
        """Leave all brokers."""
        self._over.set()
        self._thread.join()
        del self.admin

    def _poll(self, admin: AdminClient) -> None:
        while not self._over.is_set():
            admin.poll(_POLL)

    def _failed(self, error: KafkaError) -> None:
        if error.code() in _FINAL or _ALERT.search(error.str()):
            self._refused(refusal(error.str()))
        if error.code() == KafkaError._ALL_BROKERS_DOWN:
            self._down.set()


class Entrance:
    """The way into a cluster: its brokers are tried one after the other, until one lets in.

    librdkafka, given all of them, would show a wrong password to each. From the one that answers it learns the others,
    connects to all as they call themselves, to that one too, and leaves the connection that it began with.
    """

    def __init__(self, reached: Mapping[str, str], refused: Callable[[str], None]) -> None:
        self._reached, self._refused, self._turned_away = reached, refused, 0

    def client(self, manifest: Manifest) -> Client | None:
        """A client with one connection to each broker; None where none answers.

        Raises:
            RefusedError: brokers have closed the connection, again and again.
        """
        with manifest.asking("brokers to begin with", ConnectionError):
            closed = False
            for server in servers(self._reached):
                client = Client({**self._reached, "bootstrap.servers": server}, self._refused)
                if client.answers():
                    return client
                client.leave()
                closed |= client.tell(manifest)
                sleep(BETWEEN_TRIES)
            self._turned_away += closed
            if self._turned_away >= _MOST_TURNED_AWAY:
                raise RefusedError(_CLOSED)
            raise ConnectionError("no broker answers")
        return None


def servers(reached: Mapping[str, str]) -> list[str]:
    """The brokers to begin with, each once."""
    return list(dict.fromkeys(filter(None, (one.strip() for one in reached["bootstrap.servers"].split(",")))))


def refusal(said: str) -> str:
    """Where and why a login failed; of two sides that check certificates either may have refused the other."""
    place = _PLACE.fullmatch(said)
    broker, because = place.group("broker", "said") if place else ("the cluster", said)
    return f"at {broker} ({because.rstrip('.')}); no broker of the cluster is asked again"


class _Complaints(logging.Handler):
    """Keeps what the client says of connections that failed: most of it stands nowhere else."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self._queue: SimpleQueue[tuple[int, str]] = SimpleQueue()

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one line, without the thread that it names."""
        self._queue.put((record.levelno, record.getMessage().rpartition("]: ")[2]))

    def taken(self) -> Iterator[tuple[int, str]]:
        """What came since it was asked last."""
        while True:
            try:
                yield self._queue.get_nowait()
            except Empty:
                return
