"""Prometheus' text exposition."""

from mqlab.loaders import prometheus_text as loader
from mqlab.loaders.base import Head
from mqlab.tables import METRICS

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


def test_configuration_is_not_recognised():
    assert loader.recognise(Head("x", TEXT.rsplit("\n", 1)[0] + "\n", 999))
    assert loader.recognise(Head("x", 'up{job="a"} 1\n', 14))
    assert not loader.recognise(Head("x", "max_queued_messages 0\nmax_inflight 100\n", 40))
