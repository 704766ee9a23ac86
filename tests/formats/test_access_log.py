"""Access logs of HTTP servers."""

from mqlab.formats import access_log as loader
from mqlab.formats.base import Head
from mqlab.tables import METRICS

NGINX = """
10.21.0.14 - - [21/Nov/2026:11:40:55 +0000] "POST /ner HTTP/1.1" 200 15 rt=0.004
10.21.0.14 - - [21/Nov/2026:11:40:59 +0000] "POST /ner?token=x HTTP/1.1" 200 15 rt=1.500
10.21.0.14 - - [21/Nov/2026:13:41:01 +0200] "POST /ner HTTP/1.1" 500 - rt=2.000
10.21.0.14 - - [21/Nov/2026:11:41:09 +0000] "POST /ner HTTP/1.1" 200 15
1.2.3.4 - - [oops] "GET / HTTP/1.1" 200 15"""
CELLS = "line at name labels value"


def row(rest):
    """A request of 11:40:55 with *rest* behind its bytes."""
    return f'h:80 10.0.0.1 - a b [21/Nov/2026:11:40:55 +0000] "GET /a\\"b HTTP/1.1" 200 15{rest}'


def seconds(loaded, *lines):
    """Seconds of requests that came in together."""
    found = loaded(loader, METRICS, "name value", "\n".join(lines))
    return [value for name, value in found if name == "http.seconds"]


def test_requests_are_counted_by_status_and_ten_seconds(loaded):
    ok, failed = {"status": "2xx"}, {"status": "5xx"}
    assert sorted(loaded(loader, METRICS, CELLS, NGINX), key=lambda r: (r[0], r[2])) == [
        (1, "11:40:50", "http.requests", ok, 2.0),
        (1, "11:40:50", "http.seconds", ok, 1.504),
        (2, "11:40:50", "http.slowest_seconds", ok, 1.5),
        (3, "11:41:00", "http.requests", failed, 1.0),
        (3, "11:41:00", "http.seconds", failed, 2.0),
        (3, "11:41:00", "http.slowest_seconds", failed, 2.0),
        (4, "11:41:00", "http.requests", ok, 1.0),
    ]


def test_nothing_else_of_a_request_is_taken(loaded):
    assert {text for (text,) in loaded(loader, METRICS, "text", NGINX)} == {None}


def test_times_are_seconds_whatever_their_unit(loaded):
    for rest in (' "-" "curl 3.141 D=7" 0.250 0.249', " request_time=0.250", ' uct="0.1" rt="0.250"', " D=250000",
                 " duration_us=250000", " took=250ms", " request_time_ms:250", " elapsed=0.25s"):  # fmt: skip
        assert seconds(loaded, row(rest)) == [0.25], rest


def test_a_number_without_name_or_unit_is_no_time(loaded):
    for rest in ("", " 250000", " 4", ' "-" "took=4ms"', " duration=4", " port=8080"):
        assert seconds(loaded, row(rest)) == [], rest


def test_json_lines_are_read(loaded):
    text = """
{"time":"2026-11-21T13:40:55+02:00","remote_addr":"10.0.0.1","request":"GET / HTTP/1.1","status":200,"request_time":0.5}
{"msec":"1795261256.123","method":"GET","status":"404","duration_ms":1500}
{"time":"2026-11-21T11:40:57Z","text":"no request"}"""
    found = sorted(loaded(loader, METRICS, CELLS, text), key=lambda r: (r[0], r[2]))
    assert [row for row in found if row[2] != "http.requests"] == [
        (1, "11:40:50", "http.seconds", {"status": "2xx"}, 0.5),
        (1, "11:40:50", "http.slowest_seconds", {"status": "2xx"}, 0.5),
        (2, "11:40:50", "http.seconds", {"status": "4xx"}, 1.5),
        (2, "11:40:50", "http.slowest_seconds", {"status": "4xx"}, 1.5),
    ]


def test_every_line_has_a_class(classes):
    assert classes(loader, NGINX) == ["data", "data", "data", "data", None]
    assert classes(loader, '{"a": 1}\n') == [None, "noise"]


def test_a_file_of_requests_is_recognised():
    whole = NGINX.rsplit("\n", 1)[0]
    assert loader.recognise(Head("x", whole, len(whole)))
    assert not loader.recognise(Head("x", whole + "\n2026-11-21 11:40:55 INFO started\n" * 3, 900))
    assert not loader.recognise(Head("x", '[2026-11-21 11:40:55,000] INFO "x" 200 15\n', 40))
    assert not loader.recognise(Head("x", '{"time":"2026-11-21T11:40:57Z","level":"INFO","msg":"status 200"}\n', 60))


def test_epoch_milliseconds_are_a_moment_too(loaded):
    text = '{"ts":1795261256123,"method":"GET","status":200,"request_time":0.5}'
    assert ("11:40:50", "http.requests") in loaded(loader, METRICS, "at name", text)


def test_of_a_key_that_comes_twice_the_first_counts(loaded):
    text = '{"msec":1795261256.123,"method":"GET","status":200,"upstream":{"status":503,"ts":5}}'
    assert loaded(loader, METRICS, "at name labels", text) == [("11:40:50", "http.requests", {"status": "2xx"})]


def test_hostile_lines_cost_little(classes):
    begin = '1.2.3.4 - - [21/Nov/2026:11:40:55 +0000] "'
    for line in (
        begin + "\\" * 100_000,
        begin + "a" * 100_000,
        " " * 100_000 + "{",
        '{"status":' + " " * 100_000 + "}",
    ):
        assert classes(loader, line) == [None]
    assert classes(loader, row(' "-" D=' + "1" * 100_000 + "x")) == ["data"]
    assert classes(loader, row("").replace("21/Nov", "99/Nov")) == ["data"]
