"""Load behind the broker: Little's law, and when clients lose patience."""

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqlab.models.hook_cascade import events, load, patience, writes

RATES = st.floats(0, 1e5)


def test_two_thousand_devices_that_flap_every_twenty_seconds_fill_a_slow_hook():
    rate = events(2000, 20, 7)
    assert rate == 700
    found = load(rate, 0.1, 32)
    assert found.busy == pytest.approx(70)
    assert found.utilisation == pytest.approx(70 / 32)
    assert found.queue_growth == pytest.approx(380)
    assert patience(rate, 0.1, 32, 30) == pytest.approx(30 * 320 / 380)


def test_workers_that_keep_up_delay_nobody():
    assert load(100, 0.1, 32).queue_growth == 0
    assert patience(100, 0.1, 32, 30) == inf
    assert load(5, 0.0, 0).utilisation == inf
    assert events(5, 0, 7) == 0


@given(RATES, st.floats(0.001, 60), st.integers(1, 1000))
def test_requests_wait_exactly_where_more_is_busy_than_there_are_workers(rate, response, workers):
    found = load(rate, response, workers)
    assert found.busy == pytest.approx(rate * response)
    assert 0 <= found.queue_growth <= rate
    assert (found.utilisation > 1 + 1e-9) <= (found.queue_growth > 0)


@given(RATES, st.floats(0, 10), st.integers(1, 10**6), st.floats(0.1, 600))
def test_a_window_writes_no_device_more_than_once(rate, each, devices, window):
    assert writes(rate, each, devices, window) <= devices / window * (1 + 1e-9)
    assert writes(rate, each, devices) == rate * each
