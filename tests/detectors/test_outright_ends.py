"""Errors that are said outright and pass: a connection, a cleared alarm or a line that it went well ends them."""

import pytest
from facts_builder import at, episode, facts, log
from outright_builder import LEAD, LOG, again, dial, found, lasting, said
from said import told

from mqlab import words
from mqlab.detectors.known_errors import say
from mqlab.findings import Severity
from mqlab.known_errors import WORKS_AGAIN, known_errors
from mqlab.screen import screen
from mqlab.verdict import diagnose

NOTICE, WARNING, CRITICAL = Severity.NOTICE, Severity.WARNING, Severity.CRITICAL
WELL = "2026-03-02 09:00:38+00:00 [info] <0.273.0> Successfully synced tables from a peer"
TABLES = known_errors()["erlang-tables"]
WAITS = "2026-03-02 09:00:37+00:00 [info] <0.273.0> Waiting for Mnesia tables for 30000 ms, 0 retries left"


@pytest.mark.parametrize(("end", "is_over"), [("10:00:12", True), ("10:00:04", False)])
def test_what_a_client_would_say_again_at_once_is_over_after_seconds_of_silence(end, is_over):
    once = said(known_errors()["kafka-topic-unknown"], 2)
    assert (found("route-missing", log("clients/app.log", "application-log", "10:00", end), once) is None) is is_over


def test_connections_between_the_lines_make_several_outages_of_one_span():
    error = LEAD["broker-unreachable"]
    between = [episode("connection-made", 1800 + n, "clients/app.log") for n in (95, 195)]
    after = episode("connection-made", 2200, "clients/app.log")
    lines = again(error, 1800, 300, source="clients/app.log")
    for rows, meanwhile in ((between, 2), ((), None)):
        shown = told(found("broker-unreachable", LOG, lines, rows, after).statement)
        assert (shown.get("meanwhile"), shown["connected"]) == (meanwhile, at(2200))


@pytest.mark.parametrize(("moments", "goes_on"), [((1800,), False), ((1800, 1801), True)])
def test_one_moment_at_the_end_of_a_log_does_not_tell_that_it_goes_on(moments, goes_on):
    end = log("clients/app.log", "application-log", "10:00", "10:30:02")
    one = found("disk-full", end, [said(known_errors()["os-no-space"], when) for when in moments])
    assert one.ongoing is goes_on


@pytest.mark.parametrize(("seconds", "goes_on"), [(0, False), (30, True)])
def test_what_was_seen_at_the_very_end_and_in_one_moment_is_not_known_to_go_on(seconds, goes_on):
    error = lasting("broker-overloaded")
    one = found("broker-overloaded", LOG, said(error, 3590 - seconds, 3, until=3590))
    assert one.goes_on is goes_on
    status = words.room("screen")("status", state="open" if goes_on else "seen", at="10:59:50", open=0)
    assert status in screen(diagnose(facts(LOG, said(error, 3590 - seconds, 3, until=3590))), ["app.log"])


def recovered(when, source="clients/app.log"):
    """The line with which a node says that what it waited for came."""
    return episode("recovered", when, source, text=WELL)


@pytest.mark.parametrize(("text", "severity"), [(WAITS, NOTICE), (TABLES.sample, CRITICAL)], ids=["info", "warning"])
def test_what_is_told_at_info_ends_nothing(text, severity):
    assert found("quorum-lost", LOG, said(TABLES, 1800, text=text)).severity is severity


def test_one_line_after_which_its_log_says_that_it_went_well_is_nothing():
    for text in (WAITS, TABLES.sample):
        assert found("quorum-lost", LOG, said(TABLES, 1800, text=text), recovered(1801)) is None
    elsewhere = found("quorum-lost", LOG, said(TABLES, 1800), recovered(1801, "clients/other.log"))
    before = found("quorum-lost", LOG, said(TABLES, 1800), recovered(1799))
    assert [one.severity for one in (elsewhere, before)] == [CRITICAL, CRITICAL]


def test_several_lines_after_which_their_log_says_that_it_went_well_are_a_notice_that_says_so():
    one = found("quorum-lost", LOG, again(TABLES, 1800, 300), recovered(2100))
    assert (one.severity, one.ongoing) == (NOTICE, False)
    assert told(one.statement)["well"] is True
    assert one.evidence[-1].text == WELL
    assert "well" not in told(found("quorum-lost", LOG, again(TABLES, 1800, 300), recovered(1900)).statement)


def test_elections_that_come_again_and_again_are_more_than_a_notice_though_each_found_a_leader():
    election = known_errors()["kraft-election"]
    rows = [(said(election, 1800 + n), recovered(1801 + n)) for n in range(0, 300, 30)]
    assert found("quorum-lost", LOG, rows, said(election, 2110)).severity is WARNING


def alarm(when, *, cleared=False, about="disk", source="clients/app.log"):
    """A broker raises or clears an alarm."""
    kind, text = ("alarm-cleared", "cleared") if cleared else ("alarm-raised", "set")
    return episode(kind, when, source, text=f"{about} resource limit alarm {text} on node a", reason=about)


def test_an_alarm_ends_when_its_broker_clears_it():
    one = found("disk-full", LOG, alarm(1800), alarm(2400, cleared=True))
    assert (one.severity, one.ongoing, one.ended_at.timestamp()) == (CRITICAL, False, at(2400))
    assert told(one.statement)["cleared"] == at(2400)


def test_an_alarm_that_is_cleared_within_two_minutes_is_a_notice():
    rows = [(alarm(1800 + n), alarm(1860 + n, cleared=True)) for n in (0, 600, 1200)]
    assert found("disk-full", LOG, rows).severity is NOTICE


@pytest.mark.parametrize(
    "rest",
    [(alarm(1900, cleared=True), alarm(1950)), (alarm(1900, cleared=True, about="memory"),),
     (alarm(1900, cleared=True, source="clients/other.log"),)],
    ids=["raised again", "another alarm", "another log"],
)  # fmt: skip
def test_an_alarm_goes_on_unless_its_own_broker_cleared_it_since(rest):
    own = log("clients/app.log", "application-log", "10:00", "10:33")
    one = found("disk-full", own, alarm(1800), rest)
    assert (one.severity, one.ongoing, "cleared" in told(one.statement)) == (CRITICAL, True, False)


def test_who_is_connected_again_has_got_over_what_kept_it_out():
    rows = [LOG, [dial(3480 + n) for n in (0, 40, 80)]]
    back = episode("connection-made", 3590, client_id="till-3", text="connected again")
    assert found("broker-unreachable", *rows).ongoing is True
    closed = found("broker-unreachable", *rows, back)
    assert (closed.ongoing, told(closed.statement)["connected"]) == (False, at("10:59:50"))
    assert closed.evidence[-1].text == "connected again"
    works = say("works-again", at=closed.ended_at)
    assert (closed.ended_at.timestamp(), closed.facts[WORKS_AGAIN]) == (at("10:59:50"), works)
    passing = found("broker-unreachable", LOG, [dial(600 + n) for n in (0, 40, 80)])
    assert (passing.ended_at.timestamp(), WORKS_AGAIN in passing.facts) == (at("10:11:20"), False)


@pytest.mark.parametrize(
    "row",
    [
        episode("connection-made", 3590, client_id="till-4"),
        episode("connection-made", 3540, client_id="till-3"),
        episode("client-connected", 3590, "brokers/mosquitto.log", client_id="till-4"),
    ],
)
def test_a_connection_of_another_client_or_before_the_last_line_closes_nothing(row):
    assert found("broker-unreachable", LOG, [dial(3480 + n) for n in (0, 40, 80)], row).ongoing is True


def test_a_connection_closes_no_error_that_connected_clients_meet():
    garbage = [said(LEAD["protocol-mismatch"], 3480 + n, client_id="till-3") for n in (0, 40, 80)]
    back = episode("client-connected", 3590, client_id="till-3")
    assert found("protocol-mismatch", LOG, garbage, back).ongoing is True


def test_one_of_two_that_is_connected_again_closes_nothing():
    rows = [LOG, [dial(3480 + n) for n in (0, 40, 80)], dial(3570, "till-4")]
    assert found("broker-unreachable", *rows, episode("connection-made", 3590, client_id="till-3")).ongoing is True


@pytest.mark.parametrize(
    ("peer", "when", "ongoing"),
    [("10.5.0.5:10911", 3570, False), ("10.5.0.6:10911", 3570, True), ("10.5.0.5:10911", 3540, True)],
)
def test_a_broker_is_back_that_registers_again(peer, when, ongoing):
    lost = [said(known_errors()["rocketmq-broker-lost"], 3480 + n, peer="10.5.0.5:10911") for n in (0, 40, 80)]
    again_there = episode("broker-answers", when, peer=peer, system="rocketmq")
    one = found("network-partition", LOG, lost, again_there)
    assert (one.ongoing, one.severity) == (ongoing, WARNING)
    assert ("well" in told(one.statement)) is not ongoing
