"""Owners, orphans and capacity of groups whose ids repeat."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqlab.models.queue_allocation import Capacity, java_order, owned, unique

DRAWN = """
AVG            8   A A           2 2 2 2 0 0 0 0
AVG            8   A A B         2 2 2 0 0 0 1 1
AVG            8   A B B         1 1 1 2 2 2 0 0
AVG            16  A A A         3 3 3 3 3 3 0 0 0 0 0 0 0 0 0 0
AVG            4   A A A A A A   6 0 0 0
AVG            1   A A           2
AVG            8   A B C         1 1 1 1 1 1 1 1
AVG            2   A B C         1 1
AVG_BY_CIRCLE  8   A A           2 0 2 0 2 0 2 0
AVG_BY_CIRCLE  8   A B B         1 2 0 1 2 0 1 2
CONSISTENT_HASH 8  A A           2 2 2 2 2 2 2 2
"""
"""Strategy, number of queues, ids of the processes; how many own each queue."""

ids = st.lists(st.sampled_from(["10.0.0.1@1", "10.0.0.1@12", "10.0.0.1@1#5", "bj-a@1", "é@7"]), max_size=9)


def orphans(ownership):
    return [queue for queue, clients in ownership.owners.items() if not clients]


def queues(count, topic="t", broker="broker-a"):
    return [(topic, broker, number) for number in range(count)]


@pytest.mark.parametrize("row", DRAWN.strip().splitlines())
def test_repeated_ids_double_their_first_share_and_orphan_the_others(row):
    strategy, count, *rest = row.split()
    members = [word for word in rest if word.isalpha()]
    drawn = [int(word) for word in rest if word.isdigit()]

    ownership = owned(strategy, members, queues(int(count)))

    assert [len(clients) for clients in ownership.owners.values()] == drawn


def test_an_owner_is_named_once_for_each_of_its_processes():
    assert owned("AVG", ["B", "A", "A"], queues(4)).owners == {
        ("t", "broker-a", 0): ("A", "A"),
        ("t", "broker-a", 1): ("A", "A"),
        ("t", "broker-a", 2): (),
        ("t", "broker-a", 3): ("B",),
    }


def test_one_id_for_all_orphans_a_whole_broker():
    both = [*queues(4, broker="broker-b"), *queues(4)]

    assert orphans(owned("AVG", ["A", "A"], both)) == queues(4, broker="broker-b")


def test_useful_capacity_is_that_of_one_process_where_three_share_an_id():
    ownership = owned("AVG", ["A"] * 3, queues(16))

    assert ownership.capacity == Capacity(queues=16, served=6, owned=18, processes=3, useful_processes=1.0)
    assert (ownership.capacity.served_share, ownership.capacity.distinct_share) == (6 / 16, 1 / 3)
    assert ownership.unique_capacity == Capacity(queues=16, served=16, owned=16, processes=3, useful_processes=3.0)


def test_processes_without_queues_are_of_no_use_and_harm_nobody():
    ownership = owned("AVG", ["A", "B", "C"], queues(2))

    assert ownership.capacity == Capacity(queues=2, served=2, owned=2, processes=3, useful_processes=2.0)
    assert ownership.unique_capacity == ownership.capacity


def test_each_topic_is_divided_for_itself():
    ownership = owned("AVG", ["A", "B"], [*queues(1, "t"), *queues(1, "u")])

    assert list(ownership.owners.values()) == [("A",), ("A",)]


def test_every_process_of_a_repeated_id_owns_the_retry_queue():
    ownership = owned("AVG", ["A", "A"], [("%RETRY%g", "broker-a", 0)])

    assert ownership.owners == {("%RETRY%g", "broker-a", 0): ("A", "A")}


def test_a_member_that_does_not_subscribe_leaves_its_share_to_nobody():
    ownership = owned("AVG", ["A", "B"], queues(4), absent=["B"])

    assert list(ownership.owners.values()) == [("A",), ("A",), (), ()]
    assert ownership.unique_capacity == ownership.capacity


def test_all_processes_of_an_absent_id_stay_away_had_their_ids_been_unique_too():
    ownership = owned("AVG", ["A", "A", "B"], queues(3), absent=["A"])

    assert ownership.unique_capacity == Capacity(queues=3, served=1, owned=1, processes=3, useful_processes=1.0)


def test_a_group_without_queues_lacks_nothing():
    capacity = owned("AVG", ["A"], []).capacity

    assert (capacity.served_share, capacity.distinct_share, capacity.useful_processes) == (1.0, 1.0, 0.0)


@given(ids)
def test_unique_ids_keep_the_places_of_those_they_stand_for(given_ids):
    own = unique(given_ids)

    pairs = sorted(zip(own, given_ids, strict=True), key=lambda pair: java_order(pair[0]))
    assert len(set(own)) == len(own)
    assert [given for _, given in pairs] == sorted(given_ids, key=java_order)
    assert unique(own) == own


@given(ids.filter(bool), st.integers(0, 40), st.sampled_from(["AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH"]))
def test_unique_ids_would_own_every_queue_once(given_ids, count, strategy):
    ownership = owned(strategy, given_ids, queues(count))

    assert ownership.unique_capacity.served == ownership.unique_capacity.owned == count
    assert ownership.capacity.served + len(orphans(ownership)) == count
    assert ownership.capacity.useful_processes <= len(set(given_ids)) + 1e-9
    alone = all(len(clients) == 1 for clients in ownership.owners.values())
    assert alone or len(set(given_ids)) < len(given_ids)


@given(ids.filter(bool), st.integers(0, 40))
def test_places_after_the_first_of_an_id_are_orphaned_and_the_first_is_owned_by_all(given_ids, count):
    members = sorted(given_ids, key=java_order)
    one_each = [f"{place:02d}" for place in range(len(members))]
    slots = owned("AVG", one_each, queues(count)).owners

    expected = {}
    for queue, (slot,) in slots.items():
        client = members[int(slot)]
        first = members.index(client) == int(slot)
        expected[queue] = (client,) * members.count(client) if first else ()
    assert owned("AVG", given_ids, queues(count)).owners == expected
