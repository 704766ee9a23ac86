"""Errors that are said outright around a start: which it accounts for, and which not."""

import pytest
from facts_builder import episode, facts, log, settings
from outright_builder import LEAD, LOG, again, beats, dial, each_that_may_pass, found, lasting, said
from said import told

from mqlab.detectors.known_errors import NO_WAITING
from mqlab.findings import Severity
from mqlab.known_errors import known_errors
from mqlab.symptoms.unexplained import unexplained

NOTICE, WARNING, CRITICAL = Severity.NOTICE, Severity.WARNING, Severity.CRITICAL


@each_that_may_pass
@pytest.mark.parametrize("start", ["broker-started", "broker-stopping", "settings-printed", "rocketmq-broker-started"])
def test_a_start_or_stop_accounts_for_what_waits_for_others_and_for_no_limit_or_refusal(slug, start):
    error = lasting(slug)
    restart = episode(start, 1800, "brokers/server.log")
    assert (found(slug, LOG, restart, again(error, 1780, 60)) is None) is (slug not in NO_WAITING)


@each_that_may_pass
def test_what_is_said_at_the_beginning_of_a_log_that_goes_on_is_none(slug):
    error = lasting(slug)
    assert found(slug, LOG, again(error, 5, 40)) is None
    short = log("clients/app.log", "application-log", "10:00", "10:00:50")
    assert found(slug, short, again(error, 5, 40)).severity > NOTICE


def test_a_start_that_fails_and_then_succeeds_is_a_notice():
    error = known_errors()["os-address-in-use"]
    up = episode("broker-started", 1900, "clients/broker.log")
    assert found("startup-failure", LOG, said(error, 1800), up).severity is NOTICE
    elsewhere = episode("broker-started", 1900, "brokers/server.log")
    assert found("startup-failure", LOG, said(error, 1800), elsewhere).severity is CRITICAL
    assert found("startup-failure", LOG, said(error, 1800)).severity is CRITICAL


@pytest.mark.parametrize(
    ("slug", "starts", "kinds", "severity"),
    [
        ("dependency-down", 3, ["app-started"], WARNING),
        ("dependency-down", 1, ["app-started"], NOTICE),
        ("dependency-down", 3, ["broker-started"], None),
        ("quorum-lost", 3, ["settings-printed"], WARNING),
        ("quorum-lost", 3, ["settings-printed", "settings-printed", "broker-started"], None),
    ],
)
def test_what_a_process_says_after_each_start_is_no_wait_for_others_unless_it_came_up(slug, starts, kinds, severity):
    error = lasting(slug)
    begun = [episode(kind, 1800 + 120 * n + 15 * i) for n in range(starts) for i, kind in enumerate(kinds)]
    one = found(slug, LOG, begun, [said(error, 1810 + 120 * n) for n in range(starts)])
    assert (one.severity if one else None) is severity


def test_no_line_of_a_known_error_is_left_unexplained_or_calls_a_restart_trouble():
    error = LEAD["broker-unreachable"]
    near = facts(LOG, episode("broker-started", 1800, "brokers/server.log"), again(error, 1780, 60))
    assert unexplained(near, ()) == ()


def test_a_start_accounts_for_no_line_of_a_client_that_had_its_connection_after_it():
    start = episode("broker-starting", 1800, "brokers/mosquitto.log")
    rows = [LOG, start, [dial(1840), dial(1850), dial(2400)]]
    one = found("broker-unreachable", *rows)
    assert (one.measures["lines"], told(one.statement)["excused"]) == (1, 2)
    made = episode("connection-made", 1820, client_id="till-3")
    one = found("broker-unreachable", *rows, made)
    assert (one.measures["lines"], "excused" in told(one.statement)) == (3, False)


def test_the_start_of_a_broker_accounts_for_no_error_of_its_bridge_that_was_connected():
    error, place = known_errors()["mqtt-bridge-failed"], "brokers/mosquitto.log"
    rows = [log(place, "mosquitto-log", "10:00", "11:00"), episode("broker-starting", 0, place)]
    dials = [episode("bridge-connecting", when, place, client_id="hq") for when in (0, 40, 50, 60)]
    fails = [said(error, when, source=place) for when in (40, 50, 60)]
    assert found("broker-unreachable", *rows, *dials, *fails).measures["lines"] == 3
    peer = episode("broker-starting", 65, "brokers/peer.log")
    assert found("broker-unreachable", *rows, *dials, peer, *fails).measures["lines"] == 3
    assert found("broker-unreachable", *rows, *dials[:3], peer, *fails[:2]) is None
    waits = [said(error, 0, source=place, count=1), *fails]
    assert found("broker-unreachable", *rows, *dials, *waits) is None


def test_a_client_that_starts_accounts_for_no_heartbeat_of_a_broker_and_a_broker_that_starts_does():
    held = log("logs/server.log", "kafka-broker-log", "10:00", "11:00")
    client = [*settings("at owner key value\n10:30 app acks all"), episode("settings-printed", 1800, "clients/app.log")]
    assert found("quorum-lost", held, client, beats(1860, 2400)).measures["lines"] == 2
    started = episode("broker-started", 1800, "logs/server.log")
    assert found("quorum-lost", held, started, beats(1860, 2400)).measures["lines"] == 1


@pytest.mark.parametrize(
    ("name", "is_found"),
    [("kafka-producer-fenced", True), ("kafka-transaction-timed-out", True), ("kafka-coordinator-timeout", False)],
)
def test_no_start_brings_a_producer_to_be_fenced_or_a_transaction_to_time_out(name, is_found):
    error = known_errors()[name]
    start = episode("broker-started", 1800, "brokers/server.log")
    assert (found("coordinator-unavailable", LOG, start, again(error, 1790, 30)) is not None) is is_found
