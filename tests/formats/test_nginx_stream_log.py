"""Sessions that ended at nginx in front of a broker."""

from mqlab.formats import access_log, nginx_stream_log
from mqlab.formats.base import Head
from mqlab.tables import EVENTS

SESSIONS = """
2026-11-21T12:02:02+00:00 10.41.8.21:54538 200 sent=4 received=358400 time=35.009 upstream=10.41.8.10:1883
10.41.8.21 [21/Nov/2026:12:02:02 +0000] TCP 200 4 358400 35.009
10.41.8.21 [21/Nov/2026:13:02:02 +0100] TCP 200 4 358400 35.009 "10.41.8.10:1883" "358400" "4" "0.000"
2001:db8::1:54538 [21/Nov/2026:12:02:02 +0000] TCP 502 0 0 0.000
1795262522.000 10.41.8.21:54538 TCP 200 4 358400 35.009
[2026-11-21T12:02:02Z] 10.41.8.21:54538 status=200 bytes_sent=4 bytes_received=358400 session_time=35.009
2026-11-21T12:02:02+00:00 client=10.41.8.21:54538 status=200 in=358400 out=4 secs=35.009 to=10.41.8.10:1883"""
HTTP = '10.21.0.14 - - [21/Nov/2026:11:40:55 +0000] "POST /ner HTTP/1.1" 200 15 rt=0.004'


def test_each_session_is_an_event_at_its_end(loaded):
    told = loaded(nginx_stream_log, EVENTS, "at peer reason value", SESSIONS)
    same = ("received 358400 sent 4", 35.009)
    assert told == [
        ("12:02:02", "10.41.8.21:54538", *same),
        ("12:02:02", "10.41.8.21", *same),
        ("12:02:02", "10.41.8.21", *same),
        ("12:02:02", "2001:db8::1:54538", "received 0 sent 0", 0.0),
        ("12:02:02", "10.41.8.21:54538", *same),
        ("12:02:02", "10.41.8.21:54538", *same),
        ("12:02:02", "10.41.8.21:54538", *same),
    ]
    assert set(loaded(nginx_stream_log, EVENTS, "system kind", SESSIONS)) == {("mqtt", "proxied-connection")}


def test_requests_and_anything_else_are_not_understood_as_sessions(classes):
    text = f"{SESSIONS[1:]}\n{HTTP}\nsome text\n"
    assert classes(nginx_stream_log, text) == ["data"] * 7 + [None, None, "noise"]


def test_a_log_of_sessions_is_recognised_and_one_of_requests_is_not():
    for text in (SESSIONS[1:], *SESSIONS[1:].split("\n")):
        head = Head("access.log", text, len(text))
        assert nginx_stream_log.recognise(head)
        assert not access_log.recognise(head)
    http = Head("access.log", HTTP, len(HTTP))
    assert access_log.recognise(http)
    assert not nginx_stream_log.recognise(http)
    assert not nginx_stream_log.recognise(Head("x", "", 0))


def test_what_a_tool_says_between_sessions_is_told(loaded, classes):
    text = f"Sat Nov 21 12:00:00 UTC 2026\n{SESSIONS[1:]}\nError: x\n"
    assert loaded(nginx_stream_log, EVENTS, "line at kind reason", text)[-1] == (
        9,
        "12:00:00",
        "tool-error",
        "Error: x",
    )
    assert classes(nginx_stream_log, text) == ["noise"] + ["data"] * 8 + ["noise"]


def test_hostile_lines_cost_little(classes):
    for line in (" 200" * 30_000, "sent=" * 30_000, ":" * 100_000, '"GET ' * 30_000, SESSIONS[1:20] + "9" * 100_000):
        assert classes(nginx_stream_log, line) == [None]
