"""CSV of Kafka's JmxTool."""

from mqlab.formats import jmxtool_csv as loader
from mqlab.formats.base import Head
from mqlab.tables import METRICS

TEXT = """
"time","kafka.server:type=BrokerTopicMetrics,name=BytesInPerSec,topic=t:Count","kafka.producer:type=producer-metrics,client-id=a,b:outgoing-byte-total"
1729764000000,1048576,NaN
1729764005000,,12.5
Trying to connect to JMX url: service:jmx:rmi:///jndi/rmi://:9999/jmxrmi."""


def test_each_cell_is_a_sample_with_the_mbeans_properties_as_labels(loaded):
    assert loaded(loader, METRICS, "line at name labels value", TEXT) == [
        (2, "10:00:00", "kafka.server:type=BrokerTopicMetrics,name=BytesInPerSec:Count", {"topic": "t"}, 1048576.0),
        (3, "10:00:05", "kafka.producer:type=producer-metrics:outgoing-byte-total", {"client-id": "a,b"}, 12.5),
    ]


def test_a_header_without_quotes_is_cut_where_the_next_mbean_begins(loaded):
    text = "time,a:type=T,id=x,y:Rate,b:name=N:Count\n2024-10-24 10:00:00,1,2,3"
    assert loaded(loader, METRICS, "at name labels value", text) == [
        ("10:00:00", "a:type=T:Rate", {"id": "x,y"}, 1.0),
        ("10:00:00", "b:name=N:Count", {}, 2.0),
    ]


def test_rows_without_a_header_give_nothing(loaded, classes):
    assert loaded(loader, METRICS, "value", '1729764000000,"1\n1729764000000,2') == []
    assert classes(loader, '1729764000000,"1\n1729764000000,2') == ["data", "data"]


def test_every_line_has_a_class(classes):
    assert classes(loader, TEXT) == ["noise", "data", "data", None]


def test_other_csv_is_not_recognised():
    assert loader.recognise(Head("x", TEXT, len(TEXT)))
    assert not loader.recognise(Head("x", "time,id,topic\n1729764000000,5,a\n", 40))
