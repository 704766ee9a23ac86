"""What nothing explains about groups: queues that stand still, and ids that nobody can judge yet."""

from facts_builder import facts, log
from group_builder import broker_log, listings, queue, queues

from mqlab.verdict import diagnose

MEMBERS = listings(0, 600, 20, "A@1 10.0.0.1:1", "B@2 10.0.0.2:2")


def told(*rows):
    """The verdict and its symptoms."""
    diagnosis = diagnose(facts(*rows, broker_log()))
    return diagnosis.verdict.incident, diagnosis.symptoms


def test_one_queue_that_stands_still_is_no_health():
    stuck = [
        queue("broker-a/0", [(300, 3, 3), (300, 3, 0)]),
        *(queue(f"broker-a/{n}", [(600, 3, 3)]) for n in (1, 2, 3)),
    ]
    verdict, symptoms = told(MEMBERS, stuck)
    assert verdict == "undetermined"
    assert symptoms[0] == "10:05:00 UTC: billing does not move on ORDERS broker-a/0, where 900 messages wait"


def test_an_idle_queue_and_a_short_pause_are_healthy():
    rows = [queue("broker-a/0", [(600, 0, 0)]), queue("broker-a/1", [(520, 3, 3), (80, 3, 0)])]
    logs = log("logs/broker.log", "rocketmq-broker-log"), log("logs/client.log", "rocketmq-client-log")
    assert told(MEMBERS, rows, logs, queues(4, range(4), seconds=600, broker="broker-b")) == ("healthy", ())


def test_an_id_that_is_shared_when_the_material_ends_is_no_health():
    members = listings(0, 80, 20, "A@1 10.0.0.1:1", "A@1 10.0.0.2:2")
    verdict, symptoms = told(members, queues(4, range(4), seconds=80))
    assert verdict == "undetermined"
    assert symptoms == ("10:00:00 UTC: billing lists A@1 more than once (10.0.0.1:1, 10.0.0.2:2)",)
