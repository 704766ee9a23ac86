"""Whatever is copied together, every line and every byte of it belongs to one part, and a part's lines are in order."""

from hypothesis import given, settings
from hypothesis import strategies as st

from mqlab.formats.registry import FORMATS
from mqlab.material import encodings, joining, terminal
from mqlab.material.joining import Piece
from mqlab.material.moments import Clock
from mqlab.material.pasted import parts

PIECES = (
    "2024-05-01 12:18:43,427 WARN  [main] a.b.C - [Consumer clientId=c-1, groupId=g] consumer poll timeout has expired",
    "\x1b[36m12:18:43.427\x1b[0m WARN poll failed",
    "[2024-05-01 12:18:43,427] INFO [Broker id=1] Started (kafka.server.KafkaServer)",
    "1714565923: New connection from 10.41.3.40:46436 on port 1883.",
    "[root@mq-1 ~]# date",
    "GROUP           TOPIC           PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG  CONSUMER-ID  HOST  CLIENT-ID",
    "billing         orders          0          1042            1390            348  -            -     -",
    "```",
    "# Heading",
    "some prose, and more of it",
    "\tat java.lang.Thread.run(Thread.java:840)",
    "{",
    '  "level": "warn", "msg": "lost", "time": "2024-05-01T12:18:43Z"',
    "}",
    '{"level":"warn","msg":"lost","time":"2024-05-01T12:18:43Z"}',
    "<pre>&lt;a&gt;<br>b</pre>",
    '"@timestamp",message',
    '2024-05-01T12:18:43Z,"a, b"',
    "10 %\r100 %",
    "",
    "   ",
    "\x00\x08",
    "日本",
)
PASTES = st.lists(st.sampled_from(PIECES), min_size=1, max_size=30)


@given(PASTES, st.booleans())
@settings(max_examples=60, deadline=None)
def test_lines_and_bytes_of_all_parts_are_those_of_the_file(lines, ends):
    content = ("\n".join(lines) + ("\n" if ends else "")).encode()
    found = parts(content, "paste.txt", FORMATS)
    wholes = [whole for part in found for whole in part.wholes]
    count = content.count(b"\n") + (not content.endswith(b"\n"))

    assert sum(whole.lines for whole in wholes) in (count if found else 0, count)
    assert sum(whole.bytes for whole in wholes) in ((len(content), len(content) + 1) if found else (0,))
    assert all(1 <= whole.number <= count for whole in wholes)


@given(st.integers(40, 120))
@settings(max_examples=30, deadline=None)
def test_what_a_terminal_wrapped_is_as_it_was(width):
    records = [f"{PIECES[0]} {'max.poll.interval.ms ' * n}ended after {n} tries" for n in range(1, 6)]
    cut = [record[at : at + width] for record in records for at in range(0, len(record), width)]
    joined = joining.unwrapped([Piece(n, 1, 0, text) for n, text in enumerate(cut, 1)], Clock().begins)

    assert [piece.text for piece in joined] == records


def test_a_log_whose_records_have_one_length_is_not_joined():
    lines = [PIECES[0], "caused by something else", PIECES[0], "caused by another thing"]
    pieces = [Piece(n, 1, 0, text) for n, text in enumerate(lines, 1)]

    assert joining.unwrapped(pieces, Clock().begins) == pieces


def test_moments_are_read_in_the_ways_of_many_consoles():
    written = {
        "12:18:43,427 WARN x": "1976-07-01 12:18:43,427 WARN x",
        "WARN 12:18:43 x": "1976-07-01 12:18:43 WARN x",
        "24/05/01 12:18:43 WARN Fetcher: x": "2024-05-01 12:18:43 WARN Fetcher: x",
        "2024年5月1日 12:18:43 x": "2024-05-01 12:18:43 x",
        "2024. 5. 1. 오후 3:21:10 x": "2024-05-01 15:21:10 x",
        "2024/5/1 下午3:21:10 x": "2024-05-01 15:21:10 x",
        "01.05.2024 12:18:43,427 x": "01.05.2024 12:18:43,427 x",
        "1 мая 2024 г., 12:18:43 x": "2024-05-01 12:18:43 x",
        "1 de mai. de 2024 12:18:43 x": "2024-05-01 12:18:43 x",
        "5/1/2024, 3:21:10 PM x": "2024-05-01 15:21:10 x",
        "E0501 12:18:43.123456    7 a.go:64] x": "1972-05-01 12:18:43.123456 ERROR [a.go:64] - x",
        "[I 240501 12:18:43 web:7] x": "2024-05-01 12:18:43 INFO [web:7] - x",
        "2024-W18-3T12:18:43 x": "2024-05-01 12:18:43 x",
        "05-01 12:18:43.123 x": "1972-05-01 12:18:43.123 x",
        "WARNING:kafka.conn:x": "WARN [-] kafka.conn - x",
        'time="2024-05-01T12:18:43Z" level=warning msg="x y" a=b': "2024-05-01T12:18:43Z WARN [-] - - x y a=b",
        "we saw it at 12:18:43": None,
    }

    assert {line: Clock.of([line]).read(line) for line in written} == written


def test_a_clock_without_a_date_passes_midnight():
    clock = Clock()
    assert [clock.read(f"{text} x") for text in ("23:59:58,001", "00:00:01,002")] == [
        "1976-07-01 23:59:58,001 x",
        "1976-07-02 00:00:01,002 x",
    ]


def test_day_and_month_are_told_by_the_other_lines():
    lines = ["01/05/2024 12:18:43 x", "13/05/2024 12:18:43 x"], ["01/05/2024 12:18:43 x", "01/13/2024 12:18:43 x"]
    assert [Clock.of(some).read(some[0]) for some in lines] == ["2024-05-01 12:18:43 x", "2024-01-05 12:18:43 x"]


def test_a_line_is_what_its_terminal_showed():
    shown = {
        "^[[36mINFO^[[0m x": "INFO x",
        "\\x1b[31mERROR\\x1b[0m x": "ERROR x",
        "[36mINFO[0m x": "INFO x",
        "[main] x[m]": "[main] x[m]",
        "10 %\r100 %": "100 %",
        "ab\x08c": "ac",
    }
    assert {text: terminal.clean(text, markup=False) for text in shown} == shown


def test_encodings_are_told_by_content():
    texts = {
        "gb18030": "2024-05-01 消费组开始重平衡，请等待",
        "euc_kr": "2024-05-01 그룹에서 제외되었습니다",
        "shift_jis": "2024-05-01 接続が切れました。再試行します",
        "euc_jp": "2024-05-01 接続が切れました。再試行します",
        "cp1251": "2024-05-01 Ошибка соединения с брокером",
        "koi8_r": "2024-05-01 Ошибка соединения с брокером",
        "cp1252": "2024-05-01 nova tentativa será feita",
        "utf-16-le": "2024-05-01 WARN",
        "utf-16-be": "2024-05-01 WARN",
    }
    assert {codec: encodings.told(text.encode(codec)) for codec, text in texts.items()} == {c: c for c in texts}
    assert encodings.told("2024-05-01 消费组 será".encode()) is None
