"""What an engineer would gather while a scenario is played: ``mqlab capture`` of each broker, and exporters' pages."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import monotonic

from mqlab.gather import mqtt, rocketmq
from mqlab.gather.bundle import Bundle
from mqlab.gather.client_config import client_config
from mqlab.gather.kafka_apart import Apart
from mqlab.gather.manifest import Manifest, now
from mqlab.gather.prometheus import Scrapes
from mqlab.gather.schedule import Asking, Tick, Wanted
from mqlab.lab.brokers.base import Broker
from mqlab.lab.resources import LOOPBACK


def _kafka(broker: Broker, bundle: Bundle) -> Asking:
    return Apart(client_config(None, broker.address)[0], Wanted(), bundle)


def _rocketmq(broker: Broker, bundle: Bundle) -> Asking:
    return rocketmq.Sampling(bundle, str(broker.admin), broker.address, Wanted())


def _mqtt(broker: Broker, bundle: Bundle) -> Asking:
    host, port = broker.address.rsplit(":", 1)
    return mqtt.Listener(mqtt.Broker(host, int(port)), mqtt.Sniff(), bundle)


_ASKING: Mapping[str, Callable[[Broker, Bundle], Asking]] = {
    "kafka": _kafka,
    "rocketmq": _rocketmq,
    "mosquitto": _mqtt,
    "hivemq": _mqtt,
}


class Sampler:
    """A thread that gathers every so many seconds until it is stopped, a bundle for each broker."""

    def __init__(self, brokers: Sequence[Broker], exporters: Mapping[str, int], folder: Path, every: float) -> None:
        self._bundles = [_bundle(folder, broker) for broker in brokers]
        self._asking = [_ASKING[b.wanted.software](b, own) for b, own in zip(brokers, self._bundles, strict=True)]
        pages = [f"http://{LOOPBACK}:{port}/metrics" for port in exporters.values()]
        if pages:
            self._asking.append(Scrapes(self._bundles[0], pages))
        self._every, self._over = every, threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """Take the last sample and end."""
        self._over.set()
        self._thread.join()
        for one in self._asking:
            if isinstance(one, mqtt.Listener):
                one.end()
        for bundle in self._bundles:
            bundle.close()

    def _run(self) -> None:
        first, last = True, False
        while not last:
            last, began = self._over.is_set(), monotonic()
            tick = Tick(now(), first, last)
            for ask in self._asking:
                ask(tick)
            first = False
            if not last:
                self._over.wait(max(0.5, self._every - (monotonic() - began)))


def _bundle(folder: Path, broker: Broker) -> Bundle:
    return Bundle(folder / broker.wanted.label, Manifest(broker.wanted.software, {"broker": broker.address}))
