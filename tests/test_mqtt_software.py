"""What a broker is and how it is configured, and the values that it publishes only when they change."""

import pytest
from facts_builder import at, episode, facts, log, series, settings
from hypothesis import given
from hypothesis import strategies as st

from mqlab.models.mqtt import NEWEST, OLDEST, Queue, Strategy
from mqlab.mqtt import brokers


def broker(form, release, conf=""):
    rows = settings(f"at owner key value\n{conf}", "broker.conf", scope="broker", origin="file") if conf else ()
    started = episode("broker-starting", 0, "logs/b.log", system="mqtt", reason=release)
    return facts(log("logs/b.log", form), started, rows)


@pytest.mark.parametrize(
    ("form", "release", "conf", "queue", "deals"),
    [
        ("mosquitto-log", "2.0.11", "", Queue(1000, 20, OLDEST), Strategy.TURNS),
        ("mosquitto-log", "1.6.9", "", Queue(100, 20, OLDEST), Strategy.TURNS),
        ("mosquitto-log", "2.0.11", "- - max_queued_bytes 5000", None, Strategy.TURNS),
        ("emqx-log", "4.4.19", "", Queue(1000, 32, NEWEST), Strategy.RANDOM),
        ("emqx-log", "5.8.0", "- - mqtt.max_mqueue_len infinity", Queue(None, 32, NEWEST), Strategy.ROUND_ROBIN),
        ("emqx-log", "5.8.0", "- - mqtt.shared_subscription_strategy sticky", Queue(1000, 32, NEWEST), Strategy.STICKY),
        ("hivemq-log", "2025.5", "", Queue(1000, 10, OLDEST), Strategy.QUEUE),
        ("rabbitmq-mqtt-log", "4.0.5", "", None, None),
    ],
)
def test_the_software_its_version_and_its_settings_make_queues_and_dealing(form, release, conf, queue, deals):
    known = broker(form, release, conf)
    assert brokers.queue(known, None) == queue
    assert brokers.dispatch(known, None) == deals


@pytest.mark.parametrize(
    ("conf", "seconds"),
    [
        ("- - persistent_client_expiration 2h", 7200),
        ("- - persistent_client_expiration 14d", 14 * 86_400),
        ("- - mqtt.session_expiry_interval 2h", 7200),
        ("- - persistent_client_expiration never", None),
        ("- - listener 1883", None),
    ],
)
def test_an_expiry_is_read_with_its_unit(conf, seconds):
    assert brokers.expiry(broker("mosquitto-log", "2.0.11", conf), None) == seconds


def test_a_value_stands_until_the_next_one():
    counter = series("mqtt.publish_dropped", [5, None, None, 25, 40])
    assert brokers.value(counter, at(25)) == 5
    assert brokers.value(counter, at(-1)) is None
    assert brokers.increase(counter, at(5), at(30)) == 20
    assert brokers.increase(counter, at(-60), at(60)) == 35
    assert brokers.increase(counter, at(-60), at(-30)) is None


def test_a_counter_that_falls_began_anew():
    assert brokers.increase(series("mqtt.publish_dropped", [5, 9, 2, 4]), at(0), at(60)) == 8


@pytest.mark.parametrize(
    ("since", "until", "rose"), [(0, 20, 0), (20, 25, 10), (25, 30, 10), (25, 35, 20), (40, 90, 0)]
)
def test_what_a_sample_tells_rose_within_the_interval_before_it(since, until, rose):
    counter = series("mqtt.publish_received", [5, None, None, 25, 45])
    assert brokers.increase(counter, at(since), at(until)) == pytest.approx(rose)


def test_a_pace_needs_time_and_samples_of_its_own():
    counter = series("mqtt.publish_received", [0, 40, 80])
    assert brokers.pace(counter, at(5), at(20)) == pytest.approx(4)
    assert brokers.pace(counter, at(-5), at(20)) is None
    assert brokers.pace(counter, at(20), at(20)) is None


@given(st.lists(st.integers(0, 100), min_size=1, max_size=20), st.integers(0, 200), st.integers(0, 200))
def test_increases_of_two_times_add_up(steps, first, second):
    total, values = 0, []
    for step in steps:
        total += step
        values.append(total)
    counter = series("mqtt.publish_received", values)
    a, b = sorted((first, second))
    whole = brokers.increase(counter, at(0), at(200))
    parts = [brokers.increase(counter, at(x), at(y)) for x, y in ((0, a), (a, b), (b, 200))]
    assert sum(parts) == pytest.approx(whole)
    assert whole == values[-1] - values[0]
