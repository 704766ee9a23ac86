"""What a group handled, lost, doubled and left waiting: the look-alikes as hard as the losses."""

from dataclasses import replace

import pytest
from facts_builder import at, facts, log, settings
from kafka_builder import GROUP, TOPIC
from loss_builder import (
    A,
    B,
    begins,
    consumer,
    counts,
    killed,
    life,
    listed,
    log_starts,
    lost,
    messages,
    noted,
    stands,
    subscribed,
)  # fmt: skip
from message_builder import acked, of_topic

from mqlab.delivery import path
from mqlab.delivery.audit import audits
from mqlab.delivery.group_audit import group_doubled, group_losses, group_rows, reckon
from mqlab.delivery.group_repeats import copies
from mqlab.delivery.rows import Outcome
from mqlab.facts import Position
from mqlab.kafka.member_ledgers import kept, noting
from mqlab.rows import Delivery, Part
from mqlab.sources import CHANGED
from mqlab.symptoms.unexplained import unexplained

EARLY = "commit-before-process-loss"
AUTO = consumer("a enable.auto.commit true")
LIFE = [life("a"), begins("10:00:02 a set 0 0"), listed("a")]
QUEUED = messages(
    f"""
    from  to   at     handled
    0     599  10:00  {A}
    600   999  10:00  -
    """
)
STOPPED = [
    LIFE, QUEUED, noted("10:00:05 0 300\n10:00:55 0 300"),
    stands("10:00:10 0 400\n10:01:00 0 1000", dumped=True), stands("10:01:30 0 1000 1000"),
]  # fmt: skip


def test_what_was_committed_at_a_stop_and_never_handled_is_lost():
    assert lost(STOPPED, AUTO) == [(EARLY, "0", "600..999", 400)]
    assert counts(STOPPED, AUTO) == [("0", 600, 600, 1000, 0, 400, 0, 0)]


def test_what_lies_behind_the_committed_offset_only_waits():
    waiting = [LIFE, QUEUED, noted("10:00:05 0 300\n10:00:55 0 300"), stands("10:01:30 0 600 1000")]
    assert lost(waiting, AUTO) == []
    assert counts(waiting, AUTO) == [("0", 600, 600, 600, 400, 0, 0, 0)]


def test_a_member_that_still_runs_has_it_in_memory():
    running = [
        life("a", until=None), begins("10:00:02 a set 0 0"), QUEUED, noted("10:00:05 0 300\n10:00:55 0 300"),
        stands("10:00:10 0 400\n10:01:00 0 1000", dumped=True),
    ]  # fmt: skip
    assert lost(running, AUTO) == []
    assert counts(running, AUTO)[0][-1] == 400
    assert reckon(facts(running), GROUP, TOPIC, "0").doubts == (
        "what a has in memory: it is still running when the material ends",
    )


def test_a_kill_after_which_everything_is_read_again_loses_nothing():
    again = [
        killed("a", expired="10:01:00"), life("a", since="10:01:10", until="10:02:00", number=3),
        begins("10:00:02 a set 0 0\n10:01:15 a set 0 600"), AUTO,
        messages(f"from to at handled\n0 599 10:00 {A}\n600 699 10:00 {A}+{A}\n700 999 10:00 {A}"),
        noted("10:00:05 0 700\n10:01:20 0 400"), stands("10:00:40 0 600\n10:02:00 0 1000", dumped=True),
    ]  # fmt: skip
    assert lost(again) == []
    assert counts(again) == [("0", 1000, 1100, 1000, 0, 0, 100, 0)]


def test_a_kill_that_lost_a_queue_ends_where_the_next_owner_begins():
    crash = [
        killed("a", expired="10:01:00"), life("a", since="10:01:10", until="10:02:00", number=3),
        begins("10:00:02 a set 0 0\n10:01:15 a set 0 700"), AUTO,
        messages(f"from to at handled\n0 599 10:00 {A}\n600 699 10:00 -\n700 999 10:00 {A}"),
        noted("10:00:05 0 300\n10:00:55 0 300\n10:01:50 0 300"),
        stands("10:00:40 0 700\n10:02:00 0 1000", dumped=True),
    ]  # fmt: skip
    assert lost(crash) == [(EARLY, "0", "600..699", 100)]


def test_a_member_without_a_ledger_leaves_unknown_what_it_had():
    mixed = [
        life("a", until="10:00:30"), life("b", since="10:00:20"), listed("a", "b"), AUTO,
        begins("10:00:02 a set 0 0\n10:00:35 b set 0 600"), QUEUED, noted("10:00:05 0 300\n10:00:25 0 300"),
        stands("10:00:10 0 400\n10:01:00 0 1000", dumped=True),
    ]  # fmt: skip
    assert lost(mixed) == []
    assert counts(mixed)[0][-1] == 400
    assert reckon(facts(mixed), GROUP, TOPIC, "0").doubts == ("the ledger of b",)


def test_a_ledger_that_was_cut_leaves_unknown_what_came_after():
    cut = [
        LIFE, QUEUED, AUTO, noted("10:00:05 0 300\n10:00:25 0 300"),
        stands("10:00:10 0 400\n10:00:50 0 900\n10:01:00 0 1000", dumped=True),
    ]  # fmt: skip
    assert lost(cut) == []
    assert reckon(facts(cut), GROUP, TOPIC, "0").doubts == (f"the end of {A}: it stops before the process does",)


def test_a_ledger_with_lines_that_cannot_be_read_leaves_unknown_what_they_may_have_noted():
    whole = log(A, "ledger-csv")
    damaged, few, many = (replace(whole, **told) for told in ({"problem": "cut"}, {"rejected": 399}, {"rejected": 400}))

    assert lost(STOPPED, AUTO, few) == lost(STOPPED, AUTO, replace(whole, problem=CHANGED)) == lost(STOPPED, AUTO)
    for ledger in (damaged, many):
        assert lost(STOPPED, AUTO, ledger) == []
        assert reckon(facts(STOPPED, AUTO, ledger), GROUP, TOPIC, "0").doubts == (
            f"those lines of {A} that cannot be read",
        )


def test_a_ledger_of_another_member_that_cannot_be_read_whole_leaves_it_unknown_too():
    beside = [STOPPED, AUTO, life("b"), noted("10:00:05 1 10", B)]
    assert lost(*beside) == lost(STOPPED, AUTO)
    damaged = [*beside, replace(log(B, "ledger-csv"), problem="cut")]
    assert lost(*damaged) == []
    assert reckon(facts(*damaged), GROUP, TOPIC, "0").doubts == (f"those lines of {B} that cannot be read",)


def test_a_cut_within_the_last_ten_seconds_shows_by_what_its_client_did_later():
    gone = [
        life("a", until="10:02:00"), life("b", since="10:00:20"), listed("a", "b"), AUTO, QUEUED,
        begins("10:00:02 a set 0 0\n10:00:02 a set 1 0\n10:00:30 b set 0 1000"),
        noted("10:00:05 0 300\n10:00:25 0 300"),
        stands("10:00:10 0 400\n10:00:29 0 1000\n10:00:30 1 10\n10:01:50 1 900", dumped=True),
    ]  # fmt: skip
    assert lost(gone) == []


def test_a_ledger_that_begins_late_leaves_unknown_what_came_before():
    rows = messages(f"from to at handled\n0 599 10:00 -\n600 999 10:00 {A}")
    late = [LIFE, rows, AUTO, noted("10:00:45 0 400"), stands("10:00:10 0 300\n10:01:00 0 1000", dumped=True)]
    assert lost(late) == []
    assert reckon(facts(late), GROUP, TOPIC, "0").doubts == (f"the beginning of {A}",)


def test_without_any_ledger_nothing_is_called_lost():
    bare = [LIFE, messages("from to at\n0 999 10:00"), stands("10:01:00 0 1000 1000"), AUTO]
    assert lost(bare) == []
    assert counts(bare) == [("0", None, None, 1000, 0, 0, 0, 1000)]


def test_offsets_that_hold_no_message_are_not_missed():
    gaps = [
        LIFE, AUTO, noted("10:00:05 0 300\n10:00:55 0 300"), stands("10:01:00 0 1001 1001"),
        messages(f"from to at acked handled\n0 299 10:00 0 {A}\n350 1000 10:00 0 {A}"),
    ]  # fmt: skip
    assert lost(gaps) == []
    assert counts(gaps)[0][-2:] == (0, 0)


def test_a_marker_behind_the_last_record_is_not_missed():
    marker = [
        LIFE, AUTO, noted("10:00:05 0 300\n10:00:55 0 300"), stands("10:01:00 0 1001 1001"),
        messages(f"from to at acked handled\n0 999 10:00 0 {A}"),
    ]  # fmt: skip
    assert lost(marker) == []


def test_what_the_log_lost_is_no_loss_of_the_group():
    rows = messages(f"from to at over handled\n0 599 10:00 - {A}\n600 999 10:00 yes -\n600 999 10:01 - {A}")
    assert lost(LIFE, rows, AUTO, noted("10:00:55 0 1000"), stands("10:01:00 0 1000 1000")) == []


def test_records_that_the_application_gave_up_have_no_mechanism():
    rows = messages(f"from to at handled\n0 599 10:00 {A}\n600 600 10:00 -\n601 999 10:00 {A}")
    skipped = [LIFE, rows, noted("10:00:05 0 600\n10:00:55 0 399"), stands("10:01:00 0 1000 1000"), AUTO]
    assert lost(skipped, begins("10:00:40 a failed 0 600")) == [(None, "0", "600..600", 1)]


@pytest.mark.parametrize(
    ("line", "way", "open_"), [("10:00:40 a failed 0 600", path.SKIPPED, 0), ("10:00:40 a failed 0 599", None, 1)]
)
def test_what_was_skipped_after_an_error_is_explained_and_a_hole_beside_another_error_is_not(line, way, open_):
    rows = messages(f"from to at acked handled\n0 599 10:00 1 {A}\n600 600 10:00 1 -\n601 999 10:00 1 {A}")
    noted_ = noted("10:00:05 0 600\n10:00:55 0 399")
    (audit,) = audits(facts(LIFE, rows, noted_, stands("10:01:00 0 1000 1000"), begins(line)))
    (toll,) = path.losses(audit)
    assert toll.incident == (way or path.UNEXPLAINED)
    assert audit.statement.values["lost"] == open_


def test_what_a_group_left_out_is_a_symptom_from_when_it_was_seen_behind_it_and_no_loss_of_the_log():
    """Not from when the record was acknowledged, which was long before."""
    rows = messages(f"from to at handled\n0 599 10:00 {A}\n600 600 10:00 -\n601 999 10:00 {A}")
    held = stands("10:00:50 0 600 1000\n10:01:00 0 1000 1000")
    given = facts(LIFE, rows, noted("10:00:05 0 600\n10:00:55 0 399"), held, AUTO, begins("10:00:40 a failed 0 600"))
    assert {"passed-over": at("10:01:00")}.items() <= {s.kind: s.at for s in unexplained(given, ())}.items()
    assert "records-lost" not in {s.kind for s in unexplained(given, ())}


def test_single_records_in_between_have_no_mechanism():
    rows = messages(f"from to at handled\n0 99 10:00 {A}\n100 109 10:00 -\n110 999 10:00 {A}")
    holes = [LIFE, rows, noted("10:00:05 0 600\n10:00:55 0 390"), stands("10:00:10 0 50\n10:01:00 0 1000", dumped=True)]
    assert lost(holes) == [(None, "0", "100..109", 10)]


def test_threads_leave_single_ones_before_the_tail():
    rows = messages(f"from to at handled\n0 589 10:00 {A}\n590 594 10:00 -\n595 599 10:00 {A}\n600 999 10:00 -")
    found = lost(LIFE, rows, *STOPPED[2:], AUTO)
    assert sorted(found) == [(EARLY, "0", "590..594", 5), (EARLY, "0", "600..999", 400)]


def test_two_groups_never_count_together():
    rows = messages(f"from to at handled\n0 599 10:00 {A}+{B}\n600 999 10:00 {B}")
    other = [
        Position(at(0), "audit", TOPIC, "0", 1000, 1000, None, "b", None, None, "offsets/b.txt", 3, ""),
        *listed("b", group="audit"),
    ]
    both = facts(LIFE, rows, other, AUTO, STOPPED[2:], noted("10:00:05 0 999", B))
    assert [loss.group for loss in group_losses(both, TOPIC)] == [GROUP]
    assert group_doubled(both, TOPIC) == ()
    assert (set(noting(both, GROUP, TOPIC)), set(noting(both, "audit", TOPIC))) == ({A}, {B})


def test_copies_that_a_producer_made_are_no_copies_of_the_group():
    rows = messages(f"from to at places handled\n0 99 10:00 2 {A}+{A}\n100 199 10:00 1 {A}+{A}")
    (one,) = group_doubled(facts(LIFE, rows, noted("10:00:05 0 100")), TOPIC)
    assert (one.records, one.extra) == (100, 100)


@pytest.mark.parametrize(
    ("read", "repeats", "other"),
    [([(60, (A, A)), (40, (A,))], 60, 40), ([(100, (A, A))], 100, 0), ([(100, (A,)), (100, (A,))], 0, 100)],
    ids=["some", "all where they stood", "all at a second place"],
)
def test_what_was_handled_at_a_second_place_of_a_log_that_went_back_is_no_repeat(read, repeats, other):
    """Runs of messages whose places were lost do not tell at how many places they were handled; deliveries do."""
    rows = messages(f"from to at places over handled\n0 99 10:00 1 yes {A}+{A}")
    seen = [Delivery(at(n), TOPIC, "0", own, times) for n, (times, own) in enumerate(read)]
    known = facts(LIFE, rows, seen, noted("10:00:05 0 100"))
    counted = {one.incident: one.extra for one in group_doubled(known, TOPIC)}
    assert (counted.get("reprocess-duplicates", 0), counted.get(None, 0)) == (repeats, other)
    assert sum(row.doubled for row in group_rows(known, TOPIC)) == repeats + other
    assert copies(known, TOPIC) == other


def test_copies_of_a_log_that_lost_no_place_are_told_by_the_log():
    rows = messages(f"from to at places handled\n0 99 10:00 2 {A}+{A}")
    known = facts(LIFE, rows, [Delivery(at(0), TOPIC, "0", (A,), 200)], noted("10:00:05 0 100"))
    assert (group_doubled(known, TOPIC), copies(known, TOPIC)) == ((), 0)


def test_waiting_records_that_retention_deleted_do_not_wait():
    rows = [LIFE, stands("10:02:00 0 100 1000"), log_starts("10:02:00 0 400")]
    assert counts(rows)[0][4] == 600


def part_of(source, role, **more):
    """What a ledger tells of the partition."""
    values = {"party": None, "group": None, **more}
    return Part(source, role, "map", values["party"], values["group"], TOPIC, "0", 9, 9, 0, 8, None, None, *[LINE] * 2)


LINE = begins("10:00 a set 0 0")[0].first


def test_a_ledger_belongs_to_whom_its_map_names():
    named = [listed("a"), listed("z", group="audit")]
    of_group = part_of("clients/a-processed.csv", "processed", group="audit")
    of_party = part_of("exports/done.csv", "processed", party="a")
    known = facts(named, of_group, of_party)
    assert (kept(known, GROUP), kept(known, "audit")) == ({"exports/done.csv": "a"}, {A: "a"})


def test_a_ledger_of_nobody_belongs_to_the_only_group_that_reads_its_topic():
    unnamed = part_of("exports/done.csv", "processed")
    assert kept(facts(listed("a"), stands("10:00:00 0 1 1"), unnamed), GROUP) == {"exports/done.csv": ""}
    two = [stands("10:00:00 0 1 1"), stands("10:00:00 0 1 1", group="audit")]
    assert kept(facts(listed("a"), *two, unnamed), GROUP) == {}


def test_of_two_ledgers_of_one_member_the_last_stage_counts():
    stages = [part_of("clients/a-received.csv", "received"), part_of(A, "processed")]
    assert kept(facts(listed("a"), stages), GROUP) == {A: "a"}


def test_an_owner_of_whom_only_snapshots_tell_may_have_handled_it():
    owned = [
        Position(at("10:00:40"), GROUP, TOPIC, "0", 800, 1000, None, "b", None, None, "offsets/describe.txt", 3, ""),
    ]
    assert lost(STOPPED, AUTO, owned) == []
    assert reckon(facts(STOPPED, AUTO, owned), GROUP, TOPIC, "0").doubts == ("the ledger of b",)
    assert lost(STOPPED, AUTO, owned, noted("10:00:45 0 1\n10:00:55 0 1", B)) != []


def test_a_group_whose_position_nobody_tells_has_nothing_before_it():
    assert lost(listed("a"), QUEUED, noted("10:00:05 0 600")) == []
    assert counts(listed("a"), QUEUED, noted("10:00:05 0 600")) == [("0", 600, 600, None, 400, 0, 0, 0)]


def test_what_was_handled_behind_the_position_does_not_wait_though_its_run_begins_before_it():
    handled = messages(f"from to at acked handled\n0 949 10:00 0 {A}")
    rows = [LIFE, handled, noted("10:00:05 0 950"), stands("10:01:00 0 700 1000")]
    assert counts(*rows) == [("0", 950, 950, 700, 50, 0, 0, 0)]


def test_without_ids_of_producers_the_offsets_tell_beside_a_sign_of_early_commits():
    handled = messages(f"from to at acked handled\n0 599 10:00 0 {A}")
    rows_of = noted("10:00:00 0 300\n10:00:50 0 300")
    done = stands("10:00:15 0 250\n10:01:00 0 1000", dumped=True)
    assert lost(LIFE, handled, AUTO, rows_of, done) == []
    ahead = stands("10:00:10 0 900\n10:01:00 0 1000", dumped=True)
    rows = [LIFE, handled, AUTO, rows_of, ahead]
    (loss,) = group_losses(facts(rows), TOPIC)
    assert (loss.incident, loss.records, loss.least, loss.most) == (EARLY, 400, 0, 400)


def test_records_that_compaction_removed_or_a_transaction_hides_are_not_missed():
    compacted = of_topic("cleanup.policy", "compact", topic=TOPIC)
    older = messages(f"from to at handled\n0 99 10:00 -\n100 599 10:00 {A}\n600 999 10:00 -")
    for reason in (compacted, settings("at owner key value\n10:00 p transactional.id tx-1")):
        rows = [LIFE, older, AUTO, *STOPPED[2:], reason]
        assert lost(rows) == []
        assert counts(rows)[0][-1] == 0


def audit(*rows):
    (one,) = audits(facts(rows, of_topic("replication.factor", "1", topic=TOPIC)))
    return one


def test_acknowledged_records_of_a_partition_in_which_a_group_has_no_position_are_not_told():
    rows = [LIFE, listed("a"), noted("10:00:05 0 600"), stands("10:01:30 0 600 600")]
    other = messages(f"queue from to at handled\n0 0 599 10:00 {A}\n1 0 399 10:00 -")
    one = audit(rows, other, acked(599, topic=TOPIC), acked(399, queue="1", topic=TOPIC))
    assert [(row.queue, row.handled, row.pending, row.unknown) for row in one.groups] == [
        ("0", 600, 0, 0), ("1", 0, None, 400),
    ]  # fmt: skip
    assert one.outcome is Outcome.IN_LOG
    assert "Nothing was lost:" not in one.statement


def test_records_from_before_a_group_are_told_and_not_called_handled():
    begun = begins("10:00:05 a missing 0\n10:00:06 a reset 0 900")
    rows = [life(), listed("a"), begun, stands("10:01:30 0 1000 1000"), noted("10:00:30 0 100")]
    latest = consumer("a auto.offset.reset latest")
    one = audit(rows, latest, subscribed("10:00:01"), messages(f"from to at handled\n0 899 09:00 -\n900 999 10:00 {A}"),
                log_starts("09:59:00 0 0"), acked(999, topic=TOPIC))  # fmt: skip
    assert (one.losses, [row.earlier for row in one.groups], one.outcome) == ((), [900], Outcome.IN_LOG)
    assert one.statement == (
        "1,000 acknowledged; 900 were skipped by billing, which began at the end as configured "
        "(auto.offset.reset=latest). Nothing was lost from the log."
    )
