"""Answers of Prometheus' HTTP API."""

from pyspark.sql import functions as F

from mqlab.loaders import prometheus_json as loader
from mqlab.loaders.base import Head
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


def documents(spark, *texts):
    return spark.createDataFrame([(f"{n}.json", text) for n, text in enumerate(texts)], "source string, text string")


def test_each_finite_sample_is_a_row(spark):
    found = loader.load(documents(spark, MATRIX, VECTOR, ERROR, EMPTY, MATRIX[:120], "[]"))[METRICS]
    assert found.schema.names == METRICS.schema.names
    rows = found.select("source", F.unix_micros("at"), "name", "labels", "value", "text").collect()
    assert [tuple(row) for row in rows] == [
        ("0.json", 1795261480_000000, "up", {"instance": "b:1"}, 1.0, '[1795261480,"1"]'),
        ("0.json", 1795261510_250000, "up", {"instance": "b:1"}, 2.5, '[1795261510.25,"2.5"]'),
        ("0.json", 1795261480_000000, None, {}, 7.0, '[1795261480,"7"]'),
        ("1.json", 1795261480_000000, "up", {}, 0.0, '[1795261480,"0"]'),
    ]


def test_of_a_label_named_twice_the_first_counts(spark):
    twice = VECTOR.replace('"__name__":"up"', '"a":"1","a":"2"')
    found = loader.load(documents(spark, twice))[METRICS].selectExpr("map_entries(labels) AS entries").collect()
    assert [tuple(pair) for pair in found[0].entries] == [("a", "1")]


def test_an_error_becomes_an_event(spark):
    rows = loader.load(documents(spark, MATRIX, ERROR))[EVENTS].select("source", "kind", "reason").collect()
    assert [tuple(row) for row in rows] == [("1.json", "tool-error", "bad_data: parse error at char 4")]


def test_half_a_document_is_not_understood(spark):
    texts = (MATRIX, VECTOR, ERROR, EMPTY, MATRIX[:120], MATRIX[:-1], "", '{"status":"ok"}')
    rows = documents(spark, *texts).selectExpr(loader.understood("text")).collect()
    assert [row[0] for row in rows] == [True, True, True, True, False, False, False, False]


def test_other_json_is_not_recognised():
    assert all(loader.recognise(Head("x", text, 9999)) for text in (MATRIX, VECTOR, ERROR, EMPTY, MATRIX[:150]))
    assert not loader.recognise(Head("x", '{"status":"ok","groups":[]}', 27))
    assert not loader.recognise(Head("x", '{"dataVersion":{"counter":3}}', 29))
