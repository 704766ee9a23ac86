"""Records that producers were told of as failed: never more than were sent and not acknowledged."""

from dataclasses import replace

from facts_builder import at, facts, series
from message_builder import fates, part

from mqlab.shared.failures import failed

SENT = part("sent", 0, 99, "10:00", "10:20")
SOME = fates("queue from to messages at sent acked\n0 0 89 90 10:00 1 1\n- - - 10 10:01 1 0")
COUNTER = series("producer.topic_record_errors", [0, 40, 40], start=0, step=600, client_id="gateway", topic="orders")


def told(*rows):
    return failed(facts(SENT, COUNTER, *rows), "gateway", {"orders"}, at("10:00"), at("10:20"))


def test_a_counter_that_tells_of_more_than_were_left_without_an_acknowledgement_is_bounded_by_them():
    assert told(SOME) == 10


def test_a_counter_alone_is_believed():
    assert told() == 40


def test_records_that_an_application_sent_again_may_fail_and_be_taken_later():
    assert told(replace(SOME[0], sent=2), SOME[1]) == 40


def test_another_producer_of_the_topic_may_have_failed_too():
    other = series("producer.topic_record_errors", [0, 0], start=0, step=600, client_id="other", topic="orders")
    assert told(SOME, other) == 40
