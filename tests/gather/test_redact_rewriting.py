"""Names give way in every byte; the software's own words stay."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqlab.gather.redact_names import in_text, settled
from mqlab.gather.redact_pseudonyms import Pseudonyms
from mqlab.gather.redact_rewriting import Rewriter, whole_lines, without_payloads
from mqlab.gather.redact_words import is_given, own_words

WORDS = own_words({"kafka-broker-log", "kafka-client-log", "kafka-consumer-groups"})
DRAWN = {"orders": "abcdef", "orders-eu": "abcdef-gh", "etl": "xyz", "plant/7/state": "qqqqq/7/rrrrr",
         "pump.a": "wwww.b", "10.20.0.11": "10.20.9.44", "error": "ooooo", "group": "uuuuu"}  # fmt: skip


def renamed(text):
    return Rewriter(DRAWN, {"error", "group", "Removing"}).rewritten(text.encode()).decode()


@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        ("Log [orders-3, dir=/data/orders-3]", "Log [abcdef-3, dir=/data/abcdef-3]"),
        ("orders-eu-12 orders-12", "abcdef-gh-12 abcdef-12"),
        ("%RETRY%orders orders@etl", "%RETRY%abcdef abcdef@xyz"),
        ("com.acme.ordersapp ORDERS Orders", "com.acme.abcdefapp ABCDEF Abcdef"),
        ("etl petls etl_2 ETL", "xyz petls xyz_2 ETL"),
        ('{"topic":"plant\\/7\\/state"}', '{"topic":"qqqqq\\/7\\/rrrrr"}'),
        ("topics/plant%2F7%2Fstate", "topics/qqqqq%2F7%2Frrrrr"),
        ("name=plant.7.state", "name=qqqqq.7.rrrrr"),
        ('topic="pump_a"', 'topic="wwww_b"'),
        ('"log":"x\\netl joined"', '"log":"x\\nxyz joined"'),
        (
            "/10.20.0.11:9092 10.20.0.119 110.20.0.11 10.20.0.11.5",
            "/10.20.9.44:9092 10.20.0.119 110.20.0.11 10.20.0.11.5",
        ),
        ("0A14000B2B414E0E2F2A697F4FAA001B", "0A14092C2B414E0E2F2A697F4FAA001B"),
        ("ERROR an error for topic=error, group: group", "ERROR an error for topic=ooooo, group: uuuuu"),
        ("partition error-0 of error-prone", "partition ooooo-0 of error-prone"),
        ("group           error           0          32", "uuuuu           ooooo           0          32"),
        ("Removing member", "Removing member"),
    ],
)
def test_names_become_pseudonyms_wherever_they_stand(text, becomes):
    assert renamed(text) == becomes


def test_a_word_of_the_software_is_renamed_everywhere_if_that_is_tried():
    text = b"ERROR an error for topic=error, errors of group"
    assert Rewriter(DRAWN, {"error", "group"}, bold=True).rewritten(text) == (
        b"ERROR an ooooo for topic=ooooo, errors of uuuuu"
    )


def test_bytes_that_are_no_text_stay():
    data = b"\xff\xfe orders \x80\xe8\xbd\xa6"
    assert Rewriter({"orders": "abcdef", "车": "轰"}, ()).rewritten(data) == b"\xff\xfe abcdef \x80" + "轰".encode()


NAMES = st.from_regex(r"[a-z]{3,8}([._/-][a-z0-9]{1,6}){0,2}", fullmatch=True).filter(
    lambda n: n not in WORDS and not is_given(n)
)
MARKS = st.sampled_from(
    [" ", "=", '"', "[", "]", ",", "-0 ", "@", "/", ":9092 ", "(", ")\n", "\t", "%RETRY%", "\\n", "é"]
)


@given(st.lists(NAMES, min_size=1, max_size=8, unique=True), st.data())
def test_no_name_is_left_whatever_stands_around_it(names, data):
    drawn = Pseudonyms(b"key", names, WORDS).of
    rewriter = Rewriter(drawn, WORDS)
    parts = data.draw(st.lists(st.tuples(MARKS, st.sampled_from(names)), max_size=20))
    text = "".join(mark + name for mark, name in parts).encode()
    written = rewriter.rewritten(text)
    assert len(written) == len(text)
    assert {name for name in names if name.encode() in written} <= spelled_by_others(drawn)


def spelled_by_others(drawn):
    """Names that stand in a pseudonym, or could where two meet: there is no other way to keep length and order."""
    return {name for name in drawn if any(name in other or other in name for other in drawn.values())}


@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        ("tag: AUTHZ, payload: hello world, topic: t", "tag: AUTHZ, payload: xxxxxxxxxxx, topic: t"),
        ('{"payload":"{\\"a\\":1}","qos":1}', '{"payload":"xxxxxxxxx","qos":1}'),
        ("message payload=1048588 bytes", "message payload=1048588 bytes"),
        ('{"topic":"$SYS/broker/uptime","payload":"12 s"}', '{"topic":"$SYS/broker/uptime","payload":"12 s"}'),
        ("key: offset_commit::group=g,partition=t-0 payload: offset=981", None),
    ],
)
def test_payloads_are_blotted_out_in_as_many_bytes(text, becomes):
    assert without_payloads(text.encode()).decode() == (becomes or text)


@given(st.lists(st.binary(max_size=20)))
def test_pieces_become_whole_lines_and_nothing_is_lost(pieces):
    cut = list(whole_lines(iter(pieces)))
    assert b"".join(cut) == b"".join(pieces)
    assert all(piece.endswith(b"\n") for piece in cut[:-1])


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("[Consumer clientId=sink-1, groupId=orders-sink] x", {("client", "sink-1"), ("group", "orders-sink")}),
        ("bootstrap.servers = [k1.acme:9092, k2.acme:9092]", {("host", "k1.acme"), ("host", "k2.acme")}),
        ("Connection to node -1 (kafka-2.shop/10.9.1.12:9093)", {("host", "kafka-2.shop"), ("address", "10.9.1.12")}),
        ("Changed partition plant-telemetry-1 state", {("topic", "plant-telemetry")}),
        ("[Log partition=acme.payments-3, dir=/data]", {("topic", "acme.payments")}),
        ("principal=User:alice", {("user", "alice")}),
        ("libs/jackson-databind-2.10.5.1.jar took 12:30:45", set()),
        ("from 2001:db8::7 and ::1", {("address", "2001:db8::7")}),
    ],
)
def test_lines_name_who_they_are_about(line, told):
    found = {}
    for kind, name in in_text(line):
        found.setdefault(kind, set()).add(name)
    kept = settled(found, ())
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
    assert set().union(*settled({kind: [told]}, ()).values()) == names


def test_a_file_is_called_after_somebody_where_its_name_holds_a_name_even_in_words_of_the_software():
    found = {"client": ["sync-1"], "party": ["order-sync-1", "order-sync"]}
    kept = settled(found, ("order", "sync"))
    assert (kept["client"], kept["party"]) == ({"sync-1"}, {"order-sync-1"})
