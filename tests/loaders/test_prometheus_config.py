"""prometheus.yml."""

from mqlab.loaders import prometheus_config as loader
from mqlab.loaders.base import Head
from mqlab.tables import SETTINGS

TEXT = """
global:
  scrape_interval: 5s
scrape_configs:
- job_name: kafka
  static_configs:
  - targets: ['kafka-1:19404', "kafka-2:19404"]
- job_name: 'node'
  scrape_interval: 30s
  static_configs:
  - targets:
    - bridge-1:19100 # the bridge
!! odd"""


def test_the_interval_and_each_target_are_settings(loaded):
    assert loaded(loader, SETTINGS, "line at scope owner key value origin", TEXT) == [
        (2, None, "application", None, "scrape_interval", "5s", "file"),
        (6, None, "application", "kafka", "target", "kafka-1:19404", "file"),
        (6, None, "application", "kafka", "target", "kafka-2:19404", "file"),
        (8, None, "application", "node", "scrape_interval", "30s", "file"),
        (11, None, "application", "node", "target", "bridge-1:19100", "file"),
    ]


def test_every_line_has_a_class(classes):
    assert classes(loader, TEXT) == [
        "noise", "data", "noise", "data", "noise", "data", "data", "data", "noise", "noise", "data", None
    ]  # fmt: skip


def test_other_yaml_is_not_recognised():
    assert loader.recognise(Head("x", TEXT, len(TEXT)))
    assert not loader.recognise(Head("x", "global:\n  retries: 5\n", 20))
