"""What dead members of a share group get: by the law, and by a deck that is really dealt."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqlab.models.mqtt import Strategy, diverted, fraction, strategy

SIZES = st.integers(1, 9).flatmap(lambda k: st.tuples(st.just(k), st.integers(0, k)))
MESSAGES = st.integers(0, 5000)


@pytest.mark.parametrize(
    ("members", "dead", "expected"), [(3, 1, 1 / 3), (6, 4, 2 / 3), (1, 1, 1.0), (5, 0, 0.0), (0, 0, 0.0)]
)
def test_the_share_of_dead_members_is_theirs_in_the_mean(members, dead, expected):
    assert fraction(members, dead) == expected


@given(SIZES, MESSAGES, st.integers(0, 8))
def test_a_deck_dealt_in_turn_lies_in_the_interval(sizes, messages, start):
    members, dead = sizes
    dealt = sum((start + n) % members < dead for n in range(messages))
    found = diverted(Strategy.TURNS, members, dead, messages)
    assert found.low <= dealt <= found.high
    assert found.high - found.low <= 2 * dead


@given(SIZES, st.lists(st.integers(0, 400), min_size=1, max_size=6), st.integers(0, 99))
def test_each_publisher_has_a_turn_of_its_own_under_round_robin(sizes, counts, seed):
    members, dead = sizes
    start = random.Random(seed)
    dealt = sum(
        (first + n) % members < dead for count in counts for first in [start.randrange(members)] for n in range(count)
    )
    found = diverted(Strategy.ROUND_ROBIN, members, dead, sum(counts), len(counts))
    assert found.low <= dealt <= found.high


def test_a_random_pick_is_off_by_a_few_standard_deviations():
    found = diverted(Strategy.RANDOM, 3, 1, 9000)
    assert found.likely == 3000
    assert found.high - found.likely == pytest.approx(4 * (9000 * 2 / 9) ** 0.5)


@pytest.mark.parametrize("how", [Strategy.STICKY, Strategy.HASH_CLIENTID, Strategy.HASH_TOPIC, Strategy.LOCAL])
def test_whole_publishers_or_topics_are_affected_under_sticky_and_hash(how):
    found = diverted(how, 4, 1, 1000)
    assert (found.low, found.likely, found.high) == (0, 250, 1000)


def test_one_queue_for_the_group_gives_nothing_to_the_dead():
    assert diverted(Strategy.QUEUE, 3, 2, 1000).high == 0


@given(st.sampled_from(list(Strategy)), SIZES, MESSAGES)
def test_no_interval_leaves_what_was_published(how, sizes, messages):
    members, dead = sizes
    found = diverted(how, members, dead, messages)
    assert 0 <= found.low <= found.likely <= found.high <= messages


@pytest.mark.parametrize(
    ("name", "expected"),
    [("hash", Strategy.HASH_CLIENTID), ("round_robin", Strategy.ROUND_ROBIN), ("roulette", None), ("", None)],
)
def test_configurations_name_strategies_also_by_old_names(name, expected):
    assert strategy(name) is expected
