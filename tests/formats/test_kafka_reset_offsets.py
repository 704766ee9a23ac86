"""What kafka-consumer-groups prints when somebody sets or removes offsets."""

import pytest

from mqlab.formats import kafka_reset_offsets as loader
from mqlab.formats.base import Head
from mqlab.tables import EVENTS

MODERN = """
GROUP                          TOPIC                          PARTITION  NEW-OFFSET
quote-board                    price.ticks                    2          1667
quote-board                    price.ticks                    0          1802
"""
ONE_LINE = """

GROUP                          TOPIC                          PARTITION  NEW-OFFSET     quote-board                    \
price.ticks                    2          1667           quote-board                    price.ticks                    \
1          1677           """
OLD = """
$ kafka-consumer-groups.sh --bootstrap-server b:9092 --group billing --reset-offsets --to-latest --topic t --execute
TOPIC                          PARTITION  NEW-OFFSET
t                              0          12
"""
DELETED = """
Request succeed for deleting offsets with topic stock.moves:1 group stock-view

TOPIC                          PARTITION       STATUS
stock.moves                    1               Successful
"""
COLUMNS = "at kind group topic queue value"


@pytest.mark.parametrize("text", [MODERN, ONE_LINE, OLD, DELETED])
def test_the_tool_is_recognised(text):
    assert loader.recognise(Head("out.txt", text, len(text)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (MODERN, [("quote-board", "price.ticks", "2", 1667.0), ("quote-board", "price.ticks", "0", 1802.0)]),
        (ONE_LINE, [("quote-board", "price.ticks", "2", 1667.0), ("quote-board", "price.ticks", "1", 1677.0)]),
        (OLD, [("billing", "t", "0", 12.0)]),
    ],
    ids=["a row a line", "rows on one line", "without a column for the group"],
)
def test_each_partition_is_an_event(loaded, text, expected):
    found = loaded(loader, EVENTS, COLUMNS, text, snapshot_at="2026-11-22 03:28:11")
    assert sorted(found) == sorted(("03:28:11", "offsets-set", *row) for row in expected)


def test_removed_offsets_have_no_value(loaded):
    assert loaded(loader, EVENTS, "kind group topic queue value", DELETED) == [
        ("offsets-removed", "stock-view", "stock.moves", "1", None)
    ]
    whole = DELETED.replace("stock.moves:1", "stock.moves")
    assert loaded(loader, EVENTS, "topic queue", whole) == [("stock.moves", None)]


def test_headers_and_statuses_are_noise(classes):
    assert classes(loader, DELETED) == ["data", "noise", "noise", "noise", "noise"]
    assert classes(loader, MODERN) == ["noise", "data", "data", "noise"]
    assert classes(loader, ONE_LINE) == ["noise", "data"]


def test_a_line_that_holds_more_than_rows_is_not_understood(classes):
    numbers = "1 " * 5000 + "x"
    assert classes(loader, f"g t 0 5 and more\n{numbers}\ng t 0 5 t 1 6") == [None, None, "data"]
