"""Prometheus' text exposition."""

from mqlab.formats import prometheus_text as loader
from mqlab.formats.base import Head
from mqlab.tables import EVENTS, METRICS

TEXT = r"""
# at 2024-10-24T10:00:00Z
# HELP http_requests_total The total number of HTTP requests.
# TYPE http_requests_total counter
http_requests_total{method="post",code="200",} 1027 1395066363000
http_requests_total{path="C:\\x",msg="say \"hi\" {1}, or 2",path="again"} 3.0E2
up 1
gone NaN
big +Inf
Thu Oct 24 10:00:30 UTC 2024
up 0
wat"""


def test_each_sample_is_a_row_with_its_labels(loaded):
    assert loaded(loader, METRICS, "line at name labels value", TEXT) == [
        (4, "14:26:03", "http_requests_total", {"method": "post", "code": "200"}, 1027.0),
        (5, "10:00:00", "http_requests_total", {"path": "C:\\x", "msg": 'say "hi" {1}, or 2'}, 300.0),
        (6, "10:00:00", "up", {}, 1.0),
        (10, "10:00:30", "up", {}, 0.0),
    ]


def test_every_line_has_a_class(classes):
    assert classes(loader, TEXT) == ["noise"] * 3 + ["data"] * 5 + ["noise", "data", None]


def test_samples_of_a_table_of_answers_are_read(loaded, classes):
    text = """
| Element | Value |
|---|---:|
| lag{topic="a",partition="0"} | -2 |
lag{topic="a",partition="1"} | 41873
lag{topic="a",partition="2"} => 7 @[1395066363]"""
    assert loaded(loader, METRICS, "line at labels value", text) == [
        (3, None, {"topic": "a", "partition": "0"}, -2.0),
        (4, None, {"topic": "a", "partition": "1"}, 41873.0),
        (5, "14:26:03", {"topic": "a", "partition": "2"}, 7.0),
    ]
    assert classes(loader, text) == ["noise", "noise", "data", "data", "data"]
    assert loader.recognise(Head("x", text, len(text)))


def test_configuration_is_not_recognised():
    assert loader.recognise(Head("x", TEXT.rsplit("\n", 1)[0] + "\n", 999))
    assert loader.recognise(Head("x", 'up{job="a"} 1\n', 14))
    assert not loader.recognise(Head("x", "max_queued_messages 0\nmax_inflight 100\n", 40))


def test_what_curl_complains_of_is_an_event_and_the_samples_around_it_stay(loaded, classes):
    text = "up 1\n2024-10-24 10:00:00\nbash: curl: command not found\nup 2\n"
    assert loaded(loader, METRICS, "line at value", text) == [(1, None, 1.0), (4, "10:00:00", 2.0)]
    assert loaded(loader, EVENTS, "line at kind", text) == [(3, "10:00:00", "tool-error")]
    assert classes(loader, text) == ["data", "noise", "data", "data", "noise"]


def test_hostile_lines_are_not_understood_and_cost_little(classes):
    for line in (
        "up " + "1" * 100_000 + "x",
        'up{a="' + '\\"' * 100_000,
        "up{" + "a" * 100_000,
        "up" + " " * 100_000 + "x",
    ):
        assert classes(loader, line) == [None]
    assert classes(loader, "up 1e999\nup 1 " + "9" * 400) == ["data", "data"]
