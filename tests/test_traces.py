"""What listings, samples and ledgers tell where no line does: each trace names its class, its look-alike does not."""

import pytest
from facts_builder import at, episode, facts, log, series

from mqlab.facts import Position
from mqlab.findings import Evidence
from mqlab.rows import Client, Delivery, Fate, Receipt, Tally
from mqlab.traces import traces
from mqlab.traces.marking import mark
from mqlab.verdict import diagnose

HEARTBEAT = "consumer.last_heartbeat_seconds_ago"
LISTED = log("groups.txt", "kafka-consumer-groups", lines=40)


def told(*rows):
    """The kinds of all traces, and the classes of the hypotheses."""
    known = facts(*rows)
    return {mark.kind for mark in traces(known)}, [h.incident for h in diagnose(known).verdict.hypotheses]


def listing(minute, queue, committed, end, *, client="a", member="a-1", topic="t"):
    """One queue of group g, as its listing at this minute shows it."""
    return Position(
        at(60 * minute), "g", topic, queue, committed, end, None, client, member, None, "groups.txt", 1 + minute, ""
    )


def queues(still, moving, minutes=5):
    """Queues of which some stand still at 100 and others are read, ten messages coming into each a minute."""
    for minute in range(minutes):
        yield from (listing(minute, queue, 100, 100 + 10 * minute) for queue in still)
        yield from (listing(minute, queue, 100 + 10 * minute, 100 + 10 * minute) for queue in moving)


@pytest.mark.parametrize(
    ("still", "moving", "kind", "first"),
    [
        ("3", "012", "backlog-stands", ["poison-pill-stall"]),
        (["b/2", "b/3"], ["b/0", "b/1"], "backlog-stands: several", ["duplicate-client-id", "subscription-mismatch"]),
    ],
)
def test_queues_that_stand_still_beside_others_that_are_read(still, moving, kind, first):
    system = log("broker.log", "rocketmq-broker-log") if "/" in still[0] else LISTED
    kinds, classes = told(system, list(queues(still, moving)))
    assert kind in kinds
    assert classes[: len(first)] == first


@pytest.mark.parametrize("moving", ["", "12"])
def test_a_whole_topic_that_nobody_reads_and_a_queue_without_messages_are_no_queue_that_stands(moving):
    idle = [listing(minute, "0", 100, 100) for minute in range(5)]
    assert not told(LISTED, list(queues("3", "")), idle, list(queues("", moving)) if not moving else [])[0]
    assert not told(LISTED, idle, list(queues("", "12")))[0]


def members(*moments):
    """One partition each for the members of each minute, as ``client:member``."""
    return [
        listing(minute, str(number), 10 * minute, 10 * minute, client=pair.split(":")[0], member=pair.split(":")[1])
        for minute, pairs in enumerate(moments)
        for number, pair in enumerate(pairs.split())
    ]


@pytest.mark.parametrize(
    ("moments", "kind", "first"),
    [
        (("a:a-1 b:b-1", "b:b-1", "a:a-2 b:b-1"), "member-replaced", "poll-interval-exceeded"),
        (("a:a-1 b:b-1", "a:a-2 b:b-1", "a:a-2 b:b-2"), "member-replaced: each", "healthy"),
        (("a:s-1 b:x-1", "a:s-2 b:x-1", "a:s-3 b:x-1"), "member-replaced: static", "static-member-fenced"),
        (("a:a-1 b:b-1", "b:b-1", "a:a-1 b:b-1"), "member-returned", "poll-interval-exceeded"),
    ],
)
def test_members_that_give_way_to_others_of_their_client(moments, kind, first):
    kinds, classes = told(LISTED, members(*moments))
    assert kinds == {kind}
    assert classes[0] == first


def test_a_group_that_grows_and_shrinks_replaces_nobody():
    assert not told(LISTED, members("a:a-1", "a:a-1 b:b-1", "a:a-1"))[0]


def heartbeats(values, client="a", **more):
    return series(HEARTBEAT, values, client_id=client, **more)


RUNS = [1, 2, 12, 22, 32, 1, 2]
"""A client that answers each scrape and sends no heartbeat for half a minute."""
STANDS = [1, 2, None, None, 28, 1, 2]
"""A process that answers no scrape meanwhile, either."""
CALM = [1, 2, 0, 1, 2, 0, 1]


@pytest.mark.parametrize(
    ("values", "others", "kinds", "first"),
    [
        (RUNS, CALM, {"heartbeats-stopped: running"}, "poll-interval-exceeded"),
        (STANDS, CALM, {"heartbeats-stopped"}, "session-timeout"),
        (RUNS, RUNS, {"heartbeats-stopped: all"}, "broker-unreachable"),
        (CALM, CALM, set(), "healthy"),
        ([1.8e9, 1.8e9, 0, 1, 2, 0, 1], CALM, set(), "healthy"),
    ],
)
def test_heartbeats_that_stop_tell_a_late_poll_from_a_process_that_stands_still(values, others, kinds, first):
    found = told(log("metrics.json", "prometheus-json"), heartbeats(values), heartbeats(others, client="b"))
    assert (found[0], found[1][0]) == (kinds, first)


@pytest.mark.parametrize(("longest", "kinds"), [(310_000, {"poll-late"}), (290_000, set())])
def test_a_time_between_two_polls_beyond_the_allowed_one_is_late(longest, kinds):
    assert told(series("consumer.time_between_poll_max", [500, longest, 500], client_id="a"))[0] == kinds


def consumer(name, starts, partitions):
    """The start of a consumer's process and its partitions, sample by sample."""
    labels = {"instance": name, "client_id": name}
    return series("process.start_time", starts, **labels), series("consumer.assigned_partitions", partitions, **labels)


OLD, NEW = 1_000.0, 2_000.0


@pytest.mark.parametrize(
    ("one", "two", "kinds"),
    [
        (([OLD] * 30, [3] * 10 + [6] * 10 + [3] * 10), ([OLD] * 30, [3] * 30), {"handed-over"}),
        (([OLD] * 15 + [NEW] * 15, [3] * 15 + [0] + [3] * 14), ([OLD] * 30, [3] * 15 + [6] + [3] * 14), set()),
        (([OLD] * 10 + [NEW] * 20, [3] * 30), ([OLD] * 20 + [NEW] * 10, [3] * 30), {"process-started-anew: each"}),
        (([OLD] * 9 + [NEW] * 9 + [3e3] * 12, [3] * 30), ([OLD] * 30, [3] * 30), {"process-started-anew"}),
    ],
)
def test_partitions_that_change_hands_while_no_consumer_starts_are_no_release(one, two, kinds):
    assert told(consumer("a", *one), consumer("b", *two))[0] == kinds


def lags(**partitions):
    return [
        series("consumer.records_lag", values, topic="t", partition=name[1:], client_id="a")
        for name, values in partitions.items()
    ]


@pytest.mark.parametrize(
    ("partitions", "kinds", "first"),
    [
        ({"p0": [0, 90, 180, 270, 360], "p1": [0, 3, 0, 2, 0]}, {"backlog-stands"}, "poison-pill-stall"),
        ({"p0": [0, 90, 180, 270, 360], "p1": [0, 80, 160, 240, 320]}, {"backlog-grows"}, "slow-consumer"),
        ({"p0": [0, 900, 400, 90, 0], "p1": [0, 3, 0, 2, 0]}, set(), "healthy"),
    ],
)
def test_a_lag_that_rises_in_one_partition_only_is_a_stuck_record_and_in_all_a_slow_consumer(partitions, kinds, first):
    found = told(log("metrics.json", "prometheus-json"), lags(**partitions))
    assert (found[0], found[1][0]) == (kinds, first)


GC = log("gc.log", "gc-log", lines=30)


@pytest.mark.parametrize(("seconds", "first"), [(6.5, "host-starved"), (0.3, "healthy")])
def test_long_pauses_of_a_garbage_collection_are_told_where_nothing_else_is_there(seconds, first):
    pauses = [episode("gc-pause", 20 * n, "gc.log", line=n, left=seconds, system="os") for n in (1, 2, 3)]
    assert told(GC, pauses)[1][0] == first


def test_a_mark_of_one_name_says_it_whole():
    seen = mark("backlog-grows", [(at(1), Evidence("lag.txt", 3, "seats 0"))], "seats 0, 3")
    assert str(seen.text).endswith(": seats 0, 3")


@pytest.mark.parametrize(("collector", "kinds"), [("G1 Old Generation", {"long-pauses"}), ("ZGC Cycles", set())])
def test_time_that_a_collector_takes_beside_the_application_is_no_pause(collector, kinds):
    rise = [0, 0.1, 6.1, 6.2]
    assert told(series("jvm.gc_seconds", rise, gc=collector, instance="a"))[0] == kinds


@pytest.mark.parametrize("later", [[], [LISTED, listing(9, "0", 5, 5)]])
def test_a_capture_whose_every_broker_refused_the_connection_says_so(later):
    manifest = log("manifest.json", "capture-manifest", lines=1)
    refused = episode("tool-error", 0, "manifest.json", reason="groups: [Errno 111] Connection refused")
    first = "healthy" if later else "broker-unreachable"
    assert told(manifest, refused, later)[1][0] == first


def tallies(queue, counts, role="processed"):
    return [Tally(at(10 * n), role, "t", queue, count, "out.csv", 1 + n) for n, count in enumerate(counts) if count]


@pytest.mark.parametrize(
    ("counts", "kinds"),
    [([30] * 8 + [0] * 10, {"backlog-stands"}), ([1] * 8 + [0] * 10, set()), ([30] * 18, set())],
)
def test_a_queue_that_a_ledger_falls_silent_about_while_others_are_read_stands_still(counts, kinds):
    assert told(tallies("0", counts), tallies("1", [30] * 18))[0] == kinds
    assert not told(tallies("0", counts), tallies("1", [30] * 18), tallies("2", counts))[0]  # given to another member


def fate(first, when, handled):
    place = Evidence("acked.csv", 1 + first, "")
    return Fate(
        "t", "0", 50, first, first + 49, at(when), at(when + 9), 1, 1, 0, 1, False, (),
        ("out.csv",) if handled else (), True, place, place,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("counts", "kinds"),
    [([30] * 9, {"passed-over"}), ([30, 0, 0, 0, 0, 0, 30], {"passed-over: away"})],
)
def test_messages_between_others_that_were_read_were_lost_in_memory_or_while_nobody_read(counts, kinds):
    known = [fate(0, 0, True), fate(50, 20, False), fate(100, 60, True)]
    assert told(known, tallies("0", counts))[0] == kinds
    waiting = [fate(0, 0, True), fate(50, 20, False)]
    assert not told(waiting, tallies("0", counts))[0]


@pytest.mark.parametrize(
    ("sources", "kinds"),
    [(("a.csv", "a.csv"), {"handled-again"}), (("a.csv", "b.csv"), {"handled-again"}), (("a.csv",), set())],
)
def test_messages_that_one_group_notes_twice_were_handled_again(sources, kinds):
    once = [Delivery(at(10 * n), "t", "0", ("a.csv",), 40) for n in range(5)]
    assert told(once, Delivery(at(60), "t", "0", sources, 20))[0] == kinds


def test_two_groups_that_read_one_topic_handle_nothing_again():
    assert not told([Delivery(at(10 * n), "t", "0", ("a.csv", "b.csv"), 40) for n in range(5)])[0]


CONTROLLER = log("controller.log", "kafka-broker-log", lines=400)


@pytest.mark.parametrize(
    ("heard", "kind", "first"),
    [(592, "broker-fenced: cut off", "broker-unreachable"), (612, "broker-fenced: silent", "host-starved")],
)
def test_a_fenced_broker_was_cut_off_where_its_heartbeats_had_failed_before_and_else_stood_still(heard, kind, first):
    fenced = episode("broker-fenced", 600, "controller.log", left=3, reason="its session has timed out")
    own = [
        episode(
            "error:kraft-heartbeat-lost", heard + n, "kafka-3/server.log", line=1 + n,
            text="[BrokerLifecycleManager id=3] Unable to send a heartbeat because the RPC got timed out",
        )
        for n in (0, 5)
    ]  # fmt: skip
    other = episode("error:kraft-heartbeat-lost", 598, "kafka-2/server.log", text="[BrokerLifecycleManager id=2]")
    kinds, _ = told(CONTROLLER, fenced, own)
    assert kind in kinds
    assert not any(known.startswith("broker-fenced") for known in told(CONTROLLER, fenced, other)[0])
    assert first in told(CONTROLLER, fenced)[1]


def renewed(*moments):
    """Peers that were connected at each minute, as ``host:port``."""
    return [
        Client(at(60 * n), "mqtt", None, None, peer, None, None, "ss.txt", n + 1, peer)
        for n, peers in enumerate(moments)
        for peer in peers.split()
    ]


@pytest.mark.parametrize(
    ("moments", "kinds"),
    [
        (("a:1 b:1 c:1", "a:2 b:2 c:2"), {"connections-renewed: all"}),
        (("a:1 c:1", "b:1 c:1", "a:2 c:1", "b:2 c:1"), {"connections-renewed: in turn"}),
        (("a:1 c:1", "a:2 c:1", "c:1", "a:3 c:1"), {"connections-renewed"}),
        (("a:1 c:1", "a:2 c:1", "a:2 b:1 c:1", "a:2 c:1"), set()),
    ],
)
def test_connections_made_anew_show_in_the_ports_of_their_hosts(moments, kinds):
    assert told(log("ss.txt", "ss"), renewed(*moments))[0] == kinds


@pytest.mark.parametrize(("again", "kinds"), [(40, {"retained-again"}), (0, set())])
def test_retained_messages_that_a_receiver_had_noted_before_are_replayed(again, kinds):
    assert told(Receipt(at(60), "received.csv", "received", 50, 50, 0, 50, again, 30.0, 1, 1))[0] == kinds


@pytest.mark.parametrize(("times", "kinds"), [([20, 90, 140], {"consume-slower"}), ([90, 20, 15], set())])
def test_members_that_take_longer_for_each_message_than_before_are_slow_and_not_those_that_warm_up(times, kinds):
    rows = series("rocketmq.consumer.consume_rt_ms", times, group="g", topic="t", client_id="c")
    found = told(log("status.txt", "rocketmq-admin"), rows)
    assert found[0] == kinds
    assert (found[1][0] == "slow-consumer") == bool(kinds)
