"""Defaults and abilities of clients, version by version."""

from __future__ import annotations

import pytest

from mqlab.models.kafka_defaults import Version, default, has_delivery_timeout, idempotence, leaks, loops, splits


@pytest.mark.parametrize(
    ("scope", "key", "version", "value"),
    [
        ("producer", "acks", "2.8.2", "1"),
        ("producer", "acks", "3.0.0", "all"),
        ("producer", "retries", "2.0.1", "0"),
        ("producer", "retries", "2.1.0", "2147483647"),
        ("producer", "delivery.timeout.ms", "2.0.1", None),
        ("producer", "delivery.timeout.ms", "2.1.0", "120000"),
        ("producer", "linger.ms", "3.9.1", "0"),
        ("producer", "linger.ms", "4.0.0", "5"),
        ("producer", "batch.size", "2.1.0", "16384"),
        ("producer", "max.request.size", "3.9.1", "1048576"),
        ("consumer", "session.timeout.ms", "2.8.2", "10000"),
        ("consumer", "session.timeout.ms", "3.0.0", "45000"),
        ("consumer", "max.poll.interval.ms", "0.10.0.1", None),
        ("consumer", "max.poll.interval.ms", "0.10.1.0", "300000"),
        ("consumer", "request.timeout.ms", "1.1.0", "305000"),
        ("consumer", "max.poll.records", "0.9.0.1", None),
        ("consumer", "max.poll.records", "0.10.0.1", "2147483647"),
        ("consumer", "max.poll.records", "0.10.1.0", "500"),
        ("consumer", "session.timeout.ms", "0.10.0.1", "30000"),
        ("consumer", "heartbeat.interval.ms", "4.1.0", "3000"),
        ("consumer", "partition.assignment.strategy", "2.8.2", "org.apache.kafka.clients.consumer.RangeAssignor"),
        ("consumer", "group.protocol", "3.6.2", None),
        ("consumer", "group.protocol", "4.1.0", "classic"),
        ("broker", "group.max.session.timeout.ms", "2.2.2", "300000"),
        ("broker", "group.max.session.timeout.ms", "2.3.0", "1800000"),
        ("broker", "group.initial.rebalance.delay.ms", "0.10.2.1", None),
        ("broker", "group.consumer.session.timeout.ms", "3.6.2", None),
        ("broker", "group.consumer.session.timeout.ms", "4.0.0", "45000"),
        ("broker", "group.consumer.heartbeat.interval.ms", "4.0.0", "5000"),
        ("broker", "message.max.bytes", "2.4.1", "1000012"),
        ("broker", "message.max.bytes", "2.5.0", "1048588"),
        ("broker", "unclean.leader.election.enable", "0.10.2.1", "true"),
        ("broker", "offsets.retention.minutes", "2.0.0", "10080"),
        ("topic", "max.message.bytes", "3.9.1", "1048588"),
        ("broker", "no.such.setting", "3.9.1", None),
        ("planet", "acks", "3.9.1", None),
    ],
)
def test_a_default_is_that_of_its_version(scope, key, version, value):
    assert default(key, scope, Version.parse(version)) == value


def test_an_unknown_version_has_only_defaults_that_never_changed():
    assert default("batch.size", "producer", None) == "16384"
    assert default("acks", "producer", None) is None


@pytest.mark.parametrize(
    ("version", "effective"),
    [
        ("2.8.2", False),
        ("3.0.0", False),
        ("3.0.1", True),
        ("3.1.0", False),
        ("3.1.1", True),
        ("3.2.0", True),
        ("4.1.0", True),
    ],
)
def test_idempotence_by_default_works_from_3_0_1_3_1_1_and_3_2_0_on(version, effective):
    assert idempotence({}, Version.parse(version)) is effective


@pytest.mark.parametrize("settings", [{"acks": "1"}, {"retries": "0"}, {"max.in.flight.requests.per.connection": "6"}])
def test_a_setting_that_contradicts_idempotence_switches_it_off(settings):
    assert idempotence(settings, Version(3, 9, 1)) is False
    assert idempotence({**settings, "enable.idempotence": "true"}, Version(3, 0, 0)) is False


def test_idempotence_can_be_asked_for_since_0_11():
    assert idempotence({"enable.idempotence": "true", "acks": "-1"}, Version(2, 1)) is True
    assert idempotence({"enable.idempotence": "true"}, Version(0, 10, 2)) is False


def test_idempotence_of_an_unknown_version_is_unknown_unless_it_is_set():
    assert idempotence({}, None) is None
    assert idempotence({"enable.idempotence": "false"}, None) is False
    assert idempotence({"enable.idempotence": "true"}, None) is True


@pytest.mark.parametrize(
    ("version", "can_split", "can_loop", "can_leak", "can_expire"),
    [
        ("0.10.2.1", False, False, False, False),
        ("0.11.0.0", True, True, False, False),
        ("2.0.1", True, True, False, False),
        ("2.1.0", True, True, True, True),
        ("2.3.0", True, True, True, True),
        ("2.3.1", True, True, False, True),
        ("4.1.2", True, True, False, True),
        ("4.2.0", True, False, False, True),
    ],
)
def test_each_version_splits_loops_leaks_and_expires_as_its_source_says(
    version, can_split, can_loop, can_leak, can_expire
):
    parsed = Version.parse(version)

    found = (splits(parsed), loops(parsed), leaks(parsed), has_delivery_timeout(parsed))

    assert found == (can_split, can_loop, can_leak, can_expire)


def test_nothing_is_known_of_an_unknown_version():
    assert [fact(None) for fact in (splits, loops, leaks, has_delivery_timeout)] == [None] * 4
