"""The history of a Kafka group's rebalances, drawn from lines of coordinators and clients of each version."""

from dataclasses import replace

import pytest
from facts_builder import at, facts, positions, settings
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st
from kafka_builder import GROUP, TOPIC, client, coordinator, held, member

from mqlab.findings import Evidence
from mqlab.kafka.log_lines import CLIENT, COORDINATOR, PROCESS, client_of, members_in, trigger_of
from mqlab.kafka.rebalance_costs import standstills
from mqlab.kafka.rebalances import history
from mqlab.kafka.rows import Behind, Trigger
from mqlab.rows import Delivery, Part
from mqlab.units import clock

ONE = "a-1b671a64-40d5-491e-99b0-da01ff1f3341"


@pytest.mark.parametrize(
    ("reason", "trigger"),
    [
        (f"Adding new member {ONE}", "join"),
        (f"Adding new member {ONE} with group instanceid None", "join"),
        (f"Adding new member {ONE} with group instance id None", "join"),
        (f"Adding new member {ONE} with group instance id null; client reason: not provided", "join"),
        (f"Adding new member {ONE} with group instance id None; client reason: rebalance failed due to "
         "NotCoordinatorException", "join"),
        (f"removing member {ONE} on LeaveGroup", "leave"),
        (f"Removing member {ONE} on LeaveGroup; client reason: the consumer is being closed", "leave"),
        (f"Removing member {ONE} on LeaveGroup; client reason: consumer poll timeout has expired.", "poll timeout"),
        (f"explicit `LeaveGroup` request for ({ONE}) members.", "leave"),
        (f"removing member {ONE} on heartbeat expiration", "heartbeat expiry"),
        (f"Updating metadata for member {ONE} during Stable; client reason: cached metadata has changed from",
         "subscription or metadata change"),
        (f"Member {ONE} joining group during Stable; client reason: need to revoke partitions and re-join",
         "cooperative follow-up"),
        (f"Leader {ONE} re-joining group during Stable; client reason: rebalance failed due to "
         "NotCoordinatorException", "coordinator move"),
        ("Group's selectedProtocol will change because static member x", "static member fenced"),
        (f"Updating metadata for member {ONE}", "unknown"),
        (f"Removing Set({ONE}) on pending sync request expiration", "unknown"),
        (None, "unknown"),
    ],
)  # fmt: skip
def test_the_words_of_each_version_say_what_began_a_rebalance(reason, trigger):
    assert str(trigger_of(reason)) == trigger


@pytest.mark.parametrize(
    ("id_", "client_id"),
    [
        (ONE, "a"),
        ("billing-7-1b671a64-40d5-491e-99b0-da01ff1f3341", "billing-7"),
        ("1b671a64-40d5-491e-99b0-da01ff1f3341", None),
        ("j1VGU6MqTOSUYAlDFhCYJw", None),
        (None, None),
    ],
)
def test_a_member_id_of_the_classic_protocol_begins_with_the_client_id(id_, client_id):
    assert client_of(id_) == client_id


def test_a_line_about_several_members_names_all_of_them():
    assert members_in(f"explicit `LeaveGroup` request for ({ONE}, b{ONE[1:]}) members.") == (ONE, f"b{ONE[1:]}")
    name = "x." * 200_000  # tried from each of its letters, this would not end
    assert members_in(f"{name} {name}{ONE}") == (f"{name}{ONE}",)


def told(group_facts):
    """clock, generation, trigger, behind and client of each rebalance."""
    rows = history(group_facts, GROUP)
    return [f"{clock(r.started)} {r.generation} {r.trigger} <- {r.behind} ({r.client_id})" for r in rows]


LOOP_2_8 = coordinator("""
    10:00:00 preparing 0 Adding new member {a1} with group instance id None
    10:00:03 stable 1 2
    10:00:03 assigned 1 2
    10:01:00 left {a1}
    10:01:00 preparing 1 removing member {a1} on LeaveGroup
    10:01:01 left {b1}
    10:01:01 empty 2
    10:01:20 preparing 2 Adding new member {a2} with group instance id None
    10:01:23 stable 3 1
    10:01:23 assigned 3 1
    10:01:30 preparing 3 Adding new member {b2} with group instance id None
    10:01:38 left {a2}
    10:01:38 stable 4 1
    10:01:38 assigned 4 1
""")
A_2_8 = client("a", """
    09:59:50 settings
    09:59:51 starting
    10:00:00 joining
    10:00:03 joined 1 {a1}
    10:00:03 got invoices-0
    10:01:00 timeout {a1}
    10:01:19 failed
    10:01:19 lost invoices-0
    10:01:19 joining
    10:01:23 joined 3 {a2}
    10:01:23 got invoices-0, invoices-1
    10:01:38 timeout {a2}
""")  # fmt: skip
B_2_8 = client("b", """
    09:59:50 settings
    10:00:00 joining
    10:00:03 joined 1 {b1}
    10:00:03 got invoices-1
    10:01:01 timeout {b1}
    10:01:29 failed
    10:01:29 lost invoices-1
    10:01:29 joining
    10:01:38 joined 4 {b2}
    10:01:38 got invoices-0, invoices-1
""")  # fmt: skip


def test_in_a_loop_of_poll_timeouts_most_rebalances_look_like_joins_and_the_timeout_is_behind_them():
    assert told(facts(LOOP_2_8, A_2_8, B_2_8)) == [
        "10:00:00 1 join <- start (a)",
        "10:01:00 2 poll timeout <- poll timeout (a)",
        "10:01:20 3 join <- poll timeout (a)",
        "10:01:30 4 join <- poll timeout (b)",
    ]


def test_a_rebalance_tells_members_moves_and_standstill():
    rows = history(
        facts(
            LOOP_2_8,
            A_2_8,
            B_2_8,
            held("10:00:03", ("{a1}", "0"), ("{b1}", "1")),
            held("10:01:23", ("{a2}", "0 1")),
            held("10:01:38", ("{b2}", "0 1"), source="clients/b.log"),
        ),
        GROUP,
    )
    assert [(r.members_before, r.members_after, r.moved, round(r.standstill)) for r in rows] == [
        (0, 2, None, 3),
        (2, 0, None, 23),
        (0, 1, 1, 3),
        (1, 1, 2, 8),
    ]
    assert [(round(b - a), clock(a)) for a, b in standstills(rows)] == [
        (3, "10:00:00"), (23, "10:01:00"), (8, "10:01:30")
    ]  # fmt: skip
    assert rows[1].empty
    assert not rows[2].empty


def test_without_the_leaders_log_moves_are_told_by_what_each_member_got():
    rows = history(facts(LOOP_2_8, A_2_8, B_2_8), GROUP)
    assert [r.moved for r in rows] == [None, None, 1, 2]


def test_without_the_logs_of_all_members_moves_are_not_told():
    assert [r.moved for r in history(facts(LOOP_2_8, A_2_8), GROUP)][:2] == [None, None]
    assert [r.moved for r in history(facts(LOOP_2_8), GROUP)] == [None] * 4


def test_without_logs_of_clients_a_leave_is_only_a_leave():
    assert told(facts(LOOP_2_8)) == [
        "10:00:00 1 join <- start (a)",
        "10:01:00 2 leave <- unknown (a)",
        "10:01:20 3 join <- unknown (a)",
        "10:01:30 4 join <- unknown (b)",
    ]


def test_the_evidence_of_a_rebalance_is_the_coordinators_line_first_and_then_the_clients():
    row = history(facts(LOOP_2_8, A_2_8, B_2_8), GROUP)[1]
    assert [(e.source, e.line) for e in row.evidence[:2]] == [("logs/server.log", 5), ("clients/a.log", 6)]
    assert (row.inferred, row.because) == (True, "the client's own log says so")


def test_a_client_of_3_2_says_why_it_left_and_nothing_has_to_be_concluded():
    rows = history(
        facts(
            coordinator("""
                10:00:00 preparing 0 Adding new member {a1} with group instance id None
                10:00:03 stable 1 1
                10:00:03 assigned 1 1
                10:01:00 preparing 1 Removing {a1} on LeaveGroup; client reason: consumer poll timeout has expired.
                10:01:00 left {a1} consumer poll timeout has expired.
                10:01:00 empty 2
            """)
        ),
        GROUP,
    )  # fmt: skip
    assert [(r.trigger, r.behind, r.inferred) for r in rows][1:] == [(Trigger.POLL_TIMEOUT, Behind.POLL_TIMEOUT, False)]


SILENT = coordinator("""
    10:00:00 preparing 0 Adding new member {a1} with group instance id None
    10:00:03 stable 1 1
    10:00:03 assigned 1 1
    10:00:23 left {a1}
    10:00:23 preparing 1 removing member {a1} on LeaveGroup
    10:00:23 empty 2
    10:00:50 preparing 2 Adding new member {a2} with group instance id None
    10:00:53 stable 3 1
    10:00:53 assigned 3 1
""")


def old(text):
    """The log of a client of 0.10, which names neither client nor member."""
    return client("a", text, printed=False, unnamed=True)


STARTED = """
    09:59:50 settings
    09:59:59 joining
    10:00:03 joined 1
    10:00:03 got invoices-0
"""
AT_20 = settings("""
    at        owner  key                    value
    09:59:50  a      max.poll.interval.ms   20000
""", scope="consumer", source="clients/a.log")  # fmt: skip


def test_a_client_of_0_10_leaves_without_a_word_and_its_failed_commit_tells_of_it():
    log = old(f"{STARTED}\n10:00:49 failed\n10:00:49 revoked invoices-0\n10:00:49 joining\n10:00:53 joined 3")
    rows = history(facts(SILENT, log, AT_20), GROUP)
    assert [(r.trigger, r.behind, r.inferred) for r in rows[1:]] == [
        (Trigger.POLL_TIMEOUT, Behind.POLL_TIMEOUT, True),
        (Trigger.JOIN, Behind.POLL_TIMEOUT, True),
    ]
    assert rows[1].because == (
        "it left 20.0 s after its last poll (max.poll.interval.ms), while its process was still working and "
        "noticed only afterwards"
    )


def test_a_client_that_stops_leaves_too_and_is_no_poll_timeout():
    log = old(f"{STARTED}\n10:00:22 stopping\n10:00:23 closed\n10:00:40 settings\n10:00:49 joining\n10:00:53 joined 3")
    assert told(facts(SILENT, log, AT_20))[1:] == ["10:00:23 2 leave <- restart (a)", "10:00:50 3 join <- restart (a)"]


def test_without_its_log_the_interval_alone_tells_of_a_client_that_left_when_its_time_was_up():
    assert told(facts(SILENT, AT_20))[1:] == [
        "10:00:23 2 poll timeout <- poll timeout (a)",
        "10:00:50 3 join <- poll timeout (a)",
    ]
    assert told(facts(SILENT, replace(AT_20[0], value="15000")))[1] == "10:00:23 2 leave <- unknown (a)"


DEPLOY = coordinator("""
    10:00:00 preparing 0 Adding new member {a1} with group instance id None
    10:00:03 stable 1 2
    10:00:03 assigned 1 2
    10:01:00 left {a1}
    10:01:00 preparing 1 removing member {a1} on LeaveGroup
    10:01:02 stable 2 1
    10:01:02 assigned 2 1
    10:01:20 preparing 2 Adding new member {a2} with group instance id None
    10:01:22 stable 3 2
    10:01:22 assigned 3 2
    10:02:00 left {b1}
    10:02:00 preparing 3 removing member {b1} on LeaveGroup
    10:02:01 stable 4 1
    10:02:01 assigned 4 1
    10:09:00 left {a2}
    10:09:00 preparing 4 removing member {a2} on LeaveGroup
    10:09:00 empty 5
""")
DEPLOYED = client("a", """
    09:59:50 settings
    10:00:03 joined 1 {a1}
    10:00:59 stopping
    10:01:00 leaving {a1} the consumer is being closed
    10:01:00 closed
    10:01:15 settings
    10:01:16 starting
    10:01:22 joined 3 {a2}
    10:08:59 stopping
    10:09:00 closed
"""), client("b", """
    09:59:50 settings
    10:00:03 joined 1 {b1}
    10:01:59 stopping
    10:02:00 closed
""")  # fmt: skip


def test_a_deploy_is_stops_and_restarts():
    assert told(facts(DEPLOY, DEPLOYED)) == [
        "10:00:00 1 join <- start (a)",
        "10:01:00 2 leave <- restart (a)",
        "10:01:20 3 join <- restart (a)",
        "10:02:00 4 leave <- stop (b)",
        "10:09:00 5 leave <- stop (a)",
    ]


FROZEN = coordinator("""
    10:00:00 preparing 0 Adding new member {a1} with group instance id None
    10:00:03 stable 1 2
    10:00:03 assigned 1 2
    10:01:00 expired {a1}
    10:01:00 preparing 1 removing member {a1} on heartbeat expiration
    10:01:02 stable 2 1
    10:01:02 assigned 2 1
    10:01:20 preparing 2 Adding new member {a2} with group instance id None
    10:01:22 stable 3 2
    10:01:22 assigned 3 2
""")


@pytest.mark.parametrize(
    ("then", "behind"),
    [
        (
            "10:01:19 reset encountered UNKNOWN_MEMBER_ID\n10:01:19 lost invoices-0\n10:01:19 joining",
            "heartbeat expiry",
        ),
        ("10:01:15 settings\n10:01:16 starting\n10:01:19 joining", "crash"),
        ("10:00:50 stopping\n10:00:52 settings\n10:01:10 joining", "restart"),
        ("10:00:55 exited 137\n10:01:15 settings\n10:01:19 joining", "crash"),
        ("10:00:55 stopping\n10:00:55 closed\n10:01:15 settings\n10:01:19 joining", "restart"),
    ],
)
def test_behind_an_expiry_is_a_silence_a_crash_or_a_stop_without_a_word(then, behind):
    log = client("a", f"09:59:50 settings\n10:00:03 joined 1 {{a1}}\n10:00:03 got invoices-0\n{then}")
    rows = history(facts(FROZEN, log), GROUP)
    assert [(r.trigger, str(r.behind)) for r in rows[1:]] == [
        (Trigger.HEARTBEAT_EXPIRY, behind),
        (Trigger.JOIN, behind),
    ]


def test_without_its_log_a_member_that_was_given_up_is_an_expiry_and_no_more():
    assert told(facts(FROZEN))[1:] == [
        "10:01:00 2 heartbeat expiry <- heartbeat expiry (a)",
        "10:01:20 3 join <- heartbeat expiry (a)",
    ]


def test_a_process_that_joins_again_before_the_coordinator_gave_up_the_old_one_had_crashed():
    rows = told(
        facts(
            coordinator("""
                10:00:00 preparing 0 Adding new member {a1} with group instance id None
                10:00:03 stable 1 1
                10:00:03 assigned 1 1
                10:01:05 preparing 1 Adding new member {a2} with group instance id None
                10:01:10 expired {a1}
                10:01:10 stable 2 1
                10:01:10 assigned 2 1
            """),
            client("a", "09:59:50 settings\n10:00:03 joined 1 {a1}\n10:01:03 settings\n10:01:10 joined 2 {a2}"),
        )
    )
    assert rows[1:] == ["10:01:05 2 join <- crash (a)"]


def test_one_client_id_in_two_processes_is_no_process_that_came_again():
    rows = told(
        facts(
            coordinator("""
                10:00:00 preparing 0 Adding new member {a1} with group instance id None
                10:00:03 stable 1 1
                10:00:03 assigned 1 1
                10:01:05 preparing 1 Adding new member {a2} with group instance id None
                10:01:08 stable 2 2
                10:01:08 assigned 2 2
            """)
        )
    )
    assert rows == ["10:00:00 1 join <- start (a)", "10:01:05 2 join <- start (a)"]


def test_a_join_whose_past_is_not_in_the_material_is_not_a_start():
    late = coordinator("""
        10:01:20 preparing 7 Adding new member {a2} with group instance id None
        10:01:23 stable 8 1
        10:01:23 assigned 8 1
    """)
    assert told(facts(late)) == ["10:01:20 8 join <- unknown (a)"]
    log = client("a", "10:01:15 settings\n10:01:23 joined 8 {a2}")
    assert told(facts(late, log)) == ["10:01:20 8 join <- unknown (a)"]


def test_who_was_not_there_for_as_long_as_processes_take_to_come_back_is_new():
    lines = "{}\n10:09:20 preparing 8 Adding new member {{a1}}\n10:09:23 assigned 9 2"
    log = client("a", "10:09:15 settings\n10:09:23 joined 9 {a1}")
    before = "10:{}:00 preparing 7 removing member {{b1}} on LeaveGroup\n10:{}:01 assigned 8 1"
    assert told(facts(coordinator(lines.format(before.format("04", "04"))), log))[1] == "10:09:20 9 join <- start (a)"
    assert told(facts(coordinator(lines.format(before.format("05", "05"))), log))[1] == "10:09:20 9 join <- unknown (a)"


COOPERATIVE = coordinator("""
    10:00:00 preparing 0 Adding new member {a1} with group instance id None
    10:00:03 stable 1 1
    10:00:03 assigned 1 1
    10:01:00 preparing 1 Adding new member {b1} with group instance id None
    10:01:02 stable 2 2
    10:01:02 assigned 2 2
    10:01:03 preparing 2 Updating metadata for member {a1}
    10:01:04 stable 3 2
    10:01:04 assigned 3 2
""")


def test_the_second_half_of_a_cooperative_rebalance_belongs_to_the_first():
    log = client("a", """
        09:59:50 settings
        10:00:03 joined 1 {a1} cooperative
        10:00:03 got invoices-0, invoices-1
        10:01:02 joined 2 {a1}
        10:01:02 revoked invoices-1
        10:01:02 got
        10:01:03 rejoining need to revoke partitions and re-join
        10:01:04 joined 3 {a1}
        10:01:04 got
    """)  # fmt: skip
    other = client("b", "10:00:50 settings\n10:01:02 joined 2 {b1}\n10:01:02 got\n10:01:04 got invoices-1")
    rows = history(facts(COOPERATIVE, log, other), GROUP)
    assert [(r.trigger, r.behind, r.story, r.standstill) for r in rows] == [
        (Trigger.JOIN, Behind.START, 1, 0.0),
        (Trigger.JOIN, Behind.START, 2, 2.0),
        (Trigger.FOLLOW_UP, Behind.START, 2, 0.0),
    ]
    assert [r.moved for r in rows] == [None, 0, 1]


def test_a_member_that_joins_again_without_a_reason_is_no_follow_up_in_an_eager_group():
    rows = history(facts(COOPERATIVE, client("a", "09:59:50 settings\n10:00:03 joined 1 {a1}")), GROUP)
    assert [(r.trigger, r.story) for r in rows][2] == (Trigger.UNKNOWN, 3)


def test_a_line_that_says_follow_up_needs_no_log_of_a_client():
    lines = coordinator("""
        10:01:00 preparing 1 Adding new member {b1} with group instance id None; client reason: not provided
        10:01:02 assigned 2 2
        10:01:03 preparing 2 Leader {a1} re-joining group; client reason: need to revoke partitions and re-join
        10:01:04 assigned 3 2
    """)  # fmt: skip
    rows = history(facts(lines), GROUP)
    assert [(r.trigger, r.story, r.inferred) for r in rows] == [
        (Trigger.JOIN, 1, False),
        (Trigger.FOLLOW_UP, 1, False),
    ]


def test_a_static_member_that_stops_expires_without_a_word():
    lines = coordinator("""
        10:00:00 preparing 0 Adding new member {a1} with group instance id Some(shop-0)
        10:00:03 stable 1 1
        10:00:03 assigned 1 1
        10:01:10 expired {a1}
        10:01:10 preparing 1 removing member {a1} on heartbeat expiration
        10:01:10 empty 2
    """)
    log = client("a", "09:59:50 settings\n10:00:03 joined 1 {a1}\n10:01:00 stopping\n10:01:00 closed")
    row = history(facts(lines, log), GROUP)[1]
    assert (row.trigger, row.behind) == (Trigger.HEARTBEAT_EXPIRY, Behind.STOP)
    assert row.because == (
        "a static member does not announce its stop; its process stopped; no restart soon after is in the material"
    )


def test_each_epoch_of_a_kip_848_group_is_a_row_and_a_member_comes_back_with_its_id():
    text = """
        10:00:00 new {1}
        10:00:00 bumped 1
        10:00:00 target 1
        10:01:00 left {1}
        10:01:00 bumped 2
        10:01:30 new {1}
        10:01:30 bumped 3
        10:05:00 bumped 4
    """
    one = member("", 1)
    log = client("a", """
        09:59:58 settings
        10:00:01 got invoices-0
        10:01:00 timeout {1}
        10:01:31 got invoices-0
    """)  # fmt: skip
    rows = history(facts(coordinator(text), log), GROUP)
    assert rows[1].member_id == one
    assert [(r.generation, r.trigger, r.behind, clock(r.stabilised)) for r in rows] == [
        (1, Trigger.JOIN, Behind.START, "10:00:01"),
        (2, Trigger.POLL_TIMEOUT, Behind.POLL_TIMEOUT, "—"),
        (3, Trigger.JOIN, Behind.POLL_TIMEOUT, "10:01:31"),
        (4, Trigger.SUBSCRIPTION, Behind.UNKNOWN, "—"),
    ]


def test_without_the_coordinators_log_the_clients_tell_of_the_generations():
    rows = history(facts(A_2_8, B_2_8), GROUP)
    assert [(clock(r.started), r.generation, r.trigger, r.behind, r.inferred) for r in rows] == [
        ("10:00:00", 1, Trigger.JOIN, Behind.START, True),
        ("10:01:19", 3, Trigger.JOIN, Behind.POLL_TIMEOUT, True),
        ("10:01:29", 4, Trigger.JOIN, Behind.POLL_TIMEOUT, True),
    ]


def test_a_rebalance_that_the_coordinator_tells_of_is_not_told_again_by_the_clients():
    assert len(history(facts(LOOP_2_8, A_2_8, B_2_8), GROUP)) == 4


def test_a_dump_of_the_offsets_topic_tells_of_generations_and_of_nothing_that_is_known_already():
    dump = coordinator(
        "10:00:04 record 1 1\n10:01:00 record 2 2\n10:01:00 record 2 2\n10:02:00 record 3 0", source="dump.txt"
    )
    rows = history(facts(dump, client("a", "09:59:50 settings\n10:00:01 joining\n10:00:04 joined 1 {a1}")), GROUP)
    assert [(clock(r.started), clock(r.stabilised), r.generation, r.trigger, r.members_after) for r in rows] == [
        ("10:00:01", "10:00:04", 1, Trigger.JOIN, None),
        ("10:01:00", "10:01:00", 2, Trigger.UNKNOWN, 2),
        ("10:02:00", "—", 3, Trigger.UNKNOWN, 0),
    ]


def test_records_that_come_in_during_a_standstill_are_counted_from_positions():
    rows = history(
        facts(
            FROZEN,
            positions(f"""
                at        group    topic    queue  committed  end
                09:59:00  {GROUP}  {TOPIC}  0      0          0
                10:02:00  {GROUP}  {TOPIC}  0      0          18000
            """),
        ),
        GROUP,
    )
    assert [r.delayed for r in rows] == [300, 200, 200]


def test_records_that_came_in_are_not_told_where_no_snapshot_is_around():
    rows = history(
        facts(FROZEN, positions(f"at group topic queue committed end\n10:01:01 {GROUP} {TOPIC} 0 0 5")), GROUP
    )
    assert [r.delayed for r in rows] == [None, None, None]


def kept(source):
    """A ledger of what was handled of the topic, of which nothing tells whose it is."""
    place = Evidence(source, 1, "")
    return Part(source, "processed", "name", None, None, TOPIC, "0", 9, 9, 0, 8, None, None, place, place)


def test_records_that_several_ledgers_note_were_repeated_after_the_next_rebalance():
    ledger = ("clients/a.csv", "clients/b.csv")
    rows = history(
        facts(
            FROZEN,
            held("10:00:03", ("{a1}", "0")),
            Delivery(at("10:00:30"), TOPIC, "0", ledger, 7),
            Delivery(at("10:01:10"), TOPIC, "0", ledger[:1], 9),
            *map(kept, ledger),
        ),
        GROUP,
    )
    assert [r.repeated for r in rows] == [0, 7, 0]


def test_a_ledger_of_a_topic_that_two_groups_read_says_nothing():
    rows = history(
        facts(
            FROZEN,
            held("10:00:03", ("{a1}", "0")),
            held("10:00:03", ("{x1}", "0"), group="other"),
            Delivery(at("10:00:30"), TOPIC, "0", ("x.csv", "y.csv"), 7),
            kept("x.csv"),
            kept("y.csv"),
        ),
        GROUP,
    )
    assert [r.repeated for r in rows] == [None, None, None]


WORDS = st.sampled_from(
    ["preparing {n} Adding new member {{{c}{m}}}", "preparing {n} removing member {{{c}{m}}} on LeaveGroup",
     "preparing {n} removing member {{{c}{m}}} on heartbeat expiration",
     "preparing {n} Updating metadata for {{{c}{m}}}",
     "stable {n} {m}", "assigned {n} {m}", "empty {n}", "left {{{c}{m}}}", "expired {{{c}{m}}}", "dropped {{{c}{m}}}",
     "new {{{c}{m}}}", "bumped {n}", "target {n}"]
)  # fmt: skip
SAID = st.sampled_from(
    ["settings", "starting", "stopping", "closed", "joining", "joined {n} {{{c}{m}}}", "synced {n} {{{c}{m}}}",
     "got t-0, t-1", "revoked t-0", "lost t-1", "timeout {{{c}{m}}}", "leaving {{{c}{m}}} the consumer is being closed",
     "failed", "reset why", "rejoining need to revoke partitions and re-join"]
)  # fmt: skip
ROW = st.tuples(st.integers(0, 3000), st.integers(0, 6), st.sampled_from("ab"), st.integers(1, 3))


def drawn(rows):
    """Rows of a drawn log, by time."""
    return "\n".join(
        f"{10 + second // 3600}:{second // 60 % 60:02d}:{second % 60:02d} {word.format(n=n, c=c, m=m)}"
        for (second, n, c, m), word in sorted(rows)
    )


@examples(deadline=None)
@given(
    st.lists(st.tuples(ROW, WORDS), max_size=25),
    st.lists(st.tuples(ROW, SAID), max_size=25),
    st.lists(st.tuples(ROW, SAID), max_size=10),
)
def test_whatever_lines_there_are_rows_are_by_time_and_stories_never_go_back(broker, one, other):
    made = facts(coordinator(drawn(broker)), client("a", drawn(one)), client("b", drawn(other)))
    rows = history(made, GROUP)

    assert [r.started for r in rows] == sorted(r.started for r in rows)
    assert [r.story for r in rows] == sorted(r.story for r in rows)
    assert all(r.evidence and len(r.evidence) <= 3 and (r.standstill or 0) >= 0 for r in rows)
    assert sum("preparing" in w for _, w in broker) >= len(
        [r for r in rows if r.evidence[0].text.startswith("Preparing")]
    )


def test_the_kinds_that_are_read_are_of_one_side_each():
    assert not COORDINATOR & (CLIENT | PROCESS)


def test_twenty_thousand_rebalances_are_told_one_by_one():
    second, lines = 0, []
    for n in range(1, 10_000):
        second += 8
        lines += [
            (second, f"preparing {2 * n - 2} Adding new member {{a{n}}}"),
            (second + 2, f"assigned {2 * n - 1} 1"),
            (second + 5, f"left {{a{n}}}"),
            (second + 5, f"preparing {2 * n - 1} removing member {{a{n}}} on LeaveGroup"),
        ]
    made = facts(coordinator("\n".join(f"{10 + s // 3600}:{s // 60 % 60}:{s % 60} {word}" for s, word in lines)))
    rows = history(made, GROUP)
    assert len(rows) == 19_998
