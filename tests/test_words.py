"""Words: texts of catalogues, filled with what was seen, in each language."""

import pickle
import re
from string import Formatter

import pytest

from mqlab import words
from mqlab.commands import commands
from mqlab.languages import said, speak
from mqlab.units import Interval
from mqlab.words import Text, catalogue, filling, listed, room, rooms
from mqlab.words.filling import Filling, Measure, Unseen
from mqlab.words.telling import told as told_in

TEXTS = {
    "part": {"limit": [" ({timeout:duration})", ""], "who": ["{names}", "{members:member}"]},
    "cause": {"pause": "a pause of {seconds:duration}", "network": "the network"},
}


def places(template):
    """Names of the places of a template, without those that are parts of it."""
    return {name for _, name, _, _ in Formatter().parse(template) if name}


def templates(texts):
    """Every template of a text, of its clauses and their alternatives."""
    return [texts] if isinstance(texts, str) else [one for part in texts for one in templates(part)]


def shape(texts):
    """How many clauses and alternatives there are, whatever they say."""
    if isinstance(texts, dict):
        return {name: shape(text) for name, text in texts.items()}
    return [shape(text) for text in texts] if isinstance(texts, list) else "text"


@pytest.mark.parametrize(
    ("template", "values", "told"),
    [
        ("{topic} lost {lost:record}", {"topic": "orders", "lost": 4310}, "orders lost 4,310 records"),
        ("{lost:record} {lost:was|were} lost", {"lost": 1}, "1 record was lost"),
        ("{names:and} {names:was|were} there", {"names": ["a", "b", "c"]}, "a, b and c were there"),
        ("{names}; {names:by |}", {"names": ("a", "b")}, "a, b; a|b"),
        ("{waited:tenths} s after it", {"waited": 300.12}, "300.1 s after it"),
        ("for {timeout:duration}, at {at:clock}", {"timeout": 45, "at": 0}, "for 45.0 s, at 00:00:00"),
        ("{sent}", {"sent": Measure("bytes_out", Interval(1e6, 2e6, 3e6))}, "2.00 MB (1.00 MB to 3.00 MB)"),
        ("seen: {text:opening}.", {"text": "Lag 2.5 s. It fell."}, "seen: Lag 2.5 s."),
        ("{sent:copy of it}", {"sent": Interval(2, 2, 2)}, "2 copy of its"),
        ("{cause:of cause}", {"cause": "pause", "seconds": 3}, "a pause of 3.00 s"),
        ("expelled{limit}", {}, "expelled"),
        ("expelled{limit}", {"timeout": 10}, "expelled (10.0 s)"),
        ("{who}", {"members": 2}, "2 members"),
        ("{ongoing?}it goes on", {"ongoing": True}, "it goes on"),
        ("{{app}} = {n}", {"n": 0}, "{app} = 0"),
        ("{share:portion} of it", {"share": 0.99974}, "99.97 % of it"),
    ],
)
def test_a_place_is_written_in_its_form(template, values, told):
    assert Filling(values, TEXTS).text(template) == told


@pytest.mark.parametrize(
    ("template", "values"),
    [
        ("{lost:record} lost", {}),
        ("{lost:record} lost", {"lost": None}),
        ("{ongoing?}it goes on", {"ongoing": False}),
        ("{lost?}records were lost", {"lost": 0}),
        ("{cause:of cause}", {"cause": "nothing the table knows"}),
        ("{cause:of cause}", {"cause": "pause"}),
        ("{who} left", {}),
    ],
)
def test_what_was_not_seen_is_not_said(template, values):
    with pytest.raises(Unseen):
        Filling(values, TEXTS).text(template)


def test_a_clause_without_its_values_is_left_out_and_of_alternatives_the_first_that_fits_is_said():
    seen = {"subject": "billing", "cause": "it slept", "each": ["a once"]}
    head = "The coordinator of billing expelled a once, having heard nothing for session.timeout.ms"
    assert Text("session-timeout", "statement", seen) == f"{head}: it slept."
    costs = {
        "rebalances": 0,
        "duplicated_records": 3,
        "session_timeout_seconds": Measure("x_seconds", Interval(9, 9, 9)),
    }
    told = f"{head} (9.00 s): it slept. It cost 0 rebalances and 3 duplicates."
    assert Text("session-timeout", "statement", seen | costs) == told
    assert Text("session-timeout", "statement", seen | {"rebalances": 2}).endswith("It cost 2 rebalances.")


def test_a_text_is_told_in_the_language_that_is_spoken_its_values_too():
    each = [room("session-timeout")("each", client=name, times=2) for name in ("a", "b")]
    text = listed(each, ", ")
    assert (text, told_in(pickle.loads(pickle.dumps(text)), "zh")) == ("a 2 times, b 2 times", "a 2 次，b 2 次")
    speak("zh")
    try:
        assert said(room("fan-out")("received")) == "这个读取方消费的消息字节数（解压后）"
    finally:
        speak("en")


def test_texts_that_were_joined_come_apart_again():
    each = [room("session-timeout")("each", client=name, times=2) for name in ("a", "b")]
    assert words.pieces(listed(each)) == tuple(each)
    assert words.pieces(listed(each, ", ")) == ("a 2 times, b 2 times",)
    assert (words.pieces("a; b"), words.pieces("")) == (("a", "b"), ("",))


def test_a_text_that_nobody_wrote_is_an_error_and_an_absent_one_is_none():
    with pytest.raises(LookupError):
        room("fan-out")("nothing of that name")
    assert words.seen("fan-out", "mitigate", {}) is None
    assert words.seen("no such room", "verify", {}) is None


def test_every_room_has_the_same_texts_in_every_language():
    assert rooms("zh") == rooms("en")
    assert {name: shape(catalogue(name, "zh")) for name in rooms()} == {
        name: shape(catalogue(name, "en")) for name in rooms()
    }


@pytest.mark.parametrize("name", rooms())
def test_a_text_shows_the_same_in_every_language(name):
    def shown(language):
        texts = catalogue(name, language)
        flat = {
            key: text
            for table in (texts, *(part for part in texts.values() if isinstance(part, dict)))
            for key, text in table.items()
            if not isinstance(text, dict)
        }
        return {key: [places(one) for one in templates(text)] for key, text in flat.items()}

    assert shown("zh") == shown("en")


@pytest.mark.parametrize("name", rooms())
def test_places_have_forms_and_tables_that_there_are(name):
    texts = catalogue(name, "en")
    tables = {key for key, text in texts.items() if isinstance(text, dict)}
    every = [
        one for text in texts.values() for one in templates(list(text.values()) if isinstance(text, dict) else text)
    ]
    chosen = [form.removeprefix("of ") for one in every for _, _, form, _ in Formatter().parse(one)
              if form and form.startswith("of ")]  # fmt: skip
    assert set(chosen) | ({"part"} & tables) == tables
    assert all(" " not in field for one in every for field in places(one)), filling.__doc__
    assert not [part for part, text in texts.get("part", {}).items() for one in templates(text) if part in places(one)]


def test_no_text_is_left_that_nobody_says():
    package = words.resources.files("mqlab")
    said = [*package.rglob("*.py"), *package.rglob("*.j2")]
    code = "".join(file.read_text(encoding="utf-8") for file in said)
    fixed = {"statement", "mitigate", "fix", "verify", "part"}
    unsaid = [
        f"{name}: {key}" for name in rooms() for key, text in catalogue(name, "en").items()
        if key not in fixed and not isinstance(text, dict) and not re.search(rf'"{re.escape(key)}"', code)
    ]  # fmt: skip
    assert unsaid == []


def test_what_fetches_a_missing_thing_are_texts_and_commands_that_there_are():
    for name, asked in words._fetch().items():
        assert asked.keys() <= catalogue(name, "en").keys()
        assert {one for names in asked.values() for one in names} <= commands().keys()


@pytest.mark.parametrize(
    ("name", "key", "values", "idle"),
    [
        ("common", "none-needed", {}, True),
        ("consumer-offline", "mitigate", {"group": "billing", "back": 1}, True),
        ("consumer-offline", "mitigate", {"group": "billing", "back": None}, False),
        ("subscription-mismatch", "mitigate", {"subject": "billing", "ongoing": None}, True),
        ("subscription-mismatch", "mitigate", {"subject": "billing", "ongoing": 1}, False),
        ("reconnect-flaky-link", "fix", {}, False),
    ],
)
def test_a_repair_says_as_data_that_nothing_is_to_be_done(name, key, values, idle):
    assert words.is_idle(words.Text(name, key, values)) is idle
    assert not words.is_idle(str(words.Text(name, key, values))), "plain words tell nothing"
