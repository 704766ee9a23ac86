"""Dead members of share groups: what they get, in three ways of counting, and what is none."""

from dataclasses import replace

import pytest
from facts_builder import at, episode, facts, ramp, series, settings
from mqtt_builder import broker
from mqtt_mail import mail, noted, received
from said import told

from mqlab.detectors.persistent_session_diversion import detect, say
from mqlab.findings import CLEAR, Certainty, Evidence, Result, Severity
from mqlab.rows import Client
from mqlab.words import room

GROUP = "$share/app/plant/+/t"
LOG = """
    10:00:00 - starting
    10:00:01 old connected 10.0.0.1:1001 k30 c0
    10:00:30 old normal
    10:00:32 new-a connected 10.0.0.1:1002 k30 c0
    10:00:32 new-b connected 10.0.0.2:1003 k30 c0
"""


def members(*clients, group=GROUP, when=None):
    moments = {"old": 1, "new-a": 32, "new-b": 32} | (when or {})
    return tuple(
        episode("client-subscribed", moments[c], f"clients/{c}.log", system="mqtt", client_id=c, topic=group, left=1.0)
        for c in clients
    )


def dealt(n, second):
    """mosquitto's turns: old alone, then nobody but old, then one of three."""
    if second < 32:
        return ("old",) if second < 30 else ()
    return ((), ("new-a",), ("new-b",))[n % 3]


ALL = members("old", "new-a", "new-b")
MAIL = noted(mail(dealt, start=2, seconds=298, rate=10))


def between_the_living(n, second):
    return ("old",) if second < 30 else (("new-a",), ("new-b",))[n % 2]


SHARED = noted(mail(between_the_living, start=2, seconds=298))


def lines(text=LOG, last="10:05:00"):
    return broker(text, last=last)


def test_the_messages_that_no_living_member_notes_are_counted_exactly():
    (one,) = detect(facts(lines(), ALL, MAIL)).findings
    assert (one.certainty, one.severity, one.subject) == (Certainty.PROVEN, Severity.CRITICAL, GROUP)
    assert one.measures["diverted_messages"] == 20 + 893
    assert (one.measures["members"], one.measures["dead_members"]) == (3, 1)
    assert one.measures["alone_seconds"] == 2
    assert one.ongoing
    assert one.started_at.timestamp() == at(30)
    assert one.facts["came after it"] == "new-a"
    assert "session-queue-growth" in one.explains
    assert told(one.remedy)["most"] == 914


def stored(*legs):
    return series("mqtt.stored_messages", ramp(*legs, base=53), source="metrics/sys.log")


def test_without_ledgers_the_growth_of_stored_messages_at_its_share_proves_it():
    counted = series("mqtt.publish_received", ramp((30, 100)), source="metrics/sys.log")
    grown = stored((4, 0), (26, 33.3))
    (one,) = detect(facts(lines(), ALL, counted, grown)).findings
    assert one.certainty is Certainty.PROVEN
    assert one.measures["queue_growth_per_second"] == pytest.approx(3.33)
    assert told(one.remedy)["most"] == one.measures["diverted_messages_high"]
    assert one.measures["diverted_messages"] == pytest.approx(913, rel=0.05)
    assert one.measures["diverted_messages_low"] < 913 < one.measures["diverted_messages_high"]


def test_growth_that_is_not_its_share_is_likely_only():
    counted = series("mqtt.publish_received", ramp((30, 100)), source="metrics/sys.log")
    (one,) = detect(facts(lines(), ALL, counted, stored((4, 0), (26, 90)))).findings
    assert (one.certainty, one.severity) == (Certainty.LIKELY, Severity.WARNING)


def test_queues_in_a_list_of_clients_prove_it():
    def row(client, connected, queued):
        return Client(
            at("10:05:00"), "mqtt", None, client, None, f"{GROUP}:1", None, "clients.txt", 2, "", connected, "false",
            7200, queued, 0,
        )  # fmt: skip

    there = mail(lambda n, _: ((), ("new-a",), ("new-b",))[n % 3], start=2, seconds=298)
    ledgers = noted([m for m in there if "new-b" not in m.to])
    listed = (row("old", "false", 993), row("new-a", "true", 0), row("new-b", "true", 0))
    (one,) = detect(facts(listed, ledgers, episode("broker-starting", 0, system="mqtt", reason="5.8.0"))).findings
    assert one.certainty is Certainty.LIKELY
    assert one.measures["diverted_messages"] == 993


@pytest.mark.parametrize("dead", [1, 2, 4])
def test_several_dead_members_get_their_share_each(dead):
    gone = [f"gone-{n}" for n in range(dead)]
    born = "\n".join(f"10:00:01 {c} connected 10.0.0.1:{2000 + n} k30 c0" for n, c in enumerate(gone))
    died = "\n".join(f"10:00:05 {c} normal" for c in gone)
    living = "10:00:05 new-a connected 10.0.0.1:1002 k30 c1\n10:00:05 new-b connected 10.0.0.1:1003 k30 c1"
    log = broker(f"10:00:00 - starting\n{born}\n{died}\n{living}", last="10:05:00")
    own = members("new-a", "new-b", *gone, when=dict.fromkeys([*gone], 1) | {"new-a": 5, "new-b": 5})
    turn = [*[()] * dead, ("new-a",), ("new-b",)]
    (one,) = detect(facts(log, own, noted(mail(lambda n, _: turn[n % len(turn)], start=6, seconds=294)))).findings
    assert one.certainty is Certainty.PROVEN
    assert one.measures["diverted_fraction"] == dead / (dead + 2)
    assert one.measures["diverted_messages"] == pytest.approx(2940 * dead / (dead + 2), abs=dead)


def test_a_broker_with_one_queue_for_the_group_diverts_nothing():
    hive = broker(LOG, "logs/hivemq.log", "hivemq-log", last="10:05:00")
    assert detect(facts(hive, ALL, SHARED)) == Result(rejected=say("one-queue", names="old", group="app"))


def test_where_every_broker_keeps_one_queue_a_group_nobodys_subscriptions_need_be_told():
    hive = broker(LOG, "logs/hivemq.log", "hivemq-log", last="10:05:00")
    assert detect(facts(hive)) == CLEAR
    other = broker(LOG, "logs/mosquitto.log", last="10:05:00")
    for logs in ((other,), (hive, other)):
        assert detect(facts(*logs)).missing == (say("no-subscriptions"),)


def test_members_that_got_everything_although_one_is_away_disprove_it():
    assert detect(facts(lines(), ALL, SHARED)) == Result(rejected=say("got-all", names="old", group="app"))


def test_a_planned_absence_that_gets_everything_afterwards_is_none():
    back = LOG + "    10:03:00 old connected 10.0.0.1:1009 k30 c0\n"

    def late(n, second):
        if second >= 180 or second < 30:
            return (("old",), ("new-a",), ("new-b",))[n % 3] if second >= 180 else ("old",)
        return {"old": 180 - second} if second < 32 or n % 3 == 0 else (("new-a",), ("new-b",))[n % 2]

    found = detect(facts(lines(back), ALL, noted(mail(late, start=2, seconds=298))))
    assert found == Result(rejected=say("got-all", names="old", group="app"))


def test_a_member_that_is_started_again_within_a_minute_is_none():
    log = lines(LOG.replace("10:00:30 old normal", "10:04:30 old normal").replace("10:00:32", "10:00:02"))
    own = members("old", "new-a", "new-b", when={"new-a": 2, "new-b": 2})
    turn = (("old",), ("new-a",), ("new-b",))
    late = noted(mail(lambda n, second: turn[n % 3] if second < 270 or n % 3 else (), start=3, seconds=297))
    assert detect(facts(log, own, late)).findings == ()


def test_clean_sessions_leave_no_member_behind():
    clean = lines(LOG.replace("c0", "c1"))
    assert detect(facts(clean, ALL, SHARED)) == CLEAR


def test_an_offline_session_that_shares_with_nobody_is_none():
    alone = members("old", "new-a", "new-b", group="plant/+/t")
    assert detect(facts(lines(), alone, noted(mail(("new-a", "new-b"), start=2, seconds=298)))) == CLEAR


def test_a_living_member_without_ledger_makes_the_count_unknown():
    without = noted(
        [replace(m, to={c: d for c, d in m.to.items() if c != "new-b"}) for m in mail(dealt, start=2, seconds=298)]
    )
    (one,) = detect(facts(lines(), ALL, without)).findings
    assert one.certainty is Certainty.LIKELY
    assert one.measures["diverted_messages"] == pytest.approx(913, abs=30)


def test_without_anything_that_counts_it_is_not_checked():
    found = detect(facts(lines(), ALL))
    assert (found.findings, found.missing) == ((), (say("no-count", names="old", group="app"),))


def test_without_the_brokers_log_nothing_is_said_about_who_is_away():
    assert detect(facts(ALL, MAIL)).findings == ()


def test_no_group_and_no_session_away_is_clear():
    assert (
        detect(facts(broker("10:00:00 - starting\n10:00:01 a connected 10.0.0.1:1001 k30 c1", last="10:05:00")))
        == CLEAR
    )


ONE_KNOWN = episode("client-subscribed", 32, "clients/new-a.log", system="mqtt", client_id="new-a", topic="plant/+/t")
HALF = noted(mail(lambda n, _second: (("new-a",), ())[n % 2], start=40, seconds=200))
WHOLE = noted(mail(lambda _n, _second: ("new-a",), start=40, seconds=200))


@pytest.mark.parametrize(
    ("seen", "clear"),
    [
        ((ONE_KNOWN, HALF), False),
        ((ONE_KNOWN,), False),
        ((ONE_KNOWN, WHOLE), True),
        ((ONE_KNOWN, HALF, series("mqtt.clients_disconnected", [0] * 30)), True),
        ((ONE_KNOWN, HALF, broker("10:00:32 new-a connected 10.0.0.1:1002 k30 c1", last="10:05:00")), True),
    ],
    ids=["half of it missing", "no ledgers", "nothing missing", "statistics", "a broker's log"],
)
def test_clients_alone_do_not_tell_who_is_away(seen, clear):
    assert detect(facts(seen)) == (CLEAR if clear else Result(missing=(say("no-broker"),)))


def test_the_evidence_leads_to_the_dead_and_the_living():
    limit = settings("at owner key value\n- - max_queued_messages 0", "mosquitto.conf", scope="broker")
    (one,) = detect(facts(lines(), ALL, MAIL, limit)).findings
    whys = [e.why for e in one.evidence]
    assert whys.count(say("living")) == 2
    assert room("session-queue-growth")("left-line") in whys
    assert any(isinstance(e, Evidence) and e.source == "clients/published-feed.csv" for e in one.evidence)
    assert received("new-a") not in one.statement


def to_the_last(n, second):
    """The old member gets its turns until 0.9 s after the whole second that its broker prints."""
    if second < 32:
        return ("old",) if second < 30.9 else ()
    return dealt(n, second)


def test_the_second_in_which_a_member_died_is_its_own_up_to_the_last_message_that_came_to_it():
    (one,) = detect(facts(lines(), ALL, noted(mail(to_the_last, start=2, seconds=298, rate=10)))).findings
    assert one.measures["diverted_messages"] == 11 + 893
    assert one.measures["published_messages"] == pytest.approx(10 * (300 - 30.8), abs=2)


def test_more_that_is_missing_than_its_share_is_no_count_of_it():
    worse = noted(
        mail(lambda n, s: () if n % 3 == 2 and n % 2 and s > 40 else dealt(n, s), start=2, seconds=298, rate=10)
    )
    (one,) = detect(facts(lines(), ALL, worse)).findings
    assert (one.certainty, "diverted_messages" in one.measures) == (Certainty.LIKELY, False)
    assert told(one.statement)["unclear"] is True


def test_a_member_of_whose_connection_no_line_tells_is_one_by_its_ledger():
    seen = [e for e in (*ALL, *lines()) if not (getattr(e, "client_id", None) or "").startswith("new-b")]
    (one,) = detect(facts(seen, MAIL)).findings
    assert (one.certainty, one.measures["members"]) == (Certainty.PROVEN, 3)


def until_back(back):
    """The old member is back at *back* and gets its turns again; what was dealt to it meanwhile came to nobody."""
    return lambda n, second: (("old",), ("new-a",), ("new-b",))[n % 3] if second >= back else dealt(n, second)


@pytest.mark.parametrize(("back", "last"), [("10:01:10", 70), ("10:03:00", 180)])
def test_what_waited_for_a_member_that_came_back_with_a_clean_session_is_lost(back, last):
    again = LOG + f"    {back} old connected 10.0.0.1:1009 k30 c1\n"
    (one,) = detect(facts(lines(again), ALL, noted(mail(until_back(last), start=2, seconds=298)))).findings
    assert (one.certainty, one.ongoing, one.ended_at.timestamp()) == (Certainty.PROVEN, False, at(last))
    assert (
        one.measures["lost_records"]
        == one.measures["diverted_messages"]
        == pytest.approx(20 + (last - 32) * 10 / 3, abs=2)
    )
    assert (told(one.statement)["thrown"], told(one.mitigate)["until"]) == (True, one.ended_at)


def test_a_member_that_came_back_clean_after_seconds_lost_no_more_than_a_few():
    again = (
        LOG.replace("10:00:30 old normal", "10:00:40 old normal") + "    10:00:42 old connected 10.0.0.1:1009 k30 c1\n"
    )
    turn = (("old",), ("new-a",), ("new-b",))
    short = noted(
        mail(lambda n, second: () if n % 3 == 0 and 40 <= second < 42 else turn[n % 3], start=33, seconds=267)
    )
    assert detect(facts(lines(again), ALL, short)) == Result(rejected=say("thrown", names="old", group="app"))


NAMELESS = """
    10:00:00 - starting
    10:00:01 a connected 10.0.0.1:1001 k30 c0
    10:00:01 b connected 10.0.0.2:1002 k30 c0
    10:00:40 b closed
"""
SUBACK = episode("client-subscribed", 1, "clients/a.log", system="mqtt", client_id="a")


@pytest.mark.parametrize("group", [True, False], ids=["statistics tell of the group", "nothing does"])
def test_who_came_back_clean_and_what_it_had_subscribed_to_is_told_by_nobody(group):
    log = lines(NAMELESS + "10:01:20 b connected 10.0.0.2:1009 k30 c1")
    shared = series("mqtt.shared_subscriptions", [2] * 30, source="metrics/sys.log") if group else ()
    counted = series("mqtt.publish_received", ramp((30, 100)), source="metrics/sys.log")
    found = detect(facts(log, SUBACK, shared, counted, stored((4, 0), (4, 50), (1, -200), (21, 0))))
    if not group:
        assert (found.findings, found.missing) == ((), (say("no-subscriptions"),))
        return
    (one,) = found.findings
    assert (one.certainty, one.subject, one.ongoing) == (Certainty.LIKELY, "b", False)
    assert told(one.statement)["until"] == one.ended_at.timestamp() == at(80)


def test_a_nameless_client_that_came_back_to_its_session_got_what_had_waited():
    log = lines(NAMELESS + "    10:01:20 b connected 10.0.0.2:1009 k30 c0\n")
    assert detect(facts(log, SUBACK, stored((4, 0), (4, 50), (1, -200), (21, 0)))) == CLEAR
