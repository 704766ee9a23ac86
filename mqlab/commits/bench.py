"""The commit study, measured at a live broker that somebody names: the only part of mqlab that talks to one.

It makes one topic with a name that nobody else uses, fills it, reads it again and again with groups whose names begin
like it, and deletes topic and groups. It looks at no other topic, and sends nothing anywhere else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from time import monotonic, sleep
from uuid import uuid4

from confluent_kafka import KafkaException, Producer, libversion, version
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from mqlab.commits.runs import Reader, crashed, handed_out_again, read
from mqlab.commits.study import Run, Study
from mqlab.errors import CommitBenchError
from mqlab.models.commits import Way
from mqlab.units import number, size

WAYS: tuple[Way | None, ...] = (None, Way.SYNC, Way.ASYNC, Way.MIXED, Way.AUTO)
_PREFIX = "mqlab-commit-study-"
_WAIT = 60.0


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


def fill(plan: Plan, wait: float = _WAIT) -> None:
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
    return Run(
        alike[0].way,
        round(median(r.polls for r in alike)),
        median(r.seconds for r in alike),
        median(r.closing_seconds for r in alike),
        round(median(r.commits for r in alike)),
        median(r.commit_seconds for r in alike),
        round(median(r.crashed_after for r in alike)),
        round(median(r.again for r in alike)),
        round(median(r.lost for r in alike)),
    )


def _create(admin: AdminClient, topic: str) -> None:
    """Make the topic and wait until it has a leader; as many replicas as the broker makes by itself."""
    try:
        admin.create_topics([NewTopic(topic, num_partitions=1, replication_factor=-1)])[topic].result(_WAIT)
    except (KafkaException, TimeoutError) as error:
        raise CommitBenchError(str(error)) from error
    until = monotonic() + _WAIT
    while monotonic() < until:
        made = admin.list_topics(topic, timeout=_WAIT).topics[topic]
        if made.error is None and 0 in made.partitions and made.partitions[0].leader >= 0:
            return
        sleep(0.2)
    raise CommitBenchError("the topic that was made has no leader")


def _delete(admin: AdminClient, plan: Plan) -> None:
    """Take away what was made; a group that is gone already, or never was, is no error."""
    groups = [f"{plan.name}-{way or 'none'}-{turn}" for way in WAYS for turn in range(plan.runs)]
    going = admin.delete_consumer_groups([name for g in groups for name in (g, f"{g}-crash")])
    for done in going.values():
        done.exception(_WAIT)
    admin.delete_topics([plan.name])[plan.name].exception(_WAIT)
