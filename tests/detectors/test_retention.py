"""Records that retention deleted before a group read them."""

from dataclasses import replace

import pytest
from facts_builder import at, episode, facts, log
from kafka_builder import TOPIC, coordinator
from loss_builder import (
    A,
    begins,
    consumer,
    counts,
    life,
    listed,
    log_starts,
    lost,
    messages,
    noted,
    said,
    stands,
    start_moved,
    subscribed,
)
from message_builder import of_topic
from said import told

from mqlab.delivery.group_audit import group_losses
from mqlab.delivery.positions import ways
from mqlab.detectors import commit_before_process_loss, offset_reset_loss, retention_loss
from mqlab.words import room

GONE = "retention-loss"
EARLIEST, LATEST = consumer("a auto.offset.reset earliest"), consumer("a auto.offset.reset latest")
AWAY = [
    life("a", until="10:01:00"), life("a", since="10:05:00", until="10:06:00", number=2), listed("a"),
    coordinator("10:01:00 empty 2"), stands("10:00:55 0 100 110\n10:04:00 0 100 900"),
    begins("10:00:05 a set 0 0"),
]  # fmt: skip
BACK = begins("10:05:05 a set 0 100\n10:05:06 a refused 0 100\n10:05:07 a reset 0 500")
IDS = messages(f"from to at until handled\n0 99 10:00 10:01 {A}\n100 499 10:01 10:02 -\n500 899 10:02 10:04 {A}")
LEDGER = noted("10:00:05 0 100\n10:05:10 0 400")
AFTER = stands("10:06:00 0 900 900")


def test_what_was_deleted_between_the_position_and_the_log_start_is_lost():
    rows = [AWAY, BACK, AFTER, EARLIEST]
    assert lost(*rows) == [(GONE, "0", "100..499", 400)]
    assert said(retention_loss, *rows) == [("CRITICAL", "LIKELY", 400)]
    assert said(retention_loss, *rows, log_starts("10:05:30 0 500")) == [("CRITICAL", "PROVEN", 400)]


@pytest.mark.parametrize(
    ("starts", "span"),
    [
        ("10:00:50 0 90\n10:02:00 0 200\n10:03:00 0 400\n10:04:00 0 500\n10:06:00 0 700", ("10:02", "10:04")),
        ("10:02:00 0 200", ("10:02", "10:05:07")),
        ("10:05:30 0 500", ("10:05:07", "10:05:07")),
    ],
    ids=["from the first unread record to the last", "only its begin", "seen after somebody came back"],
)
def test_it_lasts_while_unread_records_are_deleted_and_not_from_when_they_were_written(starts, span):
    (loss,) = retention_loss.detect(facts(AWAY, BACK, AFTER, EARLIEST, log_starts(starts))).findings
    assert (loss.started_at.timestamp(), loss.ended_at.timestamp()) == tuple(map(at, span))


def test_of_a_group_that_comes_back_without_a_word_it_lasts_until_the_log_start_has_passed_all_that_it_lost():
    """Not until the log start was first seen above its position; of lines a few seconds apart both ends count."""
    both = replace(start_moved("10:02:00", "0", 250), count=2, value_min=150.0, last_at=at("10:02:08"))
    moves = [
        both,
        start_moved("10:03:00", "0", 400),
        start_moved("10:04:30", "0", 500),
        start_moved("10:05:59", "0", 600),
    ]
    handled = messages(
        f"from to at until handled\n0 99 10:00 10:01 {A}\n100 499 10:01 10:02 -\n500 899 10:02 10:04 {A}"
    )
    (loss,) = retention_loss.detect(facts(AWAY, moves, AFTER, handled, LEDGER, EARLIEST)).findings
    assert (loss.started_at.timestamp(), loss.ended_at.timestamp()) == (at("10:02:00"), at("10:04:30"))
    assert loss.measures["lost_records"] == 400


def test_a_group_without_members_is_what_retention_loss_comes_of_and_not_what_it_brings():
    (loss,) = retention_loss.detect(facts(AWAY, BACK, AFTER, EARLIEST)).findings
    empty = replace(loss, incident="consumer-offline", started_at=loss.started_at)
    assert (loss.comes_of(empty), loss.brings(empty)) == (True, False)
    assert "consumer-offline" in loss.explains
    drained = replace(empty, incident="backlog-drain")
    assert (loss.comes_of(drained), loss.brings(drained)) == (False, True)


def test_ids_and_offsets_agree():
    rows = [AWAY, BACK, AFTER, EARLIEST, IDS, LEDGER, start_moved("10:05:00", "0", 500)]
    assert counts(*rows) == [("0", 500, 500, 900, 0, 400, 0, 0)]
    assert said(retention_loss, *rows) == [("CRITICAL", "PROVEN", 400)]
    (finding,) = retention_loss.detect(facts(rows)).findings
    assert finding.subject == f"billing/{TOPIC}"
    where = room("membership")("partitions", partitions=1, queues=["0"], topic=TOPIC)
    assert told(finding.statement) == {"amount": ways("amount", records=400), "where": where, "group": "billing"}
    assert (finding.started_at.timestamp(), finding.ended_at.timestamp()) == (at("10:05"), at("10:05"))
    assert not finding.ongoing
    assert "consumer-offline" in finding.explains
    assert [e.why for e in finding.evidence][-1] == retention_loss.say("start")


def test_a_group_that_has_not_come_back_has_lost_it_already():
    stopped = [
        life("a", until="10:01:00"), listed("a"), coordinator("10:01:00 empty 2"), begins("10:00:05 a set 0 0"),
        stands("10:00:55 0 100 110\n10:04:00 0 100 900"), log_starts("10:02:00 0 50\n10:04:00 0 400"),
    ]  # fmt: skip
    (finding,) = retention_loss.detect(facts(stopped)).findings
    assert (finding.ongoing, finding.measures["lost_records"], finding.measures["pending_records"]) == (True, 300, 500)
    shown = told(finding.statement)
    assert (shown["ongoing"], shown["pending_records"], "since_look" in shown) == (True, 500, False)


def test_a_slow_consumer_that_is_overtaken_again_and_again_loses_all_gaps():
    again = begins(
        "10:00:05 a set 0 0\n10:02:00 a refused 0 100\n10:02:01 a reset 0 300\n10:04:00 a refused 0 350\n"
        "10:04:01 a reset 0 700"
    )
    rows = [life("a", until=None), listed("a"), again, EARLIEST, stands("10:05:00 0 800 2000")]
    assert lost(*rows) == [(GONE, "0", "100..299", 200), (GONE, "0", "350..699", 350)]


def test_a_committed_offset_below_the_log_start_of_a_group_that_reads_is_late_only():
    reading = [
        life("a", until=None), listed("a"), begins("10:00:05 a set 0 0"),
        stands("10:01:00 0 100 900\n10:01:10 0 500 900"), log_starts("10:01:05 0 120"),
    ]  # fmt: skip
    assert lost(*reading) == []
    assert said(retention_loss, *reading) == "clear"


def test_what_was_read_before_somebody_moved_the_offset_back_is_not_lost():
    back = [
        AWAY[:4], begins("10:00:05 a set 0 0\n10:05:05 a set 0 0\n10:05:06 a refused 0 0\n10:05:07 a reset 0 500"),
        stands("10:00:55 0 900 900\n10:04:00 0 900 900\n10:04:30 0 0 900\n10:06:00 0 900 900"), EARLIEST,
    ]  # fmt: skip
    assert lost(*back) == []
    by_hand = ways("set-by-hand", group="billing", topic=TOPIC, queue="0", low="900", high="0")
    assert said(retention_loss, *back) == by_hand


def test_a_position_above_the_end_of_a_truncated_log_lost_nothing_to_retention():
    above = begins("10:00:05 a set 0 0\n10:02:00 a refused 0 900\n10:02:01 a reset 0 0")
    rows = [life("a", until=None), listed("a"), above, EARLIEST, stands("10:05:00 0 800 800")]
    assert lost(*rows) == []
    assert said(offset_reset_loss, *rows) == offset_reset_loss.say("above", group="billing", topic=TOPIC)


def test_with_latest_what_was_still_there_was_lost_to_the_reset():
    rows = [AWAY, BACK, AFTER, LATEST, start_moved("10:05:00", "0", 300)]
    assert lost(*rows) == [(GONE, "0", "100..299", 200), ("offset-reset-loss", "0", "300..499", 200)]


def test_a_compacted_topic_gives_an_interval():
    (finding,) = retention_loss.detect(
        facts(
            AWAY,
            BACK,
            AFTER,
            EARLIEST,
            log_starts("10:05:30 0 500"),
            of_topic("cleanup.policy", "compact", topic=TOPIC),
        )
    ).findings
    assert told(finding.statement)["amount"] == ways("amount", records=400, least=0, most=400)
    assert finding.certainty.name == "LIKELY"


def test_lag_alone_is_no_loss():
    rows = [AWAY[:4], stands("10:00:55 0 100 110\n10:04:00 0 100 900"), log_starts("10:04:00 0 0")]
    assert said(retention_loss, *rows) == "clear"
    assert said(commit_before_process_loss, *rows) == "clear"


def test_a_refused_offset_of_which_nothing_follows_needs_more_material():
    rows = [life("a", until=None), listed("a"), subscribed("10:00:00"), begins("10:02:00 a refused 0 100")]
    assert retention_loss.detect(facts(rows)).missing == (retention_loss.say("no-next"),)


def test_a_ledger_that_goes_on_at_a_log_start_seen_then_was_overtaken():
    rows = messages(f"from to at handled\n0 149 10:00 {A}\n150 499 10:01 -\n500 899 10:02 {A}")
    silent = [
        life("a", until="10:06:00"), listed("a"), begins("10:00:05 a set 0 0"), rows, LEDGER, AFTER,
        stands("10:02:00 0 140 900"), log_starts("10:03:00 0 500"),
    ]  # fmt: skip
    assert lost(*silent) == [(GONE, "0", "150..499", 350)]


def test_a_refused_position_and_a_ledger_that_breaks_off_there_agree():
    refused = begins("10:00:05 a set 0 0\n10:02:00 a refused 0 100")
    rows = [life("a", until="10:06:00"), listed("a"), refused, IDS, LEDGER, AFTER]
    assert lost(*rows) == [(GONE, "0", "100..499", 400)]


OVERTAKEN = [
    life("a", until=None), listed("a"), consumer("a auto.offset.reset earliest"),
    begins("10:00:02 a set 0 0\n10:00:20 a refused 0 100\n10:00:20 a reset 0 200"),
    begins("10:00:40 a refused 0 300\n10:00:40 a reset 0 400"), stands("10:00:10 0 50\n10:01:00 0 500 500"), LEDGER,
]  # fmt: skip


def test_a_ledger_that_leaves_out_just_what_was_passed_over_counts_it_without_ids():
    gaps = messages(f"from to messages at acked handled\n0 499 300 10:00 0 {A}")
    assert lost(OVERTAKEN, gaps) == [("retention-loss", "0", "100..199", 100), ("retention-loss", "0", "300..399", 100)]


def test_what_had_been_handled_before_is_not_lost_again():
    whole = messages(f"from to at acked handled\n0 499 10:00 0 {A}")
    assert lost(OVERTAKEN, whole) == []


def test_a_ledger_that_leaves_out_less_gives_bounds():
    some = messages(f"from to messages at acked handled\n0 499 350 10:00 0 {A}")
    found = [(one.least, one.records, one.most) for one in group_losses(facts(OVERTAKEN, some), TOPIC)]
    assert found == [(50, 100, 100), (50, 100, 100)]


def test_a_consumer_that_had_read_on_was_not_overtaken():
    reading = [
        life("a", until=None), listed("a"), consumer("a auto.offset.reset earliest"),
        begins("10:00:02 a set 0 0\n10:00:40 a refused 0 300\n10:00:40 a reset 0 400"),
        messages(f"from to messages at acked handled\n0 499 400 10:00 0 {A}"),
        stands("10:00:10 0 50\n10:00:30 0 50\n10:01:00 0 500 500"), log_starts("10:00:20 0 90"), LEDGER,
    ]  # fmt: skip
    assert lost(reading) == [("retention-loss", "0", "300..399", 100)]


def test_numbers_are_those_of_the_last_look_and_what_was_deleted_since_is_told():
    stopped = [
        life("a", until="10:01:00"), listed("a"), coordinator("10:01:00 empty 2"), begins("10:00:05 a set 0 0"),
        EARLIEST, stands("10:00:55 0 100 110\n10:04:00 0 100 900"), log_starts("10:04:00 0 500"),
        start_moved("10:04:05", "0", 700),
    ]  # fmt: skip
    (finding,) = retention_loss.detect(facts(stopped)).findings
    assert dict(finding.measures) == {"lost_records": 400.0, "pending_records": 400.0, "partitions": 1.0}
    assert told(finding.statement).items() >= {"ongoing": True, "pending_records": 400, "since_look": 200}.items()


def test_where_nobody_looked_at_it_since_the_brokers_word_counts():
    stopped = [
        life("a", until="10:01:00"), listed("a"), coordinator("10:01:00 empty 2"), begins("10:00:05 a set 0 0"),
        EARLIEST, stands("10:00:55 0 100 110\n10:04:00 0 100 900"), start_moved("10:04:05", "0", 700),
    ]  # fmt: skip
    assert lost(stopped) == [(GONE, "0", "100..699", 600)]


def test_what_a_refused_position_skipped_besides_is_its_consequence():
    rows = [AWAY, LATEST, IDS, LEDGER, start_moved("10:05:00", "0", 300)]
    rows += [begins("10:05:05 a set 0 100\n10:05:06 a refused 0 100\n10:05:07 a reset 0 500"), AFTER]
    (deleted,) = retention_loss.detect(facts(rows)).findings
    assert (deleted.measures["lost_records"], "offset-reset-loss" in deleted.explains) == (200.0, True)
    (alone,) = retention_loss.detect(facts(AWAY, BACK, AFTER, EARLIEST)).findings
    assert "offset-reset-loss" not in alone.explains


def refused(*places):
    """A pasted log of a group of which nothing else is known: (second, partition, refused position, where it went)."""
    rows = []
    for n, (when, queue, stood, target) in enumerate(places):
        who = {"group": "sink", "client_id": "c", "topic": "views", "queue": queue}
        rows.append(episode("offset-reset", when, "paste.log", line=2 * n + 1, left=stood, **who))
        rows.append(episode("offset-reset-to", when + 0.04, "paste.log", line=2 * n + 2, left=target, **who))
    return [*rows, log("paste.log", lines=2 * len(places))]


def test_positions_that_are_refused_again_and_again_and_go_on_above_are_likely_by_these_lines_alone():
    (one,) = retention_loss.detect(facts(refused((0, "0", 100, 900), (0, "1", 50, 700), (60, "0", 950, 1950)))).findings
    assert (one.subject, one.certainty.name, one.severity.name) == ("sink/views", "LIKELY", "WARNING")
    assert one.measures == {"resets": 3, "skipped_offsets": 800 + 650 + 1000}


def test_one_refused_position_and_those_above_the_end_are_not_known_to_be_deleted():
    for places in (
        [(0, "0", 100, 900)],
        [(n, str(n), 900, 100) for n in range(4)],
        [(n, str(n), 0, 900) for n in range(4)],
    ):
        assert retention_loss.detect(facts(refused(*places))).findings == ()


def small(asked, start, **more):
    text = f"the request offset too small. group=g, topic=T, requestOffset={asked}, brokerMinOffset={start}"
    return episode("offset-moved", 5, "broker.log", text=text, group="g", topic="T", reason="too small", **more)


def test_rocketmq_tells_the_position_and_the_start_of_the_queue_above_it():
    own = log("broker.log", "rocketmq-broker-log")
    (finding,) = retention_loss.detect(facts(own, small(1200, 60200), small(1188, 60150), small(1200, 60200))).findings
    assert (finding.subject, finding.measures) == ("g/T", {"resets": 2, "skipped_offsets": 59000 + 58962})
    assert retention_loss.detect(facts(own, small(0, 60200))).findings == ()
    assert retention_loss.detect(facts(own, small(900, 400))).findings == ()
    by_hand = episode("offsets-reset", 1, "broker.log", group="g", topic="T")
    assert retention_loss.detect(facts(own, small(1200, 60200), by_hand)).findings == ()


def test_one_look_tells_it_of_a_group_without_members():
    looked, starts = stands("10:01:00 0 100 900"), log_starts("10:01:08 0 500")
    assert lost(looked, starts) == [(GONE, "0", "100..499", 400)]
    assert lost(looked, log_starts("10:01:30 0 500")) == []
