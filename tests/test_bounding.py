"""A flood of kept lines: few of them stay, and the counts, the first and the last moment with them."""

import pytest
from pyspark.sql import functions as F

from mqlab import scan
from mqlab.canonical import raw_tables
from mqlab.scanning import bounding
from mqlab.sources import Envelope
from mqlab.tables import EVENTS
from mqlab.thinning import episodes

LINK = "Ln0000000000000001.application-log.-.log.txt"
FLOOD = 950


def _log():
    """Ten quiet lines, a flood of 950 failures in 25 seconds with an exception below each, one line after it."""
    lines = [f"2026-11-21 12:00:{n:02d},000 INFO  [main] App: all is well, {n} sent" for n in range(10)]
    for n in range(FLOOD):
        at = 10_000 + n * 25_000 // FLOOD
        lines.append(
            f"2026-11-21 12:00:{at // 1000:02d},{at % 1000:03d} ERROR [main] App: send failed id={n} "
            "org.apache.kafka.common.errors.RecordTooLargeException: The message is 9 bytes"
        )
        lines.append("Caused by: org.apache.kafka.common.errors.RecordTooLargeException: The message is 9 bytes")
    return [*lines, "2026-11-21 12:00:40,000 INFO  [main] App: all is well again"]


@pytest.fixture(scope="module")
def read(spark):
    """Tagged rows of the log, with floods bounded and without."""
    located = spark.createDataFrame(list(enumerate(_log())), "n long, value string").coalesce(1).sort("n")

    def rows(large, blocks):
        block = f"n DIV {len(_log()) // blocks + 1} AS block"
        content = located.selectExpr("value", f"'{LINK}' AS file", block)
        named = scan.lines(content, {Envelope.NONE}, {LINK} if large else {"another"})
        return named.selectExpr(
            "tag", "file", "line", "minute", "level", "lines", "bytes", "CAST(NULL AS TIMESTAMP) AS at",
            "CASE WHEN tag = 'count' THEN kept END AS shape", "CASE WHEN tag <> 'count' THEN kept END AS text",
            "CAST(NULL AS STRING) AS inner", "CAST(NULL AS STRING) AS name", "CAST(NULL AS STRING) AS labels",
            "CAST(NULL AS DOUBLE) AS value",
        ).persist()  # fmt: skip

    return {(large, blocks): rows(large, blocks) for large in (False, True) for blocks in (1, 3)}


def test_few_lines_of_a_flood_are_kept(read):
    kept = {large: read[large, 1].where("tag = 'event'").count() for large in (False, True)}
    windows = 3
    assert kept == {False: 2 * FLOOD, True: windows * (bounding.MOST + 1) + bounding.MOST}


@pytest.mark.parametrize("large", [False, True])
def test_it_makes_no_difference_in_how_many_blocks_a_file_is_read(read, large):
    def kept(blocks):
        rows = read[large, blocks].where("tag = 'event'").select("line", "lines", "bytes", "text").sort("line")
        return [tuple(row) for row in rows.collect()]

    assert kept(1) == kept(3)


def test_every_line_and_byte_of_a_flood_is_counted(read):
    totals = [tuple(rows.agg(F.expr("sum(lines)"), F.expr("sum(bytes)")).first()) for rows in read.values()]
    assert set(totals) == {(len(_log()), sum(len(line) + 1 for line in _log()))}


def test_a_flood_gives_the_same_episodes_whether_it_is_bounded_or_not(read):
    def told(rows):
        found = episodes.episodes(raw_tables(rows, frozenset({"application-log"}))[EVENTS])
        columns = ("kind", "bucket", "count", "first_at", "last_at", "first", "last", "value_min", "value_max")
        return [tuple(row) for row in found.select(*columns).sort("first_at").collect()]

    assert told(read[True, 1]) == told(read[False, 1])
    assert sum(row[2] for row in told(read[True, 1])) == FLOOD


TRACE = "Ln0000000000000002.mosquitto-log.-.log.txt"


def test_of_a_brokers_messages_the_count_of_each_client_and_topic_stays_exact(spark):
    names = ("evt/n1", "evt/n2", "evt/n3")
    lines = [
        f"{1795262400 + n // 20}: Sending PUBLISH to viewer-{n % 2} "
        f"(d0, q1, r0, m{n}, '{names[n % 3]}', ... ({n} bytes))"
        for n in range(600)
    ]
    located = spark.createDataFrame(list(enumerate(lines)), "n long, value string").coalesce(1).sort("n")
    content = located.selectExpr("value", f"'{TRACE}' AS file", "0 AS block")
    kept = scan.lines(content, {Envelope.NONE}, {TRACE}).where("tag = 'event'").persist()
    clients, topics, windows = 2, 3, 3
    assert kept.count() == clients * topics * windows * (bounding.TRACED + 1)
    counts = (
        kept.selectExpr(
            "regexp_extract(kept, 'to (.*?) [(]', 1) AS client", "regexp_extract(kept, 'evt/n.', 0) AS topic", "lines"
        )
        .groupBy("client", "topic")
        .sum("lines")
    )
    assert sorted(map(tuple, counts.collect())) == [
        (f"viewer-{n}", name, 100) for n in range(clients) for name in names
    ]
