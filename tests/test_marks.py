"""What is a sign and what is none: lines that members print as they come and go, single stops, single lines."""

from dataclasses import replace

import pytest
from facts_builder import at, episode, facts, log

from mqlab.facts import Position
from mqlab.marks import of_events, worded
from mqlab.mqtt.redeliveries import replays_not_told
from mqlab.rows import Shape
from mqlab.verdict import diagnose

BROKER, CLIENT = "logs/broker-a/broker.log", "logs/clients/a/rocketmq_client.log"
LOGS = [
    log(BROKER, "rocketmq-broker-log", first="10:00:00", last="10:20:00", lines=900),
    log(CLIENT, "rocketmq-client-log", first="10:00:00", last="10:20:00", lines=900),
]
OURS = {"group": "billing", "system": "rocketmq"}


def kinds(*rows):
    """Kinds of the marks."""
    return [mark.kind for mark in of_events(facts(*rows), ())]


def lines(kind, *moments, source=BROKER, **more):
    """One line of this kind at each moment."""
    own = OURS | more
    return [episode(kind, when, source, line=10 + n, **own) for n, when in enumerate(moments)]


GOOD_BYE = lines("consumer-disconnected", "10:05:00", client_id="a", reason="unregistered")
CUT_OFF = lines("consumer-disconnected", "10:05:00", client_id="a", reason="closed")


@pytest.mark.parametrize(
    ("rows", "signs"),
    [
        ((GOOD_BYE, lines("not-in-group", "10:05:01", source=CLIENT, client_id="a")), []),
        ((lines("consumer-stopped", "10:05:00", source=CLIENT),
          lines("not-in-group", "10:05:01", source=CLIENT, client_id="a")), []),
        ((GOOD_BYE, lines("not-in-group", "10:05:01", source=CLIENT, client_id="b")), ["not-in-group"]),
        ((GOOD_BYE, lines("not-in-group", "10:03:00", "10:05:01", source=CLIENT, client_id="a")), ["not-in-group"]),
        ((GOOD_BYE, lines("not-in-group", "10:08:00", source=CLIENT, client_id="a")), ["not-in-group"]),
        ((CUT_OFF, lines("not-in-group", "10:05:01", source=CLIENT, client_id="a")), ["not-in-group"]),
        ((GOOD_BYE, lines("group-unknown", "10:05:01", "10:05:02", "10:05:09")), []),
        ((CUT_OFF, lines("group-unknown", "10:05:01", "10:05:02", "10:05:09")), ["group-unknown"]),
        ((GOOD_BYE, lines("group-unknown", "10:05:01", "10:05:02", "10:05:09", group="seats")), ["group-unknown"]),
    ],
    ids=["it left", "its own log says so", "another left", "fought before", "long after", "it was cut off",
         "a group that left", "a group that was cut off", "another group"],
)  # fmt: skip
def test_what_a_client_prints_right_after_its_own_good_bye_is_no_sign(rows, signs):
    assert kinds(LOGS, *rows) == signs


MOVES = lines("queues-allocated", "10:05:00", source=CLIENT, client_id="a")


@pytest.mark.parametrize(
    ("moments", "signs"),
    [
        (["10:04:50", "10:05:00", "10:05:15"], []),
        (["10:05:15", "10:06:15", "10:07:15"], ["offset-went-back"]),
    ],
    ids=["a hand-over", "it goes on"],
)
def test_offsets_that_go_back_as_queues_change_hands_are_no_shared_id(moments, signs):
    assert kinds(LOGS, MOVES, lines("offset-went-back", *moments)) == signs


RENEWED = lines("subscription-changed", "10:05:00", "10:09:00", reason="subString=A, tagsSet=[]")
COMES = lines("consumer-connected", "10:02:00", "10:05:00", "10:09:00", client_id="a")
REFUSED = lines("subscription-missing", "10:02:01", "10:05:01", "10:09:30", reason="not latest")


@pytest.mark.parametrize(
    ("rows", "signs"),
    [
        ((COMES, RENEWED, REFUSED), []),
        ((COMES, RENEWED, REFUSED, lines("subscription-missing", "10:02:01", source=CLIENT, group=None,
                                         reason="not latest")), []),
        ((COMES[:1], RENEWED, REFUSED), ["subscription-missing"]),
        ((COMES, lines("subscription-changed", "10:05:00", "10:05:30", reason="update"), REFUSED),
         ["subscription-changed: update", "subscription-missing"]),
    ],
    ids=["members come", "one of them says it too", "nobody comes", "members overwrite each other"],
)  # fmt: skip
def test_a_pull_before_the_heartbeat_of_a_member_that_comes_is_no_mismatch_whenever_it_comes(rows, signs):
    assert sorted(kinds(LOGS, *rows)) == signs


def listed(line, member):
    """A row of a listing that has no clock."""
    place = ("terminal.txt", line, "billing orders 0")
    return Position(None, "billing", "orders", "0", 9, 9, None, member, None, None, *place)


@pytest.mark.parametrize(
    ("later", "signs"), [("a-1", []), (None, ["tool-error: has no active members"])], ids=["back", "never seen again"]
)
def test_a_group_that_one_listing_without_a_clock_shows_empty_is_not_away_where_a_later_one_lists_members(later, signs):
    told = {"group": "billing", "reason": "Consumer group 'billing' has no active members."}
    empty = episode("tool-error", None, "terminal.txt", line=20, **told)
    assert kinds(listed(5, "a-0"), empty, listed(22, None), listed(40, later)) == signs


MOSQUITTO = log("mosquitto.log", "mosquitto-log", first="10:00:00", last="10:20:00", lines=900)


def stops(text, source="mosquitto.log"):
    """``-10:05:00 2.0.11``: a stop; ``+…``: a start."""
    names = {"-": "broker-stopping", "+": "broker-starting"}
    told = [(names[one[0]], *one[1:].split()) for one in text.split(", ")]
    return [
        episode(kind, when, source, line=10 + n, reason=version, system="mqtt")
        for n, (kind, when, version) in enumerate(told)
    ]


@pytest.mark.parametrize(
    ("rows", "signs"),
    [
        (stops("-10:05:00 2.0.11, +10:05:02 2.0.11, -10:19:59 2.0.11"), []),
        (stops("-10:05:00 2.0.11, +10:05:02 2.0.15"), ["broker-stopping"]),
        ([*stops("-10:05:00 2.0.11, +10:05:02 2.0.11"), *stops("-10:08:00 2.0.11, +10:08:02 2.0.11", "b.log")],
         ["broker-stopping"]),
        (stops("-10:05:00 2.0.11"), ["broker-stopping"]),
    ],
    ids=["the same version, and the end", "another version", "two brokers", "it stays away"],
)  # fmt: skip
def test_one_brokers_restart_in_the_same_version_and_a_stop_at_the_very_end_are_no_rollout(rows, signs):
    assert kinds(MOSQUITTO, rows) == signs


def complaining(text, lines):
    """What words a line that nobody knows is a sign by, in a log of 900 lines."""
    shape = Shape("app.log", "ERROR", text[:60], lines, 100, at(100), at(160), 1, text)
    material = replace(facts(log("app.log", "application-log", lines=900)), shapes=(shape,))
    return [mark.kind for mark in worded(material)]


@pytest.mark.parametrize(
    ("text", "seen", "signs"),
    [
        ("the scheduler was suspended", 3, ["worded-host-starved"]),
        ("the scheduler was suspended", 2, []),
        ("it failed: RemotingCommand [code=11, extFields={topic=acl_log, subscription=credential}]", 9, []),
        ("send request failed to 10.0.0.1:10911. Request: RemotingCommand [code=11, topic=redis]", 9,
         ["worded-broker-unreachable"]),
        ("template service: Read timed out", 9, ["worded-dependency-down"]),
        ("pool of order_sync_mongo: failed", 9, []),
        ("it failed: suspendTimeoutMillis=15000, flag(B)=0", 9, []),
        ("RejectedExecutionException: event executor terminated", 9, []),
        ("rejected task: pool of 8 is busy", 9, ["worded-broker-overloaded"]),
        ("consumer lag of 9000 messages", 9, ["worded-slow-consumer"]),
    ],
)  # fmt: skip
def test_words_of_a_whole_log_are_a_sign_when_they_come_again_and_are_words_of_their_own(text, seen, signs):
    assert complaining(text, seen) == signs


def test_a_client_whose_deliveries_a_trace_notes_is_none_of_which_nothing_is_told():
    connects = [
        episode("client-connected", f"10:0{n}:00", "mosquitto.log", line=n, client_id=who, system="mqtt")
        for n in range(9)
        for who in ("check", "panel")
    ]
    sent = episode("publish-sent", "10:01:00", "mosquitto.log", client_id="check", topic="$SYS/uptime", system="mqtt")
    assert replays_not_told(facts(MOSQUITTO, connects, sent)) == ("panel",)


@pytest.mark.parametrize(("seen", "clear"), [(9, False), (2, True)])
def test_no_class_is_clear_of_which_lines_of_a_whole_log_complain(seen, clear):
    text = "template service: Read timed out"
    shape = Shape("app.log", "WARN", text, seen, 100, at(100), at(160), 1, text)
    expelled = [episode("member-expired", 10, "server.log", group="g", client_id="c", member_id="c-1")]
    logs = [log("app.log", "application-log", lines=900), log("server.log", "kafka-broker-log", lines=900)]
    told = diagnose(replace(facts(logs, expelled), shapes=(shape,)))
    assert ("dependency-down" in told.clear, "dependency-down" in {n.incident for n in told.not_checked}) == (
        clear,
        not clear,
    )
