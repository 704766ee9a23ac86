"""Words give way in every byte, always alike; the software's own words stay."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from redact_builder import CORE, KEY, redacted

from mqlab.gather.redact_names import in_text, settled
from mqlab.gather.redact_pseudonyms import Pseudonyms
from mqlab.gather.redact_rewriting import Rewriter, whole_lines
from mqlab.gather.redact_words import is_given, is_software

NAMES = {"orders": "abcdef", "order-sync": "uvwxy-klmn", "plant/7/state": "qqqqq/7/rrrrr", "error": "ooooo",
         "group": "uuuuu", "pump.a": "wwww.b"}  # fmt: skip
IMAGES = {"orders": "abcdef", "ORDERS": "ABCDEF", "plant": "qqqqq", "pump": "wwww", "etl": "xyz",
          "10.20.0.11": "10.20.9.44"}  # fmt: skip


class Drawn:
    """Pseudonyms as if they were drawn."""

    of = NAMES


def rewriter():
    return Rewriter(IMAGES, Drawn, {"order", "sync", "state", "error", "group", "removing"})


@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        ("Log [orders-3, dir=/data/orders-3] ORDERS", "Log [abcdef-3, dir=/data/abcdef-3] ABCDEF"),
        ("order-sync-1 order_sync Order.Sync order in sync", "uvwxy-klmn-1 uvwxy_klmn Uvwxy.Klmn order in sync"),
        ("%RETRY%order-sync order%2Fsync@etl", "%RETRY%uvwxy-klmn uvwxy%2Fklmn@xyz"),
        ('"topic":"plant\\/7\\/state" plant.7.state', '"topic":"qqqqq\\/7\\/rrrrr" qqqqq.7.rrrrr'),
        ('"log":"x\\netl joined"', '"log":"x\\nxyz joined"'),
        ("/10.20.0.11:9092 10.20.0.119 10.20.0.11.5", "/10.20.9.44:9092 10.20.0.119 10.20.0.11.5"),
        ("ERROR an error for topic=error, group: group", "ERROR an error for topic=ooooo, group: uuuuu"),
        ("servers = [error-1:9092]", "servers = [ooooo-1:9092]"),
        ("partition error-0 of error-prone", "partition ooooo-0 of error-prone"),
        ("group           error           0          32", "uuuuu           ooooo           0          32"),
        ("Removing member", "Removing member"),
    ],
)
def test_names_become_pseudonyms_wherever_they_stand(text, becomes):
    assert rewriter().rewritten(text.encode()).decode() == becomes


def test_bytes_that_are_no_text_stay():
    data = b"\xff\xfe orders \x80\xe8\xbd\xa6"
    assert rewriter().rewritten(data) == b"\xff\xfe abcdef \x80\xe8\xbd\xa6"


WORDS = st.from_regex(r"[a-z]{3,8}([._/-][a-z0-9]{1,6}){0,2}", fullmatch=True).filter(lambda name: not is_given(name))
MARKS = st.sampled_from(
    [" ", "=", '"', "[", "]", ",", "-0 ", "@", "/", ":9092 ", "(", ")\n", "\t", "%RETRY%", "\\n", "é", "，", "\r\n"]
)


@settings(max_examples=40)
@given(st.lists(WORDS, min_size=1, max_size=8, unique=True), st.data())
def test_lines_and_bytes_stay_as_many_whatever_stands_around_a_name(names, data):
    parts = data.draw(st.lists(st.tuples(MARKS, st.sampled_from(names)), max_size=20))
    text = "".join(mark + name for mark, name in parts)
    written = redacted(text, [("topic", name) for name in names])
    assert [len(line.encode()) for line in written.split("\n")] == [len(line.encode()) for line in text.split("\n")]


@settings(max_examples=40)
@given(st.lists(st.tuples(MARKS, st.text("abcdefghijklmnop", min_size=3, max_size=9)), max_size=20))
def test_no_word_is_left_that_is_not_the_softwares(parts):
    text = "".join(mark + word for mark, word in parts)
    written = redacted(text)
    words = {word for _, word in parts if not is_software(word)}
    assert {word for word in words if f" {word} " in f" {written} "} == set()


@settings(max_examples=40)
@given(st.lists(WORDS, min_size=1, max_size=8, unique=True))
def test_what_is_rewritten_twice_with_one_key_is_the_same_and_sorts_as_before(names):
    text = "\n".join(f"clientId={name}" for name in names)
    told = [("client", name) for name in names]
    assert redacted(text, told) == redacted(text, reversed(told))


@given(st.lists(st.binary(max_size=20)))
def test_pieces_become_whole_lines_and_nothing_is_lost(pieces):
    cut = list(whole_lines(iter(pieces)))
    assert b"".join(cut) == b"".join(pieces)
    assert all(piece.endswith(b"\n") for piece in cut[:-1])


def test_members_of_a_group_keep_their_order():
    names = [f"{word}-{number}" for word in ("zebra", "acme", "node", "quagga") for number in (1, 2)]
    drawn = Pseudonyms(KEY, names).of
    written = redacted("\n".join(names), [("client", name) for name in names]).split("\n")
    assert [written[names.index(name)] for name in sorted(names)] == sorted(written)
    assert len({*written}) == len(drawn)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("[Consumer clientId=sink-1, groupId=orders-sink] x", {("client", "sink-1"), ("group", "orders-sink")}),
        ("bootstrap.servers = [k1.acme:9092, k2.acme:9092]", {("host", "k1.acme"), ("host", "k2.acme")}),
        ("Connection to node -1 (kafka-2.shop/10.9.1.12:9093)", {("host", "kafka-2.shop")}),
        ("Changed partition plant-telemetry-1 state", {("topic", "plant-telemetry")}),
        ("[Log partition=acme.payments-3, dir=/data]", {("topic", "acme.payments")}),
        ("principal=User:alice", {("user", "alice")}),
        ("principal=User:CN=alice,OU=x-ray", {("user", "alice"), ("user", "x-ray")}),
        ("?user=a.baker&mode=x", {("user", "a.baker")}),
        ("mail to anna.s@acme-bank.com", {("user", "anna.s"), ("user", "acme-bank.com")}),
        ("cd /home/zoe/x", {("user", "zoe")}),
        ("customer_id=4711001, offset=4711002", {("number", "4711001")}),
        ("serial: 1795262467", set()),
        ("libs/jackson-databind-2.10.5.1.jar took 12:30:45", set()),
    ],
)
def test_lines_name_who_they_are_about(line, told):
    found = {}
    for kind, name in in_text(line):
        found.setdefault(kind, set()).add(name)
    kept = settled(found)
    assert {(kind, name) for kind, names in kept.items() for name in names} == told


@pytest.mark.parametrize(
    ("kind", "told", "names"),
    [
        ("client", "consumer-billing-1-0b0f0f10-aaaa-4bbb-8ccc-0123456789ab", {"billing"}),
        ("client", "consumer-1", set()),
        ("client", "10.20.0.24@order-sync-1", {"10.20.0.24", "order-sync-1"}),
        ("client", "172.17.0.1@9#5464399868780", {"172.17.0.1"}),
        ("group", "%RETRY%order_sync", {"order_sync"}),
        ("topic", "$share/readers/plant/+/state", {"readers", "plant/+/state"}),
        ("topic", "__consumer_offsets", set()),
        ("topic", "$SYS/broker/uptime", set()),
        ("host", "/10.60.1.16:52130", {"10.60.1.16"}),
        ("host", "ipv4#10.60.1.16:9092", {"10.60.1.16"}),
        ("host", "1", set()),
    ],
)
def test_what_software_makes_of_a_name_is_taken_apart(kind, told, names):
    assert set().union(*settled({kind: [told]}).values()) == names


def test_a_file_is_called_after_somebody_where_its_name_holds_a_name_even_in_words_of_the_software():
    found = {"client": ["sync-1"], "party": ["order-sync-1", "order-sync"]}
    kept = settled(found)
    assert (kept["client"], kept["party"]) == ({"sync-1"}, {"order-sync-1"})


def test_words_of_the_core_that_are_names_are_told():
    assert rewriter().placed == {"error": "ooooo", "group": "uuuuu"}
    assert not CORE.isdisjoint({"group", "com"})


@pytest.mark.parametrize("mask", ["masked", "[masked]", "[hidden]"])
def test_a_mask_is_nobodys_name_where_a_user_or_a_password_was(mask):
    assert is_given(mask)
