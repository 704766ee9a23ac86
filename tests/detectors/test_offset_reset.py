"""Records that a reset of the position left out, and resets that left out nothing."""

from dataclasses import replace

import pytest
from facts_builder import at, episode, facts, log
from kafka_builder import GROUP, TOPIC, client, coordinator
from loss_builder import A, begins, consumer, life, listed, log_starts, lost, messages, noted, said, stands, subscribed
from message_builder import leaders
from said import told

from mqlab.detectors import commit_before_process_loss, offset_reset_loss, retention_loss
from mqlab.detectors.offset_reset_loss import say
from mqlab.facts import Episode, Position
from mqlab.findings import Evidence
from mqlab.rows import Tally
from mqlab.words import room

LEFT = "offset-reset-loss"
EARLIEST, LATEST = consumer("a auto.offset.reset earliest"), consumer("a auto.offset.reset latest")
AWAY = [
    life("a", until="10:01:00"), life("a", since="10:05:00", until="10:06:00", number=2), listed("a"),
    coordinator("10:01:00 empty 2"), stands("10:00:55 0 100 110\n10:06:00 0 950 950"), begins("10:00:05 a set 0 0"),
]  # fmt: skip
FORGOT = begins("10:05:05 a missing 0\n10:05:07 a reset 0 900")
IDS = messages(f"from to at until handled\n0 99 10:00 10:01 {A}\n100 899 10:01 10:05 -\n900 949 10:05 10:06 {A}")
LEDGER = noted("10:00:05 0 100\n10:05:10 0 50")


def test_what_came_in_between_an_expired_offset_and_the_end_is_lost():
    assert lost(AWAY, FORGOT, LATEST) == [(LEFT, "0", "100..899", 800)]
    assert said(offset_reset_loss, AWAY, FORGOT, LATEST, IDS, LEDGER) == [("CRITICAL", "PROVEN", 800)]
    (finding,) = offset_reset_loss.detect(facts(AWAY, FORGOT, LATEST)).findings
    whys = [say("no-offset"), say("went-on", offset=900), say("setting"), say("before")]
    assert [e.why for e in finding.evidence] == whys


def expired(when):
    """The coordinator's line about offsets that it forgot."""
    line = Evidence("logs/server.log", 77, "Removed 3 expired offsets in 1 milliseconds")
    return Episode("offsets-expired", "logs/server.log", 1, when, when, line, line)


def test_offsets_that_expired_later_are_not_the_cause():
    early = subscribed("10:04:00").first_at
    before, after = (
        offset_reset_loss.detect(facts(AWAY, FORGOT, LATEST, expired(when))).findings[0].evidence
        for when in (early, early + 900)
    )
    assert [e.line for e in before if e.why == say("expired")] == [77]
    assert [e for e in after if e.why == say("expired")] == []


def test_earliest_reads_again_and_loses_nothing():
    rows = [AWAY, begins("10:05:05 a missing 0\n10:05:07 a reset 0 0"), EARLIEST]
    assert lost(*rows) == []
    assert said(offset_reset_loss, *rows) == say("rereads", group=GROUP, topic=TOPIC)


BY_HAND = room("delivery-ways")("set-by-hand", group=GROUP, topic=TOPIC, queue="0", low="100", high="900")


def test_an_offset_that_somebody_set_is_none_of_the_losses():
    by_hand = [
        life("a", until="10:01:00"), life("a", since="10:05:00", until="10:06:00", number=2), listed("a"),
        coordinator("10:01:00 empty 2"), begins("10:00:05 a set 0 0\n10:05:05 a set 0 900"), IDS, LEDGER,
        stands("10:00:55 0 100 110\n10:02:00 0 100 500\n10:03:00 0 900 900\n10:06:00 0 950 950"),
    ]  # fmt: skip
    assert lost(*by_hand) == []
    for detector in (offset_reset_loss, retention_loss, commit_before_process_loss):
        assert said(detector, *by_hand) == BY_HAND


def test_the_next_member_shows_an_offset_that_was_set_while_nobody_was_there():
    by_hand = [
        life("a", until="10:01:00"), life("a", since="10:05:00", until=None, number=2), listed("a"),
        coordinator("10:01:00 empty 2"), begins("10:00:05 a set 0 0\n10:05:05 a set 0 900"),
        stands("10:02:00 0 100 500"),
    ]  # fmt: skip
    assert said(offset_reset_loss, *by_hand) == BY_HAND


def test_the_last_commit_of_a_member_that_leaves_is_nobodys_hand():
    leaving = [
        life("a", until="10:01:00"), listed("a"), coordinator("10:01:00 empty 2"), begins("10:00:05 a set 0 0"),
        stands("10:00:55 0 100 110\n10:01:10 0 500 500"),
    ]  # fmt: skip
    assert said(offset_reset_loss, *leaving) == "clear"


START = [life("a", until=None), listed("a", when="10:01:10"), LATEST, subscribed("10:00:00")]


def acked(text):
    """Rows ``clock messages`` of the producer's ledger."""
    rows = [row.split() for row in text.strip().splitlines()]
    return [Tally(subscribed(when).first_at, "acked", TOPIC, "0", int(n), "clients/p-acked.csv", 2) for when, n in rows]


def test_a_first_start_with_latest_passes_over_what_is_older_than_the_group():
    first = [
        START, begins("10:00:05 a missing 0\n10:00:06 a reset 0 5000"), stands("10:00:30 0 5100 5100"),
        log_starts("09:59:00 0 0"),
    ]  # fmt: skip
    assert lost(*first) == []
    assert said(offset_reset_loss, *first) == say("configured", group=GROUP, topic=TOPIC)


RESTARTED = episode("rebalance-stabilized", "09:50:00", "logs/server.log", group=GROUP, left=5.0)
SLOW = [
    START, begins("10:01:05 a missing 0\n10:01:06 a reset 0 900"),
    messages("from to at until\n0 899 09:59:50 10:01:10"),
    stands("10:01:30 0 900 900"), acked("09:59:50 200\n10:00:00 100\n10:00:30 600"),
]  # fmt: skip


def test_what_comes_in_while_the_assignment_of_a_group_that_was_there_before_takes_a_minute_is_lost():
    assert lost(*SLOW, RESTARTED) == [(LEFT, "0", "200..899", 700)]


@pytest.mark.parametrize("before", [[], [replace(RESTARTED, value_min=1.0, value_max=1.0)]])
def test_a_group_that_starts_for_the_first_time_loses_nothing_however_long_its_assignment_takes(before):
    assert lost(*SLOW, *before) == []
    assert said(offset_reset_loss, *SLOW, *before) == say("configured", group=GROUP, topic=TOPIC)


def test_a_group_whose_offsets_expired_begins_with_the_first_generation_again_and_was_there_before():
    first = replace(RESTARTED, value_min=1.0, value_max=1.0)
    early = subscribed("09:40:00").first_at
    assert lost(*SLOW, first, expired(early)) == [(LEFT, "0", "200..899", 700)]


def test_a_group_that_waits_for_a_topics_first_records_has_nothing_to_lose_at_its_first_start():
    rows = messages("from to at until\n0 99 10:00:30 10:01:05")
    new = [START, begins("10:01:05 a missing 0\n10:01:06 a reset 0 100"), rows, acked("10:00:30 60\n10:00:40 40")]
    assert lost(*new, stands("10:01:30 0 100 100")) == []
    assert lost(*new, stands("10:01:30 0 100 100"), RESTARTED) == [(LEFT, "0", "0..99", 100)]


def test_a_first_start_of_which_nobody_counted_what_came_in_meanwhile_is_configuration():
    slow = [
        START, begins("10:01:05 a missing 0\n10:01:06 a reset 0 900"), log_starts("09:59:00 0 0"),
        stands("09:59:00 0 - 200\n10:01:30 0 900 900", group="other"),
    ]  # fmt: skip
    assert lost(*slow) == []


def test_where_nothing_tells_what_was_there_before_nothing_is_called_lost():
    bare = [START, begins("10:01:05 a missing 0\n10:01:06 a reset 0 5000"), stands("10:01:30 0 5000 5000")]
    assert lost(*bare) == []


def test_a_new_group_id_of_the_same_client_loses_what_the_old_one_had_not_read():
    old = [
        client("a", "09:50:00 joined 1 {a1} range", group="old", source="clients/a-old.log"),
        begins("09:50:05 a set 0 0", group="old"), stands("09:55:00 0 400 400", group="old"),
    ]  # fmt: skip
    new = [START, begins("10:00:05 a missing 0\n10:00:06 a reset 0 900"), stands("10:00:30 0 900 900")]
    assert lost(*old, *new) == [(LEFT, "0", "400..899", 500)]


def test_a_policy_that_nobody_tells_accuses_nobody_of_a_jump_to_the_log_start():
    rows = [AWAY, FORGOT, stands("10:05:00 0 - 2000")]
    assert lost(*rows) == [("retention-loss", "0", "100..899", 800)]
    assert said(offset_reset_loss, *rows) == say("deleted", group=GROUP, topic=TOPIC)


def test_what_was_written_anew_behind_a_cut_is_left_out_by_latest():
    cut = leaders("at queue epoch broker from\n10:01:50 0 5 2 400", topic=TOPIC)
    above = begins("10:00:05 a set 0 0\n10:02:00 a refused 0 900\n10:02:01 a reset 0 600")
    rows = [life("a", until=None), listed("a"), above, cut, stands("10:05:00 0 800 800")]
    assert lost(*rows, LATEST) == [(LEFT, "0", "400..599", 200)]
    assert lost(*rows, EARLIEST) == []


def test_a_partition_that_was_added_later_loses_all_that_came_before_it_was_noticed():
    added = [
        START, stands("10:00:30 1 50 50\n10:01:00 1 60 60"), stands("10:03:00 0 - 90\n10:06:00 0 300 300"),
        begins("10:05:00 a missing 0\n10:05:01 a reset 0 250"),
    ]  # fmt: skip
    assert lost(*added) == [(LEFT, "0", "0..249", 250)]

    torn = {replace(log(row.source), rejected=1) for one in added for row in one if isinstance(row, Position)}
    assert lost(*added, *torn) == []


def taken_away(queue="0", when="10:02:00"):
    """What the tool says of an offset that it removed."""
    text = f"Request succeed for deleting offsets with topic {TOPIC}:{queue} group {GROUP}"
    return episode("offsets-removed", when, "offsets/delete.txt", group=GROUP, topic=TOPIC, queue=queue, text=text)


GAP = messages(f"from to at handled\n0 99 10:00 {A}\n100 499 10:01 -\n500 899 10:05 {A}")
WORDLESS = [
    life("a", until="10:01:00"), life("a", since="10:05:00", until="10:06:00", number=2), listed("a"), GAP,
    noted("10:00:05 0 100\n10:05:10 0 400"), stands("10:00:55 0 100 110\n10:05:30 0 700 900\n10:06:10 0 900 900"),
]  # fmt: skip
TOLD_TO = consumer(f"a group.id {GROUP}\na auto.offset.reset latest")


def test_an_offset_that_somebody_removed_is_told_by_the_ledger_where_the_client_says_nothing():
    (finding,) = offset_reset_loss.detect(facts(WORDLESS, TOLD_TO, taken_away())).findings
    assert (finding.certainty.name, finding.measures["lost_records"]) == ("PROVEN", 400.0)
    assert told(finding.statement)["at"] == at("10:02:00")
    assert say("removed") in [place.why for place in finding.evidence]


def test_without_that_word_or_with_another_setting_nothing_tells_the_mechanism():
    earliest = consumer(f"a group.id {GROUP}\na auto.offset.reset earliest")
    for rows in ((TOLD_TO,), (taken_away(),), (earliest, taken_away()), (TOLD_TO, taken_away(queue="1"))):
        assert [one[0] for one in lost(WORDLESS, *rows)] != ["offset-reset-loss"]
