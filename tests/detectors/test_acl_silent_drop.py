"""Access rules that refuse in silence: by mosquitto's rules and ids, and what is no refusal."""

import pytest
from acl_builder import LOG, SUBSCRIBED, TOPICS_A, TOPICS_B, A, B, half, subscribed
from facts_builder import facts
from mqtt_builder import broker
from mqtt_mail import mail, noted

from mqlab.detectors.acl_silent_drop import detect, say
from mqlab.facts import Setting
from mqlab.findings import CLEAR, Certainty, Result

CONF = Setting("acl_file", "/etc/acl", "broker", None, "file", None, "mosquitto.conf", 3, "acl_file /etc/acl")


def acl(text):
    rows = [line.split() for line in text.strip().splitlines()]
    return tuple(
        Setting(key, value, "acl", None if user == "-" else user, "file", None, "acl", n, f"topic {key} {value}")
        for n, (user, key, value) in enumerate(rows, 1)
    )


RULES = acl("hist read site/#\nagent write site/+/status\nagent write site/a/metrics")


def test_topics_that_no_rule_allows_and_that_arrive_nowhere_are_proven():
    (one,) = detect(facts(LOG, CONF, RULES, SUBSCRIBED, noted(A, B))).findings
    assert (one.certainty, one.subject) == (Certainty.PROVEN, "agent-b")
    assert one.measures == {"lost_records": 500, "topics": 1, "published_messages": 1000}
    assert one.facts["topics"] == "site/b/metrics"
    assert one.facts["user"] == "agent"


def test_a_reader_that_is_refused_and_whose_ledger_nobody_knows_is_not_cleared():
    wall = subscribed("agent-b", source="logs/w.log")
    halved = {"sender": "agent-a", "topics": TOPICS_A, "start": 2, "seconds": 9}
    some = mail(lambda n, _: ("one", "two") if n % 2 == 0 else (), **halved)
    rules = acl("hist read site/+/status\nagent readwrite site/#")
    found = detect(facts(LOG, CONF, rules, SUBSCRIBED, wall, noted(some)))
    assert (found.findings, found.rejected) == ((), None)
    assert found.missing == (say("no-receivers", clients=["hist"]),)


def test_a_publisher_whose_user_is_not_known_is_refused_only_if_everybody_is():
    unknown = mail(half, sender="somebody", topics=TOPICS_B, start=2, seconds=100)
    (one,) = detect(facts(LOG, CONF, RULES, SUBSCRIBED, noted(A, unknown))).findings
    assert one.facts["user"] == "agent, hist"
    allowed = (*RULES, *acl("hist write site/b/metrics"))
    assert detect(facts(LOG, CONF, allowed, SUBSCRIBED, noted(A, unknown))).findings == ()


def test_a_receiver_that_may_not_read_misses_what_others_get():
    rules = acl("hist read site/+/status\nagent readwrite site/#")
    sent = {"sender": "agent-b", "topics": TOPICS_B, "start": 2}
    got = mail(lambda n, _: ("hist", "agent-a") if n % 2 == 0 else ("agent-a",), **sent)
    (one,) = detect(facts(LOG, CONF, rules, SUBSCRIBED, subscribed("agent-a"), noted(got))).findings
    assert (one.certainty, one.subject) == (Certainty.PROVEN, "hist")
    assert (one.measures["lost_records"], one.facts["access"]) == (300, "read")


def test_refused_topics_that_arrive_show_that_the_file_is_not_in_force():
    came = noted(mail(("hist",), sender="agent-b", topics=TOPICS_B, start=2))
    arrived = Result(rejected=say("arrive", names=["site/b/metrics"]))
    assert detect(facts(LOG, CONF, RULES, SUBSCRIBED, came)) == arrived


def test_a_loss_of_topics_that_rules_allow_is_none():
    assert detect(facts(LOG, CONF, acl("hist read site/#\nagent write site/#"), SUBSCRIBED, noted(A, B))) == CLEAR


@pytest.mark.parametrize(
    "rows",
    [
        (LOG, RULES, SUBSCRIBED, noted(A, B)),
        (LOG, CONF, RULES, SUBSCRIBED, noted(A, mail((), sender="agent-b", topics=TOPICS_B, start=2, failed=True))),
        (LOG, CONF, RULES, SUBSCRIBED, noted(A, mail((), sender="agent-b", topics=("other/b",), start=2))),
        (LOG, CONF, SUBSCRIBED, noted(A, B)),
    ],
    ids=["no file in force", "the publisher was told", "nobody subscribed", "no rules gathered"],
)
def test_without_rule_subscriber_or_silence_nothing_is_found(rows):
    assert detect(facts(*rows)).findings == ()


def test_without_the_ledger_of_a_receiver_the_rules_alone_are_likely():
    unheard = noted(mail((), sender="agent-b", topics=TOPICS_B, start=2, seconds=100))
    (one,) = detect(facts(LOG, CONF, RULES, SUBSCRIBED, unheard)).findings
    assert (one.certainty, one.subject, one.measures["lost_records"]) == (Certainty.LIKELY, "agent-b", 500)


def test_whole_ledgers_show_that_nothing_was_refused_whatever_the_configuration():
    whole = noted(A, mail(("hist",), sender="agent-b", topics=TOPICS_B, start=2, seconds=100))
    for rows in ((LOG, CONF, SUBSCRIBED, whole), (LOG, SUBSCRIBED, whole), (LOG, whole)):
        found = detect(facts(*rows))
        assert found == CLEAR


@pytest.mark.parametrize(
    "rest",
    [
        mail((), sender="agent-b", topics=("site/b/alarm",), start=2, seconds=3, rate=1),
        mail(half, sender="agent-b", topics=("site/b/status",), start=2, seconds=10),
    ],
    ids=["a rare topic that came nowhere", "some of a topic that did not"],
)
def test_ledgers_that_miss_messages_show_no_such_thing(rest):
    assert detect(facts(LOG, CONF, SUBSCRIBED, noted(A, rest))).missing == (say("no-file"),)


DOSING = broker(
    """
    10:00:00 - starting
    10:00:01 panel connected 10.0.0.1:1001 k30 c1 u=panel
    10:00:01 dosing-01 connected 10.0.0.2:1002 k30 c1 u=dosing
    10:00:01 dosing-02 connected 10.0.0.3:1003 k30 c1 u=dosing
    """,
    last="10:05:00",
)
BY_CLIENT = (
    Setting("read", "plants/#", "acl", "panel", "file", None, "acl", 2, "topic read plants/#"),
    Setting("pattern-readwrite", "plants/%c/#", "acl", None, "file", None, "acl", 4, "pattern readwrite plants/%c/#"),
)
PANEL = subscribed("panel", "plants/#")


def test_a_pattern_of_client_ids_refuses_a_client_that_spells_its_topic_otherwise():
    fine = mail(("panel",), sender="dosing-01", topics=("plants/dosing-01/flow",), start=2)
    other = mail((), sender="dosing-02", topics=("plants/dosing_02/flow", "plants/dosing_02/level"), start=2)
    (one,) = detect(facts(DOSING, CONF, BY_CLIENT, PANEL, noted(fine, other))).findings
    assert (one.certainty, one.subject) == (Certainty.PROVEN, "dosing-02")
    assert one.measures == {"lost_records": 600, "topics": 2, "published_messages": 600}


def test_a_pattern_of_client_ids_refuses_every_client_that_may_have_sent_through_one_ledger():
    fine = mail(("panel",), sender="pumps", topics=("plants/dosing-01/flow",), start=2, seconds=30)
    other = mail((), sender="pumps", topics=("plants/dosing_02/flow",), start=32, seconds=30)
    (one,) = detect(facts(DOSING, CONF, BY_CLIENT, PANEL, noted(fine, other))).findings
    assert (one.certainty, one.measures["lost_records"]) == (Certainty.PROVEN, 300)


def test_a_pattern_that_gives_each_client_its_own_topics_refuses_nothing():
    fine = [mail(("panel",), sender=c, topics=(f"plants/{c}/flow",), start=2) for c in ("dosing-01", "dosing-02")]
    assert detect(facts(DOSING, CONF, BY_CLIENT, PANEL, noted(*fine))) == CLEAR


def test_where_no_subscription_is_told_the_rules_alone_are_likely():
    unheard = noted(mail((), sender="agent-b", topics=TOPICS_B, start=2, seconds=100))
    (one,) = detect(facts(LOG, CONF, RULES, unheard)).findings
    assert (one.certainty, one.subject, one.measures["lost_records"]) == (Certainty.LIKELY, "agent-b", 500)


def test_refused_topics_to_which_nobody_subscribed_harm_nobody():
    unheard = noted(mail((), sender="agent-b", topics=TOPICS_B, start=2, seconds=100))
    assert detect(facts(LOG, CONF, RULES, subscribed("hist", "other/#"), unheard)).findings == ()


def test_rules_whose_topics_nobody_noted_are_not_checked():
    assert detect(facts(LOG, CONF, RULES, SUBSCRIBED)).missing == (say("no-topics"),)
