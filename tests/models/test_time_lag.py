"""The age of the oldest waiting record, with the bounds that samples of the end allow."""

from hypothesis import given
from hypothesis import strategies as st

from mqlab.models.lag import TimeLag, time_lag

STEADY = [(0.0, 100), (10.0, 200), (20.0, 300), (30.0, 400)]


def test_a_record_was_written_between_the_samples_around_its_offset():
    assert time_lag(STEADY, 250, 40.0) == TimeLag(20.0, 25.0, 30.0)


def test_a_record_at_the_end_of_a_sample_was_written_after_it():
    assert time_lag(STEADY, 200, 40.0) == TimeLag(20.0, 30.0, 30.0)


def test_nothing_waits_where_everything_is_committed():
    assert time_lag(STEADY, 400, 99.0) == TimeLag(0.0, 0.0, 0.0)
    assert time_lag([(0.0, 7)], 7, 1.0) == TimeLag(0.0, 0.0, 0.0)


def test_a_commit_beyond_the_last_sample_of_the_end_only_says_that_the_sample_is_old():
    assert time_lag(STEADY, 404, 31.0) == TimeLag(0.0, 0.0, 0.0)


def test_a_record_older_than_the_samples_is_at_least_as_old_as_they_are():
    assert time_lag(STEADY, 50, 40.0) == TimeLag(40.0, None, None)


def test_a_time_in_which_nothing_was_written_does_not_make_records_older():
    pause = [(0.0, 100), (10.0, 200), (500.0, 200), (510.0, 300)]
    assert time_lag(pause, 200, 520.0) == TimeLag(10.0, 20.0, 20.0)


def test_samples_of_the_future_are_not_looked_at():
    assert time_lag(STEADY, 250, 25.0) == TimeLag(5.0, 10.0, 15.0)
    assert time_lag(STEADY, 300, 25.0) == TimeLag(0.0, 0.0, 0.0)
    assert time_lag(STEADY, 5, -1.0) is None


RECREATED = [(0.0, 1000), (10.0, 2000), (20.0, 0), (30.0, 100), (40.0, 200)]


def test_across_an_end_that_went_back_nothing_is_told():
    assert time_lag(RECREATED, 1500, 50.0) is None
    assert time_lag([(0.0, 100), (10.0, 90), (20.0, 110)], 80, 20.0) is None


def test_offsets_written_since_the_end_went_back_are_told():
    assert time_lag(RECREATED, 50, 50.0) == TimeLag(20.0, 25.0, 30.0)
    assert time_lag(RECREATED, 200, 50.0) == TimeLag(0.0, 0.0, 0.0)


@given(
    st.lists(st.tuples(st.integers(0, 100), st.integers(0, 50)), min_size=1, max_size=20),
    st.integers(0, 1500),
    st.floats(0, 3000),
)
def test_the_likely_age_lies_within_its_bounds(steps, committed, now):
    history, at, end = [], 0.0, 0
    for seconds, records in steps:
        at, end = at + seconds + 1, end + records
        history.append((at, end))
    found = time_lag(history, committed, now)
    if found is not None and found.high is not None:
        assert 0 <= found.low <= found.likely <= found.high
