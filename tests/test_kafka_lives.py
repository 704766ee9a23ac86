"""Lives of the members of Kafka groups: from which lines they are known, how they ended, what their processes did."""

from dataclasses import replace

import pytest
from facts_builder import at, facts, series, settings
from kafka_builder import GROUP, client, coordinator, member

from mqlab.facts import Position
from mqlab.findings import Evidence
from mqlab.kafka.lives import lives
from mqlab.kafka.poll_limits import polls
from mqlab.kafka.rebalances import history
from mqlab.kafka.rows import End
from mqlab.rows import Batch
from mqlab.units import clock


def told(group_facts):
    """client, from, to, end of each life, and when its process began and stopped."""
    return [
        f"{life.client_id} {clock(life.since)}-{clock(life.until)} {life.end} "
        f"({clock(life.process_started)}-{clock(life.process_stopped)})"
        for life in lives(group_facts, GROUP)
    ]


JOINED = "10:00:00 preparing 0 Adding new member {a1} with group instance id None"
LEFT = "10:01:00 left {a1}"


def test_a_life_begins_with_the_coordinators_line_and_ends_with_it():
    assert told(facts(coordinator(f"{JOINED}\n{LEFT}"))) == ["a 10:00:00-10:01:00 left (—-—)"]


def test_a_member_of_which_only_the_end_is_told_was_there_before():
    assert told(facts(coordinator(LEFT))) == ["a —-10:01:00 left (—-—)"]


def test_a_member_that_joined_and_did_not_end_is_open():
    assert told(facts(coordinator(JOINED))) == ["a 10:00:00-— open (—-—)"]


def test_a_member_whose_join_the_coordinator_does_not_print_is_known_from_its_own_log():
    assert told(facts(coordinator(JOINED), client("b", "10:00:03 joined 1 {b1}"))) == [
        "a 10:00:00-— open (—-—)",
        "b 10:00:03-— open (—-—)",
    ]


@pytest.mark.parametrize(
    "lines",
    [
        "10:01:00 left {a1}\n10:01:00 preparing 1 removing member {a1} on LeaveGroup",
        "10:01:00 preparing 1 Removing member {a1} on LeaveGroup; client reason: not provided\n10:01:00 left {a1}",
        "10:01:00 empty 2\n10:01:00 preparing 1 explicit `LeaveGroup` request for ({a1}) members.\n10:01:00 left {a1}",
    ],
)
def test_one_end_is_one_life_in_whatever_order_the_coordinator_writes_its_lines(lines):
    assert told(facts(coordinator(f"{JOINED}\n{lines}"))) == ["a 10:00:00-10:01:00 left (—-—)"]


@pytest.mark.parametrize(
    ("line", "end"),
    [
        ("10:01:00 expired {a1}", End.EXPIRED),
        ("10:01:00 dropped {a1}", End.DROPPED),
        ("10:01:00 preparing 1 removing member {a1} on heartbeat expiration", End.EXPIRED),
        ("10:01:00 left {a1} consumer poll timeout has expired.", End.POLL_TIMEOUT),
        ("10:01:00 left {a1} the consumer is being closed", End.LEFT),
        ("10:01:00 replaced {a2} shop-0", End.OPEN),
    ],
)
def test_the_coordinators_line_tells_how_a_life_ended(line, end):
    assert lives(facts(coordinator(f"{JOINED}\n{line}")), GROUP)[0].end == end


def test_a_static_member_that_another_process_replaces_is_fenced():
    (line,) = coordinator("10:01:00 replaced {a2} shop-0")
    text = (
        f"Static member Some(shop-0) of group {GROUP} with unknown member id rejoins, assigning new member id "
        f"{member('a', 2)}, while old member id {member('a', 1)} will be removed."
    )
    line = replace(line, first=Evidence(line.source, 2, text))
    first, second = lives(facts(coordinator(JOINED), line), GROUP)
    assert (first.end, clock(first.until)) == (End.FENCED, "10:01:00")
    assert (second.member_id, second.static, clock(second.since)) == (member("a", 2), True, "10:01:00")


def test_a_static_members_id_names_its_instance_and_its_own_log_names_the_client():
    lines = coordinator("10:00:00 preparing 0 Adding new member {shop-0-1} with group instance id Some(shop-0)")
    log = client("a", "09:59:50 settings\n10:00:03 joined 1 {shop-0-1}\n10:01:00 stopping")
    assert told(facts(lines, log)) == ["a 10:00:00-— open (09:59:50-10:01:00)"]
    assert [row.client_id for row in history(facts(lines, log), GROUP)] == ["a"]
    assert [row.client_id for row in history(facts(lines), GROUP)] == ["shop-0"]


@pytest.mark.parametrize(
    ("log", "end"),
    [
        ("10:00:59 timeout {a1}", End.POLL_TIMEOUT),
        ("10:00:59 timeout", End.POLL_TIMEOUT),
        ("10:00:40 timeout", End.LEFT),
        ("10:00:59 timeout {a7}", End.LEFT),
        ("10:00:59 stopping", End.LEFT),
    ],
)
def test_a_leave_is_a_poll_timeout_where_the_clients_log_says_so_at_about_that_time(log, end):
    rows = lives(facts(coordinator(f"{JOINED}\n{LEFT}"), client("a", log)), GROUP)
    assert next(life.end for life in rows if life.member_id == member("a", 1)) == end


def test_two_lines_of_one_poll_timeout_are_one():
    log = client("a", "10:00:59 timeout\n10:00:59 timeout {a1}")
    assert told(facts(coordinator(f"{JOINED}\n{LEFT}"), log)) == ["a 10:00:00-10:01:00 poll timeout (—-—)"]


def test_a_poll_timeout_that_the_next_poll_tells_of_is_not_the_end_of_a_later_life_that_was_stopped():
    broker = f"{JOINED}\n{LEFT}\n10:01:06 preparing 2 Adding new member {{a2}} with group\n10:01:12 left {{a2}}"
    log = "10:01:06 timeout\n10:01:08 got invoices-0\n10:01:11 stopping"
    rows = lives(facts(coordinator(broker), client("a", log)), GROUP)
    assert [life.end for life in rows if life.client_id == "a"] == [End.POLL_TIMEOUT, End.LEFT]


def test_a_process_that_starts_prints_its_settings_before_it_joins_and_says_that_it_stops():
    log = client(
        "a", "09:59:50 settings\n09:59:55 starting\n10:00:03 joined 1 {a1}\n10:00:58 stopping\n10:01:00 closed"
    )
    assert told(facts(coordinator(f"{JOINED}\n{LEFT}"), log)) == ["a 10:00:00-10:01:00 left (09:59:50-10:00:58)"]


def test_a_member_that_comes_again_in_the_same_process_has_no_start_of_its_own():
    again = "10:01:20 preparing 2 Adding new member {a2} with group instance id None"
    log = client("a", "09:59:50 settings\n10:00:03 joined 1 {a1}\n10:01:20 joining")
    assert told(facts(coordinator(f"{JOINED}\n{LEFT}\n{again}"), log)) == [
        "a 10:00:00-10:01:00 left (09:59:50-—)",
        "a 10:01:20-— open (—-—)",
    ]


def test_in_a_log_of_several_clients_a_line_is_about_those_that_it_names():
    source = "clients/fleet.log"
    both = (
        *client("a", "10:00:03 joined 1 {a1}\n10:00:59 leaving {a1} the consumer is being closed", source=source),
        *client("b", "10:00:03 joined 1 {b1}", source=source),
    )
    rows = {life.client_id: life for life in lives(facts(coordinator(f"{JOINED}\n{LEFT}"), both), GROUP)}
    assert clock(rows["a"].process_stopped) == "10:00:59"
    assert rows["b"].process_stopped is None


def test_lines_of_another_group_are_no_lives_of_this_one():
    other = coordinator("10:00:00 preparing 0 Adding new member {x1} with group instance id None", group="other")
    assert lives(facts(other), GROUP) == ()


def test_a_kip_848_member_that_comes_back_with_its_id_has_two_lives():
    lines = "10:00:00 new {1}\n10:01:00 left {1}\n10:01:30 new {1}"
    rows = lives(facts(coordinator(lines)), GROUP)
    assert [(life.member_id, clock(life.since), clock(life.until)) for life in rows] == [
        (member("", 1), "10:00:00", "10:01:00"),
        (member("", 1), "10:01:30", "—"),
    ]


def test_snapshots_tell_the_client_and_the_address_of_a_member_id_that_names_none():
    snapshot = Position(
        at(30), GROUP, "t", "0", 1, 2, None, "shop", member("", 1), "/10.0.0.7", "groups.txt", 3, ""
    )  # fmt: skip
    (life,) = lives(facts(coordinator("10:00:00 new {1}"), snapshot), GROUP)
    assert (life.client_id, life.host) == ("shop", "10.0.0.7")


def worked(*ends):
    """Batches of half a second that end at these seconds since 10:00."""
    return [
        Batch(at(end), "a", GROUP, 1, 10, 0.5, 0.5, 10, "clients/a.log", 50 + n, "processed")
        for n, end in enumerate(ends)
    ]


def test_a_member_that_was_there_before_and_stopped_before_it_expired_had_been_stopped():
    ended = client("a", "09:59:00 joined 1 {a1}\n10:00:25 stopping\n10:00:25 closed")[1:]
    again = client("a", "10:00:10 closed\n10:00:12 settings\n10:00:15 joined 1 {a1}")[:2]

    assert told(facts(coordinator("10:01:00 expired {a1}"), ended)) == ["a —-10:01:00 expired (—-10:00:25)"]
    assert told(facts(coordinator("10:01:00 expired {a1}"), again)) == ["a —-10:01:00 expired (—-—)"]


EXPIRED = coordinator(f"{JOINED}\n10:01:00 expired {{a1}}")
SESSION = settings("""
    at        owner  key                 value
    09:59:50  a      session.timeout.ms  10000
""", scope="consumer", source="clients/a.log")  # fmt: skip
LOG = client("a", "09:59:50 settings\n10:00:03 joined 1 {a1}")


def test_a_member_that_was_silent_before_it_expired_was_silent_since_its_last_line():
    (life,) = lives(facts(EXPIRED, SESSION, LOG, worked(*range(10, 51, 2))), GROUP)
    assert clock(life.silent_since) == "10:00:50"


def test_a_log_that_writes_to_the_end_or_seldom_shows_no_silence():
    assert lives(facts(EXPIRED, SESSION, LOG, worked(*range(10, 60, 2))), GROUP)[0].silent_since is None
    assert lives(facts(EXPIRED, SESSION, LOG, worked(10, 20, 30, 40, 50)), GROUP)[0].silent_since is None


def test_counters_that_stop_show_a_silence_too():
    counter = series("consumer.records_consumed", [*range(0, 26), *[25] * 10], step=2, client_id="a")
    (life,) = lives(facts(EXPIRED, SESSION, LOG, counter), GROUP)
    assert clock(life.silent_since) == "10:00:50"


def test_a_log_that_names_clients_only_in_its_words_tells_of_their_stops():
    fleet = [
        replace(line, client_id=None, first=Evidence(line.source, 3, f"INFO {name}: stopping"))
        for name, clock_ in (("a", "10:00:59"), ("a-2", "10:00:10"))
        for line in client(name, f"{clock_} stopping", source="clients/fleet.log")
    ]
    rows = lives(facts(coordinator(f"{JOINED}\n{LEFT}"), fleet), GROUP)
    assert [(life.client_id, clock(life.process_stopped)) for life in rows] == [("a", "10:00:59")]


def test_a_poll_of_a_client_of_two_groups_is_that_of_the_group_its_log_names_else_of_both():
    snapshots = [
        Position(at(30), group, "t", "0", 1, 2, None, "a", member("a", 1), "/10.0.0.7", "groups.txt", 3, "")
        for group in (GROUP, "audit")
    ]
    named, unnamed = (
        Batch(at(end), "a", group, 1, 10, 0.5, 0.5, 10, "app/a.log", end, "processed")
        for end, group in ((40, "audit"), (50, None))
    )
    made = facts(*snapshots, named, unnamed)
    assert [batch.line for batch in polls(made, GROUP)] == [50]
    assert [batch.line for batch in polls(made, "audit")] == [40, 50]
