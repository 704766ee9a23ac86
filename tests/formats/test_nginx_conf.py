# ruff: noqa: E501 - lines of configurations stay in one piece
"""What nginx in front of a broker limits."""

import pytest

from mqlab.formats import nginx_conf
from mqlab.formats.base import Head
from mqlab.tables import SETTINGS

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
    assert nginx_conf.recognise(Head("nginx.conf", text, len(text)))
    assert not nginx_conf.recognise(Head("other.conf", "listen 1883;\nkey = value;\n", 26))


def test_what_is_whole_of_a_torn_file_is_read(loaded, classes):
    text = "}\nserver {\n listen 80; log_format x 'torn;\n root /y;\n proxy_timeout 1s; proxy_upl"
    assert loaded(nginx_conf, SETTINGS, "line owner key value", text) == [
        (3, "80", "listen", "80"),
        (4, "80", "root", "/y"),
        (5, "80", "proxy_timeout", "1s"),
    ]
    assert classes(nginx_conf, text + "\n(") == ["data"] * 5 + [None]


def test_what_follows_a_block_within_a_server_is_the_servers(loaded):
    text = "server {\n listen 80;\n content_by_lua_block { x; }\n root /y;\n}\nuser z;"
    assert ("80", "root") in loaded(nginx_conf, SETTINGS, "owner key", text)
    assert (None, "user") in loaded(nginx_conf, SETTINGS, "owner key", text)


@pytest.mark.parametrize(
    "text", ["{" * 50_000, "'\\" * 50_000, " # " * 50_000 + "'", "a " * 50_000 + ";", "}" * 50_000]
)
def test_hostile_lines_cost_little(classes, text):
    assert classes(nginx_conf, text) == ["data" if text[0] in "{}'a" else "noise"]
