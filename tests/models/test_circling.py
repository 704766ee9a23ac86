"""Messages that circulate: how fast a circle grows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqlab.models.circling import amplification, circling, round_trip

RATE = st.floats(0.01, 1e4)
TIME = st.floats(0.01, 1e5)


def test_four_messages_a_second_on_a_round_of_a_tenth_make_forty_more_each_second():
    assert [circling(4, seconds, 0.1) for seconds in (0, 1, 10)] == [0, 40, 400]


def test_the_line_bounds_the_circle():
    assert circling(4, 60, 0.1, line=446) == 446


@given(RATE, TIME, TIME, st.floats(0.001, 60), RATE)
def test_a_circle_never_shrinks_and_never_exceeds_the_line(published, early, more, turn, line):
    before, after = circling(published, early, turn, line), circling(published, early + more, turn, line)
    assert 0 <= before <= after <= line


@given(st.integers(2, 10_000), st.floats(0.001, 60))
def test_the_time_of_a_round_is_found_again(copies, turn):
    assert round_trip(copies, (copies - 1) * turn) == pytest.approx(turn)


def test_a_message_that_came_once_made_no_round():
    assert round_trip(1, 50) is None


def test_what_nobody_published_is_not_amplified():
    assert amplification(100, 0) is None
    assert amplification(446, 4) == 111.5
