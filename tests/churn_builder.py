"""Members of a Kafka group that work off polls, for tests of the rules about members that fall out."""

from __future__ import annotations

from facts_builder import at, episode, log, settings, version
from kafka_builder import BROKER, GROUP

from mqlab.kafka import groups
from mqlab.rows import Batch

BROKER_LOG = log(BROKER, "kafka-broker-log")


def worked(client, *polls, source=None) -> tuple[Batch, ...]:
    """Polls as ``(moment they were done, records, seconds)``."""
    return tuple(
        Batch(
            at(when), None, None, 1, records, seconds, seconds, records, source or f"clients/{client}.log", 500 + line,
            f"processed {records} records in {seconds} s",
        )
        for line, (when, records, seconds) in enumerate(polls)
    )  # fmt: skip


def steady(client, first, last, *, every=2, seconds=0.1) -> tuple[Batch, ...]:
    """A short poll every few seconds; times in seconds since 10:00."""
    return worked(client, *((when, 10, seconds) for when in range(first, last + 1, every)))


def runs(client, number="2.8.2", *, interval=15000, records=500, session=10000, when="09:59:50"):
    """The log of a client that prints what it was set to."""
    source = f"clients/{client}.log"
    table = f"""
        at      owner     key                   value
        {when}  {client}  group.id              {GROUP}
        {when}  {client}  max.poll.interval.ms  {interval}
        {when}  {client}  max.poll.records      {records}
        {when}  {client}  session.timeout.ms    {session}
    """
    return (settings(table, source, scope="consumer"), version(number, source, when), log(source))


def triggers(rebalances, name, ends, joins):
    """What made a group rebalance: ends of members, as they are called, and joins after them."""
    parts = [groups.say(name, times=ends, ends=ends), groups.say("joins", times=joins, ends=ends)]
    return groups.say("triggers", rebalances=rebalances, parts=parts)


def exited(client, when, status):
    """A supervisor's line about the end of a client's process."""
    return episode("process-exit", when, f"clients/{client}.log", client_id=client, left=status, text=f"exit {status}")
