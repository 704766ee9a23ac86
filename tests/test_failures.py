"""Records that producers were told of as failed: never more than were sent and not acknowledged."""

from dataclasses import replace

from facts_builder import at, episode, facts, series
from message_builder import fates, part

from mqlab.shared.failures import Source, failed

SENT = part("sent", 0, 99, "10:00", "10:20")
SOME = fates("queue from to messages at sent acked\n0 0 89 90 10:00 1 1\n- - - 10 10:01 1 0")
COUNTER = series("producer.topic_record_errors", [0, 40, 40], start=0, step=600, client_id="gateway", topic="orders")


LATE = episode("record-expired", "10:05", "clients/gateway.log", client_id="gateway", topic="orders", left=2)


def counted(*rows):
    return failed(facts(COUNTER, *rows), "gateway", {"orders"}, at("10:00"), at("10:20"))


def told(*rows):
    return counted(SENT, *rows).records


def printed(given, taken, lost, *, start=0):
    """Counters that the application of the gateway prints every ten minutes."""
    log = {"start": start, "step": 600, "source": "clients/gateway.log"}
    names = ("app.received", "app.delivered", "app.failed")
    return [series(name, values, **log) for name, values in zip(names, (given, taken, lost), strict=True)]


def test_a_counter_that_tells_of_more_than_were_left_without_an_acknowledgement_is_bounded_by_them():
    assert told(SOME) == 10


def test_a_counter_alone_is_believed():
    assert told() == 40


def test_records_that_an_application_sent_again_may_fail_and_be_taken_later():
    assert told(replace(SOME[0], sent=2), SOME[1]) == 40


def test_another_producer_of_the_topic_may_have_failed_too():
    other = series("producer.topic_record_errors", [0, 0], start=0, step=600, client_id="other", topic="orders")
    assert told(SOME, other) == 40


def test_an_application_that_counts_each_callback_is_believed_before_the_counter_of_its_client():
    both = counted(LATE, *printed([0, 500, 500], [0, 470, 472], [0, 28, 28]))
    assert (both.records, both.by) == (28, Source.APPLICATION)


def test_failures_of_an_application_before_and_after_a_restart_add_up():
    assert counted(LATE, *printed([0, 500, 300], [0, 480, 290], [0, 20, 10])).records == 30


def lines(source, count):
    return episode("record-expired", "10:05", source, count=count)


def test_a_file_named_after_a_log_notes_its_failures_again_and_counts_none():
    own, again, other = lines("apps/shop.log", 8), lines("apps/shop-outbox.csv", 5), lines("apps/shop-billing.log", 5)
    sums = [
        failed(facts(*rows), None, {"orders"}, None, None).records for rows in ((own, again), (own, other), (again,))
    ]
    assert sums == [8, 13, 5]
    counts = [
        series(f"app.{verb}", [0, n], start=0, step=1200, source="apps/shop.log")
        for verb, n in (("sent", 100), ("acked", 93), ("failed", 7))
    ]
    assert failed(facts(own, again, counts), None, {"orders"}, at("10:00"), at("10:20")).records == 7


def test_an_application_whose_counts_do_not_add_up_counts_something_else():
    both = counted(LATE, *printed([0, 500, 500], [0, 500, 500], [0, 28, 28]))
    assert (both.records, both.by) == (40, Source.COUNTER)


def test_an_application_that_prints_no_more_before_the_end_did_not_count_all():
    assert counted(LATE, *printed([0, 500], [0, 480], [0, 20])).by == Source.COUNTER


def test_an_application_that_had_failed_before_its_first_print_tells_no_part_of_it():
    assert counted(LATE, *printed([90, 500], [70, 480], [20, 20], start=600)).by == Source.COUNTER


def test_an_application_that_writes_to_another_topic_too_counts_the_failures_of_both():
    other = series("producer.topic_record_errors", [0, 5, 5], start=0, step=600, client_id="gateway", topic="audit")
    assert counted(LATE, other, *printed([0, 500, 500], [0, 470, 472], [0, 28, 28])).by == Source.COUNTER


def test_what_counted_the_failures_is_said():
    assert counted().how == "by record-error-total, which may count a record twice"


def too_large(when, **more):
    return episode("record-too-large", when, "clients/gateway.log", client_id="gateway", left=9_000_000, **more)


def test_a_record_that_was_refused_as_too_large_is_told_as_that_and_did_not_fail_once_more():
    assert told(too_large("10:05"), too_large("10:06", count=2)) == 37
    assert counted(LATE, too_large("10:06", count=3), *printed([0, 500, 500], [0, 470, 472], [0, 28, 28])).records == 25


def test_what_was_refused_at_another_time_or_of_another_client_leaves_the_failed_ones_as_they_are():
    other = episode("record-too-large", "10:05", "clients/o.log", client_id="other", topic="orders", left=9_000_000)
    assert told(too_large("10:25"), other, too_large("10:05", topic="audit")) == 40


def test_lines_of_expired_records_name_no_record_that_was_too_large():
    rows = [replace(LATE, count=1), too_large("10:05")]
    assert failed(facts(*rows), "gateway", {"orders"}, at("10:00"), at("10:20")).records == 2
