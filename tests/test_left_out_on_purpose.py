"""Records that a group left out on purpose are counted, and are no loss: set past by hand, or put aside."""

from dataclasses import replace

from facts_builder import at, episode, facts, log, settings
from kafka_builder import GROUP, TOPIC, coordinator
from loss_builder import A, begins, life, listed, lost, messages, noted, said, stands
from message_builder import acked
from said import told

from mqlab.delivery.audit import audits
from mqlab.delivery.path import offsets, path, sentences
from mqlab.delivery.rows import Loss, Outcome, Side
from mqlab.detectors import commit_before_process_loss, offset_reset_loss
from mqlab.facts import Position
from mqlab.symptoms.unexplained import unexplained
from mqlab.verdict import diagnose
from mqlab.words import room

say = room("delivery-audit")
SET_PAST = say("by-hand", skipped=800, group=GROUP)

ONE_COPY = settings(f"at owner key value\n10:00:00 {TOPIC} replication.factor 1", scope="topic")
SKIPPED = messages(f"from to at handled\n0 99 10:00 {A}\n100 899 10:00 -\n900 999 10:00 {A}")
LEDGER = noted("10:00:05 0 100\n10:05:30 0 100")
BY_HAND = [
    life("a", until="10:01:00"), life("a", since="10:05:00", until="10:06:00", number=2), listed("a"),
    coordinator("10:01:00 empty 2"), begins("10:00:05 a set 0 0\n10:05:05 a set 0 900"), SKIPPED, LEDGER,
    stands("10:00:55 0 100 110\n10:02:00 0 100 500\n10:03:00 0 900 900\n10:06:00 0 1000 1000"),
]  # fmt: skip


def audit(*rows):
    (one,) = [one for one in audits(facts(*rows)) if one.topic == TOPIC]
    return one


def tool(offset, when="10:02:30"):
    """What kafka-consumer-groups --reset-offsets printed."""
    text = f"{GROUP} {TOPIC} 0 {offset}"
    return episode(
        "offsets-set", when, "offsets/reset.txt", left=float(offset), group=GROUP, topic=TOPIC, queue="0", text=text
    )


def test_what_somebody_set_the_group_past_is_counted_and_nothing_was_lost():
    one = audit(BY_HAND, ONE_COPY, acked(999, topic=TOPIC))
    assert (one.outcome, one.losses, [row.by_hand for row in one.groups]) == (Outcome.COMPLETE, (), [800])
    assert told(one.statement) == {"acked": 1000, "parts": (SET_PAST,), "outcome": Outcome.COMPLETE}
    (row,) = path(one, GROUP)
    assert row.skipped == 800
    assert row.acked == (row.handled or 0) + row.lost + row.skipped + (row.pending or 0) + row.unknown


BARE = [
    SKIPPED, LEDGER, listed("a"), stands("10:00:55 0 100 110\n10:02:00 0 100 500\n10:03:00 0 900 900\n10:06:00 0 1000"),
]  # fmt: skip


def test_without_logs_the_tool_tells_it_where_the_group_stood_there_next():
    assert [row.by_hand for row in audit(BARE, tool(900)).groups] == [800]
    assert [row.by_hand for row in audit(BARE, tool(950)).groups] == [0]
    assert [row.by_hand for row in audit(BARE).groups] == [0]


def test_a_dry_run_before_a_reset_explains_no_loss():
    rows = [
        life("a", until="10:01:00"), listed("a"), begins("10:05:05 a missing 0\n10:05:06 a reset 0 900"), SKIPPED,
        LEDGER, stands("10:00:55 0 100 110\n10:06:00 0 950 1000"),
        settings("at owner key value\n10:00:00 a auto.offset.reset latest", scope="consumer"),
    ]  # fmt: skip
    assert said(offset_reset_loss, rows, tool(500)) == [("CRITICAL", "PROVEN", 800.0)]


FAILED = messages(f"from to at handled\n0 599 10:00 {A}\n600 600 10:00 -\n601 999 10:00 {A}")
GIVEN_UP = [
    life("a"), begins("10:00:02 a set 0 0\n10:00:40 a failed 0 600"), listed("a"), FAILED,
    noted("10:00:05 0 300\n10:00:55 0 300"), stands("10:00:10 0 400\n10:01:00 0 1000", dumped=True),
]  # fmt: skip


def dead_letter_topic(name, records):
    return Position(at("10:02:00"), None, name, "0", None, records, None, None, None, None, "latest.txt", 1, name)


def test_records_in_a_topic_for_such_were_set_aside():
    for name in (f"{TOPIC}.DLT", f"{TOPIC}-dlt", f"{TOPIC}.dlq", f"dead-letter-{TOPIC}"):
        one = audit(GIVEN_UP, ONE_COPY, acked(999, topic=TOPIC), dead_letter_topic(name, 1))
        assert (one.losses, [row.aside for row in one.groups]) == ((), [1])
        assert told(one.statement)["parts"] == (say("aside", aside=1, group=GROUP),)
        assert unexplained(facts(GIVEN_UP, dead_letter_topic(name, 1)), ()) == ()


def test_others_are_given_up():
    for name, records in ((f"{TOPIC}.DLT", 0), (f"{TOPIC}.retry", 1), ("other.DLT", 1)):
        assert lost(GIVEN_UP, dead_letter_topic(name, records)) == [(None, "0", "600..600", 1)]


def test_a_group_without_a_ledger_leaves_open_what_it_handled_and_nothing_else():
    whole = messages(f"from to at handled\n0 999 10:00 {A}")
    rows = [
        life("a"), begins("10:00:02 a set 0 0"), listed("a"), whole, LEDGER, stands("10:01:30 0 1000 1000"), ONE_COPY,
        acked(999, topic=TOPIC), stands("10:01:30 0 1000 1000", group="statistics"),
    ]  # fmt: skip
    one = audit(rows)
    assert one.outcome is Outcome.IN_LOG
    untold = (say("passed", group="statistics", unknown=1000),)
    assert told(one.statement) == {"acked": 1000, "outcome": Outcome.IN_LOG, "untold": untold}
    assert one.looked == (at("10:01:30"), at("10:01:30"))
    assert said(commit_before_process_loss, rows) == "clear"


def test_a_record_set_past_on_purpose_is_told_by_the_audit():
    given = facts(BY_HAND, ONE_COPY, acked(999, topic=TOPIC), log("logs/server.log", "kafka-broker-log"))
    assert diagnose(given).verdict.incident == "undetermined"
    assert [told(one.statement)["parts"] for one in audits(given)] == [(SET_PAST,)]


def test_offsets_that_follow_one_another_are_told_as_one_range():
    def loss(queue, first, last):
        many = last - first + 1
        return Loss("retention-loss", Side.GROUP, TOPIC, queue, GROUP, many, many, many, first, last, None, None, "")

    parts = [loss("0", 516, 1066), loss("0", 1067, 1185), loss("0", 1187, 1190), loss("1", 1191, 1200)]
    one = replace(audit(BY_HAND, ONE_COPY, acked(999, topic=TOPIC)), outcome=Outcome.LOST, losses=tuple(parts))
    (sentence,) = sentences([one])
    (lost_, *_) = sentence.values["parts"]
    whole = loss("0", 516, 1185)
    assert [part.values["at"] for part in lost_.values["parts"]] == [*map(offsets, (whole, *parts[2:]))]
