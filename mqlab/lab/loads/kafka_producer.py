"""A producer with librdkafka: so many records a second, each with an id that comes once.

Options: ``topic``, ``rate`` (records per second), ``size`` (bytes), ``burst`` (records sent at once, once), ``prefix``
of the ids, ``acks`` and all of ``client``, librdkafka's own settings. Ledgers: sent and acked. Facts: its sums.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from time import monotonic

from confluent_kafka import KafkaError, Message, Producer

from mqlab.lab.loads.common import Ledger, Load, opened, stamp

_TICK = 0.05
_TELL = 15.0


@dataclass
class Sums:
    """What became of its records."""

    sent: int = 0
    acked: int = 0
    failed: int = 0
    bytes: int = 0


def main() -> None:
    """Send until it is stopped, then wait for what is on its way."""
    load, sums = opened(), Sums()
    log = logging.getLogger("feed")
    sent = load.ledger(f"{load.name}-sent", ("sent_at", "id"))
    acked = load.ledger(f"{load.name}-acked", ("acked_at", "id", "topic", "partition", "offset"))
    settings = {
        "bootstrap.servers": load.address,
        "client.id": load.name,
        "acks": load.option("acks", "all"),
        **load.option("client", {}),
    }
    log.info("starting, producer settings %s", " ".join(f"{k}={v}" for k, v in sorted(settings.items())))
    producer = Producer(settings, logger=logging.getLogger("rdkafka"))
    _feed(load, producer, sums, sent, acked)
    producer.flush(30)
    log.info("stopping, sent %d acked %d failed %d", sums.sent, sums.acked, sums.failed)
    load.fact("sums", sent=sums.sent, acked=sums.acked, failed=sums.failed, bytes=sums.bytes)


def _feed(load: Load, producer: Producer, sums: Sums, sent: Ledger, acked: Ledger) -> None:
    log, began, told, owed = logging.getLogger("feed"), monotonic(), monotonic(), 0.0
    while not load.stopping.is_set():
        now = monotonic()
        owed += (now - began) * load.option("rate", 10) + (load.taken("burst") or 0)
        began = now
        while owed >= 1 and not load.stopping.is_set():
            _send(load, producer, sums, sent, acked)
            owed -= 1
        producer.poll(_TICK)
        if now - told > _TELL:
            log.info("sent %d acked %d failed %d", sums.sent, sums.acked, sums.failed)
            told = now


def _send(load: Load, producer: Producer, sums: Sums, sent: Ledger, acked: Ledger) -> None:
    sums.sent += 1
    key = f"{load.option('prefix', load.name)}-{sums.sent:07d}"
    value = key.ljust(load.option("size", 100), ".")

    def done(error: KafkaError | None, message: Message) -> None:
        if error is None:
            sums.acked += 1
            acked.row(stamp(), key, message.topic(), message.partition(), message.offset())
        else:
            sums.failed += 1
            logging.getLogger("feed").warning("record %s failed: %s", key, error.str())
            load.fact("failed", id=key, error=error.name())

    while True:
        try:
            producer.produce(load.option("topic", ""), value, key, on_delivery=done)
            break
        except BufferError:
            producer.poll(0.2)
    sent.row(stamp(), key)
    sums.bytes += len(key) + len(value)


if __name__ == "__main__":
    main()
