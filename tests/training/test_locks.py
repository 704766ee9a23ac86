"""A reply can be read only by giving the answer it replies to."""

import json
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqlab.training.errors import BadKeyError
from mqlab.training.locks import derived, locked, sealed, unsealed

SALT = "00" * 16
answers = st.text(max_size=20)


@given(replies=st.dictionaries(answers, st.text(max_size=30), min_size=1, max_size=8), other=answers)
def test_each_answer_opens_its_own_reply_and_nothing_else_opens_any(replies, other):
    lock = locked(replies, SALT)

    assert {answer: lock.open(answer) for answer in replies} == replies
    assert other in replies or lock.open(other) is None


def test_neither_answers_nor_replies_stand_in_the_file():
    text = json.dumps(asdict(locked({"fan-out": {"text": "Five groups read it."}}, SALT)))

    assert "fan-out" not in text
    assert "Five" not in text


def test_the_length_of_a_reply_tells_nothing():
    lock = locked({"a": "short", "b": "x" * 400}, SALT)

    assert len({len(reply) for reply in lock.replies}) == 1


def test_a_reply_to_many_answers_is_kept_once():
    assert len(locked({f"server.log:{n}": "It proves it." for n in range(50)}, SALT).replies) == 1


def test_the_same_truth_is_sealed_to_the_same_bytes_and_another_salt_to_others():
    assert locked({"a": 1}, SALT) == locked({"a": 1}, SALT)
    assert not set(locked({"a": 1}, SALT).boxes) & set(locked({"a": 1}, "11" * 16).boxes)


def test_another_key_opens_nothing():
    box = sealed({"class": "fan-out"}, derived(b"one", "instructor"))

    assert unsealed(box, derived(b"one", "instructor")) == {"class": "fan-out"}
    with pytest.raises(BadKeyError):
        unsealed(box, derived(b"two", "instructor"))
