"""Shares as the real Java classes give them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from allocation_cases import allocated
from hypothesis import given
from hypothesis import strategies as st

from mqlab.models.queue_allocation import STRATEGIES, allocate, java_order, queue_order

TRUTH = Path(__file__).parents[1] / "truth"
RECORDED = TRUTH / "rocketmq-allocation.ndjson.gz"
"""2,000 calls of the real classes with what they returned."""
EDGES = TRUTH / "rocketmq-allocation-edges.ndjson.gz"
"""701 calls of rocketmq-client 4.9.4: no ids, queues or rooms, other alphabets, rings so full that nodes collide."""


groups = st.lists(
    st.builds("{}-10.0.0.{}@7".format, st.sampled_from(["bj", "sz"]), st.integers(1, 9)), min_size=1, max_size=12
)
topics = st.lists(
    st.tuples(st.just("t"), st.sampled_from(["bj@broker-a", "sz@broker-b"]), st.integers(0, 20)),
    min_size=1,
    max_size=40,
    unique=True,
)


@pytest.mark.parametrize(("file", "count"), [(RECORDED, 1_143), (EDGES, 233)])
def test_recorded_calls_of_the_real_classes_are_answered_as_they_were(file, count):
    """Of strategies that need nothing but ids and queues; not where the class throws or deals on an empty ring."""
    recorded = map(json.loads, gzip.decompress(file.read_bytes()).splitlines())
    known = [
        case
        for case in recorded
        if case["strategy"] in STRATEGIES and case["result"] is not None and case["params"].get("virtual_nodes") != 0
    ]

    assert len(known) == count
    assert [allocated(case) for case in known] == [case["result"] for case in known]


def test_lists_that_are_marked_sorted_are_sorted_as_java_sorts():
    for case in map(json.loads, gzip.decompress(RECORDED.read_bytes()).splitlines()):
        if case["sorted"]:
            assert case["cid_all"] == sorted(case["cid_all"], key=java_order)
            assert case["queues"] == sorted(case["queues"], key=queue_order)


def test_java_sorts_by_utf_16_code_unit_and_broker_names_as_text():
    assert sorted(["\uff01", "\U0001f600", "a"], key=java_order) == ["a", "\U0001f600", "\uff01"]
    assert sorted([("t", "b-2", 0), ("t", "b-10", 1), ("t", "b-10", 0)], key=queue_order) == [
        ("t", "b-10", 0),
        ("t", "b-10", 1),
        ("t", "b-2", 0),
    ]


@given(groups, topics, st.sampled_from(STRATEGIES))
def test_no_client_has_a_queue_twice_and_none_has_one_that_is_not_there(ids, queues, strategy):
    for client in ids:
        share = allocate(strategy, client, queues, ids)

        assert len(set(share)) == len(share)
        assert set(share) <= set(queues)


@given(groups, topics, st.sampled_from(STRATEGIES))
def test_distinct_ids_divide_the_queues_among_them(ids, queues, strategy):
    members = sorted(set(ids))

    shares = [queue for client in members for queue in allocate(strategy, client, queues, members)]

    assert sorted(shares) == sorted(queues)


@given(groups, topics, st.sampled_from(("AVG", "AVG_BY_CIRCLE")))
def test_shares_of_distinct_ids_differ_by_one_queue_at_most(ids, queues, strategy):
    members = sorted(set(ids))

    sizes = [len(allocate(strategy, client, queues, members)) for client in members]

    assert max(sizes) - min(sizes) <= 1


@given(groups, topics, st.sampled_from(("AVG", "AVG_BY_CIRCLE")))
def test_a_repeated_id_has_the_share_of_its_first_place(ids, queues, strategy):
    members = sorted(ids)
    unlike = [f"{client}!{place}" for place, client in enumerate(members)]

    for client in members:
        first = unlike[members.index(client)]
        assert allocate(strategy, client, queues, members) == allocate(strategy, first, queues, unlike)


@given(groups, topics, st.integers(1, 12))
def test_consistent_hash_orphans_nothing_however_often_an_id_repeats(ids, queues, virtual_nodes):
    shares = [queue for client in set(ids) for queue in allocate("CONSISTENT_HASH", client, queues, ids, virtual_nodes)]

    assert sorted(shares) == sorted(queues)


@given(topics, st.sampled_from(STRATEGIES))
def test_a_client_that_the_broker_does_not_list_takes_nothing(queues, strategy):
    assert allocate(strategy, "bj-10.9.9.9@1", queues, ["bj-10.0.0.1@1"]) == []
