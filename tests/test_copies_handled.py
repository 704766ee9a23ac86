"""Copies of messages that several members handled, by their ledgers."""

from facts_builder import at, facts, positions

from mqlab.rows import Delivery, Tally
from mqlab.shared.copies import Copies, copies

LEDGERS = ("one/consumed.csv", "two/consumed.csv")


def test_copies_at_the_edges_count_and_the_average_is_of_what_lies_between():
    tallies = [Tally(at("10:00:00"), "consumed", "orders", "0", 9, source, 1) for source in LEDGERS]
    noted = [
        Delivery(at(when), "orders", "0", by, messages)
        for when, by, messages in (
            ("10:00:00", LEDGERS, 2),
            ("10:00:10", LEDGERS, 5),
            ("10:00:20", LEDGERS, 3),
            ("10:00:30", LEDGERS, 7),
            ("10:00:10", LEDGERS[:1], 5),
        )
    ]
    read = positions("at group topic queue committed end\n10:05 billing orders 0 100 100")

    told = copies(facts(tallies, noted, read), "billing", "orders", at("10:00:05"), at("10:00:25"))
    assert told == Copies(2 + 5 + 3, {"0": 1.5})
