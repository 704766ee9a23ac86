"""Members that subscribe to different things: who is told to lack the topic, and what is a release."""

from __future__ import annotations

from dataclasses import replace

import pytest
from facts_builder import at, facts
from group_builder import FLIPS, GROUP, TOPIC, allocated, broker_log, flip, listing, listings, queue, queues, told

from mqlab.detectors.subscription_mismatch import detect, say
from mqlab.findings import Certainty, Result, Severity

A, B, C, D = "A@1 10.0.0.1:1001", "B@2 10.0.0.2:1002", "C@3 10.0.0.3:1003", "D@4 10.0.0.4:1004"


def trades(stuck, count=4, until=400):
    """Queues of which the *stuck* ones are read for 100 s only."""
    return [
        queue(f"broker-a/{n}", [(100, 3, 3), (until - 100, 3, 0 if n in stuck else 3)], topic="TRADES")
        for n in range(count)
    ]


def reads(*told_by):
    return [allocated(1, client, f"host-{client[0]}", ["broker-a/0"], topic=topic) for client, topic in told_by]


def only(*rows):
    (one,) = detect(facts(*rows)).findings
    return one


def absent(finding):
    """The members that are said not to read the topic."""
    return [client for one in finding.statement.values["absent"] for client in one.values["clients"]]


def consequences(finding):
    """What is said of the queues: which of them nobody reads, and that only tags differ."""
    return finding.statement.values["unread"], finding.statement.values["tags"]


@pytest.mark.parametrize(("stuck", "client"), [({0, 1}, "A@1"), ({2, 3}, "B@2")])
def test_who_lacks_the_topic_is_told_by_the_share_that_stands_still(stuck, client):
    one = only(listings(0, 400, 20, A, B), FLIPS, trades(stuck))
    assert (one.certainty, one.severity) == (Certainty.PROVEN, Severity.CRITICAL)
    assert one.statement.values["absent"] == [say("absent", clients=[client], topic="TRADES")]
    assert (one.measures["members_without_topic"], one.measures["orphan_queues"]) == (1, 2)


def test_two_members_can_lack_it_and_a_share_of_the_other_allocation():
    one = only(listings(0, 400, 20, A, B, C, D), FLIPS, trades({0, 1, 4, 5}, 8))
    assert absent(one) == ["A@1", "C@3"]
    circle = only(listings(0, 400, 20, A, B), FLIPS, trades({1, 3}))
    assert absent(circle) == ["B@2"]


def test_queues_that_are_no_share_say_nothing_of_who_lacks_it():
    one = only(listings(0, 400, 20, A, B), FLIPS, trades({0, 1, 2}))
    assert (one.certainty, one.measures) == (Certainty.LIKELY, {"flips": 8, "peak_lag": 2700, "pending_records": 2700})
    assert consequences(one) == ([], False)


def test_equal_ids_are_not_tried_as_members_that_lack_the_topic():
    one = only(listings(0, 400, 20, A, "A@1 10.0.0.2:1002"), FLIPS, trades({2, 3}))
    assert one.certainty == Certainty.LIKELY


def test_a_member_without_queues_prints_no_line_and_may_read_the_topic():
    logs = reads(*((c.split()[0], TOPIC) for c in (A, B, C, D)), ("B@2", "TRADES"))
    one = only(listings(0, 400, 20, A, B, C, D), FLIPS, logs, trades({0}, 2))
    assert (absent(one), one.measures["members_without_topic"]) == (["A@1"], 1)


def test_each_broker_takes_the_topic_away_on_its_own():
    both = (flip(100, "remove"), flip(100.5, "remove", "broker-b"), flip(200, "add"), flip(200.5, "add", "broker-b"))
    assert detect(facts(listings(0, 600, 20, A, B), both, trades((), 4))).findings == ()
    again = (*FLIPS, *(flip(100 + 30 * n, "remove", "broker-b") for n in range(7)))
    assert only(listings(0, 400, 20, A, B), again).measures["flips"] == 8


def test_a_release_that_only_listings_see_is_none():
    flips = [flip(when, reason) for when, reason in zip(range(100, 280, 30), ("remove", "add") * 3, strict=True)]
    old, new = (A, B), ("A@11 10.0.0.1:2001", "B@12 10.0.0.2:2002")
    seen = [listing(t, (new if t >= 100 else old)[0], (new if t >= 250 else old)[1]) for t in range(0, 600, 20)]
    moves = queues(4, range(4), seconds=600, topic="TRADES")
    assert detect(facts(seen, flips, broker_log(), moves)) == Result(rejected=say("released", group=GROUP))


def test_a_process_with_a_number_of_its_own_that_reconnects_is_the_same():
    flips = [flip(when, reason) for when, reason in zip(range(100, 280, 30), ("remove", "add") * 3, strict=True)]
    seen = [listing(t, f"A@1#77 10.0.0.1:{t}", f"B@2#88 10.0.0.2:{t}") for t in range(0, 600, 20)]
    assert detect(facts(seen, flips, queues(4, range(4), seconds=600, topic="TRADES"))).findings


STATUS = (told(300, "A@1", f"{TOPIC}:*;TRADES:*"), told(300, "B@2", f"{TOPIC}:*"))


def test_one_sighting_of_other_topics_is_proven_by_what_stands_still():
    one = only(listings(0, 400, 20, A, B), STATUS, trades({2, 3}))
    assert (one.certainty, one.ongoing, absent(one)) == (Certainty.PROVEN, True, ["B@2"])


def test_one_sighting_at_the_end_looks_back():
    status = (told(400, "A@1", f"{TOPIC}:*;TRADES:*"), told(400, "B@2", f"{TOPIC}:*"))
    assert only(listings(0, 400, 20, A, B), status, trades({2, 3})).certainty == Certainty.PROVEN


def test_one_sighting_is_over_only_where_a_later_one_shows_it():
    rows = (listings(0, 600, 20, A, B), STATUS, queues(4, range(4), seconds=600, topic="TRADES"))
    one = only(rows)
    assert (one.certainty, one.ongoing) == (Certainty.LIKELY, True)
    assert consequences(one) == ([], False)
    later = [told(500, client, f"{TOPIC}:*;TRADES:*") for client in ("A@1", "B@2")]
    assert detect(facts(rows, later)) == Result(rejected=say("settled", group=GROUP))


def test_other_tags_of_the_same_topic_leave_no_queue_without_a_reader():
    tags = (told(300, "A@1", f"{TOPIC}:*"), told(300, "B@2", f"{TOPIC}:TagA"))
    stuck = [queue(f"broker-a/{n}", [(400, 3, 3 if n < 2 else 0)]) for n in range(4)]
    one = only(listings(0, 400, 20, A, B), tags, stuck)
    assert (one.certainty, one.measures) == (Certainty.LIKELY, {})
    assert consequences(one) == ([], True)


def status(when, ends, topic="TRADES"):
    """topicStatus: where the queues of a topic end, of no group."""
    shown = [queue(f"broker-a/{n}", [], topic=topic, ahead=end) for n, end in enumerate(ends)]
    return [replace(one, group=None, committed=None, at=at(when)) for rows in shown for one in rows]


def test_what_waits_is_told_by_whoever_told_of_the_queues_last():
    known = (listings(0, 340, 20, A, B), FLIPS, trades({2, 3}, until=340))
    plain, hidden = only(*known), only(*known, status(345, [1040] * 4))
    assert (plain.measures["pending_records"], plain.measures["peak_lag"]) == (1440, 1440)
    assert (hidden.measures["pending_records"], hidden.measures["peak_lag"]) == (1480, 1480)
    (unread,) = hidden.statement.values["unread"]
    assert (unread.values["waiting"], unread.values["ongoing"]) == (1480, True)
    assert only(*known, status(345, [1040] * 4, "OTHERS")).measures == plain.measures


def test_what_came_after_it_was_over_is_not_what_waited_because_of_it():
    known = (listings(0, 420, 20, A, B), FLIPS, trades({2, 3}))
    assert only(*known, status(420, [1260] * 4)).measures == only(*known).measures


def test_expressions_that_replace_each_other_are_a_mismatch_and_those_of_a_rollout_are_none():
    replaced = [flip(100 + 30 * n, "update") for n in range(6)]
    one = only(listings(0, 400, 20, A, B), replaced)
    assert (one.certainty, one.measures["flips"]) == (Certainty.LIKELY, 6)
    assert consequences(one) == ([], True)
    assert detect(facts(listings(0, 400, 20, A, B), [flip(100 + 5 * n, "update") for n in range(6)])) == Result()


@pytest.mark.parametrize(("last", "found"), [("A || B", 1), ("A", 0)], ids=["taken back", "rolled out"])
def test_an_expression_that_is_taken_back_was_a_mismatch_however_soon(last, found):
    def replaced(at, old, new):
        line = "OLD: SubscriptionData [subString={}, tagsSet=[]] NEW: SubscriptionData [subString={}, tagsSet=[]]"
        one = flip(at, "update")
        text = replace(one.first, text=line.format(old, new))
        return replace(one, first=text, last=text)

    rows = [replaced(100, "A || B", "A"), replaced(101, "A", "A || B"), replaced(140, "A || B", last)]
    result = detect(facts(listings(0, 400, 20, A, B), rows))
    assert [(f.certainty, f.ongoing) for f in result.findings] == [(Certainty.LIKELY, False)] * found
