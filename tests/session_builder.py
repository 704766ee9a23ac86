"""A member that falls silent and is expelled, for tests of the rule about session timeouts."""

from churn_builder import BROKER_LOG, runs, steady
from facts_builder import facts
from kafka_builder import client, coordinator

from mqlab.detectors import group_churn, poll_interval_exceeded, rolling_restart
from mqlab.detectors.session_timeout import detect, say
from mqlab.kafka.heartbeat_loss import Kind

EXPELLED = coordinator("""
    10:00:00 preparing 0 Adding new member {a1} with group instance id None
    10:00:03 stable 1 2
    10:01:10 expired {a1}
    10:01:10 preparing 1 removing member {a1} on heartbeat expiration
    10:01:11 stable 2 1
    10:01:22 preparing 2 Adding new member {a2} with group instance id None
    10:01:24 stable 3 2
""")
WOKE = client("a", """
    09:59:50 settings
    10:00:00 joining
    10:00:03 joined 1 {a1}
    10:01:22 failed
    10:01:22 lost invoices-0
    10:01:22 joining
    10:01:24 joined 3 {a2}
""")  # fmt: skip
AGAIN = coordinator("""
    10:02:40 expired {a2}
    10:02:40 preparing 3 removing member {a2} on heartbeat expiration
    10:02:41 stable 4 1
    10:02:56 preparing 4 Adding new member {a3} with group instance id None
    10:02:58 stable 5 2
""")
STOOD = (*steady("a", 4, 60), *steady("a", 82, 150), *steady("a", 176, 220))
FAST = steady("b", 4, 220)
SET = (runs("a"), runs("b"), BROKER_LOG)
TWICE = facts(EXPELLED, AGAIN, WOKE, client("a", "10:02:56 joined 5 {a3}"), STOOD, FAST, SET)

PAUSED, FROZEN, CUT, DIED, UNKNOWN = (
    say("kind", kind=kind) for kind in (Kind.PAUSE, Kind.FROZEN, Kind.NETWORK, Kind.DEATH, Kind.UNKNOWN)
)


def found(*rows):
    (one,) = detect(facts(*rows)).findings
    return one


def others(given):
    """Incidents that the other rules about members find."""
    results = [rule.detect(given) for rule in (poll_interval_exceeded, group_churn, rolling_restart)]
    return [f.incident for r in results for f in r.findings]
