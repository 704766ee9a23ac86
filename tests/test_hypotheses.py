"""What it may be where no finding leads: classes that explain what was seen, most likely first, nobody accused."""

import json
from dataclasses import replace

import pytest
from facts_builder import at, episode, facts, log
from kafka_builder import coordinator

from mqlab.catalogue import INCIDENTS
from mqlab.facts import Position
from mqlab.jsonout import dumps
from mqlab.known_errors import words
from mqlab.marks import broken
from mqlab.rows import Shape
from mqlab.screen import exit_code, screen
from mqlab.verdict import diagnose
from mqlab.verdict import say as verdict_says

MOSQUITTO_LOG = log("mosquitto.log", "mosquitto-log", lines=5)
SERVER_LOG = log("server.log", "kafka-broker-log", lines=3)
EXPELLED = [
    episode(
        "member-expired", 10 * n, "server.log", line=n, text=f"Member {n} has failed",
        group="console-1", client_id="console", member_id=f"console-{n}",
    )
    for n in (1, 2)
]  # fmt: skip


def ranked(*rows, shapes=()):
    """The classes of the hypotheses, and the verdict's own."""
    verdict = diagnose(replace(facts(*rows), shapes=tuple(shapes))).verdict
    return verdict.incident, [hypothesis.incident for hypothesis in verdict.hypotheses]


def test_expelled_members_in_a_bare_broker_log_are_most_likely_a_session_timeout():
    verdict, (first, *others) = ranked(SERVER_LOG, EXPELLED)
    assert (verdict, first) == ("undetermined", "session-timeout")
    assert others == ["rolling-restart"]


@pytest.mark.parametrize(
    ("form", "kind", "likely"),
    [
        ("kafka-client-log", "static-member-fenced", "static-member-fenced"),
        ("kafka-client-log", "poll-timeout", "poll-interval-exceeded"),
        ("kafka-client-log", "offset-reset", "retention-loss"),
        ("kafka-broker-log", "unclean-election", "unclean-election-loss"),
        ("rocketmq-client-log", "not-in-group", "duplicate-client-id"),
        ("mosquitto-log", "session-takeover", "client-id-takeover"),
    ],
)
def test_what_only_one_mechanism_prints_names_its_class_first_or_is_a_finding_of_it(form, kind, likely):
    source = log("one.log", form)
    events = [episode(kind, 20 * n, "one.log", line=n, client_id="a", group="g", topic="t", queue="0") for n in (1, 2)]
    diagnosis = diagnose(facts(source, events))
    named = [f.incident for f in diagnosis.findings] + [h.incident for h in diagnosis.verdict.hypotheses]
    assert named[0] == likely


def test_a_hypothesis_says_what_speaks_for_it_and_against_it_and_what_would_settle_it():
    told = json.loads(dumps(diagnose(facts(SERVER_LOG, EXPELLED))))["verdict"]["hypotheses"]
    assert told[0] | {"settle": []} == {
        "incident": "session-timeout",
        "weight": 1.0,
        "explains": [
            "members expelled after session.timeout.ms without a heartbeat, 2 lines, from 10:00:10 UTC on: console"
        ],
        "for": [
            {"source": "server.log", "line": 1, "text": "Member 1 has failed"},
            {"source": "server.log", "line": 2, "text": "Member 2 has failed"},
        ],
        "against": [],
        "unexplained": [],
        "settle": [],
    }
    assert told[0]["settle"][0]["missing"].startswith("the consumers' logs")
    assert told[1]["against"][0].startswith("none of its own signs was seen: brokers that began an orderly stop")


def test_an_unexplained_symptom_lowers_the_weight_and_is_named():
    odd = Shape("server.log", "ERROR", "ERROR the frobnicator failed", 6, 600, at(600), at(700), 40)
    verdict = diagnose(replace(facts(SERVER_LOG, EXPELLED), shapes=(odd,))).verdict
    first = verdict.hypotheses[0]
    assert (first.incident, first.weight) == ("session-timeout", 0.25)
    assert "frobnicator" in first.unexplained[0]


def test_a_class_that_was_noticed_and_explains_events_too_is_one_hypothesis():
    lost = [episode("coordinator-lost", 300 + n, "app.log", line=n, group="g") for n in (1, 2, 3)]
    none = episode("error:kafka-coordinator-unavailable", 310, "app.log", line=4)
    assert ranked(log("app.log", lines=9), lost, none)[1] == ["coordinator-unavailable", "healthy"]


REFUSED = episode(
    "error:kafka-node-unreachable", 310, "app.log", line=4,
    text="[2026-03-02 10:05:10,000] WARN [Producer clientId=a] Connection to node 1 could not be established.",
)  # fmt: skip


def test_lines_of_warn_are_not_denied_where_a_long_log_is_called_quiet():
    verdict = diagnose(facts(log("app.log", lines=400), REFUSED)).verdict
    (quiet,) = [h for h in verdict.hypotheses if h.incident == "healthy"]
    assert quiet.explains[0].endswith("trouble in 400 lines")


def test_a_hypothesis_has_no_severity_and_leaves_the_exit_code():
    assert exit_code(diagnose(facts(SERVER_LOG, EXPELLED))) == 0


def test_the_screen_says_first_what_it_most_likely_is_and_how_to_tell():
    text = screen(diagnose(facts(SERVER_LOG, EXPELLED)), ["server.log"])
    assert text.splitlines()[1].startswith("Most likely session-timeout (members expelled")
    assert "to decide: the consumers' logs" in text


def test_a_bare_start_is_called_what_it_is_and_too_little_for_health():
    start = episode("broker-started", 5, "server.log", text="[KafkaServer id=1] started")
    verdict = diagnose(facts(SERVER_LOG, start)).verdict
    assert (verdict.incident, verdict.hypotheses[0].incident) == ("undetermined", "healthy")
    assert verdict.statement.startswith("A start (brokers started) and no known sign of trouble in 3 lines")


@pytest.mark.parametrize(("level", "text"), [("ERROR", "odd"), ("WARN", "odd"), (None, "java.io.IOException: odd")])
def test_nothing_is_quiet_where_a_line_complains(level, text):
    odd = Shape("server.log", level, text, 1, 100, at(5), at(5), 2)
    assert ranked(SERVER_LOG, shapes=[odd]) == ("undetermined", [])
    assert text in diagnose(replace(facts(SERVER_LOG), shapes=(odd,))).verdict.statement


def test_every_sign_and_every_trouble_has_words():
    kinds = {kind for incident in INCIDENTS.values() for kind in (*incident.signs, *incident.accounts_for)}
    assert sorted(kind for kind in kinds if "." not in kind and kind not in words()) == []


FIRST_START = [
    episode("offset-missing", "10:00:05", "app.log", line=2, group="g", client_id="c", topic="t", queue="0"),
    episode("offset-reset-to", "10:00:06", "app.log", line=3, group="g", client_id="c", topic="t", queue="0", left=900),
]


def test_a_group_that_starts_for_the_first_time_has_lost_no_offset():
    first = episode("join-completed", "10:00:04", "app.log", group="g", client_id="c", left=1.0)
    assert ranked(log("app.log", lines=3), first, FIRST_START) == ("undetermined", ["healthy"])


@pytest.mark.parametrize(
    ("members", "generation", "likely"),
    [("3", 1, ["healthy"]), ("1", 1, ["group-churn", "healthy"]), ("3", 7, ["group-churn", "healthy"])],
)
def test_members_of_one_name_that_a_first_generation_has_all_are_a_start_and_those_it_lacks_came_again(
    members, generation, likely
):
    joins = [episode("member-joined", 600 + n, "server.log", line=n, group="g", member_id=f"g-{n}") for n in (1, 2, 3)]
    stable = episode("rebalance-stabilized", 606, "server.log", group="g", reason=members, left=generation)
    assert ranked(SERVER_LOG, joins, stable)[1][:2] == likely


@pytest.mark.parametrize(("added", "churns"), [("c", False), ("a", True)])
def test_members_that_are_added_are_no_churn_and_one_that_comes_again_may_be(added, churns):
    joins = "10:00:00 new {a1}\n10:00:01 new {b1}\n10:00:03 stable 1 2\n"
    later = f"10:05:00 new {{{added}9}}\n10:05:00 preparing 1 Adding new member {{{added}9}} with group\n"
    incidents = ranked(SERVER_LOG, coordinator(joins + later, source="server.log"))[1]
    assert ("group-churn" in incidents) is churns


@pytest.mark.parametrize(("stopped", "likely"), [(595, "healthy"), (300, "network-partition")])
def test_fetches_that_break_off_as_a_broker_is_stopped_are_no_partition(stopped, likely):
    broken = [episode("replica-fetch-failed", 600 + n, "server.log", line=n, node="2") for n in (1, 2, 3)]
    cut = episode("log-truncated", 20, "server.log", topic="__cluster_metadata", left=0)
    down = episode("broker-stopping", stopped, "other.log", node="1")
    assert ranked(SERVER_LOG, broken, cut, down)[1][0] == likely


def test_a_later_generation_without_an_offset_may_have_lost_it():
    later = episode("join-completed", "10:00:04", "app.log", group="g", client_id="c", left=7.0)
    assert ranked(log("app.log", lines=3), later, FIRST_START)[1][0] == "offset-reset-loss"


def test_members_that_come_again_and_again_in_snapshots_poll_late_or_die():
    seen = [
        Position(at(60 * n), "g", "t", "0", 5, 9, None, "c", f"c-{n}", "10.0.0.1", f"groups.{n}.txt", 2, "g t 0 5 9")
        for n in range(3)
    ]
    source = log("groups.0.txt", "kafka-consumer-groups", lines=2)
    assert ranked(source, seen)[1][:2] == ["poll-interval-exceeded", "session-timeout"]
    assert "poll-interval-exceeded" not in ranked(source, seen[:2])[1]  # a release leaves two ids behind


@pytest.mark.parametrize(
    ("heard", "likely"),
    [
        ((12_003.0, 12_010.0), "quorum-lost"),
        ((16_833.0, 17_507.0), "host-starved"),
        ((600_003.0, 600_010.0), "quorum-lost"),
        ((14_400_614.0, 14_400_615.0), "host-starved"),
    ],
)
def test_a_broker_that_notices_late_that_zookeeper_is_silent_stood_still_itself(heard, likely):
    text = "Client session timed out, have not heard from server in {:.0f}ms for sessionid 0x1"
    lines = [
        episode("error:zookeeper-client-timeout", 60 * n, "server.log", left=ms, text=text.format(ms))
        for n, ms in enumerate(heard)
    ]
    assert ranked(SERVER_LOG, lines)[1][0] == likely


def test_the_class_that_alone_prints_a_line_comes_before_others_that_account_for_it():
    full = episode("session-queue-dropping", 10, "mosquitto.log", client_id="a", system="mqtt")
    verdict, (first, *_) = ranked(MOSQUITTO_LOG, full)
    assert (verdict, first) == ("undetermined", "session-queue-drop")


def complaint(text, lines=2):
    return Shape("app.log", "ERROR", text[:60], lines, 100, at(1), at(60), 1, text)


@pytest.mark.parametrize(
    ("text", "likely"),
    [
        ("gateway: the broker dropped us, duplicate client id gw-7", "client-id-takeover"),
        ("hub: password of user hub rejected by the broker", "authentication-failed"),
        ("hub: the lease has run out", None),
        ("hub: file handles exhausted", "resource-limit"),
        ("hub: no retries or retries exhausted", None),
    ],
)
def test_lines_that_nobody_knows_are_guessed_by_their_words(text, likely):
    _, found = ranked(log("app.log", "application-log", lines=3), shapes=[complaint(text)])
    assert found[:1] == ([likely] if likely else [])


def test_what_a_signature_knows_goes_before_what_words_suggest():
    source = log("app.log", "mqtt-client-log", lines=9)
    lost = [episode("connection-lost", 60 * n, "app.log", line=n) for n in (1, 2, 3)]
    _, found = ranked(source, lost, shapes=[complaint("hub: password of user hub rejected by the broker", 9)])
    assert found[:2] == ["reconnect-flaky-link", "authentication-failed"]


def test_connections_that_end_as_soon_as_they_are_made_are_most_likely_thrown_out_by_another():
    made = [episode("connection-made", 60 * n, "app.log", line=2 * n) for n in (1, 2, 3)]
    lost = [episode("connection-lost", 60 * n + 1, "app.log", line=2 * n + 1) for n in (1, 2, 3)]
    late = [episode("connection-lost", 60 * n + 40, "app.log", line=2 * n + 1) for n in (1, 2, 3)]
    source = log("app.log", "mqtt-client-log", lines=9)
    assert [ranked(source, made, ends)[1][0] for ends in (lost, late)] == ["client-id-takeover", "reconnect-flaky-link"]


UNSENT = (
    "[BrokerLifecycleManager id={}] Unable to send a heartbeat because the RPC got timed out before it could be sent."
)


@pytest.mark.parametrize(
    ("moments", "failed", "first"),
    [((600,), 0, "host-starved"), ((600, 605, 610), 0, "quorum-lost"), ((600,), 3, "quorum-lost")],
)
def test_brokers_that_wake_together_stood_still_and_those_that_find_no_controller_lost_their_quorum(
    moments, failed, first
):
    logs = [log(f"kafka-{n}/server.log", "kafka-broker-log", lines=400) for n in (1, 2, 3)]
    unsent = [
        episode("error:kraft-heartbeat-lost", at_, f"kafka-{n}/server.log", line=n, text=UNSENT.format(n))
        for n in (1, 2, 3)
        for at_ in moments
    ]
    votes = [
        episode(
            "error:kraft-election", 601 + n, "kafka-1/server.log", line=9 + n, text="Election has timed out, backing"
        )
        for n in range(failed)
    ]
    diagnosis = diagnose(facts(logs, unsent, votes))
    assert [*(f.incident for f in diagnosis.findings), *(h.incident for h in diagnosis.verdict.hypotheses)][0] == first


@pytest.mark.parametrize(
    ("kind", "versions"),
    [
        ("error:kraft-election", "[Kafka controller, KRaft, versions ≥ 2.8]"),
        ("error:zookeeper-client-timeout", ""),
        ("poll-timeout", ""),
    ],
)
def test_a_hypothesis_names_the_versions_that_print_its_lines_where_not_all_do(kind, versions):
    line = episode(kind, 600, "server.log", text="one line")
    told = diagnose(facts(SERVER_LOG, line)).verdict.hypotheses[0].explains[0]
    assert versions in told
    assert ("versions" in told) == bool(versions)


@pytest.mark.parametrize(("topic", "likely"), [("ORDERS", True), ("%RETRY%caches", False)])
def test_a_retry_topic_that_a_broadcasting_group_does_not_have_is_no_missing_route(topic, likely):
    asked = f"CODE: 17  DESC: No topic route info in name server for the topic: {topic}"
    source = log("progress.txt", "rocketmq-admin", lines=3)
    error = episode(
        "tool-error", 60, "progress.txt", text="command failed", reason=asked, system="rocketmq", group="caches"
    )
    assert ("route-missing" in ranked(source, error)[1]) == likely


@pytest.mark.parametrize(("lines", "command"), [(4, "kubectl logs"), (400, "tar -czf broker-logs")])
def test_of_a_log_that_is_an_excerpt_the_whole_is_asked_for_and_of_one_that_is_whole_others(lines, command):
    late = episode("poll-timeout", 310, "app.log", line=4, client_id="a")
    first = diagnose(facts(log("app.log", lines=lines), late)).verdict.hypotheses[0]
    assert (first.incident, first.settle[0].missing) == ("poll-interval-exceeded", "the consumers' logs")
    assert first.settle[0].fetch.startswith(command)


@pytest.mark.parametrize(
    ("text", "likely"),
    [
        ("ERROR Controller 0 failed to elect a leader: No other replicas in ISR 0,2 for it", "under-min-isr"),
        ("ERROR the election of a leader failed: votes are missing", "quorum-lost"),
    ],
)
def test_a_partition_without_another_replica_in_sync_is_no_lost_quorum(text, likely):
    shape = Shape("server.log", "ERROR", text, 6, 600, at(600), at(700), 40)
    assert ranked(SERVER_LOG, shapes=[shape])[1][0] == likely


def test_where_offsets_were_set_by_hand_nothing_is_called_quiet():
    tool = episode(
        "offsets-set", None, "reset.log", line=3, group="billing", topic="orders", text="billing orders 0 749"
    )
    told = diagnose(facts(log(lines=900), tool)).verdict
    assert "manual-offset-change" in [one.incident for one in told.hypotheses]
    assert "healthy" not in [one.incident for one in told.hypotheses]


def test_a_class_whose_rule_read_what_it_needs_asks_for_nothing_that_is_there():
    tool = episode(
        "offsets-set", None, "reset.log", line=3, group="billing", topic="orders", text="billing orders 0 749"
    )
    told = diagnose(facts(log(lines=900), log("logs/server.log", "kafka-broker-log", lines=900), tool))
    (by_hand,) = [one for one in told.verdict.hypotheses if one.incident == "manual-offset-change"]
    (open_one,) = [one for one in told.not_checked if one.incident == "manual-offset-change"]
    assert (by_hand.settle, open_one.missing) == ((), (verdict_says("doubted"),))


def test_calm_beside_a_sign_of_trouble_does_not_say_that_there_is_none():
    refused = "Connection refused: Not authorized"
    noticed = episode("error:mqtt-connack-refused", 10, "mosquitto.log", line=2, text=refused, system="mqtt")
    calm = [
        h.explains[0] for h in diagnose(facts(MOSQUITTO_LOG, noticed)).verdict.hypotheses if h.incident == "healthy"
    ]
    assert calm == ["no other known sign of trouble in 5 lines"]


@pytest.mark.parametrize(("level", "says"), [("INFO", ", none of them WARN or worse"), (None, "")])
def test_levels_are_spoken_of_where_lines_write_them(level, says):
    shape = Shape("server.log", level, "rolled segment #", 3, 90, at(0), at(1), 1)
    verdict = diagnose(replace(facts(SERVER_LOG), shapes=(shape,))).verdict
    assert verdict.hypotheses[0].explains[0] == f"no known sign of trouble in 3 lines{says}"


def test_a_noticed_error_asks_for_logs_of_the_systems_that_are_there():
    refused = episode("error:mqtt-connack-refused", 10, "mosquitto.log", line=2, text="not authorized", system="mqtt")
    first = diagnose(facts(MOSQUITTO_LOG, refused)).verdict.hypotheses[0]
    assert first.incident == "authentication-failed"
    assert not any("KAFKA" in one.fetch for one in first.settle)


@pytest.mark.parametrize(("lived", "said"), [(304, "connections-broken"), (3, "connection-lost: at once")])
def test_a_connection_made_in_the_second_of_an_end_did_not_end_then(lived, said):
    """Whole seconds: the line below the end is the next connection."""
    rows, line = [], 1
    for start in (0, lived, 2 * lived, 3 * lived):
        rows.append(episode("client-connected", start, "mosquitto.log", line=line, client_id="pump", system="mqtt"))
        rows.append(
            episode(
                "client-disconnected", start + lived, "mosquitto.log", line=line + 1, client_id="pump", system="mqtt"
            )
        )
        line += 2
    assert [mark.kind for mark in broken(facts(MOSQUITTO_LOG, rows), ())] == [said]


@pytest.mark.parametrize(
    ("lasted", "changed", "first"),
    [(20, False, "healthy"), (300, False, "subscription-mismatch"), (20, True, "subscription-mismatch")],
)
def test_pulls_before_a_new_consumer_s_heartbeat_are_no_mismatch_unless_they_go_on_or_others_overwrite_it(
    lasted, changed, first
):
    told = {"group": "seats", "system": "rocketmq"}
    refused = [
        episode("subscription-missing", at, "broker.log", line=n, reason="not latest", **told)
        for n, at in enumerate((0, lasted / 2, lasted), start=1)
    ]
    over = [episode("subscription-changed", n, "broker.log", line=9, reason="update", **told) for n in (5, 9)]
    assert ranked(log("broker.log", "rocketmq-broker-log", lines=9), refused, over * changed)[1][0] == first


def test_of_two_that_explain_as_much_and_that_nothing_denies_none_is_most_likely():
    """A connection that ends within seconds is thrown out by another one, or stands on a radio that fails."""
    rows = [
        episode(kind, 5 * n + late, "esp.log", line=2 * n + (late > 0) + 1, client_id="esp", system="mqtt")
        for n in range(4)
        for kind, late in (("connection-made", 0), ("connection-lost", 2))
    ]
    statement = diagnose(facts(log("esp.log", "mqtt-client-log", lines=8), rows)).verdict.statement
    assert statement.startswith("It may be client-id-takeover (")
    assert "or reconnect-flaky-link" in statement


@pytest.mark.parametrize(("in_sync", "offered"), [("1", False), ("1,2", True)])
def test_where_one_broker_holds_the_only_copy_of_everything_no_other_one_took_over(in_sync, offered):
    resent = [
        episode("produce-retry", 10 * n, "clients/app.log", line=n, client_id="app", count=9, reason="X", text="retry")
        for n in range(1, 5)
    ]
    leads = episode(
        "isr-updated", 5, "logs/server.log", topic="t", queue="0", reason=in_sync, text=f"ISR updated to {in_sync}"
    )
    cut = episode("log-truncated", 40, "logs/server.log", topic="t", queue="0", left=5, text="Truncating to offset 5")
    _, incidents = ranked(SERVER_LOG, resent, leads, cut)
    assert ("acks1-failover-loss" in incidents) is offered
    assert incidents or not offered
