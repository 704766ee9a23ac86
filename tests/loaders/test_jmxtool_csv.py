"""CSV of Kafka's JmxTool."""

from mqlab.loaders import jmxtool_csv as loader
from mqlab.loaders.base import Head
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


def test_every_line_has_a_class(classes):
    assert classes(loader, TEXT) == ["noise", "data", "data", None]


def test_other_csv_is_not_recognised():
    assert loader.recognise(Head("x", TEXT, len(TEXT)))
    assert not loader.recognise(Head("x", "time,id,topic\n1729764000000,5,a\n", 40))
