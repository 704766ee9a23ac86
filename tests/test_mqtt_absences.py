"""Messages published while a client without a kept session was not connected: counted, and no sign of a class."""

import pytest
from facts_builder import at, facts
from mqtt_builder import broker, client
from test_chain import BOARD, counted, gaps, messages, noted, subscribed

from mqlab.changes import changes
from mqlab.mqtt import symptoms
from mqlab.mqtt.absences import of_client
from mqlab.mqtt.chain import within_mqtt
from mqlab.mqtt.chain_apart import explained as told_by
from mqlab.mqtt.chain_stages import Whereabouts
from mqlab.mqtt.explained import ABSENT, explained
from mqlab.symptoms.unexplained import UNHEARD, unexplained
from mqlab.verdict import diagnose
from mqlab.views.audit_json import LOST, outcome
from mqlab.words import room

say = room("mqtt-symptoms")

AWAY = messages("""
    at       until    count noted
    10:00:05 10:03:59 400   board
    10:04:00 10:04:29 60    -
    10:04:31 10:09:59 600   board
""")
BESIDE = messages("""
    at       until    count noted
    10:00:05 10:01:59 200   board
    10:02:00 10:02:59 100   -
    10:03:00 10:03:59 100   board
    10:04:00 10:04:29 60    -
    10:04:31 10:09:59 600   board
""")
LEDGER = noted("board", "10:00:05", [10] * 60)


def log(before="c1", after="c1", *, end="10:04:00", name="received-board"):
    """A broker's log of a client whose connections were of these kinds."""
    return broker(f"""
        10:00:00 {name} connected 10.0.0.9:1001 k30 {before}
        {end} {name} closed
        10:04:30 {name} connected 10.0.0.9:1002 k30 {after}
        10:10:00 x connected 10.0.0.3:1003 k30 c1
    """)


def test_what_was_published_between_two_clean_sessions_was_published_while_nobody_was_there():
    own = facts(AWAY, LEDGER, log())
    way = within_mqtt(own)
    assert gaps(way) == [("taken", Whereabouts.ABSENT, "received-board", 60, 60, 60)]
    assert way.gaps[0].evidence[0].line == 2
    assert outcome(way) == LOST
    (funnel,) = explained(own)
    assert [(s.name, s.messages.likely) for s in funnel.steps if s.messages.high > 0] == [(ABSENT, 60.0)]


@pytest.mark.parametrize(
    "told",
    [log("c0", "c0"), log("c0", "c1"), log("c1", "c0"), log("", ""), log(end="10:04:20"), ()],
    ids=["kept", "kept before", "kept after", "nobody tells", "left only later", "no log"],
)
def test_other_sessions_and_other_times_leave_it_open(told):
    assert Whereabouts.ABSENT not in [gap.where for gap in within_mqtt(facts(AWAY, LEDGER, told)).gaps]


def test_who_went_from_one_connection_to_the_next_was_never_away():
    twice = broker("""
        10:00:00 a connected 10.0.0.9:1001 k30 c1
        10:04:00 a taken-over
        10:04:00 a connected 10.0.0.9:1002 k30 c1
        10:05:00 a connected 10.0.0.9:1003 k30 c1
    """)
    assert not of_client(facts(twice), "a")


def test_a_client_s_own_log_tells_it_too():
    own = client("""
        10:00:00 configured k30 c1
        10:00:00 made
        10:04:00 closed
        10:04:30 made
    """, "received-board")  # fmt: skip
    (absence,) = of_client(facts(own), "received-board")
    assert (absence.since, absence.until) == (at("10:04:00"), at("10:04:30"))


def test_it_is_a_symptom_of_its_own_and_no_sign_of_a_full_queue_or_of_access_rules():
    own = facts(AWAY, LEDGER, log())
    times = [say("absence", since=at("10:04:00"), until=at("10:04:30"), restarted=False)]
    told = say("absent", missing=60, messages=1060, receiver="received-board", times=times, nobody=True)
    assert [text for _, text in symptoms.absent(own)] == [say("at", at=at("10:04:00"), what=told)]
    assert not list(symptoms.missing(own))
    assert [s.kind for s in unexplained(own, ())] == [UNHEARD]
    verdict = diagnose(own).verdict
    assert (verdict.incident, verdict.hypotheses) == ("undetermined", ())
    assert verdict.statement.startswith(say("at", at=at("10:04:00"), what=told))


def test_a_member_of_its_share_group_that_was_there_would_have_got_them():
    group = subscribed("received-board", "other")
    both = (AWAY, LEDGER, group)
    there = broker("10:00:00 other connected 10.0.0.8:1001 k30 c1\n10:10:00 other normal", "logs/mosquitto-2.log")
    alone = facts(AWAY, LEDGER, log(), subscribed("received-board"))
    assert [gap.where for gap in within_mqtt(alone).gaps] == [Whereabouts.ABSENT]
    assert Whereabouts.ABSENT not in [gap.where for gap in within_mqtt(facts(both, log(), there)).gaps]


def test_others_may_have_got_them():
    rows = messages("""
        at       until    count noted
        10:00:05 10:03:59 400   board+copier
        10:04:00 10:04:29 60    copier
        10:04:31 10:09:59 600   board+copier
    """)
    ((_, text),) = symptoms.absent(facts(rows, LEDGER, noted("copier", "10:00:05", [10] * 60), log()))
    assert text.values["what"].values["nobody"] is False


def test_a_restart_of_the_broker_is_told_as_the_reason():
    restart = broker("""
        10:00:00 received-board connected 10.0.0.9:1001 k30 c1
        10:04:00 - stopping
        10:04:20 - starting
        10:04:30 received-board connected 10.0.0.9:1002 k30 c1
        10:10:00 x connected 10.0.0.3:1003 k30 c1
    """)
    (absence,) = of_client(facts(restart), "received-board")
    assert absence.restarted
    ((_, text),) = symptoms.absent(facts(AWAY, LEDGER, restart))
    assert [one.values["restarted"] for one in text.values["what"].values["times"]] == [True]


def test_what_is_missing_beside_it_stays_open():
    own = facts(BESIDE, LEDGER, log())
    assert [(g.where, g.messages) for g in within_mqtt(own).gaps] == [
        (Whereabouts.UNKNOWN, 100), (Whereabouts.ABSENT, 60),
    ]  # fmt: skip
    left = [s for s in unexplained(own, ()) if s.kind != UNHEARD]
    assert [(s.at, s.kind) for s in left] == [(at("10:02:00"), "messages-missing")]


def test_what_connections_lost_is_told_once_and_what_rules_refused_is_counted_beside_it():
    way = within_mqtt(facts(BESIDE, LEDGER, log()))
    for incident, left in (("reconnect-storm", Whereabouts.UNKNOWN), ("acl-silent-drop", Whereabouts.LOST)):
        (told,) = told_by([way], [counted(incident, "mosquitto", 100)])
        assert [(g.where, g.messages) for g in told.gaps if g.where is not Whereabouts.ABSENT] == [(left, 100)]


def test_a_change_tells_when_the_client_was_away_if_it_missed_anything():
    away = room("changes")
    row = (away("client", client="received-board"), away("absent", until=at("10:04:30")))
    assert row in [(c.what, c.after) for c in changes(facts(AWAY, LEDGER, log()))]
    whole = messages("at until count noted\n10:00:05 10:09:59 1060 board")
    assert row not in [(c.what, c.after) for c in changes(facts(whole, LEDGER, log()))]


def test_before_the_first_connection_nobody_had_been_there():
    assert not of_client(facts(BOARD), "board")


@pytest.mark.parametrize(("lost", "since"), [("10:03:50", "10:03:50"), (None, "10:04:00")], ids=["its own log", "none"])
def test_a_killed_broker_writes_no_end_of_connections_and_clients_do(lost, since):
    killed = broker("""
        10:00:00 - starting
        10:00:01 board connected 10.0.0.9:1001 k30 c1
        10:04:00 - starting
        10:04:30 board connected 10.0.0.9:1002 k30 c1
    """)
    own = (
        client(f"10:00:01 configured c1\n10:00:01 made\n{lost} lost - Unspecified\n10:04:30 made", "board")
        if lost
        else ()
    )
    (absence,) = of_client(facts(killed, own), "board")
    assert (absence.since, absence.until, absence.restarted) == (at(since), at("10:04:30"), True)
