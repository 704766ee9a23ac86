"""RocketMQ's own program tells; answers are those that real brokers gave."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from mqlab.gather.bundle import Bundle
from mqlab.gather.manifest import Manifest
from mqlab.gather.rocketmq import Sampling
from mqlab.gather.schedule import RefusedError, Tick, Wanted

AT = datetime(2026, 11, 22, 10, 0, tzinfo=UTC)
CLUSTER = """\
10:21:06,660 |-INFO in ch.qos.logback.classic.LoggerContext[default] - This is logback-classic version 1.3.5
#Cluster Name     #Broker Name            #BID  #Addr                  #Version
OrderCluster      broker-a                0     192.168.50.11:30911    V4_9_4
OrderCluster      broker-a                1     192.168.50.12:30911    V4_9_4
"""
TOPICS = """\
OpenJDK 64-Bit Server VM warning: ignoring option
RMQ_SYS_TRANS_HALF_TOPIC
%RETRY%order_sync_mongo
%RETRY%CID_ONSAPI_OWNER
OrderCluster
OrderCluster_REPLY_TOPIC
broker-a
ORDER_EVENTS
PAYMENTS
"""
OFFLINE = """\
org.apache.rocketmq.tools.command.SubCommandException: ConsumerConnectionSubCommand command failed
Caused by: CODE: 206  DESC: Not found the consumer group connection
"""
SCRIPT = """\
#!/usr/bin/env python3
import json, os, pathlib, sys
answers = json.loads(pathlib.Path({answers!r}).read_text())
with open({asked!r}, "a") as log:
    log.write(" ".join(sys.argv[1:]) + " " + os.environ["TZ"] + "\\n")
if sys.argv[1] == "consumerStatus":
    pathlib.Path("1795261277547").mkdir()
    pathlib.Path("1795261277547/10.20.0.24@9").write_text("#Consumer Properties#\\n")
print(answers.get(sys.argv[1], "#Topic"), end="")
"""


@pytest.fixture
def cluster(tmp_path):
    answers = {"clusterList": CLUSTER, "topicList": TOPICS, "consumerConnection": OFFLINE}
    (tmp_path / "answers.json").write_text(json.dumps(answers))
    program = tmp_path / "mqadmin"
    program.write_text(SCRIPT.format(answers=str(tmp_path / "answers.json"), asked=str(tmp_path / "asked")))
    program.chmod(0o700)
    return program


def asked(program):
    return [line.replace(" -n ns:9876", "") for line in Path(program.parent / "asked").read_text().splitlines()]


def sampling(tmp_path, program, **wanted):
    return Sampling(Bundle(tmp_path / "b", Manifest("rocketmq", {})), str(program), "ns:9876", Wanted(**wanted))


def names(bundle):
    files = (str(path.relative_to(bundle.folder)) for path in bundle.folder.rglob("*") if path.is_file())
    return sorted(name.split(".2")[0] for name in files if name.startswith("rocketmq/"))


def test_groups_and_topics_are_asked_for_at_the_first_and_the_last_sampling(tmp_path, cluster):
    sampling(tmp_path, cluster)(Tick(AT, first=True, last=False))
    assert asked(cluster) == [
        "clusterList UTC",
        "brokerConsumeStats -b 192.168.50.11:30911 UTC",
        "consumerProgress UTC",
        "brokerStatus -b 192.168.50.11:30911 UTC",
        "getBrokerConfig -b 192.168.50.11:30911 UTC",
        "statsAll UTC",
        "topicList UTC",
        "topicRoute -t ORDER_EVENTS UTC",
        "topicStatus -t ORDER_EVENTS UTC",
        "topicRoute -t PAYMENTS UTC",
        "topicStatus -t PAYMENTS UTC",
        "consumerConnection -g order_sync_mongo UTC",
        "consumerProgress -g order_sync_mongo -s true UTC",
        "consumerStatus -g order_sync_mongo UTC",
    ]


def test_a_sampling_in_between_asks_masters_for_all_groups_at_once(tmp_path, cluster):
    sampling(tmp_path, cluster)(Tick(AT, first=False, last=False))
    assert [line.split()[0] for line in asked(cluster)] == ["clusterList", "brokerConsumeStats", "consumerProgress"]


def test_who_is_in_a_group_is_asked_at_every_sampling_where_most_messages_wait(tmp_path, cluster):
    header = "#Group  #Count  #Version  #Type  #Model  #TPS  #Diff Total\n"
    row = "{}  2       V4_9_4    PUSH   CLUSTERING  8     {}\n".format
    waiting = {"idle": 0, "late": 70, "later": 9000, "latest": 20000, "slow": 800}
    answers = json.loads((tmp_path / "answers.json").read_text())
    answers["consumerProgress"] = header + "".join(row(*one) for one in waiting.items())
    (tmp_path / "answers.json").write_text(json.dumps(answers))
    sampling(tmp_path, cluster)(Tick(AT, first=False, last=False))
    assert [line for line in asked(cluster) if " -g " in line] == [
        f"consumerConnection -g {group} UTC" for group in ("latest", "later", "slow")
    ]


def test_only_what_is_wanted_is_asked_for(tmp_path, cluster):
    sampling(tmp_path, cluster, topics=("PAY*",), groups=("none",))(Tick(AT, first=True, last=True))
    assert [line for line in asked(cluster) if " -t " in line or " -g " in line] == [
        "topicRoute -t PAYMENTS UTC",
        "topicStatus -t PAYMENTS UTC",
    ]


def test_answers_stand_in_files_that_mqlab_reads_without_the_noise_of_the_jvm(tmp_path, cluster):
    told = sampling(tmp_path, cluster, topics=("PAY*",))
    told(Tick(AT, first=True, last=True))
    assert names(told.bundle) == [
        "rocketmq/brokerConsumeStats-192.168.50.11_30911",
        "rocketmq/brokerStatus-192.168.50.11_30911",
        "rocketmq/clusterList",
        "rocketmq/consumer-status/order_sync_mongo",
        "rocketmq/consumerConnection-order_sync_mongo",
        "rocketmq/consumerProgress-all",
        "rocketmq/consumerProgress-order_sync_mongo",
        "rocketmq/consumerStatus-order_sync_mongo",
        "rocketmq/getBrokerConfig-192.168.50.11_30911",
        "rocketmq/statsAll",
        "rocketmq/topicRoute-PAYMENTS",
        "rocketmq/topicStatus-PAYMENTS",
    ]
    written = next((told.bundle.folder / "rocketmq").glob("clusterList.*")).read_text()
    assert written == CLUSTER.partition("\n")[2]


def test_what_a_command_could_not_tell_is_noted(tmp_path, cluster):
    told = sampling(tmp_path, cluster)
    told(Tick(AT, first=True, last=True))
    question = told.bundle.manifest.questions["consumerConnection"]
    assert (question.times, question.failed) == (1, 1)
    assert str(question.because).startswith("order_sync_mongo: org.apache.rocketmq.tools.command.SubCommandException")


def test_a_program_that_is_not_there_fails_quietly(tmp_path):
    told = sampling(tmp_path, tmp_path / "nowhere")
    told(Tick(AT, first=True, last=True))
    assert names(told.bundle) == []
    assert told.bundle.manifest.questions["clusterList"].failed == 1


@pytest.mark.parametrize(
    "said",
    [
        "DESC: org.apache.rocketmq.acl.common.AclException: No acl config for RocketMQ, org.apache.rocketmq.acl.plain",
        "DESC: [10015:signature-failed] unable to calculate signature",
        "DESC: org.apache.rocketmq.auth.authentication.exception.AuthenticationException: User:u is not found.",
    ],
)
def test_access_keys_that_are_refused_are_shown_once(tmp_path, cluster, said):
    answers = {"clusterList": CLUSTER, "topicList": TOPICS, "brokerConsumeStats": f"Caused by: CODE: 16  {said}\n"}
    (tmp_path / "answers.json").write_text(json.dumps(answers))
    with pytest.raises(RefusedError, match=r"conf/tools\.yml\); the cluster is not asked again"):
        sampling(tmp_path, cluster)(Tick(AT, first=True, last=False))
    assert [line.split()[0] for line in asked(cluster)] == ["clusterList", "brokerConsumeStats"]


def test_what_keys_may_not_see_is_no_refused_login(tmp_path, cluster):
    denied = "CODE: 16  DESC: AclException: No default permission for ORDER_EVENTS, org.apache.rocketmq.acl.plain"
    answers = {"clusterList": CLUSTER, "topicList": TOPICS, "brokerConsumeStats": f"MQBrokerException: {denied}\n"}
    (tmp_path / "answers.json").write_text(json.dumps(answers))
    sampling(tmp_path, cluster)(Tick(AT, first=False, last=False))
    assert [line.split()[0] for line in asked(cluster)] == ["clusterList", "brokerConsumeStats", "consumerProgress"]
