"""One capture from a real Kafka with an authorizer: exactly the rights that are documented, and nothing changed there.

Needs Java and a folder with Kafka's jars, such as ``libs`` of a distribution, in ``MQLAB_KAFKA_LIBS``.
"""

import json
import os
import re
import shutil
import socket
import subprocess
from pathlib import Path
from time import monotonic, sleep

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    NewTopic,
    OffsetSpec,
    ResourcePatternType,
    ResourceType,
)

from mqlab.cli import commands
from mqlab.gather.kafka import ACLS

LIBS = os.environ.get("MQLAB_KAFKA_LIBS", "")
pytestmark = [
    pytest.mark.broker,
    pytest.mark.skipif(not (LIBS and shutil.which("java")), reason="no Kafka here: set MQLAB_KAFKA_LIBS to its jars"),
]
PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{controller}
listeners=SASL_PLAINTEXT://127.0.0.1:{broker},CONTROLLER://127.0.0.1:{controller}
controller.listener.names=CONTROLLER
inter.broker.listener.name=SASL_PLAINTEXT
listener.security.protocol.map=CONTROLLER:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT
sasl.enabled.mechanisms=PLAIN
sasl.mechanism.inter.broker.protocol=PLAIN
listener.name.sasl_plaintext.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \
username="admin" password="admin-pw" user_admin="admin-pw" user_gatherer="gatherer-pw";
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:admin;User:ANONYMOUS
log.dirs={folder}/data
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
group.initial.rebalance.delay.ms=0
"""
JAAS = "org.apache.kafka.common.security.plain.PlainLoginModule required username={0} password={0}-pw;"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="module")
def broker(tmp_path_factory):
    """Address of a broker."""
    folder = tmp_path_factory.mktemp("kafka")
    port, java = free_port(), ["java", "-Xmx320m", "-cp", f"{LIBS}/*"]
    properties = folder / "server.properties"
    properties.write_text(PROPERTIES.format(broker=port, controller=free_port(), folder=folder))
    made = ["kafka.tools.StorageTool", "format", "-t", "MkU3OEVBNTcwNTJENDM2Qg", "-c", str(properties)]
    subprocess.run([*java, *made], check=True, capture_output=True)
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen([*java, "kafka.Kafka", str(properties)], stdout=log, stderr=log)
        try:
            yield f"127.0.0.1:{port}"
        finally:
            process.kill()
            process.wait()


def of(user, broker):
    return {"bootstrap.servers": broker, "security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN",
            "sasl.username": user, "sasl.password": f"{user}-pw", "log_level": 0}  # fmt: skip


def done(futures):
    for future in futures.values():
        future.result(60)


@pytest.fixture(scope="module")
def admin(broker):
    """A super user, once there is a topic, a group with members, and the rights of the one who gathers."""
    admin, until = AdminClient(of("admin", broker)), monotonic() + 120
    while True:
        try:
            done(admin.create_topics([NewTopic("orders", 2, 1, config={"retention.ms": "3600000"})]))
            break
        except Exception:
            if monotonic() > until:
                raise
            sleep(2)
    operations = {"Describe": AclOperation.DESCRIBE, "DescribeConfigs": AclOperation.DESCRIBE_CONFIGS}
    kinds = {"topic": ResourceType.TOPIC, "group": ResourceType.GROUP, "cluster": ResourceType.BROKER}
    done(admin.create_acls([
        AclBinding(kinds[kind], name, ResourcePatternType.LITERAL, "User:gatherer", "*", operations[operation],
                   AclPermissionType.ALLOW)
        for kind, name, operation in ACLS
    ]))  # fmt: skip
    producer = Producer(of("admin", broker))
    for number in range(10):
        producer.produce("orders", str(number), partition=number % 2)
    producer.flush(60)
    reader = {"group.id": "billing", "client.id": "billing-1", "auto.offset.reset": "earliest"}
    consumer = Consumer(of("admin", broker) | reader | {"enable.auto.commit": False})
    consumer.subscribe(["orders"])
    for _ in range(4):
        assert consumer.poll(60) is not None
    consumer.commit(offsets=[TopicPartition("orders", 0, 2), TopicPartition("orders", 1, 1)], asynchronous=False)
    yield admin
    consumer.close()


def ends(admin):
    asked = {TopicPartition("__consumer_offsets", 0): OffsetSpec.latest(),
             **{TopicPartition("orders", number): OffsetSpec.latest() for number in (0, 1)}}  # fmt: skip
    return [future.result().offset for future in admin.list_offsets(asked).values()]


def captured(broker, folder, user="gatherer", **options):
    config = folder / "client.properties"
    config.write_text(f"security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.jaas.config={JAAS.format(user)}\n")
    given = {"bootstrap": broker, "config": config, "output": folder / "bundle", "interval": 1, "duration": 2} | options
    arguments = [word for key, value in given.items() for word in (f"--{key}", str(value))]
    commands.main(["capture", "kafka", *arguments], standalone_mode=False)
    texts = {path.name.split(".")[0]: path.read_text() for path in sorted((folder / "bundle/kafka").glob("*"))}
    return texts, json.loads((folder / "bundle/manifest.json").read_text())


def test_the_documented_rights_suffice_and_nothing_is_written_at_the_broker(broker, admin, tmp_path):
    before = ends(admin), sorted(admin.list_topics().topics)
    texts, said = captured(broker, tmp_path)
    assert (ends(admin), sorted(admin.list_topics().topics)) == before
    assert [one for one in said["questions"] if one["failed"]] == []
    rows = [line.split() for line in texts["consumer-groups-describe"].splitlines()[1:]]
    assert [(*row[:6], row[-1]) for row in rows] == [
        ("billing", "orders", "0", "2", "5", "3", "billing-1"),
        ("billing", "orders", "1", "1", "5", "4", "billing-1"),
    ]
    assert "Configs: retention.ms=3600000" in texts["topics-describe"]
    assert re.search(r"billing .*Stable +1$", texts["consumer-groups-state"], re.MULTILINE)
    assert "gatherer-pw" not in "".join(path.read_text() for path in Path(tmp_path / "bundle").rglob("*.*"))


@pytest.mark.usefixtures("admin")
def test_a_refused_login_leaves_a_bundle_that_says_so(broker, tmp_path):
    with pytest.raises(Exception, match="Nothing was gathered"):
        captured(broker, tmp_path, user="nobody", duration=0)
    said = json.loads((tmp_path / "bundle/manifest.json").read_text())
    assert any("uthentication failed" in reason for one in said["questions"] for reason in one["reasons"])
