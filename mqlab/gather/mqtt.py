"""What any broker of MQTT tells of itself below ``$SYS``, and how large the messages of some topics are.

A client of its own listens: under an id of 128 random bits that is nobody's, with a clean start and a session that ends
with the connection, without a will. It subscribes at QoS 0 and publishes nothing; shared subscriptions, which would
take messages from others, are refused. Of messages outside ``$SYS`` only topic, size and flags are kept.
"""

from __future__ import annotations

import math
import secrets
import ssl
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from paho.mqtt.client import Client, MQTTMessage, MQTTv5, MQTTv311
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode
from paho.mqtt.subscribeoptions import SubscribeOptions

from mqlab.errors import MqlabError
from mqlab.gather.bundle import Bundle
from mqlab.gather.manifest import iso, now, stamp
from mqlab.gather.schedule import RefusedError, Tick

READS = (
    "connect", "disconnect", "loop_start", "loop_stop", "on_connect", "on_disconnect", "on_message", "subscribe",
    "tls_set", "unsubscribe", "username_pw_set",
)  # fmt: skip
"""Everything that is asked of the client; nothing of it changes anything at the broker."""
_SYSTEM = "$SYS/#"
_BETWEEN_TRIES = 3.0
"""Seconds between two tries to connect."""
_MOST_TURNED_AWAY = 3
"""Connections that the broker closes in place of an answer, after which it is left alone: some refuse logins so."""
_PASSING = (0x88, 0x89, 0x97, 0x9F)
"""Reason codes of a broker that may take the same client a little later: unavailable, busy, quota, rate."""
_ANSWER = 10.0
"""Seconds for the broker's answer to CONNECT."""
_NO_ANSWER = f"no answer to CONNECT within {_ANSWER:.0f} s"
_FIRST = 2.0
"""Seconds in which retained values come in after the subscription."""
_MOST_LINES = 200_000
"""Lines of ``$SYS`` that are kept between two samplings."""
_MOST_TOPICS = 20_000
_UNSUPPORTED = 0x84
"""Reason code: unsupported protocol version."""


class SharedError(MqlabError):
    """A filter that would take messages from others, or of which the broker's own counters come."""

    def __init__(self, topic: str) -> None:
        super().__init__(
            f"{topic!r} is a shared subscription and would take messages from other clients: give a plain filter."
        )


@dataclass(frozen=True, slots=True)
class Broker:
    """Where it is and how to get in."""

    host: str
    port: int
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    tls: bool = False
    cafile: Path | None = None
    cert: Path | None = None
    key: Path | None = None


@dataclass(frozen=True, slots=True)
class Sniff:
    """How long and what is listened to."""

    filters: Sequence[str] = ()
    seconds: float = 10.0
    messages: int = 20_000
    """After so many it is over."""

    def __post_init__(self) -> None:
        """Refuse what is not plain.

        Raises:
            SharedError: a shared subscription, or one for a queue.
        """
        for topic in self.filters:
            if topic.startswith("$"):
                raise SharedError(topic)


@dataclass(slots=True)
class Heard:
    """What came in since the last sampling."""

    lines: list[str] = field(default_factory=list)
    left_out: int = 0
    sizes: dict[tuple[str, int, bool], Counter[str]] = field(default_factory=dict)
    """Messages, bytes and the largest, by topic, QoS and whether retained."""
    messages: int = 0
    full: threading.Event = field(default_factory=threading.Event)


class Listener:
    """A client that listens, from the first tick to the end of the block in ``listening``.

    The client's own way of connecting again is off: it knows no refusal that is final, and no pause of two seconds.
    """

    def __init__(self, broker: Broker, sniff: Sniff, bundle: Bundle) -> None:
        """Nothing is connected yet."""
        self._broker, self._sniff, self._bundle = broker, sniff, bundle
        self._heard, self._lock, self._answered = Heard(), threading.Lock(), threading.Event()
        self._refused: ReasonCode | None = None
        self._client: Client | None = None
        self._connected = threading.Event()
        self._tried, self._turned_away, self._sniffed = -math.inf, 0, False

    def __call__(self, tick: Tick) -> None:
        """Write what was heard since the last tick; connect where it is not, and listen to the topics at the first.

        Raises:
            RefusedError: the broker refused the login.
        """
        if not self._connected.is_set():
            self.end()
            with self._bundle.manifest.asking("broker over MQTT", OSError, ValueError):
                self._client = self._entered()
                time.sleep(_FIRST)
                if not self._heard.lines:
                    because = "nothing came: this user may not read it, or the broker publishes nothing there"
                    self._bundle.manifest.failed(_SYSTEM, because)
                if self._sniff.filters and not self._sniffed:
                    self._sniffed = True
                    self._listen(self._client)
        with self._lock:
            heard, self._heard = self._heard, Heard()
        if heard.lines:
            self._bundle.write(f"mqtt/sys-topics.{stamp(tick.at)}.log", "".join(heard.lines))
        if heard.left_out:
            self._bundle.manifest.failed("broker over MQTT", f"{heard.left_out} values of $SYS were too many")
        if heard.sizes:
            self._bundle.write(f"mqtt/topic-sizes.{stamp(tick.at)}.prom", _sizes(heard))

    def end(self) -> None:
        """Leave the broker, where it was ever reached."""
        if self._client is not None:
            self._connected.clear()
            self._client.disconnect()
            self._client.loop_stop()
            self._client = None

    def _entered(self) -> Client:
        """A client that is connected, with MQTT 5 or, where that is refused, 3.1.1.

        Raises:
            OSError: nobody answers.
            ValueError: it was refused for now.
            RefusedError: it was refused for good.
        """
        for protocol in (MQTTv5, MQTTv311):
            client = self._made(protocol)
            answered = self._asked(client, protocol)
            if self._connected.is_set():
                return client
            client.disconnect()
            client.loop_stop()
            if self._refused is None:
                self._turn_away(answered)
            elif self._refused.value not in (*_PASSING, _UNSUPPORTED, 1):
                raise self._refusal(str(self._refused))
            elif self._refused.value in _PASSING:
                break
        if self._refused is None:
            raise TimeoutError("the broker closes the connection instead of answering" if answered else _NO_ANSWER)
        raise ValueError(f"refused: {self._refused}")

    def _asked(self, client: Client, protocol: int) -> bool:
        """Whether anything was answered to CONNECT, if only by closing the connection."""
        time.sleep(max(0.0, self._tried + _BETWEEN_TRIES - time.monotonic()))
        self._tried, self._refused = time.monotonic(), None
        self._answered.clear()
        try:
            if protocol == MQTTv5:
                ends_at_once = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
                ends_at_once.SessionExpiryInterval = 0
                client.connect(self._broker.host, self._broker.port, clean_start=True, properties=ends_at_once)
            else:
                client.connect(self._broker.host, self._broker.port)
        except ssl.SSLError as error:
            raise self._refusal(error.reason or str(error)) from error
        client.loop_start()
        return self._answered.wait(_ANSWER)

    def _turn_away(self, answered: bool) -> None:
        self._turned_away += answered
        if self._turned_away >= _MOST_TURNED_AWAY:
            raise self._refusal("it closes every connection instead of answering")

    def _refusal(self, because: str) -> RefusedError:
        return RefusedError(f"{self._broker.host}:{self._broker.port} refused it ({because}); it is not asked again")

    def _made(self, protocol: int) -> Client:
        broker, name = self._broker, f"mqlab-{secrets.token_hex(16)}"
        options: dict[str, Any] = {} if protocol == MQTTv5 else {"clean_session": True}
        client = Client(
            CallbackAPIVersion.VERSION2,
            client_id=name,
            protocol=protocol,  # type: ignore[arg-type]
            reconnect_on_failure=False,
            **options,
        )
        if broker.username is not None:
            client.username_pw_set(broker.username, broker.password)
        if broker.tls or broker.cafile:
            given = broker.cafile, broker.cert, broker.key
            authorities, cert, key = (str(each) if each else None for each in given)
            client.tls_set(authorities, cert, key)
        client.on_connect, client.on_message, client.on_disconnect = self._came_in, self._came, self._lost
        return client

    def _came_in(self, client: Client, _: object, __: object, reason: ReasonCode, ___: object) -> None:
        self._refused = reason if reason.is_failure else None
        if self._refused is None:
            self._turned_away = 0
            self._connected.set()
            client.subscribe(_SYSTEM, qos=0)
        self._answered.set()

    def _lost(self, _: Client, __: object, ___: object, reason: ReasonCode, ____: object) -> None:
        if self._connected.is_set() and reason.is_failure:
            self._bundle.manifest.failed("broker over MQTT", f"the connection ended: {reason}")
        self._connected.clear()
        self._answered.set()

    def _came(self, _: Client, __: object, message: MQTTMessage) -> None:
        with self._lock:
            heard = self._heard
            if message.topic.startswith("$"):
                if len(heard.lines) < _MOST_LINES:
                    said = " ".join(message.payload.decode("utf-8", "backslashreplace").split())
                    heard.lines.append(f"{iso(now())} {message.topic} {said}\n")
                else:
                    heard.left_out += 1
                return
            of = (message.topic, message.qos, message.retain)
            if of in heard.sizes or len(heard.sizes) < _MOST_TOPICS:
                size = len(message.payload)
                count = heard.sizes.setdefault(of, Counter())
                count["largest"] = max(count["largest"], size)
                count.update(messages=1, bytes=size)
            heard.messages += 1
            if heard.messages >= self._sniff.messages:
                heard.full.set()

    def _listen(self, client: Client) -> None:
        """Listen to the topics for a while; what is retained there is not asked for, where MQTT 5 is spoken."""
        with self._lock:
            full = self._heard.full
        five = client.protocol == MQTTv5
        for topic in self._sniff.filters:
            if five:
                client.subscribe(topic, options=SubscribeOptions(qos=0, retainHandling=2))
            else:
                client.subscribe(topic, qos=0)
        full.wait(self._sniff.seconds)
        for topic in self._sniff.filters:
            client.unsubscribe(topic)


@contextmanager
def listening(broker: Broker, sniff: Sniff, bundle: Bundle) -> Iterator[Listener]:
    """A listener that leaves the broker at the end of the block."""
    listener = Listener(broker, sniff, bundle)
    try:
        yield listener
    finally:
        listener.end()


def _sizes(heard: Heard) -> str:
    """Messages, bytes and the largest by topic, as an exporter would print them."""
    lines = []
    for (topic, qos, retained), count in sorted(heard.sizes.items()):
        named = topic.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        labels = f'{{topic="{named}",qos="{qos}",retained="{str(retained).lower()}"}}'
        lines += [
            f"mqlab_sniffed_messages{labels} {count['messages']}",
            f"mqlab_sniffed_bytes{labels} {count['bytes']}",
            f"mqlab_sniffed_largest_bytes{labels} {count['largest']}",
        ]
    return "".join(f"{line}\n" for line in sorted(lines))
