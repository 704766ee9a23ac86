"""What cannot both be true is a contradiction, and nothing else is."""

from dataclasses import replace

import pytest
from contradictions import contradictions
from report_example import diagnosis, split_loop

FINDING = replace(split_loop(), ledger=None, measures={})
DIAGNOSIS = diagnosis(FINDING)


def said_of(**changed):
    """Contradictions of a diagnosis whose first finding is otherwise."""
    return contradictions(diagnosis(replace(FINDING, **changed)))


def test_a_diagnosis_of_one_piece_has_none():
    assert contradictions(DIAGNOSIS) == []


@pytest.mark.parametrize(
    ("measures", "told"),
    [
        ({"lost_records": 5, "lost_records_low": 6}, "lost_records is 6 <= 5"),
        ({"lost_records_low": 6, "lost_records_high": 5}, "lost_records is 6 <= 5"),
        ({"lost_records": 5, "published_messages": 4}, "lost_records 5 of published_messages 4"),
        ({"excess_bytes": -1}, "excess_bytes is -1"),
    ],
)
def test_numbers_that_do_not_fit_are_told(measures, told):
    assert said_of(measures=measures) == [f"{FINDING.id}: {told}"]


@pytest.mark.parametrize(
    "measures",
    [
        {"lost_records": 5, "lost_records_low": 4, "published_messages": 4, "published_messages_high": 6},
        {"lag_growth_per_second": -3},
    ],
)
def test_numbers_whose_bounds_allow_it_are_not(measures):
    assert said_of(measures=measures) == []


def test_a_class_that_is_found_is_not_clear():
    assert contradictions(replace(DIAGNOSIS, clear=(FINDING.incident,))) == [f"{FINDING.incident} is found and clear"]
