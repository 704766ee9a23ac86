"""One client id in several processes: where queues are doubled and orphaned, and what only looks like it."""

from __future__ import annotations

import pytest
from facts_builder import at, facts, settings
from group_builder import GROUP, TOPIC, allocated, broker_log, connected, ledger, listing, listings, queue, queues, said
from said import told

from mqlab.detectors.duplicate_client_id import detect, say
from mqlab.findings import Certainty, Result, Severity

A1, A2, A3 = "A@9 10.0.0.1:1001", "A@9 10.0.0.2:1002", "A@9 10.0.0.3:1003"
DAY = 86_400
B, C = "B@9 10.0.0.4:1004", "C@9 10.0.0.5:1005"


def found(*rows):
    """The only finding of these rows."""
    (finding,) = detect(facts(*rows)).findings
    return finding


@pytest.mark.parametrize(
    ("members", "count", "strategy", "owners"),
    [
        ((A1, A2), 8, "AVG", "2 2 2 2 0 0 0 0"),
        ((A1, A2, B), 8, "AVG", "2 2 2 0 0 0 1 1"),
        ((A1, B, "B@9 10.0.0.6:7"), 8, "AVG", "1 1 1 2 2 2 0 0"),
        ((A1, A2, A3), 16, "AVG", "3 3 3 3 3 3 0 0 0 0 0 0 0 0 0 0"),
        ((A1, A2), 8, "AVG_BY_CIRCLE", "2 0 2 0 2 0 2 0"),
        ((A1, A2, A3, B, C, "C@9 10.0.0.7:9"), 4, "AVG", "3 0 0 1"),
    ],
)
def test_orphans_and_doubled_queues_are_those_of_the_rule(members, count, strategy, owners):
    times = [int(n) for n in owners.split()]
    first = allocated(0, "A@9", "host-1", (), strategy=strategy)
    one = found(listings(0, 300, 20, *members), queues(count, {n for n, t in enumerate(times) if t}), first)
    assert (one.certainty, one.severity) == (Certainty.PROVEN, Severity.CRITICAL)
    assert one.measures["orphan_queues"] == sum(t == 0 for t in times)
    assert one.measures["doubled_queues"] == sum(t > 1 for t in times)
    assert one.measures["lag_growth_per_second"] == one.measures["orphans_produced_per_second"] == 3 * times.count(0)


def test_a_strategy_that_nobody_names_is_the_one_that_fits():
    one = found(listings(0, 300, 20, A1, A2), queues(8, {0, 2, 4, 6}))
    assert (one.certainty, one.facts["strategy"]) == (Certainty.PROVEN, say("assumed", strategy="AVG_BY_CIRCLE"))


def test_with_two_brokers_a_whole_broker_may_be_orphaned():
    moves, stands = queues(4, set(range(4))), queues(4, set(), broker="broker-b")
    (share,) = told(found(listings(0, 300, 20, A1, A2), moves, stands).statement)["shares"]
    assert told(share)["parts"][-1] == say("orphans", queues=["broker-b 0-3"])


def test_the_brokers_log_alone_tells_two_processes():
    joined = connected(0, "A@9", "10.0.0.1:1001"), connected(5, "A@9", "10.0.0.2:1002")
    one = found(*joined, broker_log(0, 300), queues(8, {0, 1, 2, 3}))
    assert (one.certainty, one.facts["seen by"]) == (Certainty.PROVEN, say("seen-by", how="broker log"))


def test_the_logs_of_two_processes_tell_it_too():
    held = [f"broker-a/{n}" for n in range(4)]
    logs = (*allocated(0, "A@9", "host-1", held), *allocated(3, "A@9", "host-2", held))
    later = allocated(300, "B@9", "host-1", held)
    one = found(*logs, *later, broker_log(0, 300), queues(8, {0, 1, 2, 3}), allocated(310, "C@9", "host-2", held))
    assert (one.certainty, one.facts["seen by"]) == (Certainty.PROVEN, say("seen-by", how="client logs"))


def test_consistent_hashing_doubles_and_orphans_nothing():
    names = [f"broker-a/{n}" for n in range(4)]
    copies = [ledger(TOPIC, name, ("host-1", "host-2"), 100) for name in names]
    logs = [allocated(0, "A@9", host, names, strategy="CONSISTENT_HASH") for host in ("host-1", "host-2")]
    one = found(listings(0, 300, 20, A1, A2), queues(4, range(4)), *copies, *logs)
    assert one.certainty is Certainty.PROVEN
    assert (one.measures["orphan_queues"], one.measures["doubled_queues"]) == (0, 4)
    assert one.measures["duplicated_records"] == 400


def test_without_offsets_two_live_processes_are_likely_a_fault():
    one = found(listings(0, 300, 20, A1, A2))
    assert (one.certainty, one.severity) == (Certainty.LIKELY, Severity.WARNING)


def test_a_group_that_changes_meanwhile_keeps_the_sharing_as_one():
    lists = (*listings(0, 140, 20, A1, A2, B), *listings(160, 300, 20, A1, A2, C))
    assert found(lists, queues(8, {0, 1, 2, 6, 7})).certainty is Certainty.PROVEN


def test_after_the_repair_it_has_ended():
    repaired = listings(320, 600, 20, "A@1 10.0.0.1:2001", "A@2 10.0.0.2:2002")
    moving = [queue(f"broker-a/{n}", [(300, 3, 3 if n < 4 else 0), (300, 3, 9)]) for n in range(8)]
    one = found(listings(0, 300, 20, A1, A2), repaired, *moving)
    assert (one.ongoing, one.ended_at.minute, one.measures["orphan_queues"]) == (False, 5, 4)
    assert "retention" not in one.facts


@pytest.mark.parametrize(
    ("ids", "apart"),
    [
        (("A@app-1", "A@app-2"), ["A@app-1", "A@app-2"]),
        (("A@1#11111111", "A@1#22222222"), ["A@1#11111111", "A@1#22222222"]),
        (("A@1", "A@2"), None),
    ],
    ids=["named", "with a nanosecond number", "other processes by chance"],
)
def test_ids_that_were_made_different_are_no_advice_any_more(ids, apart):
    repaired = listings(320, 600, 20, f"{ids[0]} 10.0.0.1:2001", f"{ids[1]} 10.0.0.2:2002")
    one = found(listings(0, 300, 20, A1, A2), repaired, queues(8, {0, 1, 2, 3}, seconds=600))
    assert one.remedy.values.get("apart") == apart


def test_what_waits_may_be_deleted_when_the_broker_deletes_files():
    hour = settings("at owner key value\n- broker-a deleteWhen 04", "configs/broker-a.conf", scope="broker")
    orphans = (listings(0, 300, 20, A1, A2), queues(8, {0, 1, 2, 3}))
    kept = {"kept": 3 * DAY, "default": True, "since": at(0), "deleted": at(3 * DAY)}
    assert found(*orphans).facts["retention"] == say("retention", **kept)
    assert found(*orphans, hour).facts["retention"] == say("retention", **kept, hours=["4"])


def no_harm(key, **values):
    return say(key, group=GROUP, **values)


def expiring(seconds):
    """Listed twice no longer than a dead connection is."""
    return no_harm("expiring", ids=["A@9"], seconds=seconds, expiry=130)


@pytest.mark.parametrize(
    ("rows", "because"),
    [
        ((*listings(0, 300, 20, A1, A2), said("messageModel", "BROADCASTING")), no_harm("broadcast")),
        (listings(0, 300, 20, "172.17.0.2@DEFAULT 10.0.0.1:1", "172.17.0.2@DEFAULT 10.0.0.2:2"), no_harm("broadcast")),
        ((*listings(0, 300, 20, A1, A2), said("consumeType", "CONSUME_POP")), no_harm("pop")),
        ((*listings(0, 60, 20, A1, A2), *listings(80, 300, 20, A2)), expiring(60)),
        ((*listing(0, A1), *listing(20, A1, "A@9 10.0.0.1:1099"), *listing(40, "A@9 10.0.0.1:1099")), expiring(0)),
        ((*listings(0, 300, 20, A1, A2), *allocated(0, "A@9", "host-1", ())), no_harm("all-moved", ids=["A@9"])),
    ],
    ids=["broadcast", "loopback", "POP", "one leaves", "another port", "all queues move"],
)
def test_equal_ids_that_do_no_harm_are_rejected(rows, because):
    assert detect(facts(rows, queues(8, range(8)))) == Result(rejected=because)


@pytest.mark.parametrize(
    "rows",
    [
        (*listing(0, "A@9 10.0.0.1:1001", B), *listing(300, "A@9 10.0.0.1:2001", B)),
        listings(0, 300, 20, "A@1 10.0.0.1:1", "A@2 10.0.0.2:2", "A@3 10.0.0.3:3"),
        (connected(0, "A@9", "10.0.0.1:1"), connected(90, "A@9", "10.0.0.1:1", kind="consumer-disconnected"),
         connected(95, "A@9", "10.0.0.2:2"), broker_log()),
    ],
)  # fmt: skip
def test_other_ports_other_ids_and_hand_overs_are_clear(rows):
    assert detect(facts(rows, queues(2, range(2)))) == detect(facts(listings(0, 20, 20, B), queues(2, range(2))))


def test_a_dead_connection_in_the_brokers_log_is_no_second_process():
    rows = (
        connected(0, "A@9", "10.0.0.1:1"), connected(10, "A@9", "10.0.0.2:2"),
        connected(125, "A@9", "10.0.0.1:1", kind="consumer-disconnected"), broker_log(),
    )  # fmt: skip
    assert detect(facts(*rows, queues(8, range(8)))).findings == ()


def test_two_ports_of_one_host_count_if_both_stay_in_the_list():
    both = listings(0, 300, 20, A1, "A@9 10.0.0.1:1002")
    assert found(both, queues(8, {0, 1, 2, 3})).certainty is Certainty.PROVEN


def test_without_anything_about_members_it_is_not_checked():
    assert detect(facts(queues(8, {0}))).missing == (say("no-members"),)


def test_a_dead_connection_that_orphans_its_share_until_it_expires_is_none():
    back = [queue(f"broker-a/{n}", [(120, 3, 3 if n < 4 else 0), (200, 3, 6)]) for n in range(8)]
    again = (*listings(0, 100, 20, A1, "A@9 10.0.0.1:1099"), *listings(120, 320, 20, "A@9 10.0.0.1:1099"))
    moved = (*listings(0, 100, 20, A1, A2), *listings(120, 320, 20, A2))
    assert [detect(facts(lists, back)).findings for lists in (again, moved)] == [(), ()]


def test_a_short_sharing_that_goes_on_at_the_end_is_not_checked():
    result = detect(facts(listings(0, 100, 20, A1, A2), queues(8, {0, 1, 2, 3}, seconds=100)))
    assert (result.findings, result.rejected, result.missing) == ((), None, (say("too-early"),))


def test_one_sighting_beside_orphans_that_last_is_proven():
    one = found(listing(300, A1, A2, A3), queues(8, {0, 1, 2}, seconds=600))
    counted = (one.measures["orphan_queues"], one.measures["pending_records"])
    assert (one.certainty, counted) == (Certainty.PROVEN, (5, 9_000))


def test_ports_that_change_again_and_again_are_one_client():
    rows = [
        listing(t, *[f"A@9 10.0.0.1:{1000 + n}" for n in range(max(0, t // 40 - 2), t // 40 + 1)], B)
        for t in range(0, 600, 20)
    ]
    assert detect(facts(rows, queues(8, {0, 1, 6, 7}, seconds=600))).findings == ()


def test_a_stuck_queue_beside_the_orphans_does_not_weaken_the_proof():
    one = found(listings(0, 600, 20, A1, A2), queues(8, {0, 2, 3}, seconds=600))
    assert (one.certainty, one.measures["orphan_queues"]) == (Certainty.PROVEN, 4)
    (share,) = told(one.statement)["shares"]
    assert told(share)["stuck"] == "broker-a 1"


def test_members_that_change_while_an_id_is_shared_leave_one_finding():
    rows = [listing(300 * n, A1, A2, f"Z@{n} 10.0.0.9:{n + 1}") for n in range(6)]
    one = found(rows, queues(8, {0, 1, 2, 6, 7}, seconds=1500))
    assert (one.certainty, one.measures["orphan_queues"]) == (Certainty.PROVEN, 3)


def test_an_allocation_that_no_rule_explains_is_likely_and_claims_no_orphans():
    one = found(listings(0, 600, 20, A1, A2), queues(8, {0, 1, 4, 5}, seconds=600))
    assert (one.certainty, one.measures["frozen_queues"]) == (Certainty.LIKELY, 4)
    assert "orphan_queues" not in one.measures


def test_a_topic_that_the_group_does_not_read_is_not_counted():
    old = queues(4, set(), topic="OLD")
    assert found(listings(0, 300, 20, A1, A2), queues(8, range(4)), old).measures["orphan_queues"] == 4


def test_what_waits_is_deleted_with_its_file_at_the_hour_that_the_broker_is_told():
    rows = listings(0, 300, 20, A1, A2), queues(8, {0, 1, 2, 3})
    hours = settings("at owner key value\n- broker-a deleteWhen 04\n- broker-b deleteWhen 16", "conf/broker.conf")
    retention = [found(*rows, *more).facts["retention"] for more in (hours, ())]
    assert [told(one).get("hours") for one in retention] == [("4", "16"), None]
