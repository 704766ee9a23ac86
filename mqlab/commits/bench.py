"""The commit study, measured at a live broker that somebody names: the only part of mqlab that talks to one.

It makes one topic of one partition with a name that nobody else uses, fills it, reads it again and again with groups
whose names begin like it, and deletes topic and groups. It looks at no other topic, and sends nothing anywhere else.
Records are worked off in order, so that positions count them. A process of its own dies without closing anything
(``os._exit``): to the broker that is a ``kill -9``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from multiprocessing import get_context
from multiprocessing.connection import Connection
from statistics import median
from time import monotonic, perf_counter, sleep
from uuid import uuid4

from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition, libversion, version
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from mqlab.commits.study import Run, Study
from mqlab.errors import CommitBenchError
from mqlab.models.commits import Way
from mqlab.units import number, size

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
    began = perf_counter()
    while worked < records:
        worked += _worked_off(consumer, reader, records - worked)
        polls += 1
        spent += _commit(consumer, reader, worked)
    done = perf_counter()
    if reader.way is Way.MIXED:
        consumer.commit(offsets=[TopicPartition(reader.topic, 0, worked)], asynchronous=False)
    consumer.close()
    calls = 0 if reader.way in (None, Way.AUTO) else polls + (reader.way is Way.MIXED)
    return Read(polls, done - began, perf_counter() - done, calls, spent)


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
            raise CommitBenchError("the process that should be killed did not get that far")
        return int(here.recv())
    except EOFError as error:
        raise CommitBenchError("the process that should be killed ended too early") from error
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
    until = monotonic() + _WAIT
    while True:
        try:
            consumer.committed([TopicPartition(topic, 0)], timeout=_WAIT)
            return
        except KafkaException as error:
            if monotonic() > until:
                raise CommitBenchError(str(error.args[0])) from error
            sleep(0.2)


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
    sleep(reader.work_seconds)
    return records


def _commit(consumer: Consumer, reader: Reader, worked: int) -> float:
    """Commit what is worked off, as the way says; the seconds that the caller waited.

    The position is named: without one librdkafka takes the one that it has when it comes to the commit, which may be
    that of a later poll.
    """
    places = [TopicPartition(reader.topic, 0, worked)]
    began = perf_counter()
    if reader.way is Way.SYNC:
        consumer.commit(offsets=places, asynchronous=False)
    elif reader.way in (Way.ASYNC, Way.MIXED):
        consumer.commit(offsets=places, asynchronous=True)
    return perf_counter() - began


def _doomed(reader: Reader, after: int, tell: Connection) -> None:
    consumer = _opened(reader)
    worked = _first(consumer)
    while True:
        worked += _worked_off(consumer, reader, reader.poll_records)
        if worked >= after:
            tell.send(worked)
            os._exit(9)
        _commit(consumer, reader, worked)


WAYS: tuple[Way | None, ...] = (None, Way.SYNC, Way.ASYNC, Way.MIXED, Way.AUTO)
_PREFIX = "mqlab-commit-study-"
_WAIT_FOR_TOPIC = 60.0
_NUMBERS = [each.name for each in fields(Run) if each.name != "way"]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured, and where."""

    bootstrap: str
    records: int = 100_000
    poll_records: int = 500
    record_bytes: int = 100
    work_seconds: float = 0.0
    """Time that a consumer sleeps for each poll, as its work."""
    interval_ms: int = 5000
    """auto.commit.interval.ms."""
    runs: int = 3
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    """What else a client needs to connect, such as ``security.protocol``; never shown, since it may hold passwords."""
    name: str = field(default_factory=lambda: f"{_PREFIX}{uuid4().hex[:12]}")

    @property
    def client(self) -> Mapping[str, str]:
        """How to connect."""
        return {"bootstrap.servers": self.bootstrap, **self.options}


def intent(plan: Plan) -> str:
    """What ``measure`` would do at the broker, to be read before it does."""
    return (
        f"At {plan.bootstrap}: makes the topic {plan.name} with one partition, writes {number(plan.records)} records "
        f"of {size(plan.record_bytes)} into it, reads them {plan.runs * len(WAYS)} times and in part as often again, "
        f"commits positions of groups whose names begin like the topic's, then deletes the topic and these groups."
    )


def measure(plan: Plan) -> Study:
    """Medians of every way, each as often as planned and one after the other, so that all see the same machine.

    Raises:
        CommitBenchError: the broker cannot be reached, refuses, or hands out no records.
    """
    admin = AdminClient(dict(plan.client))
    _create(admin, plan.name)
    try:
        fill(plan)
        runs = [measured(plan, way, turn) for turn in range(plan.runs) for way in WAYS]
    finally:
        _delete(admin, plan)
    return Study(
        told="measured just now",
        recorded=False,
        where={"broker": plan.bootstrap, "client": f"confluent-kafka {version()}, librdkafka {libversion()[0]}"},
        records=plan.records,
        poll_records=plan.poll_records,
        record_bytes=plan.record_bytes,
        work_seconds=plan.work_seconds,
        interval_ms=plan.interval_ms,
        runs=plan.runs,
        rows=medians(runs),
    )


def medians(runs: Sequence[Run]) -> tuple[Run, ...]:
    """One row per way; each number is the median of its own."""
    return tuple(_median([r for r in runs if r.way is way]) for way in WAYS if any(r.way is way for r in runs))


def fill(plan: Plan, wait: float = _WAIT_FOR_TOPIC) -> None:
    """Write the records, within *wait* seconds after the last was handed to the client.

    Raises:
        CommitBenchError: they were not all acknowledged.
    """
    producer = Producer({**plan.client, "acks": "all", "linger.ms": 20, "queue.buffering.max.messages": 2_000_000})
    for _ in range(plan.records):
        producer.produce(plan.name, value=bytes(plan.record_bytes), partition=0)
    if producer.flush(wait):
        raise CommitBenchError("the records were not acknowledged in time")


def measured(plan: Plan, way: Way | None, turn: int) -> Run:
    """One run of one way: once to the end, once until a process dies in the middle.

    Raises:
        CommitBenchError: as ``measure``.
    """
    group = f"{plan.name}-{way or 'none'}-{turn}"
    reader = Reader(plan.client, plan.name, group, way, plan.poll_records, plan.work_seconds, plan.interval_ms)
    whole = read(reader, plan.records)
    doomed = replace(reader, group=f"{group}-crash")
    after = crashed(doomed, plan.records // 2)
    again, lost = handed_out_again(doomed, after)
    return Run(
        way, whole.polls, whole.seconds, whole.closing_seconds, whole.commits, whole.commit_seconds, after, again, lost
    )


def _median(alike: list[Run]) -> Run:
    middle = {name: median(getattr(run, name) for run in alike) for name in _NUMBERS}
    return Run(
        alike[0].way, **{name: middle[name] if name.endswith("seconds") else round(middle[name]) for name in middle}
    )


def _create(admin: AdminClient, topic: str) -> None:
    """Make the topic and wait until it has a leader; as many replicas as the broker makes by itself."""
    try:
        admin.create_topics([NewTopic(topic, num_partitions=1, replication_factor=-1)])[topic].result(_WAIT_FOR_TOPIC)
    except (KafkaException, TimeoutError) as error:
        raise CommitBenchError(str(error)) from error
    until = monotonic() + _WAIT_FOR_TOPIC
    while monotonic() < until:
        made = admin.list_topics(topic, timeout=_WAIT_FOR_TOPIC).topics[topic]
        if made.error is None and 0 in made.partitions and made.partitions[0].leader >= 0:
            return
        sleep(0.2)
    raise CommitBenchError("the topic that was created has no leader")


def _delete(admin: AdminClient, plan: Plan) -> None:
    """Take away what was made; a group that is gone already, or never was, is no error."""
    groups = [f"{plan.name}-{way or 'none'}-{turn}" for way in WAYS for turn in range(plan.runs)]
    going = admin.delete_consumer_groups([name for g in groups for name in (g, f"{g}-crash")])
    for done in going.values():
        done.exception(_WAIT_FOR_TOPIC)
    admin.delete_topics([plan.name])[plan.name].exception(_WAIT_FOR_TOPIC)
