"""What RocketMQ groups handled, by the ledgers of those who sent and consumed."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from facts_builder import at, episode, facts, log, positions
from group_builder import broker_log, connected
from message_builder import fates, part

from mqlab.delivery import path
from mqlab.delivery.audit import audits
from mqlab.delivery.log_audit import log_rows
from mqlab.delivery.rows import GroupRow, Outcome
from mqlab.findings import Certainty
from mqlab.rows import Client, Delivery, Tally
from mqlab.shared.copies import ledgers_of
from mqlab.views.audit_json import commands_for

GROUP, TOPIC = "order_sync", "orders"
ONE, TWO = "clients/app/one/consumed.csv", "clients/app/two/consumed.csv"
NOTED = "clients/gateway-acked.csv"
SENT = part("sent", 0, 99, "10:00", "10:20", queue="broker-a/0", source=NOTED)
MEMBER = Client(at("10:00"), "rocketmq", GROUP, "10.0.0.1@7", "10.0.0.1:4000", None, None, "connection.txt", 3, "")


def tally(source):
    return Tally(at("10:00"), "consumed", TOPIC, "broker-a/0", 100, source, 2)


def stands(committed, end=100, group=GROUP):
    return positions(f"at group topic queue committed end\n10:20 {group} {TOPIC} broker-a/0 {committed} {end}")


def sent(handled=ONE, acked=1):
    """A hundred messages whose own rows say SEND_OK: sent and acknowledged."""
    return fates(f"queue from to at sent acked handled\nbroker-a/0 0 99 10:00 1 {acked} {handled}")


def audit(*rows):
    (one,) = audits(facts(SENT, MEMBER, tally(ONE), *rows))
    return one


def test_rows_of_what_was_sent_that_say_send_ok_are_acknowledgements():
    (row,) = log_rows(facts(SENT, sent()), TOPIC)
    assert (row.sent, row.acked, row.unanswered) == (100, 100, 0)


def test_rows_without_an_answer_are_none():
    (row,) = log_rows(facts(SENT, sent(acked=0)), TOPIC)
    assert (row.sent, row.acked, row.unanswered) == (100, None, None)


def test_what_a_second_sender_got_as_an_answer_is_not_told_by_the_first():
    other = part("sent", None, None, "10:00", "10:20", queue="", source="clients/other-sent.csv")
    (row,) = log_rows(facts(SENT, other, sent()), TOPIC)
    assert (row.acked, row.unanswered) == (100, None)


def test_nothing_was_lost_where_a_group_handled_all():
    one = audit(sent(), stands(100))
    assert one.outcome is Outcome.COMPLETE
    assert one.groups == (GroupRow(GROUP, TOPIC, "broker-a/0", 100, 100, 100, 0, 0, 0, 0),)


def test_what_lies_behind_the_position_waits_and_what_lies_before_it_is_not_known():
    rows = fates(f"""
queue      from to at    sent acked handled
broker-a/0 0    59 10:00 1    1     {ONE}
broker-a/0 60   99 10:00 1    1     -
""")
    one = audit(rows, stands(70))
    (row,) = one.groups
    assert (row.handled, row.pending, row.unknown, one.outcome) == (60, 30, 10, Outcome.IN_LOG)
    assert one.statement == (
        "100 acknowledged; 30 are past the last known committed offset of order_sync, and in no ledger of it. "
        "Nothing was lost from the log. "
        "Unknown whether order_sync handled 10 of the messages before its position."
    )


@pytest.mark.parametrize(
    ("seconds", "around", "name"),
    [((90, 125), 100, path.AT_CHANGES), ((90, 300), 0, path.UNEXPLAINED), ((), 0, path.UNEXPLAINED)],
    ids=["while members changed", "when nobody came or went", "nobody knows when"],
)
def test_copies_that_came_while_members_changed_are_told_as_such(seconds, around, name):
    came = [
        connected(when, client, f"10.0.0.{n}:4000", group=GROUP)
        for n, (when, client) in enumerate(((0, "10.0.0.1@7"), (100, "10.0.0.2@7")))
    ]
    again = Delivery(at(90), TOPIC, "broker-a/0", (ONE, TWO), 100, tuple(map(at, seconds)))
    one = audit(sent(handled=f"{ONE}+{TWO}"), tally(TWO), stands(100), again, broker_log(), *came)
    assert [row.at_changes for row in one.doubled] == [around]
    assert [toll.incident for toll in path.doubles(one)] == [name]
    assert (one.statement.values["at_changes"], one.statement.values["rest"]) == (around, not around)


def test_copies_that_a_group_handled_stand_in_the_audit():
    one = audit(sent(handled=f"{ONE}+{TWO}"), tally(TWO), stands(100))
    assert (one.outcome, [row.extra for row in one.doubled]) == (Outcome.DOUBLED, [100])
    assert one.statement == "100 acknowledged; order_sync handled 100 duplicates."
    told = list(path.sentences([one]))
    assert told == ["orders: none lost of 100 acknowledged, 100 doubled by group order_sync"]


@pytest.mark.parametrize(
    ("certainty", "queues", "incident", "words"),
    [
        (Certainty.PROVEN, ("broker-a/0",), "duplicate-client-id", "By mechanism: duplicate-client-id."),
        (Certainty.PROVEN, ("broker-a/1",), None, ""),
        (Certainty.LIKELY, ("broker-a/0",), None, ""),
    ],
)
def test_copies_of_a_queue_in_several_hands_are_explained_where_these_are_proven(
    monkeypatch, certainty, queues, incident, words
):
    case = SimpleNamespace(certainty=certainty, doubles={TOPIC: SimpleNamespace(queues=queues)})
    monkeypatch.setattr("mqlab.delivery.queue_audit.shared_client_ids.cases", lambda *_: (case,))
    one = audit(sent(handled=f"{ONE}+{TWO}"), tally(TWO), stands(100))
    assert [row.incident for row in one.doubled] == [incident]
    assert words in one.statement
    assert ("mechanism" in one.statement) is bool(incident)


def test_a_ledger_of_no_known_group_leaves_open_what_its_reader_got():
    allocated = episode("queues-allocated", "10:00", "logs/one/client.log", group=GROUP, topic=TOPIC, client_id="a")
    rows = fates(f"""
queue      from to at    sent acked handled
broker-a/0 0    49 10:00 1    1     {ONE}
broker-a/0 50   99 10:00 1    1     {ONE}+{TWO}
""")
    one = audit(rows, tally(TWO), allocated, stands(100))
    assert one.outcome is Outcome.IN_LOG
    assert one.missing == (f"of which group {TWO} is",)


@pytest.mark.parametrize(("model", "key"), [("BROADCASTING", "own-offsets"), ("CLUSTERING", "owner")])
def test_the_ledger_of_a_broadcasting_member_is_known_by_the_log_beside_it(model, key):
    log, own = ("logs/one/client.log", "logs/two/client.log")
    allocated = episode("queues-allocated", "10:00", log, group=GROUP, topic=TOPIC, client_id="a")
    started = episode("consumer-starting", "10:00", own, system="rocketmq", group="prices", reason=model)
    one = audit(sent(handled=f"{ONE}+{TWO}"), tally(TWO), allocated, started, stands(100))
    assert [(missing.key, missing.values["ledger"]) for missing in one.missing] == [(key, TWO)]


def test_an_end_of_a_queue_that_is_not_known_is_asked_for_in_the_words_of_its_broker():
    rows = fates("queue from to at sent acked\nbroker-a/0 0 99 10:00 1 1")
    one = audit(rows, stands(50, end=60))
    (asked,) = one.missing[:1]
    assert asked == "mqadmin topicStatus of orders after the last acknowledgement: whether the log holds it"
    assert any("topicStatus" in command for command in commands_for([asked]))


@pytest.mark.parametrize(("software", "key"), [("rocketmq", "queue-end"), ("kafka", "went-back")])
def test_queues_that_ledgers_number_are_those_of_the_software_that_is_there(software, key):
    rows = fates("queue from to at sent acked\n0 0 99 10:00 1 1")
    noted = part("sent", 0, 99, "10:00", "10:20", queue="0", source=NOTED)
    (one,) = audits(facts(noted, rows, replace(log("logs/broker.log"), software=software)))
    assert one.missing[0].key == key


def test_ledgers_that_are_named_after_a_members_log_are_its_groups():
    allocated = episode("queues-allocated", 0, "clients/app-1/rocketmq_client.log", group=GROUP, system="rocketmq")
    every = ("clients/app-1-processed.csv", "clients/app-1/processed.csv", "clients/app-10-processed.csv")
    found = ledgers_of(facts(allocated, [tally(source) for source in every]), GROUP, TOPIC)
    assert found == set(every[:2])


@pytest.mark.parametrize("kind", ["consumer-starting", "consumer-stopped", "app-started"])
def test_the_log_of_a_member_that_starts_or_stops_names_the_group_of_its_ledger(kind):
    other = episode("queues-allocated", 0, "logs/two/client.log", group="prices", topic=TOPIC, system="rocketmq")
    own = episode(kind, 0, "logs/one/client.log", group=GROUP, system="rocketmq")
    prices = stands(100, group="prices")
    both = (tally(ONE), tally(TWO))
    assert ledgers_of(facts(other, own, both, stands(100), prices), GROUP, TOPIC) == {ONE}
    assert ledgers_of(facts(other, both, stands(100), prices), GROUP, TOPIC) == set()


def test_where_a_consumer_itself_stands_counts_and_a_broadcasting_one_is_no_reader():
    own = replace(*stands(90), at=at("10:21"), end=None, client_id="10.0.0.1@7")
    (row,) = audit(sent(), stands(70), own).groups
    assert (row.committed, row.pending) == (90, 0)
    prices = replace(own, group="prices")
    started = episode("consumer-starting", "10:00", "logs/two/c.log", system="rocketmq", group="prices")
    for model, readers in (("CLUSTERING", {GROUP, "prices"}), ("BROADCASTING", {GROUP})):
        one = audit(sent(), stands(70), prices, replace(started, reason=model))
        assert {row.group for row in one.groups} == readers


@pytest.mark.parametrize(("expression", "said"), [("pay || ship", True), ("*", False)])
def test_a_group_that_reads_some_tags_only_may_have_no_part_in_what_is_left(expression, said):
    member = replace(MEMBER, subscription=f"{TOPIC}:{expression}")
    one = audit(sent(handled="-"), member, stands(70))
    assert ("order_sync reads only pay || ship of orders" in one.statement) is said
    assert "reads only" not in audit(sent(), member, stands(100)).statement
