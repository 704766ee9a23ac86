"""The last look finds what is left of the originals, in whatever coding."""

import base64
from urllib.parse import quote

import pytest

from mqlab.gather.redact_check import Doubts, Search

WORDS = ("payroll", "zeus", "10.20.0.7", "acme")


def looked(text, images=()):
    search = Search(WORDS, ["payroll", "order-sync"], images)
    search.look(text.encode())
    return search


@pytest.mark.parametrize("begin", ["", "a", "ab"])
def test_base64_is_looked_into_at_each_alignment(begin):
    coded = base64.b64encode(f"{begin}payroll-eu".encode()).decode()
    assert looked(f"blob {coded} end").found == {"payroll (within another word, or coded)": 1}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("topic payroll", {"payroll": 1}),
        ("PAYROLL and Zeus, zeus", {"payroll": 1, "zeus": 2}),
        ("mypayrolljob", {"payroll (within another word, or coded)": 1}),
        ("hex " + b"xpayroll".hex(), {"payroll (within another word, or coded)": 1}),
        ("per cent %70%61%79%72%6f%6c%6c", {"payroll (within another word, or coded)": 1}),
        ("url " + quote("zeus/acme", safe=""), {"zeus": 1, "acme": 1}),
        ("from 10.20.0.7:9092 of com.acme.app", {"10.20.0.7": 1, "acme": 1}),
        ("group Order-Sync-1", {"order-sync": 1}),
        ("from 10.20.0.70, zeusx, order sync", {}),
    ],
)
def test_what_is_left_is_found_in_any_coding(text, found):
    assert dict(looked(text).found) == found


def test_a_pseudonym_that_is_spelled_alike_is_not_taken_for_the_original():
    assert not looked("topic acme", images=["acme"]).found


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("we asked Grant, who knows", ["Grant"]),
        ('{"by":"Max Qwxyz"}', ["Max"]),
        ("qwxyz-gateway-7 and kafka-server-1, qwxyz-topic", ["gateway"]),
        ("Qwxyz. 10023344 wrote", ["10023344"]),
        ("offset 10023344, Max Poll, qwxyz 1795261440123", []),
    ],
)
def test_words_and_numbers_are_told_that_may_be_somebodys(text, told):
    doubts = Doubts(["qwxyz"], {"topic"})
    doubts.look(text.encode())
    assert doubts.told() == told
