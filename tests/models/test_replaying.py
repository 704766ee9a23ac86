"""What brokers send again: retained messages, and messages that were not acknowledged."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqlab.models.mqtt import most_again
from mqlab.models.mqtt import replays_fit as fits

COUNT = st.integers(1, 10_000)


@pytest.mark.parametrize(("retained", "does"), [(4000, True), (3601, True), (4400, True), (3599, False), (4401, False)])
def test_ten_replays_of_400_topics_fit_within_one_replay(retained, does):
    assert fits(retained, 400, 10) is does


@given(COUNT, COUNT)
def test_whole_replays_always_fit_and_two_more_or_less_do_not(topics, subscribes):
    assert fits(topics * subscribes, topics, subscribes)
    assert not fits(topics * (subscribes + 2), topics, subscribes)


def test_no_retained_topics_explain_nothing():
    assert not fits(0, 0, 3)


@given(COUNT, COUNT)
def test_a_window_bounds_what_comes_again(connects, window):
    assert most_again(connects, window) >= max(connects, window)


def test_a_window_without_limit_bounds_nothing():
    assert most_again(5, 0) is None
