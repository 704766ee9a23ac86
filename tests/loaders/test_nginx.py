# ruff: noqa: E501 - lines of logs stay in one piece
"""nginx in front of a broker: sessions that ended, and what its configuration limits."""

import pytest

from mqlab.loaders import LOADERS, nginx_conf, nginx_stream_log
from mqlab.loaders.base import Head
from mqlab.material.recognition import recognise
from mqlab.tables import EVENTS, SETTINGS

SESSIONS = """
2026-11-21T12:02:02+00:00 10.41.8.21:54538 200 sent=4 received=358400 time=35.009 upstream=10.41.8.10:1883
10.41.8.21 [21/Nov/2026:12:02:02 +0000] TCP 200 4 358400 35.009
10.41.8.21 [21/Nov/2026:13:02:02 +0100] TCP 200 4 358400 35.009 "10.41.8.10:1883" "358400" "4" "0.000"
2001:db8::1:54538 [21/Nov/2026:12:02:02 +0000] TCP 502 0 0 0.000
1795262522.000 10.41.8.21:54538 TCP 200 4 358400 35.009
[2026-11-21T12:02:02Z] 10.41.8.21:54538 status=200 bytes_sent=4 bytes_received=358400 session_time=35.009
2026-11-21T12:02:02+00:00 client=10.41.8.21:54538 status=200 in=358400 out=4 secs=35.009 to=10.41.8.10:1883"""
HTTP = '10.21.0.14 - - [21/Nov/2026:11:40:55 +0000] "POST /ner HTTP/1.1" 200 15 rt=0.004'
CONF = """
load_module modules/ngx_stream_module.so;
events { worker_connections 512; }
# the plant's brokers
stream {
    log_format mqtt '$time_iso8601 $remote_addr:$remote_port; {$status}'
                    ' sent=$bytes_sent';   # no time
    upstream mqtt { server 10.41.8.10:1883; server 10.41.8.11:1883 backup; }
    server {
        listen 21884 so_keepalive=on;
        proxy_upload_rate 10k; proxy_timeout 10m;
    }
    proxy_connect_timeout 1s;
    server { listen 8883; proxy_pass mqtt; }
}
"""


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
    for text in (SESSIONS[1:], *SESSIONS.split("\n")[1:]):
        assert recognise(text.encode(), "access.log", len(text), LOADERS).format == "nginx-stream-log"
    assert recognise(HTTP.encode(), "access.log", len(HTTP), LOADERS).format == "access-log"
    assert not nginx_stream_log.recognise(Head("x", "", 0))


def test_each_directive_is_a_setting_of_the_server_that_listens(loaded):
    assert loaded(nginx_conf, SETTINGS, "line owner key value", CONF) == [
        (1, None, "load_module", "modules/ngx_stream_module.so"),
        (2, None, "worker_connections", "512"),
        (5, None, "log_format", "mqtt '$time_iso8601 $remote_addr:$remote_port; {$status}'                     ' sent=$bytes_sent'"),
        (7, None, "server", "10.41.8.10:1883"),
        (7, None, "server", "10.41.8.11:1883 backup"),
        (9, "21884 so_keepalive=on", "listen", "21884 so_keepalive=on"),
        (10, "21884 so_keepalive=on", "proxy_upload_rate", "10k"),
        (10, "21884 so_keepalive=on", "proxy_timeout", "10m"),
        (12, None, "proxy_connect_timeout", "1s"),
        (13, "8883", "listen", "8883"),
        (13, "8883", "proxy_pass", "mqtt"),
    ]  # fmt: skip
    assert set(loaded(nginx_conf, SETTINGS, "scope origin", CONF)) == {("proxy", "file")}


def test_a_servers_file_of_its_own_is_read_alike(loaded):
    text = "server {\n  listen 80;\n  location / {\n    proxy_pass http://x;\n  }\n  root /y;\n}\n"
    assert loaded(nginx_conf, SETTINGS, "owner key value", text) == [
        ("80", "listen", "80"),
        ("80", "proxy_pass", "http://x"),
        ("80", "root", "/y"),
    ]


def test_comments_are_noise_and_all_else_of_it_is_data(classes):
    assert classes(nginx_conf, CONF) == ["data"] * 2 + ["noise"] + ["data"] * 11 + ["noise"]


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        (CONF, True),
        ("listener 1883\nallow_anonymous true\n", False),
        ('{"listen": 80, "server": {"a": 1}}\n', False),
        ("function f() {\n  return 1;\n}\n", False),
        ("listeners.tcp.default {\n  bind = 1883\n}\n", False),
        ("", False),
    ],
)
def test_it_is_recognised_by_its_directives(text, is_one):
    assert nginx_conf.recognise(Head("x.conf", text, len(text))) == is_one


def test_a_configuration_is_recognised_whatever_its_directives_hold_on_their_lines():
    text = """
load_module modules/ngx_stream_module.so;
events {}
stream {
    log_format basic '$remote_addr [$time_local] $protocol $status $bytes_sent $bytes_received $session_time';
    upstream mq { server 10.121.0.4:1883; }
    server {
        listen 10.121.0.9:1883;
        proxy_upload_rate 4k;
    }
}
"""
    assert recognise(text.encode(), "nginx.conf", len(text), LOADERS).format == "nginx-conf"
    assert recognise(b"listen 1883;\nkey = value;\n", "other.conf", 26, LOADERS).format != "nginx-conf"
