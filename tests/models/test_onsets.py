"""When a quantity left its own level: steps and ramps, and what only looks like one."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqlab.models.onsets import Onset, level, onset, rates


def points(*values, step=10.0):
    return [(step * n, float(v)) for n, v in enumerate(values)]


def noisy(mean, sigma, count, seed):
    source = random.Random(seed)
    return [source.gauss(mean, sigma) for _ in range(count)]


def test_a_step_is_seen_between_the_last_sample_before_and_the_first_after():
    assert onset(points(*[40] * 8, *[27] * 8)) == Onset(70, 80, 40, 27, True, 27)
    assert onset(points(*[40] * 8, *[60] * 8)) == Onset(70, 80, 40, 60, True, 60)
    assert onset(points(*[40] * 8, *[60] * 8)).after == 60


def test_from_nothing_anything_that_lasts_is_a_step():
    assert onset(points(*[0] * 6, 1, 1, 1)) == Onset(50, 60, 0, 1, True, 1)


@pytest.mark.parametrize(
    "values",
    [
        [40] * 20,
        [40] * 8 + [400] + [40] * 8,
        [40] * 8 + [400, 400] + [40] * 8,
        [40] * 8 + [45] * 8,
        [40] * 5 + [80] * 8,
        [40] * 8 + [80] * 2,
        [40] * 8 + [60] * 4 + [40] * 20,
        [30, 50] * 12,
        [],
    ],
    ids=[
        "level",
        "an outlier",
        "two",
        "too little",
        "too short before",
        "too short after",
        "catching up",
        "swinging",
        "nothing",
    ],
)
def test_these_are_no_change(values):
    assert onset(points(*values)) is None


def test_a_burst_that_passes_counts_where_it_at_least_doubles():
    assert onset(points(*[40] * 8, *[90] * 4, *[40] * 8)) == Onset(70, 80, 40, 90, False, 90)
    assert onset(points(*[40] * 8, *[15] * 4, *[40] * 8)) == Onset(70, 80, 40, 15, False, 15)
    assert onset(points(*[40] * 8, *[60] * 4, *[40] * 8)) is None


def test_a_ramp_is_seen_when_it_has_left_the_noise():
    found = onset(points(*[100] * 10, *[100 + 10 * n for n in range(1, 20)]))
    assert (found.before, found.since, found.at) == (100, 90, 130)


@pytest.mark.parametrize("seed", range(20))
def test_noise_is_no_change_and_hides_no_step(seed):
    calm = noisy(100, 10, 60, seed)
    assert onset(points(*calm)) is None
    found = onset(points(*calm, *noisy(200, 10, 20, seed + 100)))
    assert (530 <= found.since <= 590, found.at) == (True, 600)


def test_an_outlier_before_does_not_hide_a_step():
    assert onset(points(*[40] * 4, 4000, *[40] * 4, *[80] * 5)).at == 90


def test_counts_of_events_have_their_own_noise():
    few = points(0, 0, 1, 0, 0, 0, 0, 1, 2, 1, 0, 1)
    assert onset(few, events=True) is None
    assert onset(points(*[0] * 6, *[5] * 5), events=True) == Onset(50, 60, 0, 5, True, 5)
    assert onset(points(*[0] * 6, *[2] * 5), events=True) is None


def test_a_rate_is_the_rise_of_a_counter_and_a_new_start_tells_none():
    assert rates(points(0, 100, 300, 20, 120)) == [(10, 10), (20, 20), (40, 10)]
    assert rates([(5.0, 1.0), (5.0, 9.0)]) == []


def test_what_is_printed_only_when_it_changes_goes_on():
    assert level([(10.0, 3.0), (30.0, 4.0)], [0.0, 10.0, 20.0, 30.0, 40.0]) == [
        (10.0, 3.0), (20.0, 3.0), (30.0, 4.0), (40.0, 4.0),
    ]  # fmt: skip
    assert level([], [1.0]) == []


@given(st.lists(st.floats(0, 1e6), max_size=60), st.floats(-1e5, 1e5))
def test_when_it_happens_does_not_depend_on_the_clock(values, shift):
    """Moved by any time, the same samples change at the same place."""
    here = onset([(float(n), v) for n, v in enumerate(values)])
    there = onset([(n * 1.0 + shift, v) for n, v in enumerate(values)])
    assert (here is None) == (there is None)
    if here is not None:
        assert (here.before, here.after) == (there.before, there.after)
        assert round(here.at + shift, 3) == round(there.at, 3)


@pytest.mark.parametrize("peak", [[900, 2000, 3000, 3000, 3000], [3000] * 5])
def test_what_fell_back_to_another_level_than_before_did_not_last(peak):
    back = onset(points(*[40] * 8, *peak, *[80] * 4))
    assert (back.lasting, back.after) == (False, 3000)
    near = onset(points(*[40] * 8, *peak, *[2500] * 4))
    assert (near.lasting, near.before) == (True, 40)
