"""A member that polls too late again and again, for tests of the rule about poll timeouts."""

from churn_builder import BROKER_LOG, runs, steady, worked
from facts_builder import at, facts, positions
from kafka_builder import GROUP, client, coordinator

from mqlab.detectors import group_churn, rolling_restart, session_timeout
from mqlab.detectors.poll_interval_exceeded import detect
from mqlab.rows import Client

LOOP = coordinator("""
    10:00:00 preparing 0 Adding new member {a1} with group instance id None
    10:00:03 stable 1 2
    10:01:00 left {a1}
    10:01:00 preparing 1 removing member {a1} on LeaveGroup
    10:01:04 stable 2 1
    10:01:30 preparing 2 Adding new member {a2} with group instance id None
    10:01:33 stable 3 2
    10:01:48 left {a2}
    10:01:48 preparing 3 removing member {a2} on LeaveGroup
    10:01:49 stable 4 1
    10:02:18 preparing 4 Adding new member {a3} with group instance id None
    10:02:20 stable 5 2
""")
TOLD = client("a", """
    09:59:50 settings
    10:00:00 joining
    10:00:03 joined 1 {a1}
    10:00:03 got invoices-0
    10:01:00 timeout {a1}
    10:01:30 failed
    10:01:30 lost invoices-0
    10:01:30 joining
    10:01:33 joined 3 {a2}
    10:01:33 got invoices-0
    10:01:48 timeout {a2}
    10:02:18 failed
    10:02:18 joining
    10:02:20 joined 5 {a3}
""")  # fmt: skip
CALM = client("b", """
    10:00:00 joining
    10:00:03 joined 1 {b1}
    10:00:03 got invoices-1
    10:01:04 joined 2 {b1}
    10:01:33 joined 3 {b1}
    10:01:49 joined 4 {b1}
    10:02:20 joined 5 {b1}
""")  # fmt: skip
SLOW = (*steady("a", 5, 43), *worked("a", (90, 500, 45.0), (138, 500, 45.0)))
FAST = steady("b", 4, 170)
SET = (runs("a"), runs("b"), BROKER_LOG)
LAG = positions("""
    at        group    topic     queue  committed  end
    10:00:20  billing  invoices  0      100        100
    10:00:50  billing  invoices  0      100        200
    10:02:10  billing  invoices  0      100        1000
    10:05:00  billing  invoices  0      1000       1000
""")
WHOLE = facts(LOOP, TOLD, CALM, SLOW, FAST, SET, LAG)
LISTED = tuple(Client(at(0), "kafka", GROUP, name, "10.0.0.1", None, None, "m.txt", 3, name) for name in "ab")


def found(*rows):
    (one,) = detect(facts(*rows)).findings
    return one


def others(given):
    """Incidents that the other rules about members find, notices aside."""
    results = [rule.detect(given) for rule in (session_timeout, group_churn, rolling_restart)]
    return [f.incident for r in results for f in r.findings]
