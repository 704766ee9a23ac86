"""Clocks of hosts that are wrong, and those that only look so."""

import pytest
from facts_builder import at, episode, facts

from mqlab.clocks.offsets import corrected, offsets
from mqlab.findings import Evidence
from mqlab.rows import Coverage, Flow, Passage, Receipt

BROKER = "logs/mosquitto.log"


def accepted(text, *, address="10.0.0.7", whole=True):
    """Rows ``clock client`` of the broker's log, which prints whole seconds."""
    rows = [row.split() for row in text.strip().splitlines()]
    return tuple(
        episode("client-connected", int(at(when) - at(0)) if whole else at(when) - at(0), BROKER, line=n,
                client_id=client, peer=f"{address}:{5000 + n}", system="mqtt")
        for n, (when, client) in enumerate(rows, 1)
    )  # fmt: skip


def made(text, client, source):
    """Moments at which a client says that it is connected, on its own clock."""
    rows = [at(when) - at(0) for when in text.split()]
    begins = episode("client-configured", rows[0] - 0.1, source, client_id=client, system="mqtt")
    return (begins, *(episode("connection-made", when, source, line=n, client_id=client, system="mqtt")
                      for n, when in enumerate(rows, 2)))  # fmt: skip


SEEN = accepted("10:00:05 pump\n10:07:40 pump\n10:31:02 pump")


@pytest.mark.parametrize(
    ("clock", "expected"),
    [
        ("10:00:05.4 10:07:40.9 10:31:02.2", None),
        ("10:01:35.4 10:09:10.9 10:32:32.2", (89.7, 1.0, 3)),
        ("09:58:35.4 10:06:10.9 10:29:32.2", (-90.3, 1.0, 3)),
        ("10:00:06.3 10:07:41.2 10:31:03.3", None),
    ],
    ids=["right", "ahead", "behind", "within the error"],
)
def test_a_clock_is_off_where_every_connection_says_so(clock, expected):
    found = offsets(facts(SEEN, made(clock, "pump", "clients/pump.log")))
    assert [(round(o.seconds, 1), o.error, o.shared) for o in found] == ([expected] if expected else [])


def test_one_connection_is_too_few():
    assert offsets(facts(accepted("10:00:05 pump"), made("10:01:35.4", "pump", "clients/pump.log"))) == ()


def test_connections_that_disagree_tell_nothing():
    assert offsets(facts(SEEN, made("10:01:35.4 10:09:10.9 10:40:00", "pump", "clients/pump.log"))) == ()


def test_a_client_that_comes_back_in_a_rhythm_fits_several_offsets():
    rhythm = accepted("\n".join(f"10:00:{second:02d} pump" for second in range(0, 60, 2)))
    assert offsets(facts(rhythm, made("10:00:11.2 10:00:13.2 10:00:15.2", "pump", "clients/pump.log"))) == ()


def test_clients_of_one_address_share_a_clock():
    both = accepted("10:00:05 pump\n10:07:40 valve")
    logs = made("10:01:35.4", "pump", "clients/pump.log"), made("10:09:10.9", "valve", "clients/valve.log")
    (offset,) = offsets(facts(both, logs))
    assert (offset.sources, offset.shared) == (("clients/pump.log", "clients/valve.log"), 2)
    assert offsets(facts(accepted("10:00:05 pump"), accepted("10:07:40 valve", address="10.0.0.8"), logs)) == ()


def test_what_a_wrong_clock_wrote_is_moved_and_coverage_says_so():
    line, note = Evidence("clients/published-pump.csv", 2, ""), "clients/published-pump.csv"
    sent, moment = at("10:01:40"), at("10:00:10.3")
    rows = facts(
        SEEN, made("10:01:35.4 10:09:10.9 10:32:32.2", "pump", "clients/pump.log"),
        Flow(note, "pump", 5, False, 1, (), sent, sent, "a", "e", line, line),
        Receipt(sent, note, "sent", 5, 1, 0, 0, 0, 0.0, 2, None),
        Passage(note, "clients/sink.csv", 5, -89.0, -88.0, -80.0, sent),
        Coverage("clients/pump.log", "mqtt-client-log", 4, 100, 4, 0, 0, "UTC", "assumed", at("10:01:35"), None),
    )  # fmt: skip
    right = corrected(rows)
    assert [round(e.first_at - at(0), 1) for e in right.of_kind("connection-made")] == [5.7, 461.2, 1862.5]
    assert (right.flows[0].first_at, right.receipts[0].at) == (pytest.approx(moment), pytest.approx(moment))
    assert (right.passages[0].least, right.passages[0].at) == (pytest.approx(0.7), pytest.approx(moment))
    assert right.coverage[0].zone_why == (
        "assumed; its clock is 89.7 s ahead of the clock of logs/mosquitto.log (± 1.0 s, by 3 connections that both "
        "saw): corrected"
    )


def test_right_clocks_are_left_alone():
    rows = facts(SEEN, made("10:00:05.4 10:07:40.9 10:31:02.2", "pump", "clients/pump.log"))
    assert corrected(rows) is rows
