"""Keep-alive, back-off and limits: the arithmetic behind connections that come and go."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqlab.models.backoff import Doubling, Steady, doubling, steady, takeovers_per_hour, war
from mqlab.models.mqtt import broker_gives_up, bytes_per_second, double_gives_up, fits, go_gives_up, pause, survives

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


@pytest.mark.parametrize(("batch", "lasts"), [(112_640, 0.0), (512_000, 39.0)])
def test_a_batch_within_the_burst_is_read_at_once(batch, lasts):
    assert pause(batch, 112_640, 10_240) == pytest.approx(lasts, abs=0.01)


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


@given(st.floats(0.5, 30), st.floats(0.5, 30))
def test_two_steady_clients_take_turns_at_the_rate_of_both_waits(a, b):
    moments = war([Steady(a), Steady(b)], 201)
    assert [party for _, party in moments[:4]] == [1, 0, 1, 0]
    rounds = (moments[-1][0] - moments[0][0]) / 100
    assert 7200 / rounds == pytest.approx(takeovers_per_hour(a, b))


def test_of_two_go_clients_one_comes_back_at_once_and_the_other_ever_later():
    moments = war([Doubling(), Doubling()], 20)
    lives = [b[0] - a[0] for a, b in pairwise(moments)]
    assert lives == [0, 0, 1, 1, 2, 2, 4, 4, 8, 0, 16, 0, 32, 0, 64, 0, 128, 0, 256]


def test_go_waits_no_longer_than_it_may():
    moments = war([Doubling(longest=30.0), Steady()], 20)
    waits = [b[0] - a[0] for a, b in pairwise(moments) if b[1] == 0]
    assert waits[:9] == [0, 1, 2, 4, 8, 16, 30, 30, 30]
    assert doubling(waits)


@given(st.integers(2, 6), st.integers(1, 40))
def test_each_connect_follows_anothers(parties, takeovers):
    owners = [0, *(party for _, party in war([Steady()] * parties, takeovers))]
    assert all(a != b for a, b in pairwise(owners))


def test_one_client_alone_has_no_war():
    assert war([Steady()], 10) == ()


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
