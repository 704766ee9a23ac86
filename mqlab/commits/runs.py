"""One consumer of the commit study at a live broker: it reads a topic to the end, or dies on the way.

The topic has one partition whose records are worked off in order, so that positions count them. A process of its own
dies without closing anything (``os._exit``): to the broker that is a ``kill -9``.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection

from confluent_kafka import Consumer, KafkaException, TopicPartition

from mqlab.errors import CommitBenchError
from mqlab.models.commits import Way

_WAIT = 30.0
"""Seconds without a record, or without an answer of a process, after which a run is given up."""


@dataclass(frozen=True, slots=True)
class Reader:
    """How one consumer reads."""

    options: Mapping[str, str] = field(repr=False)
    """What the client needs to connect, ``bootstrap.servers`` among it."""
    topic: str
    group: str
    way: Way | None
    """None never commits."""
    poll_records: int
    work_seconds: float
    """Time that it sleeps for each poll, as its work."""
    interval_ms: int


@dataclass(frozen=True, slots=True)
class Read:
    """One run to the end."""

    polls: int
    seconds: float
    """From the first record's coming until the last was worked off and, where commits are waited for, committed."""
    closing_seconds: float
    commits: int
    """Calls; the automatic ones are not seen."""
    commit_seconds: float
    """Time inside these calls, those at the close left out."""


def read(reader: Reader, records: int) -> Read:
    """Read *records* records to the end and close in good order.

    Raises:
        CommitBenchError: no record came for long, or the broker answers with an error.
    """
    consumer = _opened(reader)
    worked, polls, spent = _first(consumer), 0, 0.0
    began = time.perf_counter()
    while worked < records:
        worked += _worked_off(consumer, reader, records - worked)
        polls += 1
        spent += _commit(consumer, reader, worked)
    done = time.perf_counter()
    if reader.way is Way.MIXED:
        consumer.commit(offsets=[TopicPartition(reader.topic, 0, worked)], asynchronous=False)
    consumer.close()
    calls = 0 if reader.way in (None, Way.AUTO) else polls + (reader.way is Way.MIXED)
    return Read(polls, done - began, time.perf_counter() - done, calls, spent)


def crashed(reader: Reader, after: int) -> int:
    """Records that a process had worked off when it died: in the poll that reached *after*, before its commit.

    Raises:
        CommitBenchError: it died earlier.
    """
    context = get_context("spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_doomed, args=(reader, after, there))
    process.start()
    there.close()
    try:
        polls = after // reader.poll_records + 1
        if not here.poll(_WAIT + polls * (1 + reader.work_seconds)):
            raise CommitBenchError("the process that was to die never came so far")
        return int(here.recv())
    except EOFError as error:
        raise CommitBenchError("the process that was to die died before its time") from error
    finally:
        process.kill()
        process.join()


def handed_out_again(reader: Reader, worked: int) -> tuple[int, int]:
    """(records handed out again, records never handed out) when another member of the group reads on.

    Raises:
        CommitBenchError: as ``read``.
    """
    consumer = _opened(reader)
    place = consumer.committed([TopicPartition(reader.topic, 0)], timeout=_WAIT)[0]
    start = max(0, place.offset)
    consumer.assign([TopicPartition(reader.topic, 0, start)])
    again, reached = 0, start
    while reached < worked:
        handed = consumer.consume(reader.poll_records, timeout=_WAIT)
        offsets = [m.offset() or 0 for m in handed if m.error() is None]
        if not offsets:
            raise CommitBenchError(f"no record came within {_WAIT:g} s")
        again, reached = again + sum(offset < worked for offset in offsets), offsets[-1] + 1
    consumer.close()
    return again, max(0, start - worked)


def _opened(reader: Reader) -> Consumer:
    """A consumer that knows its coordinator, so that the first commit does not have to look for it."""
    consumer = Consumer(
        {
            **reader.options,
            "group.id": reader.group,
            "enable.auto.commit": reader.way is Way.AUTO,
            "auto.commit.interval.ms": reader.interval_ms,
            "auto.offset.reset": "earliest",
        }
    )
    _meet_coordinator(consumer, reader.topic)
    consumer.assign([TopicPartition(reader.topic, 0, 0)])
    return consumer


def _meet_coordinator(consumer: Consumer, topic: str) -> None:
    """Ask for the group's position until its coordinator has loaded what it is asked for."""
    until = time.monotonic() + _WAIT
    while True:
        try:
            consumer.committed([TopicPartition(topic, 0)], timeout=_WAIT)
            return
        except KafkaException as error:
            if time.monotonic() > until:
                raise CommitBenchError(str(error.args[0])) from error
            time.sleep(0.2)


def _first(consumer: Consumer) -> int:
    """Wait for the first record: how long librdkafka takes until it fetches varies by a second."""
    if not any(m.error() is None for m in consumer.consume(1, timeout=_WAIT)):
        raise CommitBenchError(f"no record came within {_WAIT:g} s")
    return 1


def _worked_off(consumer: Consumer, reader: Reader, most: int) -> int:
    """Records of the next poll, when their work is done; it waits until it is full, so that *most* are there."""
    records = sum(m.error() is None for m in consumer.consume(min(most, reader.poll_records), timeout=_WAIT))
    if not records:
        raise CommitBenchError(f"no record came within {_WAIT:g} s")
    time.sleep(reader.work_seconds)
    return records


def _commit(consumer: Consumer, reader: Reader, worked: int) -> float:
    """Commit what is worked off, as the way says; the seconds that the caller waited.

    The position is named: without one librdkafka takes the one that it has when it comes to the commit, which may be
    that of a later poll.
    """
    places = [TopicPartition(reader.topic, 0, worked)]
    began = time.perf_counter()
    if reader.way is Way.SYNC:
        consumer.commit(offsets=places, asynchronous=False)
    elif reader.way in (Way.ASYNC, Way.MIXED):
        consumer.commit(offsets=places, asynchronous=True)
    return time.perf_counter() - began


def _doomed(reader: Reader, after: int, tell: Connection) -> None:
    consumer = _opened(reader)
    worked = _first(consumer)
    while True:
        worked += _worked_off(consumer, reader, reader.poll_records)
        if worked >= after:
            tell.send(worked)
            os._exit(9)
        _commit(consumer, reader, worked)
