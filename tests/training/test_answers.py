"""What people type becomes the one form under which its reply is locked."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqlab.training.answers import Amount, Choice, Moment, Place, moment_of
from mqlab.training.errors import BadAnswerError

NOON = moment_of("2026-11-21T12:00:00Z")


@pytest.mark.parametrize("text", ["fan-out", "2", "FAN-OUT", " several groups read it "])
def test_a_choice_is_given_by_name_by_number_or_by_its_words(text):
    options = {"healthy": "nothing is wrong", "fan-out": "Several groups read it"}

    assert Choice(options).keys(text) == ("fan-out",)


@pytest.mark.parametrize("text", ["3", "0", "fan", ""])
def test_what_is_no_option_is_said_and_not_counted(text):
    with pytest.raises(BadAnswerError, match="is not an option"):
        Choice({"healthy": "nothing", "fan-out": "groups"}).keys(text)


@pytest.mark.parametrize(
    "text", ["12:00:00", "12:00", "12:00Z", "12:00:00 UTC", "2026-11-21 12:00:00", "2026-11-21T13:00:00+01:00"]
)
def test_a_moment_is_read_with_and_without_its_day(text):
    form = Moment(4, "2026-11-21")

    assert form.keys(text) == (form.cell(NOON),)


@given(off=st.floats(-3600, 3600), seconds=st.floats(1, 120))
def test_a_moment_near_enough_has_the_full_credit_and_one_far_off_none(off, seconds):
    form = Moment(seconds, "2026-11-21")
    credits = dict(form.near(NOON))
    credit = credits.get(form.cell(NOON + off), 0.0)

    if abs(off) <= seconds:
        assert credit == 1.0
    elif seconds * 1.5 < abs(off) <= seconds * 2.7:
        assert credit == 0.5
    elif abs(off) > seconds * 3.6:
        assert credit == 0.0


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("812169000", "bytes", 812169000), ("812 MB", "bytes", 812e6), ("0.812GB", "bytes", 812e6),
        ("1,562", "messages", 1562), ("1 562", "messages", 1562), ("1.5k", "messages", 1500), ("45", "s", 45),
        ("45s", "seconds", 45), ("1.5min", "s", 90), ("17×", "times", 17), ("0", "messages", 0),
        ("1562 messages", "messages", 1562),
    ],
)  # fmt: skip
def test_an_amount_is_read_with_its_unit(text, unit, value):
    form = Amount(unit, 0.01)

    assert form.keys(text) == (form.cell(value),)


@given(value=st.floats(1, 1e12), share=st.floats(-0.9, 5), within=st.sampled_from([0.01, 0.1, 0.25]))
def test_an_amount_near_enough_has_the_full_credit_and_one_far_off_none(value, share, within):
    form = Amount("bytes", within)
    credit = dict(form.near(value)).get(form.cell(value * (1 + share)), 0.0)

    if abs(share) <= 0.9 * within:
        assert credit == 1.0
    elif abs(share) > 4 * within:
        assert credit == 0.0


def test_a_count_is_exact_and_so_is_nothing():
    assert dict(Amount("messages", 0).near(1562)) == {"=1562": 1.0}
    assert dict(Amount("messages", 0.1).near(0)) == {"=0": 1.0}
    assert Amount("messages", 0).keys("1563") == ("=1563",)


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("logs/kafka-1/server.log:834", ("logs/kafka-1/server.log:834", "logs/kafka-1/server.log")),
        ("clients/a.log:7", ("clients/a.log:7", "clients/a.log")),
        ("a.log:7", ("clients/a.log:7", "clients/a.log")),
        ("a.log", ("clients/a.log",)),
    ],
)
def test_a_place_is_a_file_or_the_end_of_its_path_with_a_line(text, keys):
    assert Place(("logs/kafka-1/server.log", "logs/kafka-2/server.log", "clients/a.log")).keys(text) == keys


@pytest.mark.parametrize("text", ["server.log:3", "b.log:3", "nothing"])
def test_a_place_that_is_no_file_or_more_than_one_is_said(text):
    with pytest.raises(BadAnswerError, match="not name exactly one file"):
        Place(("logs/kafka-1/server.log", "logs/kafka-2/server.log")).keys(text)
