"""Shares as the real Java classes give them, and the replay of cases."""

from __future__ import annotations

import gzip
import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqlab.models import assignors
from mqlab.models.allocation import allocate, java_order, queue_order
from mqlab.models.allocation.__main__ import main
from mqlab.models.allocation.queues import IllegalArgumentError
from mqlab.models.allocation.replay import BadLineError, answers
from mqlab.models.allocation.strategies import UnknownStrategyError

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

    assert list(answers([json.dumps(case).encode()])) == [{"case": 8, "result": assignors.replay(case)}]


@pytest.mark.parametrize(
    ("bad", "because"),
    [
        (b'{"case":', "it is no JSON"),
        (b"\xff", "it is no JSON"),
        (b"[]", "no object"),
        (b"{}", "neither a strategy nor an assignor"),
        (line(strategy="SPREAD"), "'SPREAD'"),
        (line(strategy=None), "strategy holds None"),
        (line(current_cid=None), "current_cid holds None"),
        (line(cid_all="a"), "cid_all is 'a'"),
        (line(cid_all=[1]), "cid_all holds 1"),
        (line(queues=[["t", "b"]]), "['t', 'b'] is no queue"),
        (line(params=[]), "params is []"),
        (line(params={"virtual_nodes": "10"}), "virtual_nodes is '10'"),
        (line(params={"consumer_idcs": None}), "consumer_idcs is None"),
        (line(params={"message_queue_list": [0]}), "0 is no queue"),
        (b'{"assignor": "none"}', "'none'"),
    ],
)
def test_a_bad_line_is_named_by_its_number_after_the_answers_before_it(bad, because):
    found = answers([line(), b"\n", bad])

    assert next(found) == {"case": 5, "result": [("t", "b", 0)]}
    with pytest.raises(BadLineError) as error:
        next(found)
    assert str(error.value).startswith("Line 3: ")
    assert because in str(error.value)


def run(monkeypatch, *lines):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"\n".join(lines))))
    return main()


def test_the_replay_writes_a_line_a_case(monkeypatch, capsys):
    code = run(monkeypatch, line(case=1), line(case=2, current_cid="b"))

    assert (code, *capsys.readouterr()) == (
        0,
        '{"case":1,"result":[["t","b",0]]}\n{"case":2,"result":[]}\n',
        "",
    )


def test_the_replay_stops_at_a_bad_line_with_code_64(monkeypatch, capsys):
    code = run(monkeypatch, line(case=1), b"oops")

    assert (code, *capsys.readouterr()) == (
        64,
        '{"case":1,"result":[["t","b",0]]}\n',
        "Line 2: This is no case: it is no JSON.\n",
    )
