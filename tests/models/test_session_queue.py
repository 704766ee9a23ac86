"""A session's queue: what it holds, and how long memory lasts."""

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqlab.models.mqtt import OLDEST, Queue, memory_lasts


def test_a_connected_session_holds_what_is_in_flight_besides():
    assert Queue(800, 30, OLDEST).holds(connected=True) == 830
    assert Queue(800, 30, OLDEST).holds(connected=False) == 800
    assert Queue(None, 30, OLDEST).holds(connected=True) == inf


def test_memory_is_full_before_the_session_expires_or_not_at_all():
    assert memory_lasts(2e9, 1.5e6, 18e9, 7200) is None
    assert memory_lasts(2e9, 1.5e6, 18e9, None) == pytest.approx(16e9 / 1.5e6)
    assert memory_lasts(2e9, 1.5e6, None, None) is None
    assert memory_lasts(2e9, 0.0, 18e9, None) is None


@given(st.floats(0, 1e12), st.floats(1, 1e9), st.floats(0, 1e12), st.one_of(st.none(), st.floats(0, 1e6)))
def test_memory_that_fills_up_is_filled_by_the_growth(free, growth, used, expires):
    seconds = memory_lasts(used, growth, used + free, expires)
    assert seconds is None or used + growth * seconds == pytest.approx(used + free)
