"""prometheus.yml."""

import pytest

from mqlab.formats import prometheus_config as loader
from mqlab.formats.base import Head
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


def test_targets_count_however_yaml_writes_them(loaded):
    text = """
scrape_configs:
- static_configs: [{targets: ['a:1', b]}]
  metric_relabel_configs: &keep
  - {source_labels: [topic], regex: 'x:1', action: keep}
  job_name: "late"
  scrape_interval: 1m
- job_name: other
  metric_relabel_configs: *keep
  static_configs:
  - labels: {job_name2: z}
    targets: [
      'c:1',
      "d:1"
    ]
global: {scrape_interval: 5s}"""
    assert loaded(loader, SETTINGS, "line owner key value", text) == [
        (2, "late", "target", "a:1"),
        (2, "late", "target", "b"),
        (6, "late", "scrape_interval", "1m"),
        (12, "other", "target", "c:1"),
        (13, "other", "target", "d:1"),
        (15, None, "scrape_interval", "5s"),
    ]


TORN = """
scrape_configs:
- job_name: kafka
  basic_auth: {password: [masked]x}
  scrape_interval: 5s
  static_configs:
  - targets: ['a:1']
- job_name: 'node
  static_configs:
  - targets: ['b:1'
- job_name: last
  static_configs:
  - targets: ['c:1']"""


def test_what_is_whole_of_a_torn_file_is_read(loaded, classes):
    assert loaded(loader, SETTINGS, "line owner key value", TORN) == [
        (4, "kafka", "scrape_interval", "5s"),
        (6, "kafka", "target", "a:1"),
        (12, "last", "target", "c:1"),
    ]
    assert classes(loader, TORN)[2] is None
    assert classes(loader, TORN)[6] is None


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "{" * 100_000,
        "[\n" * 50_000,
        "- " * 50_000,
        "'x\n" * 2000,
        "\x00\ud800\ufffe",
        "*a",
        "\t-",
        "? [a]: b",
    ],
)
def test_hostile_files_stop_nothing(classes, text):
    assert len(classes(loader, f"scrape_configs:\n{text}")) == text.count("\n") + 2
