"""Lines as columns say of each line what it says by itself."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mqlab.formats import layouts
from mqlab.kernel import vectors
from mqlab.kernel.vectors import NO_MINUTE, Lines, headers

LEVELS = ("TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL", "SEVERE", "CRITICAL", "WARNING", "info", "")
HEADERS = (
    "[2026-11-21 12:18:43,427] {} ",
    "[2026-11-21 12:18:43,427] {:<5} ",
    "[2026-11-21 12:18:43,427][{}] ",
    "[2026-11-21 12:18:43] {}: ",
    "[2026-11-21T12:18:43.427+01:00][{}][gc] ",
    "2026-11-21 12:13:33,850 {} ",
    "2026-11-21 12:13:33,850 {:<5} [main] ",
    "2026-11-21 12:13:33.850 {{main}} {:<5} ",
    "2026-11-21 12:02:13,013 {} RocketmqClient - ",
    "2026-11-21T12:13:33.850Z {} ",
    "2026-11-21T12:13:33Z {} ",
    "2026/11/22 06:53:49.123456 {} ",
    "2024-02-29 23:59:59 {} ",
    "2000-02-29 23:59:59 {} ",
    "2023-02-29 10:00:00 {} ",
    "2026-02-31 10:00:00 {} ",
    "2026-13-01 10:00:00 {} ",
    "2026-11-21 25:18:43 {} ",
    "[2026-04-31 10:00:00,000] {} ",
    "  2026-11-21 12:18:43 {} ",
    "{} [main] 2026-11-21 12:18:43 ",
    "%4|1729766123.421|MAXPOLL|rdkafka#consumer-1| [thrd:{}]: ",
    "%9|1729766123.421|MAXPOLL| {} ",
    "1795261186: {} ",
    "1795330392.917 {} ",
    "17952611860: {} ",
    "22.11.2026 06:43:08: {} ",
    "Nov 22 00:24:29 {} ",
    "Nov  2 00:24:29.123: {} ",
    "Nov 22, 2026 7:21:50 AM {} ",
    "Nov 2, 2026, 12:21:50\u202fPM {} ",
    "[22/Nov/2026:10:46:14 +0100] {} ",
    "Sun Nov 22 10:46:14 2026: {} ",
    "18:54:07 22.11.2026: {} ",
    "20261122 18:54:07 +0900: {} ",
    'time="2026-11-21T12:18:43Z" level={} ',
    "\tat {} ",
    "{}",
    "é{} ",
)
MESSAGES = ("", "Started", "[GroupCoordinator 1]: ok", "INFO", "an ERROR: 2020-01-01 00:00:00Z", "_WARN", "x" * 200)
LINE = st.builds(
    lambda header, level, message, rest: f"{header.format(level)}{message}{rest}",
    st.sampled_from(HEADERS), st.sampled_from(LEVELS), st.sampled_from(MESSAGES), st.text("é日🦄 \r", max_size=60),
)  # fmt: skip
TEXT = st.text("aé日🦄 \r\t", max_size=30)


def lines_of(texts):
    return Lines.of("".join(f"{text}\n" for text in texts).encode())


@given(st.lists(LINE, max_size=30))
def test_headers_of_many_lines_are_those_of_each_line(texts):
    found = headers(lines_of(texts))

    moments, levels = [layouts.moment(text) for text in texts], [layouts.level(text) for text in texts]
    assert found.minute.tolist() == [one.wall // 60_000_000 if one else NO_MINUTE for one in moments]
    assert found.level.tolist() == [1 + layouts.LEVELS.index(level) if level else 0 for level in levels]
    assert (found.second // 60 == found.minute)[found.minute >= 0].all()


@pytest.mark.parametrize(
    ("text", "second", "plain", "behind"),
    [
        ("[2026-11-21 12:18:43,427] INFO up", 1795263523, True, "INFO up"),
        ("2026-11-21 12:18:43,427 INFO up", 1795263523, False, ",427 INFO up"),
        ("1795263523: up", 1795263523, False, "up"),
        ("22.11.2026 06:43:08: up", 1795329788, False, "22.11.2026 06:43:08: up"),
        ("\tat a.b.C", NO_MINUTE, False, "\tat a.b.C"),
    ],
)
def test_seconds_are_told_of_every_layout_and_a_shape_begins_behind_their_moment(text, second, plain, behind):
    found = headers(lines_of([text]))
    assert (found.second[0], found.plain[0], text[found.behind[0] :]) == (second, plain, behind)


@given(st.lists(TEXT, max_size=12))
def test_texts_are_the_lines_but_for_a_carriage_return_at_their_end(texts):
    cut = [text.removesuffix("\r") for text in texts]
    assert lines_of(texts).texts().to_list() == cut
    assert Lines.of_texts(pl.Series(texts, dtype=pl.String)).texts().to_list() == cut


@given(st.lists(TEXT, min_size=1, max_size=12), st.integers(0, 40), st.integers(1, 20))
def test_no_letter_of_several_bytes_is_cut_in_two(texts, skip, most):
    texts = [text.rstrip("\r") for text in texts]
    behind = [text.encode()[skip:].decode("utf-8", "ignore") for text in texts]
    near = [text.encode()[:most].decode("utf-8", "ignore") for text in behind]
    assert lines_of(texts).near(most, skip).to_list() == near


@given(st.binary(max_size=60))
def test_bytes_that_are_no_utf_8_are_replaced(data):
    assert vectors.valid(data) == data.decode("utf-8", "replace").encode()


def test_a_minute_is_written_as_people_do():
    frame = pl.DataFrame({"minute": np.array([29921058, 0, NO_MINUTE])}).select(vectors.minute_text("minute"))
    assert frame["minute"].to_list() == ["2026-11-21 12:18", "1970-01-01 00:00", None]
