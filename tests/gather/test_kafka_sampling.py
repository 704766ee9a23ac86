"""A sampling of Kafka, by recorded answers: what stands in the bundle, and that mqlab reads it."""

import json
from datetime import UTC, datetime
from itertools import chain, repeat
from types import SimpleNamespace

import pytest
from kafka_answers import METADATA, Admin, future

from mqlab.formats import (
    kafka_configs_describe,
    kafka_consumer_groups,
    kafka_consumer_groups_members,
    kafka_consumer_groups_state,
    kafka_get_offsets,
    kafka_topics_describe,
    prometheus_text,
)
from mqlab.formats.base import About, Data, Head, Line, Reject
from mqlab.gather import kafka_sampling
from mqlab.gather.bundle import Bundle
from mqlab.gather.kafka import Cluster
from mqlab.gather.kafka_sampling import Sampling
from mqlab.gather.manifest import Manifest
from mqlab.gather.schedule import Tick, Wanted

AT = datetime(2026, 11, 22, 10, 0, tzinfo=UTC)
FIRST, LATER, LAST = (
    Tick(AT, True, False),
    Tick(AT.replace(second=10), False, False),
    Tick(AT.replace(second=20), False, True),
)


def sampled(folder, *ticks, admin=None, wanted=None):
    """The texts of a bundle by name, and its manifest."""
    manifest = Manifest("kafka", {})
    bundle = Bundle(folder, manifest)
    sampling = Sampling(Cluster(admin or Admin(), wanted or Wanted(), manifest), bundle)
    for tick in ticks:
        sampling(tick)
    bundle.close()
    texts = {path.name: path.read_text() for path in sorted((folder / "kafka").glob("*"))}
    return texts, json.loads((folder / "manifest.json").read_text())


EXPECTED = {
    "configs-describe": """\
All configs for broker 1 are:
  num.partitions=1 sensitive=false synonyms={DEFAULT_CONFIG:num.partitions=1}
  ssl.keystore.password=null sensitive=true synonyms={STATIC_BROKER_CONFIG:ssl.keystore.password=null}
All configs for topic orders are:
  min.insync.replicas=2 sensitive=false synonyms={STATIC_BROKER_CONFIG:min.insync.replicas=2}
  retention.ms=3600000 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:retention.ms=3600000, \
DEFAULT_CONFIG:log.retention.ms=604800000}
""",
    "topics-describe": """\
Topic: orders	PartitionCount: 3	ReplicationFactor: 3	Configs: retention.ms=3600000
	Topic: orders	Partition: 0	Leader: 1	Replicas: 1,2,3	Isr: 1,2
	Topic: orders	Partition: 1	Leader: none	Replicas: 2	Isr:\x20
	Topic: orders	Partition: 2	Leader: 3	Replicas: 3	Isr: 3
""",
    "consumer-groups-state": """\
GROUP    COORDINATOR (ID)  ASSIGNMENT-STRATEGY  STATE   #MEMBERS
billing  kafka-1:9092 (1)  range                Stable  2
idle     kafka-1:9092 (1)  -                    Empty   0
""",
    "consumer-groups-members": """\
GROUP    CONSUMER-ID         GROUP-INSTANCE-ID  HOST         CLIENT-ID  #PARTITIONS  ASSIGNMENT
billing  billing-1-76138202  -                  /10.60.1.13  billing-1  1            orders(0)
billing  billing-2-76138202  b-2                /10.60.1.13  billing-2  1            orders(2)
""",
    "consumer-groups-describe": """\
GROUP    TOPIC   PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG  CONSUMER-ID         HOST         CLIENT-ID
billing  orders  0          709             718             9    billing-1-76138202  /10.60.1.13  billing-1
billing  orders  2          -               40              -    billing-2-76138202  /10.60.1.13  billing-2
idle     orders  0          5               718             713  -                   -            -
""",
    "get-offsets-latest": "orders:0:718\norders:2:40\n",
    "get-offsets-earliest": "orders:0:3\norders:2:3\n",
    "open-transactions": """\
# TYPE kafka_cluster_partition_laststableoffsetlag gauge
kafka_cluster_partition_laststableoffsetlag{topic="orders",partition="2"} 2
""",
}
FORMS = {
    "configs-describe": kafka_configs_describe,
    "topics-describe": kafka_topics_describe,
    "consumer-groups-state": kafka_consumer_groups_state,
    "consumer-groups-members": kafka_consumer_groups_members,
    "consumer-groups-describe": kafka_consumer_groups,
    "get-offsets-latest": kafka_get_offsets,
    "get-offsets-earliest": kafka_get_offsets,
    "open-transactions": prometheus_text,
}


def test_one_sampling_is_one_moment_in_layouts_of_kafkas_own_tools(tmp_path):
    texts, _ = sampled(tmp_path / "b", FIRST)
    assert texts == {f"{layout}.20261122T100000Z.txt": text for layout, text in EXPECTED.items()}


@pytest.mark.parametrize("layout", EXPECTED)
def test_mqlab_reads_every_line_that_is_gathered(layout):
    text, form = EXPECTED[layout], FORMS[layout]
    assert form.recognise(Head(f"{layout}.20261122T100000Z.txt", text, len(text)))
    lines = [Line(n, line) for n, line in enumerate(text.splitlines(), 1)]
    items = list(form.parse(lines, About(f"{layout}.20261122T100000Z.txt")))
    assert not [item for item in items if isinstance(item, Reject)]
    assert any(isinstance(item, Data) and item.rows for item in items)


def test_positions_show_the_moment_of_their_answer_where_a_lost_broker_let_questions_wait(tmp_path, monkeypatch):
    passing = chain((0.0, 0.0), repeat(12.0))
    monkeypatch.setattr(kafka_sampling.time, "monotonic", lambda: next(passing))
    texts, _ = sampled(tmp_path / "b", FIRST)
    assert {name.split(".")[1] for name in texts if name.startswith(("topics", "configs"))} == {"20261122T100000Z"}
    assert {name.split(".")[1] for name in texts if "offsets" in name or "groups" in name} == {"20261122T100012Z"}


def test_what_moves_slowly_is_not_asked_at_every_tick(tmp_path):
    texts, _ = sampled(tmp_path / "b", FIRST, LATER, LAST)
    every = ["consumer-groups-describe", "consumer-groups-members", "consumer-groups-state", "get-offsets-latest"]
    assert [name.split(".")[0] for name in texts if "T100010Z" in name] == every
    assert [name.split(".")[0] for name in texts if "T100020Z" in name] == sorted(
        [*every, "get-offsets-earliest", "open-transactions"]
    )


def test_topics_are_told_again_when_they_change_and_settings_only_when_asked(tmp_path, monkeypatch):
    manifest = Manifest("kafka", {})
    bundle = Bundle(tmp_path / "b", manifest)
    sampling = Sampling(Cluster(Admin(), Wanted(), manifest), bundle)
    sampling(FIRST)
    monkeypatch.setattr(METADATA.topics["orders"].partitions[0], "isrs", [1])
    sampling(LATER)
    told = (tmp_path / "b/kafka/topics-describe.20261122T100010Z.txt").read_text().split("\n")
    assert told[:2] == [
        "Topic: orders\tPartitionCount: 3\tReplicationFactor: 3\tConfigs: ",
        "\tTopic: orders\tPartition: 0\tLeader: 1\tReplicas: 1,2,3\tIsr: 1",
    ]


def test_only_what_is_wanted_is_asked_for(tmp_path):
    texts, _ = sampled(tmp_path / "b", FIRST, wanted=Wanted(topics=("order*",), groups=("bill*",)))
    assert "idle" not in texts["consumer-groups-describe.20261122T100000Z.txt"]
    texts, said = sampled(tmp_path / "c", FIRST, wanted=Wanted(topics=("payments",)))
    assert said["facts"]["topics"] == 0
    assert {"get-offsets-latest", "get-offsets-earliest"}.isdisjoint(name.split(".")[0] for name in texts)


CALLS = ["list_topics", "list_consumer_groups", "list_groups", "describe_consumer_groups",
         "list_consumer_group_offsets", "list_offsets", "describe_configs"]  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
def test_what_fails_is_noted_and_the_rest_is_gathered(tmp_path, call):
    texts, said = sampled(tmp_path / "b", FIRST, LATER, admin=Admin(lost=[call]))
    failed = [one for one in said["questions"] if one["failed"]]
    assert {one["because"] for one in failed} == {"Failed while waiting for response"}
    assert bool(texts) == (call != "list_topics")
    assert said["state"] == "complete"


def test_a_partition_whose_broker_is_lost_has_no_offset(tmp_path):
    texts, said = sampled(tmp_path / "b", FIRST, admin=Admin(lost=["partition 2"]))
    assert texts["get-offsets-latest.20261122T100000Z.txt"] == "orders:0:718\n"
    assert "no answer for 1 of 2 partitions" in [one["because"] for one in said["questions"]]


class Blind(Admin):
    """What a user sees who may describe nothing."""

    def list_topics(self, **_):
        return SimpleNamespace(**vars(METADATA) | {"topics": {}})

    def list_consumer_groups(self, **_):
        return future(SimpleNamespace(valid=[], errors=[]))


def test_that_a_user_may_describe_nothing_is_told(tmp_path):
    _, said = sampled(tmp_path / "b", FIRST, LAST, admin=Blind())
    assert {one["what"]: one["because"] for one in said["questions"] if one["failed"]} == dict.fromkeys(
        ("list of topics", "list of groups"), "none is told: there is none, or this user may describe none"
    )
    blind = Blind()
    sampling = Sampling(Cluster(blind, Wanted(), Manifest("kafka", {})), Bundle(tmp_path / "c", Manifest("kafka", {})))
    sampling(FIRST)
    sampling.cluster._admin = Admin()
    sampling(LAST)
    assert not any(one.failed for one in sampling.cluster._manifest.questions.values())


class Sharing(Admin):
    """A cluster with a share group, a group of KIP-848 and one of Connect; the library lists the first and no more."""

    def list_groups(self, **_):
        kinds = {"payments-share": ("Dead", ""), "billing": ("Dead", ""), "connect": ("Stable", "connect")}
        told = [SimpleNamespace(id=name, state=state, protocol_type=kind) for name, (state, kind) in kinds.items()]
        return self._answer("list_groups", told)


def test_share_groups_are_said_to_be_missing_by_name(tmp_path):
    _, said = sampled(tmp_path / "b", FIRST, admin=Sharing())
    (failed,) = [one for one in said["questions"] if one["failed"]]
    assert failed["because"].split(";")[0] == "payments-share: members and offsets are missing"
    _, said = sampled(tmp_path / "c", FIRST, admin=Sharing(), wanted=Wanted(groups=("bill*",)))
    assert [one["what"] for one in said["questions"] if one["failed"]] == []


def test_no_group_of_consumers_is_taken_for_a_share_group_where_their_list_failed(tmp_path):
    _, said = sampled(tmp_path / "b", FIRST, admin=Sharing(lost=["list_consumer_groups"]))
    assert "share groups" not in [one["what"] for one in said["questions"]]


def test_nothing_that_is_wanted_is_no_failure(tmp_path):
    texts, said = sampled(tmp_path / "b", FIRST, wanted=Wanted(topics=("none",), groups=("none",)))
    assert [one["what"] for one in said["questions"] if one["failed"]] == []
    assert list(texts) == ["configs-describe.20261122T100000Z.txt"]
