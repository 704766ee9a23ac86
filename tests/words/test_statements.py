"""Whole statements, as they read in English."""

from facts_builder import at
from said import statement

from mqlab.words import room


def test_records_that_were_committed_before_they_were_handled():
    lost = {"group": "billing", "amount": room("delivery-ways")("amount", records=400), "where": "partition 0 of bills"}
    stop = {"members": "a", "orderly": True, "at": at("10:01")}
    assert statement("commit-before-process-loss", {"backlog_records": 405}, **lost, **stop) == (
        "billing committed 400 records of partition 0 of bills that it never handled. a was stopped cleanly at "
        "10:01:00 UTC with them in memory; up to 405 had waited in its queue: lag does not show this loss."
    )


def test_a_member_that_dies_in_a_loop():
    loop = {"restarts": 4, "rebalances": 8, "life_seconds": 38}
    died = room("group-churn")("died", client="a", times=4)
    assert statement("group-churn", loop, subject="billing", each=[died], one=True) == (
        "In billing, a died 4 times and was restarted 4 times; it usually ran for 38.0 s. It cost 8 rebalances."
    )


def test_a_log_that_one_shape_of_line_fills():
    sizes = {"log_bytes": 360_120_000, "bytes_without": 120_000}
    rates = {"bytes_per_minute": 20_226_741, "bytes_per_minute_before": 2_000}
    log = {"subject": "app.log", "most": True, "since": at("10:42:12"), "earlier": 42 * 60}
    assert statement("log-explosion", {"shapes": 1, "share_of_bytes": 0.99967, **sizes, **rates}, **log) == (
        "1 line pattern makes up 99.96 % of app.log (360 MB), flooding it since 10:42:12 UTC; without it the log would "
        "be 120 kB. It grew by 20.2 MB a minute, up from 2.00 kB a minute (over 42.0 min)."
    )


def test_a_record_over_a_limit_of_whom_the_error_does_not_say():
    record = {"rejected_records": 1, "largest_record_bytes": 2_000_000}
    assert statement("oversize-record-rejected", record, owner="app", place="unknown", until=at("10:05")) == (
        "1 record of app (up to 2.00 MB) was rejected: above a limit of the client (max.request.size, "
        "message.max.bytes) or of the broker: this error stands for either. The last failure was at 10:05:00 UTC."
    )


def test_one_broker_that_was_restarted_in_good_order():
    away = {"since": at(0), "until": at(15), "bound": True}
    assert statement("rolling-restart", {"longest_outage_seconds": 15}, broker="1", alone=True, **away) == (
        "Broker 1 began a clean shutdown at 10:00:00 UTC and was back at 10:00:15 UTC; it was away for at most 15.0 s. "
        "No other broker restart is in the material."
    )
