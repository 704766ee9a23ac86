"""Advice leaves out what is in force: it is compared with the settings that were last seen."""

import pytest
from facts_builder import episode, facts, settings

from mqlab.delivery import advised
from mqlab.kafka.advised import gentler, is_dynamic

PRODUCER = settings("at owner key value\n10:00 gateway acks all")
LEADER_ONLY = settings("at owner key value\n10:00 gateway acks 1")
TOPIC = settings(
    "at owner key value\n10:00 orders replication.factor 3\n10:00 orders min.insync.replicas 2",
    "topics.txt", scope="topic", origin="describe",
)  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "change"),
    [
        ((PRODUCER, TOPIC), ()),
        ((PRODUCER,), ("min.insync.replicas=2", "replication factor 3")),
        ((TOPIC,), ("acks=all",)),
        ((LEADER_ONLY, TOPIC), ("acks=all",)),
        ((LEADER_ONLY, settings("at owner key value\n10:20 gateway acks all"), TOPIC), ()),
    ],
    ids=["all in force", "nothing tells of the topic", "nothing tells of its producer", "acks=1", "changed since"],
)
def test_what_keeps_acknowledged_records_is_advised_where_it_is_not_known_to_be_in_force(rows, change):
    assert advised.durable(facts(*rows), "orders") == change


def test_a_producer_that_numbers_its_batches_needs_no_idempotence():
    numbered = settings("at owner key value\n10:00 gateway acks all\n10:00 gateway enable.idempotence true")
    assert advised.once(facts(numbered), "orders") == ()
    assert advised.once(facts(PRODUCER), "orders") == ("enable.idempotence=true",)


STICKY = "[org.apache.kafka.clients.consumer.CooperativeStickyAssignor]"
BOTH = "[org.apache.kafka.clients.consumer.RangeAssignor,org.apache.kafka.clients.consumer.CooperativeStickyAssignor]"


def member(name, *pairs):
    """What a consumer of billing printed."""
    rows = "\n".join(f"10:00 {name} {key} {value}" for key, value in (("group.id", "billing"), *pairs))
    return settings(f"at owner key value\n{rows}", f"clients/{name}.log", scope="consumer")


ASSIGNOR, INSTANCE = "partition.assignment.strategy", "group.instance.id"


def test_a_group_whose_members_are_all_cooperative_and_static_needs_neither():
    own = [member(name, (ASSIGNOR, STICKY), (INSTANCE, name)) for name in ("a", "b")]
    assert gentler(facts(*own), "billing") == ()
    assert not is_dynamic(facts(*own), "billing")


def test_one_member_without_it_is_enough_to_advise_it():
    own = [member("a", (ASSIGNOR, STICKY), (INSTANCE, "a")), member("b", (ASSIGNOR, BOTH), (INSTANCE, "null"))]
    assert gentler(facts(*own), "billing") == ("static membership", "a cooperative assignor")


def test_the_protocol_of_kip_848_moves_partitions_one_by_one():
    assert gentler(facts(member("a", ("group.protocol", "consumer"))), "billing") == ("static membership",)


def test_of_members_of_whom_nothing_is_known_both_are_advised():
    joined = episode("join-started", 0, "clients/a.log", client_id="a", group="billing")
    assert gentler(facts(joined), "billing") == ("static membership", "a cooperative assignor")
