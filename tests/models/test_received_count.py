"""From published to received: the losses add up, and what they do not explain is told."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqlab.models.mqtt import RESIDUAL, funnel
from mqlab.units import Interval

LOSSES = st.lists(
    st.tuples(st.sampled_from("abc"), st.tuples(*[st.integers(0, 10**6)] * 3).map(lambda x: Interval(*sorted(x)))),
    max_size=5,
)


def exactly(messages):
    return Interval(float(messages), float(messages), float(messages))


def test_what_is_known_leads_down_to_what_was_received():
    steps = funnel(20_000, 3_000, [("denied", exactly(4_000)), ("dropped", Interval(12_900, 13_000, 13_100))])
    assert [(s.name, s.messages.likely, s.left) for s in steps] == [
        ("denied", 4_000, 16_000), ("dropped", 13_000, 3_000), (RESIDUAL, 0, 3_000),
    ]  # fmt: skip
    assert (steps[-1].messages.low, steps[-1].messages.high) == (-100, 100)


def test_a_loss_that_nothing_explains_stays_visible():
    steps = funnel(20_000, 3_000, [("dropped", exactly(16_000))])
    assert steps[-1].messages == exactly(1_000)


@given(st.integers(0, 10**6), st.integers(0, 10**6), LOSSES)
def test_the_steps_add_up_to_what_is_missing(published, received, losses):
    steps = funnel(published, received, losses)
    assert sum(s.messages.likely for s in steps) == pytest.approx(published - received)
    assert steps[-1].left == received
    assert all(s.messages.low <= s.messages.likely <= s.messages.high for s in steps)
