"""Undated lines belong to the record before them, minute by minute, without reading the log again."""

from mqlab.assembly.logs import LONGEST_RECORD, Counted, carrier_lines, continued


def test_a_flood_of_stack_traces_falls_into_its_minute():
    log = [
        Counted("10:00", 1, 100, 10_000),
        Counted("10:01", 101, 1_000, 100_000),
        Counted("10:02", 41_101, 100, 10_000),
        Counted(None, 102, 40_000, 4_000_000),
    ]
    assert continued(log) == {"10:01": 4_000_000}


def test_lines_before_the_first_record_belong_to_no_minute():
    log = [Counted("10:00", 11, 10, 1_000), Counted(None, 1, 20, 4_000)]
    assert continued(log) == {"10:00": 2_000}


def test_minutes_whose_lines_are_out_of_order_never_count_below_zero():
    log = [Counted("10:01", 1, 10, 1_000), Counted("10:00", 3, 10, 1_000), Counted(None, 21, 5, 500)]
    assert continued(log) == {"10:00": 500}


def test_more_lines_than_a_record_has_are_no_continuation():
    log = [Counted("10:00", 1, 1, 100), Counted(None, 2, LONGEST_RECORD + 1, 50_000)]
    assert continued(log) == {}


def test_a_log_without_moments_or_without_undated_lines_has_none():
    assert continued([Counted(None, 1, 5, 500)]) == continued([Counted("10:00", 1, 5, 500)]) == continued([]) == {}


def test_undated_lines_continue_those_that_complain_where_there_are_any():
    dated = {"10:00": 60, "10:01": 600, "10:02": 50}
    assert carrier_lines(dated, [{"10:00": 60, "10:01": 57}, {"10:01": 3}]) == {"10:00": 60, "10:01": 540, "10:02": 50}
