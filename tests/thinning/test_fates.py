"""What became of messages: hand-drawn ledgers, and ledgers drawn by lot against a plain reference."""

import random
from itertools import groupby

import drawn_ledgers
import polars as pl
import pytest

from mqlab.thinning import fates, ledgers

NAMES = ("source", "line", "role", "party", "topic", "queue", "position", "key", "status", "at")
HANDLED = ("received", "consumed", "processed")


def thinned(fact, told):
    """Rows of a fact of rows that are *told* as tuples of NAMES."""
    rows = drawn_ledgers.rows([dict(zip(NAMES, row, strict=True)) for row in told])
    return ledgers.thinned(rows, ledgers.Known())[fact]


def runs(told):
    """Each run as topic, queue, messages, offsets from to, and its fate."""
    names = (
        "topic", "queue", "messages", "first_offset", "last_offset", "keyed", "sent", "acked", "failed", "offsets",
        "overwritten",
    )  # fmt: skip
    found = thinned("fates", told).to_dicts()
    return sorted(
        ((*(run[name] for name in names), tuple(run["stored"]), tuple(run["handled"])) for run in found), key=repr
    )


def ends(told):
    """First and last moment of each run, and the rows that its first and last message are cited by."""
    found = thinned("fates", told).select("topic", "queue", "first_offset", "first_at", "last_at", "first", "last")
    return sorted((*run[:5], *map(tuple, map(dict.values, run[5:]))) for run in found.rows())


def ledger(source, role, messages, *, topic="orders", party=None):
    """Lines of a ledger: (queue, position, key, seconds) or with a status behind."""
    return [
        (source, n, role, party, topic, m[0], m[1], m[2], m[4] if len(m) > 4 else None, m[3])
        for n, m in enumerate(messages, 1)
    ]


def test_a_place_that_was_acknowledged_again_for_another_message_was_overwritten():
    acked = [("0", n, f"a{n}", 100 + n) for n in range(30)] + [("0", n, f"b{n}", 200 + n) for n in range(20, 25)]
    read = [("0", n, f"a{n}" if n < 20 else f"b{n}", 300 + n) for n in range(25)]
    assert runs(ledger("acked", "acked", acked) + ledger("read", "received", read)) == [
        ("orders", "0", 25, 0, 24, True, 0, 1, 0, 1, False, (), ("read",)),
        ("orders", "0", 5, 20, 24, True, 0, 1, 0, 1, True, (), ()),
        ("orders", "0", 5, 25, 29, True, 0, 1, 0, 1, False, (), ()),
    ]


def test_keys_of_devices_tell_no_message_apart():
    acked = [("0", n, f"device-{n % 3}", 100 + n) for n in range(30)]
    read = [("0", n, f"device-{n % 3}", 200 + n) for n in range(30)]
    assert runs(ledger("acked", "acked", acked) + ledger("read", "received", read)) == [
        ("orders", "0", 30, 0, 29, False, 0, 1, 0, 1, False, (), ("read",))
    ]


def test_ledgers_without_a_topic_get_that_of_the_ledger_they_share_most_places_with():
    acked = [("0", n, f"{n}", 100 + n) for n in range(10)]
    sent = [(None, None, f"{n}", 90 + n) for n in range(10)]
    other = [("0", n, f"x{n}", 100 + n) for n in range(10)]
    rows = (
        ledger("gate-acked", "acked", acked, topic=None, party="gate")
        + ledger("gate-sent", "sent", sent, topic=None, party="gate")
        + ledger("read", "received", acked)
        + ledger("audit", "acked", other, topic="audit")
    )
    assert runs(rows) == [
        ("audit", "0", 10, 0, 9, True, 0, 1, 0, 1, False, (), ()),
        ("orders", "0", 10, 0, 9, True, 1, 1, 0, 1, False, (), ("read",)),
    ]


def test_two_producers_that_count_alike_for_topics_nobody_tells_are_not_mixed():
    acked = [("0", n, f"{n}", 100 + n) for n in range(10)]
    rows = ledger("a-acked", "acked", acked, topic=None, party="a")
    assert runs(rows + ledger("b-acked", "acked", acked, topic=None, party="b")) == [
        ("", "0", 10, 0, 9, True, 0, 1, 0, 1, False, (), ()),
        ("", "0", 10, 0, 9, True, 0, 1, 0, 1, False, (), ()),
    ]


def test_ledgers_that_note_no_topic_are_about_the_messages_they_share():
    acked = [("0", n, f"{n}", 100 + n) for n in range(10)]
    sent = [(None, None, f"{n}", 90 + n) for n in range(10)]
    rows = (
        ledger("gate-acked", "acked", acked, topic=None, party="gate")
        + ledger("gate-sent", "sent", sent, topic=None, party="gate")
        + ledger("read", "received", acked[:8], topic=None, party="reader")
    )
    assert runs(rows) == [
        ("", "0", 2, 8, 9, True, 1, 1, 0, 1, False, (), ()),
        ("", "0", 8, 0, 7, True, 1, 1, 0, 1, False, (), ("read",)),
    ]


def test_what_fits_two_producers_that_count_alike_is_about_neither():
    acked = [("0", n, f"{n}", 100 + n) for n in range(10)]
    rows = [
        row
        for name, role in (("a", "acked"), ("b", "acked"), ("c", "received"))
        for row in ledger(name, role, acked, topic=None, party=name)
    ]
    found = runs(rows)
    assert sorted((run[5:8], run[-1]) for run in found) == sorted(
        [((True, 0, 1), ()), ((True, 0, 1), ()), ((False, 0, 0), ("c",))]
    )


def test_what_was_handled_or_stored_without_a_key_is_the_message_acknowledged_there_before():
    acked = [("0", n, f"a{n}", 100) for n in range(4)] + [("0", n, f"b{n}", 200) for n in range(2, 4)]
    early = [("0", n, None, 150) for n in range(4)]
    late = [("0", n, None, 90 if n < 2 else 190) for n in range(4)]
    rows = ledger("acked", "acked", acked) + ledger("early", "received", early) + ledger("dump", "stored", late)
    assert runs(rows) == [
        ("orders", "0", 2, 0, 1, True, 0, 1, 0, 1, False, ("dump",), ("early",)),
        ("orders", "0", 2, 2, 3, True, 0, 1, 0, 1, False, ("dump",), ()),
        ("orders", "0", 2, 2, 3, True, 0, 1, 0, 1, True, (), ("early",)),
    ]


def test_a_copy_that_was_handled_before_its_place_was_given_away_is_one_of_its_own_message():
    """The answer to a first copy is lost, the producer sends again, and a failover takes both copies."""
    acked = [("0", n, f"a{n}", 100 + n) for n in range(20)] + [("0", 25, "b", 130)]
    lost = [("0", 20, "b", 125), ("0", 25, "b", 131)]
    new = [("0", n, f"c{n}", 200 + n) for n in range(20, 26)]
    rows = ledger("acked", "acked", acked + new) + ledger("read", "received", acked[:20] + lost + new)
    assert [run for run in runs(rows) if run[9:11] != (1, False) or len(run[-1]) != 1] == [
        ("orders", "0", 1, 25, 25, True, 0, 1, 0, 1, True, (), ("read", "read"))
    ]
    read = thinned("deliveries", rows).group_by(pl.col("sources").list.len()).agg(pl.col("messages").sum())
    assert read.rows() == [(1, 28)], "each place and message was handled once"


@pytest.mark.parametrize(("key", "before"), [("a3", 5), ("x", 90), ("a3", -5)])
def test_an_id_that_fits_no_earlier_copy_is_that_of_the_place(key, before):
    acked = [("0", n, f"a{n}", 300 + n) for n in range(20)]
    read = [("0", n, f"a{n}" if n != 19 else key, 320 + n if n != 19 else 319 - before) for n in range(20)]
    rows = ledger("acked", "acked", acked) + ledger("read", "received", read)
    assert runs(rows) == [("orders", "0", 20, 0, 19, True, 0, 1, 0, 1, False, (), ("read",))]


def test_places_that_held_several_messages_are_several_records():
    acked = [("0", n, f"a{n}", 100 + n) for n in range(20)] + [("0", n, f"b{n}", 300 + n) for n in range(15, 20)]
    read = [("0", n, f"a{n}", 200 + n) for n in range(20)] + [("0", n, f"b{n}", 400 + n) for n in range(10, 20)]
    rows = ledger("acked", "acked", acked) + ledger("read", "received", read)
    found = thinned("deliveries", rows).group_by(pl.col("sources").list.len().alias("n")).agg(pl.col("messages").sum())
    assert sorted(found.rows()) == [(1, 20), (2, 5)], "10 to 14 were handled again, 15 to 19 are others"


def test_a_status_tells_what_was_acknowledged_refused_or_left_open():
    sent = [("0", 0, "a", 100, "SEND_OK"), (None, None, "b", 101, "FAIL TimeoutException"),
            (None, None, "c", 102, "unfinished")]  # fmt: skip
    assert runs(ledger("sent", "sent", sent)) == [
        ("orders", "", 1, None, None, True, 1, 0, 0, 0, False, (), ()),
        ("orders", "", 1, None, None, True, 1, 0, 1, 0, False, (), ()),
        ("orders", "0", 1, 0, 0, True, 1, 1, 0, 1, False, (), ()),
    ]


def test_control_records_are_covered_by_a_dump_but_no_messages():
    stored = [("0", 5, "a", 100), ("0", 6, None, 101, "control")]
    dump = [("dump", 9, "dump", None, "orders", "0", 5, None, None, 400)]
    parts = thinned("parts", ledger("dump", "stored", stored) + dump)
    names = ("role", "messages", "first_offset", "last_offset", "start", "taken_at")
    assert parts.select(names).rows() == [("stored", 1, 5, 6, 5, 400_000_000)]


def drawn(seed):
    """A topic with failovers, repeats and two groups; with ids as keys, with those of devices, or without keys."""
    dice = random.Random(seed)
    topic, kind = f"t{seed}", dice.choice(["ids", "devices", "none"])
    acked, read, number, at = [], [], 0, 1000
    ends = [0, 0]
    for _ in range(300):
        queue = dice.randrange(2)
        if kind == "ids" and dice.random() < 0.02:
            ends[queue] = max(0, ends[queue] - dice.randrange(6))
        key = {"ids": f"{seed}-{number}", "devices": f"d{number % 7}", "none": None}[kind]
        number, at = number + 1, at + 1
        acked.append((str(queue), ends[queue], key, at))
        for reader in ("a", "b", "a"):
            if dice.random() < (0.9 if len(read) % 40 < 30 else 0.1):
                at += 1
                read.append((reader, (str(queue), ends[queue], key if dice.random() < 0.5 else None, at)))
        ends[queue] += 1
    rows = ledger(f"{topic}-acked", "acked", acked, topic=topic)
    for reader in ("a", "b"):
        rows += ledger(f"{topic}-{reader}", "processed", [m for who, m in read if who == reader], topic=topic)
    return rows


def reference(rows):
    """The same runs and their ends, message by message."""
    found, ended = [], []
    for topic in sorted({r[4] for r in rows}):
        own = [r for r in rows if r[4] == topic]
        acked = [r for r in own if r[2] == "acked"]
        keyed = len({r[7] for r in acked}) >= 0.9 * len({r[5:7] for r in acked}) and acked[0][7] is not None
        messages = {}
        for row in own:
            message, gone = _about(row, acked) if keyed else (row[5:7], False)
            messages.setdefault(message, []).append((row, gone))
        told = sorted((_fate(notes, keyed) for notes in messages.values()), key=lambda fate: fate[0])
        for queue, gone in sorted({(where[0], fate[5]) for where, fate in told}):
            line = (t for t in told if (t[0][0], t[1][5]) == (queue, gone))
            for fate, run in groupby(line, key=lambda t: t[1]):
                places = [where for where, _ in run]
                moments = [1_000_000 * where[2] for where in places]
                first, last = places[0][1], places[-1][1]
                found.append((topic, queue, len(places), first, last, *fate))
                ended.append((topic, queue, first, min(moments), max(moments), places[0][3:], places[-1][3:]))
    return sorted(found, key=repr), sorted(ended)


def _about(row, acked):
    answers = sorted((a[9], a[7]) for a in acked if a[5:7] == row[5:7])
    keys = [key for _, key in answers]
    message = row[7]
    if answers and message not in keys:
        message = ([key for at, key in answers if at <= row[9]] or keys)[-1 if answers[0][0] <= row[9] else 0]
    own = max((at for at, key in answers if key == message), default=None)
    return message, own is not None and any(at > own and key != message for at, key in answers)


def _fate(notes, keyed):
    acked = [(row, gone) for row, gone in notes if row[2] == "acked"]
    home = min((gone, row[9], *row[5:7]) for row, gone in acked)
    dated = min((row[9], row[0], row[1]) for row, _ in acked)
    standing = {row[5:7] for row, gone in notes if not gone}
    handled = tuple(sorted(row[0] for row, _ in notes if row[2] in HANDLED))
    fate = (keyed, 0, len(acked), 0, max(len(standing), 1), all(gone for _, gone in acked), (), handled)
    return (*home[2:], *dated), fate


def test_drawn_ledgers_give_the_runs_of_a_plain_reference():
    rows = [row for seed in range(8) for row in drawn(seed)]
    shuffled = random.Random(0).sample(rows, len(rows))
    assert (runs(shuffled), ends(shuffled)) == reference(rows)


def test_where_runs_are_many_fates_are_told_in_ten_seconds(monkeypatch):
    acked = [("0", n, f"k{n}", 1000 + n // 20) for n in range(400)]
    read = [m for n, m in enumerate(acked) if n % 2]
    rows = ledger("acked", "acked", acked) + ledger("read", "received", read)
    assert len(runs(rows)) == 400
    monkeypatch.setattr(fates, "RUNS", 399)
    assert sorted((row[2], row[3], row[4], row[-1]) for row in runs(rows)) == [
        (100, 0, 198, ()), (100, 1, 199, ("read",)), (100, 200, 398, ()), (100, 201, 399, ("read",)),
    ]  # fmt: skip


def test_ledgers_that_note_ids_only_are_joined_to_the_dump_that_holds_them():
    sent = [(None, None, f"SMS-{n}", 100 + n) for n in range(40)]
    dump = [("0", n, f"SMS-{n}", 100 + n) for n in range(35)]
    other = [("0", n, f"MAIL-{n}", 100 + n) for n in range(40)]
    rows = (
        ledger("campaign-acked", "acked", sent, topic=None, party="campaign")
        + ledger("carrier", "processed", sent[:20], topic=None)
        + ledger("dump", "stored", dump, topic="sms.out")
        + ledger("mail", "acked", other, topic="mail")
    )
    assert runs(rows) == [
        ("mail", "0", 40, 0, 39, True, 0, 1, 0, 1, False, (), ()),
        ("sms.out", "", 5, None, None, True, 0, 1, 0, 0, False, (), ()),
        ("sms.out", "0", 15, 20, 34, True, 0, 1, 0, 1, False, ("dump",), ()),
        ("sms.out", "0", 20, 0, 19, True, 0, 1, 0, 1, False, ("dump",), ("carrier",)),
    ]


def test_ids_that_two_topics_have_in_common_join_nothing():
    sent = [(None, None, f"{n}", 100 + n) for n in range(40)]
    stored = [("0", n, f"{n}", 100 + n) for n in range(40)]
    rows = ledger("acked", "acked", sent, topic=None) + ledger("a", "stored", stored, topic="a")
    found = runs(rows + ledger("b", "stored", stored[:30], topic="b"))
    assert [run[:3] for run in found] == [("", "", 40), ("a", "0", 40), ("b", "0", 30)]
