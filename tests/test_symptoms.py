"""What nothing explains must not pass for health, and what every start prints must not pass for trouble."""

from dataclasses import replace

import pytest
from facts_builder import at, episode, facts, log, positions, ramp, series
from hypothesis import given
from hypothesis import strategies as st
from message_builder import acked, acks, fates

from mqlab.findings import Certainty, Finding, Severity
from mqlab.known_errors import words
from mqlab.rows import Shape
from mqlab.shared.wording import moment
from mqlab.symptoms.unexplained import unexplained

LOG = log("server.log", "kafka-broker-log")


def symptoms(*rows, findings=(), shapes=(), rejected=()):
    """What remains, without its clock."""
    left = unexplained(replace(facts(*rows), shapes=tuple(shapes)), findings, rejected)
    return [s.text.partition(" UTC: ")[2] for s in left]


def shape(level, text, start, end=None, lines=5, source="server.log"):
    """Lines of one shape."""
    return Shape(source, level, text, lines, 100, at(start), at(start if end is None else end), 7)


def finding(incident, start, end, certainty=Certainty.PROVEN, severity=Severity.NOTICE):
    """A finding about a span of time."""
    when = (None, None) if start is None else (moment(at(start)), moment(at(end)))
    return Finding(f"{incident}:x", incident, severity, certainty, "x", *when, False, "")


@pytest.mark.parametrize(
    "kind", ["out-of-memory", "member-expired", "commit-failed", "unclean-election", "session-timeout"]
)
def test_trouble_of_unknown_cause_is_a_symptom(kind):
    assert symptoms(episode(kind, 300)) == [f"{words()[kind]}, once, at clients/app.log:1"]


@pytest.mark.parametrize(("status", "count"), [(1, 1), (137, 1), (0, 0), (143, 0)])
def test_only_abnormal_exits_are_trouble(status, count):
    assert len(symptoms(episode("process-exit", 300, left=status))) == count


def test_an_error_at_a_start_that_is_seen_is_no_symptom():
    started = episode("broker-started", 10, "server.log")
    assert symptoms(LOG, started, shapes=[shape("ERROR", "Not ready", 20)]) == []


def test_a_log_that_begins_excuses_warnings_but_no_errors_unless_a_start_is_seen():
    assert symptoms(LOG, shapes=[shape("WARN", "Not ready", 20)]) == []
    assert symptoms(LOG, shapes=[shape("ERROR", "Not ready", 20)]) == [
        "ERROR lines that mqlab does not know, 5 lines, first server.log:7  Not ready"
    ]


@given(
    st.integers(61, 10_000),
    st.sampled_from(["ERROR", "FATAL"]),
    st.sampled_from(["deprecated", "LEADER_NOT_AVAILABLE", "Connection refused", "SLF4J", "may not be available", ""]),
)
def test_no_word_excuses_a_flood_of_errors_even_at_a_start_or_beside_a_release(lines, level, word):
    started, release = episode("broker-started", 900, "server.log"), finding("rolling-restart", 800, 1000)
    flood = shape(level, f"write failed {word}", 905, lines=lines)
    assert len(symptoms(LOG, started, findings=[release], shapes=[flood])) == 1


def test_a_single_warning_is_no_symptom_and_ordinary_ones_never_are():
    single, ordinary = shape("WARN", "odd", 900, lines=1), shape("WARN", "LEADER_NOT_AVAILABLE", 900)
    tool = shape("WARN", "Failed to enable ACL. Either AccessKey or secretKey is blank", 900)
    assert symptoms(LOG, shapes=[single, ordinary, tool, shape("INFO", "odd", 900)]) == []


def test_the_earliest_symptom_comes_first():
    late, early = shape("ERROR", "late", 950), shape("ERROR", "early", 900)
    assert [s.rsplit("  ")[-1] for s in symptoms(LOG, shapes=[late, early])] == ["early", "late"]


def client(kind, when, host="shop-1"):
    """A RocketMQ client's own line about its start or stop."""
    return episode(kind, when, f"logs/clients/{host}/rocketmq_client.log", system="rocketmq", client_id="A@1")


def of_client(start, end=None, host="shop-1", text="pull failed"):
    """A new ERROR in a RocketMQ client's log."""
    return shape("ERROR", text, start, end, source=f"logs/clients/{host}/rocketmq_client.log")


CLIENT = log("logs/clients/shop-1/rocketmq_client.log", "rocketmq-client-log")
BROKER = log("logs/broker-a/broker.log", "rocketmq-broker-log")


def test_errors_that_only_end_at_a_start_are_symptoms():
    stop = client("consumer-stopped", 1798)
    assert len(symptoms(CLIENT, stop, shapes=[of_client(300, 1795)])) == 1
    assert symptoms(CLIENT, stop, shapes=[of_client(1750, 1799)]) == []
    printed = episode("settings-printed", 1798, "server.log")
    assert len(symptoms(LOG, printed, shapes=[shape("ERROR", "odd", 300, 1795)])) == 1


def test_errors_from_a_logs_first_line_on_are_no_start():
    assert len(symptoms(CLIENT, shapes=[of_client(5, 1795)])) == 1
    assert len(symptoms(CLIENT, client("consumer-stopped", 1798), shapes=[of_client(100, 1795)])) == 1


def test_errors_at_several_starts_belong_to_them():
    starts = [client("client-created", when) for when in (300, 900)]
    assert symptoms(CLIENT, *starts, shapes=[of_client(305, 910)]) == []
    assert len(symptoms(CLIENT, *starts, shapes=[of_client(305, 1100)])) == 1


def test_a_clients_start_says_nothing_about_the_log_of_another():
    other = client("client-created", 900, host="shop-2")
    assert len(symptoms(CLIENT, other, shapes=[of_client(905, 910)])) == 1


def test_brokers_notice_every_clients_start_and_clients_every_brokers():
    at_broker = shape("ERROR", "close the channel", 905, source="logs/broker-a/broker.log")
    assert symptoms(BROKER, client("client-created", 900), shapes=[at_broker]) == []
    started = episode("rocketmq-broker-started", 900, "logs/broker-a/broker.log", system="rocketmq")
    assert symptoms(CLIENT, started, shapes=[of_client(905, 910)]) == []


@pytest.mark.parametrize(
    "text",
    [
        "send failed: RemotingCommand [code=#, remark=[TIMEOUT_CLEAN_QUEUE]broker busy, period in queue: #ms",
        "processRequestWrapper response to /#.#.#.#:#: service not available now, maybe disk full, CL: #",
        "write response[SYSTEM_ERROR] failed",
        "RemotingCommand [code=#, remark=flow control]",
    ],
)
def test_answers_that_refuse_are_symptoms(text):
    assert len(symptoms(LOG, shapes=[shape("ERROR", text, 900)])) == 1


@pytest.mark.parametrize(
    "text",
    [
        "processRequestWrapper response to /#.#.#.#:# failed",
        "RemotingCommand [code=#, language=JAVA, version=#, opaque=#, flag(B)=#, remark=null]",
        "get Topic [TBW#] RouteInfoFromNameServer is not exist value",
    ],
)
def test_answers_that_nobody_waits_for_and_the_missing_template_are_ordinary(text):
    assert symptoms(LOG, shapes=[shape("ERROR", text, 900)]) == []


def test_findings_explain_lines_near_them_and_no_others():
    lead = finding("batch-split-loop", 880, 940, severity=Severity.CRITICAL)
    near, far = shape("ERROR", "near", 1000), shape("ERROR", "far", 1500)
    assert [s.rsplit("  ")[-1] for s in symptoms(LOG, shapes=[near, far], findings=[lead])] == ["far"]


def test_a_risk_in_settings_explains_nothing():
    risk = finding("batch-split-loop", None, None, Certainty.POSSIBLE)
    assert len(symptoms(LOG, shapes=[shape("ERROR", "Disk full", 900)], findings=[risk])) == 1


def test_more_readers_explain_no_error():
    assert len(symptoms(LOG, shapes=[shape("ERROR", "Disk full", 900)], findings=[finding("fan-out", 800, 1000)])) == 1


def test_clients_notice_an_orderly_restart():
    stop = episode("broker-stopping", 290, "server.log")
    retries = episode("produce-retry", 300, count=40, reason="NOT_LEADER_OR_FOLLOWER")
    assert symptoms(retries, stop) == []
    assert symptoms(retries) == ["batches retried, 40 times, first at clients/app.log:1"]


def test_a_broker_that_starts_again_without_a_stop_is_a_symptom():
    twice = [episode("broker-started", n, "server.log", line=n) for n in (10, 400)]
    assert symptoms(*twice) == [
        "server started again without an orderly stop, alive until 10:00:10 at least, server.log:400"
    ]
    assert symptoms(*twice, episode("broker-stopping", 390, "server.log")) == []


def test_splits_that_end_by_themselves_are_explained():
    split = episode("batch-split", 300)
    assert symptoms(split, rejected=["batch-split-loop"]) == []
    assert len(symptoms(split)) == 1


def test_counters_that_should_stand_still_are_symptoms_when_they_rise():
    rejected = series("broker.bytes_rejected", ramp((30, 0), (30, 100)))
    assert symptoms(rejected) == ["broker_bytes_rejected begins to rise, by 3,000 in all"]


def test_growing_lag_is_a_symptom_and_steady_lag_is_not():
    growing = positions(
        """
        at     group  topic   queue  committed  end
        10:00  a      orders  0      100        110
        10:10  a      orders  0      110        900
        10:20  a      orders  0      120        2000
        10:30  a      orders  0      130        4000
        """
    )
    steady = positions("at group topic queue committed end\n10:00 a t 0 1 500\n10:10 a t 0 2 501\n10:20 a t 0 3 502")
    assert symptoms(growing) == ["lag of a on orders grew from 10 to 3,870 messages"]
    assert symptoms(steady) == []


def lost_of_unknown_cause():
    """Ids whose places were given to others, with acks=all and no word about leaders."""
    return [fates("queue from to at over\n0 100 153 10:04:01 yes\n0 100 900 10:05:10 -"), acked(900), acks("all")]


def test_acknowledged_records_that_are_gone_by_no_known_mechanism_are_a_symptom():
    assert symptoms(*lost_of_unknown_cause()) == ["54 acknowledged records of orders-0 are gone from the log"]


@pytest.mark.parametrize("incident", ["acks1-failover-loss", "unclean-election-loss", "under-min-isr"])
def test_a_broker_that_died_is_accounted_for_by_what_was_lost_or_refused(incident):
    twice = [
        episode("broker-started", 0, "logs/kafka-1/server.log"),
        episode("broker-started", 300, "logs/kafka-1/server.log"),
    ]
    assert len(symptoms(*twice)) == 1
    assert symptoms(*twice, findings=[finding(incident, 250, 280)]) == []
    assert len(symptoms(*twice, findings=[finding(incident, 3000, 3100)])) == 1


def test_a_truncation_that_a_client_saw_is_accounted_for_by_an_unclean_election_only():
    seen = episode("truncation-detected", 300)
    assert len(symptoms(seen)) == 1
    assert symptoms(seen, findings=[finding("unclean-election-loss", 250, 280)]) == []
    assert len(symptoms(seen, findings=[finding("session-timeout", 250, 280)])) == 1


def test_a_brokers_start_accounts_for_what_its_clients_wait_for_and_for_nothing_else():
    started = episode("rocketmq-broker-started", 900, "logs/broker-a/broker.log", system="rocketmq")
    source = CLIENT.source
    for text, count in (("connection refused", 0), ("the till is locked by its drawer", 1)):
        assert len(symptoms(CLIENT, started, shapes=[shape("ERROR", text, 905, 910, source=source)])) == count
