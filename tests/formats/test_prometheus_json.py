"""Answers of Prometheus' HTTP API."""

import pytest

from mqlab.formats import prometheus_json as loader
from mqlab.formats.base import About, Data, Head, Line
from mqlab.tables import EVENTS, METRICS

MATRIX = (
    '{"status":"success","data":{"resultType":"matrix","result":['
    '{"metric":{"__name__":"up","instance":"b:1"},"values":[[1795261480,"1"],[1795261490.5,"NaN"],[1795261500.5,"+Inf"],'
    '[1795261510.25,"2.5"]]},{"metric":{},"values":[[1795261480,"7"]]}]},"warnings":["x"]}'
)
VECTOR = (
    '{"data":{"result":[{"metric":{"__name__":"up"},"value":[1795261480,"0"]}],"resultType":"vector"},'
    '"status":"success"}'
)
ERROR = '{"status":"error","errorType":"bad_data","error":"parse error at char 4"}'
EMPTY = '{"status":"success","data":{"resultType":"matrix","result":[]}}'


def read(text):
    """What became of a document: rows as tuples of table and values, None where it is not understood."""
    (item,) = loader.parse(iter([Line(1, text)]), About("up.json"))
    return [(row.table, *row.values.values()) for row in item.rows] if isinstance(item, Data) else None


def test_each_finite_sample_is_a_row():
    assert read(MATRIX) == [
        (METRICS, 1795261480_000000, "up", {"instance": "b:1"}, 1.0, None, '[1795261480,"1"]'),
        (METRICS, 1795261510_250000, "up", {"instance": "b:1"}, 2.5, None, '[1795261510.25,"2.5"]'),
        (METRICS, 1795261480_000000, None, {}, 7.0, None, '[1795261480,"7"]'),
    ]
    assert read(VECTOR) == [(METRICS, 1795261480_000000, "up", {}, 0.0, None, '[1795261480,"0"]')]
    assert read(EMPTY) == []


def test_rows_have_columns_of_their_table(loaded):
    assert loaded(loader, METRICS, "line at name value text", VECTOR) == [
        (None, "11:44:40", "up", 0.0, '[1795261480,"0"]')
    ]


def test_of_a_label_named_twice_the_first_counts():
    ((_, _, name, labels, *_),) = read(VECTOR.replace('"__name__":"up"', '"a":"1","a":"2"'))
    assert (name, labels) == (None, {"a": "1"})


def test_an_error_becomes_an_event():
    assert read(ERROR) == [(EVENTS, "tool-error", "bad_data: parse error at char 4", None, ERROR)]
    ((*_, text),) = read(ERROR.replace("char 4", "x" * 999))
    assert len(text) == 500


def test_series_about_errors_are_no_error():
    ((_, _, _, labels, *_),) = read(VECTOR.replace('"__name__":"up"', '"status":"error"'))
    assert labels == {"status": "error"}


@pytest.mark.parametrize("text", [MATRIX[:120], MATRIX[:-1], "{", "[]", "7", '{"status":"ok"}', '{"status":"success"}'])
def test_half_a_document_and_any_other_is_not_understood(text):
    assert read(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"a":' * 100_000,
        VECTOR.replace("1795261480", "9" * 5000),
        VECTOR.replace('[1795261480,"0"]', '{"a":1}'),
        VECTOR.replace('[1795261480,"0"]', "[[],[]]"),
        VECTOR.replace('{"__name__":"up"}', "3"),
        EMPTY.replace("[]", "[1,null,[]]"),
        EMPTY.replace("[]", "{}"),
        EMPTY.replace('"matrix"', "[]"),
    ],
)
def test_hostile_documents_stop_nothing(text):
    assert all(value is None or isinstance(value, float) for *_, value, _, _ in read(text) or [])


def test_halves_of_characters_are_replaced():
    ((_, _, name, *_),) = read(VECTOR.replace("up", "\\ud800p\\u00fc"))
    assert name == "?pü"


def test_other_json_is_not_recognised():
    assert all(loader.recognise(Head("x", text, 9999)) for text in (MATRIX, VECTOR, ERROR, EMPTY, MATRIX[:150]))
    assert not loader.recognise(Head("x", '{"status":"ok","groups":[]}', 27))
    assert not loader.recognise(Head("x", '{"dataVersion":{"counter":3}}', 29))
