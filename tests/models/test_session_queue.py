"""A session's queue: its limits, which messages are left, how fast memory goes; against a queue that is filled."""

from collections import deque
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqlab.models.mqtt import NEWEST, OLDEST, OVERHEADS, Queue, bytes_per_message, filling, forecast, survivors

LIMITS = st.one_of(st.none(), st.integers(1, 60))


def filled(messages, queue):
    """What a queue holds after messages 1 to *messages*, put in one after the other."""
    waiting = deque()
    for number in range(1, messages + 1):
        if queue.limit is not None and len(waiting) >= queue.limit:
            if queue.keeps != NEWEST:
                continue
            waiting.popleft()
        waiting.append(number)
    return list(waiting)


@given(st.integers(0, 200), LIMITS, st.sampled_from([OLDEST, NEWEST]))
def test_the_survivors_are_one_block_at_one_end(messages, limit, keeps):
    queue = Queue(limit, 20, keeps)
    first, last = survivors(messages, queue)
    assert list(range(first, last + 1)) == filled(messages, queue)


def test_mosquitto_keeps_the_first_thousand_and_emqx_the_last():
    assert survivors(3025, Queue(1000, 20, OLDEST)) == (1, 1000)
    assert survivors(3025, Queue(1000, 32, NEWEST)) == (2026, 3025)


def test_a_connected_session_holds_what_is_in_flight_besides():
    assert Queue(800, 30, OLDEST).holds(connected=True) == 830
    assert Queue(800, 30, OLDEST).holds(connected=False) == 800
    assert Queue(None, 30, OLDEST).holds(connected=True) == inf


def test_a_slow_session_is_full_after_its_room_over_the_surplus():
    found = filling(Queue(800, 30, OLDEST), 50, 21.5, 120)
    assert found.full_after == pytest.approx(29.1, abs=0.1)
    assert found.dropped == pytest.approx(28.5 * 120 - 830)
    assert found.received == pytest.approx(6000 - found.dropped)
    assert found.delay == pytest.approx(830 / 21.5)


@given(
    LIMITS, st.integers(0, 60), st.floats(0, 500), st.floats(0, 500), st.floats(0, 5000)
)  # fmt: skip
def test_nothing_is_received_or_dropped_that_did_not_come(limit, inflight, arriving, handled, seconds):
    found = filling(Queue(limit, inflight, OLDEST), arriving, handled, seconds)
    assert 0 <= found.dropped <= arriving * seconds * (1 + 1e-9)
    assert found.received + found.dropped == pytest.approx(arriving * seconds)
    assert limit is not None or found.dropped == 0


def test_a_payload_is_stored_once_for_all_sessions():
    mosquitto = OVERHEADS["mosquitto"]
    assert bytes_per_message(mosquitto, 1387) == pytest.approx(1776, rel=0.01)
    assert bytes_per_message(mosquitto, 4096, 2) - bytes_per_message(mosquitto, 4096, 1) == 90


def test_memory_is_full_before_the_session_expires_or_not_at_all():
    short = forecast(2e9, 1.5e6, 18e9, 7200)
    assert (short.full_in, short.expires_in) == (None, 7200)
    assert short.peak_bytes == 2e9 + 1.5e6 * 7200
    long = forecast(2e9, 1.5e6, 18e9, None)
    assert long.full_in == pytest.approx(16e9 / 1.5e6)
    assert long.peak_bytes == pytest.approx(18e9)
    assert forecast(2e9, 1.5e6, None, None).peak_bytes is None


@given(st.floats(0, 1e12), st.floats(0, 1e9), st.floats(0, 1e12), st.one_of(st.none(), st.floats(0, 1e6)))
def test_the_peak_is_never_above_memory_that_was_free(used, growth, memory, expires):
    found = forecast(min(used, memory), growth, memory, expires)
    assert found.peak_bytes is None or found.peak_bytes <= memory * (1 + 1e-9) + 1
