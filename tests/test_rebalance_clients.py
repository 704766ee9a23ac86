"""Rebalances of which the coordinator's log is not there, or names nobody: what clients tell, and no more."""

from dataclasses import replace

import pytest
from facts_builder import facts
from kafka_builder import GROUP, client, coordinator

from mqlab.kafka.rebalances import history
from mqlab.units import clock


def told(*rows):
    """clock, generation, trigger, behind and client of each rebalance."""
    found = history(facts(*rows), GROUP)
    return [f"{clock(r.started)} {r.generation} {r.trigger} <- {r.behind} ({r.client_id})" for r in found]


MOVED = "rebalance failed due to NotCoordinatorException"


def test_a_member_that_starts_while_the_coordinator_moves_joins():
    log = client("a", f"09:59:50 settings\n10:00:00 joining\n10:00:01 rejoining {MOVED}\n10:00:04 joined 1 {{a1}}")
    assert told(log) == ["10:00:00 1 join <- start (a)"]


def test_a_member_that_was_there_and_comes_again_for_it_tells_that_the_coordinator_moved():
    log = client("a", f"""
        09:59:50 settings
        10:00:00 joining
        10:00:04 joined 1 {{a1}}
        10:05:00 rejoining {MOVED}
        10:05:03 joined 2 {{a1}}
    """)  # fmt: skip
    assert told(log)[1] == "10:05:00 2 coordinator move <- unknown (a)"


LATE = client("a", """
    09:59:50 settings
    10:00:00 joining
    10:00:03 joined 1 {a1}
    10:00:03 got invoices-0
    10:00:40 timeout {a1}
    10:00:45 lost invoices-0
    10:00:45 joining
    10:00:48 joined 3 {a2}
    10:00:48 got invoices-0
""")  # fmt: skip


def test_a_generation_that_nobody_joined_was_empty_and_the_next_began_with_a_join():
    assert told(LATE) == ["10:00:00 1 join <- start (a)", "10:00:45 3 join <- poll timeout (a)"]


def test_where_others_met_at_once_the_leave_began_the_generation():
    other = client("b", """
        09:59:50 settings
        10:00:00 joining
        10:00:03 joined 1 {b1}
        10:00:42 joining
        10:00:43 joined 2 {b1}
        10:00:46 joining
        10:00:48 joined 3 {b1}
    """)  # fmt: skip
    assert told(LATE, other) == [
        "10:00:00 1 join <- start (a)",
        "10:00:42 2 poll timeout <- poll timeout (a)",
        "10:00:45 3 join <- poll timeout (a)",
    ]


def test_partitions_that_a_member_gives_up_when_it_closes_are_no_first_step_of_its_next_join():
    log = client("a", """
        09:59:50 settings
        10:00:00 joining
        10:00:03 joined 1 {a1}
        10:00:40 stopping
        10:00:40 revoked invoices-0
        10:00:40 leaving {a1} the consumer is being closed
        10:00:41 closed
        10:01:00 settings
        10:01:05 joining
        10:01:08 joined 3 {a2}
    """)  # fmt: skip
    other = client("b", """
        09:59:50 settings
        10:00:00 joining
        10:00:03 joined 1 {b1}
        10:00:43 joining
        10:00:44 joined 2 {b1}
        10:01:06 joining
        10:01:08 joined 3 {b1}
    """)  # fmt: skip
    assert told(log, other) == [
        "10:00:00 1 join <- start (a)",
        "10:00:43 2 leave <- restart (a)",
        "10:01:05 3 join <- restart (a)",
    ]


OUT = """
    09:59:50 settings
    10:00:00 joining
    10:00:03 joined 1 {a1}
    10:00:40 reset encountered UNKNOWN_MEMBER_ID
    10:00:40 lost invoices-0
    10:00:40 joining
    10:00:43 joined 3 {a2}
"""


def test_a_member_that_was_out_and_joins_again_is_no_new_one_and_nothing_tells_why_it_was_out():
    assert told(client("a", OUT))[1] == "10:00:40 3 join <- unknown (a)"


def test_another_process_of_the_same_name_is_a_new_one():
    first = "09:59:50 settings\n10:00:00 joining\n10:00:03 joined 1 {a1}"
    second = client("a", "10:00:30 settings\n10:00:40 joining\n10:00:43 joined 2 {a2}\n10:00:44 got", source="2/a.log")
    went_on = client("a", f"{first}\n10:00:42 joining\n10:00:43 joined 2 {{a1}}\n10:00:44 got", source="1/a.log")
    ended = client("a", first, source="1/a.log")
    assert told(went_on, second)[1] == "10:00:40 2 join <- start (a)"
    assert told(ended, second)[1] == "10:00:40 2 join <- crash (a)"


def exited(when, status):
    """The supervisor's line about a."""
    line = client("a", f"{when} exited {status}", source="supervisord.log")[0]
    return replace(line, system="os", reason="a", client_id=None)


AGAIN = """
    09:59:50 settings
    10:00:00 joining
    10:00:03 joined 1 {a1}
    10:01:00 settings
    10:01:02 joining
    10:01:05 joined 2 {a2}
    10:09:00 stopping
    10:09:00 closed
"""


@pytest.mark.parametrize(
    ("status", "behind"), [(137, "crash"), (1, "crash"), (0, "restart"), (143, "restart"), (None, "crash")]
)
def test_how_the_former_process_ended_is_told_by_its_exit_and_not_by_how_the_next_one_stops(status, behind):
    exits = () if status is None else (exited("10:00:50", status),)
    assert told(client("a", AGAIN), exits)[1] == f"10:01:02 2 join <- {behind} (a)"


NAMELESS = """
    10:00:00 new {1}
    10:00:00 bumped 1
    10:00:01 new {2}
    10:00:01 bumped 2
    10:01:00 left {1}
    10:01:00 bumped 3
    10:01:30 new {3}
    10:01:30 bumped 4
"""


def test_ids_of_kip_848_name_no_client_and_whoever_comes_after_one_left_may_be_that_one():
    rows = history(facts(coordinator(NAMELESS)), GROUP)
    assert [(clock(r.started), str(r.trigger), str(r.behind)) for r in rows] == [
        ("10:00:00", "join", "start"),
        ("10:00:01", "join", "start"),
        ("10:01:00", "leave", "unknown"),
        ("10:01:30", "join", "unknown"),
    ]
    assert rows[3].because == "no line names the client"


ADDED = "the assignment metadata has changed from (version28: t=4) to (version31: t=9)"


@pytest.mark.parametrize(
    ("line", "trigger"),
    [
        (f"10:05:00 rejoining {ADDED}", "subscription or metadata change"),
        ("10:05:00 rejoining cached metadata has changed from (version1: t=4)", "subscription or metadata change"),
        (f"10:04:00 rejoining {ADDED}", "unknown"),
        ("10:05:00 joining", "unknown"),
    ],
)
def test_why_a_member_joins_again_that_an_old_coordinator_only_names_is_told_by_its_own_log(line, trigger):
    lines = coordinator("""
        10:00:00 preparing 0 Adding new member {a1} with group instance id None
        10:00:03 assigned 1 1
        10:05:00 preparing 1 leader {a1} re-joining group during Stable
        10:05:01 assigned 2 1
    """)
    row = history(facts(lines, client("a", f"09:59:50 settings\n10:00:03 joined 1 {{a1}}\n{line}")), GROUP)[1]
    assert (str(row.trigger), row.client_id) == (trigger, "a")
