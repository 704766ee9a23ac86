"""Who was in a group: by the list of connections, by the broker's log and by the clients' own logs."""

from facts_builder import at, episode, facts
from group_builder import GROUP, allocated, broker_log, connected, listing

from mqlab.rocketmq.members import groups, streams


def seen(*rows):
    """(how, [(seconds, ids)]) of each source."""
    known = facts(*rows)
    return {s.how: [(round(one.at - at(0)), one.ids) for one in s.snapshots] for s in streams(known, GROUP)}


def test_a_listing_is_one_snapshot_with_every_row():
    lists = (*listing(0, "A@9 10.0.0.1:1", "A@9 10.0.0.2:1"), *listing(20, "A@9 10.0.0.1:1"))
    assert seen(lists) == {"listing": [(0, ("A@9", "A@9")), (20, ("A@9",))]}


def test_the_brokers_log_is_followed_from_line_to_line():
    rows = (
        connected(0, "A@9", "10.0.0.1:1"), connected(5, "B@9", "10.0.0.2:1"),
        connected(30, "A@9", "10.0.0.1:1", kind="consumer-disconnected"), broker_log(),
    )  # fmt: skip
    assert seen(*rows) == {"broker log": [(0, ("A@9",)), (5, ("A@9", "B@9")), (30, ("B@9",))]}


def test_a_connection_that_expired_is_told_by_its_address_only():
    rows = (connected(0, "A@9", "10.0.0.1:1"), connected(5, "A@9", "10.0.0.2:1"))
    gone = connected(120, None, "10.0.0.1:1", kind="consumer-disconnected")
    assert seen(*rows, gone)["broker log"][-1] == (120, ("A@9",))


def test_a_broker_that_starts_knows_nobody():
    started = episode("rocketmq-broker-started", 20, "logs/broker-a/broker.log", system="rocketmq")
    assert seen(connected(0, "A@9", "10.0.0.1:1"), started)["broker log"] == [(0, ("A@9",)), (20, ())]


def test_a_process_has_its_id_until_it_stops_or_its_log_ends():
    stopped = episode("consumer-stopped", 50, "logs/clients/h1/rocketmq_client.log", system="rocketmq", group=GROUP)
    later = episode("membership-notified", 90, "logs/clients/h2/rocketmq_client.log", system="rocketmq")
    rows = (allocated(0, "A@9", "h1", ()), allocated(10, "B@9", "h2", ()), stopped, later)
    assert seen(*rows) == {"client logs": [(0, ("A@9",)), (10, ("A@9", "B@9")), (50, ("B@9",)), (90, ())]}


def test_groups_are_named_by_anything_that_names_one():
    other = listing(0, "A@9 10.0.0.1:1", group="other")
    assert groups(facts(connected(0, "A@9", "10.0.0.1:1"), other)) == (GROUP, "other")
