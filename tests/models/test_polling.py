"""Whether polls come in time, and the settings that are just enough."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqlab.models.group_terms import CLASSIC, CONSUMER, rules
from mqlab.models.kafka_defaults import Version
from mqlab.models.polling import (
    ADVISED_MARGIN,
    Percentiles,
    Work,
    feasible,
    largest_safe_records,
    poll_seconds,
    share_over,
    smallest_safe_interval,
    which_timeout,
    work,
)


@pytest.mark.parametrize(
    ("records", "each", "threads", "other", "seconds"),
    [
        (500, 0.089, 1, 0.0, 44.5),
        (500, 0.089, 4, 0.0, 11.125),
        (50, 0.089, 1, 0.5, 4.95),
        (500, 7.6, 1, 0.0, 3800),
        (0, 0.1, 1, 0.2, 0.2),
    ],
)
def test_a_poll_takes_its_records_spread_over_the_threads_and_what_else_is_done(records, each, threads, other, seconds):
    assert poll_seconds(records, each, threads, other) == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("records", "each", "interval", "in_time"),
    [(500, 0.089, 15, False), (50, 0.089, 15, True), (150, 0.1, 15, False), (149, 0.1, 15, True)],
)
def test_a_poll_must_take_less_than_the_interval(records, each, interval, in_time):
    assert feasible(records, each, interval) is in_time


def test_the_largest_safe_number_of_records_is_the_last_that_is_in_time():
    assert largest_safe_records(15, 0.089) == 168
    assert largest_safe_records(15, 0.089, margin=ADVISED_MARGIN) == 84
    assert largest_safe_records(15, 0.089, threads=4) == 674
    assert largest_safe_records(15, 0.1, other=5) == 99


def test_no_number_of_records_is_safe_where_one_takes_as_long_as_the_interval():
    assert largest_safe_records(300, 300) is None
    assert largest_safe_records(5, 0.1, other=5) is None
    assert largest_safe_records(300, 299) == 1


def test_the_smallest_safe_interval_is_the_next_millisecond():
    assert smallest_safe_interval(500, 0.089) == 44.501
    assert smallest_safe_interval(500, 0.089, margin=ADVISED_MARGIN) == 89.001
    assert smallest_safe_interval(100, 0.01, threads=2, other=0.5) == 1.001


@given(st.floats(0.5, 3600), st.floats(0.0001, 100), st.integers(1, 64), st.floats(0, 60), st.sampled_from((0.0, 0.5)))
def test_one_record_more_than_the_largest_safe_number_is_late(interval, each, threads, other, margin):
    most = largest_safe_records(interval, each, threads, other, margin) or 0
    limit = interval * (1 - margin)
    assert most == 0 or feasible(most, each, limit, threads, other)
    assert poll_seconds(most + 1, each, threads, other) >= limit * (1 - 1e-9)


@given(st.integers(1, 10**6), st.floats(0.0001, 10), st.integers(1, 64), st.floats(0, 60))
def test_a_poll_is_in_time_with_the_smallest_safe_interval_and_late_two_milliseconds_below(
    records, each, threads, other
):
    least = smallest_safe_interval(records, each, threads, other)
    assert feasible(records, each, least, threads, other)
    assert not feasible(records, each, least - 0.002, threads, other)


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


def test_session_and_heartbeat_are_the_clients_settings_and_in_the_protocol_of_kip_848_the_brokers():
    assert rules(None) is rules("classic") is CLASSIC
    assert rules("CONSUMER") is CONSUMER
    assert (CLASSIC.settings_of, CONSUMER.settings_of) == ("consumer", "broker")
    assert CONSUMER.session_setting == "group.consumer.session.timeout.ms"
