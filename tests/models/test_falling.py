"""A measured drain: where it begins, how fast it is, when it is over, and what is none."""

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqlab.models.falling import falling, lines
from mqlab.units import Interval


def legs(start, *parts):
    """Samples every 10 s along (samples, change per sample) legs."""
    values = [start]
    for samples, step in parts:
        values += [values[-1] + step * n for n in range(1, samples + 1)]
    return [(10.0 * n, float(v)) for n, v in enumerate(values)]


def test_the_fall_begins_where_the_plateau_ends_and_is_over_at_the_healthy_level():
    found = falling(legs(20, (20, 100), (12, -1), (20, -100), (10, 0)), healthy=8)

    assert found.began_at == pytest.approx(320, abs=10)
    assert found.messages_per_second.likely == pytest.approx(10, rel=0.02)
    assert found.reached_at == pytest.approx(516, abs=3)
    assert found.expected_at is None


def test_while_it_falls_the_end_is_foretold_with_an_interval():
    found = falling(legs(20, (20, 100), (10, -100)))

    assert found.reached_at is None
    assert found.left == 1020
    assert found.expected_at.low < 200 + (2020 - 20 - 40) / 10 < found.expected_at.high
    assert found.expected_at.likely == pytest.approx(396, abs=1)


def test_a_backlog_that_was_there_at_the_start_is_no_healthy_level():
    samples = legs(600, (20, 70), (20, -100), (10, 0))
    assert falling(samples).reached_at == pytest.approx(200 + (2000 - 40) / 10, abs=3)
    still = falling(legs(600, (20, 70), (16, -100)))
    assert (still.reached_at, still.left) == (None, 400)


def test_a_level_that_lag_comes_back_to_is_healthy_however_high():
    assert falling(legs(600, (20, 70), (14, -100), (10, 0))).reached_at == pytest.approx(200 + (1400 - 40) / 10, abs=3)


def test_saw_teeth_and_single_spikes_do_not_decide_where_it_begins():
    smooth = legs(2000, (12, -1), (18, -100))
    toothed = [(at, v + 60 * (n % 3)) for n, (at, v) in enumerate(smooth)]
    assert falling(toothed).began_at == pytest.approx(120, abs=25)
    assert falling(toothed).messages_per_second.likely == pytest.approx(10, rel=0.1)
    spiked = [(at, v + (150 if n == 6 else 0)) for n, (at, v) in enumerate(smooth)]
    assert falling(spiked).began_at == pytest.approx(120, abs=15)


def test_a_fall_that_slows_down_is_judged_by_its_last_line():
    found = falling(legs(6000, (10, -300), (10, -100)), healthy=0)
    assert found.began_at == 0
    assert found.messages_per_second.likely == pytest.approx(10, rel=0.02)


@pytest.mark.parametrize(
    "points",
    [
        legs(0, (30, 4)),
        legs(100, (10, -9), (10, 9)),
        legs(1000, (10, -50), (20, 0)),
        legs(5, (2, -1)),
        [],
        [(0.0, 5.0)] * 3,
    ],
    ids=["it grows", "it comes back", "it stops half way", "too few samples", "no sample", "one moment"],
)
def test_what_does_not_fall_for_good_is_no_drain(points):
    assert falling(points) is None


def test_a_long_healthy_time_afterwards_changes_nothing():
    drain = legs(2000, (4, 0), (20, -100))
    longer = [*drain, *((240 + 10.0 * n, 0.0) for n in range(1, 3000))]
    assert falling(longer).began_at == pytest.approx(falling(drain).began_at, abs=5)
    assert falling(longer).reached_at == falling(drain).reached_at


def test_samples_on_two_lines_are_two_lines():
    assert [(line.first, line.last, round(line.slope, 3)) for line in lines(legs(100, (6, 0), (9, -10)))] == [
        (0, 6, 0.0),
        (6, 15, -1.0),
    ]


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**9)), max_size=60, unique_by=lambda p: p[0]))
def test_whatever_the_samples_the_interval_holds_the_rate_and_times_are_in_order(samples):
    found = falling([(float(at), float(v)) for at, v in sorted(samples)])
    if found is not None:
        rate = found.messages_per_second
        assert 0 <= rate.low <= rate.likely <= rate.high
        assert found.began_at <= (found.reached_at or inf)
        if found.expected_at:
            assert found.expected_at == Interval(*sorted(vars_of(found.expected_at)))


def vars_of(interval):
    return interval.low, interval.likely, interval.high
