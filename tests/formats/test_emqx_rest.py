"""Answers of EMQX's API, 3.0 to 5.x, on one line and on many."""

import json

import pytest

from mqlab.formats import emqx_rest as loader
from mqlab.formats.base import Head
from mqlab.tables import CLIENTS, EVENTS, METRICS

V4 = {"meta": {"page": 1, "limit": 10, "count": 1}, "data": [{
    "clientid": "pump-7", "ip_address": "10.0.0.7", "port": 59441, "clean_start": False, "connected": False,
    "expiry_interval": 7200, "mqueue_len": 1000, "max_mqueue": 1000, "mqueue_dropped": 17, "inflight": 32,
    "connected_at": "2024-01-01 10:00:00"}], "code": 0}  # fmt: skip
V5 = {"data": [{"clientid": "<b>x</b>", "ip_address": "10.0.0.8", "port": 1, "clean_start": True, "connected": True,
                "expiry_interval": "infinity", "mqueue_len": 0, "mqueue_max": 1000, "mqueue_dropped": 0}]}  # fmt: skip
SUBSCRIBED = {"data": [{"topic": "$share/g/t", "qos": 1, "node": "emqx@1", "clientid": "pump-7"}], "code": 0}
METRICS_4 = {"data": [{"node": "emqx@1", "metrics": {"messages.dropped": 17, "session.takeovered": 3}}], "code": 0}
METRICS_5 = [{"node": "emqx@1", "messages.dropped": 17, "session.takenover": 3}]
RULE = {"data": {"id": "r1", "sql": "SELECT 1", "metrics": {"failed.out_of_service": 4, "matched.max": 1}}}


@pytest.fixture(params=[None, 2], ids=["one line", "many lines"])
def written(request):
    return lambda answer: json.dumps(answer, indent=request.param)


def test_clients_of_each_version_tell_what_waits_and_what_was_dropped(loaded, written):
    columns = "client_id peer connected clean expiry queued dropped"
    assert loaded(loader, CLIENTS, columns, written(V4)) == [
        ("pump-7", "10.0.0.7:59441", "false", "false", 7200, 1000, 17)
    ]
    assert loaded(loader, CLIENTS, columns, written(V5)) == [("<b>x</b>", "10.0.0.8:1", "true", "true", None, 0, 0)]


def test_subscriptions_and_counters(loaded, written):
    assert loaded(loader, EVENTS, "kind client_id topic value", written(SUBSCRIBED)) == [
        ("client-subscribed", "pump-7", "$share/g/t", 1.0)
    ]
    assert loaded(loader, CLIENTS, "client_id", written(SUBSCRIBED)) == []
    four = sorted(loaded(loader, METRICS, "name value", written(METRICS_4)))
    five = sorted(loaded(loader, METRICS, "name value", written(METRICS_5)))
    assert four == [("emqx.messages.dropped", 17.0), ("emqx.session.takeovered", 3.0)]
    assert five == [("emqx.messages.dropped", 17.0), ("emqx.session.takenover", 3.0)]
    assert sorted(loaded(loader, METRICS, "name labels value", written(RULE)), key=str) == [
        ("emqx.rule.failed.out_of_service", {"rule": "r1"}, 4.0), ("emqx.rule.matched.max", {"rule": "r1"}, 1.0),
    ]  # fmt: skip


def test_of_an_answer_that_is_cut_whole_entries_are_read(loaded, written):
    answer = written({"meta": {"page": 1}, "data": [V4["data"][0], V5["data"][0]]})
    assert loaded(loader, CLIENTS, "client_id", answer[: answer.rindex('"mqueue_dropped')]) == [("pump-7",)]


def test_nesting_without_end_is_no_error(classes):
    assert classes(loader, '{"data":' + "[" * 200_000) == ["data"]


def test_all_lines_of_an_answer_are_data(classes):
    for answer in (V4, METRICS_5):
        assert set(classes(loader, json.dumps(answer, indent=2))) == {"data"}
    assert classes(loader, "curl: (7) Failed to connect") == [None]


def test_only_answers_of_emqx_are_recognised():
    for answer in (V4, V5, SUBSCRIBED, METRICS_4, METRICS_5):
        text = json.dumps(answer)
        assert loader.recognise(Head("clients.json", text, len(text)))
    for text in ('{"error":false,"message":"consumer status returned"}', '{"offsetTable":{}}', "[]", "{", ""):
        assert not loader.recognise(Head("clients.json", text, len(text)))
