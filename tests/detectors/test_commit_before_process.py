"""Offsets that were committed before the work was done."""

from dataclasses import replace

from facts_builder import at, episode, facts
from kafka_builder import GROUP, TOPIC, client
from loss_builder import A, begins, consumer, life, listed, messages, noted, said, stands
from said import told

from mqlab.delivery.ownership_intervals import stints
from mqlab.detectors import commit_before_process_loss as rule
from mqlab.groups.membership import places
from mqlab.symptoms.unexplained import unexplained
from mqlab.words import room

ways, ledgers = room("delivery-ways"), room("group-ledgers")
AUTO, EXPLICIT = consumer("a enable.auto.commit true"), consumer("a enable.auto.commit false")
LIFE = [life("a"), begins("10:00:02 a set 0 0"), listed("a")]
QUEUED = messages(f"from to at handled\n0 599 10:00 {A}\n600 999 10:00 -")
LEDGER = noted("10:00:05 0 300\n10:00:55 0 300")
STANDS = stands("10:00:10 0 250\n10:01:00 0 1000", dumped=True)


def another_matter(records, how):
    """That records went missing by no early commit."""
    each = rule.say("each", group=GROUP, amount=ways("amount", records=records), topic=TOPIC, how=ways(how))
    return rule.say("elsewhere", each=[each])


def queued(when, left):
    """The application's line about its queue."""
    return episode("handed-over", when, "clients/a.log", line=90, left=left, text=f"queued 5 records, backlog {left}")


def test_a_stop_that_lost_a_queue_is_proven_by_what_commits_by_itself():
    assert said(rule, LIFE, QUEUED, LEDGER, STANDS, AUTO) == [("CRITICAL", "PROVEN", 400)]
    (finding,) = rule.detect(facts(LIFE, QUEUED, LEDGER, STANDS, AUTO, queued("10:00:59", 405))).findings
    assert finding.subject == f"{GROUP}/{TOPIC}"
    lost = {"amount": ways("amount", records=400), "where": places(TOPIC, ["0"]), "backlog_records": 405}
    stop = {"group": GROUP, "members": "a", "orderly": True, "at": at("10:01:00")}
    assert told(finding.statement) == lost | stop
    assert finding.measures == {"lost_records": 400.0, "partitions": 1.0, "backlog_records": 405.0}
    assert finding.started_at.timestamp() == at("10:01:00")
    assert [e.why for e in finding.evidence] == [rule.say(key) for key in ("auto", "waiting", "ends", "first")]


def test_a_process_that_was_killed_ended_after_it_was_last_heard_of_and_not_when_the_next_one_began():
    killed = [
        client(
            "a",
            "10:00:00 settings\n10:00:00 starting\n10:00:01 joined 1 {a1} range\n"
            "10:01:03 starting\n10:01:04 joined 2 {a2} range",
        ),
        begins("10:00:02 a set 0 0"),
        listed("a"),
    ]
    (finding,) = rule.detect(facts(killed, QUEUED, LEDGER, STANDS, AUTO)).findings
    assert finding.started_at.timestamp() == finding.ended_at.timestamp() == at("10:00:55")
    assert finding.statement.values["heard"]
    assert [e.why for e in finding.evidence] == [rule.say(key) for key in ("auto", "gone", "first")]


def test_without_a_sign_of_early_commits_it_is_likely_only():
    assert said(rule, LIFE, QUEUED, LEDGER, STANDS, EXPLICIT) == [("CRITICAL", "LIKELY", 400)]


def test_holes_before_the_queue_leave_it_likely():
    holes = messages(f"from to at handled\n0 299 10:00 {A}\n300 309 10:00 -\n310 599 10:00 {A}\n600 999 10:00 -")
    assert said(rule, LIFE, holes, LEDGER, STANDS, AUTO) == [("CRITICAL", "LIKELY", 410)]


def test_a_commit_ahead_of_the_ledger_is_such_a_sign():
    ahead = stands("10:00:30 0 900\n10:01:00 0 1000", dumped=True)
    assert said(rule, LIFE, QUEUED, LEDGER, ahead, EXPLICIT) == [("CRITICAL", "PROVEN", 400)]


def test_without_a_ledger_the_queue_before_an_orderly_stop_is_the_most_that_was_lost():
    bare = [LIFE, STANDS, AUTO]
    (finding,) = rule.detect(facts(bare, queued("10:00:59.5", 405))).findings
    assert (finding.certainty.name, dict(finding.measures)) == ("LIKELY", {"backlog_records": 405.0})
    assert said(rule, bare, queued("10:00:20", 405)) == (ledgers("handled", group=GROUP),)


def test_a_stop_of_a_consumer_that_commits_what_it_has_done_needs_no_ledger():
    assert said(rule, LIFE, STANDS, EXPLICIT) == "clear"


def test_an_orderly_stop_with_an_empty_queue_lost_nothing():
    done = messages(f"from to at handled\n0 999 10:00 {A}")
    assert said(rule, LIFE, done, LEDGER, STANDS, AUTO, queued("10:00:59", 0)) == "clear"


def test_records_that_were_given_up_are_another_matter():
    dead = messages(f"from to at handled\n0 599 10:00 {A}\n600 600 10:00 -\n601 999 10:00 {A}")
    rows = [LIFE, dead, LEDGER, STANDS, AUTO, begins("10:00:40 a failed 0 600")]
    assert said(rule, rows) == another_matter(1, "skipped")


def test_lost_records_that_nothing_explains_are_a_symptom():
    holes = messages(f"from to at handled\n0 99 10:00 {A}\n100 109 10:00 -\n110 999 10:00 {A}")
    left = unexplained(facts(LIFE, holes, LEDGER, stands("10:00:10 0 50\n10:01:00 0 1000", dumped=True), EXPLICIT), ())
    passed = {
        "at": at("10:01:00"),
        "amount": ways("amount", records=10),
        "topic": TOPIC,
        "group": GROUP,
        "how": ways("holes"),
    }
    assert [s.text for s in left] == [room("symptoms")("passed", **passed)]


REVOKED = [
    client("a", "10:00:00 settings\n10:00:00 starting\n10:00:00 joined 1 {a1} range"),
    begins("10:00:02 a set 0 0\n10:00:30 a set 0 500"),
    client("a", "10:01:00 stopping\n10:01:00 leaving {a1} the consumer is being closed\n10:01:00 closed"),
    listed("a"),
]
DROPPED = messages(f"from to at handled\n0 299 10:00 {A}\n300 499 10:00 -\n500 999 10:00 {A}")
REACHES = noted("10:00:05 0 300\n10:00:35 0 500")


def test_a_queue_that_was_dropped_when_all_partitions_were_revoked_is_lost_to_the_member_that_got_them_back():
    rows = [REVOKED, DROPPED, REACHES, STANDS, AUTO]
    assert said(rule, rows) == [("CRITICAL", "PROVEN", 200)]
    (finding,) = rule.detect(facts(rows)).findings
    shown = told(finding.statement)
    assert (shown["members"], shown["at"], "stopped" in shown) == ("a", at("10:00:30"), False)


def test_what_it_had_not_committed_when_they_were_revoked_is_no_such_loss():
    earlier = messages(f"from to at handled\n0 299 10:00 {A}\n300 399 10:00 -\n400 999 10:00 {A}")
    assert said(rule, [REVOKED, earlier, REACHES, STANDS, EXPLICIT]) == another_matter(100, "holes")


def test_a_queue_that_was_kept_may_be_worked_off_later():
    nothing_since = messages(f"from to at handled\n0 299 10:00 {A}\n300 999 10:00 -")
    missing = said(rule, [REVOKED, nothing_since, noted("10:00:05 0 300"), STANDS, AUTO])
    assert missing == (ledgers("end", ledgers=A),)


def test_a_ledger_that_notes_the_last_record_that_was_committed_did_not_end_too_early():
    idle = [life("a", until="10:05:00"), begins("10:00:02 a set 0 0"), listed("a")]
    holes = messages(f"from to at handled\n0 299 10:00 {A}\n300 309 10:00 -\n310 999 10:00 {A}")
    assert said(rule, idle, holes, REACHES, STANDS, EXPLICIT) == another_matter(10, "holes")


def owned(text):
    """Stints on partition 0 as listings show them: rows ``clock partition committed member``, of clients a, b …"""
    rows = [row.split() for row in text.strip().splitlines()]
    listed = [
        replace(one, client_id=member[0], member_id=member)
        for when, queue, committed, member in rows
        for one in stands(f"{when} {queue} {committed} 2000")
    ]
    return [(s.client, s.low, s.high) for s in stints(facts(listed), GROUP, TOPIC, "0")]


def test_without_the_logs_of_consumers_listings_show_who_took_over_from_a_member_that_is_gone():
    assert owned("10:00:10 0 100 a-1\n10:00:20 0 600 a-1\n10:00:30 0 900 b-1") == [("a", 100, 600), ("b", 600, 900)]


def test_a_member_that_stays_has_what_it_gave_away_still_in_memory():
    moved = "10:00:10 0 100 a-1\n10:00:20 0 600 a-1\n10:00:30 0 900 b-1\n10:00:30 1 5 a-1"
    assert owned(moved) == [("", 100, 900)]
