"""Connections that a limit ends, and others that end after the same time."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from facts_builder import at, episode, facts, log, settings
from mqtt_builder import broker, client, clock, proxy, turns
from said import told

from mqlab.detectors.rate_limit_flapping import detect, say
from mqlab.findings import Certainty, Evidence, Severity
from mqlab.rows import Flow

LIMIT = settings("at owner key value\n- 1884 proxy_upload_rate 10k", "nginx.conf", scope="proxy", origin="file")


def edge(lives=(35, 55, 55, 55), *, gap=0.01, keep_alive=20, how="pingresp", silent=True):
    """The client's own log: lives of so many seconds, each with a gap until the next one."""
    moment, rows = 36_000.0, [f"10:00:00 configured k{keep_alive} c1"]
    for number, life in enumerate(lives, 1):
        rows += [f"{clock(moment)} made {number}"]
        rows += [f"{clock(moment + life)} unanswered"] * silent
        rows += [f"{clock(moment + life)} lost {life} {how}"]
        moment += life + gap
    return client("\n".join([*rows, f"{clock(moment)} made {len(lives) + 1}"]), "edge")


def at_the_proxy(lives=(35, 55, 55, 55), *, rate=10_240, gap=0.01):
    """The proxy's log of the same connections, each read at *rate*."""
    moment, rows = 36_000.0, []
    for number, life in enumerate(lives, 1):
        rows += [f"{clock(moment + life)} 10.0.0.9:{5000 + number} {life + 0.004} {int(rate * life)} 4"]
        moment += life + gap
    return proxy("\n".join(rows))


def test_lives_that_carry_the_limit_times_their_length_are_proven():
    (one,) = detect(facts(edge(), at_the_proxy(), LIMIT)).findings
    assert (one.certainty, one.severity, one.subject) == (Certainty.PROVEN, Severity.CRITICAL, "edge")
    assert one.measures == {"lives": 4, "life_seconds": 55, "limit_bytes": 10_240, "life_bytes": 563_200}
    assert (one.started_at.timestamp(), one.ongoing) == (at(0), True)
    assert [place.why for place in one.evidence[:2]] == [say("limit"), say("carried")]


@pytest.mark.parametrize(("answered", "ongoing"), [(False, True), (True, False)], ids=["hangs", "sends again"])
def test_a_client_that_is_back_and_gets_nothing_through_is_not_over_it(answered, ongoing):
    later = log("clients/edge.log", "mqtt-client-log", last="10:10")
    place = Evidence("clients/published-edge.csv", 9, "m-9")
    rows = Flow(
        place.source, "edge", 50, not answered, 0, (), at(205), at(210), "m-1", "m-50", place, place, not answered
    )
    (one,) = detect(replace(facts(edge(), later, at_the_proxy(), LIMIT), flows=(rows,))).findings
    assert one.ongoing is ongoing


def test_who_gave_the_connection_up_is_told_by_who_said_so():
    (own,) = detect(facts(edge(), at_the_proxy(), LIMIT)).findings
    by_broker = broker(turns("edge", ["10.0.0.15"], every=[35, 55, 55, 55], also="k20 c1"))
    (other,) = detect(facts(by_broker, at_the_proxy(), LIMIT)).findings
    assert told(own.statement)["pings"] is True
    assert not {"pings", "timeouts"} & set(told(other.statement))


def test_a_takeover_line_for_each_life_changes_nothing():
    by_broker = broker(turns("edge", ["10.0.0.15"], every=[35, 55, 55, 55], also="k20 c1"))
    (one,) = detect(facts(edge(), at_the_proxy(), LIMIT, by_broker)).findings
    assert one.certainty == Certainty.PROVEN


def test_lives_of_the_limit_after_a_time_that_a_keep_alive_makes_need_no_word_of_the_client():
    by_broker = broker(turns("edge", ["10.0.0.15"], every=[35, 55, 55, 55], also="k20 c1"))
    (one,) = detect(facts(by_broker, at_the_proxy(), LIMIT)).findings
    assert one.certainty == Certainty.PROVEN
    python = edge([24.0] * 4, gap=1.0, keep_alive=12, how="rc=16", silent=False)
    (other,) = detect(facts(python, at_the_proxy([24.0] * 4, gap=1.0), LIMIT)).findings
    assert other.certainty == Certainty.PROVEN
    assert detect(facts(python, at_the_proxy([24.0] * 4, gap=1.0))).missing == (say("no-limit"),)
    assert detect(facts(by_broker)).missing == (say("no-limit"),)


def test_a_limit_that_lets_bytes_through_in_lumps_is_reached_all_the_same():
    lumps = proxy("\n".join(f"10:0{n}:25 10.0.0.9:1 25.03 {b} 4" for n, b in enumerate((102_400, 106_496, 102_400))))
    own = "\n".join(f"10:0{n}:00 made 1\n10:0{n}:25 unanswered\n10:0{n}:25 lost 25 EOF" for n in range(3))
    limit = settings("at owner key value\n- 1884 proxy_upload_rate 4k", "nginx.conf", scope="proxy", origin="file")
    (one,) = detect(facts(client("09:59:59 configured k12\n" + own, "edge"), lumps, limit)).findings
    assert one.measures["limit_bytes"] == 4096


def test_a_configured_limit_alone_is_likely():
    (one,) = detect(facts(edge(), LIMIT)).findings
    assert (one.certainty, one.severity) == (Certainty.LIKELY, Severity.WARNING)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("restrictions.incoming-bandwidth-throttling", "10240"), ("listeners.tcp.default.bytes_rate", "10KB/s"),
        ("limiter.client.bytes.rate", "10KB/s"), ("limiter.bytes_in.rate", "10KB/s"),
        ("zone.external.rate_limit.conn_bytes_in", "100KB,10s"),
    ],
)  # fmt: skip
def test_limits_of_every_broker_are_known(key, value):
    limit = settings(f"at owner key value\n- broker {key} {value}", "broker.conf", scope="broker", origin="file")
    (one,) = detect(facts(edge(), limit)).findings
    assert one.measures["limit_bytes"] == 10_240


def test_one_rate_in_every_life_is_likely_without_any_setting():
    (one,) = detect(facts(edge(), at_the_proxy())).findings
    assert (one.certainty, one.measures["limit_bytes"]) == (Certainty.LIKELY, pytest.approx(10_240, rel=0.001))


def test_without_limit_and_proxy_it_is_not_checked():
    result = detect(facts(edge()))
    assert (result.findings, result.rejected, result.missing) == ((), None, (say("no-limit"),))


BROKER = "\n".join(
    f"10:{m:02}:00 edge connected 10.0.0.9:{5000 + m} k60 c1\n10:{m + 1:02}:58 edge keep-alive" for m in range(0, 12, 2)
)
PAUSED = [
    episode("rate-limited", f"10:{m:02}:10", "logs/emqx.log", client_id="edge", left=100_000.0, system="mqtt")
    for m in range(0, 12, 2)
]


def test_pauses_longer_than_both_sides_wait_prove_it_at_the_broker():
    (one,) = detect(facts(broker(BROKER, "logs/emqx.log", "emqx-log"), PAUSED)).findings
    assert (one.certainty, one.measures["pause_seconds"], one.measures["life_seconds"]) == (Certainty.PROVEN, 100, 118)


def test_a_short_pause_ends_no_connection():
    short = [episode("rate-limited", n, "logs/emqx.log", client_id="edge", left=100.0, system="mqtt") for n in range(9)]
    once = "10:00:00 edge connected 10.0.0.9:5000 k60 c1"
    assert detect(facts(broker(once, "logs/emqx.log", "emqx-log"), short)).rejected == say("paused")


UNEVEN = (0, 130, 340, 700, 900)


def uneven(*paused):
    """A broker's log of silent ends after lives of all lengths; it paused reading 20 s before each of *paused*."""
    rows = [
        f"{clock(36_000 + a + 1)} edge connected 10.0.0.9:1 k20 c1\n{clock(36_000 + b)} edge keep-alive"
        for a, b in pairwise(UNEVEN)
    ]
    held = [
        episode("rate-limited", UNEVEN[n] - 20, "logs/emqx.log", client_id="edge", left=900.0, system="mqtt")
        for n in paused
    ]
    return broker("\n".join(rows), "logs/emqx.log", "emqx-log"), held


def test_a_broker_that_pauses_reading_before_each_silent_end_holds_the_pings_back_however_long_lives_are():
    (one,) = detect(facts(uneven(1, 2, 3, 4))).findings
    assert (one.certainty, one.severity, one.measures["lives"]) == (Certainty.LIKELY, Severity.WARNING, 4)


def test_pauses_before_one_or_two_ends_tell_nothing_of_the_others():
    assert detect(facts(uneven(1, 2))).findings == ()


def published(party, messages):
    """What a publisher's own ledger notes from 10:00 on, for ten minutes."""
    first, last = Evidence("clients/edge.csv", 2, "1"), Evidence("clients/edge.csv", 3, "2")
    return Flow("clients/edge.csv", party, messages, False, 0, (), at(0), at(600), "1", "2", first, last)


def test_a_client_that_sends_all_the_time_through_a_thin_uplink_is_likely_without_any_limit():
    (one,) = detect(facts(edge(), published("edge", 6000))).findings
    assert (one.certainty, one.severity) == (Certainty.LIKELY, Severity.WARNING)
    assert "rate" not in told(one.statement)


@pytest.mark.parametrize(("party", "messages"), [("edge", 10), ("other", 6000)])
def test_a_client_that_is_quiet_may_be_cut_off_by_something_between(party, messages):
    result = detect(facts(edge(), published(party, messages)))
    assert (result.findings, result.rejected) == ((), None)


def because(why, client="edge", **values):
    """Why the lives of a client are not those of a limit."""
    return say("reason", client=client, why=say(why, **values))


def test_an_idle_timeout_of_a_load_balancer_is_none():
    idle = edge([60.0] * 5, keep_alive=120, how="EOF", silent=False)
    result = detect(facts(idle, at_the_proxy([60.0] * 5, rate=1), LIMIT))
    assert result.rejected == because("idle", life=60, keep_alive="120")
    named = settings("at owner key value\n- 1884 proxy_timeout 60s", "nginx.conf", scope="proxy", origin="file")
    seen = because("idle", life=60, keep_alive="120", key="proxy_timeout", value="60s")
    assert detect(facts(idle, named)).rejected == seen


def test_an_idle_timeout_as_the_broker_sees_it_is_none():
    rows = [f"10:{m:02}:00 gate connected 10.0.0.9:{m + 1} k120 c1\n10:{m:02}:20 gate closed" for m in range(6)]
    result = detect(facts(broker("\n".join(rows)), LIMIT))
    assert result.rejected == because("idle", client="gate", life=20, keep_alive="120")


def test_a_bad_link_in_a_regular_rhythm_comes_back_late():
    result = detect(facts(edge([45.1, 50, 50, 45], gap=8, keep_alive=15), LIMIT))
    assert result.rejected == because("away", life=47.55, gap=8)


def test_a_limit_that_is_not_reached_is_none():
    result = detect(facts(edge(), at_the_proxy(rate=900), LIMIT))
    assert result.rejected == because("other-rate", life=55, rate=10_240)


def test_an_id_that_two_clients_fight_for_is_none():
    war = broker(turns("edge", ["10.0.0.1", "10.0.0.2"], every=20, times=12, also="k20 c1"))
    result = detect(facts(war, LIMIT))
    assert (result.findings, result.rejected, result.missing) == ((), None, ())


def test_lives_of_all_lengths_and_orderly_ones_are_none():
    assert detect(facts(edge([12, 200, 35, 90, 400]), LIMIT)).findings == ()
    orderly = [f"10:{m:02}:00 job connected 10.0.0.9:{m + 1} k20 c1\n10:{m:02}:30 job normal" for m in range(6)]
    assert detect(facts(broker("\n".join(orderly)), LIMIT)).findings == ()


def test_two_lives_are_too_few():
    assert detect(facts(edge([35, 35]), at_the_proxy([35, 35]), LIMIT)).findings == ()


def test_without_logs_it_is_not_checked():
    assert detect(facts(LIMIT)).missing == (say("no-material"),)
