"""Every form in which a secret stands is masked, and nothing that only looks like one."""

import io
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from secret_forms import forms

from mqlab.gather.masking import masked_bytes
from mqlab.secrets import Spanning, mask, mask_all

FORMS = forms()
LOOKALIKES = Path(__file__).with_name("secret_lookalikes.txt").read_text().splitlines()
NEEDS_WHAT_FOLLOWS = ("kubernetes secret, json over lines", "hocon triple quotes")
"""Forms that show only behind their values what these are."""


def left(text, found=FORMS):
    """The planted values that *text* holds still, with the names of their forms."""
    return [(form.name, value) for form in found for value in form.planted if value in text]


@pytest.mark.parametrize("form", FORMS, ids=[form.name for form in FORMS])
def test_no_planted_value_survives_and_a_text_keeps_its_lines(form):
    hidden = mask(form.text)

    assert left(hidden, [form]) == []
    assert hidden.count("\n") == form.text.count("\n")
    assert mask(hidden) == hidden


def test_forms_are_masked_in_one_file_too():
    assert left(mask("\n\n".join(form.text for form in FORMS))) == []


def test_forms_are_masked_in_a_file_of_crlf():
    found = [form for form in FORMS if form.name not in ("properties, pem continued",)]
    assert left(mask("\r\n\r\n".join(form.text.replace("\n", "\r\n") for form in found)), found) == []


def test_forms_are_masked_where_a_file_comes_in_pieces():
    found = [form for form in FORMS if form.name not in NEEDS_WHAT_FOLLOWS]
    spanning, lines = Spanning(), "\n\n".join(form.text for form in found).split("\n")
    pieces = [mask_all(spanning.masked(pl.Series(lines[at : at + 5]))).to_list() for at in range(0, len(lines), 5)]

    assert left("\n".join(line for piece in pieces for line in piece), found) == []


def test_what_goes_into_a_bundle_or_a_redacted_copy_holds_no_planted_value():
    text = "\n\n".join(form.text for form in FORMS)
    copy = b"".join(masked_bytes(io.BytesIO(text.encode()))).decode()

    assert left(copy) == []
    assert copy.count("\n") == text.count("\n")


@pytest.mark.parametrize("line", LOOKALIKES)
def test_what_only_looks_like_a_secret_stays(line):
    assert mask(line) == line


def test_what_only_looks_like_a_secret_stays_within_a_file():
    text = "\n".join(LOOKALIKES)
    assert mask(text).split("\n") == LOOKALIKES


def test_what_stands_around_a_secret_of_several_lines_stays():
    assert mask("a: 1\npassword: |\n  x y\n  z\nb: 2\n") == "a: 1\npassword: |\n  [masked]\n  [masked]\nb: 2\n"
    assert mask("credentials:\n  user: bob\n  key: x\nb: 2") == "credentials:\n  user: bob\n  key: [masked]\nb: 2"
    assert mask("ssl.key.password=\\\n    x\nacks=all") == "ssl.key.password=\\\n    [masked]\nacks=all"
    assert mask('{"password": ["a", "b"], "acks": 1}') == '{"password": ["[masked]", "[masked]"], "acks": 1}'
    assert mask('{"password": [1, 2, 3], "acks": 1}') == '{"password": "[masked]", "acks": 1}'
    assert mask("user,password\nbob,x\n") == "user,password\nbob,[masked]\n"


def test_the_rest_of_a_log_is_not_taken_for_a_secret_that_never_ends():
    log = [
        "2026-11-21 12:00:00,123 WARN password: {oops",
        "2026-11-21 12:00:01,000 INFO user = bob",
        "\tat a.B(C.java)",
    ]
    assert mask("\n".join(log)).split("\n")[1:] == log[1:]


PIECES = [
    "password", "token", "credentials", "=", ": ", '"', "'", " ", "  ", "x", "12", "[masked]", "\\", "\\\n", "{", "}",
    "[", "]", ",", "\n", "\n  ", "\n- ", "|", "null", "kind: Secret", "data:", '"kind": "Secret"', "name", "value",
    "-----BEGIN X-----", "-----END X-----", "MIIabc", "<password>", "</password>", '"""', "\r\n", "\t", "\ue000", "https://u:p@h",
    "%3D", "密码", "->",
]  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_masking_of_any_text_keeps_its_lines(text):
    assert mask(text).count("\n") == text.count("\n")


@pytest.mark.parametrize(
    "piece", ['{"password": [', "password: |\n", "kind: Secret\n", "secret {", "token\\\n", "passwd a ", "%3D", "{}"]
)
def test_hostile_texts_take_linear_time(piece):
    text = piece * (60_000 // len(piece)) + "\npassword = S3cr3t-9"
    assert "S3cr3t-9" not in mask(text)
