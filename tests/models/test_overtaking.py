"""When retention reaches what a group has not read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqlab.models.lag import DAY, Overtaken, overtaken

HOUR = 3600.0


@pytest.mark.parametrize(
    ("age", "produced", "consumed", "expected"),
    [
        (0.0, 10.0, 0.0, Overtaken(HOUR, 828_000, 828_000)),
        (0.0, 10.0, 5.0, Overtaken(2 * HOUR, 396_000, 828_000)),
        (1800.0, 10.0, 5.0, Overtaken(HOUR, 414_000, 846_000)),
        (2 * HOUR, 10.0, 5.0, Overtaken(0.0, 432_000, 864_000)),
    ],
    ids=["nobody reads", "half is read", "half is read, half an hour behind", "overtaken already"],
)
def test_unread_records_age_by_what_is_not_read(age, produced, consumed, expected):
    assert overtaken(age, HOUR, produced, consumed) == expected


@pytest.mark.parametrize(("produced", "consumed"), [(10.0, 10.0), (10.0, 12.0), (0.0, 0.0)])
def test_a_group_that_keeps_pace_is_never_overtaken(produced, consumed):
    assert overtaken(50.0, 60.0, produced, consumed) is None


PACES = st.tuples(st.floats(0.1, 1000), st.floats(0, 0.99)).map(lambda pair: (pair[0], pair[0] * pair[1]))


@given(st.floats(0, 2 * DAY), st.floats(1, 8 * DAY), PACES)
def test_reading_puts_it_off_and_never_loses_more_than_not_reading(age, retention, paces):
    found = overtaken(age, retention, *paces)

    assert found.seconds >= max(0.0, retention - age)
    assert 0 <= found.records <= found.most + 1


@given(st.floats(0, DAY), st.floats(1, DAY), PACES)
def test_a_longer_retention_never_comes_sooner(age, retention, paces):
    assert overtaken(age, retention + 60, *paces).seconds >= overtaken(age, retention, *paces).seconds
