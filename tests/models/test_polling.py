"""Whether polls come in time, and the settings that are just enough."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqlab.models.kafka_defaults import Version
from mqlab.models.polling import (
    ADVISED_MARGIN,
    Percentiles,
    Work,
    largest_safe_records,
    poll_seconds,
    share_over,
    smallest_safe_interval,
    which_timeout,
    work,
)


def test_a_poll_takes_its_records_spread_over_the_threads():
    assert poll_seconds(500, 0.089) == pytest.approx(44.5)
    assert poll_seconds(500, 0.089, 4) == pytest.approx(11.125)


def test_the_largest_safe_number_of_records_is_the_last_that_is_in_time():
    assert largest_safe_records(15, 0.089) == 168
    assert largest_safe_records(15, 0.089, margin=ADVISED_MARGIN) == 84
    assert largest_safe_records(15, 0.089, threads=4) == 674
    assert largest_safe_records(15, 0.1) == 149


def test_no_number_of_records_is_safe_where_one_takes_as_long_as_the_interval():
    assert largest_safe_records(300, 300) is None
    assert largest_safe_records(300, 299) == 1


def test_the_smallest_safe_interval_is_the_next_millisecond():
    assert smallest_safe_interval(500, 0.089) == 44.501
    assert smallest_safe_interval(500, 0.089, margin=ADVISED_MARGIN) == 89.001


@given(st.floats(0.5, 3600), st.floats(0.0001, 100), st.integers(1, 64), st.sampled_from((0.0, 0.5)))
def test_one_record_more_than_the_largest_safe_number_is_late(interval, each, threads, margin):
    most = largest_safe_records(interval, each, threads, margin) or 0
    limit = interval * (1 - margin)
    assert most == 0 or poll_seconds(most, each, threads) < limit
    assert poll_seconds(most + 1, each, threads) >= limit * (1 - 1e-9)


@given(st.integers(1, 10**6), st.floats(0.0001, 10))
def test_a_poll_is_in_time_with_the_smallest_safe_interval_and_late_two_milliseconds_below(records, each):
    least = smallest_safe_interval(records, each)
    assert least - 0.002 <= poll_seconds(records, each) < least


def test_percentiles_of_the_time_per_record_weigh_polls_by_their_records():
    found = work([(1, 9.0), (99, 0.99), (0, 0.4)])

    assert found == Work(2, 100, Percentiles(0.01, 0.01), Percentiles(0.99, 9.0), 99)


def test_percentiles_are_times_that_were_measured():
    found = work([(10, float(seconds)) for seconds in range(1, 101)])

    assert found.poll_seconds == Percentiles(50, 99)
    assert found.record_seconds == Percentiles(5.0, 9.9)


def test_without_records_nothing_is_known_of_the_time_they_take():
    assert work([]) is None
    assert work([(0, 3.0)]) is None


def test_the_share_of_late_polls_counts_polls():
    assert share_over([(500, 44.5), (500, 15.0), (50, 4.4), (1, 0.1)], 15) == 0.5
    assert share_over([], 15) is None


@pytest.mark.parametrize(
    ("version", "setting"),
    [
        ("0.9.0.1", "session.timeout.ms"),
        ("0.10.0.1", "session.timeout.ms"),
        ("0.10.1.0", "max.poll.interval.ms"),
        ("4.1.0", "max.poll.interval.ms"),
        (None, None),
    ],
)
def test_polls_are_limited_by_the_session_before_0_10_1_and_by_their_own_interval_since(version, setting):
    assert which_timeout(Version.parse(version)) == setting
