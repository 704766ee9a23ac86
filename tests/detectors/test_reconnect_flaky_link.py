"""Clients that come back because their link fails, and others that come back."""

from __future__ import annotations

from dataclasses import replace

from facts_builder import at, episode, facts
from mqtt_builder import broker, client, clock, turns
from said import told

from mqlab.detectors import known_errors
from mqlab.detectors.reconnect_flaky_link import detect, say
from mqlab.findings import Certainty, Severity
from mqlab.mqtt.connections import Connection
from mqlab.mqtt.reconnects import Loss

A = "10.0.0.1"
TOO_FEW = say("too-few", clients=["tram"])


def tram(name="tram", lives=(45, 50, 38, 120), away=(5, 6, 20, 9), *, how="keep-alive", address=A, begin=36_000):
    """Rows of a broker's log: connections that end by silence, and gaps until the client is back."""
    moment, rows = begin, []
    for number, (life, gap) in enumerate(zip(lives, away, strict=True)):
        rows += [f"{clock(moment)} {name} connected {address}:{4000 + number} k15"]
        rows += [f"{clock(moment + life)} {name} {how}"]
        moment += life + gap
    return [*rows, f"{clock(moment)} {name} connected {address}:4999 k15"]


def seen(*rows, **more):
    return broker("\n".join(sorted(row for part in rows for row in part)), **more)


def own_log(lives, away, *, waits=False):
    moment, rows = 36_000.0, ["10:00:00 configured k15 c1"]
    for number, (life, gap) in enumerate(zip(lives, away, strict=True), 1):
        rows += [f"{clock(moment)} made {number}", f"{clock(moment + life)} unanswered"]
        rows += [f"{clock(moment + life)} lost {life} pingresp"]
        rows += [f"{clock(moment + life + 1)} waiting 1 failed"] if waits else []
        moment += life + gap
    return client("\n".join([*rows, f"{clock(moment)} made {len(lives) + 1}"]), "tram")


def test_a_client_that_the_broker_times_out_again_and_again_has_a_bad_link():
    (one,) = detect(facts(seen(tram()))).findings
    assert (one.severity, one.certainty, one.subject) == (Severity.NOTICE, Certainty.PROVEN, "tram")
    assert one.measures == {
        "clients": 1, "losses": 4, "life_seconds": 47.5, "by_timeout": 4,
        "away_seconds": 7.5, "away_seconds_low": 5, "away_seconds_high": 20,
    }  # fmt: skip
    assert (one.started_at.timestamp(), one.ended_at.timestamp()) == (at(22.5), at(293))
    assert [place.why for place in one.evidence[:2]] == [say("how", how="timeout"), say("back")]


def test_a_link_is_lost_after_the_last_packet_which_the_broker_waits_for():
    (one,) = detect(facts(seen(tram()))).findings
    silent = {"patience": 22.5, "silent": 26.5}
    assert told(one.statement).items() >= silent.items(), "5 s and 22.5 s, in whole seconds"
    short = detect(facts(seen(tram(lives=(10, 50, 38, 120))))).findings[0]
    assert short.started_at.timestamp() == at(0), "not before it was connected"


def test_a_client_that_finds_no_way_to_the_broker_while_its_link_fails_has_no_second_trouble():
    rule = next(one for one in known_errors.RULES if one.INCIDENT == "broker-unreachable")

    def found(when, client="tram", reason="no route to host"):
        lines = [
            episode("error:go-dial-failed", s, "clients/app.log", client_id=client, reason=reason,
                    text=f"dial tcp 10.0.0.9:1883: connect: {reason}", line=int(s))
            for s in when
        ]  # fmt: skip
        return rule.detect(facts(seen(tram()), lines))

    within = (47, 103, 160)
    assert found(within).findings == ()
    assert found(within).rejected == known_errors.say("its-link", clients=["tram"])
    others = ({"when": (47, 60, 160)}, {"when": within, "client": "bus"}, {"when": within, "reason": "refused"})
    assert [found(**other).rejected for other in others] == [None] * 3
    assert found(range(400, 1200, 10)).findings


def test_where_no_keep_alive_is_told_the_loss_is_only_said_to_be_older_than_the_timeout():
    unknown = [row.removesuffix(" k15") for row in tram()]
    (one,) = detect(facts(seen(unknown))).findings
    assert one.started_at.timestamp() == at(45)
    shown = told(one.statement)
    assert (shown["timeouts"], "silent" in shown) == (4, False)


def test_a_silence_is_as_long_at_least_as_moments_tell_and_no_longer():
    def quiet(until, since, how="timeout", keep_alive=15.0):
        before = Connection("mosquitto", "tram", "b.log", "broker", 1.0, until, "keep-alive", keep_alive=keep_alive)
        return Loss(before, replace(before, since=since), how).quiet

    assert [quiet(45.0, 50.0), quiet(45.25, 50.5), quiet(45.0, 50.5)] == [26.5, 27.75, 28.0]
    assert [quiet(45.0, 50.0, "replaced"), quiet(45.0, 50.0, keep_alive=None), quiet(None, 50.0)] == [None] * 3


def test_what_the_client_noticed_itself_counts_for_how_long_it_was_away():
    own = own_log([40, 44, 33, 110], [10, 12, 25, 19])
    (one,) = detect(facts(seen(tram()), own)).findings
    assert (one.measures["away_seconds"], told(one.statement)["noticed"]) == (15.5, True)
    alone = detect(facts(seen(tram()))).findings[0]
    assert (alone.measures["away_seconds"], "noticed" in told(alone.statement)) == (7.5, False)


def test_the_clients_own_log_tells_the_same():
    (one,) = detect(facts(own_log([45.1, 50, 50, 45], [7.4, 5.2, 9.4, 17.6], waits=True))).findings
    assert (one.certainty, one.measures["by_unanswered"], one.measures["losses"]) == (Certainty.PROVEN, 4, 4)


def test_half_open_connections_that_it_replaces_itself_are_likely():
    (one,) = detect(facts(broker(turns("tram", [A], every=[21, 29, 17, 140])))).findings
    assert (one.certainty, one.measures["by_replaced"]) == (Certainty.LIKELY, 4)
    assert "away" not in told(one.statement)


def test_clients_of_one_place_are_one_finding():
    units = [tram(f"tram{n}", begin=36_000 + 7 * n) for n in range(3)]
    others = [f"10:00:00 other{n} connected 10.9.0.{n}:1 k15" for n in range(9)]
    (one,) = detect(facts(seen(*units, others))).findings
    assert (one.subject, one.measures["clients"], one.measures["losses"]) == (A, 3, 12)
    assert told(one.statement).items() >= {"clients": 3, "address": A, "names": ["tram0", "tram1", "tram2"]}.items()


def test_clients_that_share_a_proxy_with_healthy_ones_are_told_apart():
    healthy = [f"10:00:00 other{n} connected {A}:{n + 1} k15" for n in range(9)]
    found = detect(facts(seen(tram("tram1"), tram("tram2", begin=36_100), healthy))).findings
    assert [one.subject for one in found] == ["tram1", "tram2"]


def test_an_id_that_clients_fight_for_is_no_bad_link():
    assert detect(facts(broker(turns("dev", [A, "10.0.0.2"], times=20)))).findings == ()
    assert detect(facts(broker(turns("dev", [A], every=8, times=20)))).findings == ()


def test_a_client_that_is_back_at_once_has_a_sound_link():
    assert detect(facts(own_log([35, 55, 55, 55], [0.01] * 4))).findings == ()
    limited = own_log([35, 80, 140, 55], [0.01] * 4), broker(turns("tram", [A], every=[35, 80, 140, 55]))
    assert detect(facts(limited)).findings == ()
    timed_out = detect(facts(seen(tram(away=(0, 1, 0, 0)))))
    assert (timed_out.findings, timed_out.rejected) == ((), TOO_FEW)


def test_timeouts_between_half_open_connections_are_of_the_same_link_however_soon_the_client_is_back():
    timed_out = tram(lives=(30, 18), away=(0, 1))[:-1]
    replaced = turns("tram", [A], start="10:00:49", every=[14, 26, 47]).splitlines()
    (one,) = detect(facts(seen(timed_out, replaced))).findings
    assert (one.certainty, one.measures["losses"]) == (Certainty.LIKELY, 5)
    assert (one.measures["by_timeout"], one.measures["by_replaced"]) == (2, 3)
    few = turns("tram", [A], start="10:00:49", every=[14, 26]).splitlines()
    assert detect(facts(seen(timed_out, few))).findings == ()


def test_connections_that_a_limit_ends_are_no_bad_link_without_its_log():
    assert detect(facts(broker(turns("edge", [A], every=[35, 55, 55, 55], also="k20 c1")))).findings == ()


def test_one_or_two_losses_happen_to_any():
    result = detect(facts(seen(tram(lives=(45, 50), away=(5, 6)))))
    assert result.rejected == TOO_FEW


def test_a_break_that_concerns_everybody_is_none_of_ones_own():
    rows = [f"10:00:00 dev{n} connected 10.0.{n}.1:{n + 1} k15" for n in range(10)]
    for minute in (5, 10, 15):
        rows += [f"10:{minute:02}:00 dev{n} keep-alive" for n in range(10)]
        rows += [f"10:{minute:02}:1{n} dev{n} connected 10.0.{n}.1:{minute}0{n} k15" for n in range(10)]
    assert detect(facts(seen(rows))).findings == ()


def test_clients_that_end_in_order_or_by_an_idle_timeout_have_sound_links():
    assert detect(facts(seen(tram(how="normal"), tram("gate", how="closed")))).findings == ()


def test_without_logs_it_is_not_checked():
    assert detect(facts()).missing == (say("no-material"),)


CART = turns("cart", [A], every=[19, 25])
STARTS = "\n".join(f"10:00:{at:02} configured k30 c1\n10:00:{at:02} made 1" for at in (0, 19, 44))


def test_two_half_open_connections_are_likely_where_the_clients_own_log_tells_that_it_alone_came_back():
    (one,) = detect(facts(broker(CART), client(STARTS, "cart"))).findings
    assert (one.severity, one.certainty, one.subject) == (Severity.NOTICE, Certainty.LIKELY, "cart")
    assert one.measures == {"clients": 1, "losses": 2, "life_seconds": 22, "by_replaced": 2}
    assert "sure" not in told(one.statement)


def test_two_half_open_connections_tell_nothing_without_that_log():
    assert detect(facts(broker(CART))).findings == ()


def test_two_half_open_connections_tell_nothing_where_another_one_may_have_the_id():
    part = "10:00:00 configured k30 c1\n10:00:00 made 1\n10:00:44 made 2"
    assert detect(facts(broker(CART), client(part, "cart"))).findings == ()
    two = [client(STARTS, "cart"), client(STARTS, "cart", "clients/other.log")]
    assert detect(facts(broker(CART), *two)).findings == ()
    moved = broker(turns("cart", [A, "10.0.0.2"], every=[19, 25]))
    assert detect(facts(moved, client(STARTS, "cart"))).findings == ()


def test_two_half_open_connections_tell_nothing_where_the_client_lost_each_and_was_back_at_once():
    lost = "10:00:00 made 1\n10:00:18 lost 18 EOF\n10:00:19 made 2\n10:00:43 lost 24 EOF\n10:00:44 made 3"
    assert detect(facts(broker(CART), client(lost, "cart"))).findings == ()
    later = lost.replace("10:00:18", "10:00:09").replace("10:00:43", "10:00:34")
    assert len(detect(facts(broker(CART), client(later, "cart"))).findings) == 1


def test_addresses_that_change_are_told_and_no_place_is_called_the_same():
    every = [40, 300, 75, 500, 20, 120, 260, 90, 33, 410]
    (one,) = detect(facts(broker(turns("tram", [A, "10.0.0.2"], every=every)))).findings
    shown = told(one.statement)
    assert (shown["places"], "away" in shown) == (2, False)


def test_one_half_open_connection_is_no_bad_link():
    once = turns("cart", [A], every=[19])
    assert detect(facts(broker(once), client("10:00:00 made 1\n10:00:19 made 1", "cart"))).findings == ()


def test_an_id_that_live_clients_fight_for_has_no_bad_link_whatever_else_the_log_tells_of_it():
    war = turns("tram", [A, "10.0.0.2"], start="10:00:00", times=20).splitlines()
    later = turns("tram", [A], start="10:20:00", every=[40, 95, 33, 160]).splitlines()
    assert detect(facts(seen(war, later))).findings == ()
    (alone,) = detect(facts(seen(later))).findings
    assert alone.subject == "tram"
