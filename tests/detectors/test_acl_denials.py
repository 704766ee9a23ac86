"""Refusals that lines tell of: what they cost, and connections that are closed for them."""

import pytest
from acl_builder import LOG, SUBSCRIBED, TOPICS_A, A, B, subscribed
from facts_builder import episode, facts, series
from mqtt_mail import mail, noted
from said import told

from mqlab.detectors.acl_silent_drop import detect, say
from mqlab.findings import Certainty, Result


def denied(kind, client, topic, count=1, source="logs/emqx.log"):
    return episode(
        kind, 30, source, count=count, until=100, system="mqtt", client_id=client, topic=topic, reason="denied"
    )


def test_lines_whose_messages_came_nowhere_are_proven():
    line = denied("publish-denied", "agent-b", "site/b/metrics", 500)
    (one,) = detect(facts(LOG, SUBSCRIBED, line, noted(A, B))).findings
    assert (one.certainty, one.subject, one.measures["lost_records"]) == (Certainty.PROVEN, "agent-b", 500)


def test_lines_alone_are_likely_and_with_the_brokers_count_proven():
    line = denied("publish-denied", "agent-b", "site/b/metrics", 40)
    (one,) = detect(facts(LOG, line)).findings
    assert one.certainty is Certainty.LIKELY
    (one,) = detect(facts(LOG, line, series("mqtt.publish_denied", [0, 10, 40]))).findings
    assert one.certainty is Certainty.PROVEN


def test_lines_alone_tell_neither_what_was_lost_nor_that_the_client_stayed_connected():
    (one,) = detect(facts(LOG, denied("publish-denied", "agent-b", None))).findings
    assert one.measures["denied"] == 1
    assert "lost_records" not in one.measures
    assert one.statement == "agent-b was refused publishing once. How many messages were lost is not in the material."


def test_a_broker_without_a_plugin_that_has_rules_refuses_nobody_by_a_rule():
    own = {"system": "mqtt", "client_id": "kiln", "reason": "no_matching_hook_found"}
    line = episode("publish-denied", 30, "logs/v.log", count=9, until=60, **own)
    assert detect(facts(LOG, line)).findings == ()


def test_a_refused_subscription_costs_what_others_published():
    line = denied("subscribe-denied", "hist", "site/+/metrics", source="clients/hist.log")
    sent = {"sender": "agent-a", "topics": TOPICS_A, "start": 2, "seconds": 100}
    own = mail(lambda n, _: ("hist",) if n % 2 == 0 else ("view",), **sent)
    (one,) = detect(facts(LOG, line, noted(own))).findings
    assert (one.certainty, one.subject, one.measures["lost_records"]) == (Certainty.PROVEN, "hist", 500)


def test_a_subscription_that_was_granted_after_all_and_system_topics_do_no_harm():
    granted = subscribed("hist", when=110, source="logs/b.log")
    rows = (denied("subscribe-denied", "hist", "site/#"), denied("subscribe-denied", "hist", "$SYS/#"))
    assert detect(facts(LOG, *rows, granted, noted(A))).findings == ()


def test_a_client_that_notes_a_subscription_before_the_answer_was_refused_it_all_the_same():
    first, line = subscribed("hist", when=100, source="c.log"), denied("subscribe-denied", None, "site/#")
    (one,) = detect(facts(LOG, first, line, noted(mail((), sender="agent-a", topics=TOPICS_A, start=40)))).findings
    assert (one.subject, one.certainty, one.measures["lost_records"]) == ("hist", Certainty.LIKELY, 600)


def loop(ended, count=20, client="agent-b", first=30, skew=0.01):
    """A client that connects each second and loses the connection at once."""
    own = {"source": "logs/b.log", "system": "mqtt", "client_id": client}
    return [
        row
        for n in range(count)
        for row in (
            episode("client-connected", first + n, line=2 * n + 1, left=30.0, **own),
            episode("client-disconnected", first + n + skew, line=2 * n + 2, reason=ended, **own),
        )
    ]


def refusals(kind, client, topic, count=20):
    return episode(
        kind, 30, "logs/b.log", count=count, until=30 + count - 1, line=900, system="mqtt", client_id=client,
        topic=topic, reason="denied",
    )  # fmt: skip


def test_a_publisher_whose_connection_is_closed_for_it_is_told_so():
    line = refusals("publish-denied", "agent-b", "site/b/alarm")
    (one,) = detect(facts(LOG, SUBSCRIBED, line, loop("not-authorized"))).findings
    assert (one.certainty, one.subject) == (Certainty.LIKELY, "agent-b")
    assert one.measures == {"denied": 20, "topics": 1, "closed_connections": 20}
    assert told(one.statement).keys() == {"subject", "publishes", "names", "denied", "closed_connections", "looped"}
    assert one.explains == ("reconnect-flaky-link",)


@pytest.mark.parametrize("failed", [False, True], ids=["no answer noted", "noted as failed"])
def test_what_such_a_publisher_sent_to_the_topic_and_came_nowhere_proves_it(failed):
    line = refusals("publish-denied", "agent-b", "site/b/alarm")
    alarms = mail(
        (), sender="agent-b", topics=("site/b/alarm",), start=30, seconds=12, rate=1, first=5000, failed=failed
    )
    states = mail(("hist",), sender="agent-b", topics=("site/b/status",), start=30, seconds=20)
    (one,) = detect(facts(LOG, SUBSCRIBED, line, loop("not-authorized"), noted(alarms, states))).findings
    assert (one.certainty, one.measures["lost_records"]) == (Certainty.PROVEN, 12)


def test_without_a_ledger_of_receivers_what_came_nowhere_is_not_known():
    line = refusals("publish-denied", "agent-b", "site/b/alarm")
    alarms = mail((), sender="agent-b", topics=("site/b/alarm",), start=30, seconds=12, rate=1)
    (one,) = detect(facts(LOG, SUBSCRIBED, line, loop("not-authorized"), noted(alarms))).findings
    assert one.certainty is Certainty.LIKELY


def test_a_subscriber_whose_connection_is_closed_at_each_refusal_is_proven_and_gets_nothing_of_its_other_filters():
    line = refusals("subscribe-denied", "panel", "press/2/#")
    own = [subscribed("panel", name, when=30) for name in ("press/1/#", "press/2/#")]
    sent = noted(mail((), sender="press", topics=("press/1/x", "press/2/x", "press/3/x"), start=30, seconds=30))
    (one,) = detect(facts(LOG, own, line, loop("protocol-error", client="panel"), sent)).findings
    assert (one.certainty, one.subject) == (Certainty.PROVEN, "panel")
    assert one.measures["lost_records"] == 200
    assert told(one.statement)["closed_connections"] == 20


def test_a_connection_closed_at_one_refusal_of_three_proves_nothing():
    line = refusals("subscribe-denied", "panel", "press/2/#", count=3)
    (one,) = detect(facts(LOG, line, loop("protocol-error", client="panel")[:2])).findings
    assert (one.certainty, one.measures["denied"]) == (Certainty.LIKELY, 3)


@pytest.mark.parametrize("ended", ["closed", "normal", "taken-over", "keep-alive"])
def test_connections_that_end_for_another_reason_are_not_closed_by_a_refusal(ended):
    line = refusals("subscribe-denied", "panel", "press/2/#")
    (one,) = detect(facts(LOG, line, loop(ended, client="panel"))).findings
    assert (one.certainty, one.measures) == (Certainty.LIKELY, {"denied": 20, "topics": 1})


def test_connections_of_other_clients_and_other_times_are_not_closed_by_a_refusal():
    line = refusals("subscribe-denied", "panel", "press/2/#")
    rows = (loop("protocol-error", client="other"), loop("protocol-error", client="panel", first=200))
    (one,) = detect(facts(LOG, line, rows)).findings
    assert (one.certainty, one.explains) == (Certainty.LIKELY, ())


def test_a_publisher_that_notes_refusals_as_failures_and_stays_connected_was_told():
    line = denied("publish-denied", "agent-b", "site/b/metrics", 600)
    failed = mail((), sender="agent-b", topics=("site/b/metrics",), start=30, seconds=60, failed=True)
    found = detect(facts(LOG, SUBSCRIBED, line, noted(failed, A)))
    assert found == Result(rejected=say("noted", client="agent-b"))


def test_refused_publishes_that_arrive_all_the_same_are_none():
    found = detect(facts(LOG, SUBSCRIBED, denied("publish-denied", "agent-a", "site/a/metrics"), noted(A)))
    assert found == Result(rejected=say("arrived", client="agent-a"))
