"""How long partitions had no owner in each cooperative rebalance: who gave them up, and when somebody took them."""

from facts_builder import facts
from kafka_builder import GROUP, client, coordinator

from mqlab.kafka.rebalances import history

EPOCHS = coordinator("""
    10:00:00 new {1}
    10:00:00 bumped 1
    10:00:05 new {2}
    10:00:05 bumped 2
    10:01:00 expired {1}
    10:01:00 bumped 3
    10:02:00 new {1}
    10:02:00 bumped 4
    10:03:00 left {1}
    10:03:00 bumped 5
""")


def still(*rows):
    """Seconds of standstill of each rebalance."""
    return [row.standstill for row in history(facts(EPOCHS, *rows), GROUP)]


def test_each_rebalance_answers_for_the_partitions_that_were_given_up_in_it():
    a = client("a", """
        09:59:50 settings
        10:00:01 got t-0, t-1
        10:00:06 revoked t-1
        10:01:59 lost t-0
        10:02:03 got t-1
        10:02:59 revoked t-1
        10:03:00 closed
    """)  # fmt: skip
    b = client("b", "09:59:55 settings\n10:00:09 got t-1\n10:01:02 got t-0\n10:02:01 revoked t-1\n10:03:04 got t-1")
    assert still(a, b) == [0.0, 3.0, 2.0, 2.0, 5.0]


def test_what_an_expelled_member_had_stands_still_from_its_expulsion_and_not_from_when_it_hears_of_it():
    a = client("a", "09:59:50 settings\n10:00:01 got t-0\n10:01:59 lost t-0\n10:02:01 got")
    b = client("b", "09:59:55 settings\n10:01:04 got t-0")
    assert still(a, b)[2:4] == [4.0, 0.0]


def test_partitions_that_nobody_took_again_have_no_standstill_that_is_known():
    a = client("a", "09:59:50 settings\n10:00:01 got t-0\n10:02:59 revoked t-0\n10:03:00 closed")
    assert still(a) == [0.0, None, None, None, None]
