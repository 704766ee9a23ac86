"""ss -t."""

from mqlab.formats import ss_snapshot as loader
from mqlab.formats.base import Head
from mqlab.tables import CLIENTS, EVENTS

TEXT = """
State      Recv-Q Send-Q Local Address:Port  Peer Address:Port Process
LISTEN     0      128          0.0.0.0:21883      0.0.0.0:*
ESTAB      0      0        10.42.11.10:21883  10.42.11.21:36674 users:(("mosquitto",pid=7,fd=9))
CLOSE-WAIT 1      0             [::1]:9092        [::1]:50000
Recv-Q Send-Q Local Address:Port  Peer Address:Port Process
0      0        10.42.11.10:21883  10.42.11.22:36732
\t bbr wscale:10,10 rto:204 rtt:0.017/0.004 ato:40 mss:1448 cwnd:90
hm"""


def test_each_connection_shows_its_peer(loaded):
    assert loaded(loader, CLIENTS, "line at system peer connected", TEXT, snapshot_at="2026-11-21 11:49:14") == [
        (3, "11:49:14", "os", "10.42.11.21:36674", "true"),
        (4, "11:49:14", "os", "[::1]:50000", "false"),
        (6, "11:49:14", "os", "10.42.11.22:36732", "true"),
    ]


def test_every_line_has_a_class(classes):
    assert classes(loader, TEXT) == ["noise", "noise", "data", "data", "noise", "data", "noise", None]


def test_the_header_is_recognised():
    assert loader.recognise(Head("x", TEXT, len(TEXT)))
    assert not loader.recognise(Head("x", "#ClientId #ClientAddr #Language #Version\n", 40))


def test_a_connection_with_a_timer_and_an_error_are_data(loaded, classes):
    text = " 0 0 10.0.0.1:9092 10.0.0.2:5000 timer:(keepalive,9min,0)\nbash: line 1: ss: command not found"
    assert loaded(loader, CLIENTS, "peer connected", text) == [("10.0.0.2:5000", "true")]
    assert loaded(loader, EVENTS, "kind reason", text) == [("tool-error", "bash: line 1: ss: command not found")]
    assert classes(loader, text) == ["data", "data"]
