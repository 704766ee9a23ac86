"""A part of the material: what is asked for must be there."""

import pytest
from facts_builder import episode, facts, series

from mqlab.narrowing import AbsentError, narrowed

EVERYTHING = facts(
    episode("poll-timeout", 10, client_id="app-1", group="billing", topic="orders"),
    series("consumer.lag", [1, 2], group="audit", topic="orders"),
)


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"group": "biling"}, "The group 'biling' does not occur in the material. Those that do: billing, audit."),
        ({"topic": "Orders"}, "The topic 'Orders' does not occur in the material. Those that do: orders."),
        ({"client": "x"}, "The client 'x' does not occur in the material. Those that do: app-1."),
    ],
)
def test_a_name_that_does_not_occur_is_an_error_that_lists_those_that_do(asked, sentence):
    names = {"group": None, "topic": None, "client": None, **asked}
    with pytest.raises(AbsentError) as error:
        narrowed(EVERYTHING, None, None, **names)
    assert (str(error.value), error.value.exit_code) == (sentence, 64)


def test_a_name_in_a_label_or_a_row_is_there():
    assert narrowed(EVERYTHING, None, None, "audit", None, None).episodes == ()
    assert len(narrowed(EVERYTHING, None, None, "billing", None, None).episodes) == 1
