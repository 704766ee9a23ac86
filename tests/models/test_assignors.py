"""Kafka's assignors against the real classes (kafka-clients 3.7.1), and rules that hold for every group."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest
from allocation_cases import replay
from hypothesis import given, settings
from hypothesis import strategies as st

from mqlab.models.assignment import ASSIGNORS
from mqlab.models.sticky_assignment import Group, partition_hash, string_hash, walk, walk_computed

TRUTH = Path(__file__).parents[1] / "truth"
TOPICS = ["Aa", "BB", "orders", "clicks", "t.1", "T_2"]
"""``Aa`` and ``BB`` have one hash; ``t.1`` and ``T_2`` fall into one bin."""


@st.composite
def groups(draw, alike: bool = False) -> Group:
    """Draw a group that owns some of its partitions, each at most once."""
    members = [f"c-{number}-{draw(st.integers(0, 99))}" for number in range(draw(st.integers(1, 14)))]
    partitions = draw(st.dictionaries(st.sampled_from(TOPICS), st.integers(1, 9), min_size=1))
    topics = st.lists(st.sampled_from(sorted(partitions)), min_size=1, unique=True)
    common = draw(topics)
    subscriptions = {member: common if alike else draw(topics) for member in members}
    owned: dict[str, list[tuple[str, int]]] = {member: [] for member in members}
    for topic, count in partitions.items():
        for number in range(count):
            owner = draw(st.sampled_from([*members, None]))
            if owner is not None:
                owned[owner].append((topic, number))
    static = draw(st.lists(st.sampled_from(members), unique=True))
    instances = {member: f"i-{len(static) - place}" for place, member in enumerate(static)}
    return Group(partitions, subscriptions, owned, dict.fromkeys(members, 5), instances)


def cases(name: str) -> list[dict]:
    with gzip.open(TRUTH / name, "rt") as lines:
        return [json.loads(line) for line in lines]


def subscribed(group: Group) -> list[tuple[str, int]]:
    topics = {topic for each in group.subscriptions.values() for topic in each}
    return sorted((topic, number) for topic in topics for number in range(group.partitions[topic]))


def handed_out(assignment) -> list[tuple[str, int]]:
    return sorted(partition for found in assignment.values() for partition in found)


def test_all_rounds_of_all_assignors_equal_what_the_real_classes_computed():
    equal: Counter[tuple[str, int, str]] = Counter()

    for case in cases("kafka-assignor.ndjson.gz"):
        for given_round, found in zip(case["rounds"], replay(case), strict=True):
            outcome = "equal" if found == given_round["result"] else f"case {case['case']} differs"
            equal[case["assignor"], given_round["round"], outcome] += 1

    assert equal == {
        ("range", 0, "equal"): 250,
        ("roundrobin", 0, "equal"): 250,
        ("sticky", 0, "equal"): 250,
        ("sticky", 1, "equal"): 169,
        ("sticky", 2, "equal"): 82,
        ("cooperative-sticky", 0, "equal"): 250,
        ("cooperative-sticky", 1, "equal"): 173,
        ("cooperative-sticky", 2, "equal"): 74,
    }


def test_groups_whose_maps_had_to_grow_equal_what_the_real_classes_computed():
    large = cases("kafka-assignor-large.ndjson.gz")

    assert [replay(case) for case in large] == [[each["result"] for each in case["rounds"]] for case in large]


def test_a_replay_does_not_read_the_results_it_is_compared_with():
    case = next(case for case in cases("kafka-assignor.ndjson.gz") if len(case["rounds"]) == 3)
    blind = {**case, "rounds": [{**each, "result": None} for each in case["rounds"]]}

    assert replay(blind) == replay(case)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(["range", "roundrobin", "sticky"]), groups())
def test_every_partition_of_a_subscribed_topic_goes_to_exactly_one_member(name, group):
    assert handed_out(ASSIGNORS[name](group)) == subscribed(group)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(ASSIGNORS)), groups())
def test_nobody_gets_a_topic_without_having_subscribed_to_it(name, group):
    found = ASSIGNORS[name](group)

    assert {
        (member, topic) for member in found for topic, _ in found[member] if topic not in group.subscriptions[member]
    } == set()


@settings(max_examples=60, deadline=None)
@given(st.booleans().flatmap(groups))
def test_cooperative_withholds_just_what_another_member_owns_and_leaves_the_rest_as_sticky_does(group):
    found = ASSIGNORS["cooperative-sticky"](group)
    before = {partition: member for member, owned in group.owned.items() for partition in owned}
    withheld = set(subscribed(group)) - set(handed_out(found))

    assert len(handed_out(found)) == len(set(handed_out(found)))
    assert [partition for partition in withheld if partition not in before] == []
    assert [each for member in found for each in found[member] if before.get(each, member) != member] == []


@settings(max_examples=60, deadline=None)
@given(groups())
def test_range_gives_runs_that_differ_by_at_most_one(group):
    found = ASSIGNORS["range"](group)

    for topic, subscribers in {
        topic: [m for m in found if topic in group.subscriptions[m]] for topic in TOPICS
    }.items():
        runs = [[number for each, number in found[member] if each == topic] for member in subscribers]
        assert all(run == list(range(run[0], run[0] + len(run))) for run in runs if run)
        assert max(map(len, runs), default=0) - min(map(len, runs), default=0) <= 1


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(["roundrobin", "sticky"]), groups(alike=True))
def test_with_equal_subscriptions_members_differ_by_at_most_one_partition(name, group):
    sizes = [len(found) for found in ASSIGNORS[name](group).values()]

    assert max(sizes) - min(sizes) <= 1


@settings(max_examples=60, deadline=None)
@given(groups(alike=True))
def test_sticky_takes_from_a_member_only_what_exceeds_its_share(group):
    found = ASSIGNORS["sticky"](group)
    mine = {member: {each for each in owned if each in subscribed(group)} for member, owned in group.owned.items()}

    lost = {member: len(mine[member].difference(found[member])) for member in found}

    assert lost == {member: max(0, len(mine[member]) - len(found[member])) for member in found}


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(["sticky", "cooperative-sticky"]), st.booleans().flatmap(groups))
def test_once_a_group_has_settled_nothing_moves(name, group):
    settled = group
    for _ in range(3):
        found = ASSIGNORS[name](settled)
        settled = Group(group.partitions, group.subscriptions, found, group.generations, group.instances)

    assert {m: set(found) for m, found in ASSIGNORS[name](settled).items()} == {
        m: set(found) for m, found in settled.owned.items()
    }


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("range", {"a": (("t", 2),), "b": (("t", 1),), "c": (("t", 0),)}),
        ("roundrobin", {"a": (("t", 2),), "b": (("t", 1),), "c": (("t", 0),)}),
        ("sticky", {"a": (("t", 0),), "b": (("t", 1),), "c": (("t", 2),)}),
    ],
)
def test_static_members_come_first_by_instance_id_except_with_sticky(name, expected):
    group = Group({"t": 3}, {"a": ["t"], "b": ["t"], "c": ["t"]}, instances={"c": "1", "b": "2"})

    assert ASSIGNORS[name](group) == expected


@pytest.mark.parametrize(
    ("generations", "expected"),
    [
        ({"a": 4, "b": 4}, {"a": (("t", 0),), "b": (("t", 2), ("t", 3))}),
        ({"a": 4, "b": 3}, {"a": (("t", 0), ("t", 1)), "b": (("t", 2), ("t", 3))}),
        ({"a": 3, "b": 4}, {"a": (("t", 0), ("t", 3)), "b": (("t", 1), ("t", 2))}),
    ],
)
def test_a_partition_claimed_twice_stays_with_the_later_generation_and_is_withheld_where_there_is_none(
    generations, expected
):
    claimed = {"a": [("t", 0), ("t", 1)], "b": [("t", 1), ("t", 2)]}
    group = Group({"t": 4}, {"a": ["t"], "b": ["t"]}, claimed, generations)

    assert ASSIGNORS["cooperative-sticky"](group) == expected


def test_partitions_and_topics_that_are_gone_are_not_handed_out():
    group = Group({"t": 2}, {"a": ["t"], "b": ["t"]}, {"a": [("t", 0), ("t", 7)], "b": [("old", 0)]}, {"a": 1, "b": 1})

    assert ASSIGNORS["sticky"](group) == {"a": (("t", 0),), "b": (("t", 1),)}


def test_hashes_are_those_of_java():
    assert string_hash("Aa") == string_hash("BB") == 2112
    assert string_hash("polygenelubricants") == 1 << 31
    assert string_hash("\U0001f600") == 1772899
    assert partition_hash(("Aa", 0)) == 31 * 31 + 2112


def test_names_in_one_bin_come_in_the_order_of_insertion_or_backwards_where_they_were_computed():
    assert walk(["BB", "b", "Aa", "a"], string_hash) == ["BB", "Aa", "a", "b"]
    assert walk_computed(["BB", "b", "Aa", "a"], string_hash) == ["Aa", "BB", "a", "b"]
