"""What moved through the brokers, and where a ratio rose."""

import pytest
from facts_builder import card, episode, facts, positions, ramp, series

from mqlab.shared import flows
from mqlab.shared.counters import shift

BROKER = {"instance": "kafka-1:9404"}
IN, OUT = (series(f"broker.bytes_{way}", ramp((80, rate)), **BROKER) for way, rate in (("in", 100), ("out", 300)))


def ratios(*rows):
    """Bytes out over bytes in, window by window."""
    return [round(p.out_per_in, 2) for p in flows.flows(facts(*rows)) if p.out_per_in is not None]


def windows(*levels):
    """One window a minute."""
    return [(60.0 * n, 60.0 * (n + 1), level) for n, level in enumerate(levels)]


def found(*levels):
    """(before, after, from, to) of the rise."""
    rise = shift(windows(*levels))
    return rise and (rise.before, rise.after, rise.at, rise.until)


def test_brokers_come_first():
    own = series("producer.outgoing_bytes", ramp((80, 999)), client_id="app")
    assert ratios(IN, OUT, own) == [3.0] * 8


def test_the_only_brokers_card_replaces_counters_with_gaps():
    up = series("up", [1, 0] * 40, **BROKER)
    assert ratios(IN, OUT, up, card("kafka-1", ramp((80, 100)), ramp((80, 500)))) == [5.0] * 8


def test_counters_that_were_hardly_ever_read_are_no_sight():
    assert ratios(IN, OUT, series("up", [0, 0, 1] * 27, **BROKER)) == []


def test_decompressed_bytes_of_consumers_count_only_where_nobody_compresses():
    sent = series("producer.outgoing_bytes", ramp((80, 100)), client_id="app", instance="app:1")
    read = series("consumer.bytes_consumed", ramp((80, 100)), client_id="r", instance="r:1")
    assert ratios(sent, read) == [1.0] * 8


def test_readers_are_groups():
    piece = flows.flows(facts(IN, OUT))[0]
    described = positions("at group topic queue committed end\n10:00 a t 0 1 1\n10:00 b t 0 1 1")
    late = episode("rebalance-started", 700, group="c")
    assert flows.readers(facts(IN, OUT, described, late), piece) == 2
    assert flows.readers(facts(IN, OUT), piece) is None


@pytest.mark.parametrize(
    ("levels", "rise"),
    [
        ((1, 1, 4, 4, 4), (1, 4, 120, 300)),
        ((1, 1, 4, 4, 1, 1), (1, 4, 120, 240)),
        ((1, 1, 1, 4), (1, 4, 180, 240)),
        ((1, 1, 4, 1, 1), None),
        ((4, 4, 1, 1), None),
        ((1, 1.2, 0.9, 1.1), None),
        ((1,), None),
        ((1, None, 1, 3, None, 3), (1, 3, 180, 360)),
    ],
)
def test_a_rise_lasts_two_windows_or_to_the_end(levels, rise):
    assert found(*levels) == rise


@pytest.mark.parametrize("step", [10, 13, 40])
def test_bytes_a_second_are_those_between_the_samples_counted(step):
    brokers = (
        series(f"broker.bytes_{way}", ramp((85, rate * step)), step=step, **BROKER)
        for way, rate in (("in", 100), ("out", 300))
    )
    assert {p.in_per_second for p in flows.flows(facts(*brokers))} == {100.0}
