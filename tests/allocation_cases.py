"""Recorded calls of the brokers' own allocation classes, answered by our models; ``result`` of a case is not read.

RocketMQ and Kafka::

    {"case":0,"strategy":"AVG","params":{},"cid_all":["10.0.0.1@7"],"queues":[["t","broker-a",0]],"current_cid":…}
    {"case":0,"assignor":"range","kafka_clients":"3.7.1","group_instance_ids":{},"rounds":[…]}
"""

from __future__ import annotations

from mqlab.models.assignment import ASSIGNORS
from mqlab.models.queue_allocation import VIRTUAL_NODES, allocate
from mqlab.models.sticky_assignment import DEFAULT_GENERATION, Group


def allocated(case):
    """The queues of one client of RocketMQ."""
    queues, nodes = [tuple(queue) for queue in case["queues"]], case["params"].get("virtual_nodes", VIRTUAL_NODES)
    return [list(q) for q in allocate(case["strategy"], case["current_cid"], queues, case["cid_all"], nodes)]


def replay(case):
    """For each round of *case* the ``[topic, partition]`` of every member."""
    assign, instances = ASSIGNORS[case["assignor"]], case.get("group_instance_ids") or {}
    return [
        {member: [list(each) for each in found] for member, found in assign(_group(given, instances)).items()}
        for given in case["rounds"]
    ]


def _group(given, instances):
    owned = {member: [tuple(pair) for pair in pairs] for member, pairs in (given.get("owned") or {}).items()}
    generation = given.get("generation", DEFAULT_GENERATION)
    return Group(
        given["partitions_per_topic"],
        given["subscriptions"],
        owned,
        {member: generation for member, pairs in owned.items() if pairs},
        instances,
    )
