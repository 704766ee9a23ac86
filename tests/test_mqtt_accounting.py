"""What receivers of MQTT should have got, what they noted, and what explains the rest."""

from dataclasses import replace

import pytest
from facts_builder import at, episode, facts, log, series, settings
from hypothesis import given
from hypothesis import strategies as st
from mqtt_builder import broker
from mqtt_mail import mail, noted, received

from mqlab.mqtt.accounting import Row, accounts, lost_by
from mqlab.mqtt.copies import client_of
from mqlab.mqtt.explained import DENIED, DIVERTED, DROPPED, FAILED, LATE, UNKEPT, WAITING, explained
from mqlab.mqtt.subscriptions import filters_of, phases, receiving_ledgers, share_groups, subscriptions

LOG = """
    10:00:00 - starting
    10:00:01 app connected 10.0.0.1:1001 k30 c0
    10:00:01 view connected 10.0.0.2:1002 k30 c1
"""


def subscribed(client, topic, when=1, **more):
    return episode(
        "client-subscribed",
        when,
        f"clients/{client}.log",
        system="mqtt",
        client_id=client,
        topic=topic,
        left=1.0,
        **more,
    )


def test_a_client_is_due_the_topics_that_its_filters_match():
    sent = noted(mail(lambda n, _: ("app",) if n % 2 == 0 else (), topics=("a/x", "b/x"), start=2, seconds=10))
    (one,) = accounts(facts(broker(LOG, last="10:05:00"), subscribed("app", "a/+"), sent))
    assert (one.name, one.published, one.received) == ("app", 50, 50)


def test_topics_of_a_client_whose_filters_nobody_tells_are_those_that_it_gets():
    some = mail(lambda n, _: ("app",) if n % 4 == 0 else (), topics=("a/x", "b/x"), start=2, seconds=10)
    (one,) = accounts(facts(broker(LOG, last="10:05:00"), noted(some)))
    assert (one.published, one.received) == (50, 25)


def test_what_may_be_on_its_way_is_not_missing():
    sent = noted(mail(lambda n, _: ("app",) if n < 80 else (), start=2, seconds=10))
    (one,) = accounts(facts(broker(LOG, last="10:05:00"), subscribed("app", "plant/#"), sent))
    assert (one.published, one.received) == (100, 80)
    assert one.missing().likely == 0


def test_what_a_publisher_lost_is_what_none_of_the_receivers_noted():
    both, one = ("app", "view"), ("view",)
    sent = noted(mail(lambda n, _: () if n % 4 == 0 else one if n % 4 == 1 else both, start=2, seconds=10))
    log_lines = broker(f"{LOG}    10:00:01 feed connected 10.0.0.3:1003 k30 c1", last="10:05:00")
    given = facts(log_lines, subscribed("app", "plant/#"), subscribed("view", "plant/#"), sent)

    assert [lost_by(given, who) for who in ({"feed"}, None)] == pytest.approx([25, 25], abs=1)
    assert lost_by(given, {"feed"}, at(2), at(6)) == pytest.approx(10, abs=2)
    assert lost_by(given, {"somebody else", None}) is None


def test_what_is_lost_is_counted_in_whole_messages_and_to_the_end_of_a_second_that_a_log_prints():
    sent = noted(mail(lambda _, s: () if 4.1 <= s < 6.75 else ("app",), start=2, seconds=10))
    given = facts(broker(LOG, last="10:05:00"), subscribed("app", "plant/#"), sent)
    assert lost_by(given, None, at(4), at(6)) == 26
    assert lost_by(given, None, at(4), at(5.5)) in range(13, 16)
    assert isinstance(lost_by(given, None, at(4), at(5.5)), int)
    assert lost_by(given, None, at(8), at(9)) == 0


def test_what_was_published_before_a_receiver_noted_anything_is_not_lost():
    sent = noted(mail(lambda n, _: () if n < 40 or n == 60 else ("app",), start=2, seconds=10))
    given = facts(broker(LOG, last="10:05:00"), sent)
    assert lost_by(given, {None}) == 1


def test_a_failed_publish_is_not_published():
    sent = noted(mail(("app",), start=2, seconds=5), mail((), start=2, seconds=5, sender="other", failed=True))
    (one,) = accounts(facts(broker(LOG, last="10:05:00"), subscribed("app", "plant/#"), sent))
    assert one.published == 50


@pytest.mark.parametrize(
    ("ledger", "client"),
    [
        ("office/in.csv", "office-view"),
        ("office.csv", "office-view"),
        ("in/office.csv", "office-view"),
        ("hall/in.csv", "screen-7"),
        ("north/in.csv", None),
        ("of/in.csv", None),
        ("offices/in.csv", None),
    ],
    ids=["folder", "file", "file before folder", "user", "two clients", "too short", "another word"],
)
def test_a_ledger_is_named_after_its_client_by_the_beginning_of_its_id_too(ledger, client):
    rows = broker("""
        10:00:00 office-view connected 10.0.0.1:4000 k30 c1
        10:00:00 north-1 connected 10.0.0.2:4000 k30 c1
        10:00:00 north-2 connected 10.0.0.3:4000 k30 c1
    """)
    hall = replace(rows[0], client_id="screen-7", member_id="hall")
    assert client_of(facts((*rows, hall)), ledger) == client


def test_what_ledgers_of_another_clock_lack_is_missing_all_the_same():
    earlier = noted(mail(lambda n, _: ("app",) if n % 2 else (), start=-7200, seconds=10))
    (one,) = accounts(facts(broker(LOG, last="10:05:00"), subscribed("app", "plant/#"), earlier))
    assert (one.published, one.received) == (100, 50)


def test_the_last_ledger_left_is_the_last_subscribers():
    rows = noted(mail(("west", "app"), start=2, seconds=5))
    told = facts(broker(LOG, last="10:05:00"), subscribed("app", "plant/#"), subscribed("view", "plant/#"), rows)
    assert receiving_ledgers(told) == {"app": (received("app"),), "view": (received("west"),)}


@given(st.integers(1, 1000), st.floats(0, 100), st.floats(0.001, 50), st.floats(-10, 160), st.floats(0, 160))
def test_a_row_is_counted_in_proportion_and_never_more_than_it_holds(messages, begin, length, since, more):
    where = facts(log()).coverage[0]
    place = episode("x", 0, where.source).first
    row = Row("s", None, None, messages, False, 1, (), 0, begin, begin + length, place, place)
    inside, before = row.certain(since, since + more), row.within(-1e9, since)
    assert 0 <= inside.low <= inside.likely <= inside.high <= messages
    parts = before + inside.likely + row.within(since + more, 1e9)
    assert parts <= messages * (1 + 1e-6) + 1e-6
    assert row.within(-1e9, 1e9) == messages


def test_a_line_that_names_no_client_is_about_the_one_that_its_log_named_last():
    def line(number, kind, client, **more):
        return episode(kind, number, "clients/bridge.log", line=number, system="mqtt", client_id=client, **more)

    rows = [
        line(1, "client-configured", "bridge-1", left=30.0),
        line(2, "client-subscribed", None, topic="$share/b/t/#", left=1.0),
        line(5, "client-configured", "bridge-2", left=30.0),
        line(6, "client-subscribed", None, topic="$share/b/t/#", left=1.0),
    ]
    assert [s.client_id for s in subscriptions(facts(rows))] == ["bridge-1", "bridge-2"]


def test_a_subscription_ends_with_a_clean_session_and_outlives_a_connection_of_a_persistent_one():
    text = LOG + "    10:01:00 app normal\n    10:01:00 view normal\n    10:02:00 app connected 10.0.0.1:1003 k30 c0"
    told = facts(broker(text, last="10:05:00"), subscribed("app", "plant/#"), subscribed("view", "plant/#"))
    app, view = subscriptions(told)
    assert app.away == ((at(60), at(120)),)
    assert app.until == float("inf")
    assert (view.away, view.until) == ((), at(60))


def test_a_filter_that_was_given_up_is_over():
    gone = episode("client-unsubscribed", 30, "clients/app.log", system="mqtt", client_id="app", topic="plant/#")
    (one,) = subscriptions(facts(broker(LOG, last="10:05:00"), subscribed("app", "plant/#"), gone))
    assert one.until == at(30)


def test_members_of_a_group_are_told_by_the_times_in_which_they_stay_the_same():
    text = LOG + "    10:01:00 app normal\n"
    shared = "$share/g/plant/#"
    told = facts(broker(text, last="10:05:00"), subscribed("app", shared), subscribed("view", shared, 10))
    (group,) = share_groups(told)
    found = [(p.members, p.dead) for p in phases(group, at(0), at(300))]
    assert found == [(("app",), ()), (("app", "view"), ()), (("app", "view"), ("app",))]


def test_a_list_of_clients_tells_filters_with_their_qos():
    assert filters_of("$share/g/a/#:1;b/+:0; c:x ;") == ["$share/g/a/#", "b/+", "c:x"]


CONF = settings("at owner key value\n- - max_queued_messages 0", "mosquitto.conf", scope="broker", origin="file")


def steps(told, name="app"):
    (one,) = [e for e in explained(told) if e.receiver == name]
    return one, {s.name: s.messages.likely for s in one.steps}


def test_the_funnel_leads_from_published_to_received():
    lost = mail(lambda n, _: ("app",) if n % 2 == 0 else (), topics=("a/ok", "a/no"), start=2, seconds=100)
    failed = mail((), sender="other", topics=("a/ok",), start=2, seconds=5, failed=True)
    late = mail((), topics=("a/ok",), start=103, seconds=2, first=5000)
    rules = settings("at owner key value\n- u readwrite a/ok", "acl", scope="acl", origin="file")
    force = settings("at owner key value\n- - acl_file /etc/acl", "m.conf", scope="broker", origin="file")
    text = "10:00:01 feed connected 10.0.0.9:1 k30 c1 u=u\n10:00:01 app connected 10.0.0.1:2 k30 c1 u=u"
    one, found = steps(
        facts(broker(text, last="10:05:00"), subscribed("app", "a/#"), rules, force, noted(lost, failed, late))
    )
    assert (one.published, one.received) == (1000 + 50 + 20, 500)
    assert found[FAILED] == 50
    assert found[DENIED] == 500
    assert found[LATE] == pytest.approx(20, abs=1)
    assert found["unexplained"] == pytest.approx(0, abs=1)


def test_a_dead_member_explains_its_share_by_the_law():
    text = LOG + "    10:00:02 app normal\n"
    shared = "$share/g/plant/#"
    half = noted(mail(lambda n, _: ("view",) if n % 2 else (), start=3, seconds=200))
    one, found = steps(
        facts(broker(text, last="10:05:00"), subscribed("app", shared), subscribed("view", shared), half), shared
    )
    assert found[DIVERTED] == 1000
    assert abs(found["unexplained"]) <= 1
    assert one.unknown == ("app",)


def test_drops_and_waiting_messages_are_told_apart():
    text = LOG + "    10:00:30 app normal\n    10:01:00 app dropping\n"
    conf = settings("at owner key value\n- - max_queued_messages 300", "m.conf", scope="broker", origin="file")
    gone = noted(mail(lambda _, s: ("app",) if s < 30 else (), start=2, seconds=98))
    counter = series("mqtt.publish_dropped", [0, 0, 0, 0, 0, 0, 200, 300, 400])
    _, found = steps(facts(broker(text, last="10:05:00"), subscribed("app", "plant/#"), conf, counter, gone))
    assert (found[DROPPED], found[WAITING]) == (400, 300)
    assert found["unexplained"] == 0


def test_qos_0_that_is_missing_may_be_lost_on_either_side():
    lossy = noted(mail(lambda n, _: ("app",) if n % 5 else (), start=2, seconds=100, qos=0))
    one, found = steps(facts(broker(LOG, last="10:05:00"), subscribed("app", "plant/#"), CONF, lossy))
    assert found[UNKEPT] == one.published - one.received
    assert (one.steps[-1].messages.low, one.steps[-1].messages.likely) == (0, 0)


def test_a_loss_that_nothing_explains_is_left_over():
    lossy = noted(mail(lambda n, _: ("app",) if n % 5 else (), start=2, seconds=100))
    _, found = steps(facts(broker(LOG, last="10:05:00"), subscribed("app", "plant/#"), CONF, lossy))
    assert found == {"unexplained": 200}
