"""Messages and ledgers that note no topic have the only one that the material knows."""

import pytest
from facts_builder import episode, positions, rows_of
from message_builder import fates, part

from mqlab.assembly.messages import placed, titled
from mqlab.facts import Facts

ACKED = """
queue  from  to  at
0      0     99  10:00
"""
LATER = """
queue  from  to   at
0      100   199  10:10
"""
UNPLACED = """
queue  messages  at
0      5         10:00
"""
HELD = positions("""
at     group  topic   queue  committed  end
10:05  bills  orders  0      50         100
""")
OTHERS = positions("""
at     group  topic    queue  committed  end
10:05  bills  orders   0      50         100
10:05  bills  refunds  0      50         100
""")


def topics(facts):
    """Topics of the fates and of the parts."""
    found = titled(facts)
    return [fate.topic for fate in found.fates], [row.topic for row in found.parts]


def unnamed(**more):
    ledger = part("acked", 0, 99, "10:00", "10:05", topic="")
    return {"fates": fates(ACKED, topic=""), "parts": (ledger,), **more}


@pytest.mark.parametrize(
    "facts",
    [
        Facts(**unnamed(positions=HELD)),
        Facts(**unnamed(episodes=(episode("leader-started", "10:00", topic="orders", queue="0"),))),
    ],
    ids=["positions", "leaders"],
)
def test_the_only_topic_is_theirs(facts):
    assert topics(facts) == (["orders"], ["orders"])


def test_messages_without_a_place_and_those_further_on_have_the_topic_of_the_others():
    facts = Facts(fates=(*fates(LATER, topic=""), *fates(UNPLACED, topic=""), *fates(ACKED)))
    assert topics(facts) == (["orders"] * 3, [])


def test_the_brokers_own_topics_are_not_meant():
    dump = part("stored", 0, 9, "10:00", "10:05", topic="__consumer_offsets")
    held = Facts(**unnamed(positions=HELD))
    assert topics(Facts(fates=held.fates, parts=(*held.parts, dump), positions=HELD)) == (
        ["orders"], ["orders", "__consumer_offsets"],
    )  # fmt: skip


@pytest.mark.parametrize(
    "facts",
    [
        Facts(**unnamed()),
        Facts(**unnamed(positions=OTHERS)),
        Facts(**unnamed(episodes=tuple(episode("leader-started", 0, topic=t, queue="0") for t in ("a", "b")))),
        Facts(**unnamed(episodes=(episode("subscribed", "10:00", topic="site/#"),))),
    ],
    ids=["no topic", "two topics", "two topics of leaders", "no partition"],
)
def test_without_a_single_topic_they_have_none(facts):
    assert rows_of(titled(facts)) == rows_of(facts)


def test_messages_at_the_places_of_others_stay_apart_for_they_may_be_the_same():
    facts = Facts(fates=(*fates(ACKED, topic=""), *fates(ACKED)))
    assert rows_of(titled(facts)) == rows_of(facts)


READ = "queue from to at acked handled\n0 50 99 10:00 0 clients/viewer.csv"


def test_what_one_ledger_notes_as_acknowledged_and_another_as_handled_stays_apart_if_it_could_not_be_joined():
    facts = Facts(fates=(*fates(ACKED, topic=""), *fates(READ, topic="")), positions=HELD)
    assert rows_of(titled(facts)) == rows_of(facts)


def test_what_two_groups_handled_has_the_only_topic():
    other = READ.replace("viewer", "archive")
    facts = Facts(fates=(*fates(READ, topic=""), *fates(other, topic="")), positions=HELD)
    assert topics(facts) == (["orders"] * 2, [])


def at_brokers(*queues):
    """What RocketMQ's tools tell of a topic's queues, and ledgers that only number them."""
    told = positions(
        "at group topic queue committed end\n" + "\n".join(f"10:05 bills orders {q} 50 100" for q in queues)
    )
    found = placed(
        Facts(fates=fates(ACKED, topic="orders"), parts=(part("acked", 0, 99, "10:00", "10:05"),), positions=told)
    )
    return [fate.queue for fate in found.fates], [row.queue for row in found.parts]


@pytest.mark.parametrize(
    ("queues", "queue"),
    [
        (("broker-a/0", "broker-a/1"), "broker-a/0"),
        (("broker-a/0", "broker-b/0"), "0"),
        (("0", "1"), "0"),
        (("broker-a/0", "0"), "0"),
    ],
    ids=["one broker", "two brokers", "partitions of Kafka", "both"],
)
def test_a_queue_that_a_ledger_numbers_is_that_of_the_only_broker_of_its_topic(queues, queue):
    assert at_brokers(*queues) == ([queue], [queue])
