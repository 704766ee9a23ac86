"""The files of one ledger of MQTT are one receiver, and each row is cited where it stands."""

from drawn_ledgers import rows

from mqlab.ledgers.layout import Holder
from mqlab.thinning import ledgers

NAMES = ("source", "role", "line", "topic", "key", "at")
DRAWN = [
    ("sent", "sent", 1, "t", "a", 100.5), ("sent", "sent", 2, "t", "b", 111.5), ("sent", "sent", 3, "t", "c", 131.5),
    ("got.1", "received", 7, "t", "a", 100.6), ("got.1", "received", 8, "t", "b", 111.6),
    ("got", "received", 1, "t", "b", 111.6), ("got", "received", 2, "t", "b", 112.6),
    ("got", "received", 3, "t", "c", 131.6), ("got", "received", 4, "t", "a", 131.7),
]  # fmt: skip
"""A receiver's ledger in two files that overlap by a row; it got two messages twice, one of them in both files."""
HOLDERS = {"got.1": Holder("got.csv", None), "got": Holder("got.csv", None), "sent": Holder("sent.csv", None)}


def told(fact, holders=HOLDERS):
    drawn = rows([dict(zip(NAMES, row, strict=True)) for row in DRAWN])
    return ledgers.thinned(drawn, ledgers.Known(mqtt=frozenset(HOLDERS), holders=holders), others=False)[fact]


def test_what_a_receiver_notes_in_two_files_came_to_it_twice():
    received = told("topic_flows").select("received", "messages").rows()
    assert sorted((tuple(one[0].items()), messages) for one, messages in received) == [
        ((("source", "got.1"), ("n", 1)), 1),
        ((("source", "got.1"), ("n", 2)), 2),
    ]


def test_rows_are_cited_where_they_stand():
    receipts = told("receipts").filter(role="received").sort("at")
    assert receipts.select("at", "source", "file", "line", "rows", "again", "again_line").rows() == [
        (100, "got.1", "got.1", 7, 1, None, None),
        (110, "got.1", "got.1", 8, 2, 1, None),
        (130, "got.1", "got", 3, 2, 1, 4),
    ]
    flows = told("flows", HOLDERS | {"sent": Holder("other.csv", None)}).sort("first_at")
    assert [(one["source"], one["line"]) for one in flows["first"]] == [("sent", 1), ("sent", 3)]


def test_ledgers_of_one_file_are_told_as_ever():
    alone = {link: Holder(link, None) for link in HOLDERS}
    assert "file" not in told("receipts", alone).columns


def test_files_that_hold_the_same_rows_are_of_one_receiver_whatever_their_names():
    names = ("source", "role", "line", "topic", "key", "at")
    drawn = [("got", "received", n, "t", f"k{n}", 100 + 1.001 * n) for n in range(1, 201)]
    drawn += [("got-2", "received", n, "t", f"k{n}", 100 + 1.001 * n) for n in range(1, 301)]
    holders = {"got": Holder("got.csv", None), "got-2": Holder("got-2.csv", "2")}
    known = ledgers.Known(mqtt=frozenset(holders), holders=holders)
    found = ledgers.thinned(rows([dict(zip(names, row, strict=True)) for row in drawn]), known, others=False)
    receipts = found["receipts"]
    assert (set(receipts["source"]), set(receipts["file"]), receipts["rows"].sum()) == ({"got"}, {"got", "got-2"}, 300)
