"""Two live clients with one id, and all that only looks like them."""

from __future__ import annotations

from itertools import pairwise

import pytest
from facts_builder import at, facts, series
from mqtt_builder import broker, client, clock, turns
from said import told

from mqlab.detectors.client_id_takeover import detect, say
from mqlab.findings import CLEAR, Certainty, Result, Severity
from mqlab.words import is_idle, room

why = room("takeovers")
A, B, C = "10.0.0.1", "10.0.0.2", "10.0.0.3"
AS = {"A": A, "B": B, "C": C}


def steady(seconds=1.0):
    """Java and Python: the same wait after every connection that was accepted."""
    return lambda _: seconds


def doubling(longest=600.0):
    """paho Go: at once after a connection of more than 6 s, else twice as long as the last time, 1 s at least."""
    last = [None]

    def wait(lived):
        last[0] = 0.0 if last[0] is None or lived > 6 else min(max(1.0, 2 * last[0]), longest)
        return last[0]

    return wait


def fight(waits, names="AB", *, times=20, also="k30 c1", whole=True):
    """The broker's log of clients that wait as *waits* say, one thrown out by the next; their addresses by *names*."""
    rows = [f"10:00:00 dev connected {AS[names[0]]}:40000 {also}"]
    back, owner, since = [(float(n), n) for n in range(1, len(waits))], 0, 0.0
    for number in range(1, times + 1):
        back.sort()
        moment, party = back.pop(0)
        back.append((moment + waits[owner](moment - since), owner))
        owner, since = party, moment
        when = clock(36_000 + (int(moment) if whole else moment))
        rows += [f"{when} dev taken-over", f"{when} dev connected {AS[names[party]]}:{40000 + number} {also}"]
    return broker("\n".join(rows))


def no_fight(reason, *clients):
    """What is said of ids that are taken over for another reason."""
    return Result(rejected=say("reason", clients=clients or ["dev"], why=reason))


def own_log(name, moments, lost=()):
    rows = [f"{clock(36_000 + m)} made {n}" for n, m in enumerate(moments, 1)]
    rows += [f"{clock(36_000 + m)} lost - EOF" for m in lost]
    return client("\n".join(sorted(rows)), "dev", f"clients/{name}.log")


def test_two_addresses_that_take_turns_each_second_are_proven():
    (one,) = detect(facts(broker(turns("dev", [A, B], times=20)))).findings
    assert (one.certainty, one.severity, one.subject) == (Certainty.PROVEN, Severity.CRITICAL, "dev")
    assert one.measures == {"takeovers": 20, "period_seconds": 1.0, "parties": 2, "takeovers_per_hour": 3600.0}
    assert (one.ongoing, one.facts["known by"]) == (True, say("known-by", by="addresses"))
    assert [place.why for place in one.evidence[:2]] == [say("party"), say("party")]


@pytest.mark.parametrize(
    "waits",
    [[steady(1.007), steady(1.007)], [doubling(), steady()], [doubling(), doubling()], [steady(10), steady(5)],
     [doubling(longest=30.0), doubling(longest=30.0)]],
)  # fmt: skip
def test_clients_of_every_library_are_known_by_their_pace(waits):
    (one,) = detect(facts(fight(waits))).findings
    assert (one.certainty, one.measures["parties"], one.measures["takeovers"]) == (Certainty.PROVEN, 2, 20)


def test_three_addresses_with_one_id_are_three_parties():
    (one,) = detect(facts(fight([steady(), steady(), steady()], "ABC", times=30))).findings
    assert (one.certainty, one.measures["parties"]) == (Certainty.PROVEN, 3)


def test_an_end_that_stands_behind_the_new_connect_tells_the_same():
    rows = turns("dev", [A, B], times=12).splitlines()
    swapped = [rows[0], *(row for n in range(1, len(rows), 2) for row in (rows[n + 1], rows[n]))]
    (one,) = detect(facts(broker("\n".join(swapped)))).findings
    assert (one.certainty, one.measures["takeovers"]) == (Certainty.PROVEN, 12)


def test_two_users_or_kinds_of_connect_behind_one_address_are_two_parties():
    rows = turns("dev", [A], times=12).splitlines()
    marked = [row.replace("k30", "k60") if n % 4 == 2 else row for n, row in enumerate(rows)]
    (one,) = detect(facts(broker("\n".join(marked)))).findings
    assert (one.certainty, one.measures["parties"]) == (Certainty.PROVEN, 2)


def test_logs_of_two_clients_that_connect_in_turn_prove_it_behind_one_address():
    behind = broker(turns("dev", [A], every=3, times=12))
    logs = own_log("a", range(0, 37, 6)), own_log("b", range(3, 37, 6))
    (one,) = detect(facts(behind, logs)).findings
    assert (one.certainty, one.measures["parties"]) == (Certainty.PROVEN, 2)
    assert told(one.statement)["names"] == ["a", "b"]


@pytest.mark.parametrize(
    ("last", "stopped", "at_"),
    [
        ({"b": "closed"}, "b", 37.5),
        ({"b": "lost - EOF"}, None, None),
        ({"a": "closed", "b": "closed"}, None, None),
    ],
    ids=["one left by itself", "it was lost", "both left"],
)
def test_a_client_that_left_by_itself_needs_no_stop(last, stopped, at_):
    behind = broker(turns("dev", [A], every=3, times=12), last="10:05:00")
    logs = []
    for name, moments in (("a", range(0, 37, 6)), ("b", range(3, 37, 6))):
        rows = [f"{clock(36_000 + m)} made {n}" for n, m in enumerate(moments, 1)]
        rows += [f"{clock(36_000 + 37.5)} {last[name]}"] if name in last else []
        logs.append(client("\n".join(rows), "dev", f"clients/{name}.log", last="10:05:00"))
    (one,) = detect(facts(behind, logs)).findings
    values = one.statement.values
    assert (values.get("stopped"), values.get("parted")) == (stopped, at_ and at(at_))
    assert is_idle(one.mitigate) is (stopped is not None)


def at_address(log, address):
    return say("at-address", log=log, address=address)


@pytest.mark.parametrize(
    ("begins", "noted", "name", "called"),
    [
        (20, 20, "b", [at_address("a", A), at_address("b", B)]),
        (20, 20, "b/a", [at_address("clients/a.log", A), at_address("clients/b/a.log", B)]),
        (1, 1, "b", ["a", "b"]),
        (20, 30, "b", [at_address("a", A), "b"]),
    ],
    ids=["each began with its address", "two files of one name", "both began together", "its log begins later"],
)
def test_a_client_is_called_by_its_log_and_the_address_that_began_with_it(begins, noted, name, called):
    moments = range(begins, begins + 40)
    rows = [f"10:00:00 dev connected {A}:40 k30 c1"]
    for n in moments:
        moment, address = clock(36_000 + n), A if (n - begins) % 2 else B
        rows += [f"{moment} dev taken-over", f"{moment} dev connected {address}:5{n} k30 c1"]
    logs = own_log("a", [0, *moments[1::2]]), own_log(name, [n for n in moments[::2] if n >= noted])
    (one,) = detect(facts(broker("\n".join(rows)), logs)).findings
    assert told(one.statement)["names"] == called


def test_a_log_that_tells_of_half_of_the_connects_leaves_another_client():
    behind = broker(turns("dev", [A], every=3, times=12))
    (one,) = detect(facts(behind, own_log("a", range(0, 37, 6)))).findings
    assert (one.certainty, one.facts["known by"]) == (Certainty.PROVEN, say("known-by", by="logs"))
    assert (one.statement.values["names"], told(one.statement)["address"]) == (None, A)


def test_behind_one_address_a_pace_that_no_single_client_has_is_likely():
    (one,) = detect(facts(fight([steady(1.007), steady(1.007)], "AA"))).findings
    assert (one.certainty, one.severity) == (Certainty.LIKELY, Severity.WARNING)
    assert told(one.statement)["address"] == A
    (other,) = detect(facts(fight([doubling(), doubling()], "AA", whole=False))).findings
    assert other.certainty == Certainty.LIKELY
    (two_paces,) = detect(facts(broker(turns("dev", [A], every=[2, 6] * 8)))).findings
    assert two_paces.certainty == Certainty.LIKELY


def test_a_steady_pace_behind_one_address_can_be_one_that_restarts():
    result = detect(facts(broker(turns("dev", [A], every=8, times=12))))
    missing = (say("no-logs", ids=["dev"], why=why("open")),)
    assert (result.findings, result.rejected, result.missing) == ((), None, missing)


def test_without_lines_about_takeovers_it_is_likely_and_the_counter_proves_it():
    rows = [row for row in turns("dev", [A, B], times=20).splitlines() if "taken-over" not in row]
    (one,) = detect(facts(broker("\n".join(rows)))).findings
    assert one.certainty == Certainty.LIKELY
    counted = series("mqtt.takeovers", range(0, 30, 5), step=5)
    (sure,) = detect(facts(broker("\n".join(rows)), counted)).findings
    assert sure.certainty == Certainty.PROVEN
    still = series("mqtt.takeovers", [0] * 6, step=5)
    assert detect(facts(broker("\n".join(rows)), still)).findings[0].certainty == Certainty.LIKELY


def test_logs_of_clients_alone_are_likely():
    logs = own_log("a", range(0, 20, 2), range(1, 20, 2)), own_log("b", range(1, 20, 2), range(2, 20, 2))
    (one,) = detect(facts(logs)).findings
    assert (one.certainty, one.measures["takeovers"]) == (Certainty.LIKELY, 19)


def test_a_war_that_ended_before_the_log_does_is_over():
    (one,) = detect(facts(broker(turns("dev", [A, B], times=20), last="10:05:00"))).findings
    assert (one.ongoing, one.ended_at.timestamp()) == (False, at(20))


def test_wars_for_two_ids_and_at_two_brokers_are_told_apart():
    east = broker(turns("dev", [A, B]), "logs/mosquitto-east.log")
    west = broker(turns("dev", [A, B]) + "\n" + turns("sensor", [B, C], start="10:01:00"), "logs/mosquitto-west.log")
    found = detect(facts(east, west)).findings
    assert [one.id for one in found] == [
        "client-id-takeover:mosquitto-east/dev",
        "client-id-takeover:mosquitto-west/dev",
        "client-id-takeover:sensor",
    ]


def test_a_client_with_a_bad_link_comes_back_before_its_old_connection_is_noticed():
    result = detect(facts(broker(turns("dev", [A], every=[40, 310, 25, 95, 180, 33, 400, 61]))))
    assert result == no_fight(why("irregular"))


def test_a_client_that_comes_back_alone_after_its_keep_alive_is_no_second_one():
    result = detect(facts(broker(turns("dev", [A], every=35, times=12))))
    assert result == no_fight(why("slow"))


def test_a_log_that_tells_of_every_connect_leaves_no_other_client():
    result = detect(facts(broker(turns("dev", [A], every=1, times=12)), own_log("a", range(13))))
    assert result == no_fight(why("own-log", log="clients/a.log"))


def test_two_logs_of_one_process_are_one_client():
    library = own_log("a", [n + 0.01 for n in range(13)])
    result = detect(facts(broker(turns("dev", [A], every=1, times=12)), own_log("app", range(13)), library))
    assert result.findings == ()


def test_a_copy_of_a_clients_log_is_no_second_client():
    copies = [own_log(name, range(0, 20, 2), range(1, 20, 2)) for name in ("a", "b")]
    assert detect(facts(*copies)).findings == ()


def test_a_device_with_two_networks_changes_its_address_at_no_steady_pace():
    result = detect(facts(broker(turns("dev", [A, B], every=[40, 300, 75, 500, 20, 120, 260, 90, 33, 410]))))
    assert result == no_fight(why("switching"))


def test_a_release_that_replaces_one_host_by_another_is_none():
    replaced = broker(turns("dev", [A, B], every=60, times=1))
    assert detect(facts(replaced)) == Result(rejected=say("replaced", ids=1, shown=["dev"]))
    undone = broker(turns("dev", [A, B], every=[60, 300]))
    assert detect(facts(undone)).findings == ()


def test_a_fleet_behind_a_nat_that_changes_its_ports_is_none():
    once = "\n".join(turns(f"dev{n}", [A], every=60, times=1) for n in range(40))
    replaced = say("replaced", ids=40, shown=["dev0", "dev1", "dev10"])
    assert detect(facts(broker(once))) == Result(rejected=replaced)
    often = "\n".join(turns(f"dev{n}", [A], every=1, times=12) for n in range(5))
    assert detect(facts(broker(often))) == no_fight(why("with-others"), *(f"dev{n}" for n in range(5)))


def test_many_cloned_pairs_at_once_are_wars_all_the_same():
    pairs = "\n".join(turns(f"dev{n}", [A, B], times=12) for n in range(5))
    assert len(detect(facts(broker(pairs))).findings) == 5


def test_a_broker_that_restarts_again_and_again_takes_no_id_over():
    rows = ["10:00:00 dev connected 10.0.0.1:1"]
    for n in range(1, 9):
        rows += [f"10:0{n}:00 - stopping", f"10:0{n}:05 - starting", f"10:0{n}:06 dev connected {AS['AB'[n % 2]]}:{n}"]
    assert detect(facts(broker("\n".join(rows)))) == CLEAR


def test_a_persistent_client_that_restarts_in_order_takes_nothing_over():
    rows = []
    for n, m in pairwise(range(10)):
        rows += [f"10:0{n}:00 dev connected {A}:{n + 1} c0", f"10:0{n}:50 dev normal"]
        assert m == n + 1
    result = detect(facts(broker("\n".join(rows))))
    assert (result.findings, result.rejected) == ((), None)


def test_two_hosts_that_share_an_id_in_shifts_take_nothing_over():
    rows = [f"10:0{n}:00 dev connected {AS['AB'[n % 2]]}:{n + 1}\n10:0{n}:50 dev normal" for n in range(9)]
    assert detect(facts(broker("\n".join(rows)))).findings == ()


def test_without_logs_it_is_not_checked():
    assert detect(facts()).missing == (say("no-material"),)


def test_material_that_begins_within_a_war_tells_of_each_takeover():
    rows = turns("press", ["10.0.0.1", "10.0.0.2"], times=20).splitlines()
    whole, cut = (detect(facts(broker("\n".join(own)))).findings[0] for own in (rows, rows[1:]))
    assert (whole.measures["takeovers"], cut.measures) == (20, whole.measures)
    assert cut.certainty is whole.certainty


def test_material_that_begins_within_a_war_behind_one_address_is_judged_by_its_pace():
    rows = turns("press", ["10.0.0.1"], every=[0.5, 1.5] * 10).splitlines()
    whole, cut = (detect(facts(broker("\n".join(own)))).findings[0] for own in (rows, rows[1:]))
    assert (cut.measures, cut.statement) == (whole.measures, whole.statement)


def test_connects_behind_one_address_whose_ends_no_line_tells_are_not_judged():
    rows = [row for row in turns("dev", [A], every=1, times=20).splitlines() if "taken-over" not in row]
    result = detect(facts(broker("\n".join(rows))))
    missing = (say("no-logs", ids=["dev"], why=why("unended")),)
    assert (result.findings, result.rejected, result.missing) == ((), None, missing)
    (counted,) = detect(facts(broker("\n".join(rows)), series("mqtt.takeovers", range(0, 30, 5), step=5))).findings
    assert counted.certainty == Certainty.LIKELY


@pytest.mark.parametrize("every", [1, 5, [1, 3, 1]])
def test_an_id_that_goes_back_and_forth_within_seconds_is_likely_after_two_turns_each(every):
    (one,) = detect(facts(broker(turns("dev", [A, B], every=every, times=3)))).findings
    assert (one.certainty, one.severity) == (Certainty.LIKELY, Severity.WARNING)
    assert (one.measures["takeovers"], one.measures["parties"]) == (3, 2)
    assert one.facts["known by"] == say("known-by", by="turns")


@pytest.mark.parametrize("every", [[60, 60, 60], [1, 400, 1], [300, 300, 2]])
def test_turns_that_take_longer_than_a_librarys_wait_can_be_one_client_with_two_networks(every):
    result = detect(facts(broker(turns("dev", [A, B], every=every))))
    assert (result.findings, result.missing) == ((), (say("no-logs", ids=["dev"], why=why("once-back")),))


def test_an_id_that_is_handed_over_to_a_new_host_once_is_not_fought_for():
    moved = [("10:00:00", A), ("10:00:01", A), ("10:00:02", A), ("10:00:03", B), ("10:00:04", B)]
    rows = [f"{when} dev taken-over\n{when} dev connected {place}:1 k30 c1" for when, place in moved]
    assert detect(facts(broker("\n".join(rows)))) == no_fight(why("no-return"))


def test_lines_about_takeovers_alone_tell_who_had_the_id_in_turn():
    """EMQX prints no connects."""
    rows = [f"10:00:0{n} dev taken-over {AS['AB'[n % 2]]}:{40000 + n}" for n in range(6)]
    (one,) = detect(facts(broker("\n".join(rows), "emqx.log", "emqx-log"))).findings
    assert (one.certainty, one.measures["takeovers"], one.measures["parties"]) == (Certainty.PROVEN, 5, 2)
    assert detect(facts(broker("\n".join(rows[:2]), "emqx.log", "emqx-log"))).findings == ()


def test_a_title_counts_the_clients_that_are_known():
    three = [steady(1.0), steady(1.5), steady(2.0)]
    (one,) = detect(facts(fight(three, "ABC"))).findings
    assert (one.facts["clients"], one.measures["parties"]) == (say("clients", clients=3), 3)
