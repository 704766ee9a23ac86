"""Roles of ledgers that tell none, by who noted the same messages before."""

from drawn_ledgers import rows

from mqlab.thinning import ledger_roles
from mqlab.thinning.ledger_roles import Silent

MQTT = """
    out      sent       a/1  1  0
    out      sent       a/1  2  1
    out      sent       a/1  3  2
    hearer   -          a/1  1  0
    hearer   -          a/1  2  1
    hearer   -          a/1  3  5
    counter  -          b/1  1  0
    counter  -          b/1  2  1
    counter  -          b/1  3  9
    before   -          a/1  2  0
    before   -          a/1  3  0
    few      -          a/1  1  7
    few      -          a/1  9  8
    kafka    -          a/1  1  9
    told     processed  a/1  1  9
    first    -          c/1  1  10
    first    -          c/1  2  11
    second   -          c/1  1  11
    second   -          c/1  2  12
"""
PLACED = """
    till     -          orders  0  0  A  10
    till     -          orders  0  1  B  11
    till     -          orders  1  0  C  12
    cook     -          -       0  0  A  13
    cook     -          -       0  1  B  14
    waiter   -          -       1  0  C  15
    other    -          -       0  0  X  20
    other    -          -       0  1  Y  21
    bank     acked      pays    0  0  P  5000
    bank     acked      pays    0  1  Q  5001
    clerk    -          pays    0  0  P  30
    clerk    -          pays    0  1  Q  31
    all      -          pays    0  0  P  30
    all      -          pays    0  1  Q  31
    all      -          pays    0  2  R  32
    all      -          pays    0  3  S  33
    half     -          pays    0  1  Q  31
    half     -          pays    0  2  R  32
    half     -          pays    0  3  S  33
    north    -          moves   0  0  M  30
    south    -          moves   0  0  M  7230
    unkeyed  -          -       0  0  -  90
    unkeyed  -          -       0  1  -  91
"""


def told(drawn, *links):
    """Rows of LEDGER from (source, role, topic, queue, position, key, second), or without a place; *links* only."""
    found = []
    for line in drawn.strip().splitlines():
        source, role, topic, *place, key, second = [None if word == "-" else word for word in line.split()]
        queue, position = (place[0], int(place[1])) if place else (None, None)
        found.append(
            {
                "source": source, "role": role, "told": role and "name", "topic": topic, "queue": queue,
                "position": position, "key": key, "at": int(second),
            }
        )  # fmt: skip
    return rows([row for row in found if not links or row["source"] in links])


def roles(frame, silent):
    """Role and what it is known by, of each ledger."""
    known = ledger_roles.filled(frame, silent).select("source", "role", "told").unique().rows()
    return {source: (role, by) for source, role, by in known}


def heard(*links, answered=()):
    mqtt = frozenset(links)
    return roles(told(MQTT), Silent(mqtt - {"out", "told"}, frozenset(answered), mqtt))


def placed(*links):
    return roles(told(PLACED, *links), Silent(frozenset(links) - {"bank"}))


def test_a_ledger_of_messages_that_a_publisher_noted_before_is_a_receivers():
    assert heard("out", "hearer", "counter", "before", "few", "told", "first", "second") == {
        "out": ("sent", "name"),
        "hearer": ("received", "shape"),
        "counter": (None, None),
        "before": (None, None),
        "few": (None, None),
        "kafka": (None, None),
        "told": ("processed", "name"),
        "first": (None, None),
        "second": ("received", "shape"),
    }


def test_who_notes_messages_first_and_answers_besides_has_sent_them():
    found = heard("first", "second", answered=["first"])
    assert (found["first"], found["second"]) == (("sent", "shape"), ("received", "shape"))


def test_without_a_publisher_nothing_is_guessed():
    assert heard("hearer")["hearer"] == (None, None)


def test_where_each_ledger_tells_its_role_nothing_changes():
    assert heard("out", "told")["hearer"] == (None, None)


def test_who_notes_places_first_has_had_them_acknowledged_and_who_follows_has_handled_them():
    assert placed("till", "cook", "waiter") == {
        "till": ("acked", "shape"),
        "cook": ("processed", "shape"),
        "waiter": ("processed", "shape"),
    }


def test_the_same_place_of_another_message_tells_nothing():
    assert placed("till", "other") == {"till": (None, None), "other": (None, None)}


def test_places_alone_tell_nothing_where_no_topic_is_known():
    assert placed("other", "unkeyed") == {"other": (None, None), "unkeyed": (None, None)}


def test_what_was_acknowledged_comes_first_whatever_the_clocks_say():
    assert placed("bank", "clerk") == {"bank": ("acked", "name"), "clerk": ("processed", "shape")}


def test_who_notes_all_that_one_producer_had_acknowledged_and_what_others_sent_has_handled_it():
    assert placed("bank", "all")["all"] == ("processed", "shape")
    assert placed("bank", "half")["half"] == (None, None)


def test_clocks_that_are_hours_apart_tell_no_order():
    assert placed("north", "south") == {"north": (None, None), "south": (None, None)}
