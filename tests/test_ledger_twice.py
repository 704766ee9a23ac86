"""A message that an application notes in a file and in its log was handled once."""

import json

import pytest

from mqlab.ledgers.layout import Layout, LineShape
from mqlab.ledgers.log_shapes import once, party_of
from mqlab.sources import Envelope, Reading, Source


def source(path, layout, reading):
    form = "application-log" if reading is Reading.LOG else "ledger-csv"
    return Source("0" * 16, path, f"/m/{path}", form, reading, Envelope.NONE, 1, None, layout=layout.text())


def file(path, role, party):
    return source(path, Layout({"key": "0"}, role=role, party=party), Reading.TABLE)


def log(path, *roles, told="verb"):
    lines = tuple(LineShape(f"{role} (.)", {"key": 1}, role, told) for role in roles)
    return source(path, Layout(separator="", party=party_of(path.rpartition("/")[2]), lines=lines), Reading.LOG)


def roles(found):
    return [line["role"] for line in json.loads(found.layout)["lines"]] if found.layout else []


@pytest.mark.parametrize(
    ("kept", "noted", "left"),
    [
        (file("l/payer-processed.csv", "processed", "payer"), log("c/payer.log", "processed"), []),
        (file("l/payer_received.csv", "received", "Payer"), log("c/payer.log", "processed"), []),
        (file("payer/handled.csv", "processed", None), log("c/payer.log", "processed"), []),
        (file("l/payer.csv", None, "payer"), log("c/payer.log", "sent", "processed"), []),
        (file("l/shop-acked.csv", "acked", "shop"), log("c/shop.log", "sent", "acked"), ["sent"]),
        (file("l/shop-acked.csv", "acked", "shop"), log("c/shop.log", "processed"), ["processed"]),
        (file("l/shop-acked.csv", "acked", "shop"), log("c/payer.log", "acked"), ["acked"]),
        (file("l/p-processed.csv", "processed", "p"), log("c/p.log", "processed", told="map"), ["processed"]),
    ],
    ids=["same role", "another stage", "by folder", "roles in rows", "one of two", "other role", "other party", "map"],
)  # fmt: skip
def test_what_a_party_keeps_in_a_file_is_not_read_from_its_log(kept, noted, left):
    found = once([kept, noted])
    assert found[0] == kept
    assert roles(found[1]) == left


def test_a_log_that_is_no_ledger_any_more_is_one_among_others():
    (_, bare) = once([file("l/payer-processed.csv", "processed", "payer"), log("c/payer.log", "processed")])
    assert bare.layout is None
    assert bare.identity == "Ln0000000000000000"


def test_other_lines_make_another_result_of_the_scan():
    first, second = log("c/payer.log", "processed"), log("c/payer.log", "acked")
    assert first.identity != second.identity
    assert first.identity.startswith("Ln0000000000000000-")


@pytest.mark.parametrize(
    ("name", "party"),
    [
        ("payer.log", "payer"),
        ("payer.audit.log", "payer"),
        ("web-acked.log", "web"),
        ("app.log.1", "app"),
        (".log", None),
    ],
)
def test_whose_log_it_is_its_name_tells(name, party):
    assert party_of(name) == party
