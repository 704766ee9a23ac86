"""Rounds of restarts: whether one came back before the next went, and when nobody was there."""

from mqlab.shared.restarts import Restart, Round


def round_of(*spans, whole=True):
    """Members a, b … stopped and started at these seconds."""
    each = (Restart(name, a, b, True, None, ()) for name, (a, b) in zip("abc", spans, strict=False))
    return Round("billing", tuple(each), whole)


def test_one_after_another_is_each_back_before_the_next_is_stopped():
    assert round_of((0, 20), (30, 50), (60, 80)).apart
    assert not round_of((0, 50), (15, 60), (30, 80)).apart


def test_clocks_of_two_logs_differ():
    assert round_of((0, 20), (19, 40)).apart


def test_a_group_is_empty_while_all_are_away():
    overlapping = (0, 50), (15, 60), (30, 80)
    assert round_of(*overlapping).empty == (30, 50)
    assert round_of((0, 20), (30, 50), (60, 80)).empty is None


def test_a_process_that_starts_is_no_member_before_it_has_joined():
    each = [Restart(name, a, a + 5, True, None, (), a + 5 + joins) for name, a, joins in (("a", 0, 2), ("b", 3, 9))]
    one = Round("billing", tuple(each), whole=True)
    assert (one.since, one.until, one.empty) == (0, 17, (3, 7))


def test_of_a_round_that_left_others_running_nobody_knows_that_the_group_was_empty():
    assert round_of((0, 50), (15, 60), whole=False).empty is None
