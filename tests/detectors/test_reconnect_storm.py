"""Everybody comes back at once, and others that come back."""

from __future__ import annotations

from facts_builder import at, facts
from mqtt_builder import broker, client, clock, turns
from said import told

from mqlab.detectors.reconnect_storm import detect, say
from mqlab.findings import Certainty, Severity


def fleet(size, when="10:00:00", *, address="10.0.0.1", port=1000):
    return [f"{when} dev{n} connected {address}:{port + n} k20" for n in range(size)]


def restarted(size=40, back=40, *, stop=True):
    rows = fleet(size) + (["10:05:00 - stopping"] if stop else []) + ["10:05:10 - starting"]
    return rows + [f"10:05:{12 + n % 5} dev{n} connected 10.0.0.1:{3000 + n} k20" for n in range(back)]


def material(rows, **more):
    return facts(broker("\n".join(rows), **more))


BACK = {"back_seconds": 6, "back_seconds_low": 5, "back_seconds_high": 7}
"""Of whole seconds."""


def test_a_restart_brings_everybody_back_once():
    (one,) = detect(material(restarted(), last="10:20:00")).findings
    assert (one.severity, one.certainty, one.subject) == (Severity.NOTICE, Certainty.PROVEN, "mosquitto")
    assert one.measures == {"clients": 40, "clients_before": 40, "down_seconds": 10} | BACK
    assert (one.started_at.timestamp(), one.ended_at.timestamp()) == (at("10:05:00"), at("10:05:16"))
    restart = {"cause": "restart", "stopped": True, "subject": "mosquitto", "down": at("10:05"), "up": at("10:05:10")}
    back = {"clients": 40, "clients_before": 40, "until": one.ended_at, "back_seconds": 6}
    assert told(one.statement) == restart | back
    assert [place.why for place in one.evidence[:3]] == [say("stops"), say("starts"), say("back")]


def test_a_broker_that_died_is_told_from_one_that_was_stopped():
    (one,) = detect(material(restarted(stop=False))).findings
    shown = told(one.statement)
    assert (shown["cause"], "stopped" in shown) == ("restart", False)


def test_a_broker_that_died_was_down_since_its_clients_own_logs_lost_it():
    own = [client(f"10:00:00 made 1\n10:05:02 lost 302 EOF\n10:05:1{n} made 2", f"dev{n}") for n in range(2, 6)]
    (one,) = detect(facts(broker("\n".join(restarted(stop=False))), own)).findings
    assert (one.started_at.timestamp(), one.measures["down_seconds"]) == (at("10:05:02"), 8)


def test_clients_that_stay_away_are_counted():
    (one,) = detect(material(restarted(40, 30))).findings
    assert (one.measures["clients"], one.measures["clients_before"]) == (30, 40)


def test_a_storm_that_does_not_end_is_a_warning():
    rows = restarted()
    for minute in (6, 7, 8):
        rows += [f"10:0{minute}:00 dev{n} closed" for n in range(40)]
        rows += [f"10:0{minute}:{1 + n % 50:02} dev{n} connected 10.0.0.1:{minute * 1000 + n} k20" for n in range(40)]
    rows.sort()
    (one, *_) = detect(material(rows)).findings
    assert (one.severity, one.certainty) == (Severity.WARNING, Certainty.LIKELY)
    assert one.measures["connects_again"] == 120


def test_all_clients_at_one_instant_without_a_restart_are_the_network():
    rows = fleet(20) + [f"10:07:{10 + n} dev{n} keep-alive" for n in range(20)]
    rows += [f"10:07:4{n % 9} dev{n} connected 10.0.{n}.1:{3000 + n} k20" for n in range(20)]
    (one,) = detect(material(rows)).findings
    assert told(one.statement).items() >= {"cause": "network", "down": at("10:07:10")}.items()


def frozen(size=12, stale=1, *, lost="keep-alive"):
    """Devices each at its own address; the broker notices all, and reads *stale* connects that were given up."""
    rows = [f"10:00:0{n % 9} dev{n} connected 10.0.{n}.1:1000 k20" for n in range(size)]
    rows += [f"10:07:10 dev{n} {lost}" for n in range(size)]
    rows += [f"10:07:10 dev{n} connected 10.0.{n}.1:2000 k20" for n in range(size)]
    for again in range(stale):
        for n in range(size):
            rows += [f"10:07:11 dev{n} taken-over", f"10:07:11 dev{n} connected 10.0.{n}.1:{2001 + again} k20"]
    return rows


def test_a_broker_that_stood_still_reads_at_one_moment_what_waited_for_it():
    for stale in (0, 1, 4):
        (one,) = detect(material(frozen(stale=stale), last="10:20:00")).findings
        assert (one.severity, one.measures["clients"], one.measures["clients_before"]) == (Severity.NOTICE, 12, 12)
        shown = told(one.statement)
        assert (shown["cause"], shown["up"], shown["quiet_since"]) == ("standstill", at("10:07:10"), at("10:00:08"))


def test_connects_that_were_given_up_tell_of_a_standstill_without_a_timeout():
    (one,) = detect(material(frozen(lost="closed"))).findings
    assert told(one.statement)["cause"] == "standstill"
    (one,) = detect(material(frozen(lost="closed", stale=0))).findings
    assert told(one.statement)["cause"] == "network"


def test_logs_of_clients_tell_since_when_a_broker_stood_still():
    own = client("10:00:00 made 1\n10:06:40 lost - timeout\n10:07:11 made 2", "dev3")
    (one,) = detect(facts(broker("\n".join(frozen())), own)).findings
    assert (one.started_at.timestamp(), one.measures["down_seconds"]) == (at("10:06:40"), 30)


def test_devices_that_connect_every_second_are_no_storm():
    rows = [f"10:00:0{n} dev{n} connected 10.0.{n}.1:1000 k20" for n in range(9)]
    for second in range(10, 50):
        for n in range(9):
            rows += [f"10:07:{second} dev{n} closed", f"10:07:{second} dev{n} connected 10.0.{n}.1:{second} k20"]
    assert detect(material(rows)).findings == ()


def test_a_nat_gateway_that_forgets_its_ports_is_one_for_those_behind_it():
    others = [f"10:00:00 other{n} connected 10.9.0.{n}:1000 k20" for n in range(60)]
    rows = others + fleet(36)
    for n in range(36):
        rows += [f"10:06:0{n % 10} dev{n} taken-over", f"10:06:0{n % 10} dev{n} connected 10.0.0.1:{5000 + n} k20"]
    (one,) = detect(material(rows)).findings
    assert told(one.statement).items() >= {"cause": "address", "address": "10.0.0.1", "subject": "mosquitto"}.items()
    assert (one.measures["clients"], one.measures["clients_before"]) == (36, 36)


def away(size, others, minutes=6):
    """Clients of one address that their broker gives up at once and that are back *minutes* later, and *others*."""
    cut = [f"10:07:1{n % 9} dev{n} keep-alive" for n in range(size)]
    back = [f"10:{7 + minutes:02}:2{n % 9} dev{n} connected 10.0.0.1:{3000 + n} k20" for n in range(size)]
    return [*others, *cut, *back]


def test_clients_that_were_away_for_minutes_are_held_against_all_that_were_connected_when_they_were_cut_off():
    elsewhere = "10:07:30 other connected 10.9.0.1:1000 k20"
    (one,) = detect(material(away(6, [*fleet(6), elsewhere]))).findings
    assert (one.measures["clients"], one.measures["clients_before"]) == (6, 6)
    assert told(one.statement)["address"] == "10.0.0.1"
    (one,) = detect(material(away(6, []))).findings
    assert (one.measures["clients"], one.measures["clients_before"]) == (6, 6)


def test_few_of_many_that_were_cut_off_with_them_are_no_storm():
    many = [f"10:00:00 other{n} connected 10.9.{n}.1:1000 k20" for n in range(20)]
    cut = [f"10:07:1{n % 9} other{n} keep-alive" for n in range(20)]
    own = [f"10:00:00 dev{n} connected 10.8.{n}.1:1000 k20" for n in range(6)]
    rows = away(6, [*many, *own, *cut])
    rows = [row.replace("10.0.0.1:", f"10.8.{n}.1:") for n, row in enumerate(rows)]
    assert detect(material(sorted(rows))).findings == ()


def test_two_events_are_two_findings():
    rows = [*restarted(), "10:15:00 - stopping", "10:15:05 - starting"]
    rows += [f"10:15:0{6 + n % 3} dev{n} connected 10.0.0.1:{7000 + n} k20" for n in range(40)]
    assert [one.id for one in detect(material(rows)).findings] == [
        "reconnect-storm:mosquitto@10:05:10",
        "reconnect-storm:mosquitto@10:15:05",
    ]


def test_a_second_event_soon_after_is_no_storm_that_does_not_end():
    rows = fleet(36)
    for n in range(36):
        for again, minute in ((5000, 6), (7000, 7)):
            rows += [f"10:0{minute}:0{n % 10} dev{n} taken-over"]
            rows += [f"10:0{minute}:0{n % 10} dev{n} connected 10.0.0.1:{again + n} k20"]
    found = detect(material(sorted(rows, key=lambda row: (row[:8], "connected" in row)))).findings
    assert [one.severity for one in found] == [Severity.NOTICE, Severity.NOTICE]


def test_logs_of_clients_alone_tell_of_one_too():
    own = [client("10:00:00 made 1\n10:05:00 lost - EOF\n10:05:12 made 2", f"dev{n}") for n in range(8)]
    (one,) = detect(facts(own)).findings
    assert (one.measures["clients"], one.subject, one.certainty) == (8, say("broker"), Certainty.LIKELY)
    assert told(one.statement)["cause"] == "no-log"


def with_a_bad_link(size, *, stop="10:05:00"):
    """A client that times out and is back seconds before the broker is stopped, and others that only the stop cuts."""
    rows = [*fleet(size), "10:00:00 gate connected 10.0.9.9:1 k5", "10:04:40 gate keep-alive"]
    rows += ["10:04:45 gate connected 10.0.9.9:2 k5", f"{stop} - stopping", "10:05:02 - starting"]
    return rows + [
        f"10:05:04 {name} connected 10.0.0.1:3000 k20" for name in ("gate", *(f"dev{n}" for n in range(size)))
    ]


def test_a_restart_is_not_told_as_a_network_because_one_link_failed_just_before():
    (one,) = detect(material(with_a_bad_link(5), last="10:20:00")).findings
    assert (one.statement.values["cause"], one.started_at.timestamp()) == ("restart", at("10:05:00"))
    assert (one.measures["clients"], one.measures["back_seconds"]) == (6, 2)
    assert detect(material(with_a_bad_link(4)[:-1], last="10:20:00")).findings == (), "four after a restart, one before"


def test_a_network_that_fails_soon_after_a_restart_of_few_is_one():
    rows = [*fleet(3), "10:05:00 - stopping", "10:05:02 - starting", *fleet(3, "10:05:04", port=2000)]
    rows += [f"10:05:10 new{n} connected 10.0.1.{n}:1 k20" for n in range(6)]
    rows += [f"10:05:40 {name} closed" for name in (*(f"dev{n}" for n in range(3)), *(f"new{n}" for n in range(6)))]
    rows += [f"10:05:41 new{n} connected 10.0.1.{n}:2 k20" for n in range(6)]
    (one,) = detect(material(rows, last="10:20:00")).findings
    assert one.statement.values["cause"] == "network"


def test_a_handful_after_a_restart_is_no_storm():
    result = detect(material(restarted(3, 3)))
    assert result.rejected == say("few", clients=3)


def test_the_first_start_and_the_last_stop_of_a_broker_are_no_restart():
    rows = ["09:59:58 - starting", *fleet(3), "10:05:00 dev0 normal", "10:09:00 - stopping"]
    assert detect(material(rows)).rejected is None
    assert detect(material(rows[:-1])).rejected is None


def test_connects_within_the_second_in_which_a_broker_stops_and_starts_are_no_return():
    stopped = [*fleet(20, "10:05:00"), "10:05:00 - stopping", "10:05:00 - starting"]
    assert detect(material(stopped)).findings == ()
    (one,) = detect(material([*stopped, *fleet(15, "10:05:00", port=3000)])).findings
    assert (one.measures["clients"], one.measures["clients_before"]) == (15, 20)


def test_clients_that_were_connected_before_the_log_begins_are_cut_off_like_others():
    rows = []
    for n in range(20):
        rows += [f"10:00:0{n % 5} dev{n} taken-over", f"10:00:0{n % 5} dev{n} connected 10.0.{n}.1:2000 k20"]
    (one,) = detect(material(sorted(rows, key=lambda row: (row[:8], "connected" in row)))).findings
    assert (one.measures["clients"], one.measures["clients_before"], one.started_at.timestamp()) == (20, 20, at(0))
    assert told(one.statement)["cause"] == "network"


def test_one_client_that_comes_again_and_again_is_no_storm():
    rows = fleet(40)
    rows += [f"10:0{m}:{s} dev7 {word}" for m in range(1, 9) for s, word in (("00", "keep-alive"),)]
    back = [f"10:0{m}:10 dev7 connected 10.0.0.1:{m}000 k20" for m in range(1, 9)]
    assert detect(material(sorted(rows + back))).findings == ()


def test_an_id_that_clients_fight_for_is_no_storm():
    assert detect(facts(broker(turns("dev", ["10.0.0.1", "10.0.0.2"], times=40)))).findings == ()


def test_jobs_that_leave_in_order_and_come_back_together_are_no_storm():
    rows = fleet(20) + [f"10:05:00 dev{n} normal" for n in range(20)] + fleet(20, "10:06:00", port=4000)
    assert detect(material(rows)).findings == ()


def test_an_idle_timeout_that_ends_each_connection_is_no_storm():
    rows = [row for m in range(6) for row in fleet(8, f"10:0{m}:00", port=1000 * (m + 1))]
    rows += [f"10:0{m}:20 dev{n} closed" for m in range(6) for n in range(8)]
    assert detect(material(sorted(rows))).findings == ()


def test_a_first_start_is_no_storm():
    assert detect(material(["10:00:00 - starting", *fleet(40, "10:00:05")])).findings == ()


def test_clients_that_come_back_one_by_one_are_no_storm():
    rows = fleet(40)
    for n in range(40):
        moment = 36_000 + 120 * (n + 1)
        rows += [f"{clock(moment)} dev{n} closed", f"{clock(moment + 5)} dev{n} connected 10.0.0.1:{4000 + n} k20"]
    assert detect(material(rows)).findings == ()


def test_without_logs_it_is_not_checked():
    assert detect(facts()).missing == (say("no-material"),)


def test_a_brokers_first_start_cuts_nobody_off_who_came_and_left_in_that_second():
    probe = "10:00:00 - starting\n10:00:00 probe connected 10.0.0.1:1001 k20\n10:00:00 probe normal"
    assert detect(facts(broker(probe, last="10:20:00"))).rejected is None
    again = "10:00:00 - starting\n10:00:01 probe connected 10.0.0.1:1001 k20\n10:05:00 - starting"
    assert detect(facts(broker(again, last="10:20:00"))).rejected == say("few", clients=1)
