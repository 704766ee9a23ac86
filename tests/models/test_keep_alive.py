"""Keep-alive, back-off and limits: the arithmetic behind connections that come and go."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqlab.models.mqtt import (
    broker_gives_up,
    bytes_per_second,
    double_gives_up,
    doubling,
    fits,
    go_gives_up,
    steady,
    survives,
)

KEEP_ALIVES = st.floats(5, 1200)


def test_paho_go_gives_up_after_keep_alive_and_ping_timeout_at_a_check():
    assert go_gives_up(20).holds(35.0)
    assert go_gives_up(20, answered=1).holds(55.0)
    assert not go_gives_up(20).holds(55.0)
    assert (go_gives_up(20).low, go_gives_up(10, answered=0).high) == (30.0, 25.0)


def test_a_broker_waits_one_and_a_half_keep_alive():
    assert broker_gives_up(20).low == 30.0
    assert broker_gives_up(60).high == 135.0


def test_python_and_java_wait_for_another_keep_alive():
    assert double_gives_up(30).low == 60.0


@given(KEEP_ALIVES, st.integers(0, 2), st.floats(0, 1))
def test_whatever_a_client_makes_of_an_unread_connection_fits(keep_alive, answered, share):
    for span in (go_gives_up(keep_alive, answered=answered), double_gives_up(keep_alive, answered)):
        assert fits(span.low + share * (span.high - span.low), keep_alive)


@given(KEEP_ALIVES, st.floats(0, 0.99))
def test_nothing_shorter_than_the_keep_alive_fits(keep_alive, share):
    assert not fits(share * keep_alive - 1.0, keep_alive)


def test_a_pause_ends_the_connection_from_the_shorter_patience_on():
    assert (survives(39, 30), survives(40, 30), survives(15, 10), survives(14, 10)) == (True, False, False, True)


@pytest.mark.parametrize(
    ("text", "rate"),
    [("10k", 10_240), ("100KB,10s", 10_240), ("1MB/s", 1_048_576), ("300KB/5m", 1024), ('"10KB/s"', 10_240),
     ("4096", 4096), ("infinity", None), ("0", None), ("", None), ("10KB,0s", None), ("off", None)],
)  # fmt: skip
def test_limits_are_read_in_every_notation(text, rate):
    assert bytes_per_second(text) == rate


@given(st.text(max_size=30))
def test_any_text_is_a_rate_above_zero_or_none(text):
    rate = bytes_per_second(text)
    assert rate is None or rate > 0


def test_waits_that_are_mostly_the_same_are_steady():
    assert steady([1.0, 1.1, 0.9, 5.0])
    assert not steady([1.0, 3.0, 9.0, 2.0])
    assert steady([0.0, 1.0, 1.0, 2.0], grain=1.0)
    assert not steady([])


def test_waits_that_double_are_no_others():
    assert doubling([0, 1, 2, 4, 8, 16])
    assert not doubling([1, 2])
    assert not doubling([4, 4, 4])
    assert doubling([1, 2, 4, 7, 7])
    assert not doubling([1, 2, 9, 11])
    assert not doubling([8, 4, 2, 1])
