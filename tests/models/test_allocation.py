"""Shares as the real Java classes give them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from allocation_cases import answers, replay
from hypothesis import given
from hypothesis import strategies as st

from mqlab.models.queue_allocation import IllegalArgumentError, UnknownStrategyError, allocate, java_order, queue_order

TRUTH = Path(__file__).parents[1] / "truth"
RECORDED = TRUTH / "rocketmq-allocation.ndjson.gz"
"""2,000 calls of the real classes with what they returned."""
EDGES = TRUTH / "rocketmq-allocation-edges.ndjson.gz"
"""701 calls of rocketmq-client 4.9.4: no ids, queues or rooms, other alphabets, rings so full that nodes collide."""

STRATEGIES = ("AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH", "MACHINE_ROOM", "MACHINE_ROOM_NEARBY-AVG")
ONE_PLACE_EACH = ("AVG", "AVG_BY_CIRCLE", "MACHINE_ROOM", "MACHINE_ROOM_NEARBY-AVG_BY_CIRCLE")
PARAMS = {"consumer_idcs": ["bj", "sz"]}

groups = st.lists(
    st.builds("{}-10.0.0.{}@7".format, st.sampled_from(["bj", "sz"]), st.integers(1, 9)), min_size=1, max_size=12
)
topics = st.lists(
    st.tuples(st.just("t"), st.sampled_from(["bj@broker-a", "sz@broker-b"]), st.integers(0, 20)),
    min_size=1,
    max_size=40,
    unique=True,
)


def line(**members):
    """A case of one client and one queue as a line, but for some members."""
    case = {"case": 5, "strategy": "AVG", "params": {}, "cid_all": ["a"], "queues": [["t", "b", 0]], "current_cid": "a"}
    return json.dumps({**case, **members}).encode()


@pytest.mark.parametrize(("file", "count"), [(RECORDED, 2_000), (EDGES, 701)])
def test_all_recorded_calls_of_the_real_classes_are_answered_as_they_were(file, count):
    lines = gzip.decompress(file.read_bytes()).splitlines()
    recorded = [json.loads(text) for text in lines]

    answered = json.loads(json.dumps(list(answers(lines))))

    assert len(answered) == count
    assert answered == [{"case": case["case"], "result": case["result"]} for case in recorded]


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
        share = allocate(strategy, client, queues, ids, PARAMS)

        assert len(set(share)) == len(share)
        assert set(share) <= set(queues)


@given(groups, topics, st.sampled_from(STRATEGIES))
def test_distinct_ids_divide_the_queues_among_them(ids, queues, strategy):
    members = sorted(set(ids))

    shares = [queue for client in members for queue in allocate(strategy, client, queues, members, PARAMS)]

    assert sorted(shares) == sorted(queues)


@given(groups, topics, st.sampled_from(("AVG", "AVG_BY_CIRCLE")))
def test_shares_of_distinct_ids_differ_by_one_queue_at_most(ids, queues, strategy):
    members = sorted(set(ids))

    sizes = [len(allocate(strategy, client, queues, members)) for client in members]

    assert max(sizes) - min(sizes) <= 1


@given(groups, topics, st.sampled_from(ONE_PLACE_EACH))
def test_a_repeated_id_has_the_share_of_its_first_place(ids, queues, strategy):
    members = sorted(ids)
    unlike = [f"{client}!{place}" for place, client in enumerate(members)]

    for client in members:
        first = unlike[members.index(client)]
        assert allocate(strategy, client, queues, members, PARAMS) == allocate(strategy, first, queues, unlike, PARAMS)


@given(groups, topics, st.integers(1, 12))
def test_consistent_hash_orphans_nothing_however_often_an_id_repeats(ids, queues, virtual_nodes):
    params = {"virtual_nodes": virtual_nodes}

    shares = [queue for client in set(ids) for queue in allocate("CONSISTENT_HASH", client, queues, ids, params)]

    assert sorted(shares) == sorted(queues)


def test_a_ring_without_virtual_nodes_gives_nothing_to_anybody():
    assert allocate("CONSISTENT_HASH", "a", [("t", "b", 0)], ["a"], {"virtual_nodes": 0}) == []


@given(topics, st.sampled_from(STRATEGIES))
def test_a_client_that_the_broker_does_not_list_takes_nothing(queues, strategy):
    assert allocate(strategy, "bj-10.9.9.9@1", queues, ["bj-10.0.0.1@1"], PARAMS) == []


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize(
    ("client", "queues", "ids"), [("", [("t", "b", 0)], ["a"]), ("a", [], ["a"]), ("a", [("t", "b", 0)], [])]
)
def test_no_client_no_queue_and_no_id_are_refused_as_by_the_java_class(strategy, client, queues, ids):
    with pytest.raises(IllegalArgumentError):
        allocate(strategy, client, queues, ids, PARAMS)


def test_a_configured_list_is_given_to_everybody():
    params = {"message_queue_list": [("t", "b", 3)]}

    assert allocate("CONFIG", "not listed", [], [], params) == [("t", "b", 3)]


@pytest.mark.parametrize(
    ("broker", "taken"), [("bj@b", True), ("bj@b@", True), ("bj@b@c", False), ("bj@", False), ("bj", False)]
)
def test_a_machine_room_is_the_first_of_exactly_two_parts_of_the_name(broker, taken):
    assert bool(allocate("MACHINE_ROOM", "a", [("t", broker, 0)], ["a"], {"consumer_idcs": ["bj"]})) is taken


def test_a_room_without_clients_is_shared_by_all_and_one_with_clients_is_not():
    queues = [("t", "bj@a", 0), ("t", "bj@a", 1), ("t", "hz@b", 0), ("t", "hz@b", 1), ("t", "sz@c", 0)]
    ids = ["bj-1", "sz-1"]

    assert allocate("MACHINE_ROOM_NEARBY-AVG", "bj-1", queues, ids) == [*queues[:2], ("t", "hz@b", 0)]
    assert allocate("MACHINE_ROOM_NEARBY-AVG", "sz-1", queues, ids) == [("t", "sz@c", 0), ("t", "hz@b", 1)]


def test_whoever_is_in_no_room_is_refused():
    with pytest.raises(IllegalArgumentError, match="Machine room is null"):
        allocate("MACHINE_ROOM_NEARBY-AVG", "bj-1", [("t", "@a", 0)], ["bj-1"])


def test_a_strategy_that_is_not_known_is_an_error_that_names_those_that_are():
    with pytest.raises(UnknownStrategyError, match="'SPREAD'; known are AVG, AVG_BY_CIRCLE, CONSISTENT_HASH"):
        allocate("SPREAD", "a", [("t", "b", 0)], ["a"])


@pytest.mark.parametrize("strategy", ["CONSISTENT_HASH", "MACHINE_ROOM_NEARBY-CONSISTENT_HASH"])
def test_fewer_than_no_virtual_nodes_are_refused_whoever_asks(strategy):
    with pytest.raises(IllegalArgumentError, match="illegal virtualNodeCnt :-1"):
        allocate(strategy, "not listed", [("t", "b", 0)], ["a"], {"virtual_nodes": -1})


def test_a_case_that_the_java_class_refuses_has_no_result():
    assert list(answers([line(queues=[])])) == [{"case": 5, "result": None}]


def test_a_kafka_case_is_answered_with_the_results_of_its_rounds():
    rounds = [{"round": 0, "generation": -1, "partitions_per_topic": {"t": 2}, "subscriptions": {"m": ["t"]}}]
    case = {"case": 8, "assignor": "range", "group_instance_ids": {}, "rounds": rounds}

    assert list(answers([json.dumps(case).encode()])) == [{"case": 8, "result": replay(case)}]
