"""Why a receiver got fewer messages, as drawn data."""

from mqlab.figures.mqtt import funnel_bars, message_funnel
from mqlab.models.mqtt import funnel
from mqlab.mqtt.explained import Explained
from mqlab.units import Interval

LOSSES = [("dropped by a full queue", Interval(30, 30, 30)), ("above a quota", Interval(5, 10, 20))]


def one(published=100, received=60, copies=0, losses=LOSSES):
    return Explained("hist <b>1</b>", published, received, copies, funnel(published, received, losses), ())


def test_each_reason_hangs_where_the_one_above_ends():
    assert funnel_bars(one(copies=2)) == [
        ("published", 0.0, 100, "100"),
        ("dropped by a full queue", 70.0, 30, "30"),
        ("above a quota", 60.0, 10, "10 (5 to 20)"),
        ("unexplained", 60.0, 0, "0 (-10 to 5)"),
        ("received", 0.0, 60, "60, plus 2 duplicates"),
    ]


def test_nothing_left_over_is_not_drawn():
    exact = one(received=70, losses=LOSSES[:1])
    assert [name for name, *_ in funnel_bars(exact)] == ["published", "dropped by a full queue", "received"]


def test_names_are_shown_and_not_followed():
    assert message_funnel(one()).layout.title.text == "hist &lt;b&gt;1&lt;/b&gt;"


def test_without_ledgers_a_sentence_stands_there():
    assert "no ledgers" in message_funnel(None).layout.annotations[0].text
