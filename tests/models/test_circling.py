"""Messages that circulate: how long a round takes, and how much more is taken in."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqlab.models.mqtt import amplification, round_trip


@given(st.integers(2, 10_000), st.floats(0.001, 60))
def test_the_time_of_a_round_is_found_again(copies, turn):
    assert round_trip(copies, (copies - 1) * turn) == pytest.approx(turn)


def test_a_message_that_came_once_made_no_round():
    assert round_trip(1, 50) is None


def test_what_nobody_published_is_not_amplified():
    assert amplification(100, 0) is None
    assert amplification(446, 4) == 111.5
