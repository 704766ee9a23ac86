# ruff: noqa: E501 - lines of brokers and clients stay in one piece
"""Errors that are said outright: who, how often, how bad; and what a start, a restart or one refused try is not."""

import re
from dataclasses import replace

import pytest
from facts_builder import at, episode, facts, log, settings
from log_lines import events, read

from mqlab.detectors.known_errors import EXPLAINS, RULES
from mqlab.findings import Certainty, Severity, finding
from mqlab.known_errors import WORKS_AGAIN, known_errors
from mqlab.precedence import ordered_by_weight
from mqlab.screen import screen
from mqlab.shared.wording import moment
from mqlab.symptoms.unexplained import unexplained
from mqlab.verdict import diagnose

RULE = {rule.INCIDENT: rule for rule in RULES}
LEAD = {slug: next(e for e in known_errors().values() if e.incident == slug) for slug in EXPLAINS}
each_class = pytest.mark.parametrize("slug", EXPLAINS)
FATAL = {"startup-failure", "disk-full", "quorum-lost", "log-corrupt"}
TOLD = {"mqtt-login-refused": "not-authorized", "mqtt-protocol-error": "frame-too-large"}
"""Reasons that signatures give to events of which only some are the error."""
LOG = log("clients/app.log", "application-log", "10:00", "11:00")
LIKELY, PROVEN = Certainty.LIKELY, Certainty.PROVEN
NOTICE, WARNING, CRITICAL = Severity.NOTICE, Severity.WARNING, Severity.CRITICAL


def said(error, when, count=1, *, until=None, text="", **more):
    """*count* lines of a known error of the table."""
    more = {"reason": TOLD.get(error.name)} | more
    return episode(error.kind, when, count=count, until=until, text=text or error.sample, system=error.system, **more)


def again(error, start, seconds, **more):
    """One line every ten seconds."""
    return [said(error, start + n, **more) for n in range(0, seconds, 10)]


def found(slug, *rows):
    """The only finding of a class; None where it is clear."""
    result = RULE[slug].detect(facts(*rows))
    assert (result.missing, result.rejected) == ((), None)
    return result.findings[0] if result.findings else None


def lasting(slug):
    """An error of the class that does not end a process by itself, else its first."""
    own = [e for e in known_errors().values() if e.incident == slug]
    return next((e for e in own if not (e.fatal or e.where or e.vague or e.again)), own[0])


each_that_may_pass = pytest.mark.parametrize("slug", [slug for slug in EXPLAINS if not lasting(slug).fatal])


@each_class
def test_what_is_said_again_and_again_is_a_likely_finding_with_meaning_first_cause_and_repair(slug):
    error = lasting(slug)
    one = found(slug, LOG, again(error, 1800, 300, client_id="till-3"))
    assert (one.incident, one.certainty, one.subject) == (slug, Certainty.LIKELY, "till-3")
    assert one.severity is (CRITICAL if error.fatal and slug in FATAL else WARNING)
    assert (one.measures, one.remedy, one.explains) == ({"lines": 30.0, "actors": 1.0}, error.fix, EXPLAINS[slug])
    assert all(words in one.statement for words in (error.means, error.causes[0], "10:30:00", "till-3"))
    assert one.facts["error"] == error.name
    assert one.started_at.timestamp() == at(1800)
    assert [place.line for place in one.evidence] == [1]


@pytest.mark.parametrize("error", [e for e in known_errors().values() if e.vague], ids=lambda e: e.name)
def test_words_that_have_other_causes_too_are_a_notice_however_often_they_come(error):
    assert found(error.incident, LOG, again(error, 1800, 300, client_id="till-3")).severity is NOTICE


@each_class
def test_a_log_without_it_is_clear_and_no_log_is_not_checked(slug):
    assert found(slug, LOG) is None
    assert RULE[slug].detect(facts()).missing == ("a log of the broker or client",)


@each_class
def test_one_refused_try_is_a_notice_and_one_line_that_ends_a_process_is_more(slug):
    for error in (e for e in known_errors().values() if e.incident == slug):
        one = found(slug, LOG, said(error, 1800))
        assert one.severity is ((CRITICAL if slug in FATAL else WARNING) if error.fatal else NOTICE)
        assert (one.explains == ()) is (one.severity is NOTICE)


@each_that_may_pass
@pytest.mark.parametrize("start", ["broker-started", "broker-stopping", "settings-printed", "rocketmq-broker-started"])
def test_what_is_said_around_a_start_or_stop_is_none(slug, start):
    error = lasting(slug)
    restart = episode(start, 1800, "brokers/server.log")
    assert found(slug, LOG, restart, again(error, 1780, 60)) is None


@each_that_may_pass
def test_what_is_said_at_the_beginning_of_a_log_that_goes_on_is_none(slug):
    error = lasting(slug)
    assert found(slug, LOG, again(error, 5, 40)) is None
    short = log("clients/app.log", "application-log", "10:00", "10:00:50")
    assert found(slug, short, again(error, 5, 40)).severity > NOTICE


@pytest.mark.parametrize(("end", "is_over"), [("10:00:12", True), ("10:00:04", False)])
def test_what_a_client_would_say_again_at_once_is_over_after_seconds_of_silence(end, is_over):
    once = said(known_errors()["kafka-topic-unknown"], 2)
    assert (found("route-missing", log("clients/app.log", "application-log", "10:00", end), once) is None) is is_over


def test_connections_between_the_lines_make_several_outages_of_one_span():
    error = LEAD["broker-unreachable"]
    between = [episode("connection-made", 1800 + n, "clients/app.log") for n in (95, 195)]
    after = episode("connection-made", 2200, "clients/app.log")
    told = again(error, 1800, 300, source="clients/app.log")
    one = found("broker-unreachable", LOG, told, between, after)
    assert "Connected 2 times in between, and again at 10:36:40 UTC." in one.statement
    assert "Connected again at 10:36:40 UTC." in found("broker-unreachable", LOG, told, after).statement


def test_a_disturbance_that_passes_is_a_notice_and_one_that_comes_again_after_good_times_too():
    error = LEAD["broker-unreachable"]
    assert found("broker-unreachable", LOG, again(error, 1800, 100)).severity is NOTICE
    assert found("broker-unreachable", LOG, again(error, 1800, 300)).severity is WARNING
    between = [episode("connection-made", 1800 + n) for n in (95, 195, 295)]
    assert found("broker-unreachable", LOG, again(error, 1800, 300), between).severity is NOTICE


@pytest.mark.parametrize(("after", "severity"), [(0, CRITICAL), (20, CRITICAL), (600, NOTICE), (-20, NOTICE)])
def test_an_index_that_cannot_be_read_is_the_cause_of_the_end_that_follows_at_once(after, severity):
    corrupt, ended = known_errors()["kafka-corrupt-index"], LEAD["startup-failure"]
    rows = [LOG, said(corrupt, 2400), said(ended, 2400 + after)]
    assert found("log-corrupt", *rows).severity is severity
    (lead, *_) = diagnose(facts(*rows)).findings
    assert lead.incident == ("log-corrupt" if severity is CRITICAL else "startup-failure")


def test_a_start_that_fails_and_then_succeeds_is_a_notice():
    error = known_errors()["os-address-in-use"]
    up = episode("broker-started", 1900, "clients/broker.log")
    assert found("startup-failure", LOG, said(error, 1800), up).severity is NOTICE
    elsewhere = episode("broker-started", 1900, "brokers/server.log")
    assert found("startup-failure", LOG, said(error, 1800), elsewhere).severity is CRITICAL
    assert found("startup-failure", LOG, said(error, 1800)).severity is CRITICAL


def test_an_error_without_a_moment_counts_and_its_end_is_not_known():
    one = found("disk-full", LOG, said(known_errors()["os-no-space"], None))
    assert (one.started_at, one.ended_at, one.ongoing, one.severity) == (None, None, False, CRITICAL)
    often = [said(LEAD["broker-unreachable"], None) for _ in range(3)]
    assert found("broker-unreachable", LOG, often).severity is WARNING


@pytest.mark.parametrize(("moments", "goes_on"), [((1800,), False), ((1800, 1801), True)])
def test_one_moment_at_the_end_of_a_log_does_not_tell_that_it_goes_on(moments, goes_on):
    end = log("clients/app.log", "application-log", "10:00", "10:30:02")
    one = found("disk-full", end, [said(known_errors()["os-no-space"], when) for when in moments])
    assert one.ongoing is goes_on


def test_memory_that_a_split_loop_leaked_is_no_limit_of_the_host():
    error = known_errors()["jvm-out-of-memory"]
    split = episode("batch-split", 1700, "clients/bridge.log")
    assert found("resource-limit", LOG, again(error, 1800, 300), split) is None
    assert found("resource-limit", LOG, again(error, 1800, 300)).severity is WARNING


def test_a_client_that_was_denied_and_cut_off_was_no_failed_login():
    error = known_errors()["mqtt-login-refused"]
    ends = again(error, 1800, 300, client_id="till-9", reason="not-authorized")
    denied = episode("publish-denied", 1795, client_id="till-9")
    assert found("authentication-failed", LOG, ends, denied) is None
    assert found("authentication-failed", LOG, ends, episode("publish-denied", 1795, client_id="other")) is not None


def test_the_error_that_leads_is_the_one_that_ends_a_process_else_the_most_frequent():
    table = known_errors()
    one = found(
        "startup-failure",
        LOG,
        again(table["kafka-registration-refused"], 1800, 300),
        said(table["kafka-bad-setting"], 2200),
    )
    assert one.facts["error"] == "kafka-bad-setting"
    assert one.statement.endswith("Beside it: kafka-registration-refused.")


def test_lines_of_another_error_of_the_class_are_not_counted_as_the_leading_ones():
    busy, slow = (known_errors()[name] for name in ("rocketmq-busy", "rocketmq-slow-put"))
    one = found("broker-overloaded", LOG, said(slow, 1800, 4, until=1860), said(busy, 1870, 3, until=1900))
    assert "4 lines from 10:30:00 to 10:31:00 UTC" in one.statement
    assert one.measures["lines"] == 4
    assert one.statement.endswith("Beside it: rocketmq-busy.")


def test_several_who_say_the_same_are_one_finding_that_names_them():
    error = LEAD["broker-unreachable"]
    rows = [again(error, 1800, 300, client_id=f"till-{n}", peer="kafka-1:9092") for n in range(5)]
    one = found("broker-unreachable", LOG, rows)
    assert one.subject == "till-0, till-1, till-2 and 2 more"
    assert one.measures == {"lines": 150.0, "actors": 5.0}
    assert "(kafka-1:9092)" in one.statement


LEADS = (
    ("dependency-down", "group-churn", LIKELY, True),
    ("dependency-down", "group-churn", PROVEN, False),
    ("dependency-down", "offset-reset-loss", LIKELY, False),
    ("throttled", "reconnect-flaky-link", LIKELY, True),
    ("under-min-isr", "retry-amplification", LIKELY, True),
    ("under-min-isr", "retry-amplification", PROVEN, True),
    ("slow-consumer", "backlog-drain", LIKELY, False),
)


@pytest.mark.parametrize(("cause", "other", "certainty", "leads"), LEADS)
def test_an_error_that_is_said_leads_over_what_it_explains_where_that_is_no_surer(cause, other, certainty, leads):
    effects = EXPLAINS.get(cause, ("retry-amplification", "backlog-drain"))
    times = (at(1800), at(2400))
    bare = {"statement": "", "measures": {}, "evidence": (), "verify": ""}
    said_outright = finding(cause, "app", LIKELY, times, severity=WARNING, explains=effects, **bare)
    found_first = finding(other, "app", certainty, times, severity=CRITICAL, **bare)
    first = ordered_by_weight([found_first, said_outright])[0]
    assert (first is said_outright) is leads
    earlier = replace(found_first, ended_at=moment(at(1700)))
    assert ordered_by_weight([said_outright, earlier])[0] is earlier


@pytest.mark.parametrize(("minutes", "leads"), [(0, True), (1, True), (10, False)])
def test_retries_that_went_on_long_before_writes_were_refused_are_not_explained_by_that(minutes, leads):
    refused, again = (
        finding(
            slug, "app", certainty, span, severity=severity, statement="", measures={}, evidence=(), verify="",
            explains=effects,
        )
        for slug, certainty, severity, span, effects in (
            ("under-min-isr", LIKELY, WARNING, (at(1800), at(2400)), ("retry-amplification",)),
            ("retry-amplification", PROVEN, CRITICAL, (at(1800 - 60 * minutes), at(2400)), ()),
        )
    )  # fmt: skip
    assert (ordered_by_weight([again, refused])[0] is refused) is leads


@pytest.mark.parametrize(
    ("slug", "starts", "kinds", "severity"),
    [
        ("dependency-down", 3, ["app-started"], WARNING),
        ("dependency-down", 1, ["app-started"], NOTICE),
        ("dependency-down", 3, ["broker-started"], None),
        ("quorum-lost", 3, ["settings-printed"], WARNING),
        ("quorum-lost", 3, ["settings-printed", "settings-printed", "broker-started"], None),
    ],
)
def test_what_a_process_says_after_each_start_is_no_wait_for_others_unless_it_came_up(slug, starts, kinds, severity):
    error = lasting(slug)
    begun = [episode(kind, 1800 + 120 * n + 15 * i) for n in range(starts) for i, kind in enumerate(kinds)]
    one = found(slug, LOG, begun, [said(error, 1810 + 120 * n) for n in range(starts)])
    assert (one.severity if one else None) is severity


def test_no_line_of_a_known_error_is_left_unexplained_or_calls_a_restart_trouble():
    error = LEAD["broker-unreachable"]
    near = facts(LOG, episode("broker-started", 1800, "brokers/server.log"), again(error, 1780, 60))
    assert unexplained(near, ()) == ()


def test_health_is_taken_away_by_errors_in_the_middle_of_a_log():
    refused = known_errors()["connection-refused"]
    assert diagnose(facts(LOG, said(refused, 1800, 600, until=2400))).verdict.incident == "dependency-down"


LOGS = {
    "authentication-failed": '10:00:0{n} [warning] msg: authentication_failure, clientid: cam-3, peername: 10.9.1.44:5100{n}',
    "authorization-denied": "10:00:0{n},000 ERROR [main] App - org.apache.kafka.common.errors.TopicAuthorizationException: Not authorized to access topics: [tills]",
    "broker-unreachable": "10:00:0{n},000 WARN [net] NetworkClient - [Consumer clientId=c-1, groupId=tills] Connection to node 2 (k2/10.0.0.2:9092) could not be established. Broker may not be available.",
    "network-partition": "10:00:0{n},000 ERROR [main] App - send: java.net.NoRouteToHostException: No route to host",
    "quorum-lost": "10:00:0{n},000 ERROR Controller - kafka.zookeeper.ZooKeeperClientTimeoutException: Timed out waiting for connection while in state: CONNECTING",
    "broker-overloaded": "10:00:0{n} WARN RocketmqClient - sendKernelImpl exception, CODE: 2  DESC: [PCBUSY_CLEAN_QUEUE]broker busy, start flow control for a while, period in queue: 40{n}ms, size of queue: 12",
    "throttled": "10:00:0{n}.000 [warning] clientid: cam-3, msg: cannot_publish_to_topic_due_to_quota_exceeded, topic: plant/a",
    "disk-full": "10:00:0{n},000 ERROR [log] App - java.io.IOException: No space left on device",
    "log-corrupt": "10:00:0{n},000 ERROR [main] App - org.apache.kafka.common.errors.CorruptRecordException: Record size {n} is less than the minimum record overhead (14)",
    "resource-limit": "10:00:0{n},000 ERROR Acceptor - java.io.IOException: Too many open files",
    "host-starved": "10:00:0{n},000 WARN [SyncThread] FileTxnLog - fsync-ing the write ahead log in SyncThread:2 took 310{n}ms which will adversely effect operation latency",
    "certificate-untrusted": "10:00:0{n} ERROR connect: x509: certificate signed by unknown authority",
    "protocol-mismatch": "10:00:0{n},000 WARN [SocketServer brokerId=1] Unexpected error from /10.0.0.9; closing connection (org.apache.kafka.common.network.Selector)",
    "dependency-down": "10:00:0{n},000 ERROR [sink] Writer - org.postgresql.util.PSQLException: Connection to db:5432 refused. Check that the hostname and port are correct",
    "startup-failure": "10:00:0{n},000 ERROR [main] App - java.net.BindException: Address already in use (Bind failed)",
    "coordinator-unavailable": "10:00:0{n},000 ERROR rdkafka: KafkaError{{code=COORDINATOR_NOT_AVAILABLE,val=15,str=\"Broker: Coordinator not available\"}}",
    "route-missing": "10:00:0{n},000 WARN RocketmqClient - org.apache.rocketmq.client.exception.MQClientException: No route info of this topic, TILLS",
    "manual-offset-change": "10:00:0{n},000 INFO [GroupCoordinator 1]: The following groups were deleted: tills, bills. A total of {n} offsets were removed.",
    "clock-jump": "10:00:0{n},000 WARN chronyd[7]: Backward time jump detected!",
}  # fmt: skip


@each_class
def test_lines_of_a_log_become_the_finding_of_their_class(slug):
    lines = [f"2026-03-02 {LOGS[slug].format(n=n)}" for n in range(4)]
    _, events = read(lines, "application-log")
    assert len(events) == 4
    columns = ("client_id", "group", "topic", "peer", "reason", "node")
    rows = [
        episode(e["kind"], 1800 + 10 * n, text=lines[n], system=e["system"], **{c: e[c] for c in columns})
        for n, e in enumerate(events)
    ]
    one = found(slug, log("clients/app.log", "application-log", "10:00", "10:31"), rows)
    assert one.severity > NOTICE
    assert one.measures["lines"] == 4.0
    assert re.search(r"4 lines from 10:30:00 to 10:30:30 UTC", one.statement)


WELL = "2026-03-02 09:00:38+00:00 [info] <0.273.0> Successfully synced tables from a peer"
TABLES = known_errors()["erlang-tables"]
WAITS = "2026-03-02 09:00:37+00:00 [info] <0.273.0> Waiting for Mnesia tables for 30000 ms, 0 retries left"


def recovered(when, source="clients/app.log"):
    """The line with which a node says that what it waited for came."""
    return episode("recovered", when, source, text=WELL)


@pytest.mark.parametrize(("text", "severity"), [(WAITS, NOTICE), (TABLES.sample, CRITICAL)], ids=["info", "warning"])
def test_what_is_told_at_info_ends_nothing(text, severity):
    assert found("quorum-lost", LOG, said(TABLES, 1800, text=text)).severity is severity


def test_one_line_after_which_its_log_says_that_it_went_well_is_nothing():
    for text in (WAITS, TABLES.sample):
        assert found("quorum-lost", LOG, said(TABLES, 1800, text=text), recovered(1801)) is None
    elsewhere = found("quorum-lost", LOG, said(TABLES, 1800), recovered(1801, "clients/other.log"))
    before = found("quorum-lost", LOG, said(TABLES, 1800), recovered(1799))
    assert [one.severity for one in (elsewhere, before)] == [CRITICAL, CRITICAL]


def test_several_lines_after_which_their_log_says_that_it_went_well_are_a_notice_that_says_so():
    one = found("quorum-lost", LOG, again(TABLES, 1800, 300), recovered(2100))
    assert (one.severity, one.ongoing) == (NOTICE, False)
    assert "Later lines of the same log say that it went well." in one.statement
    assert one.evidence[-1].text == WELL
    assert "went well" not in found("quorum-lost", LOG, again(TABLES, 1800, 300), recovered(1900)).statement


def alarm(when, *, cleared=False, about="disk", source="clients/app.log"):
    """A broker raises or clears an alarm."""
    kind, text = ("alarm-cleared", "cleared") if cleared else ("alarm-raised", "set")
    return episode(kind, when, source, text=f"{about} resource limit alarm {text} on node a", reason=about)


def test_an_alarm_ends_when_its_broker_clears_it():
    one = found("disk-full", LOG, alarm(1800), alarm(2400, cleared=True))
    assert (one.severity, one.ongoing, one.ended_at.timestamp()) == (CRITICAL, False, at(2400))
    assert "The broker cleared it at 10:40:00 UTC." in one.statement


def test_an_alarm_that_is_cleared_within_two_minutes_is_a_notice():
    rows = [(alarm(1800 + n), alarm(1860 + n, cleared=True)) for n in (0, 600, 1200)]
    assert found("disk-full", LOG, rows).severity is NOTICE


@pytest.mark.parametrize(
    "rest",
    [(alarm(1900, cleared=True), alarm(1950)), (alarm(1900, cleared=True, about="memory"),),
     (alarm(1900, cleared=True, source="clients/other.log"),)],
    ids=["raised again", "another alarm", "another log"],
)  # fmt: skip
def test_an_alarm_goes_on_unless_its_own_broker_cleared_it_since(rest):
    own = log("clients/app.log", "application-log", "10:00", "10:33")
    one = found("disk-full", own, alarm(1800), rest)
    assert (one.severity, one.ongoing, "cleared" in one.statement) == (CRITICAL, True, False)


def test_elections_that_come_again_and_again_are_more_than_a_notice_though_each_found_a_leader():
    election = known_errors()["kraft-election"]
    rows = [(said(election, 1800 + n), recovered(1801 + n)) for n in range(0, 300, 30)]
    assert found("quorum-lost", LOG, rows, said(election, 2110)).severity is WARNING


@pytest.mark.parametrize(
    ("form", "line"),
    [
        (
            "kafka-broker-log",
            "[2026-03-02 08:37:05,000] INFO [RaftManager id=1] Completed transition to FollowerState(fetchTimeoutMs=2000, epoch=4, leader=2) from CandidateState (org.apache.kafka.raft.QuorumState)",
        ),
        (
            "kafka-broker-log",
            "[2026-03-02 08:37:05,000] INFO Session establishment complete on server zk-1/10.0.0.8:2181, sessionid = 0x10000a2b, negotiated timeout = 18000 (org.apache.zookeeper.ClientCnxn)",
        ),
        ("rabbitmq-mqtt-log", WELL),
        ("mosquitto-log", "1739262072: mosquitto version 2.0.15 running"),
        (
            "rocketmq-broker-log",
            "2026-03-02 02:05:22 INFO StateMaintainer - [n1] [ChangeRoleToLeader] from term: 3 and currTerm: 3",
        ),
    ],
)
def test_brokers_say_that_what_they_waited_for_came(form, line):
    assert [e["kind"] for e in events([line], form)] == ["recovered"]


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (
            "org.apache.rocketmq.remoting.exception.RemotingTooMuchRequestException: sendDefaultImpl call timeout",
            "rocketmq-send-timeout",
        ),
        (
            "org.apache.rocketmq.remoting.exception.RemotingTooMuchRequestException: send call timeout",
            "rocketmq-send-timeout",
        ),
        (
            "org.apache.rocketmq.remoting.exception.RemotingTimeoutException: invokeSync call timeout",
            "rocketmq-request-timeout",
        ),
        (
            "org.apache.rocketmq.remoting.exception.RemotingTooMuchRequestException: invokeAsyncImpl invoke too fast",
            "rocketmq-request-timeout",
        ),
    ],
)
def test_a_send_that_timed_out_is_told_from_other_requests(line, name):
    assert [e["kind"] for e in events([line], "rocketmq-client-log")] == [f"error:{name}"]
    assert ("send" in known_errors()[name].means) is (name == "rocketmq-send-timeout")


def _dial(when, client="till-3", source="clients/app.log"):
    return said(known_errors()["go-dial-failed"], when, source=source, client_id=client, peer="10.9.0.2:1883")


def test_who_is_connected_again_has_got_over_what_kept_it_out():
    rows = [LOG, [_dial(3480 + n) for n in (0, 40, 80)]]
    back = episode("connection-made", 3590, client_id="till-3", text="connected again")
    assert found("broker-unreachable", *rows).ongoing is True
    closed = found("broker-unreachable", *rows, back)
    assert (closed.ongoing, "Connected again at 10:59:50" in closed.statement) == (False, True)
    assert closed.evidence[-1].text == "connected again"
    assert (closed.ended_at.timestamp(), closed.facts[WORKS_AGAIN]) == (at("10:59:50"), "since 10:59:50 UTC")
    passing = found("broker-unreachable", LOG, [_dial(600 + n) for n in (0, 40, 80)])
    assert (passing.ended_at.timestamp(), WORKS_AGAIN in passing.facts) == (at("10:11:20"), False)


@pytest.mark.parametrize(
    "row",
    [
        episode("connection-made", 3590, client_id="till-4"),
        episode("connection-made", 3540, client_id="till-3"),
        episode("client-connected", 3590, "brokers/mosquitto.log", client_id="till-4"),
    ],
)
def test_a_connection_of_another_client_or_before_the_last_line_closes_nothing(row):
    assert found("broker-unreachable", LOG, [_dial(3480 + n) for n in (0, 40, 80)], row).ongoing is True


def test_a_connection_closes_no_error_that_connected_clients_meet():
    garbage = [said(LEAD["protocol-mismatch"], 3480 + n, client_id="till-3") for n in (0, 40, 80)]
    back = episode("client-connected", 3590, client_id="till-3")
    assert found("protocol-mismatch", LOG, garbage, back).ongoing is True


def test_one_of_two_that_is_connected_again_closes_nothing():
    rows = [LOG, [_dial(3480 + n) for n in (0, 40, 80)], _dial(3570, "till-4")]
    assert found("broker-unreachable", *rows, episode("connection-made", 3590, client_id="till-3")).ongoing is True


def test_a_start_accounts_for_no_line_of_a_client_that_had_its_connection_after_it():
    start = episode("broker-starting", 1800, "brokers/mosquitto.log")
    rows = [LOG, start, [_dial(1840), _dial(1850), _dial(2400)]]
    one = found("broker-unreachable", *rows)
    assert (one.measures["lines"], "2 more lines around a start are not counted" in one.statement) == (1, True)
    made = episode("connection-made", 1820, client_id="till-3")
    one = found("broker-unreachable", *rows, made)
    assert (one.measures["lines"], "not counted" in one.statement) == (3, False)


def test_a_name_server_that_is_slow_is_no_overloaded_broker():
    error = known_errors()["rocketmq-answer-timeout"]
    slow = again(error, 1800, 300, peer="10.9.1.9:29876")
    named = settings("at owner key value\n10:00 broker-a namesrvAddr 10.9.1.8:9876;10.9.1.9:29876")
    assert found("broker-overloaded", LOG, slow) is not None
    assert found("broker-overloaded", LOG, slow, named) is None
    assert found("broker-overloaded", LOG, again(error, 1800, 300, peer="10.9.1.9:9876")) is None


def test_a_client_that_its_broker_and_its_own_log_know_counts_once_under_its_id():
    own = [LOG, episode("client-configured", 60, client_id="till-3")]
    told = said(LEAD["broker-unreachable"], 1800, source="brokers/mosquitto.log", client_id="till-3")
    one = found("broker-unreachable", *own, again(LEAD["broker-unreachable"], 1800, 300), told)
    assert (one.subject, one.measures["actors"]) == ("till-3", 1)
    several = found("broker-unreachable", *own, episode("client-configured", 60, client_id="till-4"),
                    again(LEAD["broker-unreachable"], 1800, 300))  # fmt: skip
    assert several.subject == "app", "its log names two clients: it may be either"


@pytest.mark.parametrize(("seconds", "goes_on"), [(0, False), (30, True)])
def test_what_was_seen_at_the_very_end_and_in_one_moment_is_not_known_to_go_on(seconds, goes_on):
    error = lasting("broker-overloaded")
    one = found("broker-overloaded", LOG, said(error, 3590 - seconds, 3, until=3590))
    assert one.goes_on is goes_on
    status = screen(diagnose(facts(LOG, said(error, 3590 - seconds, 3, until=3590))), ["app.log"])
    assert ("STILL OPEN" in status, "last seen 10:59:50" in status) == (goes_on, not goes_on)


@pytest.mark.parametrize(
    ("peer", "when", "ongoing"),
    [("10.5.0.5:10911", 3570, False), ("10.5.0.6:10911", 3570, True), ("10.5.0.5:10911", 3540, True)],
)
def test_a_broker_is_back_that_registers_again(peer, when, ongoing):
    lost = [said(known_errors()["rocketmq-broker-lost"], 3480 + n, peer="10.5.0.5:10911") for n in (0, 40, 80)]
    again_there = episode("broker-answers", when, peer=peer, system="rocketmq")
    one = found("network-partition", LOG, lost, again_there)
    assert (one.ongoing, one.severity) == (ongoing, WARNING)
    assert ("it went well" in one.statement) is not ongoing


@pytest.mark.parametrize(
    ("form", "line", "peer"),
    [
        (
            "kafka-broker-log",
            "[2026-03-09 09:26:34,512] INFO [RequestSendThread controllerId=1] Controller 1 connected to kafka-2:9092 (id: 2 rack: null) for sending state change requests (kafka.controller.RequestSendThread)",
            "kafka-2:9092 (id: 2 rack: null)",
        ),
        (
            "rocketmq-broker-log",
            "2026-02-11 09:41:05 INFO RemotingExecutorThread_1 - new broker registered, 10.5.0.5:10911 HAServer: 10.5.0.5:10912",
            "10.5.0.5:10911",
        ),
    ],
)
def test_who_missed_a_broker_says_which_one_it_reaches_again(form, line, peer):
    (event,) = events([line], form)
    assert (event["kind"], event["peer"]) == ("broker-answers", peer)


def test_the_cause_that_is_told_is_the_one_that_the_lines_hint_at():
    error = known_errors()["go-dial-failed"]
    refused, cut, unknown, loopback = error.causes
    for reason, cause in (("connection refused", refused), ("no route to host", cut), ("no such host", unknown)):
        told = again(error, 1800, 300, reason=reason, text="dial tcp 10.9.0.2:1883: connect")
        assert f"Most often: {cause}." in found("broker-unreachable", LOG, told).statement
    assert f"Most often: {refused}." in found("broker-unreachable", LOG, again(error, 1800, 300, text="dial")).statement
    own = again(error, 1800, 300, reason="connection refused", text="dial tcp 127.0.0.1:9092: connect: refused")
    assert f"Most often: {loopback}." in found("broker-unreachable", LOG, own).statement


@pytest.mark.parametrize(
    ("line", "number"),
    [
        ("localhost:9092/bootstrap: Connect to ipv4#127.0.0.1:9092 failed: Connection refused", 0),
        ("localhost:9092/1: Connect to ipv4#127.0.0.1:9092 failed: Connection refused", 1),
        ("till-1:9092/1: Connect to ipv4#10.0.0.7:9092 failed: Connection refused", 0),
        ("till-1:9092/1: Connect to ipv4#10.0.0.7:9092 failed: Connection timed out", 2),
    ],
)
def test_a_loopback_address_that_a_broker_advertises_is_told_from_a_bootstrap_address(line, number):
    error = known_errors()["librdkafka-connect-failed"]
    assert error.cause([(None, line)]) == error.causes[number]


BEATS = known_errors()["kraft-heartbeat-lost"]


def _beats(*moments, error="REQUEST_TIMED_OUT"):
    text = f"WARN [BrokerLifecycleManager id=1] Broker 1 sent a heartbeat request but received error {error}."
    return [said(BEATS, when, source="logs/server.log", reason=error, text=text) for when in moments]


def test_a_client_that_starts_accounts_for_no_heartbeat_of_a_broker_and_a_broker_that_starts_does():
    held = log("logs/server.log", "kafka-broker-log", "10:00", "11:00")
    client = [*settings("at owner key value\n10:30 app acks all"), episode("settings-printed", 1800, "clients/app.log")]
    assert found("quorum-lost", held, client, _beats(1860, 2400)).measures["lines"] == 2
    started = episode("broker-started", 1800, "logs/server.log")
    assert found("quorum-lost", held, started, _beats(1860, 2400)).measures["lines"] == 1


def test_a_controller_that_answers_too_late_is_no_missing_one():
    held = log("logs/server.log", "kafka-broker-log", "10:00", "11:00")
    late = found("quorum-lost", held, _beats(1860, 2400, 2460))
    assert "Most often: a controller that answers, but does not get to it in time" in late.statement
    other = found("quorum-lost", held, _beats(1860, 2400, 2460, error="STALE_BROKER_EPOCH"))
    assert "Most often: no active controller" in other.statement
