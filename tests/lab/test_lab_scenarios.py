"""Scenarios of the lab: what their files may say, and what ships."""

import re
import tomllib
from pathlib import Path

import pytest

from mqlab.catalogue import INCIDENTS
from mqlab.lab.brokers import naming
from mqlab.lab.brokers.base import Wanted
from mqlab.lab.brokers.naming import named
from mqlab.lab.brokers.registry import addresses, filled
from mqlab.lab.errors import BadScenarioError, LabError
from mqlab.lab.scenario import Load, Step, read, scenario, shipped

NOTEBOOKS = {path.stem for path in (Path(__file__).parents[2] / "notebooks").glob("*.py")}
SMALL = """
title = "t"
incident = "slow-consumer"
notebook = "03_rebalance_timeouts"
seconds = 10
[[brokers]]
software = "kafka"
version = "3.9"
[[loads]]
name = "worker"
kind = "kafka-consumer"
count = 2
group = "g"
[loads.client]
"group.instance.id" = "w-{n}"
[[steps]]
at = 5
do = "set"
loads = ["worker-1"]
work_ms = 80
"""


@pytest.mark.parametrize("name", shipped())
def test_a_shipped_scenario_names_known_classes_and_a_notebook(name):
    one = scenario(name)
    assert one.notebook in NOTEBOOKS
    assert {one.incident, one.looks_like or one.incident, *one.also} <= {*INCIDENTS, "healthy"}
    assert max((step.at for step in one.steps), default=0) < one.seconds


def test_each_notebook_of_incidents_has_a_class_and_a_look_alike():
    every = [scenario(name) for name in shipped()]
    told = {"01", "02", "03", "04", "05"}
    assert {one.notebook[:2] for one in every if one.looks_like is None} == told
    assert {one.notebook[:2] for one in every if one.looks_like is not None} == told


def test_loads_are_numbered_and_a_step_keeps_its_own_words():
    one = read("small", tomllib.loads(SMALL))
    options = [{"group": "g", "client": {"group.instance.id": f"w-{n}"}} for n in (1, 2)]
    assert one.loads == tuple(Load(f"worker-{n}", "kafka-consumer", "kafka", 0.0, options[n - 1]) for n in (1, 2))
    assert one.steps == (Step(5.0, "set", ("worker-1",), (), {"work_ms": 80}),)


@pytest.mark.parametrize(
    ("change", "because"),
    [
        (('"kafka-consumer"', '"kafka-reader"'), "no load of kind kafka-reader"),
        (('"worker-1"', '"worker-9"'), "no load worker-9"),
        (('do = "set"', 'do = "melt"'), "no step melt"),
        (('software = "kafka"', 'software = "kafak"'), "no software kafak"),
        (("seconds = 10", 'seconds = 10\nnumbers = {lost_records = "guessed"}'), "nothing counts guessed"),
        (("seconds = 10", "seconds = 10\ncolour = 1"), "unknown: colour"),
    ],
)
def test_a_name_that_nothing_has_is_told(change, because):
    with pytest.raises(BadScenarioError, match=because):
        read("small", tomllib.loads(SMALL.replace(*change)))


def test_a_scenario_that_is_not_there_is_told_with_those_that_are():
    with pytest.raises(BadScenarioError, match=r"it does not exist; use .*slow-consumer"):
        scenario("slow-consummer")


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("kafka:3.9:3", [Wanted("kafka", "3.9", 3)]),
        ("mosquitto", [Wanted("mosquitto", "")]),
        ("kafka rocketmq hivemq", [Wanted("kafka", "4.1"), Wanted("rocketmq", "5.1"), Wanted("hivemq", "2025")]),
        ("4.1", [Wanted("kafka", "4.1")]),
        ("4.9 3.9:3", [Wanted("rocketmq", "4.9"), Wanted("kafka", "3.9", 3)]),
        ("kafka 4:3 mosquitto 5", [Wanted("kafka", "4.1", 3), Wanted("mosquitto", ""), Wanted("rocketmq", "5.1")]),
        ("kafka:3.9.1", [Wanted("kafka", "3.9")]),
        ("kafka:3.9 4.1", [Wanted("kafka", "3.9", name="kafka-3.9"), Wanted("kafka", "4.1", name="kafka-4.1")]),
    ],
)
def test_a_broker_is_asked_for_by_software_version_and_nodes(words, wanted):
    assert named(words.split()) == wanted


@pytest.mark.parametrize(
    ("words", "because"),
    [
        ("redpanda", "redpanda is not a broker of the lab: write kafka:3.9"),
        ("kafka:3.9:many", "is not a broker of the lab"),
        ("kafka:3.9:0", "is not a broker of the lab"),
        ("kafka:9", "The lab has no kafka 9. Known: 2.8, 3.9, 4.1."),
        ("kafka:3.90", "The lab has no kafka 3.90"),
        ("mosquitto:2.0", "The lab starts the installed mosquitto"),
        ("4", "4 may be kafka or rocketmq"),
        ("7.1", "7.1 is not a version of a broker of the lab"),
        ("kafka 4.1 4.1", "kafka-4.1 is named twice"),
        ("mosquitto mosquitto", "mosquitto is named twice"),
    ],
)
def test_words_that_name_no_broker_or_more_than_one_are_refused(words, because):
    with pytest.raises(LabError, match=re.escape(because)):
        named(words.split())


def test_a_later_version_is_one_with_a_larger_number(monkeypatch):
    offered = {f"kafka-{version}": ((f"org.apache.kafka:kafka_2.13:{version}.0",), 8) for version in ("3.10", "3.9")}
    monkeypatch.setattr(naming, "known", lambda: offered)
    assert list(naming.versions("kafka")) == ["3.9", "3.10"]
    assert named(["kafka"]) == [Wanted("kafka", "3.10")]


def test_a_scenario_of_a_version_that_the_lab_does_not_have_is_refused():
    with pytest.raises(LabError, match=r"The lab has no kafka 3\.3"):
        read("small", tomllib.loads(SMALL.replace('"3.9"', '"3.3"')))


def test_brokers_know_each_other_by_name_before_they_start():
    known = addresses([Wanted("mosquitto", "", name="east"), Wanted("mosquitto", "", name="west")], 17000)
    assert known == {"east": "127.0.0.1:17000", "west": "127.0.0.1:17100"}
    assert filled({"address": "{west}", "limit": 5}, known) == {"address": "127.0.0.1:17100", "limit": 5}
