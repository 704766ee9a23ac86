"""What any broker of MQTT tells of itself below ``$SYS``, and how large the messages of some topics are.

A client of its own listens: under an id of 128 random bits that is nobody's, with a clean start and a session that ends
with the connection, without a will. It subscribes at QoS 0 and publishes nothing; shared subscriptions, which would
take messages from others, are refused. Of messages outside ``$SYS`` only topic, size and flags are kept.
"""

from __future__ import annotations

import secrets
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
from mqlab.gather.schedule import Tick

READS = (
    "connect", "disconnect", "loop_start", "loop_stop", "on_connect", "on_disconnect", "on_message", "subscribe",
    "tls_set", "unsubscribe", "username_pw_set",
)  # fmt: skip
"""Everything that is asked of the client; nothing of it changes anything at the broker."""
_SYSTEM = "$SYS/#"
_ANSWER = 10.0
"""Seconds for the broker's answer to CONNECT."""
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
        super().__init__(f"{topic!r} is not listened to: it would take messages from others. Give plain filters.")


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
    """A client that listens, from the first tick to the end of the block in ``listening``."""

    def __init__(self, broker: Broker, sniff: Sniff, bundle: Bundle) -> None:
        """Nothing is connected yet."""
        self._broker, self._sniff, self._bundle = broker, sniff, bundle
        self._heard, self._lock, self._answered = Heard(), threading.Lock(), threading.Event()
        self._refused: ReasonCode | None = None
        self._client: Client | None = None

    def __call__(self, tick: Tick) -> None:
        """Write what was heard since the last tick; connect and listen to the topics at the first."""
        if self._client is None:
            with self._bundle.manifest.asking("broker over MQTT", OSError, ValueError):
                self._client = self._connected()
                time.sleep(_FIRST)
                if not self._heard.lines:
                    because = "nothing came: this user may not read it, or the broker publishes nothing there"
                    self._bundle.manifest.failed(_SYSTEM, because)
                if self._sniff.filters:
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
            self._client.disconnect()
            self._client.loop_stop()

    def _connected(self) -> Client:
        """A client that is connected, with MQTT 5 or, where that is refused, 3.1.1.

        Raises:
            OSError: nobody answers.
            ValueError: it was refused.
        """
        for protocol in (MQTTv5, MQTTv311):
            client = self._made(protocol)
            self._answered.clear()
            if protocol == MQTTv5:
                ends_at_once = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
                ends_at_once.SessionExpiryInterval = 0
                client.connect(self._broker.host, self._broker.port, clean_start=True, properties=ends_at_once)
            else:
                client.connect(self._broker.host, self._broker.port)
            client.loop_start()
            answered = self._answered.wait(_ANSWER)
            if answered and self._refused is None:
                return client
            client.disconnect()
            client.loop_stop()
            if not answered and protocol == MQTTv311:
                raise TimeoutError(f"no answer to CONNECT within {_ANSWER:.0f} s")
            if self._refused is not None and self._refused.value not in (_UNSUPPORTED, 1):
                raise ValueError(f"refused: {self._refused}")
        raise ValueError(f"refused: {self._refused}")

    def _made(self, protocol: int) -> Client:
        broker, name = self._broker, f"mqlab-{secrets.token_hex(16)}"
        options: dict[str, Any] = {} if protocol == MQTTv5 else {"clean_session": True}
        client = Client(CallbackAPIVersion.VERSION2, client_id=name, protocol=protocol, **options)  # type: ignore[arg-type]
        if broker.username is not None:
            client.username_pw_set(broker.username, broker.password)
        if broker.tls or broker.cafile:
            given = broker.cafile, broker.cert, broker.key
            authorities, cert, key = (str(each) if each else None for each in given)
            client.tls_set(authorities, cert, key)
        client.on_connect, client.on_message, client.on_disconnect = self._entered, self._came, self._lost
        return client

    def _entered(self, client: Client, _: object, __: object, reason: ReasonCode, ___: object) -> None:
        self._refused = reason if reason.is_failure else None
        if self._refused is None:
            client.subscribe(_SYSTEM, qos=0)
        self._answered.set()

    def _lost(self, _: Client, __: object, ___: object, reason: ReasonCode, ____: object) -> None:
        if reason.is_failure:
            self._bundle.manifest.failed("broker over MQTT", f"the connection ended: {reason}")

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
