"""A file that is read in several splits gives what it gives in one."""

import json
import random
from dataclasses import asdict

import pytest
from plain_reading import facts, source, tables, written

from mqlab.kernel import job, splits
from mqlab.kernel.output import COUNTS, COVERAGE
from mqlab.sources import Envelope, Reading
from mqlab.tables import EVENTS, SETTINGS

HEAP = "Terminating due to java.lang.OutOfMemoryError: Java heap space"
PIECES = (
    "2026-11-21 12:20:44,{n:03d} WARN  [x] a.b.Sender - [Producer clientId=p] Got error produce response in "
    "correlation id {n} on topic-partition t-1, splitting and retrying (3 attempts left). Error: MESSAGE_TOO_LARGE",
    "[2026-11-21 12:21:{s:02d},201] INFO [Broker id=1] Started (kafka.server.KafkaServer)",
    "2026-11-21 12:20:45,{n:03d} INFO  [x] a.b.C - ProducerConfig values: ",
    "\tbatch.size = {n}",
    "\tclient.id = p-{n}",
    HEAP,
    "Caused by: org.apache.kafka.common.errors.RecordTooLargeException: The message is {n} bytes",
    "\tat org.apache.kafka.X.y(Z.java:{n})",
    "",
    "ünïcode 日本 🦄",
)


def drawn(seed, lines):
    """A log of dated and undated lines, blocks of settings and exceptions."""
    dice = random.Random(seed)
    said = [dice.choice(PIECES).format(n=dice.randint(1, 999), s=dice.randint(0, 59)) for _ in range(lines)]
    return "".join(f"{line}{dice.choice(['', '', chr(13)])}\n" for line in said)


@pytest.fixture
def cut(tmp_path, monkeypatch):
    """A function: the splits of a log with this text, each of *size* bytes; one without a size."""

    def _cut(text, size=None):
        path = tmp_path / "app.log"
        path.write_bytes(text.encode())
        monkeypatch.setattr(splits, "SIZE", size or 1 << 30)
        return list(splits.splits([source(path)]))

    return _cut


def edge(text, before):
    """The size of splits of which the second begins with the line *before*."""
    return len(text[: text.index(before)].encode())


def seen(given):
    """What the splits tell, in an order of its own."""
    return {fact: sorted(map(json.dumps, rows)) for fact, rows in facts(*given).items()}


@pytest.mark.parametrize(("seed", "size"), [(0, 200), (1, 1_500), (2, 6_000)])
def test_facts_are_those_of_the_whole_file_whatever_the_size_of_splits(cut, seed, size):
    text = drawn(seed, 150)
    found = seen(cut(text, size))
    assert found == seen(cut(text))
    assert {"events", "settings", "volume", "coverage", "log"} <= found.keys()


def test_an_undated_line_takes_the_moment_of_the_dated_line_in_the_split_before(cut):
    text = f"2026-11-21 12:00:00,000 INFO up\n\tat a.b.C\n{HEAP}\n2026-11-21 12:00:09,000 INFO down\n"
    _, second, *_ = cut(text, edge(text, HEAP))
    (event,) = tables(second)[EVENTS]
    assert (event["kind"], f"{event['at']:%H:%M:%S}", event["line"]) == ("out-of-memory", "12:00:00", 1)


def test_an_exception_that_goes_on_in_the_next_split_is_told_once(cut):
    failed = "org.apache.kafka.common.errors.RecordTooLargeException: The message is 9 bytes"
    text = f"2026-11-21 12:00:00,000 ERROR [main] App: send failed {failed}\n\tat a.b.C\nCaused by: {failed}\n"
    first, second = cut(text, edge(text, "Caused"))
    assert len(tables(first)[EVENTS]) == 1
    assert tables(second).keys() == {COUNTS, COVERAGE}


def test_settings_belong_to_their_block_on_both_sides_of_an_edge(cut):
    text = (
        "2026-11-21 12:00:00,000 INFO [main] ProducerConfig values: \n\tacks = 1\n\tbatch.size = 16384\n"
        "\tclient.id = bridge\n\tlinger.ms = 5\n2026-11-21 12:00:01,000 INFO up\n"
    )
    for begins in ("\tacks", "\tbatch.size", "\tclient.id", "\tlinger.ms"):
        rows = [tables(one).get(SETTINGS, []) for one in cut(text, edge(text, begins))]
        told = [(row["scope"], row["owner"], row["key"], row["value"], f"{row['at']:%H:%M}") for r in rows for row in r]
        assert told == [
            ("producer", "bridge", key, value, "12:00")
            for key, value in (("acks", "1"), ("batch.size", "16384"), ("client.id", "bridge"), ("linger.ms", "5"))
        ]


def test_lines_of_a_later_split_are_numbered_from_the_beginning_of_the_file(cut):
    text = "2026-11-21 12:00:00,000 INFO up\n" * 50 + f"2026-11-21 12:00:01,000 ERROR {HEAP}\n"
    given = cut(text, 500)
    assert len(given) > 3
    assert [(one["first"]["line"], one["last"]["line"]) for one in facts(*given)["events"]] == [(51, 51)]


def test_the_first_and_the_last_line_are_known_to_the_second_in_every_layout(cut):
    text = "2026-11-21 12:00:07,250 INFO up\n\tat a.b.C\n[2026-11-21 12:01:01,000] INFO [x] up (a.B)\n"
    odd = "21.11.2026 12:01:59: down\n"
    ends = [
        (row["first_second"], row["last_second"]) for one in cut(text + odd, len(text)) for row in tables(one)[COVERAGE]
    ]
    assert ends == [("2026-11-21 12:00:07", "2026-11-21 12:01:01"), ("2026-11-21 12:01:59", "2026-11-21 12:01:59")]


def test_rows_do_not_depend_on_what_else_a_task_reads(cut):
    given = cut(drawn(7, 80), 1_000)
    alone = [written(one) for one in given]
    for table, rows in written(*given).items():
        apart = [row for one in alone if table in one for row in one[table].to_pylist()]
        assert sorted(map(repr, rows.to_pylist())) == sorted(map(repr, apart))


def test_packs_are_of_about_the_same_size_and_hold_each_split_once(cut, monkeypatch):
    monkeypatch.setattr(job, "_LEAST", 1)
    given = cut(drawn(7, 400), 1_000)
    packs = job._packed(given)
    sizes = [sum(one.size for one in pack) for pack in packs]
    assert sorted(one.number for pack in packs for one in pack) == list(range(len(given)))
    assert len(packs) in (2, 3)
    assert max(sizes) <= sum(sizes) // 2 + 1


@pytest.mark.parametrize(
    ("name", "reading", "pieces"),
    [
        ("app.log", Reading.LOG, [(0, 100), (100, 200), (200, splits.WHOLE)]),
        ("app.log.gz", Reading.LOG, [(0, splits.WHOLE)]),
        ("offsets.txt", Reading.TABLE, [(0, splits.WHOLE)]),
        ("up.json", Reading.DOCUMENT, [(0, splits.WHOLE)]),
        ("db", Reading.COUNT, [(0, splits.WHOLE)]),
    ],
)
def test_only_logs_that_can_be_read_from_anywhere_are_split(tmp_path, monkeypatch, name, reading, pieces):
    monkeypatch.setattr(splits, "SIZE", 100)
    path = tmp_path / name
    path.write_bytes(b"x" * 201)
    found = splits.splits([source(path, reading=reading, packed=name.endswith(".gz"))])
    assert [(one.start, one.end) for one in found] == pieces


def test_what_has_no_content_has_no_splits(tmp_path):
    path = tmp_path / "app.log"
    path.write_bytes(b"")
    given = [source(path, form) for form in ("empty", "unreadable")]
    assert list(splits.splits(given)) == []


def test_a_split_says_what_is_known_of_its_source(tmp_path):
    path = tmp_path / "offsets.20261121T122044Z.txt"
    path.write_bytes(b"orders:0:17\n")
    found = source(path, "kafka-get-offsets", Reading.TABLE, Envelope.COMPOSE, snapshot_at=1795263644.25)
    (one,) = splits.splits([found])
    assert asdict(one) == {
        "day": None, "source": found.link, "number": 0, "location": str(path), "start": 0, "end": splits.WHOLE,
        "format": "kafka-get-offsets", "reading": "T", "envelope": "o", "name": path.name,
        "snapshot_at": 1795263644250000, "layout": None, "large": False, "size": 12, "packed": False, "part": None,
    }  # fmt: skip
