"""An MQTT client with paho: subscribes, publishes, or both.

Options: ``client_id``, ``host`` (address of loopback that it connects from), ``clean``, ``keepalive``, ``subscribe``
(filters), ``qos``, ``publish`` (topic, ``{k}`` counts up to ``topics``), ``rate`` per second, ``size`` in bytes,
``retain``, ``work_ms`` per message, ``wait_seconds`` (least and most before it connects again), ``echo`` (a topic under
which it publishes what it receives). Ledgers: published and received. Facts: connects, losses.
"""

from __future__ import annotations

import json
import logging
import threading
from time import monotonic, sleep
from typing import Any

from mqlab.lab.errors import MissingToolError
from mqlab.lab.loads.common import Ledger, Load, opened, stamp

try:
    import paho.mqtt.client as mqtt
    from paho.mqtt.enums import CallbackAPIVersion
except ImportError as missing:
    raise MissingToolError("paho-mqtt", "MQTT loads", "install the Python package paho-mqtt 2") from missing

_TICK = 0.05


class Client:
    """One client and its ledgers."""

    def __init__(self, load: Load) -> None:
        self.load = load
        self.log = logging.getLogger("gateway")
        self.connections = 0
        self.published = 0
        self.waiting: dict[int, tuple[str, str, str]] = {}
        self.early: set[int] = set()
        self.lock = threading.Lock()
        columns = ("received_utc", "id", "topic", "qos", "dup", "retained")
        self.received: Ledger | None = (
            load.ledger(f"received-{load.name}", columns) if load.option("subscribe", []) else None
        )
        columns = ("sent_utc", "id", "topic", "qos", "done_utc", "result")
        self.sent: Ledger | None = (
            load.ledger(f"published-{load.name}", columns) if load.option("publish", None) else None
        )
        identity = load.option("client_id", load.name)
        self.mqtt = mqtt.Client(CallbackAPIVersion.VERSION2, identity, clean_session=load.option("clean", True))
        least, most = load.option("wait_seconds", (1, 120))
        self.mqtt.reconnect_delay_set(least, most)
        self.mqtt.max_queued_messages_set(0)
        self.mqtt.on_connect = self.connected
        self.mqtt.on_disconnect = self.lost
        self.mqtt.on_subscribe = self.subscribed
        self.mqtt.on_message = self.got
        self.mqtt.on_publish = self.acked

    def run(self) -> None:
        """Connect, work until stopped, leave in good order."""
        option = self.load.option
        host, port = self.load.address.split(",")[0].rsplit(":", 1)
        self.log.info(
            "gateway starting id=%s clean_session=%s broker=%s:%s keepalive=%d",
            *(option("client_id", self.load.name), str(option("clean", True)).lower(), host, port),
            option("keepalive", 30),
        )
        self.mqtt.connect(host, int(port), option("keepalive", 30), bind_address=option("host", ""))
        self.mqtt.loop_start()
        self._publish()
        self._drained()
        self.mqtt.disconnect()
        self.mqtt.loop_stop()
        self.log.info("gateway stopping connections=%d published=%d", self.connections, self.published)
        for at, key, topic in self.waiting.values():
            self._noted(at, key, topic, "", "pending")

    def _publish(self) -> None:
        began, owed = monotonic(), 0.0
        while not self.load.stopping.is_set():
            now = monotonic()
            owed += (now - began) * self.load.option("rate", 1) + (self.load.taken("burst") or 0)
            began = now
            while owed >= 1 and self.sent is not None and not self.load.stopping.is_set():
                self._send()
                owed -= 1
            self.load.stopping.wait(_TICK)

    def _drained(self) -> None:
        """Give acknowledgements five seconds to come."""
        until = monotonic() + 5
        while self.waiting and monotonic() < until:
            sleep(_TICK)

    def _send(self) -> None:
        self.published += 1
        option = self.load.option
        key = f"{option('prefix', self.load.name)}-{self.published:07d}"
        topic = option("publish", "").replace("{k}", str(self.published % option("topics", 1)))
        payload = json.dumps({"id": key, "pad": "." * max(0, option("size", 60) - 30)})
        at, qos = stamp(), option("qos", 1)
        info = self.mqtt.publish(topic, payload, qos, option("retain", False))
        if qos == 0:
            self._noted(at, key, topic, at, "ok" if info.rc == 0 else "failed")
            return
        with self.lock:
            if info.mid in self.early:
                self.early.discard(info.mid)
                self._noted(at, key, topic, stamp(), "ok")
            else:
                self.waiting[info.mid] = (at, key, topic)

    def _noted(self, at: str, key: str, topic: str, done: str, result: str) -> None:
        if self.sent is not None:
            self.sent.row(at, key, topic, self.load.option("qos", 1), done, result)

    def connected(self, client: Any, _data: Any, flags: Any, reason: Any, _properties: Any) -> None:
        """Tell of a connection and subscribe where the session does not know it yet."""
        self.connections += 1
        present = bool(flags.session_present)
        self.log.info("connected rc=%s session_present=%s connection=%d", reason, present, self.connections)
        self.load.fact("connected", client_id=self.load.option("client_id", self.load.name))
        filters = self.load.option("subscribe", [])
        if filters and not present:
            client.subscribe([(one, self.load.option("qos", 1)) for one in filters])

    def subscribed(self, _client: Any, _data: Any, mid: int, reasons: Any, _properties: Any) -> None:
        """Tell what the broker granted."""
        self.log.info("suback mid=%d %s", mid, [str(reason) for reason in reasons])

    def lost(self, _client: Any, _data: Any, flags: Any, reason: Any, _properties: Any) -> None:
        """Tell of a lost connection."""
        self.log.warning("disconnected rc=%s from_server=%s", reason, flags.is_disconnect_packet_from_server)
        self.load.fact("lost")

    def got(self, client: Any, _data: Any, message: Any) -> None:
        """Work one message off and note it."""
        sleep(self.load.option("work_ms", 0) / 1000)
        key = json.loads(message.payload)["id"]
        if self.received is not None:
            flags = bool(message.dup), bool(message.retain)
            self.received.row(stamp(), key, message.topic, message.qos, *flags)
        echo = self.load.option("echo", None)
        if echo:
            client.publish(echo, message.payload, self.load.option("qos", 1))

    def acked(self, _client: Any, _data: Any, mid: int, _reason: Any, _properties: Any) -> None:
        """Note what the broker has taken over."""
        with self.lock:
            found = self.waiting.pop(mid, None)
            if found is None:
                self.early.add(mid)
                return
        self._noted(*found, stamp(), "ok")


def main() -> None:
    """Run this process's client."""
    Client(opened()).run()


if __name__ == "__main__":
    main()
