"""A consumer with librdkafka: takes a poll of records, works each off, commits.

Options: ``topics``, ``group``, ``poll_records``, ``work_ms`` (time per record), ``commit`` (``after`` the work,
``before`` it, ``auto``, ``never``), ``poison`` (the end of an id at which it fails, again and again), ``crash_seconds``
(a life that ends with an error), ``again_seconds`` (pause after it was fenced) and all of
``client``, librdkafka's own settings. Facts: polls, late polls, commits that failed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from time import monotonic, sleep

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from mqlab.lab.loads.common import Ledger, Load, opened, stamp

_WAIT = 1.0


def main() -> None:
    """Read until it is stopped, then leave the group in good order."""
    load = opened()
    log = logging.getLogger("worker")
    settings = {
        "bootstrap.servers": load.address,
        "client.id": load.name,
        "group.id": load.option("group", "lab"),
        "auto.offset.reset": "earliest",
        "enable.auto.commit": load.option("commit", "after") == "auto",
        **load.option("client", {}),
    }
    log.info("starting, consumer settings %s", " ".join(f"{k}={v}" for k, v in sorted(settings.items())))
    ledger = load.ledger(f"{load.name}-processed", ("processed_at", "topic", "partition", "offset", "id"))
    while not load.stopping.is_set():
        consumer = Consumer(settings, logger=logging.getLogger("rdkafka"))
        consumer.subscribe(load.option("topics", []), on_assign=_told("assigned"), on_revoke=_told("revoked"))
        _read(load, consumer, ledger)
        log.info("worker stopping")
        consumer.close()
        load.fact("closed")


def _read(load: Load, consumer: Consumer, ledger: Ledger) -> None:
    """Read until the load is stopped, or was fenced: then it is made anew after a pause, as a supervisor would."""
    began = monotonic()
    while not load.stopping.is_set():
        handed = consumer.consume(load.option("poll_records", 100), timeout=_WAIT)
        fatal = any(_ends(message.error()) for message in handed)
        records = [message for message in handed if not _failed(load, message)]
        if fatal:
            load.fact("fenced")
            load.stopping.wait(load.option("again_seconds", 5))
            return
        if records:
            _poll(load, consumer, records, ledger)
        if monotonic() - began > load.option("crash_seconds", float("inf")):
            load.fact("crashed")
            raise RuntimeError("the cache cannot be opened: corrupt block at 4096")


def _told(what: str) -> Callable[[Consumer, list[TopicPartition]], None]:
    log = logging.getLogger("worker")

    def callback(_: Consumer, partitions: list[TopicPartition]) -> None:
        log.info("partitions %s [%s]", what, ", ".join(f"{p.topic}-{p.partition}" for p in partitions))

    return callback


def _ends(error: KafkaError | None) -> bool:
    """Whether this consumer is good for nothing any more, as when another one took its group.instance.id."""
    return error is not None and (error.fatal() or error.code() == KafkaError._FATAL)


def _failed(load: Load, message: Message) -> bool:
    """Whether this is no record but an error, which is told."""
    error = message.error()
    if error is None:
        return False
    if error.code() == KafkaError._MAX_POLL_EXCEEDED:
        load.fact("poll-timeout")
    logging.getLogger("worker").error("consume failed: %s", error.str())
    return True


def _poll(load: Load, consumer: Consumer, records: Sequence[Message], ledger: Ledger) -> None:
    """Work off one poll; what is left of it when the load is stopped stays undone."""
    how, began = load.option("commit", "after"), monotonic()
    if how == "before":
        _commit(load, consumer, records)
    done: list[Message] = []
    failed: set[tuple[str | None, int | None]] = set()
    for record in records:  # what comes behind a record that failed comes again, once that is behind it
        place = record.topic(), record.partition()
        if place not in failed and _worked(load, consumer, record, ledger):
            done.append(record)
        else:
            failed.add(place)
    seconds = monotonic() - began
    load.fact("poll", records=len(done), seconds=seconds, bytes=sum(len(r.value() or b"") for r in done))
    logging.getLogger("worker").info("processed %d records in %.1f s", len(done), seconds)
    if how == "after" and done:
        _commit(load, consumer, done)


def _worked(load: Load, consumer: Consumer, record: Message, ledger: Ledger) -> bool:
    key = (record.key() or b"").decode()
    if load.stopping.is_set():
        return False
    poison = load.option("poison", None)
    if poison and key.endswith(poison):
        place = f"{record.topic()}-{record.partition()}@{record.offset()}"
        logging.getLogger("worker").error("record %s failed, will retry", place)
        load.fact("poisoned")
        consumer.seek(TopicPartition(record.topic() or "", record.partition() or 0, record.offset() or 0))
        sleep(_WAIT)
        return False
    sleep(load.option("work_ms", 1) / 1000)
    ledger.row(stamp(), record.topic(), record.partition(), record.offset(), key)
    return True


def _commit(load: Load, consumer: Consumer, records: Sequence[Message]) -> None:
    """Commit behind the last of *records* in each partition, and wait for the answer."""
    ends: dict[tuple[str, int], int] = {}
    for record in records:
        place = record.topic() or "", record.partition() or 0
        ends[place] = max(ends.get(place, 0), (record.offset() or 0) + 1)
    places = [TopicPartition(topic, partition, offset) for (topic, partition), offset in ends.items()]
    try:
        consumer.commit(offsets=places, asynchronous=False)
    except KafkaException as failed:
        error = failed.args[0]
        logging.getLogger("worker").error("commit failed: %s", error.str())
        load.fact("commit-failed", error=error.name())


if __name__ == "__main__":
    main()
