"""Counters become rates; a restart and a missing scrape are seen."""

from mqlab.facts import Facts, Series
from mqlab.figures.traffic import gaps, rates, traffic_of


def counter(name, *points, **labels):
    return Series(name, name, labels or {"instance": "h1:9100", "device": "eth0"}, "m.json", points)


def test_a_rate_is_the_increase_per_second():
    assert rates(counter("x", (0, 100), (10, 300), (20, 300))) == [(0, 10, 20.0), (10, 20, 0.0)]


def test_a_counter_that_fell_began_again_at_zero():
    assert rates(counter("x", (0, 1000), (10, 50))) == [(0, 10, 5.0)]


def test_no_series_and_one_sample_have_no_rate():
    assert rates(None) == rates(counter("x", (0, 1))) == []


def test_missing_scrapes_and_a_target_that_is_down_are_gaps():
    series = counter("x", (0, 0), (10, 1), (20, 2), (60, 3), (70, 4))
    up = counter("up", (50, 1), (60, 0), (70, 1), (80, 1))

    assert gaps((series, None)) == ((20, 60),)
    assert gaps((series, up)) == ((20, 60),)
    assert gaps((up,)) == ((50, 60),)


def test_network_cards_come_before_brokers_and_the_guilty_host_before_the_busiest():
    card = counter("host.transmit_bytes", (0, 0), (10, 10))
    busy = counter("host.transmit_bytes", (0, 0), (10, 1000), instance="h2:9100", device="eth0")
    broker = counter("broker.bytes_out", (0, 0), (10, 10**9), instance="h1:9404")
    facts = Facts(series=(broker, card, busy))

    assert traffic_of(facts, "h1").outgoing is card
    assert traffic_of(facts, None).outgoing is busy
    assert traffic_of(Facts(series=(broker,)), None).host == "h1"
    assert traffic_of(Facts(), None) is None


def test_a_total_comes_before_single_topics_and_a_card_before_the_loopback():
    whole = counter("broker.bytes_out", (0, 0), (10, 10), instance="b:1")
    topic = counter("broker.bytes_out", (0, 0), (10, 99), instance="b:1", topic="t")
    eth, lo = (
        counter("host.transmit_bytes", (0, 0), (10, n), instance="h:1", device=d) for n, d in ((1, "eth0"), (9, "lo"))
    )

    assert traffic_of(Facts(series=(topic, whole)), None).outgoing is whole
    assert traffic_of(Facts(series=(lo, eth)), None).outgoing is eth
