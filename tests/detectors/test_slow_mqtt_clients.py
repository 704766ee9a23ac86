"""Slow clients of MQTT: connected, with a full queue or all messages late; and what is late for another reason."""

import pytest
from facts_builder import at, episode, facts, ramp, series, settings
from mqtt_builder import broker
from mqtt_mail import mail, noted

from mqlab.detectors.slow_consumer import detect, say
from mqlab.findings import Certainty, Severity
from mqlab.rows import Receipt

LOG = """
    10:00:00 - starting
    10:00:01 feed connected 10.0.0.9:1000 k30 c1
    10:00:01 app connected 10.0.0.1:1001 k30 c0
    10:00:01 view connected 10.0.0.2:1002 k30 c1
"""
DROPPING = LOG + "    10:01:42 app dropping\n"
CONF = settings("at owner key value\n- - max_queued_messages 480", "mosquitto.conf", scope="broker", origin="file")


def subscribed(*clients):
    return tuple(
        episode("client-subscribed", 1, f"clients/{c}.log", system="mqtt", client_id=c, topic="plant/#", left=1.0)
        for c in clients
    )


BOTH = subscribed("app", "view")


def log(text, last="10:10:00"):
    return broker(text, last=last)


def full(n, second):
    """10 a second come, 5 are taken: 480 + 20 are full after 100 s, then every other one is dropped."""
    since = second - 2
    if since < 100:
        return {"app": since, "view": 0.01}
    return {"app": 100.0, "view": 0.01} if n % 2 else ("view",)


def unbounded(_, second):
    return {"app": second - 2, "view": 0.01}


def test_a_connected_client_with_a_full_queue_and_its_delay_is_proven():
    (one,) = detect(facts(log(DROPPING), BOTH, CONF, noted(mail(full, start=2, seconds=400)))).findings
    assert (one.certainty, one.severity, one.subject) == (Certainty.PROVEN, Severity.WARNING, "app")
    assert one.measures["produced_per_second"] == pytest.approx(10, rel=0.02)
    assert one.measures["consumed_per_second"] == pytest.approx(5, rel=0.05)
    assert one.measures["full_queue_delay_seconds"] == pytest.approx(100, rel=0.05)
    assert one.explains == ("session-queue-drop",)


def test_it_lasts_until_the_last_late_message_came_not_until_the_last_was_published():
    read = noted(mail(full, start=2, seconds=400))
    (one,) = detect(facts(log(DROPPING), BOTH, CONF, read)).findings
    assert at("10:08:00") < one.ended_at.timestamp() <= at("10:08:30")
    stopped = tuple(r for r in read if not isinstance(r, Receipt) or r.at < at("10:07:00"))
    (one,) = detect(facts(log(DROPPING), BOTH, CONF, stopped)).findings
    assert one.ended_at.timestamp() <= at("10:07:00")


def test_without_a_limit_a_delay_that_grows_while_others_have_none_is_proven():
    unlimited = settings("at owner key value\n- - max_queued_messages 0", "m.conf", scope="broker", origin="file")
    (one,) = detect(facts(log(LOG), BOTH, unlimited, noted(mail(unbounded, start=2, seconds=200)))).findings
    assert (one.certainty, one.subject) == (Certainty.PROVEN, "app")


def test_delays_of_one_publisher_only_are_on_its_way_to_the_broker():
    late = noted(
        mail(lambda _, s: {"app": min(60, s)}, sender="far", start=2, seconds=200),
        mail(("app",), sender="near", start=2, seconds=200),
    )
    found = detect(facts(log(LOG), subscribed("app"), CONF, late))
    assert (found.findings, found.rejected) == ((), say("slow-way", client="app"))


def test_losses_that_the_broker_did_not_drop_are_no_slow_client():
    lossy = noted(mail(lambda n, s: {"app": min(60, s / 2)} if n % 3 else (), start=2, seconds=200))
    found = detect(facts(log(LOG), subscribed("app"), CONF, lossy))
    assert found.findings == ()


def test_a_late_receiver_alone_proves_nothing_about_who_is_slow():
    found = detect(facts(log(LOG), subscribed("app"), noted(mail(lambda _, s: {"app": s - 2}, start=2, seconds=200))))
    assert (found.findings, found.rejected) == ((), say("not-waiting", client="app"))


def test_stored_messages_that_rise_with_the_backlog_do():
    stored = series("mqtt.stored_messages", ramp((40, 50), base=53), source="metrics/sys.log")
    unlimited = settings("at owner key value\n- - max_queued_messages 0", "m.conf", scope="broker", origin="file")
    rows = (
        log(LOG),
        subscribed("app"),
        unlimited,
        stored,
        noted(mail(lambda _, s: {"app": s - 2}, start=2, seconds=200)),
    )
    assert [f.certainty for f in detect(facts(*rows)).findings] == [Certainty.PROVEN]


def test_a_client_that_was_away_is_not_slow():
    away = LOG + "    10:01:00 app normal\n    10:02:40 app dropping\n    10:03:00 app connected 10.0.0.1:1003 k30 c0\n"
    late = noted(mail(lambda _, s: {"app": 180 - s} if 60 <= s < 180 else ("app",), start=2, seconds=400))
    found = detect(facts(log(away), subscribed("app"), CONF, late))
    assert (found.findings, found.rejected, found.missing) == ((), None, ())


def test_a_flood_of_copies_is_not_the_clients_speed():
    flood = noted(mail(lambda n, _: {"app": list(range(1, 60))} if n % 2 else (), start=2, seconds=200))
    found = detect(facts(log(DROPPING), subscribed("app"), CONF, flood))
    assert found.findings == ()


def test_a_client_in_time_is_clear():
    found = detect(facts(log(LOG), BOTH, CONF, noted(mail(("app", "view"), start=2, seconds=200))))
    assert (found.findings, found.rejected, found.missing) == ((), None, ())


def test_a_full_queue_without_ledger_is_not_checked():
    found = detect(facts(log(DROPPING), BOTH, CONF))
    assert (found.findings, found.missing) == ((), (say("no-receipts", clients=["app"]),))


TOLL = """
    10:00:00 - starting
    10:00:01 feed connected 10.0.0.9:1000 k30 c1
    10:00:01 one connected 10.0.0.1:1001 k30 c0
    10:00:01 two connected 10.0.0.2:1001 k30 c0
    10:00:01 three connected 10.0.0.3:1001 k30 c0
    10:01:59 one normal
    10:01:59 two normal
    10:01:59 three normal
"""
"""A share group that leaves in the second of the last publish."""


def shared(*clients):
    return tuple(
        episode(
            "client-subscribed", 1, f"clients/{c}.log", system="mqtt", client_id=c, topic="$share/g/plant/#", left=1.0
        )
        for c in clients
    )


def turns(late):
    """30 a second in turn to three, until 10:01:59.5; *late* says when the second one is through with its next."""

    def dealt(n, second):
        if n % 3 != 1:
            return {("one", "two", "three")[n % 3]: 0.01}
        done = late(n // 3)
        return {"two": max(0.01, done - second)} if done < 119.5 else ()

    return noted(mail(dealt, start=2, seconds=117.5, rate=30))


def test_a_member_of_a_share_group_that_works_at_its_own_pace_is_slow_and_loses_nothing():
    slow = turns(lambda turn: 2 + 0.2 * (turn + 1))
    (one,) = detect(facts(log(TOLL, "10:02:00"), shared("one", "two", "three"), slow)).findings
    assert (one.certainty, one.subject) == (Certainty.PROVEN, "two")
    assert one.measures["produced_per_second"] == pytest.approx(10, rel=0.02)
    assert one.measures["consumed_per_second"] == pytest.approx(5, rel=0.05)


def test_a_member_of_a_share_group_whose_ledger_stops_in_time_is_not_slow():
    stops = turns(lambda turn: 2.01 + 0.1 * turn if turn < 600 else 1000.0)
    assert detect(facts(log(TOLL, "10:02:00"), shared("one", "two", "three"), stops)).findings == ()


def test_a_member_of_a_share_group_that_is_late_and_loses_every_other_message_is_not_explained_by_its_pace():
    lossy = turns(lambda turn: 1000.0 if turn % 2 else 2.2 + 0.13 * turn)
    assert detect(facts(log(TOLL, "10:02:00"), shared("one", "two", "three"), lossy)).findings == ()
