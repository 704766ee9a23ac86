"""Arithmetic of counters."""

import pytest
from facts_builder import at, card, facts, ramp, series

from mqlab.shared import counters

STEADY = series("x", ramp((10, 100)))


def rise(one, start, end, scraped=None):
    """The increase between two moments in seconds."""
    found = counters.increase([one], at(start), at(end), scraped)
    return found and found.value


@pytest.mark.parametrize(
    ("start", "end", "value"), [(20, 50, 300), (25, 45, 300), (0, 1_000, 1_000), (-50, 15, 200), (90, 100, 100)]
)
def test_an_increase_keeps_the_edges_of_its_window(start, end, value):
    assert rise(STEADY, start, end) == value


@pytest.mark.parametrize(("start", "end"), [(-100, -50), (200, 300)])
def test_outside_its_samples_a_counter_says_nothing(start, end):
    assert rise(STEADY, start, end) is None


def test_a_counter_that_fell_was_reset():
    assert rise(series("x", [0, 100, 40, 90]), 0, 30) == 190
    assert counters.increase([series("x", [0, 100, 40])], at(0), at(20)).resets == 1


def test_a_counter_that_appears_in_the_window_counts_from_zero():
    born = series("x", [None, None, 70, 90])
    assert rise(born, 0, 30) == 20
    assert rise(born, 0, 30, {"metrics.json": at(0)}) == 90
    assert rise(born, 15, 18, {"metrics.json": at(0)}) == 70
    assert rise(born, 0, 30, {"others.json": at(0)}) == 20


def test_what_appears_long_after_the_window_is_not_counted_in_it():
    assert rise(series("x", [None] * 20 + [70, 90]), 0, 50, {"metrics.json": at(0)}) is None


def test_the_card_of_a_host_leaves_out_the_loopback():
    loop = series("host.transmit_bytes", ramp((10, 9_999)), instance="a:9100", device="lo")
    here = facts(card("a", ramp((10, 100)), ramp((10, 300))), loop)
    assert counters.ratio(here, "a", at(0), at(100)).factor == 3
    assert counters.ratio(here, "b", at(0), at(100)) is None


def test_the_peak_is_the_worst_twenty_seconds():
    here = facts(card("a", ramp((10, 100)), ramp((4, 100), (2, 900), (4, 100))))
    best = counters.peak(here, "a", at(0), at(100))
    assert (best.factor, best.since, best.until) == (9, at(40), at(60))


def test_the_onset_lies_between_two_samples():
    steps = counters.summed([series("x", ramp((10, 100), (5, 5_000)))])
    assert counters.onset(steps, at(130)) == counters.ChangePoint(at(100), at(110))
    assert counters.onset(steps, at(50)) is None
